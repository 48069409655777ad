"""A client of our own HTTP server: calls, runs, and events that survive a broken connection.

Built on the same transport as everything else. Large events come in chunks that are joined in any order; a stream that
breaks is taken up again where it was, so every event is seen once and in order; an older server's `final_result` counts
as the end.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Any, Self

from cormorant import sse
from cormorant.errors import CormorantError, InvalidArguments, Network, ProviderError, RateLimited, Timeout, Unreachable, family
from cormorant.policy import Policy
from cormorant.transport import Resource, Transport
from cormorant.transport.resource import Options

JSON = {"content-type": "application/json"}
RETRIES = 5  # reconnects of one stream without any event between them
WAIT_S = 0.5  # before the first reconnect; doubled each time
RESULT_MAX_BYTES = sse.EVENT_MAX_BYTES


@dataclass(frozen=True)
class Happened:
    """One event of a run: its number, its name and its payload."""

    id: str
    event: str
    data: Any


class Client:
    """Talks to `cormorant serve` at `base`. Close it, or use it as an async context manager.

    `key` is sent as X-API-KEY where the server asks for one. `timeout_s` bounds a call, and a stream's whole connection.
    """

    def __init__(self, base: str = "http://127.0.0.1:8300", *, key: str = "", timeout_s: float = 300.0, wait_s: float = WAIT_S) -> None:
        self.base = base.rstrip("/")
        self._credentials = {"x-api-key": key} if key else {}
        self._timeout_s, self._wait_s = timeout_s, wait_s
        self._transport = Transport(Policy(), options=Options())

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The result of one tool (`search`, `fetch`, `get`, `answer`, `research`). Raises: what the tool raises."""
        return await self._json("POST", f"/v1/{tool.removeprefix('web_')}", arguments)

    async def tools(self) -> list[dict[str, Any]]:
        """The tools there are, with their JSON Schemas."""
        return list((await self._json("GET", "/v1/tools"))["tools"])

    async def start(self, tool: str, **arguments: Any) -> str:
        """Begin a run and return its id; it goes on when this client leaves."""
        started = await self._json("POST", f"/v1/tools/{_named(tool)}/execute", {"inputs": arguments})
        return str(started["execution_id"])

    async def run(self, execution_id: str) -> dict[str, Any]:
        """The record of a run."""
        return await self._json("GET", f"/v1/executions/{execution_id}")

    async def cancel(self, execution_id: str) -> dict[str, Any]:
        """Stop a run; returns its record."""
        return await self._json("DELETE", f"/v1/executions/{execution_id}")

    async def events(self, execution_id: str, *, after: str = "0") -> AsyncGenerator[Happened, None]:
        """A run's events past `after`, up to and including the one that ends it; a broken stream is taken up again.

        Raises: Unreachable when the server stays away, and what it answers when it refuses.
        """
        seen, failures = after, 0
        path = f"{self.base}/v1/executions/{execution_id}/stream"
        while True:
            try:
                async for happened in self._once(path, seen):
                    failures = 0
                    seen = happened.id or seen
                    yield happened
                    if happened.event in sse.TERMINAL:
                        return
                broken: CormorantError = Network("the stream ended before its last event", url=path, retryable=True)
            except (Unreachable, ProviderError) as error:
                if error.status is not None and not error.retryable:
                    raise
                broken = error
            failures += 1
            if failures > RETRIES:
                raise broken
            await asyncio.sleep(max(self._wait_s * 2 ** (failures - 1), broken.retry_after or 0.0))

    async def stream(self, tool: str, **arguments: Any) -> AsyncGenerator[Happened, None]:
        """Start a run and follow it; leaving early cancels it."""
        execution_id = await self.start(tool, **arguments)
        ended = False
        try:
            async for happened in self.events(execution_id):
                ended = happened.event in sse.TERMINAL
                yield happened
        finally:
            if not ended:
                await self.cancel(execution_id)

    async def _once(self, path: str, seen: str) -> AsyncGenerator[Happened, None]:
        """The events of one connection. A fresh reader each time: chunks of a broken event are sent again."""
        reader = sse.Reader()
        headers = {"accept": "text/event-stream", "last-event-id": seen}
        opened = self._transport.stream(
            "GET", path, headers=headers, credentials=self._credentials, purpose="client", trusted=True, timeout_s=self._timeout_s
        )
        async with opened as answered:
            if answered.status != 200:
                body = b"".join([piece async for piece in answered.chunks()])
                raise _error(body, answered.status, path)
            async for piece in answered.chunks():
                for message in reader.feed(piece):
                    yield Happened(message.id, message.event, _payload(message))

    async def _json(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        got: Resource = await self._transport.request(
            method,
            self.base + path,
            headers=JSON if body is not None else {},
            body=json.dumps(body).encode() if body is not None else b"",
            credentials=self._credentials,
            purpose="client",
            trusted=True,
            any_status=True,
            max_bytes=RESULT_MAX_BYTES,
            timeout_s=self._timeout_s,
        )
        if not 200 <= got.status < 300:
            raise _error(got.body, got.status, self.base + path)
        found = _object(got.body)
        if found is None:
            raise ProviderError(f"{self.base + path} answered no JSON object", status=got.status, remedy="is this a cormorant server?")
        return found

    async def aclose(self) -> None:
        """Close every connection."""
        await self._transport.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


def _named(tool: str) -> str:
    return tool if tool.startswith("web_") or tool == "research" else f"web_{tool}"


def _payload(message: sse.Message) -> Any:
    try:
        return message.json()
    except ValueError as error:
        raise ProviderError(f"an event of the stream is no JSON: {message.data[:80]}", remedy="is this a cormorant server?") from error


def _object(body: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(body)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _error(body: bytes, status: int, url: str) -> CormorantError:
    """The server's own error, as the class it was there."""
    found = _object(body) or {}
    code, message = str(found.get("code") or ""), str(found.get("message") or f"the server answered {status}")
    return _kind(code, status)(
        message,
        remedy=str(found.get("hint") or ""),
        url=str(found.get("url") or url),
        status=found.get("status") or status,
        retryable=bool(found.get("retryable", status == 503)),
        retry_after=found.get("retry_after"),
    )


def _kind(code: str, status: int) -> type[CormorantError]:
    try:
        return family(code)
    except KeyError:  # a code of the surface alone, or a proxy in between that speaks for the server
        return {401: InvalidArguments, 429: RateLimited, 503: RateLimited, 504: Timeout}.get(status, ProviderError)
