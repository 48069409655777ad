"""Tenants of one server that try to cross: results, runs, lists, pages, ledgers, settings, secrets, library and MCP."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest

from cormorant import sse
from cormorant.surfaces.tenants import Keys
from support_net import Server, answer, serving
from support_server import running

pytestmark = pytest.mark.anyio

SECRET = "tide-9f2c41aa77"
ALLOWED = """
[egress]
allow = ["127.0.0.1"]
allow_ranges = ["127.0.0.0/8"]
[search]
keyless = false
"""
PAGES = {
    "/note": answer(200, "High water at six.", {"content-type": "text/plain", "cache-control": "max-age=600", "etag": '"1"'}),
    "*": answer(404, "no"),
}


@dataclass
class Two:
    """Two tenants with the same rights, and the site both may read."""

    http: httpx2.AsyncClient
    alice: dict[str, str]
    bob: dict[str, str]
    site: Server
    url: str

    async def as_(self, who: dict[str, str], method: str, path: str, body: Any = None) -> httpx2.Response:
        return await self.http.request(method, path, json=body, headers=who)


@asynccontextmanager
async def two(tmp_path: Path, extra: str = "") -> AsyncIterator[Two]:
    keys = Keys(tmp_path / "server" / "keys.json")
    people = []
    for name in ("alice", "bob"):
        home = tmp_path / "server" / "tenants" / name
        home.mkdir(parents=True)
        (home / "cormorant.toml").write_text(ALLOWED + (extra if name == "alice" else ""))
        people.append({"x-api-key": keys.create(name)[1]})
    async with serving(PAGES) as site, running(tmp_path, require_key=True) as http:
        yield Two(http, *people, site, site.url("/note", host="127.0.0.1"))


async def test_no_result_and_no_run_crosses(tmp_path) -> None:
    async with two(tmp_path) as t:
        page = (await t.as_(t.alice, "POST", "/v1/fetch", {"url": t.url})).json()
        run = (await t.as_(t.alice, "POST", "/v1/tools/web_fetch/execute?wait=true", {"inputs": {"url": t.url}})).json()
        stolen = await t.as_(t.bob, "POST", "/v1/get", {"response_id": page["response_id"]})
        assert (stolen.status_code, stolen.json()["code"]) == (404, "unknown_response")
        since = await t.as_(t.bob, "POST", "/v1/fetch", {"url": t.url, "since": page["response_id"]})
        assert since.json()["code"] == "unknown_response"
        for method, path in (("GET", ""), ("GET", "/stream"), ("DELETE", "")):
            assert (await t.as_(t.bob, method, f"/v1/executions/{run['id']}{path}")).status_code == 404
        assert run["id"] not in (await t.as_(t.bob, "GET", "/v1/executions")).text
        assert run["id"] in (await t.as_(t.alice, "GET", "/v1/executions")).text
        assert (await t.as_(t.bob, "GET", f"/v1/executions?before={run['id']}")).json()["executions"] == []


async def test_no_kept_page_answers_for_another_tenant(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    async with two(tmp_path) as t:
        for who in (t.alice, t.alice, t.bob):
            assert (await t.as_(who, "POST", "/v1/fetch", {"url": t.url})).json()["content"] == "High water at six."
        assert t.site.targets.count("/note") == 2  # once for each


async def test_one_spends_and_the_other_is_asked_nothing(tmp_path) -> None:
    async with two(tmp_path, "[limits]\nrequests = 3\n") as t:
        codes = [(await t.as_(t.alice, "POST", "/v1/fetch", {"url": t.url, "refresh": True})).json().get("code") for _ in range(5)]
        assert codes[-1] == "budget_spent"
        assert (await t.as_(t.bob, "POST", "/v1/fetch", {"url": t.url})).status_code == 200


async def test_neither_secret_nor_setting_shows_elsewhere(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("BRAVE_API_KEY", SECRET + "-of-the-server")
    async with two(tmp_path, f'[keys]\nBRAVE_API_KEY = "{SECRET}"\n') as t:
        mine, others = [(await t.as_(who, "GET", "/capabilities")) for who in (t.alice, t.bob)]
        assert SECRET not in mine.text + others.text
        assert [seen.json()["keys"] for seen in (mine, others)] == [["BRAVE_API_KEY"], "none set"]
        assert mine.json()["search"]["brave"] != others.json()["search"]["brave"]
        assert str(tmp_path) not in mine.text + others.text


async def test_the_library_of_one_answers_nobody_else(tmp_path) -> None:
    (tmp_path / "boats.md").write_text("# Boats\n\nA dinghy is a small boat that is rowed or sailed.\n")
    async with two(tmp_path) as t:
        async for _ in t.http.service.tenant("alice").web.index(str(tmp_path / "boats.md")):
            pass
        assert "dinghy" in (await t.as_(t.alice, "POST", "/v1/search", {"query": "dinghy"})).text
        assert "small boat" not in (await t.as_(t.bob, "POST", "/v1/search", {"query": "dinghy", "provider": "library"})).text


async def test_an_mcp_session_belongs_to_whoever_began_it(tmp_path) -> None:
    said = {"accept": "application/json, text/event-stream"}
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}},
    }

    def call(response_id: str) -> dict[str, Any]:
        asked = {"name": "web_get", "arguments": {"response_id": response_id}}
        return {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": asked}

    async with two(tmp_path) as t:
        page = (await t.as_(t.alice, "POST", "/v1/fetch", {"url": t.url})).json()
        assert (await t.http.post("/mcp", json=hello, headers=said)).status_code == 401
        began = await t.http.post("/mcp", json=hello, headers=said | t.alice)
        session = {"mcp-session-id": began.headers["mcp-session-id"], "mcp-protocol-version": "2025-06-18"}
        await t.http.post("/mcp", json={"jsonrpc": "2.0", "method": "notifications/initialized"}, headers=said | session | t.alice)
        mine = await t.http.post("/mcp", json=call(page["response_id"]), headers=said | session | t.alice)
        assert "High water at six." in mine.text
        taken = await t.http.post("/mcp", json=call(page["response_id"]), headers=said | session | t.bob)
        assert taken.status_code == 404
        own = await t.http.post("/mcp", json=hello, headers=said | t.bob)
        own_session = {"mcp-session-id": own.headers["mcp-session-id"], "mcp-protocol-version": "2025-06-18"}
        await t.http.post("/mcp", json={"jsonrpc": "2.0", "method": "notifications/initialized"}, headers=said | own_session | t.bob)
        asked = await t.http.post("/mcp", json=call(page["response_id"]), headers=said | own_session | t.bob)
        assert "unknown response_id" in asked.text
        assert "High water" not in asked.text


@pytest.mark.parametrize("name", ["../alice", "alice/../bob", "ALICE", "", ".", "a" * 65, "al ice", "local\n"], ids=repr)
def test_no_tenant_has_a_name_that_leaves_its_folder(tmp_path, name) -> None:
    with pytest.raises(Exception, match="not a tenant name"):
        Keys(tmp_path / "keys.json").create(name)


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT], ids=lambda how: how.name)
async def test_a_real_server_told_to_stop_ends_every_stream(tmp_path, how) -> None:
    """The program itself, by the signal itself: each stream gets its last event, and the program goes with code 0."""
    hold = asyncio.Event()

    async def slow(request, writer) -> bool:
        if request.target == "/robots.txt":
            writer.write(answer(404, ""))
            return True
        await hold.wait()
        return False

    homes = {name: str(tmp_path / name.lower()) for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME")}
    settings = {"CORMORANT_EGRESS__ALLOW_RANGES": "127.0.0.0/8", "CORMORANT_SEARCH__KEYLESS": "false"}
    environment = homes | settings | {"PATH": "/usr/bin:/bin"}
    command = [sys.executable, "-m", "cormorant", "serve", "--port", "0"]
    async with serving(slow) as site:
        with subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True) as program:  # noqa: ASYNC220
            try:
                address = (await asyncio.to_thread(program.stderr.readline)).split()[2].rstrip(",")
                async with httpx2.AsyncClient(base_url=address, timeout=30) as http:
                    inputs = {"url": site.url("/slow", host="127.0.0.1")}
                    run = (await http.post("/v1/tools/web_fetch/execute", json={"inputs": inputs})).json()
                    streams = [asyncio.create_task(_last(http, "GET", run["stream_url"])) for _ in range(3)]
                    streams.append(
                        asyncio.create_task(_last(http, "POST", "/v1/fetch", json=inputs, headers={"accept": "text/event-stream"}))
                    )
                    async with asyncio.timeout(20):
                        while site.targets.count("/slow") < 1:
                            await asyncio.sleep(0.02)
                    began = time.monotonic()
                    program.send_signal(how)
                    ended = await asyncio.gather(*streams)
                assert {(message.event, message.json()["code"]) for message in ended} == {("error", "cancelled")}
                assert await asyncio.to_thread(program.wait, 20) == 0
                assert time.monotonic() - began < 15
                said = program.stderr.read()
                assert "Traceback" not in said
            finally:
                hold.set()
                program.kill()
    (record,) = [json.loads(path.read_text()) for path in (tmp_path / "xdg_data_home").rglob(f"{run['execution_id']}.json")]
    assert record["status"] == "cancelled"


async def _last(http: httpx2.AsyncClient, method: str, path: str, **more: Any) -> sse.Message:
    reader, seen = sse.Reader(), []
    async with http.stream(method, path, **more) as response:
        async for piece in response.aiter_bytes():
            seen += reader.feed(piece)
    return seen[-1]
