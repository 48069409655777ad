#!/usr/bin/env python3
"""Extraction quality on the labelled pages, side by side in one run: ours from bytes to Markdown, and other engines.

    python bench/train_selection.py PACK.jsonl.xz --folds /tmp/folds
    python bench/extraction_quality.py PACK.jsonl.xz --folds /tmp/folds      # ours judged by models that never saw the site
    python bench/extraction_quality.py PACK.jsonl.xz                         # ours with the shipped model (it saw these pages)

Engines that are not installed are left out and named. CPU time is of the extraction alone.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import node_engines
from selection_scores import overlap, plain, shingles, squash, words
from train_selection import fold_of, pack_rows, site_of

from cormorant.extract import document, html
from cormorant.extract.html.forest import load
from cormorant.extract.html.select import select

Engine = Callable[[dict[str, Any]], str]


def ours(folds: Path | None) -> Engine:
    def read(row: dict[str, Any]) -> str:
        model = load(folds / f"fold{fold_of(site_of(row))}.npz") if folds else None
        html.select = partial(select, model=model)
        return document(row["html"].encode(), url=row.get("url") or "https://example.com/").markdown

    load.cache_clear()
    return read


def _trafilatura() -> Engine:
    from trafilatura import extract

    return lambda row: extract(row["html"], url=row.get("url") or None) or ""


def _resiliparse() -> Engine:
    from resiliparse.extract.html2text import extract_plain_text

    return lambda row: extract_plain_text(row["html"], main_content=True, alt_texts=False)


def _readability() -> Engine:
    from lxml.html import fromstring
    from readability import Document

    def read(row: dict[str, Any]) -> str:
        summary = Document(row["html"]).summary(html_partial=True)
        return "\n".join(fromstring(summary).itertext()) if summary.strip() else ""

    return read


OTHERS: dict[str, Callable[[], Engine]] = {"trafilatura": _trafilatura, "resiliparse": _resiliparse, "readability-lxml": _readability}


def _node(kept: Callable[[str, str], str]) -> Engine:
    from lxml.html import fromstring

    def read(row: dict[str, Any]) -> str:
        html = kept(row["html"], row.get("url") or "https://example.com/")
        return "\n".join(fromstring(html).itertext()) if html.strip() else ""

    return read


class Tally:
    """The scores of one engine."""

    def __init__(self) -> None:
        self.scores: dict[str, list[tuple[float, float, float]]] = defaultdict(list)
        self.snippets = Counter[str]()
        self.cpu_s = 0.0
        self.pages = self.failures = 0

    def add(self, row: dict[str, Any], engine: Engine) -> None:
        began = node_engines.cpu_s()
        try:
            got = engine(row)
        except Exception:  # noqa: BLE001 - an engine that fails on a page has found nothing there
            got, self.failures = "", self.failures + 1
        self.cpu_s += node_engines.cpu_s() - began
        self.pages += 1
        text = plain(got)
        if "text" in row or "md" in row:
            reference = row["text"] if "text" in row else plain(row["md"])
            of = shingles if row["source"] == "scrapinghub" else words
            score = overlap(of(text), of(reference))
            self.scores[row["source"]].append(score)
            if row["source"] == "wcxb":
                self.scores[f"wcxb {row['type']}"].append(score)
            return
        flat = squash(text)
        self.snippets["right"] += sum(squash(snippet) in flat for snippet in row["must"])
        self.snippets["wrong"] += sum(squash(snippet) in flat for snippet in row["mustnot"])
        self.snippets["wanted"] += len(row["must"])

    def figures(self) -> dict[str, Any]:
        out: dict[str, Any] = {}
        for name, found in sorted(self.scores.items()):
            p, r, f = (sum(score[i] for score in found) / len(found) for i in range(3))
            f1 = 2 * p * r / (p + r) if name == "scrapinghub" and p + r else f
            out[name] = {"pages": len(found), "precision": round(p, 4), "recall": round(r, 4), "f1": round(f1, 4)}
        types = [one["f1"] for name, one in out.items() if name.startswith("wcxb ")]
        if types:
            out["wcxb macro over types"] = {"f1": round(sum(types) / len(types), 4)}
        if self.snippets["wanted"]:
            s = self.snippets
            out["trafi snippets"] = {"f1": round(2 * s["right"] / (s["right"] + s["wrong"] + s["wanted"]), 4)}
        out["pages per CPU second"] = round(self.pages / max(self.cpu_s, 1e-9), 1)
        out["failures"] = self.failures
        return out


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("pack", type=Path)
    asked.add_argument("--folds", type=Path, help="the folder train_selection.py wrote its fold models to")
    asked.add_argument("--source", help="only this one")
    asked.add_argument("--every", type=int, default=1, help="only every n-th page")
    asked.add_argument("--ours-alone", action="store_true")
    options = asked.parse_args()
    engines = {"cormorant": ours(options.folds)}
    for name, make in {} if options.ours_alone else OTHERS.items():
        try:
            engines[name] = make()
        except ImportError as error:
            print(f"{name} is not installed: {error}")
    engines |= {} if options.ours_alone else {name: _node(kept) for name, kept in node_engines.readers().items()}
    tallies = {name: Tally() for name in engines}
    rows = [row for row in pack_rows(options.pack) if not options.source or row["source"] == options.source][:: options.every]
    for row in rows:
        for name, engine in engines.items():
            tallies[name].add(row, engine)
    found = {name: tally.figures() for name, tally in tallies.items()}
    for name in sorted({key for one in found.values() for key in one}):
        cells = []
        for engine, one in found.items():
            value = one.get(name)
            cells.append(f"{engine} {value['f1'] if isinstance(value, dict) else value}")
        print(f"{name:24s}", "  ".join(cells))
    (Path(__file__).parent / "results" / "selection_engines.json").write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
