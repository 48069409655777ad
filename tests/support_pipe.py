"""One client's ends of the pipe to a real `cormorant mcp` process."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}
WAIT_S = 30


class Pipe:
    """One client's ends of the pipe."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self._read = b""

    def send(self, *lines: bytes | dict[str, Any]) -> None:
        for line in lines:
            self.process.stdin.write((line if isinstance(line, bytes) else json.dumps({"jsonrpc": "2.0"} | line).encode()) + b"\n")
        self.process.stdin.flush()

    def line(self) -> bytes:
        while b"\n" not in self._read:
            ready, _, _ = select.select([self.process.stdout], [], [], WAIT_S)
            chunk = os.read(self.process.stdout.fileno(), 65536) if ready else b""
            assert chunk, f"no line within {WAIT_S} s"
            self._read += chunk
        line, _, self._read = self._read.partition(b"\n")
        return line

    def reply(self, request_id: object) -> dict[str, Any]:
        while True:
            message = json.loads(self.line())
            if message.get("id") == request_id:
                return message

    def hello(self) -> None:
        self.send({"id": 0, "method": "initialize", "params": HELLO}, {"method": "notifications/initialized"})
        assert self.reply(0)["result"]["serverInfo"]["name"] == "cormorant"


@contextmanager
def pipe(home: Path) -> Iterator[Pipe]:
    homes = {name: str(home / name.lower()) for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME")}
    own = {"CORMORANT_EGRESS__ALLOW_RANGES": "127.0.0.0/8", "CORMORANT_EGRESS__ROBOTS": "ignore"}
    with subprocess.Popen(
        [sys.executable, "-m", "cormorant", "mcp"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, **homes, **own},
        start_new_session=True,  # a process group of its own, so that what it leaves behind can be seen
    ) as process:
        try:
            yield Pipe(process)
        finally:
            process.kill()
