"""Kills processes that write to one store, again and again, and looks at what is left: `python support_crash.py FOLDER ROUNDS SEED`.

One process imports and forks the writers, so that a round takes a tenth of a second. A writer tells each id through a
pipe once `put` has returned; whoever read it there may expect it to be kept.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import random
import signal
import sys
import time
from pathlib import Path

from cormorant.document import Document
from cormorant.errors import CormorantError
from cormorant.store import DirectoryStore
from cormorant.store.held import Held, Item

WRITERS = 4
SHARED = "A page that every writer brings. " * 400


def held(seed: int) -> Held:
    """A result that can be told from its seed: a text of its own, and one that all share."""
    own = f"{seed} " * (seed % 9_000)
    pages = (Item(url="https://a.example/", document=Document("https://a.example/", own)), Item(text=SHARED))
    return Held("web_fetch", pages, response_id=hashlib.md5(str(seed).encode()).hexdigest(), created_at="then")


async def write(folder: str, seed: int, told: int) -> None:
    """Puts, tells, and now and then sweeps or reads, until it is killed."""
    store = DirectoryStore(folder, max_bytes=10**12)
    dice = random.Random(seed)
    while True:
        seed += 1
        await store.put(held(seed))
        os.write(told, f"{seed}\n".encode())
        if dice.random() < 0.05:
            await store.sweep()


def writer(folder: str, seed: int) -> tuple[int, int]:
    """A forked writer: its process id, and the end of the pipe it tells its ids through."""
    heard, told = os.pipe()
    pid = os.fork()
    if pid:
        os.close(told)
        return pid, heard
    try:
        os.close(heard)
        asyncio.run(write(folder, seed, told))
    finally:
        os._exit(1)


def round_of(folder: str, dice: random.Random, first_seed: int) -> list[int]:
    """The seeds that were acknowledged before each writer was killed, at a moment of its own."""
    running = [writer(folder, first_seed + n * 1_000_000) for n in range(WRITERS)]
    for pid, _ in running:
        time.sleep(dice.uniform(0.0, 0.06))
        os.kill(pid, signal.SIGKILL)
    acknowledged: list[int] = []
    for pid, heard in running:
        os.waitpid(pid, 0)
        with os.fdopen(heard, "rb") as pipe:
            acknowledged += [int(line) for line in pipe.read().split(b"\n")[:-1]]
    return acknowledged


async def judged(folder: Path, seeds: list[int]) -> dict[str, int]:
    """What is wrong with the folder, and how much work was cut short."""
    interrupted = sum(name.startswith(".tmp-") for name in os.listdir(folder))
    store = DirectoryStore(folder)
    lost = torn = 0
    for seed in seeds:
        try:
            lost += await store.get(held(seed).response_id) != held(seed)
        except CormorantError:
            lost += 1
    for name in os.listdir(folder):
        if name.endswith(".json"):
            try:
                await store.get(name.removesuffix(".json"))
            except CormorantError:
                torn += 1
    await store.sweep()
    await store.aclose()
    names = os.listdir(folder)
    named = {body for path in folder.glob("*.json") for body in json.loads(path.read_bytes())["bodies"]}
    left = [name for name in names if name.startswith((".tmp-", ".live-"))] + [
        n for n in names if n.endswith(".body") and n[:-5] not in named
    ]
    return {"interrupted": interrupted, "lost": lost, "torn": torn, "leftovers": len(left)}


def run(folder: Path, rounds: int, seed: int) -> dict[str, int]:
    """The sums over all rounds; every tenth round looks at everything that was ever acknowledged."""
    dice = random.Random(seed)
    total = {"rounds": 0, "acknowledged": 0, "interrupted": 0, "lost": 0, "torn": 0, "leftovers": 0}
    ever: list[int] = []
    for n in range(rounds):
        new = round_of(str(folder), dice, (n * WRITERS + 1) * 1_000_000)
        ever += new
        everything = n % 10 == 9 or n == rounds - 1
        for name, count in asyncio.run(judged(folder, ever if everything else new)).items() if folder.is_dir() else ():
            total[name] += count
        total["rounds"] += 1
        total["acknowledged"] += len(new)
    return total


if __name__ == "__main__":
    print(json.dumps(run(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))))
