"""How well `support` tells supported claims from others, against simpler ways in the same run.

Reads the retrieval packs (`--packs`): claims of Wikipedia sentences against cited pages, dialogue replies against their
knowledge, page sentences with a changed number, name or negation. Prints the area under the ROC curve for each.
"""

from __future__ import annotations

import argparse
import gzip
import json
import time
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from pathlib import Path
from typing import Any

import report

from cormorant import words
from cormorant.passages.scoring import bm25
from cormorant.verify import support, verify

Score = Callable[[str, str], float]
PACKS = Path(__file__).parents[2] / "shared" / "bench" / "retrieval"


def rows_of(folder: Path, name: str) -> list[dict[str, Any]]:
    (path,) = folder.glob(f"{name}.*.jsonl.gz")
    return [json.loads(line) for line in gzip.open(path, "rt", encoding="utf-8")]


def claims(folder: Path) -> list[tuple[str, str, str, str]]:
    """(set, claim, source, label): label is yes, part or no, or what was changed."""
    found = []
    for row in rows_of(folder, "wice_claims"):
        label = {"supported": "yes", "partially_supported": "part", "not_supported": "no"}[row["label"]]
        found.append(("cited pages", row["claim"], "\n".join(row["evidence"]), label))
    for row in rows_of(folder, "begin_wow"):
        found.append(("replies", row["response"], row["knowledge"], "yes" if row["label"] == "Fully attributable" else "no"))
    for row in rows_of(folder, "squad_perturbed_claims"):
        found.append(("changed", row["claim"], "\n".join(row["evidence"]), "yes" if row["label"] == "supported" else row["kind"]))
    return found


def area(high: list[float], low: list[float]) -> float:
    """The share of pairs in which the higher class scores higher, ties by half."""
    low = sorted(low)
    wins = sum(bisect_left(low, s) + (bisect_right(low, s) - bisect_left(low, s)) / 2 for s in high)
    return wins / (len(high) * len(low))


def overlap(claim: str, source: str) -> float:
    """The share of the claim's words that stand anywhere in the source."""
    asked = set(words.folded(claim).split())
    return len(asked & set(words.folded(source).split())) / (len(asked) or 1)


def best_bm25(claim: str, source: str) -> float:
    return bm25(claim, [source])[0]


def measured(score: Score, data: list[tuple[str, str, str, str]]) -> dict[str, float]:
    start = time.process_time()
    scored = [(of, label, score(claim, source)) for of, claim, source, label in data]
    spent = (time.process_time() - start) / len(data) * 1000

    def pick(of: str, *labels: str) -> list[float]:
        return [s for o, label, s in scored if o == of and label in labels]

    changed = pick("changed", "yes")
    return {
        "cited pages, yes over no": area(pick("cited pages", "yes"), pick("cited pages", "no")),
        "cited pages, yes over the rest": area(pick("cited pages", "yes"), pick("cited pages", "no", "part")),
        "replies": area(pick("replies", "yes"), pick("replies", "no")),
        "changed, all": area(changed, pick("changed", "num", "name", "neg")),
        "changed number": area(changed, pick("changed", "num")),
        "changed name": area(changed, pick("changed", "name")),
        "changed negation": area(changed, pick("changed", "neg")),
        "ms CPU a claim": spent,
    }


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--packs", type=Path, default=PACKS)
    data = claims(arguments.parse_args().packs)
    ways: dict[str, Score] = {"cormorant": support, "BM25": best_bm25, "word overlap": overlap}
    found = {name: measured(score, data) for name, score in ways.items()}
    rulings: dict[str, dict[str, int]] = {}
    for of, claim, source, label in data:
        (verdict,) = verify([(claim, 0)], [source])
        counts = rulings.setdefault(f"{of}: {label}", {})
        counts[verdict.verdict] = counts.get(verdict.verdict, 0) + 1
    print(report.table([{"way": name, **{k: round(v, 3) for k, v in row.items()}} for name, row in found.items()]))
    for name, counts in rulings.items():
        print(f"{name:24} {counts}")
    bars = {measure: {name: row[measure] for name, row in found.items()} for measure in found["cormorant"]}
    report.save("verify_quality", {"claims": len(data), "area under curve": found, "rulings": rulings}, bars=bars)


if __name__ == "__main__":
    main()
