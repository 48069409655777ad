"""What every HTTP request meets before a route: whose Host and Origin it names, how much it sends, what the answer carries.

A page from elsewhere must not drive a server that asks no key on loopback, so a foreign Host, Origin or fetch site is
refused. Origins that the operator lists may call, and get the CORS headers that let their pages read the answer.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from ipaddress import ip_address

from fastapi.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cormorant.errors import CormorantError, InvalidArguments, TooLarge
from cormorant.settings import Settings

BODY_MAX_BYTES = 1024 * 1024
LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
HOST = re.compile(r"(\[[0-9a-f:.]+\]|[^:/@\[\]]+)(?::\d+)?")
CORS_HEADERS = "content-type, accept, x-api-key, authorization, last-event-id, mcp-session-id, mcp-protocol-version, mcp-method, mcp-name"
HEADERS = {  # of every answer
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "cross-origin-resource-policy": "same-origin",
    "x-frame-options": "DENY",
}


def is_loopback(host: str) -> bool:
    """Whether a bind address is reached from this machine alone."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


class Guard:
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
        origin = headers.get("origin", "").lower().rstrip("/")
        cors = _cors(origin) if origin in self._origins else {}
        answering = _with_headers(send, HEADERS | cors)
        refusal = self._refusal(headers, origin, scope["path"])
        if refusal is not None:
            await refusal(scope, receive, answering)
        elif cors and scope["method"] == "OPTIONS" and "access-control-request-method" in headers:
            await Response(status_code=204)(scope, receive, answering)
        else:
            await self._app(scope, _bounded(receive), answering)

    def _refusal(self, headers: Mapping[str, str], origin: str, path: str) -> Response | None:
        host = headers.get("host", "").lower()
        parts = HOST.fullmatch(host)
        if not self._any_host and (parts is None or parts[1].strip("[]") not in self._hosts):
            return shaped(InvalidArguments(f"this server is not {host[:200]!r}", remedy="server.hosts names what it is called"), 403)
        own = not origin or origin in self._origins or origin.split("://", 1)[-1] == host
        # A page's <img> or <a> sends no Origin, but a browser says where it stands. Only the page itself may be linked to.
        site = headers.get("sec-fetch-site", "none")
        if not own or (path != "/" and site in ("cross-site", "same-site") and origin not in self._origins):
            said = origin or "another site"
            hint = "server.origins names those that may"
            return shaped(InvalidArguments(f"pages of {said[:200]!r} may not call this server", remedy=hint), 403)
        length = headers.get("content-length", "0")
        if not (length.isascii() and length.isdigit()) or int(length) > BODY_MAX_BYTES:
            return shaped(TooLarge(f"a body has at most {BODY_MAX_BYTES:,} bytes", remedy="send less"))
        return None


def _cors(origin: str) -> dict[str, str]:
    return {
        "access-control-allow-origin": origin,
        "access-control-allow-methods": "GET, POST, DELETE",
        "access-control-allow-headers": CORS_HEADERS,
        "access-control-expose-headers": "retry-after, mcp-session-id, x-execution-id, x-response-id",
        "access-control-max-age": "600",
        "cross-origin-resource-policy": "cross-origin",
        "vary": "origin",
    }


def _is_any(host: str) -> bool:
    return host in ("", "0.0.0.0", "::")  # noqa: S104 - compared, not bound


def shaped(error: CormorantError, status: int | None = None) -> JSONResponse:
    """An error in the one shape; `status` where HTTP has a word of its own for it."""
    headers = {"retry-after": str(int(error.retry_after) + 1)} if error.retry_after is not None else {}
    return JSONResponse(error.as_dict(), status_code=status or error.http, headers=headers)


def _bounded(receive: Receive) -> Receive:
    """A body without a length is counted as it comes."""
    seen = 0

    async def counted() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > BODY_MAX_BYTES:
            raise TooLarge(f"a body has at most {BODY_MAX_BYTES:,} bytes", remedy="send less")
        return message

    return counted


def _with_headers(send: Send, headers: Mapping[str, str]) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            present = {name.lower() for name, _ in message["headers"]}
            extra = [(name.encode(), value.encode()) for name, value in headers.items() if name.encode() not in present]
            message = {**message, "headers": [*message["headers"], *extra]}
        await send(message)

    return sending
