"""What starting costs: `import cormorant`, `cormorant --version` beside a bare click program, MCP's first tools/list.

    python bench/startup.py [--runs 15]

Every figure is CPU time (user + system) of a whole process, the median of paired runs taken in turn, so that a machine
whose speed drifts does not favour one side.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from report import save, table

BARE_CLICK = "import click\n@click.command()\n@click.version_option('1')\ndef main(): ...\nmain()\n"
BARE_MCP = """
import asyncio
from mcp import types
from mcp.server import Server
from mcp.server.stdio import stdio_server
async def listed(ctx, params):
    return types.ListToolsResult(tools=[types.Tool(name=f"t{n}", description="d", input_schema={"type": "object"}) for n in range(4)])
async def main():
    server = Server("bare", version="1", on_list_tools=listed)
    async with stdio_server() as (r, w):
        await server.run(r, w, server.create_initialization_options())
asyncio.run(main())
"""
WHO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
HELLO = [
    {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": WHO},
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
]


def cpu_s(command: list[str], stdin: bytes | None = None, environment: dict[str, str] | None = None) -> float:
    """CPU seconds of one whole run."""
    before = os.times()
    subprocess.run(command, input=stdin, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True, env=environment, timeout=60)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def first_list_s(command: list[str], environment: dict[str, str]) -> float:
    """Wall seconds from the start of the process to its answer to tools/list."""
    started = time.perf_counter()
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"".join(json.dumps(message).encode() + b"\n" for message in HELLO))
        process.stdin.flush()
        while json.loads(process.stdout.readline()).get("id") != 2:
            pass
        took = time.perf_counter() - started
        process.stdin.close()
        process.wait(timeout=30)
    return took


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=15)
    runs = parser.parse_args().runs
    python, cormorant = sys.executable, str(Path(sys.executable).with_name("cormorant"))
    with tempfile.TemporaryDirectory() as home:
        environment = {**os.environ, "XDG_DATA_HOME": home, "XDG_CONFIG_HOME": home, "XDG_CACHE_HOME": home}
        sides = {
            "python -c pass": lambda: cpu_s([python, "-c", "pass"]),
            "import cormorant": lambda: cpu_s([python, "-c", "import cormorant"]),
            "from cormorant import Web": lambda: cpu_s([python, "-c", "from cormorant import Web"]),
            "bare click --version": lambda: cpu_s([python, "-c", BARE_CLICK, "--version"]),
            "cormorant --version": lambda: cpu_s([cormorant, "--version"]),
            "bare mcp, first tools/list (wall)": lambda: first_list_s([python, "-c", BARE_MCP], environment),
            "cormorant mcp, first tools/list (wall)": lambda: first_list_s([cormorant, "mcp"], environment),
        }
        took: dict[str, list[float]] = {name: [] for name in sides}
        for run in range(runs + 1):
            for name, measure in sides.items():
                value = measure()
                if run:  # the first warms the disk
                    took[name].append(value * 1000)
    medians = {name: statistics.median(values) for name, values in took.items()}
    ratios = {
        "cormorant --version / bare click": medians["cormorant --version"] / medians["bare click --version"],
        "cormorant mcp / bare mcp": medians["cormorant mcp, first tools/list (wall)"] / medians["bare mcp, first tools/list (wall)"],
        "import cormorant over bare python, ms": medians["import cormorant"] - medians["python -c pass"],
    }
    print(table([{"what": name, "median ms": value} for name, value in medians.items()]))
    print(table([{"ratio": name, "value": value} for name, value in ratios.items()]))
    save("startup", {"median_ms": medians, "ratios": ratios, "runs": runs}, bars={"milliseconds, median": medians}, unit=" ms")


if __name__ == "__main__":
    main()
