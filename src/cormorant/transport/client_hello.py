"""The server name in a TLS ClientHello: what a tunnel's first bytes say about where it leads. Pure.

Reads RFC 8446 4.1.2 and RFC 6066 3, and nothing else of TLS. Every length is checked against what is there.
"""

from __future__ import annotations

HANDSHAKE = 0x16
CLIENT_HELLO = 0x01
SERVER_NAME = 0x0000
HOST_NAME = 0x00


class NotTls(ValueError):
    """The bytes are no ClientHello, or not a whole one."""


class _Bytes:
    """A cursor that never reads past the end."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def __bool__(self) -> bool:
        return self._at < len(self._data)

    def take(self, count: int) -> bytes:
        taken = self._data[self._at : self._at + count]
        if len(taken) < count:
            raise NotTls("it ends too early")
        self._at += count
        return taken

    def number(self, size: int) -> int:
        return int.from_bytes(self.take(size), "big")

    def vector(self, size: int) -> _Bytes:
        """A field that begins with its own length, `size` bytes long."""
        return _Bytes(self.take(self.number(size)))


def server_name(record: bytes) -> str:
    """The name a client asks for, as it is written, or "" where it names none. Raises: NotTls."""
    outer = _Bytes(record)
    if outer.number(1) != HANDSHAKE or outer.number(2) >> 8 != 3:
        raise NotTls("it does not begin with a TLS handshake")
    handshake = outer.vector(2)
    if handshake.number(1) != CLIENT_HELLO:
        raise NotTls("it does not begin with a ClientHello")
    hello = handshake.vector(3)
    hello.take(2 + 32)  # version, random
    hello.vector(1)  # session id
    hello.vector(2)  # cipher suites
    hello.vector(1)  # compression methods
    if not hello:
        return ""
    found: list[str] = []
    extensions = hello.vector(2)
    while extensions:
        kind, content = extensions.number(2), extensions.vector(2)
        if kind == SERVER_NAME:
            found += _names(content)
    if len(found) > 1:
        raise NotTls("it names more than one server")
    return found[0] if found else ""


def _names(content: _Bytes) -> list[str]:
    names: list[str] = []
    entries = content.vector(2)
    while entries:
        kind, name = entries.number(1), entries.take(entries.number(2))
        if kind == HOST_NAME:
            try:
                names.append(name.decode("ascii"))
            except UnicodeDecodeError:
                raise NotTls("the server name is not ASCII") from None
    return names
