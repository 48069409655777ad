"""The HTTP server on a real socket: results at once, runs with numbered events, tenants that can't cross."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import httpx2
import pytest
import uvicorn

from cormorant import Web, sse
from cormorant.errors import NotConfigured
from cormorant.settings import of
from cormorant.surfaces.executions import Executions
from cormorant.surfaces.http import create_app
from cormorant.surfaces.tenants import Keys
from support_net import answer, serving
from support_web import index

pytestmark = pytest.mark.anyio

LONG = (
    "<title>Long</title><main><h1>Long</h1>"
    + "".join(f"<p>The tide stood at {n} millimetres, wrote the keeper.</p>" for n in range(3000))
    + "</main>"
)
PAGES = {
    "/note": answer(200, "High water at six.", {"content-type": "text/plain"}),
    "/long": answer(200, LONG, {"content-type": "text/html"}),
    "*": answer(404, "no"),
}


class Quiet(uvicorn.Server):
    """uvicorn without its signal handlers: pytest has its own."""

    @contextmanager
    def capture_signals(self):
        yield


@asynccontextmanager
async def running(tmp_path: Path, **server) -> AsyncIterator[httpx2.AsyncClient]:
    settings = of(
        {
            "egress": {"allow_ranges": ["127.0.0.0/8"]},
            "store": {"path": str(tmp_path / "results")},
            "library": {"path": str(tmp_path / "library.db")},
            "search": {"keyless": False},
            "server": server,
        }
    )
    bound = socket.create_server(("127.0.0.1", 0))
    served = Quiet(uvicorn.Config(create_app(settings, tmp_path / "server"), log_level="warning", timeout_graceful_shutdown=2))
    task = asyncio.create_task(served.serve(sockets=[bound]))
    try:
        async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{bound.getsockname()[1]}", timeout=20) as client:
            yield client
    finally:
        served.should_exit = True
        await task
        bound.close()


async def events(client: httpx2.AsyncClient, method: str, url: str, **more) -> list[sse.Message]:
    reader, seen = sse.Reader(), []
    async with client.stream(method, url, **more) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        async for piece in response.aiter_bytes():
            seen += reader.feed(piece)
    return seen


async def test_a_page_is_fetched_at_once(tmp_path) -> None:
    async with serving(PAGES) as site, running(tmp_path) as client:
        got = await client.post("/v1/fetch", json={"url": site.url("/note", host="127.0.0.1")})
        assert got.status_code == 200
        assert got.json()["content"] == "High water at six."
        assert got.headers["x-content-type-options"] == "nosniff"
        again = await client.post("/v1/get", json={"responseId": got.json()["response_id"]})
        assert again.json()["content"] == "High water at six."


@pytest.mark.parametrize(
    ("path", "body", "status", "code"),
    [
        pytest.param("/v1/fetch", {"url": "http://10.0.0.7/"}, 403, "private_address", id="private"),
        pytest.param("/v1/fetch", {"url": "https://a.example/", "onlyMainContent": True}, 422, "invalid_arguments", id="an unknown key"),
        pytest.param("/v1/fetch", [], 422, "invalid_arguments", id="a list"),
        pytest.param("/v1/get", {"response_id": "0" * 32}, 404, "unknown_response", id="an unknown id"),
        pytest.param("/v1/tools/web_dive/execute", {}, 422, "invalid_arguments", id="an unknown tool"),
        pytest.param("/v1/search", {}, 422, "invalid_arguments", id="no query"),
    ],
)
async def test_an_error_has_the_one_shape(tmp_path, path, body, status, code) -> None:
    async with running(tmp_path) as client:
        got = await client.post(path, json=body)
    assert got.status_code == status
    assert got.json()["code"] == code
    assert set(got.json()) == {"code", "message", "hint", "url", "hop", "status", "retryable", "retry_after"}


async def test_a_run_is_started_watched_and_looked_up(tmp_path) -> None:
    async with serving(PAGES) as site, running(tmp_path) as client:
        inputs = {"urls": [site.url("/note", host="127.0.0.1"), site.url("/gone", host="127.0.0.1")]}
        started = await client.post("/v1/tools/web_fetch/execute", json={"inputs": inputs})
        assert started.status_code == 202
        assert set(started.json()) == {"execution_id", "status", "tool_id", "details_url", "stream_url"}
        seen = await events(client, "GET", started.json()["stream_url"])
        assert [message.event for message in seen] == ["tool_update", "tool_update", "tool_end"]
        assert [message.id for message in seen] == ["1", "2", "3"]
        replayed = await events(client, "GET", started.json()["stream_url"], headers={"Last-Event-ID": "2"})
        assert [message.id for message in replayed] == ["3"]
        record = (await client.get(started.json()["details_url"])).json()
        assert record["status"] == "completed"
        assert record["outputs"]["count"] == 2
        assert record["started_at"] <= record["completed_at"]
        waited = await client.post("/v1/tools/web_fetch/execute?wait=true", json={"inputs": {"url": inputs["urls"][0]}})
        assert waited.json()["outputs"]["content"] == "High water at six."


async def test_a_large_event_comes_in_chunks_that_join_back(tmp_path) -> None:
    async with serving(PAGES) as site, running(tmp_path) as client:
        body = {"url": site.url("/long", host="127.0.0.1"), "max_chars": 200_000}
        raw = b""
        async with client.stream("POST", "/v1/fetch", json=body, headers={"accept": "text/event-stream"}) as response:
            async for piece in response.aiter_bytes():
                raw += piece
        assert raw.count(b"event: tool_end_delta_sse") > 1
        assert max(len(frame) for frame in raw.split(b"\n\n")) <= 64 * 1024
        (message,) = sse.Reader().feed(raw)
        assert message.event == "tool_end"
        assert "2999 millimetres" in message.json()["content"]


async def test_delete_cancels_and_everybody_who_watches_is_told(tmp_path) -> None:
    hold = asyncio.Event()

    async def never(request, writer) -> bool:
        if request.target == "/robots.txt":
            writer.write(answer(404, ""))
            return True
        await hold.wait()
        return False

    async with serving(never) as site, running(tmp_path) as client:
        inputs = {"url": site.url("/slow", host="127.0.0.1")}
        started = (await client.post("/v1/tools/web_fetch/execute", json={"inputs": inputs})).json()
        watching = asyncio.create_task(events(client, "GET", started["stream_url"]))
        async with asyncio.timeout(10):
            while "/slow" not in site.targets:
                await asyncio.sleep(0.01)
        assert (await client.delete(started["details_url"])).json()["status"] == "cancelled"
        assert [(m.event, m.json()["code"]) for m in await watching] == [("error", "cancelled")]
        hold.set()


async def test_a_run_that_a_restart_interrupted_is_found_as_failed(tmp_path) -> None:
    async def forever(_emit):
        await asyncio.Event().wait()

    before = Executions(tmp_path)
    run = before.start("web_fetch", {}, forever)
    await asyncio.sleep(0)
    after = Executions(tmp_path).get(run.id)
    assert after.status == "failed"
    assert [event[1] for event in after.events] == ["error"]
    await before.aclose()
    assert Executions(tmp_path).get("call_../../etc/passwd") is None


async def test_keys_belong_to_tenants_and_nothing_crosses(tmp_path) -> None:
    keys = Keys(tmp_path / "server" / "keys.json")
    (_, alice), (bob_key, bob) = keys.create("alice"), keys.create("bob")
    (tmp_path / "server" / "tenants" / "alice").mkdir(parents=True)
    allow = '[egress]\nallow = ["127.0.0.1"]\nallow_ranges = ["127.0.0.0/8"]\n'
    (tmp_path / "server" / "tenants" / "alice" / "cormorant.toml").write_text(allow)
    async with serving(PAGES) as site, running(tmp_path, require_key=True) as client:
        url = site.url("/note", host="127.0.0.1")
        assert (await client.post("/v1/fetch", json={"url": url})).status_code == 401
        assert (await client.post("/v1/fetch", json={"url": url}, headers={"x-api-key": "nonsense"})).status_code == 401
        page = await client.post("/v1/fetch", json={"url": url}, headers={"x-api-key": alice})
        assert page.status_code == 200
        fresh = await client.post("/v1/fetch", json={"url": url}, headers={"authorization": f"Bearer {bob}"})
        assert fresh.json()["code"] == "not_allowed"
        stolen = await client.post("/v1/get", json={"response_id": page.json()["response_id"]}, headers={"x-api-key": bob})
        assert stolen.json()["code"] == "unknown_response"
        run = (await client.post("/v1/tools/web_fetch/execute", json={"inputs": {"url": url}}, headers={"x-api-key": alice})).json()
        assert (await client.get(run["details_url"], headers={"x-api-key": bob})).status_code == 404
        assert (await client.get(run["details_url"], params={"api_key": alice})).status_code == 401
        assert (await events(client, "GET", run["stream_url"], params={"api_key": alice}))[-1].event == "tool_end"
        keys.revoke(bob_key.id)
        assert (await client.post("/v1/fetch", json={"url": url}, headers={"x-api-key": bob})).status_code == 401
    written = (tmp_path / "server" / "keys.json").read_text()
    assert alice not in written
    assert (tmp_path / "server" / "keys.json").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "headers", [{"host": "evil.example"}, {"origin": "https://evil.example"}], ids=["another host", "a page from elsewhere"]
)
async def test_a_page_elsewhere_cannot_drive_a_local_server(tmp_path, headers) -> None:
    async with running(tmp_path) as client:
        assert (await client.post("/v1/search", json={"query": "x"}, headers=headers)).status_code == 403


def test_an_open_bind_without_a_key_does_not_start(tmp_path) -> None:
    settings = of({"server": {"host": "0.0.0.0"}, "store": {"path": "memory"}})
    with pytest.raises(NotConfigured, match="no key"):
        create_app(settings, tmp_path)


async def test_research_streams_the_events_of_an_agent_and_nothing_else(tmp_path) -> None:
    async with Web({"library": {"path": str(tmp_path / "library.db")}, "store": {"path": "memory"}}) as web:
        await index(web, tmp_path / "pages")
    asked = {"question": "What is a dinghy?"}
    async with running(tmp_path) as client:
        seen = await events(client, "POST", "/v1/research", json=asked, headers={"accept": "text/event-stream"})
        names = [message.event for message in seen]
        assert names[0] == "agent_processing_started"
        assert names[-1] == "agent_processing_complete"
        assert set(names) == {"agent_processing_started", "agent_step_started", "agent_step_completed", "response_chunk", names[-1]}
        assert "small boat" in seen[-1].json()["answer"]
        started = (await client.post("/v1/tools/research/execute", json={"inputs": asked})).json()
        told = [message.event for message in await events(client, "GET", started["stream_url"])]
        assert told == names


async def test_mcp_is_served_beside_it(tmp_path) -> None:
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}},
    }
    headers = {"content-type": "application/json; charset=utf-8", "accept": "application/json, text/event-stream"}
    async with running(tmp_path) as client:
        got = await client.post("/mcp", content=json.dumps(hello), headers=headers)
        assert got.status_code == 200
        assert '"name":"cormorant"' in got.text


async def test_the_description_of_the_server_names_every_tool(tmp_path) -> None:
    async with running(tmp_path) as client:
        described = (await client.get("/openapi.json")).json()
        assert {"/v1/search", "/v1/fetch", "/v1/get", "/v1/answer"} <= set(described["paths"])
        assert [tool["name"] for tool in (await client.get("/v1/tools")).json()["tools"]] == [
            "web_search",
            "web_fetch",
            "web_get",
            "web_answer",
            "research",
            "web_map",
            "web_crawl",
        ]
        assert (await client.get("/healthz")).json()["status"] == "ok"
        assert b"cormorant_calls" in (await client.get("/metrics")).content
        assert "default-src 'none'" in (await client.get("/")).headers["content-security-policy"]
