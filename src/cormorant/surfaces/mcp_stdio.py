"""The pipe to an MCP client: standard input and output, for the protocol alone, one message a line.

Blocking reads and writes are done by two daemon threads on descriptors of our own, so that a client that neither reads nor
closes can't keep this process alive, and a signal ends it at once. Everything else that prints or reads meets standard
error or the null device, children included.

A line that is no message is answered with an error, as JSON-RPC asks, and the session goes on.
"""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, TypeVar

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp import types
from mcp.server import Server
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

LINE_MAX_BYTES = 4 * 1024 * 1024  # of one message; what a tool is asked is small, and memory is not the client's
CHUNK_BYTES = 64 * 1024
FLUSH_S = 5.0  # what a client that has closed its side may take to read the rest
SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")
# Valid inside JSON texts, but line ends to many readers of lines (Node's readline, Python's splitlines).
LINE_ENDS = {0x85: "\\u0085", 0x2028: "\\u2028", 0x2029: "\\u2029"}

T = TypeVar("T")
Incoming = MemoryObjectSendStream[SessionMessage | Exception]
Outgoing = MemoryObjectReceiveStream[SessionMessage]


async def serve(server: Server[Any]) -> None:
    """Serve one client until it leaves or a signal comes. Either way is a normal end."""
    with _wire() as (source, sink), _until_signalled():
        incoming, inbox = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        outbox, outgoing = anyio.create_memory_object_stream[SessionMessage](0)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_receive, source, incoming, outbox.clone())
            tasks.start_soon(_send, sink, outgoing, tasks.cancel_scope)
            await server.run(inbox, outbox, server.create_initialization_options())
            await outbox.aclose()
            tasks.cancel_scope.deadline = anyio.current_time() + FLUSH_S


@contextmanager
def _wire() -> Iterator[tuple[int, int]]:
    """Standard input and output moved to descriptors that nobody else has, and back at the end."""
    source, sink, null = os.dup(0), os.dup(1), os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(2, 1)
    os.close(null)
    try:
        yield source, sink
    finally:  # the duplicates stay open: a thread may still be blocked on one, and its number must not be used again
        os.dup2(source, 0)
        os.dup2(sink, 1)


@contextmanager
def _until_signalled() -> Iterator[None]:
    """Cancels the block when the process is asked to end."""
    loop, scope = asyncio.get_running_loop(), anyio.CancelScope()
    kinds = [getattr(signal, name) for name in SIGNALS if hasattr(signal, name)]
    with suppress(NotImplementedError):  # where loops know no signal handlers, the default action ends the process
        for kind in kinds:
            loop.add_signal_handler(kind, scope.cancel)
    try:
        with scope:
            yield
    finally:
        with suppress(NotImplementedError):
            for kind in kinds:
                loop.remove_signal_handler(kind)


async def _receive(source: int, incoming: Incoming, replies: MemoryObjectSendStream[SessionMessage]) -> None:
    """Messages off the pipe until its end; an answer at once for a line that is none."""
    async with incoming, replies:
        async for line in _lines(source):
            try:
                message = _message(line)
            except ValueError as error:
                await replies.send(SessionMessage(_refused(line, error)))
            else:
                await incoming.send(SessionMessage(message))


async def _lines(source: int) -> AsyncIterator[bytes]:
    """The lines of the pipe; of one that is too long, a little more than the limit."""
    line = bytearray()
    while chunk := await _in_thread(partial(os.read, source, CHUNK_BYTES)):
        first, *others = chunk.split(b"\n")
        line += first if len(line) <= LINE_MAX_BYTES else b""
        for other in others:
            if line.strip():
                yield bytes(line)
            line = bytearray(other)


def _message(line: bytes) -> types.JSONRPCMessage:
    """Raises: ValueError for a line that is none."""
    if len(line) > LINE_MAX_BYTES:
        raise ValueError(f"a message is at most {LINE_MAX_BYTES} bytes")
    return types.jsonrpc_message_adapter.validate_json(line, by_name=False)


def _refused(line: bytes, error: ValueError) -> types.JSONRPCError:
    if not isinstance(error, ValidationError):
        code, said = types.INVALID_REQUEST, str(error)
    elif error.errors(include_input=False)[0]["type"] == "json_invalid":
        code, said = types.PARSE_ERROR, "the line is not JSON; send one message a line"
    elif line.lstrip().startswith(b"["):
        code, said = types.INVALID_REQUEST, "batches are not supported; send one message a line"
    else:
        code, said = types.INVALID_REQUEST, 'not a JSON-RPC 2.0 message: it needs "jsonrpc": "2.0" and a method or a result'
    return types.JSONRPCError(jsonrpc="2.0", id=None, error=types.ErrorData(code=code, message=said))


async def _send(sink: int, outgoing: Outgoing, session: anyio.CancelScope) -> None:
    """Messages onto the pipe; a client that is gone ends the session."""
    async with outgoing:
        async for message in outgoing:
            line = message.message.model_dump_json(by_alias=True, exclude_unset=True).translate(LINE_ENDS).encode() + b"\n"
            try:
                while line:
                    line = line[await _in_thread(partial(os.write, sink, line)) :]
            except OSError:
                session.cancel()
                return


async def _in_thread(work: Callable[[], T]) -> T:
    """The work's result, from a daemon thread: one that is abandoned does not keep the interpreter from ending."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def settle(result: T | None, error: BaseException | None) -> None:
        if not done.done():
            done.set_exception(error) if error else done.set_result(result)  # type: ignore[arg-type]

    def run() -> None:
        result, failed = None, None
        try:
            result = work()
        except OSError as error:
            failed = error
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(settle, result, failed)

    threading.Thread(target=run, daemon=True).start()
    return await done
