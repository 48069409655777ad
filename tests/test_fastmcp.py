"""The MCP server as fastmcp's client meets it, over stdio and over HTTP. Skips where fastmcp is not installed."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from support_net import answer, serving

pytestmark = pytest.mark.anyio
fastmcp = pytest.importorskip("fastmcp", reason="fastmcp is not installed: scripts/adapters.sh fastmcp")
PAGES = {"/note": answer(200, "<title>Note</title><p>High water at six.</p>", {"content-type": "text/html"}), "*": answer(404, "")}


def server(home: Path, *options: str):
    from fastmcp.client.transports import StdioTransport

    homes = {name: str(home / name.lower()) for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME")}
    environment = {**os.environ, **homes, "CORMORANT_EGRESS__ALLOW_RANGES": "127.0.0.0/8"}
    return StdioTransport(command=sys.executable, args=["-m", "cormorant", "mcp", *options], env=environment, keep_alive=False)


async def test_fastmcp_reads_a_page_and_what_is_left_of_it(tmp_path) -> None:
    async with serving(PAGES) as site, fastmcp.Client(server(tmp_path)) as client:
        assert [tool.name for tool in await client.list_tools()] == ["web_search", "web_fetch", "web_get", "web_answer"]
        got = await client.call_tool("web_fetch", {"url": site.url("/note", host="127.0.0.1")})
        assert "High water at six" in got.content[0].text
        (kept,) = await client.list_resources()
        assert "High water at six" in (await client.read_resource(kept.uri))[0].text
        assert "tides?" in str(await client.get_prompt("research", {"question": "tides?"}))
        failed = await client.call_tool("web_fetch", {"url": "http://10.0.0.7/"}, raise_on_error=False)
        assert failed.is_error
        assert "private_address" in failed.content[0].text


async def test_fastmcp_checks_our_structure_against_our_schema(tmp_path) -> None:
    async with serving(PAGES) as site, fastmcp.Client(server(tmp_path, "--structured", "on")) as client:
        got = await client.call_tool("web_fetch", {"url": site.url("/note", host="127.0.0.1")})
        assert got.structured_content["status"] == 200
