"""One request and its answer on a connection, and the connections kept between them.

A kept connection belongs to one origin, one policy and one degree of trust: what a looser caller was allowed to open is
never handed to a stricter one.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from hashlib import sha256
from typing import Protocol

from cormorant.errors import Network, Timeout
from cormorant.policy import Policy
from cormorant.transport.decoding import Decoder
from cormorant.transport.wire import Broken, Head, Malformed, Wire

IDLE_MAX = 256  # connections kept by one Transport
IDLE_S = 15.0
SNIFF_BYTES = 1024  # enough to tell a document from text
WIRE_SLACK_BYTES = 64 * 1024  # how many more bytes than decoded ones may come: framing of an incompressible body

Key = tuple[Policy, str, str, int, bool]


class Pool:
    """Idle connections by key, newest first; the oldest go when there are too many, all of them after IDLE_S."""

    def __init__(self) -> None:
        self._idle: dict[Key, list[Wire]] = {}
        self._count = 0
        self._sweeper: asyncio.TimerHandle | None = None
        self._closed = False

    def take(self, key: Key) -> Wire | None:
        """A connection that is still open, or None."""
        kept = self._idle.get(key)
        while kept:
            wire = kept.pop()
            self._count -= 1
            if wire.usable:
                return wire
            wire.abort()
        self._idle.pop(key, None)
        return None

    def give(self, key: Key, wire: Wire) -> None:
        """Keep a connection for the next request to the same place."""
        if self._closed or self._count >= IDLE_MAX:
            wire.close()
            return
        loop = asyncio.get_running_loop()
        wire.idle_since = loop.time()
        self._idle.setdefault(key, []).append(wire)
        self._count += 1
        if self._sweeper is None:
            self._sweeper = loop.call_later(IDLE_S, self._sweep)

    def _sweep(self) -> None:
        loop = asyncio.get_running_loop()
        oldest = loop.time() - IDLE_S
        for key, kept in list(self._idle.items()):
            staying = [wire for wire in kept if wire.usable and wire.idle_since > oldest]
            for wire in kept:
                if wire not in staying:
                    wire.close()
            self._count -= len(kept) - len(staying)
            if staying:
                self._idle[key] = staying
            else:
                del self._idle[key]
        self._sweeper = loop.call_later(IDLE_S / 2, self._sweep) if self._idle else None

    def close(self) -> None:
        self._closed = True
        if self._sweeper:
            self._sweeper.cancel()
        for kept in self._idle.values():
            for wire in kept:
                wire.abort()
        self._idle.clear()
        self._count = 0


@dataclass(frozen=True, slots=True)
class Content:
    """A body that was read: decoded, hashed, counted."""

    body: bytes
    truncated: bool
    wire_bytes: int

    @property
    def sha256(self) -> str:
        return sha256(self.body).hexdigest()


class Answered(Protocol):
    """An answer whose head is here, from a connection or from a tape. Read the body or not, then `finish`."""

    head: Head
    at: str  # when it came, where that is not now

    @property
    def wire_bytes(self) -> int: ...

    @property
    def promised(self) -> int | None: ...

    def chunks(self) -> AsyncIterator[bytes]: ...

    async def content(self, most: int, limit_for: Callable[[bytes], int] | None = None) -> Content: ...

    def finish(self) -> None: ...


class Exchange:
    """The answer of a connection."""

    at = ""

    def __init__(self, pool: Pool, key: Key, wire: Wire, head: Head, before: int) -> None:
        self.head = head
        self._pool = pool
        self._key = key
        self._wire = wire
        self._before = before
        self._finished = False

    @classmethod
    async def begin(cls, pool: Pool, key: Key, wire: Wire, method: str, message: bytes, *, first_byte_s: float) -> Exchange:
        """Send the request and read the head. Raises: Broken (early) where nothing came, Network, Timeout."""
        before = wire.received
        try:
            head = await wire.exchange(message, method, limit_s=first_byte_s)
        except TimeoutError:
            wire.abort()
            raise Timeout(f"no answer within {first_byte_s:g} s", retryable=True) from None
        except Malformed as error:
            wire.abort()
            raise Network(str(error)) from error
        except Broken as error:
            wire.abort()
            if error.early:
                raise
            raise Network(str(error), retryable=True) from error
        except BaseException:
            wire.abort()
            raise
        return cls(pool, key, wire, head, before)

    @property
    def wire_bytes(self) -> int:
        """Bytes that came for this answer so far."""
        return self._wire.received - self._before

    @property
    def promised(self) -> int | None:
        """Content-Length, where it counts."""
        return self._wire.promised

    async def chunks(self) -> AsyncIterator[bytes]:
        """The body as it comes, decoded, without a limit but the deadline. Raises: Network, UnsupportedType."""
        decoder = Decoder(self.head.get("content-encoding"))
        came = False
        while piece := await self._piece():
            came = True
            for out in decoder.pieces(piece):
                yield out
        if came:
            decoder.end()

    async def content(self, most: int, limit_for: Callable[[bytes], int] | None = None) -> Content:
        """The body, at most `most` decoded bytes, or what `limit_for` says of its first ones. Raises: Network, UnsupportedType."""
        decoder = Decoder(self.head.get("content-encoding"))
        pieces: list[bytes] = []
        size = 0
        cut = came = False
        while not cut and (piece := await self._piece()):
            came = True
            for out in decoder.pieces(piece):
                pieces.append(out)
                size += len(out)
                if limit_for and size >= SNIFF_BYTES:
                    most, limit_for = limit_for(b"".join(pieces)), None
                if size > most:
                    cut = True
                    break
            cut = cut or self.wire_bytes > most + WIRE_SLACK_BYTES
        if came and not cut:
            decoder.end()
        body = b"".join(pieces)
        if limit_for:
            most = limit_for(body)
        return Content(body[:most], cut or len(body) > most, self.wire_bytes)

    async def _piece(self) -> bytes:
        try:
            return await self._wire.read()
        except Malformed as error:
            raise Network(f"the body can't be read: {error}") from error
        except Broken as error:
            raise Network(str(error), retryable=True) from error

    def finish(self) -> None:
        """Keep the connection where the answer was read to its end, close it where it was not. Safe to call twice."""
        if not self._finished:
            self._finished = True
            if self._wire.finish():
                self._pool.give(self._key, self._wire)
