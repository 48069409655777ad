"""How much of a page's structure survives: headings, listings, rows, links, items and formulas against reference Markdown.

    python bench/extraction_structure.py PACK.jsonl.xz [--show links]     # --show prints what is missing, page by page

Both Markdowns are read as CommonMark with tables, and compared as bags: of all that the reference has, the share that we have
just so. A listing counts only byte for byte, tabs at four columns. Peers that write Markdown are measured in the same run.

Two things are set aside, and counted, since they are the reference's own:
- A reference can be made under another address than the page has in the pack: where its host is neither the page's nor named
  anywhere in the page, links are compared by path, query and fragment.
- A listing or a link whose text stands nowhere in the page's own (it lost characters on the way, or was worded anew) can be
  asked of nobody.
"""

from __future__ import annotations

import argparse
import json
import lzma
import re
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import report
from markdown_it import MarkdownIt
from markdown_it.token import Token
from selectolax.lexbor import LexborHTMLParser

from cormorant.extract import document

KINDS = ("headings", "listings", "languages", "rows", "links", "items", "formulas")
GOALS = {"headings": 0.90, "listings": 0.90, "languages": 0.85, "rows": 0.97, "links": 0.98, "items": 0.92}
READER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
_FORMULA = re.compile(r"\$\$(.+?)\$\$|(?<![\\$])\$([^$\n]+?)\$", re.S)
_GAPS = re.compile(r"[\s\d]+")  # digits too: a gutter numbers the lines in between

Structure = dict[str, Counter[Any]]
Engine = Callable[[dict[str, Any]], str]


def bare(text: str) -> str:
    """Letters and digits alone: what is compared where marks and spaces are a matter of taste."""
    return re.sub(r"[\W_]+", "", text.lower())


def shown(token: Token) -> str:
    return "".join(child.content for child in token.children or [] if child.type in ("text", "code_inline"))


def structure(markdown: str) -> Structure:
    """What a reader of the Markdown finds in it."""
    found: Structure = {kind: Counter() for kind in KINDS}
    tokens = READER.parse(markdown)
    item = False
    for at, token in enumerate(tokens):
        if token.type == "heading_open":
            found["headings"][token.tag, bare(shown(tokens[at + 1]))] += 1
        elif token.type == "fence":
            text = "\n".join(line.rstrip() for line in token.content.expandtabs(4).strip("\n").split("\n"))
            found["listings"][text] += 1
            if language := token.info.strip().lower():
                found["languages"][language, bare(text)] += 1
        elif token.type == "tr_open":
            cells: list[str] = []
        elif token.type in ("td_open", "th_open"):
            cells.append(bare(shown(tokens[at + 1])))
        elif token.type == "tr_close" and any(cells):
            found["rows"][tuple(cells)] += 1
        elif token.type == "list_item_open":
            item = True
        elif token.type == "inline":
            if item:
                found["items"][bare(shown(token))[:60]] += 1
            item = False
            found["links"].update(links(token.children or []))
    found["formulas"].update(bare(one or other) for one, other in _FORMULA.findall(markdown))
    return found


def links(children: list[Token]) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for at, child in enumerate(children):
        if child.type == "link_open":
            end = next(n for n in range(at, len(children)) if children[n].type == "link_close")
            text = bare("".join(part.content for part in children[at:end] if part.type in ("text", "code_inline", "image")))
            found.append((text, str(child.attrGet("href"))))
    return found


def comparable(ours: Structure, reference: Structure, row: dict[str, Any]) -> tuple[Structure, Structure, Counter[str]]:
    """Both sides without what is the reference's own, and how much of that there was."""
    aside: Counter[str] = Counter()
    own = urlsplit(row["url"]).netloc
    hosts = {urlsplit(link).netloc for _, link in reference["links"]} - {"", own}
    invented = {host for host in hosts if f"//{host}" not in row["html"]}

    def placed(bag: Counter[Any]) -> Counter[Any]:
        moved: Counter[Any] = Counter()
        for (text, link), count in bag.items():
            parts = urlsplit(link)
            moved[text, parts._replace(scheme="", netloc="").geturl() if parts.netloc in {*invented, own} else link] += count
        return moved

    tree = LexborHTMLParser(row["html"])
    text = tree.body.text() if tree.body is not None else ""
    solid, page = _GAPS.sub("", text), bare(text)
    listings = Counter({one: count for one, count in reference["listings"].items() if _GAPS.sub("", one) in solid})
    worded = Counter({link: count for link, count in reference["links"].items() if link[0] in page})
    languages = Counter({one: n for one, n in reference["languages"].items() if any(bare(text) == one[1] for text in listings)})
    aside["listings"] = reference["listings"].total() - listings.total()
    aside["links"] = reference["links"].total() - worded.total()
    aside["hosts of links"] = sum(count for (_, link), count in worded.items() if urlsplit(link).netloc in invented)
    return (
        {**ours, "links": placed(ours["links"])},
        {
            **reference,
            "listings": listings,
            "languages": languages,
            "links": placed(worded),
        },
        aside,
    )


def _ours(row: dict[str, Any]) -> str:
    return document(row["html"].encode(), url=row["url"]).markdown


def _trafilatura() -> Engine:
    from trafilatura import extract

    return lambda row: (
        extract(row["html"], url=row["url"], output_format="markdown", include_links=True, include_tables=True, include_formatting=True)
        or ""
    )


def _html_to_markdown() -> Engine:
    from html_to_markdown import convert

    def read(row: dict[str, Any]) -> str:
        got = convert(row["html"])
        return got if isinstance(got, str) else got.content or ""

    return read


PEERS: dict[str, Callable[[], Engine]] = {"trafilatura": _trafilatura, "html-to-markdown (whole page)": _html_to_markdown}


def measure(rows: list[dict[str, Any]], engine: Engine, show: str = "") -> dict[str, Any]:
    kept: Counter[str] = Counter()
    wanted: Counter[str] = Counter()
    aside: Counter[str] = Counter()
    began = time.process_time()
    read = [engine(row) for row in rows]
    spent = time.process_time() - began
    for row, markdown in zip(rows, read, strict=True):
        ours, reference, left = comparable(structure(markdown), structure(row["md"]), row)
        aside += left
        for kind in KINDS:
            kept[kind] += (ours[kind] & reference[kind]).total()
            wanted[kind] += reference[kind].total()
        if show and (missing := reference[show] - ours[show]):
            print(
                row["id"],
                *(f"  - {one!r}"[:300] for one in missing),
                *(f"  + {one!r}"[:300] for one in ours[show] - reference[show]),
                sep="\n",
            )
    figures = {kind: {"kept": kept[kind], "wanted": wanted[kind], "share": round(kept[kind] / max(1, wanted[kind]), 3)} for kind in KINDS}
    return {"kinds": figures, "references_set_aside": dict(aside), "cpu_s": round(spent, 2)}


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("pack", type=Path)
    asked.add_argument("--show", choices=KINDS, default="", help="print what we miss of this kind")
    options = asked.parse_args()
    with lzma.open(options.pack, "rt", encoding="utf-8") as lines:
        rows = [row for line in lines if (row := json.loads(line)).get("md") is not None]
    found = {"cormorant": measure(rows, _ours, options.show)}
    for name, make in PEERS.items():
        try:
            found[name] = measure(rows, make())
        except ImportError as error:
            print(f"{name} is not installed: {error}")
    shares = {name: {kind: one["share"] for kind, one in figures["kinds"].items()} for name, figures in found.items()}
    print(
        report.table([{"kind": kind, "goal": GOALS.get(kind, ""), **{name: one[kind] for name, one in shares.items()}} for kind in KINDS])
    )
    print(f"{len(rows)} pages; set aside: {found['cormorant']['references_set_aside']}")
    bars = {kind: {name: one[kind] for name, one in shares.items()} for kind in KINDS}
    report.save("extraction_structure", {"pages": len(rows), "goals": GOALS, "engines": found}, bars=bars)


if __name__ == "__main__":
    main()
