"""Server-sent events: write them, split the large ones, read them back from any pieces of bytes. Pure.

Reading follows the WHATWG HTML standard, section 9.2.6. Many readers on the way have a small buffer, so an event over
`LIMIT_BYTES` travels as `<event>_delta_sse` chunks, each whole in itself and under the limit, that join in any order.
"""

from __future__ import annotations

import codecs
import json
from collections import deque
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any
from unicodedata import combining

from cormorant.errors import ProviderError, TooLarge

LIMIT_BYTES = 64 * 1024  # of one event on the wire, field names and line ends included
EVENT_MAX_BYTES = 16 * 1024 * 1024  # what a reader keeps of one event, joined chunks included
CHUNK_SUFFIX = "_delta_sse"
HEARTBEAT = b": heartbeat\n\n"
TERMINAL = {"tool_end", "error", "agent_processing_complete", "agent_processing_error"}  # the last two of research
ALIASES = {"final_result": "tool_end"}  # what an older server calls the end


@dataclass(frozen=True)
class Message:
    """One event as it came. `id` is the last event id the stream had given by then."""

    data: str
    event: str = "message"
    id: str = ""
    retry_ms: int | None = None

    def json(self) -> Any:
        """The payload. Raises: ValueError when it is no JSON."""
        return json.loads(self.data)


@dataclass
class Parser:
    """Bytes in, events out. A line, a character or a CR LF may be split anywhere between two pieces."""

    max_bytes: int = EVENT_MAX_BYTES
    last_id: str = ""
    retry_ms: int | None = None
    comments: int = 0
    _decoder: Any = field(default_factory=lambda: codecs.getincrementaldecoder("utf-8")("replace"))
    _line: list[str] = field(default_factory=list)
    _data: list[str] = field(default_factory=list)
    _event: str = ""
    _size: int = 0
    _begun: bool = False
    _after_cr: bool = False

    def feed(self, piece: bytes | str) -> list[Message]:
        """The events that are complete now. Raises: TooLarge when one outgrows `max_bytes`."""
        text = piece if isinstance(piece, str) else self._decoder.decode(piece)
        if text and not self._begun:
            self._begun = True
            text = text.removeprefix("\ufeff")
        found: list[Message] = []
        for part in self._lines(text):
            message = self._take(part)
            if message is not None:
                found.append(message)
        return found

    def _lines(self, text: str) -> list[str]:
        """The lines that ended. CR, LF and CR LF end one, and nothing else does."""
        if self._after_cr and text:
            text = text.removeprefix("\n")
            self._after_cr = False
        self._after_cr = text.endswith("\r") or (self._after_cr and not text)
        *ended, rest = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        if ended:
            ended[0] = "".join(self._line) + ended[0]
            self._line.clear()
        if rest:
            self._line.append(rest)
        self._size += len(text.encode("utf-8", "surrogatepass"))
        if self._size > self.max_bytes and (not ended or "" not in ended):
            raise TooLarge(f"an event is over {self.max_bytes} bytes", remedy="raise the reader's limit, or ask for less")
        return ended

    def _take(self, line: str) -> Message | None:
        if not line:
            return self._dispatch()
        if line.startswith(":"):
            self.comments += 1
            return None
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            self._data.append(value)
        elif name == "event":
            self._event = value
        elif name == "id" and "\0" not in value:
            self.last_id = value
        elif name == "retry" and value.isascii() and value.isdigit():
            self.retry_ms = int(value)
        return None

    def _dispatch(self) -> Message | None:
        data, event = self._data, self._event
        self._data, self._event, self._size = [], "", 0
        return Message("\n".join(data), event or "message", self.last_id, self.retry_ms) if data else None


def encoded(event: str, data: str, *, id: str | int | None = None) -> bytes:
    """One event on the wire. Line ends in `data` become several data lines; none can start a field of its own."""
    lines = [f"id: {_one_line(str(id))}"] if id is not None else []
    lines.append(f"event: {_one_line(event)}")
    lines += [f"data: {line}" for line in data.replace("\r\n", "\n").replace("\r", "\n").split("\n")]
    return ("\n".join(lines) + "\n\n").encode("utf-8", "replace")


def comment(text: str) -> bytes:
    """A line that readers skip, e.g. a heartbeat."""
    return f": {_one_line(text)}\n\n".encode()


def _one_line(text: str) -> str:
    return text.replace("\r", " ").replace("\n", " ").replace("\0", "")


def frames(event: str, payload: Any, *, id: str | int | None = None, limit: int = LIMIT_BYTES) -> list[bytes]:
    """The event as one frame, or as chunks that are each at most `limit` bytes on the wire.

    Only the last chunk carries the id: a reader that reconnects between two chunks asks for the event again. Raises:
    ValueError when `limit` has no room for a chunk's own fields.
    """
    data = json.dumps(payload, ensure_ascii=False, separators=(",", ":"))
    data = data.encode("utf-8", "backslashreplace").decode()  # a lone surrogate becomes its JSON escape
    whole = encoded(event, data, id=id)
    if len(whole) <= limit:
        return [whole]
    chunk_id = sha256(f"{id}\0{event}\0{data}".encode()).hexdigest()[:16]
    room = limit - len(_chunk(event, chunk_id, 10**7, 10**7, "", id=id))
    if room < 16:
        raise ValueError(f"a limit of {limit} bytes leaves no room for a chunk of {event}")
    parts = _cut(data, room)
    return [_chunk(event, chunk_id, n, len(parts), part, id=id) for n, part in enumerate(parts)]


def _chunk(event: str, chunk_id: str, index: int, total: int, part: str, *, id: str | int | None) -> bytes:
    last = index >= total - 1
    fields = {
        "chunk_id": chunk_id,
        "chunk_index": index,
        "total_chunks": total,
        "original_event_type": event,
        "chunk_data": part,
        "is_last_chunk": last,
    }
    return encoded(event + CHUNK_SUFFIX, json.dumps(fields, ensure_ascii=False, separators=(",", ":")), id=id if last else None)


def _cut(text: str, room: int) -> list[str]:
    """The text in parts of at most `room` bytes once escaped as JSON; a cut never parts a character from its marks."""
    parts: list[str] = []
    start = size = 0
    at = 0
    while at < len(text):
        end = _cluster_end(text, at)
        cost = len(json.dumps(text[at:end], ensure_ascii=False).encode()) - 2
        if size + cost > room and at > start:
            parts.append(text[start:at])
            start, size = at, 0
        if cost > room:  # a pile of marks with no end: then between code points
            end = at + 1
            cost = len(json.dumps(text[at:end], ensure_ascii=False).encode()) - 2
        size += cost
        at = end
    return [*parts, text[start:]]


# Zero-width joiner, the two presentation selectors, the five skin tones.
_JOINERS = "\u200d\ufe0e\ufe0f\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff"


def _cluster_end(text: str, at: int) -> int:
    """Past one character as a reader sees it: base, combining marks, joined emoji."""
    end = at + 1
    while end < len(text) and (combining(text[end]) or text[end] in _JOINERS or text[end - 1] == _JOINERS[0]):
        end += 1
    return end


@dataclass
class Joiner:
    """Messages in, whole events out: chunks are kept until all of theirs are there, in whatever order they come.

    `final_result` counts as `tool_end`. A chunk that comes twice counts once; one that contradicts its siblings is an error.
    """

    max_bytes: int = EVENT_MAX_BYTES
    _held: dict[str, dict[int, str]] = field(default_factory=dict)
    _totals: dict[str, int] = field(default_factory=dict)
    _done: deque[str] = field(default_factory=lambda: deque(maxlen=64))

    def feed(self, message: Message) -> Message | None:
        """The event this message is, or completes; None while chunks are missing.

        Raises: ProviderError when a chunk can't be read, TooLarge when the joined event outgrows `max_bytes`.
        """
        if not message.event.endswith(CHUNK_SUFFIX):
            return _renamed(message)
        chunk = _read_chunk(message)
        name, index, total = str(chunk["chunk_id"]), chunk["chunk_index"], chunk["total_chunks"]
        if name in self._done:
            return None
        if self._totals.setdefault(name, total) != total or not 0 <= index < total:
            raise ProviderError(f"chunk {index} of {total} does not fit the others of {name[:40]}", remedy="ask for the stream again")
        parts = self._held.setdefault(name, {})
        parts.setdefault(index, chunk["chunk_data"])
        if sum(len(part) for held in self._held.values() for part in held.values()) > self.max_bytes:
            raise TooLarge(f"an event is over {self.max_bytes} bytes", remedy="raise the reader's limit, or ask for less")
        if len(parts) < total:
            return None
        del self._held[name], self._totals[name]
        self._done.append(name)
        event = str(chunk.get("original_event_type") or message.event.removesuffix(CHUNK_SUFFIX))
        return _renamed(replace(message, event=event, data="".join(parts[n] for n in range(total))))

    @property
    def waiting(self) -> int:
        """How many events are not whole yet."""
        return len(self._held)


def _read_chunk(message: Message) -> dict[str, Any]:
    try:
        chunk = message.json()
        counted = isinstance(chunk, dict) and isinstance(chunk.get("chunk_index"), int) and isinstance(chunk.get("total_chunks"), int)
        if counted and "chunk_id" in chunk and isinstance(chunk.get("chunk_data"), str):
            return dict(chunk)
    except ValueError:
        pass
    raise ProviderError(f"a {message.event} event is no chunk: {message.data[:80]}", remedy="ask for the stream again")


def _renamed(message: Message) -> Message:
    return replace(message, event=ALIASES.get(message.event, message.event))


@dataclass
class Reader:
    """Bytes in, whole events out: a `Parser` and a `Joiner` in a row, for a client of our HTTP surface."""

    parser: Parser = field(default_factory=Parser)
    joiner: Joiner = field(default_factory=Joiner)

    def feed(self, piece: bytes | str) -> list[Message]:
        """The events that are whole now. Raises: as `Parser.feed` and `Joiner.feed`."""
        joined = [self.joiner.feed(message) for message in self.parser.feed(piece)]
        return [message for message in joined if message is not None]
