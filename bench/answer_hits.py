"""How often the answer stands in what the model-free writer quotes, at 1, 3 and 5 sentences, end to end without a network.

Each question is asked of its page among four others of the same set: ranked, cut to the writer's budget, quoted. A hit is an
answer string that is in the quoted sentences. Then it is asked of pages that do not hold the answer: what is quoted then is a false
answer. In the same run: the best sentences of all pages by BM25, by MiniLM embeddings where the language is English (with the
extra `rerank`), and the lead of the best page; these always say something.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import random
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import report

from cormorant.answer import Options, answer
from cormorant.citations import Source, without_markers
from cormorant.document import Document
from cormorant.errors import NotConfigured
from cormorant.passages.scoring import bm25
from cormorant.passages.sentences import sentences
from cormorant.rank import maxsim
from cormorant.rank.words import Words
from cormorant.search import Found, Hit, Query
from cormorant.writers import quote
from cormorant.writers.quotable import shown

PACKS = Path(__file__).parents[2] / "shared" / "bench" / "retrieval"
SETS = ("squad_pages", "covidqa_pages", "xquad_en", "xquad_es", "xquad_de", "xquad_ru", "xquad_ar", "xquad_tr", "xquad_zh", "xquad_th")
ENGLISH = ("squad_pages", "xquad_en")  # what the embedding model was trained on, and short enough to embed whole
AT = (1, 3, 5)
Way = Callable[[str, Sequence[str], int], str]


def asked(folder: Path, name: str, most: int) -> tuple[list[str], list[tuple[int, str, list[str]]]]:
    """The pages of a set and a sample of the questions of every other page: (page, question, answer texts).

    The writer's weights and bars were set on the pages in between.
    """
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
    held_out = [row for row in questions if row[0] % 2]
    return pages, random.Random(11).sample(held_out, min(most, len(held_out)))


def hit(said: str, answers: Sequence[str]) -> bool:
    flat = " ".join(said.split()).casefold()
    return any(" ".join(shown(a).split()).casefold() in flat for a in answers if a.strip())


class Shown:
    """A writer that keeps what it was shown."""

    label = "shown"

    async def write(self, question: str, sources: Sequence[Source]) -> AsyncIterator[str]:
        self.sources = sources
        yield "-"


async def evidence(question: str, pages: Sequence[str]) -> Sequence[Source]:
    """What the pipeline shows a writer."""

    async def search(query: Query) -> Found:
        return Found(query.text, "canned", tuple(Hit(f"page {n}", f"https://p{n}.example/") for n in range(len(pages))))

    async def read(url: str, budget: int) -> Document:
        return Document(url, pages[int(url.removeprefix("https://p").split(".")[0])])

    writer = Shown()
    await answer(question, search=search, read=read, reranker=Words(), writer=writer, options=Options())
    return writer.sources


def quoted(question: str, sources: Sequence[Source]) -> dict[int, str]:
    """What the writer quotes at each length, its sentences scored once."""
    pool = quote._pool(question, sources)
    return {count: without_markers("".join(quote._said(pool, count))) for count in AT}


def plain(question: str, pages: Sequence[str], count: int) -> str:
    """The best sentences of all pages by BM25."""
    pool = [page[a:b] for page in pages for a, b in sentences(page)]
    scores = bm25(question, pool)
    return " ".join(pool[n] for n in sorted(range(len(pool)), key=lambda n: -scores[n])[:count])


@cache
def vectors(page: str) -> tuple[list[str], Any]:
    """The sentences of a page and their mean token vectors."""
    pool = [page[a:b] for a, b in sentences(page)]
    rows: dict[int, list[Any]] = {}
    for owner, found in maxsim._vectors(pool):
        rows.setdefault(owner, []).append(found)
    return [pool[n] for n in sorted(rows)], np.array([maxsim._mean(rows[n]) for n in sorted(rows)])


def embedded(question: str, pages: Sequence[str], count: int) -> str:
    """The best sentences of all pages by the cosine of their embedding with the question's."""
    asked = maxsim._mean([maxsim._question(question)[0]])
    scored = [
        (float(cosine), text) for page in pages for texts, rows in [vectors(page)] for text, cosine in zip(texts, rows @ asked, strict=True)
    ]
    return " ".join(text for _, text in sorted(scored, reverse=True)[:count])


def lead(question: str, pages: Sequence[str], count: int) -> str:
    """The first sentences of the first page by BM25: what a snippet often is."""
    scores = bm25(question, pages)
    page = pages[max(range(len(pages)), key=lambda n: scores[n])]
    return " ".join(page[a:b] for a, b in sentences(page)[:count])


def has_model() -> bool:
    try:
        maxsim._parts()
    except NotConfigured:
        return False
    return True


def measured(
    pages: Sequence[str], questions: Sequence[tuple[int, str, list[str]]], ways: dict[str, Way], chance: random.Random
) -> dict[str, float]:
    """The share of questions answered by each way at each length, and how often ours answers without the page."""
    hits: Counter[str] = Counter()
    without = 0
    for page, question, answers in questions:
        others = chance.sample([n for n in range(len(pages)) if n != page], min(5, len(pages) - 1))
        texts = [pages[n] for n in chance.sample([page, *others[:4]], len(others[:4]) + 1)]
        sources = asyncio.run(evidence(question, texts))
        for count, said in quoted(question, sources).items():
            hits[f"cormorant @{count}"] += hit(said, answers)
            for way, say in ways.items():
                hits[f"{way} @{count}"] += hit(say(question, texts, count), answers)
        hits["cormorant answers"] += bool(said)
        elsewhere = [pages[n] for n in others if not hit(pages[n], answers)]
        if elsewhere:
            without += 1
            hits["cormorant answers without the page"] += bool(quoted(question, asyncio.run(evidence(question, elsewhere)))[1])
    return {key: n / (without if key.endswith("without the page") else len(questions)) for key, n in sorted(hits.items())}


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--packs", type=Path, default=PACKS)
    arguments.add_argument("--questions", type=int, default=40)
    arguments.add_argument("--sets", nargs="+", choices=SETS, default=SETS)
    given = arguments.parse_args()
    found: dict[str, dict[str, float]] = {}
    chance = random.Random(5)
    for name in given.sets:
        pages, questions = asked(given.packs, name, given.questions)
        if not questions:
            continue
        ways: dict[str, Way] = {"lead": lead}
        ways |= {} if name == "covidqa_pages" else {"BM25": plain}  # minutes a question on papers
        ways |= {"embeddings": embedded} if name in ENGLISH and has_model() else {}
        found[name] = measured(pages, questions, ways, chance)
        print(f"{name:16} n={len(questions):3} ", {k: round(v, 2) for k, v in found[name].items()}, flush=True)
    report.save("answer_hits", {"questions a set": given.questions, "share answered": found}, bars=found)


if __name__ == "__main__":
    main()
