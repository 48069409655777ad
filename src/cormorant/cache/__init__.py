"""Not fetching again what was fetched: within a session (`SessionCache`) and across sessions (`HttpCache`).

The session's cache is about one conversation: whatever was read in it need not be read again, whatever its headers say.
The HTTP cache is the browser's kind (RFC 9111, private): it asks the server wherever the server wants to be asked.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from cormorant.address import Url, parse
from cormorant.cache.entries import Entries
from cormorant.cache.flight import Flights
from cormorant.cache.freshness import (
    Entry,
    Response,
    Source,
    Wish,
    age_s,
    chosen,
    entry,
    freshened,
    may_keep,
    usable,
    usable_on_error,
    validators,
)
from cormorant.errors import CormorantError, InvalidArguments, Unreachable

SESSION_ENTRIES = 512
SESSION_BYTES = 64 * 1024**2
HTTP_BYTES = 256 * 1024**2

Value = TypeVar("Value")
_Key = tuple[Hashable, ...]


@dataclass
class _Page(Generic[Value]):
    value: Value
    size: int
    begun: int  # which of the session's fetches brought it


class SessionCache(Generic[Value]):
    """What this session has read, by (extract, output, options, final address without its fragment).

    An address that was redirected leads to the same entry. What raised is not kept. `clear()` ends the session: what is
    still being fetched then reaches whoever waits for it, and is not kept either.
    """

    def __init__(
        self,
        *,
        final_url: Callable[[Value], str],
        size: Callable[[Value], int],
        max_entries: int = SESSION_ENTRIES,
        max_bytes: int = SESSION_BYTES,
    ) -> None:
        self._final_url = final_url
        self._size = size
        self._max_entries = max_entries
        self._max_bytes = max_bytes
        self._pages: OrderedDict[_Key, _Page[Value]] = OrderedDict()
        self._aliases: OrderedDict[_Key, _Key] = OrderedDict()
        self._bytes = 0
        self._begun = 0
        self._cleared_at = 0
        self._flights: Flights[_Key, Value] = Flights()

    async def fetch(
        self,
        url: Url,
        work: Callable[[], Awaitable[Value]],
        *,
        extract: str = "auto",
        output: str = "markdown",
        options: Hashable = (),
        refresh: bool = False,
    ) -> tuple[Value, bool]:
        """What is at `url`, and whether it was there already. `work` fetches it; callers at the same time share one.

        `options` is everything else that changes the result. `refresh` fetches whatever is there, and replaces it.
        """
        key = (extract, output, options, url.without_fragment)
        if not refresh and (kept := self._kept(key)) is not None:
            return kept.value, True
        return await self._flights.join((refresh, *key), lambda: self._bring(key, work)), False

    def clear(self) -> None:
        """Forgets everything."""
        self._pages.clear()
        self._aliases.clear()
        self._bytes = 0
        self._cleared_at = self._begun

    def _kept(self, key: _Key) -> _Page[Value] | None:
        final = self._aliases.get(key, key)
        page = self._pages.get(final)
        if page is not None:
            self._pages.move_to_end(final)
        return page

    async def _bring(self, key: _Key, work: Callable[[], Awaitable[Value]]) -> Value:
        self._begun += 1
        begun = self._begun
        try:
            value = await work()
        except CormorantError:  # a refresh that failed: what is kept is known to be out of date
            self._drop(self._aliases.get(key, key), begun)
            raise
        if begun > self._cleared_at:
            self._keep(key, value, begun)
        return value

    def _keep(self, key: _Key, value: Value, begun: int) -> None:
        final = (*key[:-1], _without_fragment(self._final_url(value)) or key[-1])
        if (older := self._pages.get(final)) is not None and older.begun > begun:
            return  # a fetch that began later has ended first
        self._drop(final, begun)
        self._drop(key, begun)
        self._aliases.pop(key, None)
        if final != key:
            self._aliases[key] = final
        size = self._size(value)
        self._pages[final] = _Page(value, size, begun)
        self._bytes += size
        while len(self._pages) > 1 and (len(self._pages) > self._max_entries or self._bytes > self._max_bytes):
            self._drop(next(iter(self._pages)), begun)
        while len(self._aliases) > 4 * self._max_entries:
            self._aliases.popitem(last=False)

    def _drop(self, key: _Key, begun: int) -> None:
        page = self._pages.get(key)
        if page is not None and page.begun <= begun:
            del self._pages[key]
            self._bytes -= page.size


def _without_fragment(url: str) -> str:
    try:
        return parse(url).without_fragment if url else ""
    except InvalidArguments:  # a file or another reference that is no http(s) address
        return url.partition("#")[0]


@dataclass(frozen=True)
class Got:
    """A response, where it came from, how old it is, and when it came or was last confirmed (seconds since the epoch)."""

    response: Response
    source: Source
    age_s: float = 0.0
    came_at: float = 0.0


def _got(kept: Entry, source: Source, now: float) -> Got:
    return Got(kept.response, source, age_s(kept, now), kept.came_at)


Send = Callable[[dict[str, str]], Awaitable[Response]]


@dataclass(frozen=True)
class _Asked:
    url: str  # without fragment
    request: Mapping[str, str]
    wish: Wish
    partition: str

    def key(self, url: str = "") -> str:
        return f"{self.partition}\n{url or self.url}"


class HttpCache:
    """A private HTTP cache in a file that processes share.

    Trouble with the file never fails a fetch: it is as if nothing had been kept, and `trouble` says why. The caller has
    asked its policy before: a cache answers whoever asks. `partition` keeps what was fetched with one identity from
    requests with another.
    """

    def __init__(self, path: str | Path = "", *, max_bytes: int = HTTP_BYTES, clock: Callable[[], float] = time.time) -> None:
        self._entries = Entries(Path(path) if path else None, max_bytes)
        self._clock = clock

    @property
    def trouble(self) -> str:
        """Why nothing is kept at present; empty when all is well."""
        return self._entries.trouble

    async def fetch(
        self, url: Url, send: Send, *, headers: Mapping[str, str] | None = None, wish: Wish | None = None, partition: str = ""
    ) -> Got:
        """The response for a GET of `url` with these request fields.

        `send(extra)` makes the request with `extra` fields added, follows redirects, and answers any status, 304
        included. Raises: what `send` raises, unless a stale response may stand in (`wish.stale_if_error`).
        """
        request = {name.lower(): value for name, value in (headers or {}).items()}
        asked = _Asked(url.without_fragment, request, wish or Wish(), partition)
        entries = [] if asked.wish.no_store else await asyncio.to_thread(self._entries.load, asked.key())
        kept = chosen(entries, request)
        now = self._clock()
        if kept is not None and usable(kept, now, asked.wish):
            return _got(kept, "cache", now)
        try:
            response = await send(validators(kept.response.headers) if kept else {})
        except Unreachable:
            if kept is None or not usable_on_error(kept, self._clock(), asked.wish):
                raise
            return _got(kept, "stale", self._clock())
        if kept is None:
            return await self._new(asked, response, now)
        return await self._renewed(asked, kept, response, now, send)

    async def _renewed(self, asked: _Asked, kept: Entry, response: Response, asked_at: float, send: Send) -> Got:
        """What the server's answer makes of what was kept."""
        came_at = self._clock()
        if response.status == 304:
            renewed = freshened(kept, response, asked_at, came_at) if _without_fragment(response.url) in ("", asked.url) else None
            if renewed is None:  # it was about another response than ours: ask for the whole
                return await self._new(asked, await send({}), came_at)
            await asyncio.to_thread(self._entries.save, asked.key(), renewed)
            return _got(renewed, "revalidated", came_at)
        if response.status >= 500:
            stale = usable_on_error(kept, came_at, asked.wish)
            return _got(kept, "stale", came_at) if stale else Got(response, "network", came_at=came_at)
        if not may_keep(asked.request, response) or _without_fragment(response.url) not in ("", asked.url):
            await asyncio.to_thread(self._entries.drop, asked.key())  # gone, moved, or not to be kept any more
        return await self._new(asked, response, asked_at)

    async def _new(self, asked: _Asked, response: Response, asked_at: float) -> Got:
        """Kept under the address it came from: a redirect is asked for again, its target need not be."""
        if not asked.wish.no_store and may_keep(asked.request, response):
            key = asked.key(_without_fragment(response.url))
            await asyncio.to_thread(self._entries.save, key, entry(asked.request, response, asked_at, self._clock()))
        return Got(response, "network", came_at=self._clock())

    async def clear(self, partition: str | None = None) -> None:
        """Forgets everything, or what one identity fetched."""
        await asyncio.to_thread(self._entries.clear, None if partition is None else f"{partition}\n")

    async def aclose(self) -> None:
        await asyncio.to_thread(self._entries.close)
