"""A fetch over real sockets: what arrives, and what is sent."""

from __future__ import annotations

import hashlib

import pytest

from cormorant.errors import HttpError, PrivateAddress
from cormorant.policy import Policy
from cormorant.transport import USER_AGENT
from support_net import LOOPBACK, Scripted, answer, serving, transport

pytestmark = pytest.mark.anyio


async def test_a_page_arrives_with_where_it_came_from() -> None:
    async with serving({"/a?b=1": answer(200, "Grüße", content_type="Text/HTML; charset=UTF-8")}) as server, transport() as t:
        page = await t.get(server.url("/a?b=1#part"))
    assert (page.status, page.body.decode(), page.media_type, page.charset) == (200, "Grüße", "text/html", "utf-8")
    assert page.url == page.asked == server.url("/a?b=1#part")
    assert page.sha256 == hashlib.sha256("Grüße".encode()).hexdigest()
    assert page.retrieved_at.endswith("Z")
    assert [(hop.url, hop.status) for hop in page.hops] == [(page.url, 200)]
    assert not page.truncated
    assert page.wire_bytes > len(page.body)


async def test_what_a_request_says() -> None:
    async with serving({"*": answer()}) as server, transport() as t:
        await t.get(server.url("/x"), headers={"X-Mine": "1"})
    sent = server.requests[0]
    assert sent.headers["host"] == f"site.test:{server.port}"
    assert sent.headers["user-agent"] == USER_AGENT
    assert sent.headers["accept"].startswith("text/markdown")
    assert sent.headers["accept-language"]
    assert sent.headers["x-mine"] == "1"


async def test_connections_are_kept_and_the_name_is_looked_up_once_for_each() -> None:
    resolve = Scripted()
    async with serving({"*": answer(200, "x")}) as server, transport(resolve=resolve) as t:
        for n in range(5):
            await t.get(server.url(f"/{n}"))
        assert server.connections == 1
    assert resolve.asked == ["site.test"]


async def test_without_a_range_loopback_is_refused_before_anything_is_sent() -> None:
    async with serving({"*": answer()}) as server, transport(Policy()) as t:
        with pytest.raises(PrivateAddress) as caught:
            await t.get(server.url())
        assert server.connections == 0
    assert caught.value.hop == 0
    assert "127.0.0.1" in caught.value.message


async def test_a_status_that_is_not_2xx_is_an_error_unless_any_is_wanted() -> None:
    async with serving({"*": answer(404, "gone")}) as server, transport(LOOPBACK) as t:
        with pytest.raises(HttpError) as caught:
            await t.get(server.url("/x"))
        assert (caught.value.status, caught.value.url) == (404, server.url("/x"))
        page = await t.get(server.url("/x"), any_status=True)
        assert (page.status, page.body) == (404, b"gone")
