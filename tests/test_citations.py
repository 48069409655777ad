"""Citation markers: whole in every piece, none without a source, code untouched, links at the end."""

from __future__ import annotations

import random
import re

import pytest

from cormorant.citations import Markers, Source, Spelling, cited, fragment_link, linked, numbers_in, one_each, settle, without_markers

SOURCES = [
    Source(1, "https://a.example/1", 'Gate "wear" <b>', "The leaf lasts 31 years; see https://a.example/manual."),
    Source(2, "https://b.example/2?x=1&y=2", "Pins"),
    Source(3, "https://c.example/", "Locks"),
]


def clean(text: str, spelling: Spelling = "tags", size: int = 0) -> tuple[str, list[str], list[str]]:
    markers = Markers(SOURCES, spelling=spelling)
    pieces = [text[n : n + size] for n in range(0, len(text), size)] if size else [text]
    sent = [markers.feed(piece) for piece in pieces] + [markers.flush()]
    return "".join(sent), sent, markers.warnings


TABLE = [
    ("plain tag", "tags", "A <source_1>.", "A <source_1>."),
    ("several in one", "tags", "A <source_1, source_2>.", "A <source_1><source_2>."),
    ("short list", "tags", "A <source_1, 3>.", "A <source_1><source_3>."),
    ("range", "tags", "A <source_1-3>.", "A <source_1><source_2><source_3>."),
    ("other spelling", "tags", "A [source 2] (Source 3) 【source_1】 &lt;source_2&gt;", "A <source_2> <source_3> <source_1> <source_2>"),
    ("self-closing and closing", "tags", "A <source_1/>b</source_1>.", "A <source_1>b."),
    ("unknown number goes", "tags", "A <source_9>. B <source_1, source_9>.", "A. B <source_1>."),
    ("a tag that never closes goes", "tags", "A <source_1>. B <source_", "A <source_1>. B"),
    ("brackets are prose when tags are agreed", "tags", "item [2] of the menu <source_1>", "item [2] of the menu <source_1>"),
    (
        "brackets are markers when they may be",
        "any",
        "A [1, 2]. B【1】【2】. C [1-3].",
        "A <source_1><source_2>. B<source_1><source_2>. C <source_1><source_2><source_3>.",
    ),
    ("dagger marks", "any", "A 【1†L5-L9】 and 【2:0†source】.", "A <source_1> and <source_2>."),
    ("full width", "any", "A［1］.", "A<source_1>."),
    ("subscript and year stay", "any", "a[0], b[7]x and [1984]", "a[0], b[7]x and [1984]"),
    ("dangling bracket goes", "any", "A [1]. B [9].", "A <source_1>. B."),
    ("image is no marker", "any", "![2](https://b.example/2?x=1&y=2)", "<source_2>"),
    ("code span stays", "any", "Use `x = [1]` [1].", "Use `x = [1]` <source_1>."),
    ("fence stays", "any", "```py\na[1] <source_9>\n```\nB [1]", "```py\na[1] <source_9>\n```\nB <source_1>"),
    ("tilde fence stays", "any", "~~~\n[1]\n~~~\n[1]", "~~~\n[1]\n~~~\n<source_1>"),
    ("fence never closed", "any", "```\n[1] <source_9>", "```\n[1] <source_9>"),
    ("lone backtick is prose", "any", "a ` b [1]\n\nc [2]", "a ` b <source_1>\n\nc <source_2>"),
    ("known address stays", "tags", "See https://b.example/2?x=1&y=2.", "See https://b.example/2?x=1&y=2."),
    ("address from a page stays", "tags", "See https://a.example/manual.", "See https://a.example/manual."),
    ("invented address goes", "tags", "See https://evil.example/a(b), or not.", "See, or not."),
    ("invented link keeps its words", "tags", "See [the manual](https://evil.example/x).", "See the manual."),
    ("link of a number", "any", "A [1](https://a.example/1).", "A <source_1>."),
    ("foreign citation tags go", "tags", 'A <web_citation url="https://evil.example">[1]</web_citation>.', "A [1]."),
    ("less-than is prose", "tags", "a < b and c <d", "a < b and c <d"),
    ("no fence opens where a marker went", "tags", "<source_9>```\nx\n```\nhttps://evil.example/", "\\```\nx\n```\nhttps://evil.example/"),
    ("nor where several went", "tags", "a\n<source_9> <source_8>~~~\nx", "a\n \\~~~\nx"),
]


@pytest.mark.parametrize(("spelling", "text", "wanted"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
@pytest.mark.parametrize("size", [0, 1, 3])
def test_markers_are_read_in_any_pieces(spelling: Spelling, text: str, wanted: str, size: int) -> None:
    assert clean(text, spelling, size)[0] == wanted


FRAGMENTS = [
    "Use `x = [1]` [1]:",
    "\n",
    "\n\n",
    "```py\na[1]\n```\n",
    " https://b.example/2?x=1&y=2.",
    " [x](https://evil.example/q)",
    " [9]",
    " a[0]",
    ' <web_citation url="q">',
    "hm",
    "</web_citation>",
    " end",
    "<source_1>",
    " <source_2, source_9>",
    " 【1】",
    " http",
    " (source 1)",
    " `open",
    "\n~~~\nq [1]\n~~~\n",
    " ![i](https://x.example/i.png)",
    "!",
    " Great![1]",
    " &lt;source_1&gt;",
    " < 3",
    " & b",
    " [text] more",
    "  ",
    "<source_",
]


def test_the_cut_of_the_stream_changes_nothing() -> None:
    chance = random.Random(7)
    for _ in range(1500):
        text = "".join(chance.choice(FRAGMENTS) for _ in range(chance.randint(1, 7)))
        for spelling in ("any", "tags"):
            assert clean(text, spelling, chance.randint(1, 5))[0] == clean(text, spelling)[0], text


def test_no_piece_ends_in_half_a_marker() -> None:
    _, sent, _ = clean("Pins <source_2>. The leaf [1], <source_1, source_3>.", "any", 1)
    assert not any(re.search(r"<s\w*$|<source_\d*$|\[\d*$", piece) for piece in sent)


def test_a_stream_is_not_held_longer_than_it_must() -> None:
    markers = Markers(SOURCES)
    assert markers.feed("Plain words go") == "Plain words go"
    assert markers.feed(" at once; <") == " at once;"
    assert markers.feed("b> is no marker") == " <b> is no marker"


def test_warnings_name_what_was_taken_out() -> None:
    assert clean("A <source_9> https://evil.example/ <source_8>")[2] == ["unknown_source", "unknown_url"]
    assert clean("A <source_1>")[2] == []


def test_cited_counts_outside_code_once_each() -> None:
    assert cited("b <source_2> a <source_1><source_2> `<source_3>`") == [1, 2]


def test_numbers_in_a_marker() -> None:
    assert numbers_in("[1, 3-5; 3]") == [1, 3, 4, 5]
    assert len(numbers_in("[1-9999]")) == 2


@pytest.mark.parametrize(
    ("style", "wanted"),
    [
        ("web_citation", 'A <web_citation url="https://a.example/1" title="Gate &quot;wear&quot; &lt;b&gt;">[1]</web_citation>.'),
        ("plain", "A [1]."),
        ("link", "A [\\[1\\]](<https://a.example/1>)."),
        ("footnote", 'A [^1].\n\n[^1]: [Gate "wear" \\<b\\>](<https://a.example/1>)'),
        ("none", "A."),
    ],
)
def test_styles(style: str, wanted: str) -> None:
    assert linked("A <source_1>.", SOURCES, style) == wanted  # type: ignore[arg-type]


def test_attributes_are_escaped_and_unknown_numbers_never_leave() -> None:
    hostile = [Source(1, 'https://a.example/"><script>', 'x" onclick="y\n<i>')]
    out = linked("A <source_1> B <source_2>", hostile)
    assert "<script>" not in out
    assert 'onclick="' not in out
    assert "source_2" not in out


def test_markers_in_code_stay_code() -> None:
    assert linked("`<source_1>` <source_1>", SOURCES, "plain") == "`<source_1>` [1]"


def test_without_markers() -> None:
    assert without_markers("A <source_1><source_2>. B <source_3>") == "A. B"


def test_one_source_a_page() -> None:
    pages, numbers = one_each([Source(1, "https://a.example/x"), Source(2, "https://b.example"), Source(3, "https://A.example/x#part")])
    assert [page.url for page in pages] == ["https://a.example/x", "https://b.example"]
    assert numbers == {1: 1, 2: 2, 3: 1}


def test_a_provider_s_answer_keeps_every_cited_source() -> None:
    sources = [Source(n, f"https://s.example/{n}") for n in range(1, 14)]
    settled = settle("Core.[1][5][9] Lazy.[2][13]", sources, keep=8)
    assert settled.used == (1, 2, 5, 9, 13)
    assert {9, 13} <= {source.number for source in settled.sources}
    assert not set(settled.used) - {source.number for source in settled.sources}


@pytest.mark.parametrize(
    ("url", "quote", "wanted"),
    [
        ("https://a.example/p#old", "Short quote, exactly.", "https://a.example/p#:~:text=Short%20quote%2C%20exactly."),
        (
            "https://a.example/p",
            "One two three four five six seven eight nine ten eleven twelve thirteen",
            "https://a.example/p#:~:text=One%20two%20three%20four%20five,nine%20ten%20eleven%20twelve%20thirteen",
        ),
        ("https://a.example/p", "well-known", "https://a.example/p#:~:text=well%2Dknown"),
        ("file:///x", "abc", "file:///x"),
        ("https://a.example/p", "  ", "https://a.example/p"),
    ],
)
def test_fragment_links(url: str, quote: str, wanted: str) -> None:
    assert fragment_link(url, quote) == wanted
