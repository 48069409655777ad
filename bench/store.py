"""Putting and getting results: our folder beside diskcache and plain SQLite, in the same run.

    python bench/store.py [--pages 400] [--chars 40000]

Everybody keeps the same encoded results and the encoding is counted for everybody. "synced" means that a result which was
acknowledged survives a power cut: our folder always, the others where told so. The contestants take turns in batches, so
that a machine whose speed drifts favours nobody; gets are in another order than puts and miss every memory of ours.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import diskcache
from report import save, table

from cormorant.document import Document
from cormorant.store import DirectoryStore
from cormorant.store.held import Held, Item, decoded, encoded, new_id

BATCH = 25
WORDS = ["tide", "harbour", "ferry", "gull", "rope", "anchor", "storm", "pier", "lamp", "chart", "north", "wind", "cargo", "crane", "quay"]


def page(dice: random.Random, chars: int) -> Held:
    text = " ".join(dice.choices(WORDS, k=chars // 6))
    return Held(
        "web_fetch",
        (Item(url="https://a.example/", document=Document("https://a.example/", text), status=200),),
        response_id=new_id(),
        created_at="t",
    )


class Ours:
    name = "cormorant (synced)"

    def __init__(self, folder: Path, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self.store = DirectoryStore(folder, max_bytes=0)
        self.reader = DirectoryStore(folder, max_bytes=0)  # what it put is in nobody's memory here

    def put(self, held: Held) -> None:
        self.loop.run_until_complete(self.store.put(held))

    def get(self, response_id: str) -> Held:
        return self.loop.run_until_complete(self.reader.get(response_id))

    def close(self) -> None:
        self.loop.run_until_complete(self.store.aclose())
        self.loop.run_until_complete(self.reader.aclose())


class OursAtOnce(Ours):
    """The same, eight puts at a time, as an agent that fetches in parallel does."""

    name = "cormorant (synced, 8 at once)"


def packed(held: Held) -> bytes:
    text, bodies = encoded(held)
    return b"\n".join([text, *bodies.values()])


def unpacked(value: bytes) -> Held:
    text, *bodies = value.split(b"\n", 1)
    return decoded(text, lambda _: bodies[0])


class Diskcache:
    def __init__(self, folder: Path, *, synced: bool) -> None:
        self.name = f"diskcache ({'synced' if synced else 'not synced'})"
        self.cache = diskcache.Cache(str(folder), sqlite_synchronous=2 if synced else 1, eviction_policy="none")

    def put(self, held: Held) -> None:
        self.cache.set(held.response_id, packed(held))

    def get(self, response_id: str) -> Held:
        return unpacked(self.cache.get(response_id))

    def close(self) -> None:
        self.cache.close()


class Sqlite:
    def __init__(self, folder: Path, *, synced: bool) -> None:
        self.name = f"SQLite, WAL ({'synced' if synced else 'not synced'})"
        folder.mkdir()
        self.db = sqlite3.connect(folder / "s.db", isolation_level=None)
        self.db.execute("pragma journal_mode = wal")
        self.db.execute(f"pragma synchronous = {'full' if synced else 'normal'}")
        self.db.execute("create table held (id text primary key, value blob)")

    def put(self, held: Held) -> None:
        self.db.execute("insert or replace into held values (?, ?)", (held.response_id, packed(held)))

    def get(self, response_id: str) -> Held:
        return unpacked(self.db.execute("select value from held where id = ?", (response_id,)).fetchone()[0])

    def close(self) -> None:
        self.db.close()


def timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


async def at_once(store: DirectoryStore, batch: list[Held], times: list[float]) -> None:
    waiting = asyncio.Semaphore(8)

    async def one(held: Held) -> None:
        async with waiting:
            began = time.perf_counter()
            await store.put(held)
            times.append(time.perf_counter() - began)

    await asyncio.gather(*(one(held) for held in batch))


def measured(contestants: list[Ours | Diskcache | Sqlite], pages: list[Held], loop: asyncio.AbstractEventLoop) -> list[dict[str, object]]:
    puts: dict[str, list[float]] = {each.name: [] for each in contestants}
    gets: dict[str, list[float]] = {each.name: [] for each in contestants}
    spent: dict[str, float] = dict.fromkeys(puts, 0.0)
    for n in range(0, len(pages), BATCH):
        for each in random.sample(contestants, len(contestants)):
            batch = pages[n : n + BATCH]
            began = time.perf_counter()
            if isinstance(each, OursAtOnce):
                loop.run_until_complete(at_once(each.store, batch, puts[each.name]))
            else:
                puts[each.name] += [timed(lambda each=each, held=held: each.put(held)) for held in batch]  # type: ignore[misc]
            spent[each.name] += time.perf_counter() - began
    order = random.sample(pages, len(pages))
    for n in range(0, len(order), BATCH):
        for each in random.sample(contestants, len(contestants)):
            for held in order[n : n + BATCH]:
                gets[each.name].append(timed(lambda each=each, held=held: each.get(held.response_id)))  # type: ignore[misc]
    wrong = [each.name for each in contestants for held in pages[:20] if each.get(held.response_id) != held]
    assert not wrong, wrong
    return [
        {
            "store": each.name,
            "puts/s": len(pages) / spent[each.name],
            "put p50 ms": 1000 * statistics.median(puts[each.name]),
            "put p99 ms": 1000 * statistics.quantiles(puts[each.name], n=100)[98],
            "gets/s": len(pages) / sum(gets[each.name]),
            "get p99 ms": 1000 * statistics.quantiles(gets[each.name], n=100)[98],
        }
        for each in contestants
    ]


def folder_bytes(folder: Path) -> int:
    return sum(os.path.getsize(Path(at) / name) for at, _, names in os.walk(folder) for name in names)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--pages", type=int, default=400)
    parser.add_argument("--chars", type=int, default=40_000)
    options = parser.parse_args()
    dice = random.Random(5)
    distinct = [page(dice, options.chars) for _ in range(options.pages)]
    again = [replace(distinct[n % 10], response_id=new_id()) for n in range(options.pages)]
    loop = asyncio.new_event_loop()
    result: dict[str, object] = {"pages": options.pages, "chars": options.chars}
    bars: dict[str, dict[str, float]] = {}
    for label, pages in (("every page another", distinct), ("ten pages, asked for again and again", again)):
        with tempfile.TemporaryDirectory(dir=".") as under:
            root = Path(under)
            contestants: list[Ours | Diskcache | Sqlite] = [Ours(root / "a", loop), OursAtOnce(root / "b", loop)]
            contestants += [Diskcache(root / "c", synced=True), Diskcache(root / "d", synced=False)]
            contestants += [Sqlite(root / "e", synced=True), Sqlite(root / "f", synced=False)]
            rows = measured(contestants, pages, loop)
            for each, row, name in zip(contestants, rows, "abcdef", strict=True):
                each.close()
                row["MB on disk"] = folder_bytes(root / name) / 1e6
        print(label, table(rows), sep="\n")
        result[label] = rows
        bars[f"puts per second, {label}"] = {str(row["store"]): float(str(row["puts/s"])) for row in rows}
        bars[f"gets per second, {label}"] = {str(row["store"]): float(str(row["gets/s"])) for row in rows}
    loop.close()
    save("store", result, bars=bars)


if __name__ == "__main__":
    main()
