"""How often the answer stands in what the model-free writer quotes, at 1, 3 and 5 sentences, end to end without a network.

Each question is asked of its page among four others of the same set: ranked, cut to the writer's budget, quoted. A hit is a
gold span that lies at least 90 % inside the quoted sentences, or an answer string that is in them.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import random
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import report

from cormorant.answer import Options, answer
from cormorant.citations import without_markers
from cormorant.document import Document
from cormorant.passages.scoring import bm25
from cormorant.passages.sentences import sentences
from cormorant.rank.words import Words
from cormorant.search import Found, Hit, Query
from cormorant.writers.quotable import shown
from cormorant.writers.quote import Quote

PACKS = Path(__file__).parents[2] / "shared" / "bench" / "retrieval"
SETS = ("squad_pages", "covidqa_pages", "xquad_en", "xquad_es", "xquad_de", "xquad_ru", "xquad_ar", "xquad_tr", "xquad_zh", "xquad_th")
AT = (1, 3, 5)


def asked(folder: Path, name: str, most: int) -> tuple[list[str], list[tuple[int, str, list[str]]]]:
    """The pages of a set and a sample of its questions: (page, question, answer texts)."""
    (path,) = folder.glob(f"{name}.*.jsonl.gz")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows: list[dict[str, Any]] = [json.loads(line) for line in lines]
    pages, questions = [], []
    for row in rows:
        text = row.get("text") or row.get("context") or ""
        for question in row.get("questions") or row.get("qas") or []:
            gold = [text[a:b] for a, b in question.get("gold_spans", [])]
            given = question.get("answers") or ([question["a"]] if "a" in question else [])
            answers = [a if isinstance(a, str) else a["text"] for a in given]
            questions.append((len(pages), question.get("question") or question["q"], answers or gold))
        pages.append(text)
    return pages, random.Random(11).sample(questions, min(most, len(questions)))


def hit(said: str, answers: Sequence[str]) -> bool:
    flat = " ".join(said.split()).casefold()
    return any(" ".join(shown(a).split()).casefold() in flat for a in answers if a.strip())


async def ours(question: str, pages: Sequence[str], count: int) -> str:
    async def search(query: Query) -> Found:
        return Found(query.text, "canned", tuple(Hit(f"page {n}", f"https://p{n}.example/") for n in range(len(pages))))

    async def read(url: str, budget: int) -> Document:
        return Document(url, pages[int(url.removeprefix("https://p").split(".")[0])])

    made = await answer(question, search=search, read=read, reranker=Words(), writer=Quote(count), options=Options())
    return without_markers(made.text)


def plain(question: str, pages: Sequence[str], count: int) -> str:
    """The best sentences of all pages by BM25."""
    pool = [page[a:b] for page in pages for a, b in sentences(page)]
    scores = bm25(question, pool)
    return " ".join(pool[n] for n in sorted(range(len(pool)), key=lambda n: -scores[n])[:count])


def lead(question: str, pages: Sequence[str], count: int) -> str:
    """The first sentences of the first page by BM25: what a snippet often is."""
    scores = bm25(question, pages)
    page = pages[max(range(len(pages)), key=lambda n: scores[n])]
    return " ".join(page[a:b] for a, b in sentences(page)[:count])


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--packs", type=Path, default=PACKS)
    arguments.add_argument("--questions", type=int, default=40)
    given = arguments.parse_args()
    found: dict[str, dict[str, float]] = {}
    chance = random.Random(5)
    for name in SETS:
        pages, questions = asked(given.packs, name, given.questions)
        if not questions:
            continue
        hits: dict[str, int] = {}
        start = time.process_time()
        for page, question, answers in questions:
            others = chance.sample([n for n in range(len(pages)) if n != page], min(4, len(pages) - 1))
            texts = [pages[n] for n in chance.sample([page, *others], len(others) + 1)]
            for count in AT:
                hits[f"cormorant @{count}"] = hits.get(f"cormorant @{count}", 0) + hit(asyncio.run(ours(question, texts, count)), answers)
                hits[f"lead @{count}"] = hits.get(f"lead @{count}", 0) + hit(lead(question, texts, count), answers)
                if name != "covidqa_pages":
                    hits[f"BM25 @{count}"] = hits.get(f"BM25 @{count}", 0) + hit(plain(question, texts, count), answers)
        found[name] = {key: value / len(questions) for key, value in sorted(hits.items())}
        print(
            f"{name:16} n={len(questions):3} {time.process_time() - start:5.1f} s CPU ",
            {k: round(v, 2) for k, v in found[name].items()},
            flush=True,
        )
    report.save("answer_hits", {"questions a set": given.questions, "share answered": found}, bars=found)


if __name__ == "__main__":
    main()
