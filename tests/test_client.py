"""The client of our HTTP server: chunks in any order, broken streams taken up again, the server's own errors."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from cormorant import sse
from cormorant.client import Client
from cormorant.errors import InvalidArguments, Network, PrivateAddress, ProviderError, UnknownResponse
from support_net import answer, serving
from support_server import running

pytestmark = pytest.mark.anyio

BIG = {"content": "The tide 🌊 stood at é " * 9_000}


def stream(frames: list[bytes]) -> bytes:
    """A whole response; the length is left out, so its end is the connection's."""
    return b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n" + b"".join(frames)


@asynccontextmanager
async def scripted(*answers: bytes) -> AsyncIterator[tuple[Client, object]]:
    """A server that gives one answer after the other, and closes the connection each time."""
    left = list(answers)

    async def handler(request, writer) -> bool:
        writer.write(left.pop(0) if len(left) > 1 else left[0])
        return False

    async with serving(handler) as site, Client(site.url("", host="127.0.0.1"), wait_s=0.0, timeout_s=10) as client:
        yield client, site


@pytest.mark.parametrize("seed", range(4))
async def test_chunks_join_in_any_order(seed) -> None:
    chunks = sse.frames("tool_end", BIG, id=2)
    assert len(chunks) > 2
    random.Random(seed).shuffle(chunks)
    first = sse.frames("tool_update", {"phase": "WEB_SEARCH", "status": "started"}, id=1)
    async with scripted(stream([*first, sse.HEARTBEAT, *chunks])) as (client, _):
        seen = [happened async for happened in client.events("call_1")]
    assert [happened.event for happened in seen] == ["tool_update", "tool_end"]
    assert seen[-1].data == BIG


async def test_a_broken_stream_is_taken_up_where_it_was() -> None:
    frames = [sse.frames("tool_update", {"n": n}, id=n)[0] for n in (1, 2)]
    chunks = sse.frames("tool_end", BIG, id=3)
    broken = stream([*frames, chunks[0][: len(chunks[0]) // 2]])
    async with scripted(broken, stream(chunks[:1]), stream(chunks)) as (client, site):
        seen = [(happened.id, happened.event) async for happened in client.events("call_1")]
        asked = [request.headers["last-event-id"] for request in site.requests]
    assert seen == [("1", "tool_update"), ("2", "tool_update"), ("3", "tool_end")]
    assert asked == ["0", "2", "2"]


async def test_an_older_servers_end_is_an_end() -> None:
    async with scripted(stream(sse.frames("final_result", {"answer": 1}, id=1))) as (client, site):
        seen = [happened async for happened in client.events("call_1")]
        assert [(happened.event, happened.data) for happened in seen] == [("tool_end", {"answer": 1})]
        assert len(site.requests) == 1


async def test_a_server_that_stays_away_is_an_error_and_not_a_loop() -> None:
    async with scripted(stream([])) as (client, site):
        with pytest.raises(Network, match="before its last event"):
            [happened async for happened in client.events("call_1")]
        assert len(site.requests) == 6


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        pytest.param(answer(200, "<html>"), ProviderError, id="no JSON"),
        pytest.param(answer(401, '{"code": "unauthorized", "message": "a key"}'), InvalidArguments, id="no key"),
        pytest.param(answer(502, "bad gateway"), ProviderError, id="a proxy in between"),
    ],
)
async def test_what_is_no_answer_of_ours_is_said(reply, error) -> None:
    async with scripted(reply) as (client, _):
        with pytest.raises(error):
            await client.call("search", query="x")


async def test_against_the_real_server(tmp_path: Path) -> None:
    page = answer(200, "High water at six.", {"content-type": "text/plain"})
    async with (
        serving({"/note": page, "/note?b": page, "*": answer(404, "no")}) as site,
        running(tmp_path) as http,
        Client(str(http.base_url)) as client,
    ):
        url = site.url("/note", host="127.0.0.1")
        assert (await client.call("web_fetch", url=url))["content"] == "High water at six."
        assert "web_answer" in [tool["name"] for tool in await client.tools()]
        seen = [happened async for happened in client.stream("fetch", urls=[url, url + "?b"])]
        assert [happened.event for happened in seen] == ["tool_update", "tool_update", "tool_end"]
        with pytest.raises(PrivateAddress) as refused:
            await client.call("fetch", url="http://10.0.0.7/")
        assert "egress allow" in refused.value.remedy
        with pytest.raises(UnknownResponse):
            await client.run("call_0")
        with pytest.raises(UnknownResponse):
            [happened async for happened in client.events("call_0")]


async def test_leaving_a_stream_cancels_its_run(tmp_path: Path) -> None:
    async def handler(request, writer) -> bool:
        if request.target == "/never":
            await asyncio.Event().wait()
        writer.write(answer(200, "now", {"content-type": "text/plain"}) if request.target == "/now" else answer(404, ""))
        return True

    async with serving(handler) as site, running(tmp_path) as http, Client(str(http.base_url)) as client:
        urls = [site.url(path, host="127.0.0.1") for path in ("/now", "/never")]
        following = client.stream("fetch", urls=urls)
        assert (await anext(following)).data["ok"] is True
        await following.aclose()
        (run,) = (await client._json("GET", "/v1/executions"))["executions"]
        assert run["status"] == "cancelled"
