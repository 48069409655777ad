"""Reading a response head and finding the end of a body: pure, and the same however the bytes are cut."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cormorant.transport.wire import Body, Broken, Malformed, read_head, write_head

TOKENS = st.from_regex(r"[A-Za-z][A-Za-z0-9-]{0,15}", fullmatch=True)
VALUES = st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), max_size=30)


def chunked(pieces: list[bytes]) -> bytes:
    return b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces if piece) + b"0\r\n\r\n"


def feed(raw: bytes, cuts: list[int], head: bytes) -> tuple[bytes, bytes, bool]:
    """The body, what was left over, and whether it ended; the bytes come in pieces."""
    body, buffer, found, at = Body(read_head(head), "GET"), bytearray(), b"", 0
    for end in [*sorted(cuts), len(raw)]:
        buffer += raw[at:end]
        at = max(at, end)
        if not body.done:
            found += body.feed(buffer)
    return found, bytes(buffer), body.done


@given(st.lists(st.binary(max_size=40), max_size=6), st.lists(st.integers(0, 300), max_size=8), st.binary(max_size=10))
def test_chunks_are_read_the_same_however_they_arrive(pieces: list[bytes], cuts: list[int], after: bytes) -> None:
    raw = chunked(pieces) + after
    found, left, done = feed(raw, [cut for cut in cuts if cut <= len(raw)], b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked")
    assert (found, left, done) == (b"".join(pieces), after, True)


@given(st.binary(max_size=200), st.lists(st.integers(0, 200), max_size=6), st.binary(max_size=10))
def test_a_length_is_kept_exactly(text: bytes, cuts: list[int], after: bytes) -> None:
    raw = text + after
    found, left, done = feed(raw, [cut for cut in cuts if cut <= len(raw)], b"HTTP/1.1 200 OK\r\nContent-Length: %d" % len(text))
    assert (found, left, done) == (text, after, True)


@given(st.binary(max_size=200))
def test_no_bytes_are_more_than_malformed_or_broken(raw: bytes) -> None:
    for head in (raw, b"HTTP/1.1 200 OK\r\n" + raw, b"HTTP/1.1 200 OK\r\nA: b\r\n" + raw):
        with suppress(Malformed):
            read_head(head)
    body = Body(read_head(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked"), "GET")
    with suppress(Malformed, Broken):
        body.feed(bytearray(raw))
        body.end()


@given(st.lists(st.tuples(TOKENS, VALUES), max_size=8), st.sampled_from(["\r\n", "\n"]))
def test_a_head_is_read_as_it_was_written(fields: list[tuple[str, str]], ending: str) -> None:
    lines = ["HTTP/1.1 404 Not Found", *(f"{name}:{value}" for name, value in fields)]
    head = read_head(ending.join(lines).encode())
    assert head.status == 404
    assert list(head.fields) == [(name.lower(), value) for name, value in fields]
    assert head.lax is (ending == "\n" and len(lines) > 1)


@given(st.lists(st.tuples(TOKENS, st.text(max_size=20)), max_size=4), st.text(max_size=20))
def test_a_request_never_holds_more_lines_than_were_meant(fields: list[tuple[str, str]], path: str) -> None:
    try:
        written = write_head("GET", "/" + path, fields)
    except (ValueError, UnicodeEncodeError):
        return
    assert written.count(b"\n") == written.count(b"\r") == len(fields) + 2
    assert written.endswith(b"\r\n\r\n")
    assert b"\0" not in written


@pytest.mark.parametrize(
    ("head", "reusable"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 1", True),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nConnection: Close", False),
        (b"HTTP/1.0 200 OK\r\nContent-Length: 1", False),
        (b"HTTP/1.0 200 OK\r\nContent-Length: 1\r\nConnection: keep-alive", True),
        (b"HTTP/1.1 200 OK", False),
        (b"HTTP/1.1 204 OK", True),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked", True),
        (b"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: keep-alive", False),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 1", False),
    ],
)
def test_which_connections_are_used_again(head: bytes, reusable: bool) -> None:
    assert Body(read_head(head), "GET").reusable is reusable
