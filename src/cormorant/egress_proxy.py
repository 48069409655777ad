"""A forward proxy that enforces the egress policy for programs that are not ours: a browser, git, a video downloader.

It resolves names itself, checks every address, dials the literal, and lets a tunnel carry TLS alone, with the name that
was asked for. Plain requests come in absolute form (RFC 9112 3.2.2), one per connection. Every decision is one JSON line.

    proxy = EgressProxy(policy)
    async with proxy.serving("127.0.0.1", 3128) as port: ...
"""

from __future__ import annotations

import asyncio
import json
import socket
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace

import h11

from cormorant.address import Url, parse
from cormorant.errors import CormorantError, InvalidArguments, NotAllowed, PrivateAddress, Timeout
from cormorant.policy import Policy, networks
from cormorant.transport.client_hello import NotTls, server_name
from cormorant.transport.dialling import Connect, Resolve, SystemResolver, addresses_of, connect, dial, vet

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})  # TRACE would echo a caller's secrets
PUBLIC_ONLY = ("cormorant-egress-public-only", "oz0-egress-public-only", "x-egress-public-only")
HOP_BY_HOP = frozenset(  # RFC 9110 7.6.1, and what is meant for this proxy alone
    {"connection", "keep-alive", "proxy-connection", "proxy-authorization", "proxy-authenticate", "te", "trailer", "upgrade", *PUBLIC_ONLY}
)
CHUNK_BYTES = 256 * 1024
HEAD_MAX_BYTES = 64 * 1024
HELLO_MAX_BYTES = 17 * 1024  # one TLS record and its head (RFC 8446 5.1)
HEAD_TIMEOUT_S = 15.0
CONNECT_TIMEOUT_S = 10.0
IDLE_TIMEOUT_S = 120.0

Log = Callable[[str], None]


@dataclass
class Decision:
    """One request and what became of it: a line of the log."""

    client: str
    method: str = ""
    target: str = ""
    public_only: bool = False
    address: str = ""
    allowed: bool = False
    code: str = ""
    reason: str = ""

    def line(self) -> str:
        shown = {name: value for name, value in vars(self).items() if value != ""}
        return json.dumps({"time": round(time.time(), 3), **shown}, ensure_ascii=False)


class BadRequest(Exception):
    """The client does not speak HTTP to a proxy; the text says why."""


class EgressProxy:
    """One policy, many clients. `own` are addresses of this node, which no tunnel leads back to.

    A request with a public-only header is judged without the policy's private exceptions: a server asks on behalf of
    somebody it does not trust as it trusts its operator.
    """

    def __init__(
        self,
        policy: Policy,
        *,
        resolve: Resolve | None = None,
        own: frozenset[str] | None = None,
        log: Log = lambda line: None,
        connect: Connect = connect,
        clients_max: int = 1_000,
    ) -> None:
        self.policy = policy
        self._public = replace(policy, allow_ranges=())
        self._system = SystemResolver()
        self._resolve = resolve or self._system
        self._own = own
        self._log = log
        self._connect = connect
        self._places = asyncio.Semaphore(clients_max)
        self._clients: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def serving(self, host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[int]:
        """Listen, and yield the port. On the way out every client is cut off."""
        listener = await asyncio.start_server(self._accept, host, port, limit=HEAD_MAX_BYTES)
        bound = listener.sockets[0].getsockname()
        if self._own is None:
            self._own = own_addresses(str(bound[0]))
        try:
            yield int(bound[1])
        finally:
            listener.close()
            for task in list(self._clients):
                task.cancel()
            await asyncio.gather(*self._clients, return_exceptions=True)
            self._system.close()

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(self._client(reader, writer))
        self._clients.add(task)
        task.add_done_callback(self._clients.discard)

    async def _client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        decision = Decision(str((writer.get_extra_info("peername") or ("",))[0]))
        http = h11.Connection(h11.SERVER, max_incomplete_event_size=HEAD_MAX_BYTES)
        try:
            async with self._places:
                await self._serve(http, reader, writer, decision)
        except (BadRequest, h11.RemoteProtocolError) as error:
            await self._refuse(http, writer, decision, 400, "bad_request", str(error))
        except CormorantError as error:
            await self._refuse(http, writer, decision, _status(error), error.code, error.message)
        except TimeoutError:
            await self._refuse(http, writer, decision, 504, "timeout", "the other side took too long")
        except (OSError, h11.LocalProtocolError) as error:
            decision.reason = decision.reason or f"connection lost: {type(error).__name__}"
        finally:
            if decision.method or decision.reason:
                self._log(decision.line())
            writer.close()

    async def _serve(self, http: h11.Connection, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, decision: Decision) -> None:
        async with asyncio.timeout(HEAD_TIMEOUT_S):
            request = await _request(http, reader)
        headers = [(name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in request.headers]
        decision.method, decision.target = request.method.decode("ascii"), request.target.decode("latin-1")[:500]
        decision.public_only = any(name in PUBLIC_ONLY for name, _ in headers)
        _require_one_framing(headers)
        url = _tunnel_target(decision.target) if decision.method == "CONNECT" else _plain_target(decision.method, decision.target)
        upstream = await self._dial(url, decision)
        try:
            decision.allowed = True
            if decision.method == "CONNECT":
                await self._tunnel(http, reader, writer, upstream, url, decision)
            else:
                await self._forward(http, request, headers, reader, writer, upstream, url)
        finally:
            upstream.close()

    async def _dial(self, url: Url, decision: Decision) -> socket.socket:
        """A socket to a checked address of the target. Raises: Refused, Dns, Network, Timeout."""
        policy = self._public if decision.public_only else self.policy
        policy.check_url(url)
        addresses = vet(policy, url.host, url.port, await addresses_of(url.host, url.port, self._resolve))
        for address in addresses:
            if decision.public_only and networks.special(networks.read(address)):  # a literal the operator's list names
                raise PrivateAddress(f"{url.host} is at {address}, which is not public, and the request asks for public addresses only")
            if address in (self._own or ()):
                raise PrivateAddress(f"{url.host} is at {address}, an address of this proxy's own node")
        opened = await dial(url.host, url.port, addresses, timeout_s=CONNECT_TIMEOUT_S, connect=self._connect)
        decision.address = str(opened.getpeername()[0])
        return opened

    async def _tunnel(
        self,
        http: h11.Connection,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        upstream: socket.socket,
        url: Url,
        decision: Decision,
    ) -> None:
        """CONNECT: TLS for the name that was asked for, then bytes both ways (RFC 9110 9.3.6)."""
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        early, _ = http.trailing_data
        hello = await _hello(reader, early)
        try:
            name = server_name(hello)
        except NotTls as error:
            decision.allowed = False
            raise _Cut(f"a tunnel carries TLS alone: {error}") from error
        if not _same_name(name, url.host):
            decision.allowed = False
            raise _Cut(f"the TLS handshake names {name or 'no host'}, the tunnel was for {url.host}")
        remote_reader, remote_writer = await asyncio.open_connection(sock=upstream, limit=CHUNK_BYTES)
        try:
            remote_writer.write(hello)
            await _both_ways((reader, remote_writer), (remote_reader, writer))
        finally:
            remote_writer.close()

    async def _forward(
        self,
        http: h11.Connection,
        request: h11.Request,
        headers: list[tuple[str, str]],
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        upstream: socket.socket,
        url: Url,
    ) -> None:
        """One absolute-form request, re-made for the origin: its Host is the target's, hop-by-hop fields go."""
        origin = h11.Connection(h11.CLIENT, max_incomplete_event_size=HEAD_MAX_BYTES)
        named = {word.strip().lower() for name, value in headers if name == "connection" for word in value.split(",")}
        kept = [(name, value) for name, value in headers if name not in HOP_BY_HOP | named | {"host"}]
        sent = h11.Request(method=request.method, target=url.target, headers=[("host", url.authority), *kept, ("connection", "close")])
        remote_reader, remote_writer = await asyncio.open_connection(sock=upstream, limit=CHUNK_BYTES)
        try:
            remote_writer.write(origin.send(sent))
            await _relay_request(http, reader, origin, remote_writer)
            await _relay_response(origin, remote_reader, http, writer)
        finally:
            remote_writer.close()

    async def _refuse(
        self, http: h11.Connection, writer: asyncio.StreamWriter, decision: Decision, status: int, code: str, reason: str
    ) -> None:
        decision.allowed, decision.code, decision.reason = False, code, reason
        if http.our_state not in (h11.IDLE, h11.SEND_RESPONSE) or (decision.method == "CONNECT" and decision.address):
            return  # an answer has begun, or a tunnel is open: there is nobody to tell but the log
        body = json.dumps({"code": code, "message": reason}).encode()
        head = f"HTTP/1.1 {status} {'Forbidden' if status == 403 else 'Refused'}\r\ncontent-type: application/json\r\n"
        writer.write(f"{head}content-length: {len(body)}\r\nconnection: close\r\n\r\n".encode() + body)
        try:
            await writer.drain()
        except OSError:
            return  # the client is gone: it needs no answer


class _Cut(NotAllowed):
    """A tunnel that was opened and then not used as it was asked for."""

    @property
    def code(self) -> str:
        return "not_allowed"


def own_addresses(bound: str) -> frozenset[str]:
    """The addresses this node answers on: the one that is listened on, and what its own name resolves to."""
    found = {bound}
    if networks.read(bound).is_unspecified:
        found |= {"127.0.0.1", "::1"}
    with suppress(OSError):  # a node whose own name has no address is not reached by it either
        found |= {str(entry[4][0]) for entry in socket.getaddrinfo(socket.gethostname(), None)}
    for family, far in ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1")):
        try:
            with socket.socket(family, socket.SOCK_DGRAM) as probe:  # nothing is sent: the kernel only picks a source address
                probe.connect((far, 9))
                found.add(str(probe.getsockname()[0]))
        except OSError:
            continue
    return frozenset(found)


def _status(error: CormorantError) -> int:
    if isinstance(error, Timeout):
        return 504
    return 403 if error.http == 403 else 400 if isinstance(error, InvalidArguments) else 502


async def _request(http: h11.Connection, reader: asyncio.StreamReader) -> h11.Request:
    while True:
        event = http.next_event()
        if isinstance(event, h11.Request):
            return event
        if event is not h11.NEED_DATA:
            raise BadRequest("the client left before it asked for anything")
        http.receive_data(await reader.read(CHUNK_BYTES))


def _require_one_framing(headers: list[tuple[str, str]]) -> None:
    """One Host, and one way to tell where the body ends (RFC 9112 3.2 and 6.3): no second reading is possible."""
    names = [name for name, _ in headers]
    if names.count("host") > 1:
        raise BadRequest("more than one Host")
    if "transfer-encoding" in names and "content-length" in names:
        raise BadRequest("both Content-Length and Transfer-Encoding")
    if names.count("content-length") > 1 or names.count("transfer-encoding") > 1:
        raise BadRequest("a framing field stands twice")


def _tunnel_target(target: str) -> Url:
    """The authority of a CONNECT (RFC 9112 3.2.3): a host and a port, both given."""
    host, _, port = target.rpartition(":")
    if not host or not port.isascii() or not port.isdigit() or any(c in host for c in "/@?#"):
        raise BadRequest("CONNECT wants host:port")
    return parse(f"https://{target}/")


def _plain_target(method: str, target: str) -> Url:
    if method not in METHODS:
        raise BadRequest(f"the method {method} is not forwarded")
    if not target.lower().startswith("http://"):
        raise BadRequest("a proxy wants an absolute http:// address; for https use CONNECT")
    return parse(target)


async def _hello(reader: asyncio.StreamReader, early: bytes) -> bytes:
    """The client's first TLS record, whole."""
    async with asyncio.timeout(HEAD_TIMEOUT_S):
        found = early
        while len(found) < 5:
            found += await _some(reader)
        length = int.from_bytes(found[3:5], "big")
        while found[0] == 0x16 and len(found) < 5 + length <= HELLO_MAX_BYTES:
            found += await _some(reader)
    return found


async def _some(reader: asyncio.StreamReader) -> bytes:
    data = await reader.read(CHUNK_BYTES)
    if not data:
        raise ConnectionResetError("the client left")
    return data


def _same_name(name: str, host: str) -> bool:
    if not name:  # RFC 6066 3: an address literal is never sent as a server name
        return _is_literal(host)
    return name.lower().removesuffix(".") == host


def _is_literal(host: str) -> bool:
    try:
        networks.read(host)
    except ValueError:
        return False
    return True


Pipe = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def _both_ways(up: Pipe, down: Pipe) -> None:
    """Bytes until both sides have ended, or nothing came either way for a while."""
    last = time.monotonic()

    async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal last
        while data := await reader.read(CHUNK_BYTES):
            last = time.monotonic()
            writer.write(data)
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()

    pumps = {asyncio.create_task(pump(*up)), asyncio.create_task(pump(*down))}
    try:
        pending = pumps
        while pending:
            done, pending = await asyncio.wait(pending, timeout=IDLE_TIMEOUT_S, return_when=asyncio.FIRST_COMPLETED)
            if any(task.exception() for task in done) or (not done and time.monotonic() - last > IDLE_TIMEOUT_S):
                return
    finally:
        for task in pumps:
            task.cancel()
        await asyncio.gather(*pumps, return_exceptions=True)


def _events(http: h11.Connection) -> Iterator[object]:
    while (event := http.next_event()) not in (h11.NEED_DATA, h11.PAUSED):
        yield event
        if isinstance(event, h11.EndOfMessage | h11.ConnectionClosed):
            return


async def _relay_request(http: h11.Connection, reader: asyncio.StreamReader, origin: h11.Connection, writer: asyncio.StreamWriter) -> None:
    """The request's body, piece by piece."""
    while True:
        for event in _events(http):
            if isinstance(event, h11.Data):
                writer.write(origin.send(event) or b"")
                await writer.drain()
            elif isinstance(event, h11.EndOfMessage):
                writer.write(origin.send(h11.EndOfMessage()) or b"")
                return
            else:
                raise ConnectionResetError("the client left in the middle of its request")
        http.receive_data(await reader.read(CHUNK_BYTES))


async def _relay_response(origin: h11.Connection, reader: asyncio.StreamReader, http: h11.Connection, writer: asyncio.StreamWriter) -> None:
    """The answer, parsed and made anew, so that a malformed one goes no further."""
    while True:
        for event in _events(origin):
            if isinstance(event, h11.InformationalResponse):
                continue
            if isinstance(event, h11.Response):
                kept = [(name, value) for name, value in event.headers if name.decode("latin-1") not in HOP_BY_HOP]
                event = h11.Response(status_code=event.status_code, reason=event.reason, headers=[*kept, (b"connection", b"close")])
            elif isinstance(event, h11.EndOfMessage):
                writer.write(http.send(h11.EndOfMessage()) or b"")
                await writer.drain()
                return
            elif not isinstance(event, h11.Data):
                raise ConnectionResetError("the origin left in the middle of its answer")
            writer.write(http.send(event) or b"")
            await writer.drain()
        async with asyncio.timeout(IDLE_TIMEOUT_S):
            origin.receive_data(await reader.read(CHUNK_BYTES))
