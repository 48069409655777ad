"""One address in, one `Resource` out: vetted dialling, limits, and every redirect from the start again.

The policy is asked first, on every hop, inside this room; nothing a caller passes can skip it. `before` is called after
it for every request that leaves (gates, robots, provenance, secrets plug in there): it may tighten, never widen.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Self

from cormorant.address import Url, parse
from cormorant.errors import CormorantError
from cormorant.policy import Policy
from cormorant.transport.dialling import Resolve
from cormorant.transport.exchange import Pool
from cormorant.transport.resource import ACCEPT, USER_AGENT, Hop, Options, Resource
from cormorant.transport.routes import Dialler
from cormorant.transport.walk import MAX_BYTES, REDIRECTS_MAX, Ask, Before, Ground, Through, Walk, retry_after

__all__ = ["ACCEPT", "MAX_BYTES", "REDIRECTS_MAX", "USER_AGENT", "Hop", "Options", "Resource", "Streaming", "Transport", "retry_after"]

TIMEOUT_S = 20.0


@dataclass(frozen=True)
class Streaming:
    """A response whose body is still coming."""

    status: int
    headers: Mapping[str, str]
    url: str
    _chunks: Callable[[], AsyncIterator[bytes]] = field(repr=False)

    def chunks(self) -> AsyncIterator[bytes]:
        """The body, decoded, as it comes."""
        return self._chunks()


class Transport:
    """Fetches for one policy. Owns its connections; close it, or use it as an async context manager.

    `resolve`: async (host, port) -> addresses, instead of the system's resolver. `proxy`: the operator's forward proxy.
    `before`: sees every request about to leave, first hops, redirects and repeats alike. `through`: stands between a
    request that has passed all that and the connection, as a tape does.
    """

    def __init__(
        self,
        policy: Policy,
        *,
        resolve: Resolve | None = None,
        proxy: str | None = None,
        before: Before | None = None,
        options: Options | None = None,
        through: Through | None = None,
    ) -> None:
        self.policy = policy
        self.options = options or Options()
        self._pool = Pool()
        self._dialler = Dialler(policy, resolve, proxy, self.options)
        self._ground = Ground(policy, self.options, self._dialler, self._pool, before, through)

    async def get(
        self,
        url: str | Url,
        *,
        max_bytes: int = MAX_BYTES,
        timeout_s: float = TIMEOUT_S,
        headers: Mapping[str, str] | None = None,
        document_max_bytes: int | None = None,
        any_status: bool = False,
        follow_redirects: bool = True,
        after: Resource | None = None,
        purpose: str = "fetch",
    ) -> Resource:
        """What is at `url`, at most `max_bytes` of it after decoding (`truncated` says when there was more).

        `document_max_bytes`: past it a body that is no text (a PDF, an archive) is an error and not cut. `any_status`:
        hand over whatever status came. `after`: go on where that fetch ended (its hops count, its cookies are kept),
        for a redirect written in the page. Raises: InvalidArguments, Refused, Unreachable, TooLarge, UnsupportedType.
        """
        ask = Ask(
            headers=headers or {},
            purpose=purpose,
            max_bytes=max_bytes,
            document_max_bytes=document_max_bytes,
            any_status=any_status,
            follow_redirects=follow_redirects,
        )
        return await self._run(url, ask, timeout_s, after)

    async def request(
        self,
        method: str,
        url: str | Url,
        *,
        headers: Mapping[str, str] | None = None,
        body: bytes = b"",
        credentials: Mapping[str, str] | None = None,
        purpose: str = "search",
        trusted: bool = False,
        any_status: bool = False,
        max_bytes: int = 10 * 1024**2,
        timeout_s: float = TIMEOUT_S,
    ) -> Resource:
        """The same for an API: any method, a body, and `credentials`, header fields that no gate sees.

        `trusted` marks an address the operator configured: the lists and the private-address check do not apply to it,
        it is dialled by a pinned address all the same and leads to no other origin.
        """
        ask = Ask(method.upper(), headers or {}, body, credentials or {}, purpose, trusted, max_bytes, None, any_status)
        return await self._run(url, ask, timeout_s, None)

    @asynccontextmanager
    async def stream(
        self,
        method: str,
        url: str | Url,
        *,
        headers: Mapping[str, str] | None = None,
        body: bytes = b"",
        credentials: Mapping[str, str] | None = None,
        purpose: str = "write",
        trusted: bool = False,
        timeout_s: float = 300.0,
    ) -> AsyncIterator[Streaming]:
        """The response while it comes, whatever its status; redirects are not followed. `timeout_s` covers all of it."""
        ask = Ask(method.upper(), headers or {}, body, credentials or {}, purpose, trusted, any_status=True, follow_redirects=False)
        walk = Walk(self._ground, ask, url, None)
        try:
            async with asyncio.timeout(timeout_s):
                exchange = await walk.open()
                try:
                    yield Streaming(exchange.head.status, exchange.head.joined(), walk.url.href, exchange.chunks)
                finally:
                    exchange.finish()
        except TimeoutError:
            raise walk.timed_out(timeout_s) from None
        except CormorantError as error:
            raise walk.placed(error) from error.__cause__

    async def _run(self, url: str | Url, ask: Ask, timeout_s: float, after: Resource | None) -> Resource:
        walk = Walk(self._ground, ask, url, after)
        walk.ends_at = asyncio.get_running_loop().time() + timeout_s
        try:
            async with asyncio.timeout_at(walk.ends_at):
                return await walk.run()
        except TimeoutError:
            raise walk.timed_out(timeout_s) from None
        except CormorantError as error:
            raise walk.placed(error) from error.__cause__

    def renew(self, policy: Policy, *, proxy: str | None = None, options: Options | None = None) -> None:
        """Follow these from the next request on; one on its way ends as it began. No connection is kept. Raises: InvalidArguments."""
        options = options or Options()
        dialler, old = self._dialler.renewed(policy, proxy, options), self._pool
        self.policy, self.options, self._dialler, self._pool = policy, options, dialler, Pool()
        self._ground = replace(self._ground, policy=policy, options=options, dialler=dialler, pool=self._pool)
        old.close()

    async def addresses(self, url: str | Url) -> list[str]:
        """What the resolver says of this host now, judged by nobody; empty where a proxy would resolve it. Raises: Dns."""
        found = url if isinstance(url, Url) else parse(url)
        return [] if self._dialler.proxied(found) else await self._dialler.look_up(found)

    async def aclose(self) -> None:
        """Close every connection."""
        self._pool.close()
        self._dialler.close()
        await asyncio.sleep(0)  # lets the event loop close the sockets

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()
