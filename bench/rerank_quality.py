"""nDCG@10 of the rerankers on web questions with twenty results each, against simpler orders in the same run."""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import time
from collections import Counter
from collections.abc import Callable, Sequence
from math import log, log2
from pathlib import Path
from typing import Any

import report

from cormorant import words
from cormorant.answer.evidence import ENGINE_WEIGHT, PRIOR_DEPTH
from cormorant.errors import CormorantError
from cormorant.passages.scoring import bm25
from cormorant.rank.words import Words

PACKS = Path(__file__).parents[2] / "shared" / "bench" / "retrieval"
Way = Callable[[str, list[str]], Sequence[float]]


def ndcg(scores: Sequence[float], grades: Sequence[int], k: int = 10) -> float:
    order = sorted(range(len(grades)), key=lambda n: -scores[n])
    gain = sum((2 ** grades[n] - 1) / log2(place + 2) for place, n in enumerate(order[:k]))
    most = sum((2**grade - 1) / log2(place + 2) for place, grade in enumerate(sorted(grades, reverse=True)[:k]))
    return gain / most if most else 0.0


def with_order(scores: Sequence[float]) -> list[float]:
    """As the pipeline joins them with the engine's order."""
    top = max(scores, default=0.0)
    return [(1 - ENGINE_WEIGHT) * s + ENGINE_WEIGHT * top * PRIOR_DEPTH / (PRIOR_DEPTH + n) for n, s in enumerate(scores)]


def plain_bm25(question: str, texts: list[str]) -> list[float]:
    """The textbook one: words, rarity among the candidates."""
    counted = [Counter(words.folded(text).split()) for text in texts]
    mean = sum(c.total() for c in counted) / len(counted)
    scores = []
    for counts in counted:
        score = 0.0
        for term in set(words.folded(question).split()):
            seen = sum(term in c for c in counted)
            rarity = log(1 + (len(texts) - seen + 0.5) / (seen + 0.5))
            score += rarity * counts[term] * 2.2 / (counts[term] + 1.2 * (0.25 + 0.75 * counts.total() / mean))
        scores.append(score)
    return scores


def overlap(question: str, texts: list[str]) -> list[float]:
    asked = set(words.folded(question).split())
    return [len(asked & set(words.folded(text).split())) / (len(asked) or 1) for text in texts]


def by(reranker: Any) -> Way:
    return lambda question, texts: asyncio.run(reranker.score(question, texts))


def ways() -> dict[str, Way]:
    found: dict[str, Way] = {
        "cormorant words": by(Words()),
        "cormorant words, pipeline": lambda q, t: with_order(by(Words())(q, t)),
        "our BM25 without feedback": lambda q, t: bm25(q, t),
        "engine's order": lambda q, t: [-float(n) for n in range(len(t))],
        "BM25": plain_bm25,
        "BM25 with the engine's order": lambda q, t: with_order(plain_bm25(q, t)),
        "word overlap": overlap,
    }
    try:
        from cormorant.rank.maxsim import MaxSim

        maxsim = MaxSim()
    except (ImportError, CormorantError) as missing:
        print(f"without the extra `rerank`: {missing}")
        return found
    return {
        "cormorant maxsim": by(maxsim),
        "cormorant maxsim, pipeline": lambda q, t: with_order(by(maxsim)(q, t)),
        "MiniLM embeddings": lambda q, t: maxsim.similarities(q, t)[1],
    } | found


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--packs", type=Path, default=PACKS)
    (path,) = arguments.parse_args().packs.glob("noveleval_rerank.*.jsonl.gz")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    found = {}
    for name, way in ways().items():
        start = time.process_time()
        score = sum(ndcg(way(row["query"], row["docs"]), row["grades"]) for row in rows) / len(rows)
        found[name] = {"nDCG@10": score, "ms CPU a question": (time.process_time() - start) / len(rows) * 1000}
    print(report.table([{"way": name, **{k: round(v, 3) for k, v in row.items()}} for name, row in found.items()]))
    bars = {measure: {name: row[measure] for name, row in found.items()} for measure in ("nDCG@10", "ms CPU a question")}
    report.save("rerank_quality", {"questions": len(rows), "ways": found}, bars=bars)


if __name__ == "__main__":
    main()
