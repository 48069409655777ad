"""Server-sent events: read from any pieces, split under the limit, joined in any order."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from cormorant import sse
from cormorant.errors import ProviderError, TooLarge

# What the HTML standard (9.2.6) makes of a stream: (bytes, [(event, data, id)])
STREAMS: list[tuple[str, bytes, list[tuple[str, str, str]]]] = [
    ("one line", b"data: x\n\n", [("message", "x", "")]),
    ("lines join", b"data: a\ndata: b\n\n", [("message", "a\nb", "")]),
    ("no space after the colon", b"data:a\ndata: b\ndata:  c\n\n", [("message", "a\nb\n c", "")]),
    ("field without colon", b"data\n\n", [("message", "", "")]),
    ("two empty data lines", b"data\ndata\n\n", [("message", "\n", "")]),
    ("named", b"event: tool_end\ndata: {}\n\n", [("tool_end", "{}", "")]),
    ("name without data is nothing", b"event: x\n\ndata: y\n\n", [("message", "y", "")]),
    ("id stays for the next", b"id: 7\ndata: a\n\ndata: b\n\n", [("message", "a", "7"), ("message", "b", "7")]),
    ("empty id clears", b"id: 7\ndata: a\n\nid\ndata: b\n\n", [("message", "a", "7"), ("message", "b", "")]),
    ("id with a zero byte is ignored", b"id: 7\ndata: a\n\nid: 8\x00\ndata: b\n\n", [("message", "a", "7"), ("message", "b", "7")]),
    ("comment", b": hello\ndata: a\n: x\n\n", [("message", "a", "")]),
    ("unknown field", b"foo: bar\ndata: a\n\n", [("message", "a", "")]),
    ("CR", b"data: a\rdata: b\r\r", [("message", "a\nb", "")]),
    ("CR LF", b"data: a\r\ndata: b\r\n\r\n", [("message", "a\nb", "")]),
    ("mixed ends", b"data: a\r\ndata: b\rdata: c\n\n", [("message", "a\nb\nc", "")]),
    ("byte order mark", b"\xef\xbb\xbfdata: a\n\n", [("message", "a", "")]),
    ("a second mark is text", b"\xef\xbb\xbf\xef\xbb\xbfdata: a\n\n", []),
    ("unfinished at the end is dropped", b"data: a\n\ndata: b\n", [("message", "a", "")]),
    ("other line separators are text", "data: a\u2028b\u0085c\n\n".encode(), [("message", "a\u2028b\u0085c", "")]),
    ("broken bytes are replaced", b"data: a\xffb\n\n", [("message", "a\ufffdb", "")]),
    ("wide characters", "data: 水門👩‍👧\n\n".encode(), [("message", "水門👩‍👧", "")]),
]


def read(stream: bytes, size: int) -> list[tuple[str, str, str]]:
    parser = sse.Parser()
    found = [m for n in range(0, len(stream), size) for m in parser.feed(stream[n : n + size])]
    return [(m.event, m.data, m.id) for m in found]


@pytest.mark.parametrize(("stream", "wanted"), [row[1:] for row in STREAMS], ids=[row[0] for row in STREAMS])
@pytest.mark.parametrize("size", [1, 2, 3, 10_000])
def test_a_stream_reads_alike_however_it_is_cut(stream: bytes, wanted: list[tuple[str, str, str]], size: int) -> None:
    assert read(stream, size) == wanted


def test_retry_takes_digits_only() -> None:
    parser = sse.Parser()
    parser.feed(b"retry: 250\n\nretry: 9x\n\nretry:\n\n")
    assert parser.retry_ms == 250


def test_text_pieces_are_taken_too() -> None:
    parser = sse.Parser()
    assert parser.feed("\ufeffdata: a\r") == []
    assert [m.data for m in parser.feed("\n\n")] == ["a"]


def test_an_endless_event_is_an_error_and_not_memory() -> None:
    parser = sse.Parser(max_bytes=1000)
    for _ in range(17):
        parser.feed(b"data: " + b"x" * 50)
    with pytest.raises(TooLarge):
        parser.feed(b"x" * 200)


def test_many_small_events_are_no_large_one() -> None:
    parser = sse.Parser(max_bytes=1000)
    assert len(parser.feed(b"data: 0123456789\n\n" * 500)) == 500


@pytest.mark.parametrize("data", ["a", "a\nb", "a\r\nb\rc", "", " lead", "data: x\n\nevent: forged"])
def test_what_is_written_reads_back(data: str) -> None:
    (message,) = sse.Parser().feed(sse.encoded("tool_update", data, id=5))
    assert (message.event, message.id) == ("tool_update", "5")
    assert message.data == data.replace("\r\n", "\n").replace("\r", "\n")


def test_a_name_can_not_forge_a_field() -> None:
    (message,) = sse.Parser().feed(sse.encoded("x\ndata: forged", "true", id="1\nevent: y"))
    assert message.data == "true"


PAYLOADS: list[Any] = [
    {"sources": "水門 gate " * 6000},
    {"content": '"\\\n\t' * 9000},
    {"content": "👩‍👩‍👧‍👦" * 3000},
    {"content": "e\u0301" * 20_000},
    {"content": "\u0000\u001f" * 4000},
    {"content": "x\ud800y" * 3000},
    {"content": "ก็" * 9000, "n": [1, 2.5, None, True]},
    ["a" * 70_000],
]


@pytest.mark.parametrize("payload", PAYLOADS, ids=range(len(PAYLOADS)))
@pytest.mark.parametrize("limit", [1024, 8192, 65536])
def test_chunks_stay_under_the_limit_and_join_in_any_order(payload: Any, limit: int) -> None:
    frames = sse.frames("tool_update", payload, id=12, limit=limit)
    assert max(map(len, frames)) <= limit
    random.Random(3).shuffle(frames)
    reader = sse.Reader()
    found = [message for frame in frames for message in reader.feed(frame)]
    assert [(m.event, m.json()) for m in found] == [("tool_update", payload)]
    assert reader.joiner.waiting == 0


def test_chunk_fields() -> None:
    frames = sse.frames("tool_end", {"response": "x" * 9000}, id=3, limit=2048)
    chunks = [m for frame in frames for m in sse.Parser().feed(frame)]
    parts = [json.loads(m.data) for m in chunks]
    assert {m.event for m in chunks} == {"tool_end_delta_sse"}
    assert [p["chunk_index"] for p in parts] == list(range(len(parts)))
    assert {p["total_chunks"] for p in parts} == {len(parts)}
    assert {p["original_event_type"] for p in parts} == {"tool_end"}
    assert [p["is_last_chunk"] for p in parts] == [False] * (len(parts) - 1) + [True]
    assert len({p["chunk_id"] for p in parts}) == 1
    assert [m.id for m in chunks] == [""] * (len(parts) - 1) + ["3"]


def test_a_small_event_is_one_frame() -> None:
    assert sse.frames("tool_update", {"a": 1}, id=1) == [b'id: 1\nevent: tool_update\ndata: {"a":1}\n\n']


def test_a_character_and_its_marks_are_never_parted() -> None:
    frames = sse.frames("x", {"t": "e\u0301👩‍👧" * 500}, limit=1024)
    parts = [json.loads(m.data)["chunk_data"] for frame in frames for m in sse.Parser().feed(frame)]
    assert not any(part[0] in "\u0301\u200d" for part in parts)
    assert not any(part[-1] == "\u200d" for part in parts)


def test_a_limit_with_no_room_is_refused() -> None:
    with pytest.raises(ValueError, match="no room"):
        sse.frames("tool_update", {"a": "x" * 999}, limit=120)


def test_two_events_in_chunks_may_interleave_and_repeat() -> None:
    first, second = sse.frames("a", ["x" * 5000], limit=1024), sse.frames("b", ["y" * 5000], limit=1024)
    mixed = [frame for pair in zip(first, second, strict=True) for frame in (*pair, pair[0])]
    reader = sse.Reader()
    found = [m.event for frame in mixed for m in reader.feed(frame)]
    assert found[:2] == ["a", "b"]


@pytest.mark.parametrize(
    "data",
    [
        "not json",
        "[]",
        '{"chunk_id":"x"}',
        '{"chunk_id":"x","chunk_index":"y","total_chunks":2,"chunk_data":""}',
        '{"chunk_id":"x","chunk_index":5,"total_chunks":2,"chunk_data":""}',
        '{"chunk_id":"x","chunk_index":0,"total_chunks":0,"chunk_data":""}',
    ],
)
def test_a_broken_chunk_is_a_typed_error(data: str) -> None:
    with pytest.raises(ProviderError):
        sse.Joiner().feed(sse.Message(data, "tool_end_delta_sse"))


def test_final_result_is_tool_end() -> None:
    assert sse.Joiner().feed(sse.Message("{}", "final_result")) == sse.Message("{}", "tool_end")
    frames = sse.frames("final_result", ["x" * 5000], limit=1024)
    reader = sse.Reader()
    assert [m.event for frame in frames for m in reader.feed(frame)] == ["tool_end"]


def test_a_heartbeat_is_a_comment() -> None:
    parser = sse.Parser()
    assert parser.feed(sse.HEARTBEAT + sse.comment("a\nb")) == []
    assert parser.comments == 2
