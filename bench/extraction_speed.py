"""Speed and quality of extraction side by side: every engine reads the same pages, one after the other, in one run.

    python bench/extraction_speed.py PACK.jsonl.xz [--every 4]

The pack has labelled pages and, beside it, `score.py` with the measures. Speed is pages per CPU second from bytes to text.
Quality is the mean word F1 over all labelled pages, and the share of code, tables, links and lists kept where the pack has
a reference. A second part reads one page of growing size, each in its own process: time and memory must grow in line.
"""

from __future__ import annotations

import argparse
import collections
import importlib.util
import json
import lzma
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import html_to_markdown
import node_engines
import readability
import resiliparse.extract.html2text as resiliparse_text
import trafilatura
from report import save, table

from cormorant.errors import CormorantError
from cormorant.extract import document

SIZES = (10_000, 100_000, 1_000_000, 10_000_000)
Engine = Callable[[bytes, str], str]


def by_cormorant(body: bytes, url: str) -> str:
    try:
        return document(body, url=url, content_type="text/html; charset=utf-8").markdown
    except CormorantError:
        return ""


def by_trafilatura(body: bytes, url: str) -> str:
    options = {"include_links": True, "include_tables": True, "include_formatting": True}
    return trafilatura.extract(body.decode(), url=url, output_format="markdown", **options) or ""


def by_resiliparse(body: bytes, url: str) -> str:
    return resiliparse_text.extract_plain_text(body.decode(), main_content=True) or ""


def by_readability(body: bytes, url: str) -> str:
    return html_to_markdown.convert(readability.Document(body.decode()).summary()).content or ""


def by_html_to_markdown(body: bytes, url: str) -> str:
    return html_to_markdown.convert(body.decode()).content or ""


ENGINES: dict[str, Engine] = {
    "cormorant": by_cormorant,
    "trafilatura": by_trafilatura,
    "resiliparse": by_resiliparse,
    "readability-lxml": by_readability,
    "html-to-markdown": by_html_to_markdown,
}


def with_node() -> dict[str, Engine]:
    def markdown(kept: Callable[[str, str], str]) -> Engine:
        return lambda body, url: html_to_markdown.convert(kept(body.decode(), url)).content or ""

    return ENGINES | {name: markdown(kept) for name, kept in node_engines.readers().items()}


def measures(pack: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("pack_score", pack.parent / "score.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def pages(pack: Path, every: int) -> Iterator[dict[str, Any]]:
    with lzma.open(pack, "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            if number % every == 0:
                yield json.loads(line)


def compare(pack: Path, every: int) -> list[dict[str, Any]]:
    score = measures(pack)
    cpu: collections.Counter[str] = collections.Counter()
    failures: collections.Counter[str] = collections.Counter()
    f1: dict[str, list[float]] = collections.defaultdict(list)
    kept: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    wanted: collections.Counter[str] = collections.Counter()
    read = 0
    engines = with_node()
    for page in pages(pack, every):
        body, url = page["html"].encode("utf-8", "replace"), page.get("url") or "https://example.com/"
        reference = page.get("md") or page.get("text") or ""
        structure = score.structure(page["md"]) if page.get("md") else {}
        read += 1
        wanted.update({kind: sum(found.values()) for kind, found in structure.items()})
        for name, engine in engines.items():
            started = node_engines.cpu_s()
            try:
                got = engine(body, url)
            except Exception:  # noqa: BLE001  a peer may raise anything, and it counts
                got, failures[name] = "", failures[name] + 1
            cpu[name] += node_engines.cpu_s() - started
            if reference:
                f1[name].append(score.overlap(score.words(score.plain(got)), score.words(score.plain(reference)))[2])
            if structure:
                mine = score.structure(got)
                kept[name].update({kind: sum((mine[kind] & found).values()) for kind, found in structure.items()})
    return [
        {
            "engine": name,
            "pages": read,
            "pages_per_cpu_s": round(read / cpu[name], 1),
            "word_f1": round(sum(f1[name]) / max(1, len(f1[name])), 4),
            **{kind: round(kept[name][kind] / total, 3) for kind, total in wanted.items() if total},
            "failures": failures[name],
        }
        for name in engines
    ]


def ordinary(size: int) -> bytes:
    """A page of about that many bytes, made of what pages are made of."""
    part = "<h2>Part {n}</h2><p>The keeper walks the wall <a href='/g/{n}'>twice</a> a day and writes the <b>reading</b> in a book.</p>"
    part += "<ul><li>upper</li><li>lower</li></ul><pre><code class='language-py'>gate({n})\n</code></pre>"
    part += "<p>" + "A longer paragraph follows that says in many words what the gauges are for and who reads them. " * 10 + "</p>"
    count = max(1, size // len(part))
    return ("<html><body><main><h1>The wall</h1>" + "".join(part.replace("{n}", str(n)) for n in range(count)) + "</main>").encode()


def one_size(size: int) -> None:
    """In a process of its own: what reading one page costs, above what the program takes anyway."""
    document(ordinary(5_000), url="https://example.com/", content_type="text/html")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    body = ordinary(size)
    started = time.process_time()
    page = document(body, url="https://example.com/", content_type="text/html")
    spent = time.process_time() - started
    more = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    print(json.dumps({"bytes": len(body), "cpu_s": round(spent, 4), "memory_mb": round(more, 1), "cut": bool(page.warnings)}))


def growth() -> list[dict[str, Any]]:
    command = [sys.executable, __file__, "--size"]
    return [json.loads(subprocess.run([*command, str(size)], capture_output=True, text=True, check=True).stdout) for size in SIZES]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pack", nargs="?", type=Path)
    parser.add_argument("--every", type=int, default=4, help="read every n-th page")
    parser.add_argument("--size", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.size:
        one_size(given.size)
        return
    grown = growth()
    print(table(grown))
    compared = compare(given.pack, given.every) if given.pack else []
    print(table(compared))
    bars = {f"CPU seconds for a page of {row['bytes'] // 1000:,} kB": {"cormorant": row["cpu_s"]} for row in grown}
    if compared:
        bars = {
            "Pages per CPU second": {row["engine"]: row["pages_per_cpu_s"] for row in compared},
            "Word F1, mean of pages": {row["engine"]: row["word_f1"] for row in compared},
            "Code blocks kept exactly": {row["engine"]: row.get("code", 0.0) for row in compared},
            **bars,
        }
    save("extraction_speed", {"engines": compared, "growth": grown, "every": given.every}, bars=bars)


if __name__ == "__main__":
    main()
