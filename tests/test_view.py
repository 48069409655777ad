"""A view fits, says what it left out, and cuts where a reader would."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from cormorant import tokens
from cormorant.blocks import blocks
from cormorant.document import VIEWS, Document
from cormorant.errors import InvalidArguments
from cormorant.view import CHARS_PER_TOKEN, MAX_CHARS, MAX_TOKENS, fit, share
from support_markdown import DOCUMENTS

URL = "https://site.example/manual"
PROSE = "The keeper opens the gate at low tide. He writes the time in a book. Nobody reads the book but the auditor."
MANUAL = f"""Before the first heading.

# Manual

{PROSE}

## Install

{PROSE}

```sh
# fetch it
pip install gates
```

### On Linux

Use the package.

## API

| name | does |
|---|---|
{chr(10).join(f"| call {n} | opens gate {n} |" for n in range(40))}

## Release notes

1. First the wall was raised.
1. Then the gate was hung.
1. At last the lamp was lit.

## FAQ

Why is the lamp red? Because the harbour master likes red.
"""
RESPONSE_ID = "0a1b2c3d4e5f60718293a4b5c6d7e8f9"


def manual(**asked: object):
    return fit(Document(URL, MANUAL, title="Manual"), **asked)  # type: ignore[arg-type]


def unclosed(text: str) -> list[str]:
    fences = [text[block.start : block.end].rstrip() for block in blocks(text) if block.kind == "fence"]
    return [fence for fence in fences if not re.search(r"\n[`~]{3,}$", fence)]


def test_a_page_that_fits_is_shown_whole() -> None:
    size = tokens.counter().count(MANUAL)
    view = manual(budget=size)
    assert (view.kind, view.text, view.tokens, view.truncated, view.left_out, view.hint) == ("full", MANUAL, size, False, "", "")
    assert manual(budget=size - 1).kind != "full"


@pytest.mark.parametrize(
    ("asked", "begins", "holds", "lacks"),
    [
        pytest.param("API", "## API", "call 39", "lamp", id="as it stands"),
        pytest.param("install!", "## Install", "On Linux", "call 1", id="case and punctuation"),
        pytest.param("release", "## Release notes", "lamp was lit", "call 1", id="unique prefix"),
        pytest.param("linux", "### On Linux", "Use the package.", "pip", id="unique piece"),
        pytest.param("lines 11-14", "```sh", "pip install gates", "keeper", id="lines"),
        pytest.param("12", "```sh\n# fetch it\n```", "# fetch it", "pip", id="a line of code keeps its fence"),
        pytest.param("30-32", "| name | does |\n|---|---|", "| call", "## API", id="rows keep their header"),
    ],
)
def test_a_section_is_found_by_heading_or_lines(asked: str, begins: str, holds: str, lacks: str) -> None:
    view = manual(section=asked, budget=1000)
    assert view.kind == "section"
    assert view.text.startswith(begins)
    assert holds in view.text
    assert lacks not in view.text
    assert not view.truncated


def test_a_section_that_is_not_there_gives_a_smaller_view_that_lists_the_headings() -> None:
    view = manual(section="Warranty", budget=1000)
    assert view.kind == "summary"
    assert view.left_out.startswith("no heading or line range matches 'Warranty'")
    assert all(f"{name}\n" in view.text for name in ("Manual", "Install", "API", "FAQ"))
    assert view.truncated


def test_what_is_left_out_is_named_with_the_call_that_brings_it() -> None:
    view = manual(section="Install", budget=1000)
    assert view.left_out.startswith("5 of 7 sections: ")
    assert "API" in view.left_out
    assert view.hint == 'web_get response_id=... section="API"'
    assert view.with_id(RESPONSE_ID).hint == f'web_get response_id={RESPONSE_ID} section="API"'
    assert view.with_id(RESPONSE_ID).note.endswith(f'web_get response_id={RESPONSE_ID} section="API"')
    again = manual(section=re.search(r'section="(.*)"', view.hint)[1], budget=1000)  # type: ignore[index]
    assert again.text.startswith("## API")


def test_a_section_too_big_is_cut_says_so_and_reads_on_without_loss() -> None:
    text = ""
    asked = "API"
    for _ in range(30):
        view = manual(section=asked, budget=160)
        assert view.text.startswith("## API" if not text else "| name | does |\n|---|---|")
        text += view.text
        if not view.truncated:
            break
        assert "[Cut: " in view.text
        asked = re.search(r'section="([^"]+)"\]$', view.text)[1]  # type: ignore[index]
        assert f'section="{asked}"' in view.hint or not view.hint
    assert [text.count(f"| call {n} |") for n in range(40)] == [1] * 40


def test_a_question_that_names_a_heading_gets_the_section_another_one_passages() -> None:
    assert manual(query="Install", budget=300).kind == "section"
    view = manual(query="Why is the lamp red?", budget=120)
    assert view.kind == "passages"
    assert "harbour master" in view.text
    for passage in view.passages:
        assert MANUAL[passage.start : passage.end] == passage.text
    assert [p.start for p in view.passages] == sorted(p.start for p in view.passages)


def test_passages_of_a_table_keep_the_header_and_those_of_code_the_fence() -> None:
    view = manual(query="call 17 opens gate 17", budget=150)
    assert re.search(r"\| name \| does \|\n\|---\|---\|\n(?:\| call.*\n)*\| call 17 ", view.text)
    assert unclosed(manual(query="pip install gates", view="passages", budget=100).text) == []


def test_the_summary_has_each_heading_with_its_first_sentence() -> None:
    view = manual(view="summary")
    assert URL in view.text
    assert "## Install\nThe keeper opens the gate at low tide." in view.text
    assert "He writes" not in view.text
    assert "(table, 40 rows: name does)" in view.text
    assert not view.truncated


@pytest.mark.parametrize("said", ["水門" * 400, "👩‍👩‍👧" * 200, "x" * 900], ids=["ideographs", "emoji", "one word"])
def test_a_first_sentence_without_spaces_is_shortened_not_dropped(said: str) -> None:
    text = fit(Document(URL, f"# Top\n\n{said}\n"), view="summary").text
    shown = text.split("# Top\n")[1]
    assert shown.endswith(" …")
    assert said.startswith(shown.removesuffix(" …"))
    assert 200 < len(shown) < 320


def test_without_a_named_view_the_summary_grows_into_the_budget() -> None:
    view = manual(budget=400)
    assert view.kind == "summary"
    assert view.tokens > 200
    assert "He writes the time" in view.text
    assert "| call 3 |" in view.text, "what is left goes into a block that can be cut"
    assert view.truncated


SETTINGS = "# Settings\n\nWhere they are looked for.\n\n" + "\n\n".join(
    f"## Group {group}\n\nWhat group {group} is about.\n\n"
    + "\n\n".join(
        f"### group{group}.name{n}\n\nWhat name {n} sets. {PROSE}\n\n| default | {n} |\n|---|---|\n| set by | a flag |" for n in range(12)
    )
    for group in range(8)
)


def test_a_summary_shows_as_many_levels_of_headings_as_there_is_room_for() -> None:
    page = Document(URL, SETTINGS)
    small, middle, large = (fit(page, budget=budget) for budget in (300, 1000, 4000))
    assert [view.kind for view in (small, middle, large)] == ["summary"] * 3
    assert re.findall("^#+ .*", small.text, re.M) == ["# Settings", *(f"## Group {n}" for n in range(8))]
    assert "[12 sections below" in small.text
    assert len(re.findall("^### ", middle.text, re.M)) == 96
    assert "What group 7 is about." in middle.text, "a sentence of each higher heading comes before one of the deeper"
    assert large.text.count("He writes the time") > 90
    for view, budget in ((small, 300), (middle, 1000), (large, 4000)):
        assert view.cost > 0.85 * budget


def test_a_summary_says_in_its_text_where_a_part_goes_on() -> None:
    view = manual(budget=150)
    assert view.kind == "summary"
    assert re.search(r"low tide\. \[…\]", view.text)
    assert "Why is the lamp red? Because the harbour master likes red." in view.text.replace("\n", " ")
    assert "likes red. […]" not in view.text, "what is whole has no mark"


def test_where_the_headings_do_not_fit_the_stub_names_as_many_as_there_is_room_for() -> None:
    page = Document(URL, "\n\n".join(f"## Chapter {n}\n\n{PROSE}" for n in range(200)))
    view = fit(page, budget=300)
    assert view.kind == "stub"
    named = re.findall(r"- Chapter (\d+)$", view.text, re.M)
    assert [int(n) for n in named] == list(range(len(named)))
    assert f"- and {200 - len(named)} more" in view.text
    assert view.cost > 0.85 * 300


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(text=DOCUMENTS, budget=st.integers(1, 1500), more=st.integers(1, 300))
def test_a_larger_budget_never_gives_less(text: str, budget: int, more: int) -> None:
    small, large = (fit(Document(URL, text, title="T"), budget=size) for size in (budget, budget + more))
    assert VIEWS.index(large.kind) <= VIEWS.index(small.kind)
    if small.kind == large.kind == "summary":
        headings = [len(re.findall("^#+ ", view.text, re.M)) for view in (small, large)]
        if headings[0] == headings[1]:
            assert large.tokens >= small.tokens


def test_the_stub_has_address_title_size_and_headings() -> None:
    view = manual(view="stub")
    size = tokens.counter().count(MANUAL)
    assert view.text.startswith(f"Manual\n{URL}\n{size} tokens, {len(MANUAL)} characters, ")
    assert "  - API (lines 20-64)" in view.text


def test_a_page_without_headings_is_divided_into_lines() -> None:
    text = "\n\n".join(f"Paragraph {n}. {PROSE * 3}" for n in range(60))
    view = fit(Document(URL, text), view="summary")
    ranges = re.findall(r"^Lines (\d+)-(\d+): Paragraph", view.text, re.M)
    assert 5 < len(ranges) <= 13
    assert (ranges[0][0], ranges[-1][1]) == ("1", "119")
    assert all(int(a[1]) + 1 == int(b[0]) for a, b in itertools.pairwise(ranges))
    assert re.fullmatch(r'web_get response_id=\.\.\. section="1-\d+"', view.hint)
    assert fit(Document(URL, text), section="1-3", budget=500).text == "\n".join(text.split("\n")[:3])


def test_a_cut_page_says_so_in_its_text_and_reads_on_to_the_end() -> None:
    texts, offset = [], 0
    while offset is not None:
        view = manual(max_chars=400, offset=offset)
        assert len(view.text) <= 400
        assert unclosed(view.text) == []
        texts.append(view.text)
        if view.next_offset is not None:
            assert f"of {len(MANUAL)}" in view.text
            assert f"offset={view.next_offset}" in view.text
            assert f"offset={view.next_offset}" in view.hint
            assert view.truncated
        offset = view.next_offset
    said = "\n".join(texts)
    for line in filter(None, MANUAL.split("\n")):
        pieces = re.split(r"(?<=\.) ", line)
        assert all(piece.removeprefix("1. ") in said for piece in pieces)
    assert len(texts) < 20
    assert said.count("| name | does |") > 1, "a table that goes on repeats its header"


@pytest.mark.parametrize("extra", [0, 1, 500])
def test_at_the_exact_end_nothing_is_left(extra: int) -> None:
    view = manual(max_chars=len(MANUAL) + extra)
    assert (view.truncated, view.next_offset, view.text, view.hint) == (False, None, MANUAL, "")


def test_a_list_that_goes_on_keeps_its_numbers() -> None:
    text = "\n".join(f"1. Step {n} of the work is done by the keeper." for n in range(1, 30))
    first = fit(Document(URL, text), max_chars=600)
    second = fit(Document(URL, text), max_chars=600, offset=first.next_offset or 0)
    start = re.match(r"(\d+)\. Step (\d+)", second.text)
    assert start
    assert start[1] == start[2] != "1"


def test_same_page_same_arguments_same_bytes_and_no_id_in_the_text() -> None:
    once, twice = manual(query="gate lamp", budget=200), manual(query="gate lamp", budget=200)
    assert once == twice
    assert once.with_id(RESPONSE_ID).text == once.text


@pytest.mark.parametrize(
    ("asked", "named"),
    [
        pytest.param({"view": "outline"}, "view", id="unknown view"),
        pytest.param({"budget": 0}, "budget", id="no budget"),
        pytest.param({"max_chars": 0}, "max_chars", id="no characters"),
        pytest.param({"offset": -1}, "offset", id="before the beginning"),
        pytest.param({"counter": "abacus"}, "abacus", id="unknown counter"),
    ],
)
def test_what_cannot_be_read_is_refused_with_a_remedy(asked: dict[str, object], named: str) -> None:
    with pytest.raises(InvalidArguments, match=named) as refused:
        manual(**asked)
    assert refused.value.remedy


@pytest.mark.parametrize("name", ["o200k_base", "cl100k_base", "claude_estimate", "utf8_bytes"])
@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    text=DOCUMENTS,
    budget=st.one_of(st.integers(1, 60), st.integers(1, 2000), st.integers(1, 50_000)),
    kind=st.sampled_from(["", *VIEWS]),
    part=st.sampled_from([{}, {"section": "Install"}, {"section": "2-9"}, {"query": "when does the keeper close the gate"}, {"offset": 7}]),
    envelope=st.sampled_from([0, 0, 30]),
)
def test_a_fitted_answer_never_exceeds_its_budget(
    name: str, text: str, budget: int, kind: str, part: dict[str, object], envelope: int
) -> None:
    view = fit(Document(URL, text, title="T"), budget=budget, view=kind, counter=name, envelope=envelope, **part)  # type: ignore[arg-type]
    count = tokens.counter(name).count
    whole = f"{view.text}\n{view.with_id(RESPONSE_ID).note}" if view.note else view.text
    assert count(whole) + (envelope if view.text else 0) <= budget
    assert count(view.text) == view.tokens <= budget
    assert len(view.text) <= min(MAX_CHARS, CHARS_PER_TOKEN * budget)
    assert view.kind in VIEWS
    if kind:
        assert VIEWS.index(view.kind) >= VIEWS.index(kind) or part.get("offset")


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(text=DOCUMENTS, max_chars=st.integers(40, 900))
@example(text="# 水門\n\n👩‍👩‍👧 🇨🇭🇨🇭 `x`", max_chars=1)
def test_reading_on_ends_and_loses_nothing(text: str, max_chars: int) -> None:
    offset: int | None = 0
    said, calls, at = "", 0, 0
    while offset is not None:
        view = fit(Document(URL, text), max_chars=max_chars, offset=offset)
        said += view.text
        calls += 1
        assert view.next_offset is None or view.next_offset > at
        assert not (view.next_offset is None and view.truncated)
        at = offset = view.next_offset  # type: ignore[assignment]
        assert calls <= len(text) + 1
    letters: Callable[[str], str] = lambda any_text: re.sub(r"\W", "", any_text)  # noqa: E731
    assert len(letters(said)) >= len(letters(text)) - 20 * calls


def test_the_hard_bounds_hold_whatever_is_asked() -> None:
    view = fit(Document(URL, "word " * 400_000), budget=10**9, view="full")
    assert view.tokens <= MAX_TOKENS
    assert len(view.text) <= MAX_CHARS
    assert view.truncated


def test_one_budget_is_shared_by_relevance() -> None:
    assert share(1000, [3, 1], [5000, 5000]) == [750, 250]
    assert share(1000, [3, 1], [100, 5000]) == [100, 900]
    assert share(1000, [0, 0], [5000, 5000]) == [500, 500]
    assert share(10_000, [1, 2], [50, 70]) == [50, 70]
    assert share(3, [1, 1, 1, 1], [9, 9, 9, 9]) == [1, 1, 1, 0]
    assert share(5, [], []) == []


@given(
    budget=st.integers(0, 10_000),
    pages=st.lists(st.tuples(st.floats(-1, 10), st.integers(0, 5000)), max_size=12),
)
def test_shares_never_exceed_budget_or_need_and_waste_nothing(budget: int, pages: list[tuple[float, int]]) -> None:
    needs = [need for _, need in pages]
    shares = share(budget, [relevance for relevance, _ in pages], needs)
    assert all(0 <= got <= need for got, need in zip(shares, needs, strict=True))
    assert sum(shares) == min(budget, sum(needs))
