"""What our HTTP surface adds: `POST /v1/get` of a stored page beside a bare fastapi route that returns the same JSON.

    python bench/http_overhead.py [--requests 1500]

Both routes are in one server process, asked in turn over one kept connection each, so both meet the same machine. The
work of `web_get` itself is measured too, inside the process, and taken off: what is left is the surface.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI, Request
from report import save, table

from cormorant.settings import of
from cormorant.surfaces.http import create_app, listening, server_of

PAGE = "<title>Tides</title><main><h1>Tides</h1>" + "<p>High water stood at six, wrote the keeper.</p>" * 20 + "</main>"


async def site(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.readuntil(b"\r\n\r\n")
    body = PAGE.encode()
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nconnection: close\r\ncontent-length: %d\r\n\r\n" % len(body) + body)
    await writer.drain()
    writer.close()


class Connection:
    """One kept connection, one request after the other."""

    def __init__(self, port: int) -> None:
        self.port = port

    async def open(self) -> None:
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)

    async def post(self, path: str, body: bytes) -> tuple[float, bytes]:
        began = time.perf_counter()
        head = f"POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
        self.writer.write(head.encode() + body)
        answered = await self.reader.readuntil(b"\r\n\r\n")
        length = next(int(line.split(b":")[1]) for line in answered.split(b"\r\n") if line.lower().startswith(b"content-length"))
        found = await self.reader.readexactly(length)
        return (time.perf_counter() - began) * 1000, found


def bare(result: dict[str, Any]) -> FastAPI:
    app = FastAPI()

    @app.post("/get")
    async def get(request: Request) -> dict[str, Any]:
        await request.json()
        return result

    return app


async def measure(folder: Path, requests: int) -> list[dict[str, Any]]:
    origin = await asyncio.start_server(site, "127.0.0.1", 0)
    own = {"egress": {"allow_ranges": ["127.0.0.0/8"]}, "store": {"path": "memory"}, "library": {"path": str(folder / "l.db")}}
    app = create_app(of(own), folder)
    web = app.state.service.tenant("local").web
    page = await web.fetch(f"http://127.0.0.1:{origin.sockets[0].getsockname()[1]}/")
    arguments = {"response_id": page.response_id}
    body = json.dumps(arguments).encode()
    ours, theirs = listening("127.0.0.1", 0), listening("127.0.0.1", 0)
    servers = [
        server_of(app, signals=False),
        uvicorn.Server(uvicorn.Config(bare((await web.get(**arguments)).as_dict()), log_level="warning")),
    ]
    running = [asyncio.create_task(one._serve(sockets=[bound])) for one, bound in zip(servers, (ours, theirs), strict=True)]
    while not all(one.started for one in servers):  # noqa: ASYNC110 - uvicorn has no event for it
        await asyncio.sleep(0.01)
    times: dict[str, list[float]] = {"bare fastapi": [], "cormorant": [], "web_get alone": []}
    connections = {
        "cormorant": (Connection(ours.getsockname()[1]), "/v1/get"),
        "bare fastapi": (Connection(theirs.getsockname()[1]), "/get"),
    }
    for connection, _ in connections.values():
        await connection.open()
    for n in range(requests):
        for name, (connection, path) in connections.items():
            took, _ = await connection.post(path, body)
            times[name] += [took] if n >= 50 else []
        began = time.perf_counter()
        await web.get(**arguments)
        times["web_get alone"].append((time.perf_counter() - began) * 1000)
    for connection, _ in connections.values():
        connection.writer.close()
    for one in servers:
        one.should_exit = True
    await asyncio.gather(*running)
    origin.close()
    return [
        {"route": name, "median_ms": statistics.median(took), "p95_ms": statistics.quantiles(took, n=20)[-1]}
        for name, took in times.items()
    ]


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--requests", type=int, default=1_500)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = asyncio.run(measure(Path(folder), given.requests))
    print(table(rows))
    by = {row["route"]: row["median_ms"] for row in rows}
    added = by["cormorant"] - by["web_get alone"] - by["bare fastapi"]
    print(f"the surface adds {added:.2f} ms to a bare route")
    save("http_overhead", {"routes": rows, "surface_adds_ms": added}, bars={"median of one call": by}, unit=" ms")


if __name__ == "__main__":
    main()
