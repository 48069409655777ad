"""Readers of pages that live in Node, for the benchmarks: Mozilla's Readability and defuddle, both on linkedom.

One process for each, started with its first page, reads page after page as JSON lines (node_peers/peers.mjs) and says what CPU time
each took; the pipe is at nobody's cost. `npm ci --prefix bench/node_peers --ignore-scripts` installs them, and `make bench` does.
"""

from __future__ import annotations

import atexit
import json
import shutil
import subprocess
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent / "node_peers"
NAMES = {"readability (node)": "readability", "defuddle (node)": "defuddle"}
_elsewhere = [0.0]  # CPU seconds that Node spent on pages, less what it took to hand them over


class NodePeerFailed(Exception):
    """The engine raised on this page."""


def cpu_s() -> float:
    """CPU seconds of this process and of the engines in Node: what to measure an engine of either kind with."""
    return time.process_time() + _elsewhere[0]


@cache
def _process(engine: str) -> subprocess.Popen[str]:
    command = ["node", str(FOLDER / "peers.mjs"), engine]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, encoding="utf-8"
    )
    atexit.register(process.kill)
    return process


def kept(engine: str, html: str, url: str) -> str:
    """The part of the page that the engine keeps, as HTML."""
    began = time.process_time()
    process = _process(engine)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps({"html": html, "url": url}) + "\n")
    process.stdin.flush()
    answer = json.loads(process.stdout.readline())
    _elsewhere[0] += answer["cpu_s"] - (time.process_time() - began)
    if "error" in answer:
        raise NodePeerFailed(answer["error"])
    return str(answer["html"])


def installed() -> bool:
    return shutil.which("node") is not None and (FOLDER / "node_modules" / "linkedom").is_dir()


def readers() -> dict[str, Callable[[str, str], str]]:
    """Each engine by its name: HTML and address to the HTML it keeps. Empty, and said, where they are not installed."""

    def reader(engine: str) -> Callable[[str, str], str]:
        return lambda html, url: kept(engine, html, url)

    if not installed():
        print("left out, not installed in bench/node_peers:", ", ".join(NAMES))
        return {}
    return {name: reader(engine) for name, engine in NAMES.items()}
