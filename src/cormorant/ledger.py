"""What a run may spend and has spent: tokens, seconds, requests, bytes, money. Reserved before the work, settled after.

    session = Ledger(settings.limits)
    with session.call() as ledger:                               # one answer: counted here and in the session's
        with ledger.reserve(requests=1, bytes=max_bytes) as taken:   # raises BudgetSpent before anything is sent
            page = await transport.get(url, max_bytes=max_bytes)
            taken.settle(bytes=len(page.body))
    ledger.as_dict()                                             # the `ledger` of every answer

Work that runs side by side reserves before it spends, so that ten fetches can't each see the last request as theirs.
Pure, but for the clock.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, fields
from types import TracebackType
from typing import Any, Self

from cormorant.errors import BudgetSpent
from cormorant.settings import Limits

_UNITS = {"tokens": "tokens", "seconds": "seconds", "requests": "requests", "bytes": "bytes", "usd": "US dollars"}


@dataclass(frozen=True)
class Amounts:
    """So much of each. Time is not reserved: it passes."""

    tokens: int = 0
    requests: int = 0
    bytes: int = 0
    usd: float = 0.0

    def __post_init__(self) -> None:
        for each in fields(self):
            if getattr(self, each.name) < 0:
                raise ValueError(f"{each.name} can't be negative")

    def plus(self, other: Amounts) -> Amounts:
        return Amounts(self.tokens + other.tokens, self.requests + other.requests, self.bytes + other.bytes, self.usd + other.usd)

    def minus(self, other: Amounts) -> Amounts:
        # Floats: what was added and taken away again may leave a speck below zero.
        usd = max(0.0, self.usd - other.usd)
        return Amounts(self.tokens - other.tokens, self.requests - other.requests, self.bytes - other.bytes, usd)


class Reservation:
    """What one piece of work has set aside. Use it as a context manager.

    What is not settled when the block ends: requests and money stay spent as reserved (they went out, whatever came
    back), tokens and bytes are given back.
    """

    def __init__(self, ledger: Ledger, amounts: Amounts) -> None:
        self._ledger = ledger
        self._amounts = amounts
        self._settled = False

    def settle(self, *, tokens: int | None = None, requests: int | None = None, bytes: int | None = None, usd: float | None = None) -> None:
        """What it came to; more than was reserved is counted too. Requests and money not named stay as reserved."""
        if self._settled:
            raise ValueError("a reservation is settled once")
        self._settled = True
        spent = Amounts(
            tokens or 0,
            self._amounts.requests if requests is None else requests,
            bytes or 0,
            self._amounts.usd if usd is None else usd,
        )
        self._ledger._settle(self._amounts, spent)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if not self._settled:
            self.settle()


class Ledger:
    """One run's account. A child (`call()`) counts for itself and for its parent, and the limits of both hold."""

    def __init__(self, limits: Limits | None = None, *, parent: Ledger | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self.limits = limits or Limits()
        self._parent = parent
        self._clock = clock
        self._lock: threading.Lock = parent._lock if parent else threading.Lock()  # one for the family: a check spans it
        self._spent = Amounts()
        self._reserved = Amounts()
        self._priced = False
        self._open = 0
        self._since = 0.0
        self._seconds = 0.0

    def call(self, limits: Limits | None = None) -> Ledger:
        """The account of one call, with limits of its own or none; open it with `with`."""
        return Ledger(limits, parent=self, clock=self._clock)

    def __enter__(self) -> Self:
        with self._lock:
            for ledger in self._family():
                if not ledger._open:
                    ledger._since = self._clock()
                ledger._open += 1
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        with self._lock:
            for ledger in self._family():
                ledger._open -= 1
                if not ledger._open:
                    ledger._seconds += self._clock() - ledger._since

    @property
    def seconds(self) -> float:
        """Wall time during which it was open; calls side by side count once."""
        return self._seconds + (self._clock() - self._since if self._open else 0.0)

    def reserve(self, *, tokens: int = 0, requests: int = 0, bytes: int = 0, usd: float = 0.0) -> Reservation:
        """Sets so much aside, or nothing at all. Raises: BudgetSpent naming the limit that would be passed."""
        wanted = Amounts(tokens, requests, bytes, usd)
        with self._lock:
            for ledger in self._family():
                ledger._check(wanted)
            for ledger in self._family():
                ledger._reserved = ledger._reserved.plus(wanted)
                ledger._priced = ledger._priced or usd > 0
        return Reservation(self, wanted)

    def spend(self, *, tokens: int = 0, requests: int = 0, bytes: int = 0, usd: float = 0.0) -> None:
        """Counts what was spent already, e.g. the money a backend's answer says it cost. Never refuses."""
        self._settle(Amounts(), Amounts(tokens, requests, bytes, usd))

    def check(self) -> None:
        """Raises: BudgetSpent when a limit is passed already, the one of time included."""
        with self._lock:
            for ledger in self._family():
                ledger._check(Amounts())

    def left(self, of: str) -> float:
        """How much of it may still be reserved (`seconds` too): the least of what each limit leaves; inf without one."""
        with self._lock:
            return max(0.0, min(ledger._room(of) for ledger in self._family()))

    def as_dict(self) -> dict[str, Any]:
        """The JSON of a ledger. `usd` is null where nothing had a price."""
        spent = self._spent
        usd = round(spent.usd, 6) if self._priced else None
        return {"tokens": spent.tokens, "seconds": round(self.seconds, 3), "requests": spent.requests, "bytes": spent.bytes, "usd": usd}

    def _settle(self, reserved: Amounts, spent: Amounts) -> None:
        with self._lock:
            for ledger in self._family():
                ledger._reserved = ledger._reserved.minus(reserved)
                ledger._spent = ledger._spent.plus(spent)
                ledger._priced = ledger._priced or spent.usd > 0

    def _family(self) -> list[Ledger]:
        return [self, *(self._parent._family() if self._parent else [])]

    def _used(self, of: str) -> float:
        return self.seconds if of == "seconds" else float(getattr(self._spent, of) + getattr(self._reserved, of))

    def _room(self, of: str) -> float:
        limit = getattr(self.limits, of)
        return limit - self._used(of) if limit else math.inf

    def _check(self, wanted: Amounts) -> None:
        for of, unit in _UNITS.items():
            limit = getattr(self.limits, of)
            if not limit:
                continue
            more = 0 if of == "seconds" else getattr(wanted, of)
            used = self._used(of)
            # A limit that is reached is fine as long as nothing more is asked of it; time is asked of by everything.
            if used + more > limit + 1e-9 or (of == "seconds" and used >= limit):
                asked = f", {_shown(more)} more asked for" if more else ""
                raise BudgetSpent(
                    f"the run's limit of {_shown(limit)} {unit} is spent: {_shown(used)} used{asked}",
                    remedy=f"raise limits.{of}, ask for less, or start a new session",
                )


def _shown(amount: float) -> str:
    return f"{amount:,.0f}" if float(amount).is_integer() else f"{amount:,.4g}"
