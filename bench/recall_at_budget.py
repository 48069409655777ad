"""Does the answer survive the budget? Share of questions whose gold spans are kept, against the budget in tokens.

    python bench/recall_at_budget.py PACKS [--out bench/results] [--packs squad_pages,covidqa_pages] [--xquad]

PACKS is a folder of `NAME.dev.jsonl.gz` packs: {text, questions: [{question, gold_spans: [[start, end]]}]}. A question
counts when at least nine tenths of each of its spans are inside the kept text. Beside our passages: the top of the page,
the best section by its heading and words, and LangChain's recursive splitter with BM25 (when langchain-text-splitters is
installed). Writes JSON and an SVG picture.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import time
from collections import Counter
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from math import log
from pathlib import Path
from typing import Any

from cormorant import tokens
from cormorant.passages import Ranked
from cormorant.words import folded, words

BUDGETS = (250, 500, 1000, 2000)
PACKS = ("squad_pages", "covidqa_pages", "wikitext_sections", "chunkeval_longdocs")
LANGUAGES = ("en", "es", "de", "ru", "ar", "tr", "zh", "th")
COUNT = tokens.counter("o200k_base").count
Spans = list[tuple[int, int]]
Way = Callable[[str, str], Callable[[int], Spans]]  # text, question -> budget -> kept spans


def ours(text: str, question: str) -> Callable[[int], Spans]:
    ranked = Ranked(text, question)
    return lambda budget: [(passage.start, passage.end) for passage in ranked.fill(budget)]


def top(text: str, question: str) -> Callable[[int], Spans]:
    return lambda budget: [(0, longest(text, 0, budget))]


@cache
def longest(text: str, start: int, budget: int) -> int:
    """The furthest end with at most `budget` tokens from `start`."""
    low, high = start, min(len(text), start + 8 * budget)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if COUNT(text[start:middle]) <= budget else (low, middle - 1)
    return low


def bm25(question: str, parts: list[Counter[str]]) -> list[float]:
    asked = {folded(word) for word in words(question)}
    mean = sum(map(Counter.total, parts)) / (len(parts) or 1) or 1
    scores = [0.0] * len(parts)
    for word in asked:
        within = sum(1 for part in parts if word in part)
        rarity = log(1 + (len(parts) - within + 0.5) / (within + 0.5))
        for n, part in enumerate(parts):
            if times := part.get(word, 0):
                scores[n] += rarity * times * 2.2 / (times + 1.2 * (0.25 + 0.75 * part.total() / mean))
    return scores


def bag(text: str) -> Counter[str]:
    return Counter(folded(word) for word in words(text))


_HEADING = re.compile(r"^(?:#{1,6} .*| ?=+ .* =+ *)$", re.MULTILINE)
_cut: dict[tuple[str, str], tuple[Spans, list[Counter[str]]]] = {}


def sections(text: str) -> Spans:
    starts = [0, *(mark.start() for mark in _HEADING.finditer(text)), len(text)]
    return [(start, end) for start, end in pairwise(starts) if end > start]


def heading(text: str, question: str) -> Callable[[int], Spans]:
    spans, bags = cut(text, "sections", sections)
    scores = bm25(question, bags)
    start, end = spans[max(range(len(spans)), key=lambda n: scores[n])]
    return lambda budget: [(start, min(end, longest(text, start, budget)))]


def cut(text: str, name: str, split: Callable[[str], Spans]) -> tuple[Spans, list[Counter[str]]]:
    key = (name, text)
    if key not in _cut:
        spans = split(text)
        _cut[key] = spans, [bag(text[start:end]) for start, end in spans]
    return _cut[key]


def chunks(text: str) -> Spans:
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    splitter = RecursiveCharacterTextSplitter(chunk_size=800, chunk_overlap=0, add_start_index=True)
    found = splitter.create_documents([text])
    return [(part.metadata["start_index"], part.metadata["start_index"] + len(part.page_content)) for part in found]


def langchain(text: str, question: str) -> Callable[[int], Spans]:
    spans, bags = cut(text, "chunks", chunks)
    scores = bm25(question, bags)
    order = sorted(range(len(spans)), key=lambda n: -scores[n])

    def fill(budget: int) -> Spans:
        kept: Spans = []
        for n in order:
            start, end = spans[n]
            cost = COUNT(text[start:end])
            if cost <= budget:
                kept.append((start, end))
                budget -= cost
            elif budget < cost // 4:
                break
        return kept

    return fill


def survives(gold: list[list[int]], kept: Spans) -> bool:
    for start, end in gold:
        inside = sum(max(0, min(end, stop) - max(start, begin)) for begin, stop in kept)
        if inside < 0.9 * (end - start):
            return False
    return True


def load(folder: Path, name: str) -> list[dict[str, Any]]:
    with gzip.open(folder / f"{name}.dev.jsonl.gz", "rt") as lines:
        return [json.loads(line) for line in lines]


def recall(rows: list[dict[str, Any]], way: Way) -> dict[str, Any]:
    kept = dict.fromkeys(BUDGETS, 0)
    asked = 0
    started = time.process_time()
    for row in rows:
        for question in row["questions"]:
            asked += 1
            fill = way(row["text"], question["question"])
            for budget in BUDGETS:
                kept[budget] += survives(question["gold_spans"], fill(budget))
    seconds = time.process_time() - started
    return {
        "questions": asked,
        "ms_per_question": round(1000 * seconds / asked, 1),
        "recall": {str(budget): round(n / asked, 4) for budget, n in kept.items()},
    }


def first_choice(folder: Path, language: str) -> float:
    """Share of questions whose best sentence stands in the right paragraph of an article of five."""
    articles: dict[str, list[dict[str, Any]]] = {}
    for row in load(folder, f"xquad_{language}"):
        articles.setdefault(row["title"], []).append(row)
    right = asked = 0
    for rows in articles.values():
        text = "\n\n".join(row["context"].replace("\n", " ") for row in rows)
        at = 0
        for row in rows:
            for question in row["qas"]:
                ranked = Ranked(text, question["q"])
                best = ranked.spans[max(range(len(ranked.spans)), key=lambda n: ranked.scores[n])][0]
                right += at <= best <= at + len(row["context"])
                asked += 1
            at += len(row["context"]) + 2
    return round(right / asked, 4)


COLOURS = {"cormorant": "#0b6e4f", "langchain + BM25": "#c76d1e", "best section": "#7a5195", "top of the page": "#888888"}


def picture(results: dict[str, dict[str, dict[str, Any]]]) -> str:
    """One panel a pack, one line a way."""
    wide, high, gap = 220, 190, 46
    panels = []
    for n, (pack, ways) in enumerate(results.items()):
        left = gap + n * (wide + gap)
        panels.append(f'<text x="{left}" y="24" font-weight="bold">{pack}</text>')
        for share in (0, 0.25, 0.5, 0.75, 1):
            y = 40 + high * (1 - share)
            panels.append(
                f'<line x1="{left}" x2="{left + wide}" y1="{y}" y2="{y}" stroke="#ddd"/><text x="{left - 30}" y="{y + 4}">{share}</text>'
            )
        for step, budget in enumerate(BUDGETS):
            panels.append(f'<text x="{left + step * wide / 3 - 10}" y="{high + 58}">{budget}</text>')
        for way, found in ways.items():
            points = " ".join(
                f"{left + step * wide / 3:.0f},{40 + high * (1 - found['recall'][str(budget)]):.1f}" for step, budget in enumerate(BUDGETS)
            )
            panels.append(f'<polyline points="{points}" fill="none" stroke="{COLOURS[way]}" stroke-width="2.5"/>')
    for n, (way, colour) in enumerate(COLOURS.items()):
        panels.append(f'<text x="{gap + n * 170}" y="{high + 84}" fill="{colour}" font-weight="bold">{way}</text>')
    size = f'width="{gap + len(results) * (wide + gap)}" height="{high + 96}" font-family="sans-serif" font-size="12"'
    ground = '<rect width="100%" height="100%" fill="white"/>'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{ground}{"".join(panels)}</svg>\n'


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("folder", type=Path)
    asked.add_argument("--out", type=Path, default=Path(__file__).parent / "results")
    asked.add_argument("--packs", default=",".join(PACKS))
    asked.add_argument("--xquad", action="store_true")
    options = asked.parse_args()
    ways: dict[str, Way] = {"cormorant": ours, "best section": heading, "top of the page": top}
    try:
        import langchain_text_splitters  # noqa: F401

        ways["langchain + BM25"] = langchain
    except ImportError:
        print("langchain-text-splitters is not installed: left out")
    results: dict[str, dict[str, dict[str, Any]]] = {}
    for pack in options.packs.split(","):
        rows = load(options.folder, pack)
        results[pack] = {}
        for name, way in ways.items():
            results[pack][name] = recall(rows, way)
            print(pack, name, results[pack][name], flush=True)
    found: dict[str, Any] = {"counter": "o200k_base", "packs": results}
    if options.xquad:
        found["first_choice_paragraph"] = {language: first_choice(options.folder, language) for language in LANGUAGES}
        print(found["first_choice_paragraph"])
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "recall_at_budget.json").write_text(json.dumps(found, indent=1) + "\n")
    (options.out / "recall_at_budget.svg").write_text(picture(results))


if __name__ == "__main__":
    main()
