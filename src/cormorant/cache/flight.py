"""Several callers, one piece of work: who asks for what is already being done waits for it. No network of its own.

The work runs in its own task, so that a caller who gives up takes nothing from the others; when the last one gives up
the work is cancelled too, and nobody pays for an answer that nobody waits for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Flights(Generic[Key, Value]):
    """Work in flight by key. Nothing is kept once it has ended, neither answer nor error."""

    def __init__(self) -> None:
        self._running: dict[Key, tuple[asyncio.Task[Value], list[int]]] = {}

    def __len__(self) -> int:
        return len(self._running)

    async def join(self, key: Key, work: Callable[[], Awaitable[Value]]) -> Value:
        """What `work` returns or raises; `work` is called only when nobody has begun it for this key."""
        if key not in self._running:
            task = asyncio.ensure_future(_awaited(work))
            self._running[key] = task, [0]
            task.add_done_callback(lambda done: self._landed(key, done))
        task, waiting = self._running[key]
        waiting[0] += 1
        try:
            return await asyncio.shield(task)
        finally:
            waiting[0] -= 1
            if not waiting[0] and not task.done():
                self._landed(key, task)  # a caller who comes now starts anew instead of joining what is being cancelled
                task.cancel()

    def _landed(self, key: Key, task: asyncio.Task[Value]) -> None:
        if self._running.get(key, (None,))[0] is task:
            del self._running[key]
        if task.done() and not task.cancelled():
            task.exception()  # looked at: everybody who waited may have gone, and asyncio would complain


async def _awaited(work: Callable[[], Awaitable[Value]]) -> Value:
    return await work()
