"""How long does it take to fit a page? CPU time against the size of the page, every kind of view.

    python bench/fit_time.py [--out bench/results]

The pages are made here, of headings, prose, tables and code, from 3 KB to 3 MB. Each figure is the best of three runs in
one process after a warm-up. Writes JSON.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from pathlib import Path
from typing import Any

from cormorant.document import Document
from cormorant.passages import pick
from cormorant.view import fit

SIZES = (3_000, 30_000, 300_000, 3_000_000)
SAID = (
    "gate sluice keeper tide harbour timber winter repair stone rope morning boat master cargo light storm wall lamp "
    "auditor engineer spring ledger"
)
WORDS = SAID.split()
ASKED: dict[str, dict[str, Any]] = {
    "full page": {"max_chars": 10**9},
    "first 20,000 characters": {"max_chars": 20_000},
    "auto, 2,000 tokens": {"budget": 2_000},
    "section": {"section": "Part 3", "budget": 2_000},
    "passages, 500 tokens": {"query": "When did the engineer repair the sluice wall?", "budget": 500},
    "stub": {"view": "stub", "budget": 2_000},
}


def page(size: int) -> str:
    made = random.Random(11)
    parts: list[str] = []
    said = n = 0
    while said < size:
        n += 1
        prose = [" ".join(made.choices(WORDS, k=14)).capitalize() + f" in {made.randint(1800, 2000)}." for _ in range(12)]
        rows = [f"| {made.choice(WORDS)} {k} | {made.randint(1, 999)} |" for k in range(6)]
        code = [f"{made.choice(WORDS)}_{k} = {made.choice(WORDS)}({k})" for k in range(5)]
        part = [f"## Part {n}", " ".join(prose[:6]), " ".join(prose[6:]), "\n".join(["| name | size |", "|---|---|", *rows])]
        part.append("\n".join(["```python", *code, "```"]))
        parts.append("\n\n".join(part))
        said += len(parts[-1]) + 2
    return "\n\n".join(parts)[:size]


def milliseconds(document: Document, asked: dict[str, Any] | None) -> float:
    best = float("inf")
    for _ in range(3):
        fresh = Document(document.url, document.markdown)
        start = time.process_time()
        if asked is None:
            pick(fresh.markdown, "When did the engineer repair the sluice wall?", budget=500)
        else:
            fit(fresh, **asked)
        best = min(best, time.process_time() - start)
    return round(1000 * best, 2)


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--out", type=Path, default=Path(__file__).parent / "results")
    options = asked.parse_args()
    start = time.process_time()
    fit(Document("https://site.example/", page(3_000)), budget=100)
    found: dict[str, Any] = {"first_use_ms": round(1000 * (time.process_time() - start), 1), "cpu_ms": {}}
    for size in SIZES:
        document = Document("https://site.example/", page(size))
        found["cpu_ms"][str(size)] = {name: milliseconds(document, how) for name, how in {**ASKED, "pick alone": None}.items()}
        print(size, found["cpu_ms"][str(size)], flush=True)
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "fit_time.json").write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
