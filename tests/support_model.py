"""A chat model on loopback that says what a test tells it to, over the OpenAI-compatible API, streamed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

Reply = Callable[[dict[str, Any]], list[dict[str, Any]] | tuple[int, str]]


@asynccontextmanager
async def model_server(reply: Reply) -> AsyncIterator[tuple[str, list[dict[str, Any]]]]:
    """Its base URL and the requests it got. `reply` makes the deltas of the stream, or a status and a body."""
    asked: list[dict[str, Any]] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        fields = dict(line.split(": ", 1) for line in head.split("\r\n")[1:] if ": " in line)
        request = json.loads(await reader.readexactly(int(fields["content-length"])))
        asked.append(request | {"_authorization": fields.get("authorization", "")})
        made = reply(request)
        if not isinstance(made, tuple) and not request.get("stream"):
            made = (200, _whole(made))
        if isinstance(made, tuple):
            body = made[1].encode()
            start = f"HTTP/1.1 {made[0]} X\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n"
            writer.write(start.encode() + body)
        else:
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")
            for delta in made:
                writer.write(_chunk(delta, None))
                await writer.drain()
            writer.write(_chunk({}, "stop") + _usage() + b"data: [DONE]\n\n")
        await writer.drain()
        writer.close()
        await writer.wait_closed()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}/v1", asked


def _chunk(delta: dict[str, Any], finish: str | None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
    return f"data: {json.dumps(chunk)}\n\n".encode()


def _usage() -> bytes:
    """What the model says the call cost, in the last chunk."""
    usage = {"prompt_tokens": 7, "completion_tokens": 5, "total_tokens": 12}
    chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [], "usage": usage}
    return f"data: {json.dumps(chunk)}\n\n".encode()


def _whole(deltas: list[dict[str, Any]]) -> str:
    """The deltas as one message, for a request that does not stream."""
    message: dict[str, Any] = {"role": "assistant", "content": "".join(delta.get("content") or "" for delta in deltas) or None}
    message |= {key: value for delta in deltas for key, value in delta.items() if key == "tool_calls"}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if "tool_calls" in message else "stop"}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    return json.dumps({"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage})
