"""HTTP for parts that are not pages: an operator's backends, and the library's gathering. Over the one transport."""

from __future__ import annotations

import json as json_room
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from cormorant.fetching import Fetcher
from cormorant.search import Reply
from cormorant.transport import Streaming


class Backends:
    """Three ways to ask, all counted in the account of the call that is going on."""

    def __init__(self, fetcher: Fetcher) -> None:
        self._fetcher = fetcher
        self.stream = Line(fetcher)

    async def api(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] = {},
        params: Mapping[str, str] = {},
        json: Any = None,
        body: bytes = b"",
        timeout_s: float = 15.0,
    ) -> Reply:
        """One call of an operator's backend: its base URL is trusted, its key is shown to no gate. Any status is an answer."""
        plain = {"content-type": "application/json"} if json is not None else {}
        sent = json_room.dumps(json).encode() if json is not None else body
        with self._fetcher.account.get().reserve(requests=1) as spent:
            found = await self._fetcher.transport.request(
                method,
                _with_params(url, params),
                headers=plain,
                credentials=headers,
                body=sent,
                trusted=True,
                any_status=True,
                timeout_s=timeout_s,
            )
            spent.settle(bytes=found.wire_bytes)
        return Reply(found.status, dict(found.headers), found.body, found.url)

    async def page(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] = {},
        params: Mapping[str, str] = {},
        json: Any = None,
        body: bytes = b"",
        timeout_s: float = 15.0,
    ) -> Reply:
        """One page for the library: the policy and robots.txt hold as for any fetch. Only GET, whatever `method` says."""
        with self._fetcher.account.get().reserve(requests=1) as spent:
            found = await self._fetcher.transport.get(_with_params(url, params), headers=headers, timeout_s=timeout_s, any_status=True)
            spent.settle(requests=max(1, len(found.hops)), bytes=found.wire_bytes)
        return Reply(found.status, dict(found.headers), found.body, found.url)


class Line:
    """The way to a language model: a response that is read while it comes, and its price in the account of the call."""

    def __init__(self, fetcher: Fetcher) -> None:
        self._fetcher = fetcher

    @asynccontextmanager
    async def __call__(
        self, method: str, url: str, *, headers: Mapping[str, str] = {}, body: bytes = b"", timeout_s: float = 120.0
    ) -> AsyncIterator[Streaming]:
        """One response; its bytes are settled when it is over, however it ended."""
        read = 0

        async def counted(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
            nonlocal read
            async for chunk in chunks:
                read += len(chunk)
                yield chunk

        with self._fetcher.account.get().reserve(requests=1) as spent:
            async with self._fetcher.transport.stream(
                method, url, credentials=headers, body=body, purpose="write", trusted=True, timeout_s=timeout_s
            ) as response:
                try:
                    yield replace(response, _chunks=lambda: counted(response.chunks()))
                finally:
                    spent.settle(bytes=read)

    def spend(self, tokens: int) -> None:
        """Counts the tokens that a model says a call of it cost."""
        self._fetcher.account.get().spend(tokens=tokens)


def _with_params(url: str, params: Mapping[str, str]) -> str:
    return f"{url}{'&' if '?' in url else '?'}{urlencode(params)}" if params else url
