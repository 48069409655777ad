"""Vetoable hooks. A gate looks at a moment and returns it, a changed one, or raises `Vetoed`. Pure.

Three moments: a tool was called, a request is about to leave, a result is about to be handed over. Gates run in the
order given, after the policy, so a gate can tighten but never widen.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar


@dataclass(frozen=True)
class Called:
    """A tool was called with these arguments."""

    tool: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True)
class Leaving:
    """A request is about to leave: the first hop, a redirect, robots.txt or a provider's API."""

    method: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    purpose: str = "fetch"  # fetch, robots, api, search, rerank, write


@dataclass(frozen=True)
class HandedOver:
    """A result is about to reach the caller."""

    tool: str
    text: str


Moment = Called | Leaving | HandedOver
M = TypeVar("M", Called, Leaving, HandedOver)
Gate = Callable[[Any], Awaitable[Any]]


async def through(gates: Sequence[Gate], moment: M) -> M:
    """The moment after every gate has seen it. Raises: Vetoed, from the gate that said no."""
    for gate in gates:
        moment = await gate(moment)
    return moment
