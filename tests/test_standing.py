"""Which stretch of an answer a marker belongs to, and what happens to stretches that fall."""

from __future__ import annotations

import pytest

from cormorant.answer.standing import MISMATCH_MARK, UNSUPPORTED_MARK, claims, marked, standings

PAGE = "The gate at Norwell was built in 1974 by Ada Brandt. It weighs 31 tonnes."


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("A gate stands here. <source_1>", [("A gate stands here.", (1,))]),
        ("A gate stands here <source_1>.", [("A gate stands here", (1,))]),
        ("Not cited. A gate stands here <source_1>.", [("A gate stands here", (1,))]),
        ("A gate stands here <source_1><source_2>.", [("A gate stands here", (1, 2))]),
        ("It weighs 31 t <source_1>, and it is 12 m wide <source_2>.", [("It weighs 31 t", (1,)), ("and it is 12 m wide", (2,))]),
        ("- **Bold** claim here <source_1>\n- Another one <source_2>", [("Bold claim here", (1,)), ("Another one", (2,))]),
        ("`code <source_1>` and prose", []),
        ("<source_1>", []),
        ("", []),
    ],
)
def test_a_marker_belongs_to_what_stands_before_it(text: str, wanted: list[tuple[str, tuple[int, ...]]]) -> None:
    assert [(claim.text, claim.sources) for claim in claims(text)] == wanted


def test_a_claim_holds_when_one_of_its_sources_supports_it() -> None:
    (standing,) = standings("The gate weighs 31 tonnes <source_1><source_2>.", {1: "Bread is baked daily.", 2: PAGE})
    assert standing.holds
    assert [number for number, _ in standing.verdicts] == [1, 2]


def test_marks_stand_behind_the_citation() -> None:
    text = "The gate weighs 13 tonnes <source_1>. Bread is baked on Tuesdays in winter <source_1>. The gate weighs 31 tonnes <source_1>."
    out = marked(text, standings(text, {1: PAGE}), "mark")
    assert f"13 tonnes <source_1>{MISMATCH_MARK}." in out
    assert f"winter <source_1>{UNSUPPORTED_MARK}." in out
    assert out.endswith("31 tonnes <source_1>.")


def test_dropped_sentences_leave_readable_text() -> None:
    text = "Known well. The gate weighs 13 tonnes <source_1>. The gate weighs 31 tonnes <source_1>."
    assert marked(text, standings(text, {1: PAGE}), "drop") == "Known well. The gate weighs 31 tonnes <source_1>."
    assert marked("The gate weighs 13 tonnes <source_1>.", standings("The gate weighs 13 tonnes <source_1>.", {1: PAGE}), "drop") == ""


def test_a_source_that_is_not_there_gives_no_verdict() -> None:
    (standing,) = standings("The gate weighs 31 tonnes <source_7>.", {1: PAGE})
    assert standing.verdicts == ()
    assert not standing.holds
