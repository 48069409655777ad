"""The MCP server against the protocol's letter: how real clients say hello, cancelling, progress, the pair, both transports."""

from __future__ import annotations

import asyncio
import json
import sys

import httpx2
import pytest
from mcp import Client, MCPError, types
from mcp.client.streamable_http import streamable_http_client

from cormorant import Web
from cormorant.surfaces import mcp as surface
from cormorant.surfaces.mcp_kept import RESOURCE
from cormorant.surfaces.tenants import Keys
from support_clients import HELLOS, MODERN
from support_net import answer, serving
from support_pipe import pipe
from support_server import running
from support_web import opened

pytestmark = pytest.mark.anyio

PAGES = {
    "/note": answer(200, "<title>Note</title><p>High water at six, wrote the keeper.</p>", {"content-type": "text/html"}),
    "*": answer(404, ""),
}
HEADERS = {"accept": "application/json, text/event-stream", "mcp-protocol-version": "2026-07-28"}
LOCAL = {"egress": {"allow_ranges": ["127.0.0.0/8"]}, "store": {"path": "memory"}, "search": {"keyless": False}}


@pytest.mark.parametrize("client", HELLOS)
async def test_every_clients_hello_is_understood_over_http(tmp_path, client) -> None:
    hello = HELLOS[client]
    async with serving(PAGES) as site, running(tmp_path) as http:
        headers = {"accept": "application/json, text/event-stream"}
        got = await http.post("/mcp", json={"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}, headers=headers)
        said = _message(got.text)["result"]
        assert said["protocolVersion"] == (hello["protocolVersion"] if hello["protocolVersion"] < "2099" else "2025-11-25")
        assert said["serverInfo"]["name"] == "cormorant"
        assert {"tools", "resources", "prompts", "completions"} <= said["capabilities"].keys()
        headers |= {"mcp-session-id": got.headers["mcp-session-id"], "mcp-protocol-version": said["protocolVersion"]}
        told = await http.post("/mcp", json={"jsonrpc": "2.0", "method": "notifications/initialized"}, headers=headers)
        assert told.status_code == 202
        call = {"name": "web_fetch", "arguments": {"url": site.url("/note", host="127.0.0.1")}}
        got = await http.post("/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}, headers=headers)
        result = _message(got.text)["result"]
        assert "High water at six" in result["content"][0]["text"]
        assert ("structuredContent" in result) == (client == "one that wants structure")
        assert (await http.delete("/mcp", headers=headers)).status_code == 200


@pytest.mark.parametrize("client", MODERN)
async def test_every_client_of_the_stateless_kind_is_understood_over_http(tmp_path, client) -> None:
    async def ask(method: str, **params: object) -> dict:
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": MODERN[client]}}
        name = {"mcp-name": params["name"]} if "name" in params else {}
        got = await http.post("/mcp", json=body, headers={**HEADERS, "mcp-method": method, **name})
        assert "mcp-session-id" not in got.headers
        return _message(got.text)["result"]

    async with serving(PAGES) as site, running(tmp_path) as http:
        assert "2026-07-28" in (await ask("server/discover"))["supportedVersions"]
        tools = (await ask("tools/list"))["tools"]
        assert [tool["name"] for tool in tools] == ["web_search", "web_fetch", "web_get", "web_answer"]
        result = await ask("tools/call", name="web_fetch", arguments={"url": site.url("/note", host="127.0.0.1")})
        assert "High water at six" in result["content"][0]["text"]
        wanted = client == "one that wants structure"
        assert ("structuredContent" in result, "outputSchema" in tools[0]) == (wanted, wanted)


def test_every_client_is_understood_over_stdio(tmp_path) -> None:
    """One process for each version of the protocol, and one without a hello."""
    versions = {hello["protocolVersion"]: name for name, hello in HELLOS.items()}
    for name in versions.values():
        with pipe(tmp_path) as client:
            client.send({"id": 0, "method": "initialize", "params": HELLOS[name]}, {"method": "notifications/initialized"})
            assert client.reply(0)["result"]["serverInfo"]["name"] == "cormorant"
            client.send({"id": 1, "method": "tools/list"})
            assert len(client.reply(1)["result"]["tools"]) == 4
    with pipe(tmp_path) as client:
        client.send({"id": 0, "method": "server/discover", "params": {"_meta": MODERN["Goose"]}})
        assert "2026-07-28" in client.reply(0)["result"]["supportedVersions"]
        client.send({"id": 1, "method": "tools/list", "params": {"_meta": MODERN["Goose"]}})
        assert len(client.reply(1)["result"]["tools"]) == 4


@pytest.mark.parametrize("era", ["2026-07-28", "legacy"])
async def test_results_are_listed_completed_and_read_as_resources(tmp_path, era) -> None:
    heard: list[object] = []

    async def hears(message: object) -> None:
        heard.append(message)

    async with opened(tmp_path) as (web, _, base), Client(surface.server(web), mode=era, message_handler=hears) as client:
        assert (await client.list_resources()).resources == []
        for path in ("/guide", "/note.txt", "/guide"):
            await client.call_tool("web_fetch", {"url": base + path, "budget": 200})
        listed = (await client.list_resources()).resources
        assert [one.name for one in listed][-2:] == [f"{base}/note.txt", "Tide guide"]
        (kept,) = (await client.list_resource_templates()).resource_templates
        named = types.ResourceTemplateReference(type="ref/resource", uri=kept.uri_template)
        found = await client.complete(named, {"name": "response_id", "value": "tide g"})
        assert found.completion.values[-1] == listed[-1].uri.removeprefix(RESOURCE)
        begun = await client.complete(named, {"name": "response_id", "value": found.completion.values[-1][:9]})
        assert begun.completion.values == found.completion.values[-1:]
        prompt = types.PromptReference(type="ref/prompt", name="research")
        assert (await client.complete(prompt, {"name": "question", "value": ""})).completion.values == []
        assert "Tide guide" in (await client.read_resource(listed[-1].uri)).contents[0].text
    if era == "legacy":
        assert any("resources/list_changed" in str(message) for message in heard)


async def test_a_client_that_listens_hears_that_there_is_a_new_resource(tmp_path) -> None:
    async with (
        opened(tmp_path) as (web, _, base),
        Client(surface.server(web), mode="2026-07-28") as client,
        client.listen(resources_list_changed=True) as changes,
        asyncio.timeout(20),
    ):
        await client.call_tool("web_fetch", {"url": f"{base}/note.txt"})
        assert type(await anext(aiter(changes))).__name__ == "ResourcesListChanged"


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
        for uri, says in (("file:///etc/passwd", "no such resource"), (RESOURCE + "0" * 32, "unknown response_id")):
            with pytest.raises(MCPError, match=says) as refused:
                await client.read_resource(uri)
            assert (refused.value.error.code, refused.value.error.data["uri"]) == (-32602, uri)


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


@pytest.mark.parametrize(
    "content_type", ["application/json", "application/json; charset=utf-8", "application/json;charset=UTF-8", "Application/JSON"]
)
async def test_a_content_type_is_its_media_type(tmp_path, content_type) -> None:
    asked = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": HELLOS["Cursor"]}
    async with running(tmp_path) as http:
        headers = {"content-type": content_type, "accept": "application/json, text/event-stream"}
        assert (await http.post("/mcp", content=json.dumps(asked), headers=headers)).status_code == 200


async def test_a_page_that_the_operator_lists_may_be_a_client(tmp_path) -> None:
    """A browser asks first; a stateless client sends two headers more than the older kind."""
    async with running(tmp_path, origins=["https://inspector.example"]) as http:
        asking = {
            "origin": "https://inspector.example",
            "access-control-request-method": "POST",
            "access-control-request-headers": "content-type,mcp-method,mcp-name,mcp-protocol-version",
        }
        answer_ = await http.options("/mcp", headers=asking)
        allowed = {name.strip() for name in answer_.headers["access-control-allow-headers"].split(",")}
        assert set(asking["access-control-request-headers"].split(",")) <= allowed
        refused = await http.post("/mcp", json={}, headers={"origin": "https://elsewhere.example"})
        assert refused.status_code == 403


def test_without_the_extra_the_command_says_what_to_install(monkeypatch) -> None:
    from click.testing import CliRunner

    from cormorant.surfaces.cli import cli

    assert "claude mcp add" in CliRunner().invoke(cli, ["mcp", "--how"]).output
    for name in ("mcp", "cormorant.surfaces.mcp"):
        monkeypatch.setitem(sys.modules, name, None)
    failed = CliRunner().invoke(cli, ["mcp"])
    assert "pip install 'cormorant[mcp]'" in str(getattr(failed.exception, "remedy", "")) + failed.output
