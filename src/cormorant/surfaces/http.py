"""The tools over HTTP: results at once, runs with live events, and MCP, from one server.

Every tool of `tools.TOOLS` has its route. A run is an execution: it goes on when a client leaves, its events are numbered
and replayed from `Last-Event-ID`, its record survives a restart. Keys belong to tenants, and what is a tenant's stays
there. On loopback no key is asked for; any other address wants one.
"""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

import cormorant
from cormorant import sse
from cormorant.errors import CormorantError, Internal, InvalidArguments, NotConfigured, NotHeld, RateLimited
from cormorant.settings import Settings
from cormorant.surfaces.executions import Execution, Executions
from cormorant.surfaces.measures import Measures
from cormorant.surfaces.page import FILES
from cormorant.surfaces.tenants import LOCAL, Keys, settings_of
from cormorant.tools import TOOLS, Tool, tool
from cormorant.web import Web

HEARTBEAT_S = 15.0
BODY_MAX_BYTES = 1024 * 1024
LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
HEADERS = {  # of every answer
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "cross-origin-resource-policy": "same-origin",
    "x-frame-options": "DENY",
}


class Unauthorized(CormorantError):
    """No key, or one nobody has."""

    http = 401


class Tenant:
    """What belongs to one tenant: its `Web`, its executions, its MCP server."""

    def __init__(self, name: str, settings: Settings, folder: Path, concurrency: int) -> None:
        self.name = name
        self.web = Web(settings)
        self.executions = Executions(folder / "executions")
        self.places = asyncio.Semaphore(concurrency)
        self._mcp: ASGIApp | None = None
        self._mcp_task: asyncio.Task[None] | None = None

    async def mcp(self) -> ASGIApp:
        """The MCP endpoint, started when it is first asked for, in a task of its own: its sessions outlive requests."""
        if self._mcp is None:
            from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager

            from cormorant.surfaces.mcp import server

            manager = StreamableHTTPSessionManager(server(self.web))
            ready = asyncio.Event()

            async def run() -> None:
                async with manager.run():
                    ready.set()
                    await asyncio.Event().wait()

            self._mcp_task = asyncio.create_task(run())
            await ready.wait()
            self._mcp = StreamableHTTPASGIApp(manager)
        return self._mcp

    async def aclose(self) -> None:
        await self.executions.aclose()
        if self._mcp_task is not None:
            self._mcp_task.cancel()
            with suppress(asyncio.CancelledError):
                await self._mcp_task
        await self.web.aclose()


class Service:
    """The state of one server: settings, keys, and the tenants that have called."""

    def __init__(self, settings: Settings, folder: Path, *, keys: Keys | None = None) -> None:
        self.settings = settings
        self.folder = folder
        self.keys = keys or Keys(folder / "keys.json")
        self.measures = Measures()
        self._tenants: dict[str, Tenant] = {}

    @property
    def needs_key(self) -> bool:
        return not is_loopback(self.settings.server.host) or self.settings.server.require_key

    def tenant(self, name: str) -> Tenant:
        if name not in self._tenants:
            own = self.settings if name == LOCAL else settings_of(self.folder / "tenants", name)
            home = self.folder if name == LOCAL else self.folder / "tenants" / name
            self._tenants[name] = Tenant(name, own, home, self.settings.server.concurrency)
        return self._tenants[name]

    def caller(self, request: Request, *, key_in_query: bool = False) -> Tenant:
        """Who calls. Raises: Unauthorized."""
        given = request.headers.get("x-api-key") or request.headers.get("authorization", "").removeprefix("Bearer ").strip()
        if not given and key_in_query:
            given = request.query_params.get("api_key", "")
        if not given and not self.needs_key:
            return self.tenant(LOCAL)
        name = self.keys.tenant_of(given) if given else None
        if name is None:
            raise Unauthorized("a valid key is needed", remedy="send it as X-API-KEY; cormorant key create TENANT makes one")
        return self.tenant(name)

    async def aclose(self) -> None:
        await asyncio.gather(*(tenant.aclose() for tenant in self._tenants.values()))


def create_app(settings: Settings, folder: Path, *, keys: Keys | None = None) -> FastAPI:
    """The application; `folder` holds keys, executions and tenants. Raises: NotConfigured for an open bind without a key."""
    service = Service(settings, folder, keys=keys)
    if service.needs_key and not service.keys.all():
        raise NotConfigured(f"{settings.server.host} is reachable from elsewhere and there is no key", remedy="cormorant key create TENANT")

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        await service.aclose()

    app = FastAPI(
        title="cormorant",
        version=cormorant.__version__,
        description="Web access for AI agents: search, fetch, read and answer, with evidence for every claim.",
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        openapi_url="/openapi.json",
    )
    app.state.service = service
    _add_errors(app)
    _add_tools(app, service)
    _add_executions(app, service)
    _add_rest(app, service)
    app.add_middleware(_Guard, settings=settings)
    return app


def _add_errors(app: FastAPI) -> None:
    @app.exception_handler(CormorantError)
    async def ours(_: Request, error: CormorantError) -> JSONResponse:
        return _failed(error)

    @app.exception_handler(Exception)
    async def bug(_: Request, error: Exception) -> JSONResponse:
        return _failed(Internal(f"{type(error).__name__}: a bug of ours", remedy="the server's log has the details"))


def _failed(error: CormorantError) -> JSONResponse:
    headers = {"retry-after": str(int(error.retry_after) + 1)} if error.retry_after is not None else {}
    return JSONResponse(error.as_dict(), status_code=error.http, headers=headers)


def _add_tools(app: FastAPI, service: Service) -> None:
    @app.get("/v1/tools", summary="The tools and their JSON Schemas")
    async def tools(request: Request) -> dict[str, Any]:
        tenant = service.caller(request)
        return {"tools": [_described(asked) for asked in TOOLS if tenant.web.offers(asked.name)]}

    for asked in TOOLS:
        app.add_api_route(
            f"/v1/{asked.name.removeprefix('web_')}",
            _at_once(service, asked),
            methods=["POST"],
            summary=asked.title,
            description=asked.sentence,
            operation_id=asked.name,
            openapi_extra=_body_of(asked.schema()),
            responses=ERRORS,
        )

    @app.post("/v1/tools/{name}/execute", status_code=202, openapi_extra=_body_of(_EXECUTE), responses=ERRORS, summary="Start a run")
    async def execute(request: Request, name: str, wait: bool = False) -> Response:
        tenant = service.caller(request)
        asked = tool(name)
        body = await _json(request)
        inputs = body.get("inputs", {})
        if not isinstance(inputs, dict):
            raise InvalidArguments("inputs should be an object", remedy='{"inputs": {}}')
        run = _start(service, tenant, asked, inputs)
        if wait:
            await _ended(run)
            return JSONResponse(run.record() if run.error is None else run.error, status_code=200 if run.error is None else _status(run))
        base = f"/v1/executions/{run.id}"
        shown = {"execution_id": run.id, "status": run.status, "tool_id": asked.name, "details_url": base, "stream_url": f"{base}/stream"}
        return JSONResponse(shown, status_code=202)


def _described(asked: Tool) -> dict[str, Any]:
    return {"name": asked.name, "title": asked.title, "description": asked.sentence, "input_schema": asked.schema()}


def _at_once(service: Service, asked: Tool) -> Callable[[Request], Awaitable[Response]]:
    async def call(request: Request) -> Response:
        tenant = service.caller(request)
        inputs = await _json(request)
        if "text/event-stream" in request.headers.get("accept", ""):
            run = _start(service, tenant, asked, inputs)
            return _stream(service, run, 0, lambda: tenant.executions.cancel(run))
        async with _place(service, tenant, asked.name):
            result = await asyncio.wait_for(asked.run(tenant.web, inputs), service.settings.server.timeout)
        return JSONResponse(result.as_dict())

    return call


def _start(service: Service, tenant: Tenant, asked: Tool, inputs: dict[str, Any]) -> Execution:
    asked.read(inputs)  # what can't be read is said now, not in the stream

    async def work(emit: Any) -> Any:
        async with _place(service, tenant, asked.name):
            return await asyncio.wait_for(asked.run(tenant.web, inputs, emit=emit), service.settings.server.timeout)

    if tenant.executions.active >= service.settings.server.queue:
        raise RateLimited("too many runs at once", remedy="wait for one to end", retryable=True, retry_after=1)
    return tenant.executions.start(asked.name, inputs, work)


@asynccontextmanager
async def _place(service: Service, tenant: Tenant, name: str) -> AsyncIterator[None]:
    async with tenant.places:
        with service.measures.call(name):
            yield


async def _ended(run: Execution) -> None:
    async for _ in run.after(0):
        pass


def _status(run: Execution) -> int:
    from cormorant.errors import family

    return family(str((run.error or {}).get("code", "internal"))).http


def _add_executions(app: FastAPI, service: Service) -> None:
    def found(tenant: Tenant, execution_id: str) -> Execution:
        run = tenant.executions.get(execution_id)
        if run is None:
            raise NoExecution(f"no execution {execution_id[:80]}", remedy="start one with POST /v1/tools/NAME/execute")
        return run

    @app.get("/v1/executions", summary="The latest runs, newest first")
    async def latest(request: Request) -> dict[str, Any]:
        return {"executions": service.caller(request).executions.latest()}

    @app.get("/v1/executions/{execution_id}", responses=ERRORS, summary="One run")
    async def details(request: Request, execution_id: str) -> dict[str, Any]:
        return found(service.caller(request), execution_id).record()

    @app.get("/v1/executions/{execution_id}/stream", responses=ERRORS, summary="Its events, live and replayed")
    async def stream(request: Request, execution_id: str) -> Response:
        run = found(service.caller(request, key_in_query=True), execution_id)
        seen = request.headers.get("last-event-id") or request.query_params.get("last_event_id") or "0"
        if not (seen.isascii() and seen.isdigit()):
            raise InvalidArguments("Last-Event-ID should be a number", remedy="send the id of the last event you saw")
        return _stream(service, run, min(int(seen), len(run.events)))

    @app.delete("/v1/executions/{execution_id}", responses=ERRORS, summary="Cancel a run")
    async def cancel(request: Request, execution_id: str) -> dict[str, Any]:
        tenant = service.caller(request)
        run = found(tenant, execution_id)
        await tenant.executions.cancel(run)
        return run.record()


class NoExecution(NotHeld):
    """No run of this tenant has that id."""

    @property
    def code(self) -> str:
        return "unknown_response"


def _stream(service: Service, run: Execution, seen: int, left: Callable[[], Awaitable[None]] | None = None) -> StreamingResponse:
    """The run's events as server-sent events; `left` is called when the client goes before the end."""

    async def body() -> AsyncIterator[bytes]:
        events = run.after(seen)
        waiting: asyncio.Task[tuple[int, str, Any]] | None = None
        service.measures.streams.inc()
        try:
            while True:
                waiting = waiting or asyncio.ensure_future(anext(events))
                done, _ = await asyncio.wait({waiting}, timeout=HEARTBEAT_S)
                if not done:
                    yield sse.HEARTBEAT
                    continue
                try:
                    number, name, payload = waiting.result()
                except StopAsyncIteration:
                    return
                waiting = None
                for frame in sse.frames(name, payload, id=number):
                    yield frame
        finally:
            service.measures.streams.dec()
            if waiting is not None:
                waiting.cancel()
                with suppress(asyncio.CancelledError, StopAsyncIteration):
                    await waiting
            await events.aclose()
            if left is not None and run.status not in ("completed", "failed", "cancelled"):
                await left()

    return StreamingResponse(body(), media_type="text/event-stream", headers={"x-accel-buffering": "no"})


def _add_rest(app: FastAPI, service: Service) -> None:
    @app.get("/healthz", summary="Whether the server answers")
    async def health() -> dict[str, str]:
        return {"status": "ok", "version": cormorant.__version__}

    @app.get("/metrics", summary="Prometheus measures")
    async def metrics(request: Request) -> Response:
        service.caller(request)
        return Response(service.measures.shown(), media_type="text/plain; version=0.0.4")

    @app.get("/capabilities", summary="What this install can do")
    async def capabilities(request: Request) -> dict[str, Any]:
        return service.caller(request).web.capabilities()

    for path, (media_type, content) in FILES.items():
        app.add_api_route(path, _file(media_type, content), methods=["GET"], include_in_schema=False)

    class Mcp:
        """The tenant's own MCP endpoint."""

        async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
            try:
                endpoint = await service.caller(Request(scope)).mcp()
            except CormorantError as error:
                await _failed(error)(scope, receive, send)
                return
            await endpoint(scope, receive, send)

    app.router.routes.append(Route("/mcp", endpoint=Mcp(), include_in_schema=False))


def _file(media_type: str, content: bytes) -> Callable[[], Awaitable[Response]]:
    async def serve() -> Response:
        return Response(content, media_type=media_type, headers={"content-security-policy": CSP})

    return serve


CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_EXECUTE = {"type": "object", "properties": {"inputs": {"type": "object"}}}
_ERROR = {
    "type": "object",
    "properties": {
        "code": {"type": "string"},
        "message": {"type": "string"},
        "hint": {"type": "string"},
        "url": {"type": ["string", "null"]},
        "hop": {"type": ["integer", "null"]},
        "status": {"type": ["integer", "null"]},
        "retryable": {"type": "boolean"},
        "retry_after": {"type": ["number", "null"]},
    },
}
ERRORS: dict[int | str, dict[str, Any]] = {
    "4XX": {"description": "The call was refused", "content": {"application/json": {"schema": _ERROR}}},
    "5XX": {"description": "The network, a page or a backend said no", "content": {"application/json": {"schema": _ERROR}}},
}


def _body_of(schema: dict[str, Any]) -> dict[str, Any]:
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}


async def _json(request: Request) -> dict[str, Any]:
    """The body as an object; whatever the Content-Type's parameters say. Raises: InvalidArguments."""
    try:
        found = json.loads(await request.body() or b"{}")
    except (ValueError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidArguments("the body is not JSON", remedy='send an object such as {"query": "..."}') from error
    if not isinstance(found, dict):
        raise InvalidArguments("the body should be a JSON object", remedy='send an object such as {"query": "..."}')
    return found


def is_loopback(host: str) -> bool:
    """Whether a bind address is reached from this machine alone."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


class _Guard:
    """What every request meets first: Host and Origin are ours (a page elsewhere must not drive a local server), the body
    is small, the answer carries the security headers."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        server = settings.server
        self._hosts = {host.lower() for host in server.hosts} | ({server.host.lower()} if not _is_any(server.host) else set())
        self._hosts |= LOOPBACK_NAMES
        self._any_host = _is_any(server.host) and not server.hosts
        self._origins = {origin.lower().rstrip("/") for origin in server.origins}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        refusal = self._refusal(headers)
        if refusal is not None:
            await refusal(scope, receive, send)
            return
        await self._app(scope, _bounded(receive), _with_headers(send))

    def _refusal(self, headers: Mapping[str, str]) -> Response | None:
        host = headers.get("host", "").lower()
        name = host.rsplit(":", 1)[0].strip("[]") if not host.endswith("]") else host.strip("[]")
        if not self._any_host and name not in self._hosts:
            return _plain(403, "invalid_arguments", f"this server is not {host[:200]!r}", "server.hosts names what it is called")
        origin = headers.get("origin", "").lower().rstrip("/")
        if origin and origin not in self._origins and origin.split("://", 1)[-1] != host:
            return _plain(
                403, "invalid_arguments", f"pages of {origin[:200]!r} may not call this server", "server.origins names those that may"
            )
        length = headers.get("content-length", "0")
        if not length.isdigit() or int(length) > BODY_MAX_BYTES:
            return _plain(413, "too_large", f"a body has at most {BODY_MAX_BYTES:,} bytes", "send less")
        return None


def _is_any(host: str) -> bool:
    return host in ("", "0.0.0.0", "::")  # noqa: S104 - compared, not bound


def _plain(status: int, code: str, message: str, hint: str) -> JSONResponse:
    shape = {
        "code": code,
        "message": message,
        "hint": hint,
        "url": None,
        "hop": None,
        "status": None,
        "retryable": False,
        "retry_after": None,
    }
    return JSONResponse(shape, status_code=status, headers=HEADERS)


def _bounded(receive: Receive) -> Receive:
    """A body without a length is counted as it comes."""
    seen = 0

    async def counted() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > BODY_MAX_BYTES:
            raise InvalidArguments(f"a body has at most {BODY_MAX_BYTES:,} bytes", remedy="send less")
        return message

    return counted


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            present = {name.lower() for name, _ in message["headers"]}
            extra = [(name.encode(), value.encode()) for name, value in HEADERS.items() if name.encode() not in present]
            message = {**message, "headers": [*message["headers"], *extra]}
        await send(message)

    return sending


async def serve(settings: Settings, folder: Path, *, ready: Callable[[str], None] = lambda url: None) -> None:
    """Run until a signal; streams in progress are ended, not torn. `ready` hears the address once it is bound."""
    import uvicorn

    app = create_app(settings, folder)
    server = settings.server
    bound = socket.create_server(
        (server.host, server.port), family=socket.AF_INET6 if ":" in server.host else socket.AF_INET, reuse_port=False, backlog=2048
    )
    config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=10, server_header=False, date_header=False)
    ready(f"http://{f'[{server.host}]' if ':' in server.host else server.host}:{bound.getsockname()[1]}")
    try:
        await uvicorn.Server(config).serve(sockets=[bound])
    finally:
        bound.close()
