"""500 event streams at once: is an event lost, and does the server's memory stay flat?

    python bench/sse_load.py [--streams 500] [--events 100] [--waves 4]

One server process, one client process, loopback. Each wave starts 50 runs, each watched by a tenth of the streams; every
run tells `--events` events at about twenty a second. Memory is the server's resident set at the end of each wave.
"""

from __future__ import annotations

import argparse
import asyncio
import resource
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from report import save, table

from cormorant import sse
from cormorant.events import Updated

RUNS = 50
PAUSE_S = 0.05


def serve(folder: Path, port: int, events: int) -> None:
    """The server, with one more route that starts the runs."""
    from cormorant.settings import of
    from cormorant.surfaces.http import create_app, server_of

    class Result:
        def as_dict(self) -> dict[str, Any]:
            return {"told": events}

    app = create_app(of({"store": {"path": "memory"}, "library": {"path": str(folder / "library.db")}}), folder)

    async def work(emit: Any) -> Result:
        for n in range(events):
            await emit(Updated({"n": n, "text": "The tide stood at six, wrote the keeper. " * 5}))
            await asyncio.sleep(PAUSE_S)
        return Result()

    @app.post("/start")
    async def start() -> list[str]:
        executions = app.state.service.tenant("local").executions
        return [executions.start("load", {}, work).id for _ in range(RUNS)]

    bound = socket.create_server(("127.0.0.1", port), backlog=2048)
    asyncio.run(server_of(app).serve(sockets=[bound]))


async def asked(port: int, head: str) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"{head} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\ncontent-length: 0\r\n\r\n".encode())
    body = (await reader.read()).partition(b"\r\n\r\n")[2]
    writer.close()
    return body


async def watch(port: int, run: str) -> tuple[int, bool]:
    """How many events came, and whether each came once and in order, up to the end."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"GET /v1/executions/{run}/stream HTTP/1.0\r\nhost: 127.0.0.1\r\n\r\n".encode())
    await reader.readuntil(b"\r\n\r\n")
    parser, ids, last = sse.Reader(), [], ""
    while piece := await reader.read(65536):
        for message in parser.feed(piece):
            ids.append(int(message.id))
            last = message.event
    writer.close()
    return len(ids), last == "tool_end" and ids == list(range(1, len(ids) + 1))


def resident_mib(pid: int) -> float:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmRSS")).split()[1]) / 1024


async def measure(port: int, pid: int, streams: int, events: int, waves: int) -> list[dict[str, Any]]:
    import json

    rows = []
    for wave in range(1, waves + 1):
        began = time.perf_counter()
        runs = json.loads(await asked(port, "POST /start"))
        seen = await asyncio.gather(*(watch(port, runs[n % len(runs)]) for n in range(streams)))
        wanted = events + 1
        rows.append(
            {
                "wave": wave,
                "streams": streams,
                "events": sum(count for count, _ in seen),
                "lost": streams * wanted - sum(count for count, _ in seen),
                "whole": sum(whole for _, whole in seen),
                "seconds": round(time.perf_counter() - began, 1),
                "server_mib": round(resident_mib(pid), 1),
            }
        )
        print(table(rows[-1:]), flush=True)
    return rows


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--streams", type=int, default=500)
    options.add_argument("--events", type=int, default=100)
    options.add_argument("--waves", type=int, default=4)
    options.add_argument("--serve", type=int)
    options.add_argument("--folder", type=Path)
    given = options.parse_args()
    resource.setrlimit(resource.RLIMIT_NOFILE, (4096, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    if given.serve:
        serve(given.folder, given.serve, given.events)
        return
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, __file__, "--serve", str(port), "--events", str(given.events), "--folder", folder]
        server = subprocess.Popen(command)
        try:
            for _ in range(200):
                with socket.socket() as probe:
                    if probe.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.1)
            rows = asyncio.run(measure(port, server.pid, given.streams, given.events, given.waves))
        finally:
            server.terminate()
            server.wait()
    save("sse_load", {"waves": rows}, bars={"server MiB after each wave": {f"cormorant, wave {r['wave']}": r["server_mib"] for r in rows}})


if __name__ == "__main__":
    main()
