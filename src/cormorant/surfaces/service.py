"""Who is behind a request: tenants, each with what is theirs, and the state of one server. No route is here."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from fastapi import Request
from starlette.types import ASGIApp

from cormorant.errors import CormorantError, RateLimited
from cormorant.settings import Follower, Settings, at_once
from cormorant.surfaces.executions import Executions
from cormorant.surfaces.guard import is_loopback
from cormorant.surfaces.measures import Measures
from cormorant.surfaces.tenants import LOCAL, PREFIX, Keys, follow_tenant
from cormorant.web import Web


class Unauthorized(CormorantError):
    """No key, or one nobody has."""

    http = 401


class Tenant:
    """What belongs to one tenant: its `Web`, its executions, its MCP server."""

    def __init__(self, name: str, settings: Settings | Follower, folder: Path, concurrency: int) -> None:
        self.name = name
        self.web = Web(settings)
        self.executions = Executions(folder / "executions")
        self.places = asyncio.Semaphore(concurrency)
        self.calls = 0  # going on or waiting for a place
        self._mcp: dict[bool, ASGIApp] = {}
        self._mcp_starting = asyncio.Lock()
        self._mcp_tasks: list[asyncio.Task[None]] = []

    @contextmanager
    def inside(self) -> Iterator[None]:
        """Counts one call for as long as it is here."""
        self.calls += 1
        try:
            yield
        finally:
            self.calls -= 1

    async def mcp(self, *, pair: bool) -> ASGIApp:
        """The MCP endpoint, started when it is first asked for, in a task of its own: its sessions outlive requests."""
        async with self._mcp_starting:
            return self._mcp[pair] if pair in self._mcp else await self._start_mcp(pair=pair)

    async def _start_mcp(self, *, pair: bool) -> ASGIApp:
        from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager

        from cormorant.surfaces.mcp import server

        manager = StreamableHTTPSessionManager(server(self.web, pair=pair))
        ready = asyncio.Event()

        async def run() -> None:
            async with manager.run():
                ready.set()
                await asyncio.Event().wait()

        self._mcp[pair] = StreamableHTTPASGIApp(manager)
        self._mcp_tasks.append(asyncio.create_task(run()))
        await ready.wait()
        return self._mcp[pair]

    async def end_streams(self) -> None:
        """End every run and every MCP session, so that no stream is torn."""
        await self.executions.aclose()
        tasks, self._mcp_tasks, self._mcp = self._mcp_tasks, [], {}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def aclose(self) -> None:
        """Everything of this tenant."""
        await self.end_streams()
        await self.web.aclose()


class Service:
    """The state of one server: settings, keys, and the tenants that have called."""

    def __init__(self, settings: Settings | Follower, folder: Path, *, keys: Keys | None = None) -> None:
        self._followed = settings if isinstance(settings, Follower) else None
        self.settings = settings.settings if isinstance(settings, Follower) else settings
        self.folder = folder
        self.keys = keys or Keys(folder / "keys.json")
        self.measures = Measures()
        self.stopping = False
        self._tenants: dict[str, Tenant] = {}

    @property
    def needs_key(self) -> bool:
        return not is_loopback(self.settings.server.host) or self.settings.server.require_key

    def tenant(self, name: str) -> Tenant:
        if name not in self._tenants:
            local = self._followed.again() if self._followed else self.settings
            own = local if name == LOCAL else follow_tenant(self.folder / "tenants", name)
            home = self.folder if name == LOCAL else self.folder / "tenants" / name
            self._tenants[name] = Tenant(name, own, home, self.settings.server.concurrency)
        return self._tenants[name]

    def caller(self, request: Request, *, key_in_query: bool = False, others_keys: bool = False) -> Tenant:
        """Who calls. `others_keys`: a key that is not of our making counts as none where none is needed. Raises: Unauthorized."""
        if self._followed:
            self._followed.look(self._renew)
        given = request.headers.get("x-api-key") or request.headers.get("authorization", "").removeprefix("Bearer ").strip()
        if not given and key_in_query:
            given = request.query_params.get("api_key", "")
        if not self.needs_key and (not given or (others_keys and not given.startswith(PREFIX))):
            return self.tenant(LOCAL)
        name = self.keys.tenant_of(given) if given else None
        if name is None:
            raise Unauthorized("a valid key is needed", remedy="send it as X-API-KEY; cormorant key create TENANT makes one")
        return self.tenant(name)

    def _renew(self, found: Settings) -> tuple[str, ...]:
        self.settings, waiting = at_once(self.settings, found)
        return waiting

    def admit(self, tenant: Tenant) -> None:
        """Raises: RateLimited when no more calls are taken on."""
        if self.stopping:
            raise RateLimited("the server is stopping", remedy="ask again in a moment", retryable=True, retry_after=5)
        if max(tenant.calls, tenant.executions.active) >= self.settings.server.queue:
            raise RateLimited("too many calls at once", remedy="wait for one to end", retryable=True, retry_after=1)

    async def drain(self, grace_s: float, hurry: Callable[[], bool]) -> None:
        """Take nothing on any more, let what runs finish for a while, then end it with an event that says so."""
        self.stopping = True
        ends_at = asyncio.get_running_loop().time() + grace_s
        while any(tenant.calls or tenant.executions.active for tenant in self._tenants.values()):
            if hurry() or asyncio.get_running_loop().time() >= ends_at:
                break
            await asyncio.sleep(0.05)
        await asyncio.gather(*(tenant.end_streams() for tenant in self._tenants.values()))

    async def aclose(self) -> None:
        await asyncio.gather(*(tenant.aclose() for tenant in self._tenants.values()))
