"""A fetch over real sockets: what arrives, and what is sent."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import os

import pytest

from cormorant.errors import HttpError, InvalidArguments, PrivateAddress, Timeout
from cormorant.gates import Leaving
from cormorant.policy import Policy
from cormorant.transport import USER_AGENT
from support_net import LOOPBACK, Request, Scripted, answer, quick, serving, transport

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


@pytest.mark.parametrize("status", [204, 205])
async def test_an_answer_without_content_is_a_success(status: int) -> None:
    async with serving({"*": answer(status)}) as server, transport() as t:
        page = await t.get(server.url())
        assert (page.status, page.body, page.media_type) == (status, b"", "")
        await t.get(server.url())
        assert server.connections == 1


async def test_not_modified_is_a_success_for_whom_asked() -> None:
    async with serving({"*": answer(304, etag='"a"')}) as server, transport() as t:
        page = await t.get(server.url(), headers={"If-None-Match": '"a"'})
        assert (page.status, page.headers["etag"]) == (304, '"a"')
        with pytest.raises(HttpError):
            await t.get(server.url())


async def test_a_cdn_that_reaches_no_origin_is_said_so() -> None:
    async with serving({"*": answer(522, "cf")}) as server, transport() as t:
        with pytest.raises(HttpError, match="own server is down") as caught:
            await t.get(server.url())
    assert caught.value.retryable


async def test_an_api_call_carries_its_credentials_past_the_gates() -> None:
    seen: list[Leaving] = []

    async def gate(leaving: Leaving) -> Leaving:
        seen.append(leaving)
        return leaving

    async with serving({"*": answer(200, b'{"ok":true}', content_type="application/json")}) as server, transport(before=gate) as t:
        found = await t.request(
            "post", server.url("/v1"), headers={"Content-Type": "application/json"}, body=b"{}", credentials={"X-Api-Key": "S3CRET"}
        )
        assert found.body == b'{"ok":true}'
        sent = server.requests[0]
    assert (sent.method, sent.headers["x-api-key"], sent.headers["content-length"]) == ("POST", "S3CRET", "2")
    assert sent.raw.endswith(b"\r\n\r\n{}")
    assert (seen[0].method, seen[0].purpose, seen[0].body) == ("POST", "search", b"{}")
    assert "S3CRET" not in repr(seen)


async def test_credentials_are_in_no_error() -> None:
    async with transport() as t:
        with pytest.raises(InvalidArguments) as caught:
            await t.request("GET", "http://site.test/", credentials={"X-Api-Key": "S3CRET\n"})
    assert "S3CRET" not in str(caught.value.as_dict())


async def test_head_has_no_body() -> None:
    async with serving({"*": b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n"}) as server, transport() as t:
        assert (await t.request("HEAD", server.url())).body == b""
        await t.request("HEAD", server.url())
        assert server.connections == 1


async def test_a_stream_is_handed_over_while_it_comes() -> None:
    go_on = asyncio.Event()

    async def events(request: Request, writer: asyncio.StreamWriter) -> bool:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n8\r\ndata: 1\n\r\n")
        await writer.drain()
        await go_on.wait()
        writer.write(b"8\r\ndata: 2\n\r\n0\r\n\r\n")
        await writer.drain()
        return True

    async with serving(events) as server, transport() as t:
        got = []
        async with t.stream("POST", server.url("/v1"), body=b"{}", trusted=True) as response:
            assert (response.status, response.headers["content-type"]) == (200, "text/event-stream")
            async for chunk in response.chunks():
                got.append(chunk)
                go_on.set()
        assert got == [b"data: 1\n", b"data: 2\n"]
        assert server.requests[0].headers["accept-encoding"] == "identity"
        async with t.stream("POST", server.url("/v1"), body=b"{}", trusted=True) as response:
            pass
        assert server.connections == 1, "a stream read to its end leaves its connection"


async def test_a_stream_that_is_left_or_breaks_closes_its_connection() -> None:
    async def endless(request: Request, writer: asyncio.StreamWriter) -> bool:
        writer.write(b"HTTP/1.1 500 X\r\nTransfer-Encoding: chunked\r\n\r\n")
        while not writer.is_closing():
            writer.write(b"4\r\nxxxx\r\n")
            await writer.drain()
            await asyncio.sleep(0.01)
        return False

    async with serving(endless) as server, transport() as t:
        async with t.stream("GET", server.url()) as response:
            assert response.status == 500
            async for _ in response.chunks():
                break

        async def drain() -> None:
            async with t.stream("GET", server.url(), timeout_s=0.1) as response:
                async for _ in response.chunks():
                    pass

        with pytest.raises(Timeout):
            await drain()
        for _ in range(100):
            if not server.open_now:
                break
            await asyncio.sleep(0.01)
        assert server.open_now == 0


async def test_a_stream_decodes_and_meets_the_policy() -> None:
    async with serving({"*": answer(200, gzip.compress(b"x" * 300_000), content_encoding="gzip")}) as server, transport() as t:
        async with t.stream("GET", server.url()) as response:
            sizes = [len(chunk) async for chunk in response.chunks()]
        assert (sum(sizes), max(sizes) <= 65536) == (300_000, True)
        with pytest.raises(PrivateAddress):
            async with t.stream("GET", "http://10.0.0.1/"):
                pass


async def test_a_connection_is_never_shared_between_policies() -> None:
    async with serving({"*": answer(200, "x")}) as server:
        async with transport() as loose, transport(Policy()) as strict:
            await loose.get(server.url())
            with pytest.raises(PrivateAddress):
                await strict.get(server.url())
            await loose.get(server.url())
        assert server.connections == 1


async def test_what_the_resolver_says_can_be_shown() -> None:
    async with transport(resolve=Scripted({"site.test": ["8.8.8.8", "10.0.0.1"]})) as t:
        assert await t.addresses("http://site.test/") == ["8.8.8.8", "10.0.0.1"]
        assert await t.addresses("http://127.0.0.1/") == ["127.0.0.1"]
    async with transport(proxy="127.0.0.1:3128") as t:
        assert await t.addresses("http://site.test/") == []


async def test_256_fetches_at_once_arrive_and_leave_no_socket() -> None:
    before = len(os.listdir("/proc/self/fd"))
    async with serving({"*": answer(200, b"x" * 5000)}) as server, transport() as t:
        pages = await asyncio.gather(*(t.get(server.url(f"/{n}")) for n in range(512)))
        assert {len(page.body) for page in pages} == {5000}
        assert len({page.url for page in pages}) == 512
    await asyncio.sleep(0.05)
    assert len(os.listdir("/proc/self/fd")) <= before + 1


async def test_a_model_may_think_longer_than_a_page() -> None:
    async def slow(request: Request, writer: asyncio.StreamWriter) -> bool:
        await asyncio.sleep(0.3)
        writer.write(answer(200, "thought"))
        await writer.drain()
        return True

    async with serving(slow) as server, transport(options=quick(first_byte_timeout_s=0.1)) as t:
        with pytest.raises(Timeout):
            await t.get(server.url())
        assert (await t.request("POST", server.url(), purpose="write", timeout_s=5)).body == b"thought"
        with pytest.raises(Timeout):
            await t.request("POST", server.url(), purpose="write", timeout_s=0.1)


async def test_a_given_user_agent_is_sent() -> None:
    async with serving({"*": answer(200, "x")}) as server, transport(options=quick(user_agent="Mine/1 (+https://me.example)")) as t:
        await t.get(server.url())
        assert server.requests[0].headers["user-agent"] == "Mine/1 (+https://me.example)"
