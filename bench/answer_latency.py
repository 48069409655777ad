"""What an answer costs beyond the network and the model: eight canned pages, no waiting, stage by stage."""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Sequence

import report

from cormorant.answer import Options, answer
from cormorant.document import Document
from cormorant.events import Event
from cormorant.rank.words import Words
from cormorant.search import Found, Hit, Query
from cormorant.writers.quote import Quote

QUESTION = "When was the lock at Brimley opened, and how long is it?"
RUNS = 15


def page(n: int, paragraphs: int) -> str:
    """A page of some length that speaks of a lock, with the answer in one of its paragraphs."""
    lines = [f"# Lock {n}\n"]
    for k in range(paragraphs):
        lines.append(
            f"In {1800 + (n * 37 + k) % 200} the keeper of lock {n} wrote that {k * 7 + 3} boats had passed. "
            f"The water stood at {k % 9 + 1} metres. "
            "The gates were painted, the pins were greased, and the ledger was closed for the night."
        )
    lines.insert(paragraphs // 2, "The lock at Brimley was opened in 1974. It is 58 metres long.")
    return "\n\n".join(lines)


async def once(pages: Sequence[str]) -> dict[str, float]:
    """Milliseconds per stage."""
    marks: list[tuple[str, float]] = []

    async def search(query: Query) -> Found:
        return Found(query.text, "canned", tuple(Hit(f"page {n}", f"https://p{n}.example/") for n in range(len(pages))))

    async def read(url: str, budget: int) -> Document:
        return Document(url, pages[int(url.removeprefix("https://p").split(".")[0])])

    async def emit(event: Event) -> None:
        data = event.data
        marks.append((f"{data.get('phase', event.event)} {data.get('status', '')}".strip(), time.perf_counter()))

    start = time.perf_counter()
    made = await answer(QUESTION, search=search, read=read, reranker=Words(), writer=Quote(), emit=emit, options=Options())
    end = time.perf_counter()
    assert "1974" in made.response
    at = dict(reversed(marks))
    return {
        "rank": (at["RERANKING completed"] - at["RERANKING started"]) * 1000,
        "cut and write": (at["GENERATION completed"] - at["RERANKING completed"]) * 1000,
        "verify and finish": (end - at["GENERATION completed"]) * 1000,
        "all": (end - start) * 1000,
    }


def main() -> None:
    found: dict[str, dict[str, float]] = {}
    for paragraphs in (10, 50, 200):
        pages = [page(n, paragraphs) for n in range(8)]
        runs = [asyncio.run(once(pages)) for _ in range(RUNS)]
        name = f"8 pages of {sum(map(len, pages)) // 8000} kB"
        found[name] = {stage: statistics.median(run[stage] for run in runs) for stage in runs[0]}
        print(name, {stage: round(ms, 1) for stage, ms in found[name].items()})
    bars = {name: {f"cormorant {stage}": ms for stage, ms in row.items()} for name, row in found.items()}
    report.save("answer_latency", {"milliseconds, median": found, "runs": RUNS}, bars=bars, unit=" ms")


if __name__ == "__main__":
    main()
