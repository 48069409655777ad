"""Content codings in bounded steps (RFC 9110 8.4): what comes out is limited, whatever went in.

A 10 KiB body can hold ten megabytes, so the limit is on decoded bytes and is kept inside each step: a bomb costs one
step of memory, not its size. At most two codings may be stacked; each is decoded whether it was asked for or not.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Iterator
from typing import Any, Protocol

import brotli

from cormorant.errors import Network, UnsupportedType

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

STEP_BYTES = 64 * 1024
LAYERS_MAX = 2
ZSTD_WINDOW_LOG_MAX = 23  # 8 MiB, the most RFC 9659 allows for this coding
ACCEPTED = "gzip, deflate, br, zstd"
# Words that servers write into Content-Encoding and that change nothing about the body: charsets, and what an upload
# once had (object stores hand `aws-chunked` back).
_NO_CODING = frozenset({"", "identity", "none", "utf-8", "utf8", "iso-8859-1", "us-ascii", "binary", "8bit", "7bit", "aws-chunked"})


class Broken(ValueError):
    """The bytes are not what their coding says."""


class _Layer(Protocol):
    """One coding. `step` takes new input and gives at most STEP_BYTES; call it with nothing while `pending`."""

    pending: bool
    complete: bool

    def step(self, data: bytes) -> bytes: ...


class _Zlib:
    """gzip (several members, RFC 1952 2.2) and deflate, which servers send with and without its zlib wrapper."""

    def __init__(self, *, gzip: bool) -> None:
        self.pending = False
        self.complete = False
        self._gzip = gzip
        self._inner: Any = zlib.decompressobj(wbits=31) if gzip else None
        self._rest = b""

    def step(self, data: bytes) -> bytes:
        data = self._rest + data
        if self._inner is None:
            if not data:
                return b""
            wrapped = data[0] & 0x0F == 8 and (len(data) < 2 or (data[0] << 8 | data[1]) % 31 == 0)
            self._inner = zlib.decompressobj(wbits=15 if wrapped else -15)
        if self.complete:
            if not self._gzip or not data.startswith(b"\x1f\x8b"):
                self._rest, self.pending = b"", False  # padding after the end is ignored, as browsers do
                return b""
            self._inner, self.complete = zlib.decompressobj(wbits=31), False
        try:
            out: bytes = self._inner.decompress(data, STEP_BYTES)
        except zlib.error as error:
            raise Broken(str(error)) from error
        self.complete = self._inner.eof
        self._rest = self._inner.unused_data if self.complete else self._inner.unconsumed_tail
        self.pending = bool(self._rest) or len(out) == STEP_BYTES
        return out


class _Brotli:
    def __init__(self) -> None:
        self.pending = False
        self._inner = brotli.Decompressor()

    @property
    def complete(self) -> bool:
        return bool(self._inner.is_finished())

    def step(self, data: bytes) -> bytes:
        if self.complete:
            self.pending = False
            return b""
        try:
            out: bytes = self._inner.process(data, output_buffer_limit=STEP_BYTES)
        except brotli.error as error:
            raise Broken(str(error)) from error
        # It may say that it can take more while it still holds output: a step that came out full is asked again.
        self.pending = not self.complete and (len(out) >= STEP_BYTES or not self._inner.can_accept_more_data())
        return out


class _Zstd:
    def __init__(self) -> None:
        self.pending = False
        self.complete = False
        self._inner = self._new()
        self._rest = b""

    @staticmethod
    def _new() -> Any:
        return zstd.ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: ZSTD_WINDOW_LOG_MAX})

    def step(self, data: bytes) -> bytes:
        data = self._rest + data
        if self.complete:
            if not data:
                self.pending = False
                return b""
            self._inner, self.complete = self._new(), False
        try:
            out: bytes = self._inner.decompress(data, max_length=STEP_BYTES)
        except (zstd.ZstdError, EOFError) as error:
            raise Broken(str(error)) from error
        self.complete = self._inner.eof
        self._rest = self._inner.unused_data if self.complete else b""
        self.pending = bool(self._rest) or (not self.complete and not self._inner.needs_input)
        return out


_LAYERS: dict[str, Any] = {
    "gzip": lambda: _Zlib(gzip=True),
    "x-gzip": lambda: _Zlib(gzip=True),
    "deflate": lambda: _Zlib(gzip=False),
    "br": _Brotli,
    "zstd": _Zstd,
}


class Decoder:
    """Undoes a Content-Encoding. Raises: UnsupportedType for a coding nobody here knows, or too many of them."""

    def __init__(self, content_encoding: str) -> None:
        self.names: tuple[str, ...] = ()
        self._layers: list[_Layer] = []
        if not content_encoding:
            return
        names = [name for text in content_encoding.lower().split(",") if (name := text.strip()) not in _NO_CODING]
        if len(names) > LAYERS_MAX:
            raise UnsupportedType(f"the body has {len(names)} content codings on top of each other: {', '.join(names)[:200]}")
        unknown = next((name for name in names if name not in _LAYERS), None)
        if unknown:
            raise UnsupportedType(f"the content coding {unknown[:60]!r} can't be decoded", remedy=f"this client reads {ACCEPTED}")
        self.names = tuple(reversed(names))
        self._layers = [_LAYERS[name]() for name in self.names]  # the last one applied comes off first

    @property
    def identity(self) -> bool:
        return not self._layers

    def pieces(self, data: bytes) -> Iterator[bytes]:
        """What `data` decodes to, one step of at most STEP_BYTES at a time. Raises: Network."""
        return self._through(0, data) if self._layers else iter((data,))

    def end(self) -> None:
        """No more input comes. Raises: Network where the coded stream had not ended."""
        for name, layer in zip(self.names, self._layers, strict=True):
            if not layer.complete:
                raise Network(f"the {name} body ends in the middle", retryable=True)

    def _through(self, n: int, data: bytes) -> Iterator[bytes]:
        """Every piece the layers from `n` on make of `data`, one step at a time."""
        layer = self._layers[n]
        try:
            piece = layer.step(data)
            while True:
                if piece and n + 1 < len(self._layers):
                    yield from self._through(n + 1, piece)
                elif piece:
                    yield piece
                if not layer.pending:
                    return
                piece = layer.step(b"")
        except Broken as error:
            raise Network(f"the body is not valid {self.names[n]}: {error}") from error
