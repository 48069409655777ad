"""The MCP server as a client meets it: a real subprocess, the official client library, and raw lines on the pipe."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from mcp import Client, StdioServerParameters
from mcp.client import advertise

from cormorant.surfaces import mcp as surface
from cormorant.tokens import counter
from support_canary import CANARY
from support_net import answer, serving
from support_web import index, opened

pytestmark = pytest.mark.anyio

PAGE = (
    "<title>Tides</title><main><h1>Tides</h1>"
    + "".join(f"<h2>Year {y}</h2><p>High water stood at {y} millimetres over the sill, said the keeper.</p>" for y in range(1900, 2100))
    + "</main>"
)
PAGES = {"/tides": answer(200, PAGE, {"content-type": "text/html"}), "*": answer(404, "no")}
# A server whose fetch hook prints, warns and logs, as a dependency might.
NOISY = """
import asyncio, logging, sys, warnings
from cormorant import Web
from cormorant.surfaces.mcp import serve_stdio
logging.basicConfig(level=logging.INFO, stream=sys.stdout)
async def noisy(moment):
    print("noise"); warnings.warn("noise"); logging.info("noise")
    return moment
async def main():
    async with Web({"egress": {"allow_ranges": ["127.0.0.0/8"]}, "store": {"path": "memory"}}, gates=[noisy]) as web:
        await serve_stdio(web)
asyncio.run(main())
"""


def server(tmp_path: Path, *options: str, **environment: str) -> StdioServerParameters:
    homes = {name: str(tmp_path / name.lower()) for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME")}
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "PYTHONPATH")} | {"COHERE_API_KEY": CANARY}
    own = {"CORMORANT_EGRESS__ALLOW_RANGES": "127.0.0.0/8", **environment}
    return StdioServerParameters(
        command=sys.executable, args=["-m", "cormorant", "mcp", *options], env={**kept, **homes, **own}, cwd=str(tmp_path)
    )


async def test_the_tools_are_listed_as_they_are(tmp_path) -> None:
    async with Client(server(tmp_path)) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert list(tools) == ["web_search", "web_fetch", "web_get", "web_answer"]
    assert all(tool.annotations.read_only_hint and tool.title and not tool.annotations.destructive_hint for tool in tools.values())
    assert {name for name, tool in tools.items() if tool.annotations.open_world_hint} == {"web_search", "web_fetch", "web_answer"}
    assert {name for name, tool in tools.items() if tool.annotations.idempotent_hint} == {"web_search", "web_fetch", "web_get"}
    said = [json.dumps({"name": t.name, "description": t.description, "inputSchema": t.input_schema}) for t in tools.values()]
    assert sum(counter("o200k_base").count(text) for text in said) <= 700


async def test_a_page_is_read_within_the_default_budget_and_read_on(tmp_path) -> None:
    async with serving(PAGES) as site, Client(server(tmp_path)) as client:
        got = await client.call_tool("web_fetch", {"url": site.url("/tides", host="127.0.0.1")})
        text = got.content[0].text
        assert not got.is_error
        assert got.structured_content is None
        assert counter("o200k_base").count(text) <= 8_000
        fit = got.meta["cormorant/fit"]
        response_id = text.split("response_id: ")[1][:32]
        part = await client.call_tool("web_get", {"responseId": response_id, "section": "Year 1974", "budget": "300"})
        assert "1974 millimetres" in part.content[0].text
        small = await client.call_tool("fetch", {"url": [site.url("/tides", host="127.0.0.1")], "budget": 200})
        assert counter("o200k_base").count(small.content[0].text) <= 200
        resource = await client.read_resource(f"cormorant://response/{response_id}")
        assert "Tides" in resource.contents[0].text
    assert fit["counter"] == "o200k_base"
    assert site.targets.count("/tides") == 1


async def test_a_session_of_an_agent_plays_again_without_the_network(tmp_path) -> None:
    tape = str(tmp_path / "session.warc.gz")

    async def session(client: Client, base: str) -> list[str]:
        calls = [("web_fetch", {"url": f"{base}/tides", "budget": 300}), ("web_fetch", {"url": f"{base}/nothing"})]
        return [(await client.call_tool(name, arguments)).content[0].text for name, arguments in calls]

    async with serving(PAGES) as site, Client(server(tmp_path, "--record", tape)) as client:
        base = site.url("", host="127.0.0.1").rstrip("/")
        first = await session(client, base)
    async with Client(server(tmp_path, "--replay", tape)) as client:
        assert await session(client, base) == first
    assert "Tides" in first[0]


@pytest.mark.parametrize(
    ("tool", "arguments", "says"),
    [
        pytest.param("web_fetch", {"url": "http://127.0.0.1:9/"}, "refused", id="nobody listens"),
        pytest.param("web_fetch", {"url": "http://10.0.0.7/"}, "private_address", id="private"),
        pytest.param("web_fetch", {"url": "ftp://a.example/"}, "invalid_arguments", id="ftp"),
        pytest.param("web_fetch", {"url": "https://a.example/", "onlyMainContent": True}, "onlyMainContent", id="an unknown key"),
        pytest.param("web_get", {"response_id": "0" * 32}, "unknown response_id", id="an unknown id"),
        pytest.param("web_get", {"response_id": {"a": 1}}, "response_id", id="an object for an id"),
        pytest.param("web_dive", {}, "web_fetch", id="an unknown tool"),
        pytest.param("web_search", {"query": "x", "count": "many"}, "count", id="a value that can't be read"),
    ],
)
async def test_every_failure_is_an_error_result_with_advice(tmp_path, tool, arguments, says) -> None:
    async with Client(server(tmp_path, CORMORANT_EGRESS__ROBOTS="ignore")) as client:
        got = await client.call_tool(tool, arguments)
    assert got.is_error
    assert says in got.content[0].text
    assert "Traceback" not in got.content[0].text
    assert got.meta["cormorant/error"]["hint"] or got.meta["cormorant/error"]["retryable"]


@pytest.mark.parametrize(
    ("said", "extensions", "wanted"),
    [
        pytest.param("auto", [], False, id="by itself"),
        pytest.param("auto", [advertise("cormorant/structured")], True, id="a client that says so"),
        pytest.param("on", [], True, id="on"),
        pytest.param("off", [advertise("cormorant/structured")], False, id="off"),
    ],
)
@pytest.mark.parametrize("era", ["2026-07-28", "legacy"])
async def test_structure_and_its_schema_go_together_to_who_wants_them(tmp_path, era, said, extensions, wanted) -> None:
    """The client library itself refuses structure that does not fit the listed schema, or its lack."""
    async with opened(tmp_path) as (web, _, base):
        await index(web, tmp_path / "pages")
        async with Client(surface.server(web, structured=said), mode=era, extensions=extensions) as client:
            schemas = {tool.name: tool.output_schema for tool in (await client.list_tools()).tools}
            assert {name for name, schema in schemas.items() if schema} == (set(schemas) if wanted else set())
            page = await client.call_tool("web_fetch", {"url": f"{base}/guide", "budget": 400})
            response_id = page.content[0].text.split("response_id: ")[1][:32]
            calls = {
                "web_fetch": page,
                "web_get": await client.call_tool("web_get", {"response_id": response_id}),
                "web_search": await client.call_tool("web_search", {"query": "harbour wall"}),
                "web_answer": await client.call_tool("web_answer", {"query": "When was the harbour wall rebuilt?"}),
            }
            for name, got in calls.items():
                assert not got.is_error
                assert (got.structured_content is not None) == wanted
                if wanted:
                    Draft202012Validator(schemas[name]).validate(got.structured_content)
            failed = await client.call_tool("web_fetch", {"url": f"{base}/gone"})
            assert (failed.is_error, failed.structured_content) == (True, None)


async def test_a_prompt_asks_for_research(tmp_path) -> None:
    async with Client(server(tmp_path)) as client:
        assert [prompt.name for prompt in (await client.list_prompts()).prompts] == ["research"]
        got = await client.get_prompt("research", {"question": "when is high water?"})
    assert "when is high water?" in got.messages[0].content.text


async def test_standard_output_carries_the_protocol_alone(tmp_path) -> None:
    async with serving(PAGES) as site:
        asked = [
            {
                "jsonrpc": "2.0",
                "id": 1,
                "method": "initialize",
                "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}},
            },
            {"jsonrpc": "2.0", "method": "notifications/initialized"},
            {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
            {
                "jsonrpc": "2.0",
                "id": 3,
                "method": "tools/call",
                "params": {"name": "web_fetch", "arguments": {"url": site.url("/tides", host="127.0.0.1"), "budget": 200}},
            },
        ]
        seen = await _talk([sys.executable, "-c", NOISY], asked, tmp_path)
    assert {message.get("id") for message in seen} >= {1, 2, 3}


async def _talk(command: list[str], messages: list[dict], tmp_path: Path) -> list[dict]:
    """Every line of standard output, each of which has to be JSON-RPC."""
    import anyio

    environment = {**os.environ, "XDG_DATA_HOME": str(tmp_path)}
    async with await anyio.open_process(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
    ) as process:
        await process.stdin.send(b"".join(json.dumps(message).encode() + b"\n" for message in messages))
        seen, rest = [], b""
        with anyio.fail_after(30):
            while not {1, 2, 3} <= {message.get("id") for message in seen}:
                rest += await process.stdout.receive()
                *lines, rest = rest.split(b"\n")
                seen += [json.loads(line) for line in lines if line.strip()]
        await process.stdin.aclose()
        with anyio.fail_after(10):
            await process.wait()
    assert all(message["jsonrpc"] == "2.0" for message in seen)
    return seen
