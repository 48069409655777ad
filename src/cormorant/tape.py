"""A session on tape: every exchange written to a WARC file, and played from it with the network left alone.

    web = Web(record="run.warc.gz")        # what comes is written down as well
    web = Web(replay="run.warc.gz")        # what comes is taken from the file; what it does not hold is a ReplayMiss

The file is the web's own archive format (ISO 28500), each record a gzip member of its own, so that a crash costs the last
one at most and other tools read the rest. An exchange is a `request` and a `response` record; a body is kept as it was
read, without its content coding, so that no secret hides in a compressed one. What did not come over the network (the
results of a search, a file, an id, an account of time) is a `metadata` record. Played in the order recorded; a question
that is asked more often than it was recorded gets its last answer.
"""

from __future__ import annotations

import asyncio
import json
import os
import threading
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar
from urllib.parse import quote

from cormorant.errors import CormorantError, InvalidArguments, NotConfigured, ReplayMiss
from cormorant.gates import Leaving
from cormorant.search import Found
from cormorant.store.held import Held, Item, decoded, encoded
from cormorant.transport.exchange import Answered, Content
from cormorant.transport.wire import Head

PIECE_BYTES = 32 * 1024
_KEY = "Cormorant-Key"  # what was asked, as one hash: the order of the records and this are all a player needs
_WIRE_BYTES = "Cormorant-Wire-Bytes"
_ERROR = "Cormorant-Error"
_KEPT = "X-Archive-Orig-"  # fields that frame the body as it was sent; the one in the file has no framing left
_FRAMING = frozenset({"transfer-encoding", "content-encoding"})
_PRIVATE = frozenset({"cookie", "authorization", "proxy-authorization"})  # of a request, never written down

T = TypeVar("T")
Redact = Callable[[str], str]


@dataclass(frozen=True)
class Codec(Generic[T]):
    """How a fact is written as JSON, and read again."""

    write: Callable[[T], Any]
    read: Callable[[Any], T]


def _written(item: Item) -> dict[str, Any]:
    text, bodies = encoded(Held("web_fetch", (item,)))
    return {"held": text.decode(), "bodies": {name: body.decode("utf-8", "surrogatepass") for name, body in bodies.items()}}


def _read(data: Mapping[str, Any]) -> Item:
    return decoded(data["held"].encode(), lambda name: str(data["bodies"][name]).encode("utf-8", "surrogatepass")).items[0]


PLAIN: Codec[Any] = Codec(lambda value: value, lambda value: value)
ITEM: Codec[Item] = Codec(_written, _read)
FOUND: Codec[Found] = Codec(lambda found: _written(Item(found=found)), lambda data: _read(data).found or Found("", ""))


class Tape(Protocol):
    """What stands between a session and the world."""

    kept: bool  # whether what comes is to be found on a tape

    async def exchange(self, asked: Leaving, send: Callable[[], Awaitable[Answered]]) -> Answered:
        """The answer to a request that the policy and the gates have passed."""
        ...

    async def fact(self, kind: str, key: Any, ask: Callable[[], Awaitable[T]], codec: Codec[T]) -> T:
        """What `ask` says: something that is not an HTTP exchange and may be different the next time."""
        ...

    def close(self) -> None: ...


class NoTape:
    """Nothing is written down."""

    kept = False

    async def exchange(self, asked: Leaving, send: Callable[[], Awaitable[Answered]]) -> Answered:
        return await send()

    async def fact(self, kind: str, key: Any, ask: Callable[[], Awaitable[T]], codec: Codec[T]) -> T:
        return await ask()

    def close(self) -> None:
        """Nothing is open."""


def open_tape(record: str | Path | None, replay: str | Path | None, redact: Redact) -> Tape:
    """The tape of a session. Raises: InvalidArguments, NotConfigured."""
    if record and replay:
        raise InvalidArguments("a session is recorded or replayed, not both", remedy="leave one of record and replay out")
    if record:
        return Recorder(Path(record).expanduser(), redact)
    return Player(Path(replay).expanduser(), redact) if replay else NoTape()


def _warcio() -> Any:
    try:
        for part in ("archiveiterator", "exceptions", "statusandheaders", "warcwriter"):
            import_module(f"warcio.{part}")
        return import_module("warcio")
    except ImportError as error:
        raise NotConfigured("recording and replaying need the extra `tape`", remedy="pip install 'cormorant[tape]'") from error


def _key(kind: str, what: str) -> str:
    return sha256(f"{kind}\n{what}".encode("utf-8", "surrogatepass")).hexdigest()


def _key_of(asked: Leaving, redact: Redact) -> str:
    return _key(asked.method, f"{redact(asked.url)}\n{sha256(_redacted(asked.body, redact)).hexdigest()}")


def _key_of_fact(kind: str, key: Any, redact: Redact) -> str:
    return _key(kind, redact(json.dumps(key, sort_keys=True, default=str)))


def _redacted(body: bytes, redact: Redact) -> bytes:
    """The bytes without a secret's value; latin-1 takes every byte there and back."""
    return redact(body.decode("latin-1")).encode("latin-1")


class Recorder:
    """Asks the world and writes down what it says. Goes on at the end of a file that is there."""

    kept = True

    def __init__(self, path: Path, redact: Redact) -> None:
        self._warcio = _warcio()
        self._redact = redact
        self._lock = threading.Lock()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.fdopen(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600), "ab")
        except OSError as error:
            raise InvalidArguments(f"{path} can't be written: {error.strerror}", remedy="name a file that can be made") from error
        self._writer = self._warcio.warcwriter.WARCWriter(self._file, gzip=path.suffix == ".gz", warc_version="1.1")
        if not self._file.tell():
            info = {"software": "cormorant", "format": "WARC file version 1.1"}
            self._write([self._writer.create_warcinfo_record(path.name, info)])

    async def exchange(self, asked: Leaving, send: Callable[[], Awaitable[Answered]]) -> Answered:
        try:
            answered = await send()
        except CormorantError as error:
            await asyncio.to_thread(self._keep_failure, asked, error)
            raise
        return _Recorded(answered, lambda *what: self._keep_answer(asked, answered.head, *what))

    async def fact(self, kind: str, key: Any, ask: Callable[[], Awaitable[T]], codec: Codec[T]) -> T:
        try:
            told = await ask()
        except CormorantError as error:
            await asyncio.to_thread(self._keep_fact, kind, key, {"error": error.as_dict()})
            raise
        await asyncio.to_thread(self._keep_fact, kind, key, {"fact": codec.write(told)})
        return told

    def close(self) -> None:
        with self._lock:
            self._file.close()

    def _keep_answer(self, asked: Leaving, head: Head, content: Content, error: CormorantError | None) -> str:
        about = {_KEY: _key_of(asked, self._redact), _WIRE_BYTES: str(content.wire_bytes)}
        about |= {"WARC-Truncated": "length"} if content.truncated else {}
        about |= {_ERROR: self._redact(json.dumps(error.as_dict()))} if error else {}
        fields = [(f"{_KEPT}{name}" if name in _FRAMING else name, self._told(name, value)) for name, value in head.fields]
        response = self._record(asked.url, "response", _redacted(content.body, self._redact), about, f"{head.status} ", fields)
        self._write([*self._request(asked, response), response])
        return str(response.rec_headers.get_header("WARC-Date"))

    def _keep_failure(self, asked: Leaving, error: CormorantError) -> None:
        body = self._redact(json.dumps({"error": error.as_dict()})).encode()
        failed = self._record(asked.url, "metadata", body, {_KEY: _key_of(asked, self._redact)})
        self._write([*self._request(asked, failed), failed])

    def _keep_fact(self, kind: str, key: Any, told: Mapping[str, Any]) -> None:
        body = self._redact(json.dumps(told, ensure_ascii=False, default=str)).encode("utf-8", "surrogatepass")
        self._write([self._record(f"urn:cormorant:{quote(kind)}", "metadata", body, {_KEY: _key_of_fact(kind, key, self._redact)})])

    def _request(self, asked: Leaving, answer: Any) -> list[Any]:
        fields = [(name, self._redact(value)) for name, value in asked.headers.items() if name not in _PRIVATE]
        about = {"WARC-Concurrent-To": answer.rec_headers.get_header("WARC-Record-ID")}
        about["WARC-Date"] = answer.rec_headers.get_header("WARC-Date")
        return [
            self._record(asked.url, "request", _redacted(asked.body, self._redact), about, f"{asked.method} {asked.url} HTTP/1.1", fields)
        ]

    def _record(
        self, url: str, kind: str, body: bytes, about: dict[str, str], line: str = "", fields: list[tuple[str, str]] | None = None
    ) -> Any:
        made = self._warcio.statusandheaders.StatusAndHeaders
        about.setdefault("WARC-Date", time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()))
        heads = None
        if fields is not None:
            heads = made(self._redact(line), fields, protocol="HTTP/1.1" if kind == "response" else "", is_http_request=kind == "request")
        kinds = {} if fields is not None else {"warc_content_type": "application/json"}
        return self._writer.create_warc_record(
            self._redact(url), kind, payload=BytesIO(body), length=len(body), http_headers=heads, warc_headers_dict=about, **kinds
        )

    def _told(self, name: str, value: str) -> str:
        """A field's value as it may be kept. A cookie is a stranger's secret: its name stays, and that it changed."""
        if name != "set-cookie":
            return self._redact(value)
        pair, semicolon, rest = value.partition(";")
        label, _, secret = pair.partition("=")
        return f"{label}={sha256(secret.encode()).hexdigest()[:12]}{semicolon}{rest}"

    def _write(self, records: list[Any]) -> None:
        with self._lock:
            if not self._file.closed:
                for record in records:
                    self._writer.write_record(record)
                self._file.flush()


class _Recorded:
    """An answer that is written down once it was read, or left."""

    def __init__(self, inner: Answered, keep: Callable[[Content, CormorantError | None], str]) -> None:
        self.head = inner.head
        self.at = inner.at
        self._inner = inner
        self._keep = keep
        self._kept = False

    @property
    def promised(self) -> int | None:
        return self._inner.promised

    @property
    def wire_bytes(self) -> int:
        return self._inner.wire_bytes

    async def content(self, most: int, limit_for: Callable[[bytes], int] | None = None) -> Content:
        try:
            content = await self._inner.content(most, limit_for)
        except CormorantError as error:
            await self._done(Content(b"", False, self.wire_bytes), error)
            raise
        await self._done(content)
        return content

    async def chunks(self) -> AsyncIterator[bytes]:
        came = bytearray()
        failed: CormorantError | None = None
        try:
            async for piece in self._inner.chunks():
                came += piece
                yield piece
        except CormorantError as error:
            failed = error
            raise
        finally:
            self._keep_once(Content(bytes(came), False, self.wire_bytes), failed)

    async def _done(self, content: Content, error: CormorantError | None = None) -> None:
        await asyncio.to_thread(self._keep_once, content, error)

    def _keep_once(self, content: Content, error: CormorantError | None = None) -> None:
        if not self._kept:
            self._kept = True
            self.at = self._keep(content, error)

    def finish(self) -> None:
        self._keep_once(Content(b"", False, self.wire_bytes))
        self._inner.finish()


class Player:
    """Answers from a file alone. Bodies stay there until they are asked for."""

    kept = True

    def __init__(self, path: Path, redact: Redact) -> None:
        self._warcio = _warcio()
        self._redact = redact
        self._path = path
        self._places: dict[str, list[int]] = defaultdict(list)
        self._next: dict[str, int] = defaultdict(int)
        try:
            with path.open("rb") as file:
                records = self._warcio.archiveiterator.ArchiveIterator(file)
                for record in records:
                    if key := record.rec_headers.get_header(_KEY):
                        self._places[key].append(records.get_record_offset())
        except (OSError, self._warcio.exceptions.ArchiveLoadFailed) as error:
            raise InvalidArguments(f"{path} can't be played: {error}", remedy="name a file that --record has made") from error

    async def exchange(self, asked: Leaving, send: Callable[[], Awaitable[Answered]]) -> Answered:
        record = await asyncio.to_thread(self._take, _key_of(asked, self._redact))
        if record is None:
            raise ReplayMiss(
                f"the tape holds no {asked.method} {self._redact(asked.url)}",
                remedy="record the session again, or ask what it asked",
                url=self._redact(asked.url),
            )
        if record.rec_type == "metadata":
            raise _error_of(json.loads(record.raw))
        return _Played(record)

    async def fact(self, kind: str, key: Any, ask: Callable[[], Awaitable[T]], codec: Codec[T]) -> T:
        record = await asyncio.to_thread(self._take, _key_of_fact(kind, key, self._redact))
        if record is None:
            shown = self._redact(json.dumps(key, ensure_ascii=False, default=str))[:300]
            raise ReplayMiss(f"the tape holds no {kind} for {shown}", remedy="record the session again, or ask what it asked")
        told = json.loads(record.raw)
        if "error" in told:
            raise _error_of(told)
        return codec.read(told["fact"])

    def close(self) -> None:
        """Nothing is open."""

    def _take(self, key: str) -> _Record | None:
        places = self._places.get(key)
        if not places:
            return None
        at = self._next[key]
        self._next[key] = min(at + 1, len(places) - 1)
        with self._path.open("rb") as file:
            file.seek(places[at])
            record = next(iter(self._warcio.archiveiterator.ArchiveIterator(file)))
            return _Record(record.rec_type, record.rec_headers, record.http_headers, record.raw_stream.read())


@dataclass(frozen=True)
class _Record:
    rec_type: str
    headers: Any
    http: Any
    raw: bytes


class _Played:
    """An answer as it was recorded."""

    def __init__(self, record: _Record) -> None:
        about = record.headers.get_header
        lines = (f"{name.removeprefix(_KEPT)}: {value}" for name, value in record.http.headers)
        self.head = Head(int(record.http.get_statuscode()), lines)
        self.at = str(about("WARC-Date"))
        self.wire_bytes = int(about(_WIRE_BYTES))
        length = self.head.get("content-length")
        self.promised = int(length) if length.isdigit() and not self.head.get("transfer-encoding") else None
        self._body = record.raw
        self._truncated = about("WARC-Truncated") is not None
        self._error = about(_ERROR)

    async def content(self, most: int, limit_for: Callable[[bytes], int] | None = None) -> Content:
        self._fail()
        most = limit_for(self._body) if limit_for else most
        return Content(self._body[:most], self._truncated or len(self._body) > most, self.wire_bytes)

    async def chunks(self) -> AsyncIterator[bytes]:
        for start in range(0, len(self._body), PIECE_BYTES):
            yield self._body[start : start + PIECE_BYTES]
        self._fail()

    def _fail(self) -> None:
        if self._error:
            raise _error_of({"error": json.loads(self._error)})

    def finish(self) -> None:
        """Nothing is open."""


def _error_of(told: Mapping[str, Any]) -> CormorantError:
    error = Item(error=told["error"]).failure()
    assert error is not None
    return error
