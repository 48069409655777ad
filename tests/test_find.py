"""Words found where they stand, in any case and any script, with spans that cut exactly what was found."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cormorant import errors
from cormorant.find import find


@pytest.mark.parametrize(
    ("text", "needle", "found", "mode"),
    [
        pytest.param("Tides and tides, TIDES", "tides", ["Tides", "tides", "TIDES"], "nocase", id="any case"),
        pytest.param("aaaa", "aa", ["aa", "aa"], "nocase", id="none overlaps another"),
        pytest.param("die Straße, die STRASSE", "strasse", ["Straße", "STRASSE"], "nocase", id="one letter that is two"),
        pytest.param("İstanbul", "i̇stanbul", ["İstanbul"], "nocase", id="dotted capital I"),
        pytest.param("ΟΔΟΣ, οδός", "οδος", ["ΟΔΟΣ"], "nocase", id="final sigma"),
        pytest.param("café, cafe\u0301!", "CAFÉ", ["café", "cafe\u0301"], "nocase", id="both ways to write an accent"),
        pytest.param("Ｔｉｄｅ ﬁsh", "tide fish", ["Ｔｉｄｅ ﬁsh"], "nocase", id="full width and ligatures"),
        pytest.param("the harbour\n  office", "harbour office", ["harbour\n  office"], "nocase", id="across a line end"),
        pytest.param("it’s “so” – ok", 'it\'s "so" - ok', ["it’s “so” – ok"], "nocase", id="quotes and dashes"),
        pytest.param("東京タワーは東京にある", "東京", ["東京", "東京"], "nocase", id="Japanese"),
        pytest.param("ผมชอบทะเลมาก", "ทะเล", ["ทะเล"], "nocase", id="Thai"),
        pytest.param("가각 각", "각", ["각", "각"], "nocase", id="Hangul, no half syllable"),
        pytest.param("\u1100\u1161\u11a8", "각", ["\u1100\u1161\u11a8"], "nocase", id="Hangul in jamo"),
        pytest.param("the dog; a résumé", "resume", ["résumé"], "fuzzy", id="without its accents"),
        pytest.param("at **high** water", "high water", ["high** water"], "fuzzy", id="emphasis between"),
        pytest.param("the harbor mastres office", "harbour masters office", ["harbor mastres office"], "fuzzy", id="misspelt"),
        pytest.param("nothing of the kind", "gate", [], "fuzzy", id="not there"),
        pytest.param("cat cot cut", "cap", [], "fuzzy", id="short words are never nearly there"),
        pytest.param("a.b axb", "a.b", ["a.b"], "nocase", id="no pattern language"),
        pytest.param("\U0001f30a wave \U0001f30a", "\U0001f30a", ["\U0001f30a", "\U0001f30a"], "nocase", id="beyond the first plane"),
    ],
)
def test_what_is_found(text: str, needle: str, found: list[str], mode: str) -> None:
    finds = find(text, needle)
    assert [match.text for match in finds.matches] == found
    assert [text[match.start : match.end] for match in finds.matches] == found
    assert finds.as_dict()["needles"] == [{"needle": needle, "count": len(found), "mode": mode}]


@pytest.mark.parametrize(("mode", "count"), [("literal", 1), ("nocase", 2), ("fuzzy", 3)])
def test_a_mode_can_be_chosen(mode: str, count: int) -> None:
    assert find("harbour Harbour harbor", "harbour", mode=mode).count == count  # type: ignore[arg-type]


def test_several_needles_are_counted_apart_and_shown_in_order() -> None:
    finds = find("ebb\nflood\nebb and flow", ["flood", "ebb", " ebb ", ""])
    assert [(needle.needle, needle.count) for needle in finds.needles] == [("flood", 1), ("ebb", 2)]
    assert [(match.needle, match.line) for match in finds.matches] == [("ebb", 1), ("flood", 2), ("ebb", 3)]
    assert finds.matches[1].as_dict() == {
        "needle": "flood",
        "span": [4, 9],
        "line": 2,
        "text": "flood",
        "context": "ebb flood ebb and flow",
    }


def test_continuing_by_offset_shows_every_place_once() -> None:
    text = "tide " * 45
    seen: list[tuple[str, int]] = []
    offset: int | None = 0
    while offset is not None:
        finds = find(text, ["tide", "tid"], start=offset, limit=8)
        seen += [(match.needle, match.start) for match in finds.matches]
        offset = finds.next_offset
    assert {start for _, start in seen} == set(range(0, 225, 5))
    assert len(set(seen)) >= 85
    assert find(text, "tide", start=500).matches == ()
    assert find(text, "tide", start=500).count == 45, "the count is of the whole text"


def test_the_words_around_are_whole_and_in_one_line() -> None:
    text = "one two three four five six seven eight nine ten\n" * 5
    (match,) = find(text + "here it is" + "\n" + text, "here it is").matches
    assert match.context.startswith("…")
    assert match.context.endswith("…")
    assert "\n" not in match.context
    words = match.context.strip("…").split()
    assert set(words) <= {*text.split(), "here", "it", "is"}


@pytest.mark.parametrize(
    ("needles", "mode"),
    [([], "auto"), (["", "  "], "auto"), ("x" * 501, "auto"), ([f"w{n}" for n in range(21)], "auto"), ("x", "regex")],
    ids=["none", "empty", "too long", "too many", "no such mode"],
)
def test_what_can_not_be_looked_for(needles: list[str], mode: str) -> None:
    with pytest.raises(errors.InvalidArguments):
        find("text", needles, mode=mode)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("piece", "needle"),
    [
        pytest.param("The quick brown fox jumps. ", "quick brwn fox", id="fuzzy, everywhere"),
        pytest.param("é der Straße nach, ", "STRASSE", id="letters that grow"),
        pytest.param("a" * 100, "a" * 30 + "b", id="the same letter"),
        pytest.param("潮の満ち干きは月の力による。", "月の光による", id="Japanese, nearly"),
    ],
)
def test_a_megabyte_takes_no_time(piece: str, needle: str) -> None:
    text = piece * (1_000_000 // len(piece))
    began = time.process_time()
    find(text, needle)
    assert time.process_time() - began < 3


@given(st.text(max_size=60), st.text(min_size=1, max_size=8), st.text(max_size=60))
def test_what_stands_there_is_found_where_it_stands(before: str, needle: str, after: str) -> None:
    if not needle.strip():
        return
    text = f"{before} {needle} {after}"
    assert find(text, needle, mode="literal").matches[0].start == text.index(needle.strip())
    for mode in ("nocase", "fuzzy"):
        finds = find(text, needle, mode=mode, limit=1000)  # type: ignore[arg-type]
        assert all(0 <= match.start < match.end <= len(text) for match in finds.matches)
