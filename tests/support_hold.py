"""What other processes do to a shared folder or file in the tests of store and cache. Light to import: each one does."""

from __future__ import annotations

import asyncio
import multiprocessing
from multiprocessing.pool import Pool as _Pool
from pathlib import Path


def Pool(processes: int) -> _Pool:
    """Processes that share nothing with this one."""
    return multiprocessing.get_context("spawn").Pool(processes)


def use_one_cache(path: str, rounds: int) -> str:
    """Opens the HTTP cache's file, writes and reads it; what went wrong."""
    from cormorant.cache.entries import Entries
    from cormorant.cache.freshness import Response, entry

    entries = Entries(Path(path), 10**7)
    for n in range(rounds):
        key = f"\nhttps://d.example/{n % 3}"
        entries.save(key, entry({}, Response(200, {"cache-control": "max-age=9"}, b"A" * 1000), 1.0, 1.0))
        found = entries.load(key)
        if entries.trouble or not found or found[0].response.body != b"A" * 1000:
            return entries.trouble or "not found"
    entries.close()
    return ""


def put_again_and_again(folder: str, fill: str, times: int) -> int:
    """Puts 400,000 equal characters under one id."""
    from cormorant.store import DirectoryStore
    from cormorant.store.held import Held, Item

    async def run() -> None:
        store = DirectoryStore(folder)
        for _ in range(times):
            await store.put(Held("web_fetch", (Item(text=fill * 400_000),), response_id="5" * 32))
        await store.aclose()

    asyncio.run(run())
    return times


def hold_under_sweeps(folder: str, name: str, times: int) -> int:
    """Puts results with a text that all share, sweeping a folder that is far too full; how many of its own are gone."""
    from cormorant.errors import CormorantError
    from cormorant.store import DirectoryStore
    from cormorant.store.held import Held, Item

    async def run() -> int:
        store, reader = DirectoryStore(folder, max_bytes=20_000), DirectoryStore(folder)
        mine = []
        for n in range(times):
            mine.append(await store.put(Held("research", (Item(text="shared " * 2_000), Item(text=f"{name} {n} " * 1_000)))))
            if n % 5 == 0:
                await store.sweep()
        gone = 0
        for n, response_id in enumerate(mine):
            try:
                gone += (await reader.get(response_id)).items[1].text != f"{name} {n} " * 1_000
            except CormorantError:
                gone += 1
        await store.aclose()
        await reader.aclose()
        return gone

    return asyncio.run(run())
