"""HTTP/1.1 on one connection (RFC 9112), client side, strict where two readers could disagree.

`read_head` and `Body` are pure: bytes in, values out. `Wire` is the asyncio protocol around them: one request at a time,
bytes counted, reading paused while nobody takes them. Written for this project because the message layers at hand cost
more than the rest of a fetch together (see bench/fetch_throughput.py) and are lenient about what they let pass.
"""

from __future__ import annotations

import asyncio
import re
import ssl
from collections.abc import Iterable
from typing import cast

HEAD_MAX_BYTES = 64 * 1024  # of one response head; real ones with long security policies reach about 20 KiB
HEAD_MAX_LINES = 200
INFORMATIONAL_MAX = 16  # 1xx answers before the real one
CHUNK_LINE_MAX_BYTES = 4096
TRAILER_MAX_BYTES = 16 * 1024
READ_BYTES = 32 * 1024  # taken from the socket at once; asyncio's own 256 KiB would overshoot every limit by as much
SHUTDOWN_S = 2.0  # for the farewell of TLS; asyncio's own limit keeps a socket open for 30 s
HIGH_WATER = 32 * 1024  # unread bytes at which reading from the socket pauses

_STATUS = re.compile(rb"HTTP/1\.([01])[ ]+([1-9][0-9]{2})(?: ([^\r\n]*))?")
_FIELDS = re.compile(rb"(?:\r\n[!#$%&'*+\-.^_`|~0-9A-Za-z]+:[^\r\n\x00]*)*")  # what a sound head is after its status line
_NAME = re.compile(rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")  # RFC 9110 5.6.2
_REQUEST = re.compile(r"[A-Z]+ [\x21-\x7e]+ HTTP/1\.1(?:\r\n[!#$%&'*+\-.^_`|~0-9A-Za-z]+: [^\r\n\x00]*)*")
_HEX = re.compile(rb"[0-9A-Fa-f]{1,16}")
_BAD_VALUE = re.compile(rb"[\x00\r]")


class Malformed(Exception):
    """The other side did not speak HTTP/1.x; the text says what was wrong. Becomes a Network error one room up."""


class Broken(Exception):
    """The connection ended before the message did. `early` means not one byte of an answer had come."""

    def __init__(self, message: str, *, early: bool = False) -> None:
        super().__init__(message)
        self.early = early


class Head:
    """Status line and header fields of one response, names in lower case, in the order sent.

    `lax` says that something in it could be read in two ways, so the connection is not used again.
    """

    __slots__ = ("_first", "fields", "http10", "lax", "status")

    def __init__(self, status: int, lines: Iterable[str], *, http10: bool = False, lax: bool = False) -> None:
        self.status = status
        self.http10 = http10
        self.lax = lax
        self.fields: list[tuple[str, str]] = []
        self._first: dict[str, str] = {}
        for line in lines:
            name, _, value = line.partition(":")
            name, value = name.lower(), value.strip(" \t")
            self.fields.append((name, value))
            self._first[name] = f"{self._first[name]}, {value}" if name in self._first else value

    def get(self, name: str, default: str = "") -> str:
        """The value of a field; several fields of one name are joined by a comma (RFC 9110 5.3)."""
        return self._first.get(name, default)

    def all(self, name: str) -> list[str]:
        """The values of every field of that name."""
        if name not in self._first:
            return []
        return [value for key, value in self.fields if key == name]

    def joined(self) -> dict[str, str]:
        """Every field by name; `set-cookie` can't be joined and is left out."""
        return {name: value for name, value in self._first.items() if name != "set-cookie"}


def read_head(raw: bytes) -> Head:
    """Parse one head, without its closing empty line. Raises: Malformed."""
    found = _STATUS.match(raw)
    if found and _FIELDS.fullmatch(raw, found.end()) and raw.count(b"\r\n") <= HEAD_MAX_LINES:
        text = raw[found.end() + 2 :].decode("latin-1")
        return Head(int(found[2]), text.split("\r\n") if text else (), http10=found[1] == b"0")
    return _read_odd_head(raw)


def _read_odd_head(raw: bytes) -> Head:
    """The same, line by line, for heads with folds or bare line feeds, and to say what is wrong with the others."""
    lines = raw.split(b"\r\n")
    lax = False
    if b"\n" in raw.replace(b"\r\n", b""):  # RFC 9112 2.2 lets a recipient take a bare LF; a reused connection must not
        lines, lax = raw.replace(b"\r\n", b"\n").split(b"\n"), True
    found = _STATUS.fullmatch(lines[0])
    if not found:
        raise Malformed(f"the answer is not HTTP/1.x: it begins {lines[0][:60]!r}")
    if len(lines) > HEAD_MAX_LINES:
        raise Malformed(f"more than {HEAD_MAX_LINES} header fields")
    sound: list[str] = []
    for line in lines[1:]:
        if line[:1] in (b" ", b"\t"):  # obs-fold, RFC 9112 5.2: a user agent replaces it by a space
            if not sound:
                raise Malformed("the first header field is a continuation line")
            sound[-1] += " " + line.strip().decode("latin-1")
            lax = True
            continue
        name, colon, value = line.partition(b":")
        if not colon or not _NAME.fullmatch(name):
            raise Malformed(f"a header line can't be read: {line[:60]!r}")
        if _BAD_VALUE.search(value):
            raise Malformed(f"the field {name.decode()!r} holds a control character")
        sound.append(line.decode("latin-1"))
    return Head(int(found[2]), sound, http10=found[1] == b"0", lax=lax)


def write_head(method: str, target: str, headers: Iterable[tuple[str, str]]) -> bytes:
    """A request head. Raises: ValueError where a part holds what would end its line."""
    lines = [f"{method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in headers)]
    text = "\r\n".join(lines)
    if not _REQUEST.fullmatch(text) or text.count("\r\n") != len(lines) - 1:
        raise ValueError("a name is no header name, or a value holds a line break or NUL")
    return text.encode("latin-1") + b"\r\n\r\n"


class Body:
    """Where a response's body ends (RFC 9112 6.3). `feed` takes what came and gives what belongs to the body."""

    def __init__(self, head: Head, method: str) -> None:
        self.done = False
        self.reusable = not head.lax
        self.length: int | None = None  # what Content-Length promised
        self.got = 0
        self._left: int | None = None
        self._chunked = False
        self._stage = "size"
        self._trailer = 0
        coding = head.get("transfer-encoding")
        length = _length(head)
        if method == "HEAD" or head.status in (204, 304):
            self.done = True
        elif coding:
            if coding.lower().strip() != "chunked":
                raise Malformed(f"the transfer coding {coding[:60]!r} is not one HTTP/1.1 clients ask for")
            self._chunked = True
            # Both lengths at once is how responses are smuggled (RFC 9112 6.3, 11.2): chunked wins, the connection dies.
            self.reusable = self.reusable and length is None and not head.http10
        elif length is not None:
            self.length = self._left = length
            self.done = length == 0
        else:
            self.reusable = False  # ends with the connection
        connection = head.get("connection").lower()
        if (connection or head.http10) and ("close" in connection or (head.http10 and "keep-alive" not in connection)):
            self.reusable = False

    def feed(self, buffer: bytearray) -> bytes:
        """Take body bytes from the front of `buffer`; what stays is not understood yet, or belongs to no body."""
        if self._chunked:
            return self._feed_chunks(buffer)
        if self._left is None:
            piece = bytes(buffer)
            buffer.clear()
        else:
            if len(buffer) <= self._left:
                piece = bytes(buffer)
                buffer.clear()
            else:
                piece = bytes(buffer[: self._left])
                del buffer[: self._left]
            self._left -= len(piece)
            self.done = self._left == 0
        self.got += len(piece)
        return piece

    def end(self) -> None:
        """The connection ended. Raises: Broken where the body had not."""
        if self.done:
            return
        if self._chunked:
            raise Broken(f"the connection ended inside a chunked body, after {self.got} bytes")
        if self._left is not None:
            raise Broken(f"the connection ended after {self.got} of {self.length} bytes")
        self.done = True

    def _feed_chunks(self, buffer: bytearray) -> bytes:
        pieces: list[bytes] = []
        while not self.done:
            if self._stage == "data":
                if not buffer:
                    break
                left = cast(int, self._left)
                piece = bytes(buffer[:left])
                del buffer[:left]
                self._left = left - len(piece)
                pieces.append(piece)
                self.got += len(piece)
                if self._left == 0:
                    self._stage = "end"
            elif self._stage == "end":
                if len(buffer) < 2:
                    break
                if buffer[:2] != b"\r\n":
                    raise Malformed("a chunk does not end where its length says")
                del buffer[:2]
                self._stage = "size"
            else:
                line = _line(buffer)
                if line is None:
                    break
                self._take_line(line)
        return b"".join(pieces)

    def _take_line(self, line: bytes) -> None:
        if self._stage == "trailer":
            self._trailer += len(line) + 2
            if self._trailer > TRAILER_MAX_BYTES:
                raise Malformed("endless trailer fields")
            self.done = not line
            return
        size = line.partition(b";")[0].strip(b" \t")
        if not _HEX.fullmatch(size):
            raise Malformed(f"a chunk length can't be read: {line[:40]!r}")
        self._left = int(size, 16)
        self._stage = "data" if self._left else "trailer"


def _length(head: Head) -> int | None:
    """What Content-Length says, where it is there. Raises: Malformed for two lengths or for what is none."""
    text = head.get("content-length")
    if not text:
        return None
    if "," in text:
        values = {value.strip() for value in text.split(",")}
        if len(values) > 1:
            raise Malformed("two different Content-Length values")
        text = values.pop()
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise Malformed("Content-Length is not a number")
    return int(text)


def _line(buffer: bytearray) -> bytes | None:
    """The next CRLF line of a chunked body, taken out of the buffer. A bare LF is no line end here (RFC 9112 7.1)."""
    end = buffer.find(b"\n")
    if end < 0:
        if len(buffer) > CHUNK_LINE_MAX_BYTES:
            raise Malformed("a chunk length line without end")
        return None
    if end == 0 or buffer[end - 1] != 0x0D:
        raise Malformed("a chunk line ends in a bare line feed")
    line = bytes(buffer[: end - 1])
    del buffer[: end + 1]
    if b"\r" in line or len(line) > CHUNK_LINE_MAX_BYTES:
        raise Malformed("a chunk length line can't be read")
    return line


class Wire(asyncio.BufferedProtocol):
    """One connection, one exchange at a time: `send`, `head`, then `read` until it gives nothing."""

    def __init__(self) -> None:
        self.received = 0  # bytes, since the connection was made
        self.closed = False
        self.used = 0  # exchanges finished
        self.idle_since = 0.0
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._buffer = bytearray()
        # A view, not the bytearray: asyncio's TLS fills what `get_buffer` gave in slices, and a slice of a bytearray is a
        # copy, so that all but the first TLS record of a read would be lost (seen in CPython 3.11.7).
        self._incoming = memoryview(bytearray(READ_BYTES))
        self._eof = False
        self._lost: Exception | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._writable: asyncio.Future[None] | None = None
        self._paused = False
        self._idle = False
        self._body: Body | None = None
        self._expired = False

    # What asyncio calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def get_buffer(self, _: int) -> memoryview:
        return self._incoming

    def buffer_updated(self, size: int) -> None:
        if self._idle:  # an answer nobody asked for must never be taken for the next one
            self.abort()
            return
        self.received += size
        self._buffer += self._incoming[:size]
        if len(self._buffer) > HIGH_WATER and not self._paused and self._transport:
            self._paused = True
            self._transport.pause_reading()
        self._wake()

    def eof_received(self) -> bool:
        self._eof = True
        self._wake()
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        self.closed = self._eof = True
        self._lost = exc
        self._wake()
        if self._writable and not self._writable.done():
            self._writable.set_result(None)

    def pause_writing(self) -> None:
        self._writable = self._loop.create_future()

    def resume_writing(self) -> None:
        if self._writable and not self._writable.done():
            self._writable.set_result(None)
        self._writable = None

    # What transport calls

    @property
    def usable(self) -> bool:
        """Whether another request may be sent."""
        return not self.closed and not self._eof and not self._buffer

    async def send(self, data: bytes) -> None:
        """Write, and wait while the other side is not taking it. A broken pipe shows when the answer is read."""
        self._idle = False
        if self._transport and not self.closed:
            self._transport.write(data)
        if self._writable:
            await self._writable

    async def exchange(self, message: bytes, method: str, *, limit_s: float) -> Head:
        """Send a request and read the head of its answer. Raises: Malformed, Broken, TimeoutError."""
        # A timer of our own: asyncio.timeout does the same for three times the cost, on every request.
        timer = self._loop.call_later(limit_s, self._expire)
        try:
            await self.send(message)
            return await self.head(method)
        except Broken:
            if self._expired:
                raise TimeoutError from None
            raise
        finally:
            timer.cancel()

    def _expire(self) -> None:
        self._expired = True
        self.abort()

    async def head(self, method: str) -> Head:
        """The response head, past the informational ones. Raises: Malformed, Broken."""
        for _ in range(INFORMATIONAL_MAX):
            head = read_head(await self._head_bytes())
            if head.status == 101 or head.status >= 200:
                break
        else:
            raise Malformed("endless informational answers")
        if head.status == 101:
            raise Malformed("the server switched protocols though nobody asked (101)")
        self._body = Body(head, method)
        return head

    async def read(self) -> bytes:
        """The next bytes of the body, empty at its end. Raises: Malformed, Broken."""
        body = self._body
        if body is None:
            return b""
        while True:
            piece = body.feed(self._buffer) if self._buffer and not body.done else b""
            if piece or body.done:
                return piece
            if self._eof:
                if self._lost:
                    raise Broken(f"the connection broke after {body.got} bytes of the body ({self._lost})") from self._lost
                body.end()
                return b""
            await self._more()

    def finish(self) -> bool:
        """The exchange is over: True where the connection can take another one; else it is closed."""
        self.used += 1
        body, self._body = self._body, None
        if body and body.done and body.reusable and self.usable:
            self._idle = True
            return True
        self.abort()
        return False

    @property
    def promised(self) -> int | None:
        """The length of the body where the head says it."""
        return self._body.length if self._body else None

    async def start_tls(self, context: ssl.SSLContext, host: str, timeout_s: float) -> None:
        """TLS inside a tunnel whose head has been read. Raises: OSError, Malformed where bytes came before it."""
        if self._buffer or self._transport is None:
            raise Malformed("the proxy sent bytes before the tunnel was used")
        self._body = None
        inner = await self._loop.start_tls(
            self._transport, self, context, server_hostname=host, ssl_handshake_timeout=timeout_s + 1, ssl_shutdown_timeout=SHUTDOWN_S
        )
        self._transport = cast(asyncio.Transport, inner)

    def close(self) -> None:
        if self._transport:
            self._transport.close()
        self.closed = True

    def abort(self) -> None:
        """Close now, without TLS farewell and without waiting: the other side may be hostile."""
        if self._transport:
            self._transport.abort()
        self.closed = True

    async def _head_bytes(self) -> bytes:
        while True:
            end, width = _head_end(self._buffer) if self._buffer else (-1, 0)
            if end >= 0:
                raw = bytes(self._buffer[:end])
                del self._buffer[: end + width]
                return raw
            if len(self._buffer) > HEAD_MAX_BYTES:
                raise Malformed(f"a response head of more than {HEAD_MAX_BYTES // 1024} KiB")
            if self._buffer and not b"HTTP/1.".startswith(self._buffer[:7]):
                raise Malformed(f"the answer is not HTTP/1.x: it begins {bytes(self._buffer[:60])!r}")
            if self._eof:
                why = f" ({self._lost})" if self._lost else ""
                raise Broken(f"the connection ended before an answer{why}", early=not self._buffer)
            await self._more()

    async def _more(self) -> None:
        if self._paused and self._transport:
            self._paused = False
            self._transport.resume_reading()
        self._waiter = self._loop.create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    def _wake(self) -> None:
        if self._waiter and not self._waiter.done():
            self._waiter.set_result(None)


def _head_end(buffer: bytearray) -> tuple[int, int]:
    """Where the empty line is that closes a head, and how wide it is; -1 while it has not come."""
    end = buffer.find(b"\r\n\r\n")
    bare = buffer.find(b"\n\n", 0, end + 4 if end >= 0 else len(buffer))
    mixed = buffer.find(b"\n\r\n", 0, end if end >= 0 else len(buffer)) if bare < 0 else -1
    if bare >= 0 and (end < 0 or bare < end):
        return bare, 2
    if mixed >= 0 and (end < 0 or mixed < end - 1):
        return mixed, 3
    return end, 4
