"""Our HTTP server on a real socket, inside the test's own loop."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2

from cormorant.settings import of
from cormorant.surfaces.http import create_app, server_of


@asynccontextmanager
async def running(tmp_path: Path, *, grace_s: float = 0.0, **server) -> AsyncIterator[httpx2.AsyncClient]:
    """A client of the running server; `client.served` is uvicorn's server, `client.service` the state behind it."""
    settings = of(
        {
            "egress": {"allow_ranges": ["127.0.0.0/8"]},
            "store": {"path": "memory"},
            "library": {"path": str(tmp_path / "library.db")},
            "search": {"keyless": False},
            "server": server,
        }
    )
    app = create_app(settings, tmp_path / "server")
    served = server_of(app, grace_s=grace_s, signals=False)
    bound = socket.create_server(("127.0.0.1", 0))
    task = asyncio.create_task(served.serve(sockets=[bound]))
    try:
        async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{bound.getsockname()[1]}", timeout=20) as client:
            client.served, client.service = served, app.state.service  # type: ignore[attr-defined]
            yield client
    finally:
        served.should_exit = True
        await task
        bound.close()
