"""The kinds of the collected answer and stream failures in other spellings: other marks, other places to split, other line ends."""

from __future__ import annotations

import html
import json
import random
from itertools import pairwise

import pytest

from cormorant import sse
from cormorant.answer.standing import claims
from cormorant.citations import Markers, Source, Style, linked
from cormorant.errors import CormorantError

SOURCES = [Source(n, f"https://{n}.example/gate", f"Gate {n}", "The gate was built in 1974.") for n in (1, 2, 3)]
ONE, TWO, THREE = "<source_1>", "<source_2>", "<source_3>"


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        ("Built in 1974 <source_1><source_2>.", f"Built in 1974 {ONE}{TWO}."),
        ("Built in 1974 < source_1 , source_3 >.", f"Built in 1974 {ONE}{THREE}."),
        ("Built in 1974 \\<source_2>.", f"Built in 1974 {TWO}."),
        ("Built in 1974 <SOURCE-1/>.", f"Built in 1974 {ONE}."),
        ("Built in 1974 <source_1></source_1>.", f"Built in 1974 {ONE}."),
        ("Built in 1974 &lt;source_1&gt;.", f"Built in 1974 {ONE}."),
        ("Built in 1974 [1–3].", f"Built in 1974 {ONE}{TWO}{THREE}."),
        ("Built in 1974 [^2] and mended [^3].", f"Built in 1974 {TWO} and mended {THREE}."),
        ("Built in 1974 (sources 1 and 2).", f"Built in 1974 {ONE}{TWO}."),
        ("城门建于1974年【1】，后来修复［2］。", f"城门建于1974年{ONE}，后来修复{TWO}。"),
        ("門は1974年に完成した〔1、3〕。", f"門は1974年に完成した{ONE}{THREE}。"),
        ("بنيت البوابة عام ١٩٧٤ [1، 2].", f"بنيت البوابة عام ١٩٧٤ {ONE}{TWO}."),
        ("Ворота построены в 1974 году 【2†L3-L9】.", f"Ворота построены в 1974 году {TWO}."),
        ("Built in 1974 <source_7>. Painted green <source_2>.", f"Built in 1974. Painted green {TWO}."),
        ("See https://evil.example/x?q=1 and https://2.example/gate.", "See and https://2.example/gate."),
        ('Told <web_citation url="https://evil.example/" title="x">[1]</web_citation>.', f"Told {ONE}."),
        ('Told \\<web_citation url="https://1.example/gate" title="', "Told"),
        ("Run `gate[1]` or\n~~~\nrow[2] <source_9>\n~~~\nnow [1].", f"Run `gate[1]` or\n~~~\nrow[2] <source_9>\n~~~\nnow {ONE}."),
    ],
)
def test_a_marker_reads_alike_wherever_the_stream_is_split(written: str, wanted: str) -> None:
    cuts = [[at] for at in range(len(written) + 1)] + [list(range(1, len(written))), list(range(2, len(written), 3))]
    for cut in cuts:
        markers = Markers(SOURCES, spelling="any")
        pieces = [markers.feed(written[a:b]) for a, b in pairwise([0, *cut, len(written)])]
        assert "".join(pieces) + markers.flush() == wanted, f"split at {cut[:3]}"


AWKWARD = [
    'He said "1974" & <b>left</b>',
    "A title\nof two\r\nlines",
    "[brackets](https://evil.example/) and *stars*",
    "\"><script>alert(1)</script>",
    "</web_citation>",
    "«Тайна» ‘quoted’ “twice”",
]  # fmt: skip


@pytest.mark.parametrize("title", AWKWARD)
@pytest.mark.parametrize("url", ["https://a.example/?q=\"x\"&y='z'", "https://a.example/a_(b)<c>", "https://a.example/a\nb"])
def test_no_title_and_no_address_breaks_out_of_a_citation(title: str, url: str) -> None:
    source = Source(1, url, title, "The gate was built in 1974.")
    tagged = linked("Built in 1974 <source_1>.", [source], "web_citation")
    opening, _, rest = tagged.removeprefix("Built in 1974 ").partition(">")
    assert rest == "[1]</web_citation>."
    assert opening.count('"') == 4
    assert "<" not in opening[1:]
    assert "\n" not in tagged
    assert html.unescape(opening.split('"')[3]) == " ".join(title.split())
    for style in ("footnote", "link", "plain", "none"):
        shown = linked("Built in 1974 <source_1>.", [source], style)
        assert "<script" not in shown.replace("\\<", "")
        assert shown.count("\n") == (2 if style == "footnote" else 0)


@pytest.mark.parametrize("style", ["web_citation", "footnote", "link", "plain", "none"])
def test_every_style_leaves_code_alone(style: Style) -> None:
    text = "Call `a<source_1>b` or\n\n```\nx <source_2>\n```\n\nas it says <source_1>."
    shown = linked(text, SOURCES, style)
    assert "`a<source_1>b`" in shown
    assert "x <source_2>\n```" in shown


def test_a_claim_reaches_to_its_marker_in_any_script() -> None:
    text = "城门建于1974年。<source_1>它重三十一吨。<source_2> Ворота зелёные <source_3>."
    assert [claim.text for claim in claims(text)] == ["城门建于1974年。", "它重三十一吨。", "Ворота зелёные"]


MESSAGES = [
    pytest.param(b"data: one\r\n\r\ndata: two\r\n\r\n", [("message", "one", ""), ("message", "two", "")], id="CR LF"),
    pytest.param(b"data: one\r\rdata: two\r\r", [("message", "one", ""), ("message", "two", "")], id="CR alone"),
    pytest.param(b"data: one\n\r\ndata: two\r\n\n", [("message", "one", ""), ("message", "two", "")], id="mixed line ends"),
    pytest.param(b"\xef\xbb\xbfdata: one\n\n\xef\xbb\xbfdata: lost\n\n", [("message", "one", "")], id="a BOM at the start alone"),
    pytest.param(b": hello\n:\ndata: one\n: between\ndata: two\n\n", [("message", "one\ntwo", "")], id="comments between fields"),
    pytest.param(b"data\ndata:\ndata:  two\n\n", [("message", "\n\n two", "")], id="fields without a value, one space taken"),
    pytest.param(b"id: 7\ndata: a\n\ndata: b\n\n", [("message", "a", "7"), ("message", "b", "7")], id="an id lasts"),
    pytest.param(b"id: 7\n\nid\ndata: c\n\n", [("message", "c", "")], id="an empty id ends it"),
    pytest.param(b"id: a\0b\ndata: a\n\n", [("message", "a", "")], id="an id with NUL"),
    pytest.param(b"event: x\n\ndata: a\n\n", [("message", "a", "")], id="an event without data is none, and its name is gone"),
    pytest.param(b"event: x\nevent: y\ndata: a\n\n", [("y", "a", "")], id="the last name counts"),
    pytest.param(b"data: whole\n\ndata: cut off", [("message", "whole", "")], id="an unfinished event is none"),
    pytest.param("data: a\u2028b\u0085c\x0bd\n\n".encode(), [("message", "a\u2028b\u0085c\x0bd", "")], id="what is no line end"),
    pytest.param("data: Wärme 門 🛶\n\n".encode(), [("message", "Wärme 門 🛶", "")], id="characters of several bytes"),
    pytest.param(b"DATA: no\ndata : no\nretry: 5x\nwhat: ever\ndata: yes\n\n", [("message", "yes", "")], id="unknown fields"),
]  # fmt: skip


@pytest.mark.parametrize(("stream", "wanted"), MESSAGES)
def test_a_stream_reads_alike_wherever_its_bytes_are_split(stream: bytes, wanted: list[tuple[str, str, str]]) -> None:
    for cut in [[at] for at in range(len(stream) + 1)] + [list(range(1, len(stream)))]:
        parser = sse.Parser()
        found = [message for a, b in pairwise([0, *cut, len(stream)]) for message in parser.feed(stream[a:b])]
        assert [(m.event, m.data, m.id) for m in found] == wanted, f"split at {cut[:3]}"


def test_a_retry_holds_until_the_next_one() -> None:
    found = sse.Parser().feed("retry: 1500\ndata: a\n\nretry: soon\ndata: b\n\nretry: 20\ndata: c\n\n")
    assert [message.retry_ms for message in found] == [1500, 1500, 20]


def chunked(text: str, name: str = "tool_update", limit: int = 400) -> list[bytes]:
    frames = sse.frames(name, {"text": text}, id=4, limit=limit)
    assert len(frames) > 3
    return frames


@pytest.mark.parametrize("text", ["plain " * 300, "門🛶é" * 200, '\\"\n\t\u2028' * 150, "e" + "\u0301" * 900])
def test_chunks_join_in_any_order_twice_and_mixed_with_others(text: str) -> None:
    mine, others = chunked(text), chunked("another " * 200, "tool_partial_update")
    mixed = [*mine, *others, *mine, sse.encoded("ping", "{}")]
    random.Random(len(text)).shuffle(mixed)
    reader = sse.Reader()
    found = {message.event: message for frame in mixed for message in reader.feed(frame)}
    assert sorted(found) == ["ping", "tool_partial_update", "tool_update"]
    assert found["tool_update"].json() == {"text": text}
    assert reader.joiner.waiting == 0


def test_a_lost_chunk_leaves_its_event_waiting_and_the_others_whole() -> None:
    mine, others = chunked("plain " * 300), chunked("another " * 200)
    reader = sse.Reader()
    found = [message for frame in [*mine[:1], *mine[2:], *others] for message in reader.feed(frame)]
    assert [message.json()["text"] for message in found] == ["another " * 200]
    assert reader.joiner.waiting == 1


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"total_chunks": 2}, id="another total"),
        pytest.param({"chunk_index": 99}, id="an index past the end"),
        pytest.param({"chunk_index": -1}, id="a negative index"),
        pytest.param({"chunk_index": "1"}, id="an index that is no number"),
        pytest.param({"chunk_id": None, "total_chunks": True}, id="a total that is no number"),
        pytest.param({"chunk_data": ["x"]}, id="data that is no text"),
    ],
)
def test_a_chunk_that_contradicts_its_siblings_is_an_error(change: dict[str, object]) -> None:
    frames = chunked("plain " * 300)
    first = sse.Parser().feed(frames[1])[0]
    bad = sse.encoded(first.event, json.dumps(first.json() | change))
    reader = sse.Reader()
    reader.feed(frames[0])
    with pytest.raises(CormorantError):
        reader.feed(bad)
