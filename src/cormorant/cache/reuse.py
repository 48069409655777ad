"""A fetch that the HTTP cache may answer, in the transport's own words: `Resource` in, `Resource` out.

    resource, source = await reuse.get(http, transport, url, wish=Wish(max_age_s=3600), max_bytes=...)

Everything a transport checks before it dials is checked when something is dialled; the lists are checked always. A page
that a logged-in profile brought is never kept here: it belongs to one identity, and this file to all sessions.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping
from typing import Any

from cormorant.address import Url
from cormorant.cache import Got, HttpCache
from cormorant.cache.freshness import Response, Source, Wish
from cormorant.transport import MAX_BYTES, Transport
from cormorant.transport.resource import Hop, Resource


async def get(
    http: HttpCache,
    transport: Transport,
    url: str | Url,
    *,
    wish: Wish | None = None,
    partition: str = "",
    headers: Mapping[str, str] | None = None,
    max_bytes: int = MAX_BYTES,
    **options: Any,
) -> tuple[Resource, Source]:
    """What is at `url`, with whatever status, and where it came from: network, cache, revalidated or stale.

    `options` are those of `Transport.get`. Raises: what the transport raises.
    """
    found = transport.policy.check_url(url)
    if found.host in transport.options.profiles:
        return await transport.get(found, headers=headers, max_bytes=max_bytes, **options | {"any_status": True}), "network"
    brought: list[Resource] = []

    async def send(extra: dict[str, str]) -> Response:
        resource = await transport.get(found, headers={**(headers or {}), **extra}, max_bytes=max_bytes, **options | {"any_status": True})
        brought.append(resource)
        whole = not (resource.truncated or resource.private)
        return Response(resource.status, resource.headers, resource.body, resource.url, complete=whole)

    got = await http.fetch(found, send, headers=_sent(transport, headers), wish=wish, partition=partition)
    if got.source == "network":
        return brought[-1], "network"
    return _resource(found, got, max_bytes, brought[-1] if brought else None), got.source


def _sent(transport: Transport, headers: Mapping[str, str] | None) -> dict[str, str]:
    """The request fields by which a server may choose between responses (`Vary`)."""
    options = transport.options
    own = {"accept": options.accept, "accept-language": options.accept_language, "user-agent": options.user_agent}
    return own | {name.lower(): value for name, value in (headers or {}).items()}


def _resource(url: Url, got: Got, max_bytes: int, answered: Resource | None) -> Resource:
    """The kept response as if it had just come; `hops` and `wire_bytes` tell what was asked this time."""
    body = got.response.body[:max_bytes]
    return Resource(
        url=url.href,  # a redirected response is kept under its own address alone
        asked=url.href,
        status=got.response.status,
        headers=got.response.headers,
        body=body,
        hops=answered.hops if answered else (Hop(url.href, got.response.status),),
        truncated=len(got.response.body) > max_bytes,
        retrieved_at=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(got.came_at)),
        sha256=hashlib.sha256(body).hexdigest(),
        wire_bytes=answered.wire_bytes if answered else 0,
    )
