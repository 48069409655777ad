"""Servers on 127.0.0.1 for tests of the network rooms: scripted answers, real sockets, nothing left behind."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import trustme

from cormorant.policy import Policy
from cormorant.transport import Options, Transport

LOOPBACK = Policy(allow_ranges=("127.0.0.0/8",))


@dataclass
class Request:
    """One request as it arrived."""

    method: str
    target: str
    headers: dict[str, str]
    raw: bytes
    peer_port: int

    @property
    def host(self) -> str:
        return self.headers.get("host", "")


Answer = bytes | Callable[[Request], bytes]


def answer(status: int = 200, body: bytes | str = b"", headers: Mapping[str, str] | Sequence[tuple[str, str]] = (), **more: str) -> bytes:
    """A whole HTTP/1.1 response. `more`: further fields, with `_` for `-`."""
    data = body.encode() if isinstance(body, str) else body
    fields = list(headers.items()) if isinstance(headers, Mapping) else list(headers)
    fields += [(name.replace("_", "-"), value) for name, value in more.items()]
    if not any(name.lower() in ("content-length", "transfer-encoding") for name, _ in fields):
        fields.append(("Content-Length", str(len(data))))
    head = "".join(f"{name}: {value}\r\n" for name, value in fields)
    return f"HTTP/1.1 {status} X\r\n{head}\r\n".encode("latin-1") + data


@dataclass
class Server:
    """A listening server and what it was asked."""

    port: int
    requests: list[Request] = field(default_factory=list)
    connections: int = 0
    open_now: int = 0

    def url(self, path: str = "/", host: str = "site.test", scheme: str = "http") -> str:
        return f"{scheme}://{host}:{self.port}{path}"

    @property
    def targets(self) -> list[str]:
        return [request.target for request in self.requests]


async def read_request(reader: asyncio.StreamReader, peer_port: int = 0) -> Request | None:
    """The next request, body included, or None at the end."""
    try:
        raw = await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
    first, *lines = raw.decode("latin-1").split("\r\n")
    method, target, _ = first.split(" ", 2)
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Request(method, target, headers, raw + body, peer_port)


Handler = Callable[[Request, asyncio.StreamWriter], Awaitable[bool | None]]


@asynccontextmanager
async def serving(
    pages: Mapping[str, Answer] | Handler, *, host: str = "127.0.0.1", tls: ssl.SSLContext | None = None, family: int = socket.AF_INET
) -> AsyncIterator[Server]:
    """A server with scripted answers by target (`"*"` for the rest), or a handler that writes what it likes.

    A handler returns True to keep the connection.
    """
    tasks: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        state.connections += 1
        state.open_now += 1
        peer = writer.get_extra_info("peername")
        try:
            while request := await read_request(reader, peer[1]):
                state.requests.append(request)
                if callable(pages):
                    if not await pages(request, writer):
                        break
                    continue
                found = pages.get(request.target, pages.get("*", answer(404, "no such page")))
                writer.write(found(request) if callable(found) else found)
                await writer.drain()
        except (ConnectionError, ssl.SSLError, asyncio.IncompleteReadError):
            pass
        finally:
            state.open_now -= 1
            writer.close()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(serve(reader, writer))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    listener = await asyncio.start_server(accept, host, 0, ssl=tls, family=family, limit=1 << 22)
    state = Server(listener.sockets[0].getsockname()[1])
    try:
        yield state
    finally:
        listener.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.sleep(0)  # the loop closes the sockets


class Scripted:
    """A resolver with a table, that keeps what it was asked. A list of lists answers call by call."""

    def __init__(
        self, table: Mapping[str, Sequence[str] | Sequence[Sequence[str]]] | None = None, *, otherwise: Sequence[str] = ("127.0.0.1",)
    ) -> None:
        self.table = dict(table or {})
        self.otherwise = list(otherwise)
        self.asked: list[str] = []

    async def __call__(self, host: str, port: int) -> list[str]:
        self.asked.append(host)
        found = self.table.get(host, self.otherwise)
        if found and not isinstance(found[0], str):
            turn = self.asked.count(host) - 1
            return list(found[min(turn, len(found) - 1)])
        return [str(one) for one in found]


class Disguised(socket.socket):
    """A loopback socket that says it is connected to another address: how a test plays a public one."""

    peer: tuple[str, int] = ("", 0)

    def getpeername(self) -> tuple[str, int]:
        return self.peer


def dials_to(port: int, dialled: list[str] | None = None, *, lying: str = "") -> Callable[[str, int], Awaitable[socket.socket]]:
    """A dialler that brings every address to a port of this machine. What the policy allows is decided before it."""

    async def connect(address: str, asked_port: int) -> socket.socket:
        if dialled is not None:
            dialled.append(address)
        opened = Disguised(socket.AF_INET, socket.SOCK_STREAM)
        opened.setblocking(False)
        opened.peer = (lying or address, asked_port)
        await asyncio.get_running_loop().sock_connect(opened, ("127.0.0.1", port))
        return opened

    return connect


@asynccontextmanager
async def transport(policy: Policy = LOOPBACK, *, connect: object = None, **arguments: object) -> AsyncIterator[Transport]:
    """A transport whose names all lead to 127.0.0.1 unless `resolve` says otherwise."""
    arguments.setdefault("resolve", Scripted())
    made = Transport(policy, **arguments)  # type: ignore[arg-type]
    if connect:
        made._dialler._connect = connect  # type: ignore[assignment]
    try:
        yield made
    finally:
        await made.aclose()


def quick(**changes: object) -> Options:
    """Options with short limits."""
    return Options(**{"connect_timeout_s": 5.0, "first_byte_timeout_s": 5.0} | changes)  # type: ignore[arg-type]


class Authority:
    """A certificate authority of the test, and a server context that has a certificate for whatever name is asked."""

    def __init__(self, folder: Path) -> None:
        self.ca = trustme.CA()
        self.bundle = str(folder / "ca.pem")
        self.ca.cert_pem.write_to_path(self.bundle)
        self._contexts: dict[str, ssl.SSLContext] = {}

    def context_for(self, *names: str, **more: Any) -> ssl.SSLContext:
        """A server context with one certificate for these names."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.ca.issue_cert(*names, **more).configure_cert(context)
        return context

    def for_any_name(self) -> ssl.SSLContext:
        base = self.context_for("fallback.test")

        def choose(connection: ssl.SSLObject | ssl.SSLSocket, name: str | None, _: ssl.SSLContext) -> None:
            if name:
                if name not in self._contexts:
                    self._contexts[name] = self.context_for(name)
                connection.context = self._contexts[name]

        base.sni_callback = choose  # type: ignore[assignment]
        return base
