"""A second backend beside a slow first one: whoever answers first counts, the other is cancelled."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import anyio

from cormorant.errors import CormorantError
from cormorant.search import Found

Ask = Callable[[], Awaitable[Found]]


@dataclass
class Ran:
    """How a race ended: 0 is the first one, 1 the second."""

    answer: Found | None = None
    winner: int = 0
    errors: dict[int, CormorantError] = field(default_factory=dict)
    started: int = 1


async def hedged(first: Ask, second: Ask, after_s: float) -> Ran:
    """Asks the first, and the second too once the first has taken longer than `after_s`.

    A first that fails in time leaves the second unasked: what comes then is for a chain to decide.
    """
    ran = Ran()
    over = anyio.Event()  # somebody has answered, or everybody asked has failed

    async def run(n: int, ask: Ask) -> None:
        try:
            found = await ask()
        except CormorantError as error:
            ran.errors[n] = error
        else:
            if ran.answer is None:
                ran.winner, ran.answer = n, found
        if ran.answer is not None or len(ran.errors) == ran.started:
            over.set()

    async with anyio.create_task_group() as group:
        group.start_soon(run, 0, first)
        with anyio.move_on_after(after_s):
            await over.wait()
        if not over.is_set():
            ran.started = 2
            group.start_soon(run, 1, second)
            await over.wait()
        group.cancel_scope.cancel()
    return ran
