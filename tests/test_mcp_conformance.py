"""The MCP server against the protocol's letter: how real clients say hello, cancelling, progress, the pair, both transports."""

from __future__ import annotations

import asyncio
import json

import httpx2
import pytest
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client

from cormorant import Web
from cormorant.surfaces import mcp as surface
from cormorant.surfaces.tenants import Keys
from support_net import answer, serving
from support_server import running

pytestmark = pytest.mark.anyio

PAGES = {
    "/note": answer(200, "<title>Note</title><p>High water at six, wrote the keeper.</p>", {"content-type": "text/html"}),
    "*": answer(404, ""),
}
LOCAL = {"egress": {"allow_ranges": ["127.0.0.0/8"]}, "store": {"path": "memory"}, "search": {"keyless": False}}
HELLOS = {  # the shapes of the hellos of clients in use: old and new protocol versions, capabilities of every kind
    "a desktop app": {
        "protocolVersion": "2025-06-18",
        "capabilities": {"roots": {}, "extensions": {"io.modelcontextprotocol/ui": {"mimeTypes": ["text/html;profile=mcp-app"]}}},
        "clientInfo": {"name": "claude-ai", "version": "0.1.0"},
    },
    "a terminal agent": {
        "protocolVersion": "2025-11-25",
        "capabilities": {"roots": {}, "elicitation": {"form": {}, "url": {}}},
        "clientInfo": {"name": "claude-code", "title": "Claude Code", "version": "2.1.0", "websiteUrl": "https://example.com/"},
    },
    "an editor": {
        "protocolVersion": "2025-06-18",
        "capabilities": {
            "tools": True,
            "prompts": True,
            "resources": True,
            "logging": False,
            "elicitation": {},
            "roots": {"listChanged": False},
        },
        "clientInfo": {"name": "cursor-vscode", "version": "1.0.0"},
    },
    "an editor with sampling": {
        "protocolVersion": "2025-11-25",
        "capabilities": {"roots": {"listChanged": True}, "sampling": {"context": {}, "tools": {}}, "tasks": {"list": {}, "cancel": {}}},
        "clientInfo": {"name": "Visual Studio Code", "version": "1.107.0"},
    },
    "an old client": {"protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": {"name": "mcp", "version": "0.1.0"}},
    "one from the future": {
        "protocolVersion": "2099-01-01",
        "capabilities": {"x": {"y": 1}},
        "clientInfo": {"name": "next", "version": "9"},
    },
    "one that wants structure": {
        "protocolVersion": "2025-06-18",
        "capabilities": {"experimental": {"cormorant/structured": {}}},
        "clientInfo": {"name": "code", "version": "1"},
    },
}


async def test_every_clients_hello_is_understood(tmp_path) -> None:
    async with serving(PAGES) as site, running(tmp_path) as client:
        for name, params in HELLOS.items():
            headers = {"accept": "application/json, text/event-stream"}
            hello = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}
            got = await client.post("/mcp", json=hello, headers=headers)
            said = _message(got.text)["result"]
            asked = params["protocolVersion"]
            assert said["protocolVersion"] == (asked if asked != "2099-01-01" else said["protocolVersion"]), name
            assert said["serverInfo"]["name"] == "cormorant"
            assert {"tools", "resources", "prompts"} <= said["capabilities"].keys()
            headers |= {"mcp-session-id": got.headers["mcp-session-id"], "mcp-protocol-version": said["protocolVersion"]}
            assert (
                await client.post("/mcp", json={"jsonrpc": "2.0", "method": "notifications/initialized"}, headers=headers)
            ).status_code == 202
            arguments = {"url": site.url("/note", host="127.0.0.1")}
            call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "web_fetch", "arguments": arguments}}
            result = _message((await client.post("/mcp", json=call, headers=headers)).text)["result"]
            assert "High water at six" in result["content"][0]["text"], name
            assert ("structuredContent" in result) == (name == "one that wants structure")
            assert (await client.delete("/mcp", headers=headers)).status_code == 200


def _message(body: str) -> dict:
    """The last JSON-RPC message of a reply, plain or as an event stream."""
    lines = [line.removeprefix("data: ") for line in body.splitlines() if line.startswith(("data: {", "{"))]
    return json.loads(lines[-1])


async def test_cancelling_a_call_stops_its_work() -> None:
    started, stopped = asyncio.Event(), asyncio.Event()

    async def holding(moment):
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()
        return moment

    async with Web(LOCAL, gates=[holding]) as web, Client(surface.server(web)) as client:
        call = asyncio.create_task(client.call_tool("web_fetch", {"url": "http://127.0.0.1:9/"}))
        async with asyncio.timeout(10):
            await started.wait()
            call.cancel()
            await stopped.wait()
        assert len((await client.list_tools()).tools) == 4


async def test_progress_is_told_while_a_call_is_slow(monkeypatch) -> None:
    assert surface.TICK_S <= 10
    monkeypatch.setattr(surface, "TICK_S", 0.02)
    told: list[float] = []
    enough = asyncio.Event()

    async def slow(request, writer) -> bool:
        if request.target != "/robots.txt":
            await enough.wait()
        writer.write(PAGES["/note"] if request.target != "/robots.txt" else answer(404, ""))
        return True

    async def heard(progress: float, total: float | None, message: str | None) -> None:
        told.append(progress)
        if len(told) >= 3:
            enough.set()

    async with serving(slow) as site, Web(LOCAL) as web, Client(surface.server(web)) as client:
        await client.call_tool("web_fetch", {"url": site.url("/slow", host="127.0.0.1")}, progress_callback=heard)
    assert told == sorted(set(told))
    assert len(told) >= 3


async def test_the_pair_has_the_form_its_clients_read() -> None:
    async with serving(PAGES) as site, Web(LOCAL) as web, Client(surface.server(web, pair=True)) as client:
        tools = {tool.name: tool.input_schema for tool in (await client.list_tools()).tools}
        assert tools == {
            "search": {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
            "fetch": {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]},
        }
        url = site.url("/note", host="127.0.0.1")
        page = json.loads((await client.call_tool("fetch", {"id": url})).content[0].text)
        assert {"id", "title", "text", "url", "metadata"} == page.keys()
        assert (page["id"], page["title"], "six" in page["text"]) == (url, "Note", True)
        missing = await client.call_tool("fetch", {})
        assert missing.is_error
        assert "id is missing" in missing.content[0].text


async def test_the_pair_finds_what_was_indexed(tmp_path) -> None:
    (tmp_path / "boats.md").write_text("# Boats\n\nA dinghy is a small boat.\n")
    async with Web(LOCAL | {"library": {"path": str(tmp_path / "library.db")}}) as web:
        async for _ in web.index(str(tmp_path / "boats.md")):
            pass
        async with Client(surface.server(web, pair=True)) as client:
            (hit,) = json.loads((await client.call_tool("search", {"query": "dinghy"})).content[0].text)["results"]
            assert {"id", "title", "url"} == hit.keys()
            page = json.loads((await client.call_tool("fetch", {"id": hit["id"]})).content[0].text)
    assert "small boat" in page["text"]


async def test_the_official_client_over_http(tmp_path) -> None:
    async with serving(PAGES) as site, running(tmp_path) as http:
        for path, tool, arguments in (
            ("mcp", "web_fetch", {"url": site.url("/note", host="127.0.0.1")}),
            ("mcp/pair", "fetch", {"id": site.url("/note", host="127.0.0.1")}),
        ):
            async with Client(streamable_http_client(f"{str(http.base_url).rstrip('/')}/{path}")) as client:
                got = await client.call_tool(tool, arguments)
                assert "six" in got.content[0].text


async def test_what_is_no_resource_is_an_error_that_says_so() -> None:
    async with Web(LOCAL) as web, Client(surface.server(web)) as client:
        for uri, says in (("file:///etc/passwd", "no such resource"), (surface.RESOURCE + "0" * 32, "unknown response_id")):
            with pytest.raises(MCPError, match=says) as refused:
                await client.read_resource(uri)
            assert refused.value.error.code == -32602


async def test_each_tenant_has_its_own_mcp_server(tmp_path) -> None:
    keys = Keys(tmp_path / "server" / "keys.json")
    (_, alice), (_, bob) = keys.create("alice"), keys.create("bob")
    home = tmp_path / "server" / "tenants" / "alice"
    home.mkdir(parents=True)
    (home / "cormorant.toml").write_text('[egress]\nallow = ["127.0.0.1"]\nallow_ranges = ["127.0.0.0/8"]\n')
    async with serving(PAGES) as site, running(tmp_path, require_key=True) as http:
        address = f"{str(http.base_url).rstrip('/')}/mcp"
        refused = await http.post("/mcp", json={})
        assert (refused.status_code, refused.json()["code"]) == (401, "unauthorized")
        for key, says in ((alice, "six"), (bob, "not_allowed")):
            async with (
                httpx2.AsyncClient(headers={"authorization": f"Bearer {key}"}, timeout=20) as sender,
                Client(streamable_http_client(address, http_client=sender)) as client,
            ):
                got = await client.call_tool("web_fetch", {"url": site.url("/note", host="127.0.0.1")})
                assert says in got.content[0].text
