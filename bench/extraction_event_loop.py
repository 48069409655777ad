"""Where pages are read while an event loop has other work: on the loop itself, in threads, or in processes.

    python bench/extraction_event_loop.py [--seconds 8] [--bytes 100000] [--concurrency 8]

Eight tasks read pages one after the other; a ticker wants the loop every 5 ms and notes how late it gets it. `start_ms` is
what the first page costs beyond a later one, `memory_mb` the resident memory of all processes above that of the empty program.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import os
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from extraction_growth import ordinary
from report import save, table

from cormorant.extract import document

TICK_S = 0.005
READ = partial(document, url="https://example.com/", content_type="text/html; charset=utf-8")


def resident_mb(pids: list[int]) -> float:
    """Resident memory of processes, shared pages counted once each (Linux)."""
    total = 0
    for pid in pids:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total / 1024


async def ticked(late_ms: list[float], over: asyncio.Event) -> None:
    while not over.is_set():
        due = time.perf_counter() + TICK_S
        await asyncio.sleep(TICK_S)
        late_ms.append((time.perf_counter() - due) * 1_000)


async def measured(read: Callable[[bytes], Awaitable[object]], body: bytes, seconds: float, concurrency: int) -> dict[str, Any]:
    began = time.perf_counter()
    await read(body)
    first = time.perf_counter() - began
    began = time.perf_counter()
    await read(body)
    second = time.perf_counter() - began
    late_ms: list[float] = []
    over = asyncio.Event()
    ticker = asyncio.create_task(ticked(late_ms, over))
    end = time.perf_counter() + seconds
    count = 0

    async def reader() -> None:
        nonlocal count
        while time.perf_counter() < end:
            await read(body)
            count += 1
            await asyncio.sleep(0)

    began = time.perf_counter()
    await asyncio.gather(*(reader() for _ in range(concurrency)))
    spent = time.perf_counter() - began
    memory = resident_mb([os.getpid(), *(child.pid for child in multiprocessing.active_children() if child.pid)])
    over.set()
    await ticker
    late_ms.sort()
    return {
        "pages_per_s": round(count / spent, 1),
        "late_p50_ms": round(late_ms[len(late_ms) // 2], 2),
        "late_p99_ms": round(late_ms[int(len(late_ms) * 0.99)], 1),
        "late_max_ms": round(late_ms[-1], 1),
        "start_ms": round((first - second) * 1_000, 1),
        "memory_mb": round(memory, 1),
    }


async def on_the_loop(body: bytes) -> object:
    return READ(body)


async def elsewhere(pool: Executor, body: bytes) -> object:
    return await asyncio.get_running_loop().run_in_executor(pool, READ, body)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--bytes", type=int, default=100_000)
    parser.add_argument("--concurrency", type=int, default=8)
    given = parser.parse_args()
    body = ordinary(given.bytes).encode()
    READ(body)
    cores = os.cpu_count() or 1
    empty = resident_mb([os.getpid()])
    found = {"on the loop": asyncio.run(measured(on_the_loop, body, given.seconds, given.concurrency))}
    for name, pool in (
        (f"{given.concurrency} threads", ThreadPoolExecutor(given.concurrency)),
        (f"{cores} threads", ThreadPoolExecutor(cores)),
        (f"{cores} processes", ProcessPoolExecutor(cores, mp_context=multiprocessing.get_context("spawn"))),
    ):
        with pool:
            found[name] = asyncio.run(measured(partial(elsewhere, pool), body, given.seconds, given.concurrency))
    rows = [{"where": name, **one, "memory_mb": round(one["memory_mb"] - empty, 1)} for name, one in found.items()]
    print(table(rows))
    bars = {
        "Lateness of the event loop, p99 in ms": {f"cormorant: {row['where']}": row["late_p99_ms"] for row in rows},
        "Pages per second": {f"cormorant: {row['where']}": row["pages_per_s"] for row in rows},
        "Memory above the empty program, MB": {f"cormorant: {row['where']}": row["memory_mb"] for row in rows},
    }
    save("extraction_event_loop", {"bytes": len(body), "concurrency": given.concurrency, "cores": cores, "ways": rows}, bars=bars)


if __name__ == "__main__":
    main()
