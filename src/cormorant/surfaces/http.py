"""The tools over HTTP: results at once, runs with live events, and MCP, from one server.

Every tool of `tools.TOOLS` has its route. A run is an execution: it goes on when a client leaves, its events are numbered
and replayed from `Last-Event-ID`, its record survives a restart. Keys belong to tenants, and what is a tenant's stays
there. On loopback no key is asked for; any other address wants one.
"""

from __future__ import annotations

import asyncio
import json
import signal
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Annotated, Any

import uvicorn
from fastapi import FastAPI, Query, Request
from fastapi import Path as PathParameter
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.exceptions import HTTPException
from starlette.routing import Match, Route
from starlette.types import Receive, Scope, Send

import cormorant
from cormorant import shapes, sse
from cormorant.errors import Cancelled, CormorantError, Internal, InvalidArguments, NotConfigured, NotHeld, Timeout
from cormorant.settings import Follower, Settings
from cormorant.surfaces.compat import add_compat
from cormorant.surfaces.executions import LISTED_MAX, Execution
from cormorant.surfaces.guard import Guard, is_loopback, shaped
from cormorant.surfaces.page import FILES
from cormorant.surfaces.service import Service, Tenant
from cormorant.surfaces.tenants import LOCAL, Keys
from cormorant.tools import TOOLS, Tool, tool

HEARTBEAT_S = 15.0
GRACE_S = 5.0  # what runs may take to finish once the server is asked to stop; a second signal ends the waiting
STOPS = (signal.SIGINT, signal.SIGTERM)
NAME = PathParameter(json_schema_extra={"enum": [one.name for one in TOOLS]})  # aliases work too


def create_app(settings: Settings | Follower, folder: Path, *, keys: Keys | None = None) -> FastAPI:
    """The application; `folder` holds keys, executions and tenants. Raises: NotConfigured for an open bind without a key."""
    service = Service(settings, folder, keys=keys)
    settings = service.settings
    if service.needs_key and not service.keys.all():
        why = "server.require_key is on" if is_loopback(settings.server.host) else f"{settings.server.host} is reachable from elsewhere"
        raise NotConfigured(f"{why} and there is no key", remedy="cormorant key create TENANT")

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
    if is_loopback(settings.server.host):  # what asks for no key elsewhere must not be offered to strangers
        add_compat(app, _caller_of(service), _json)
    app.add_middleware(Guard, settings=settings)
    return app


def _add_errors(app: FastAPI) -> None:
    @app.exception_handler(CormorantError)
    async def ours(_: Request, error: CormorantError) -> JSONResponse:
        return shaped(error)

    @app.exception_handler(HTTPException)
    async def unknown(request: Request, error: HTTPException) -> JSONResponse:
        said = f"{request.method} {request.url.path[:200]}: {error.detail}"
        answer = shaped(InvalidArguments(said, remedy="GET /openapi.json lists what there is"), error.status_code)
        if error.status_code == 405:  # a path may have several routes, and Starlette names the methods of the first
            here = [route for route in request.app.routes if route.matches(request.scope)[0] != Match.NONE]
            answer.headers["allow"] = ", ".join(sorted({method for route in here for method in getattr(route, "methods", None) or ()}))
        return answer

    @app.exception_handler(RequestValidationError)
    async def unreadable(_: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        return shaped(InvalidArguments(f"{where}: {first['msg']}", remedy="GET /openapi.json says what it takes"))

    @app.exception_handler(Exception)
    async def bug(_: Request, error: Exception) -> JSONResponse:
        return shaped(Internal(f"{type(error).__name__}: a bug of ours", remedy="the server's log has the details"))


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
            openapi_extra=_body_of(_strict(asked)),
            responses={200: {"description": "The result", "content": {"application/json": {"schema": asked.output_schema()}}}, **ERRORS},
        )

    @app.post(
        "/v1/tools/{name}/execute",
        status_code=202,
        openapi_extra=_body_of(_EXECUTE),
        responses=ERRORS,
        summary="Start a run",
    )
    async def execute(request: Request, name: Annotated[str, NAME], wait: bool = False) -> Response:
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
    schemas = {"input_schema": asked.schema(), "output_schema": asked.output_schema()}
    return {"name": asked.name, "title": asked.title, "description": asked.sentence, **schemas}


def _at_once(service: Service, asked: Tool) -> Callable[[Request], Awaitable[Response]]:
    async def call(request: Request) -> Response:
        tenant = service.caller(request)
        inputs = await _json(request)
        if "text/event-stream" in request.headers.get("accept", ""):
            run = _start(service, tenant, asked, inputs)
            return _stream(service, run, 0, lambda: tenant.executions.cancel(run))
        result = await while_connected(request, within(service, tenant, asked, inputs))
        return JSONResponse(result.as_dict())

    return call


def _start(service: Service, tenant: Tenant, asked: Tool, inputs: dict[str, Any]) -> Execution:
    asked.read(inputs)  # what can't be read is said now, not in the stream
    service.admit(tenant)
    return tenant.executions.start(asked.name, inputs, lambda emit: within(service, tenant, asked, inputs, emit=emit))


async def within(service: Service, tenant: Tenant, asked: Tool, inputs: dict[str, Any], **heard: Any) -> Any:
    """One call inside the tenant's limits. Raises: RateLimited, Timeout, and what the tool raises."""
    limit = service.settings.server.timeout
    if not heard:
        asked.read(inputs)
        service.admit(tenant)
    with tenant.inside():
        async with tenant.places:
            with service.measures.call(asked.name):
                try:
                    async with asyncio.timeout(limit) as clock:
                        return await asked.run(tenant.web, inputs, **heard)
                except TimeoutError:
                    if not clock.expired():
                        raise
                    raise Timeout(f"{asked.name} took longer than {limit:g} s", remedy="server.timeout raises the limit") from None


async def while_connected(request: Request, work: Coroutine[Any, Any, Any]) -> Any:
    """The work's result; a caller who leaves takes the work along."""

    async def left() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    working, leaving = asyncio.ensure_future(work), asyncio.ensure_future(left())
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise Cancelled("the caller left")
        return working.result()
    finally:
        for task in (working, leaving):
            task.cancel()
        await asyncio.gather(working, leaving, return_exceptions=True)


def _caller_of(service: Service) -> Callable[[Request, str, dict[str, Any]], Awaitable[Any]]:
    async def call(request: Request, name: str, inputs: dict[str, Any]) -> Any:
        return await within(service, service.caller(request, others_keys=True), tool(name), inputs)

    return call


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

    @app.get("/v1/executions", responses=ERRORS, summary="The runs, newest first, those before a restart too")
    async def latest(
        request: Request,
        count: Annotated[int, Query(ge=1, le=LISTED_MAX)] = 50,
        before: Annotated[str, Query(description="the `next` of the page before")] = "",
    ) -> dict[str, Any]:
        runs, following = await asyncio.to_thread(service.caller(request).executions.latest, count, before)
        return {"executions": runs, "next": following}

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

    headers = {"x-accel-buffering": "no", "x-execution-id": run.id}
    return StreamingResponse(body(), media_type="text/event-stream", headers=headers)


def _add_rest(app: FastAPI, service: Service) -> None:
    @app.get("/healthz", summary="Whether the server answers")
    async def health() -> dict[str, str]:
        return {"status": "ok", "version": cormorant.__version__}

    @app.get("/metrics", summary="Prometheus measures", response_class=PlainTextResponse)
    async def metrics(request: Request) -> Response:
        service.caller(request)
        return Response(service.measures.shown(), media_type="text/plain; version=0.0.4")

    @app.get("/capabilities", summary="What this install can do")
    async def capabilities(request: Request) -> dict[str, Any]:
        tenant = service.caller(request)
        shown = tenant.web.capabilities()
        return shown if tenant.name == LOCAL else {name: value for name, value in shown.items() if name != "store"}  # a path of ours

    for path, (media_type, content) in FILES.items():
        app.add_api_route(path, _file(media_type, content), methods=["GET"], include_in_schema=False)

    class Mcp:
        """The tenant's own MCP endpoint."""

        async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
            try:
                endpoint = await service.caller(Request(scope)).mcp(pair=scope["path"].endswith("/pair"))
            except CormorantError as error:
                await shaped(error)(scope, receive, send)
                return
            # Media types have no case (RFC 9110, 8.3.1); the MCP library compares them letter by letter.
            headers = [(name, value.lower() if name == b"content-type" else value) for name, value in scope["headers"]]
            await endpoint({**scope, "headers": headers}, receive, send)

    for path in ("/mcp", "/mcp/pair"):
        app.router.routes.append(Route(path, endpoint=Mcp(), include_in_schema=False))


def _file(media_type: str, content: bytes) -> Callable[[], Awaitable[Response]]:
    async def serve() -> Response:
        return Response(content, media_type=media_type, headers={"content-security-policy": CSP})

    return serve


CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_EXECUTE = {"type": "object", "properties": {"inputs": {"type": "object"}}}
_ERROR = shapes.schema(shapes.Error)
ERRORS: dict[int | str, dict[str, Any]] = {
    "4XX": {"description": "The call was refused", "content": {"application/json": {"schema": _ERROR}}},
    "5XX": {"description": "The network, a page or a backend said no", "content": {"application/json": {"schema": _ERROR}}},
}


def _strict(asked: Tool) -> dict[str, Any]:
    """A tool's schema with what every call is checked for; the tool's own stays short, since a model pays for it."""
    shown = asked.schema()
    either = [name for name in ("url", "urls", "query", "queries") if any(a.name == name for a in asked.arguments)]
    if not asked.required:
        shown["anyOf"] = [{"required": [name]} for name in (either[:2] if asked.method == "fetch" else either)]
    for argument in asked.arguments:
        if argument.name in (*asked.required, "url", "query") and argument.listed:
            shown["properties"][argument.name]["minLength"] = 1
    return shown


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


def server_of(app: FastAPI, *, grace_s: float = GRACE_S, signals: bool = True) -> uvicorn.Server:
    """A uvicorn server that lets runs finish before it goes; `signals=False` leaves the signal handlers alone."""

    class Server(uvicorn.Server):
        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            await app.state.service.drain(grace_s, hurry=lambda: self.force_exit)
            await super().shutdown(sockets)

        @contextmanager
        def capture_signals(self) -> Iterator[None]:
            """uvicorn raises a signal anew once it has stopped; a server that was told to stop, and did, has no error to report."""
            before = {one: signal.signal(one, self.handle_exit) for one in STOPS} if signals else {}
            try:
                yield
            finally:
                for one, handler in before.items():
                    signal.signal(one, handler)

    return Server(uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=5, server_header=False, date_header=False))


def listening(host: str, port: int) -> socket.socket:
    """A bound socket. Raises: OSError."""
    bound = socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET, backlog=2048)
    # Connections inherit it. asyncio sets it only where the socket names its protocol, which `create_server` does not;
    # without it a small answer waits 40 ms for the client's delayed acknowledgement.
    bound.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return bound


async def serve(settings: Settings | Follower, folder: Path, *, ready: Callable[[str], None] = lambda url: None) -> None:
    """Run until a signal; streams in progress are ended, not torn. `ready` hears the address once it is bound."""
    app = create_app(settings, folder)
    server = app.state.service.settings.server
    try:
        bound = listening(server.host, server.port)
    except OSError as error:
        said = f"can't listen on {server.host}:{server.port}: {error.strerror or error}"
        raise NotConfigured(said, remedy="cormorant serve --port 0 picks a free port") from error
    ready(f"http://{f'[{server.host}]' if ':' in server.host else server.host}:{bound.getsockname()[1]}")
    try:
        await server_of(app).serve(sockets=[bound])
    finally:
        bound.close()
