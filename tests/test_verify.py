"""Claims against pages: what holds, what is contradicted, in which script whatever."""

from __future__ import annotations

import random
import time

import pytest

from cormorant.verify import Verdict, support, verify
from cormorant.verify.comparing import same
from cormorant.verify.quantities import quantities
from support_twins import TWINS

GATE = (
    "The sluice gate at Norwell was built in 1974 by Ada Brandt. It is 12 metres wide and weighs 31 tonnes. "
    "It was not repaired until 1982. In a normal year about 4,000 boats pass it; in 1990 only 2,150 did. "
    "The keeper's house stands empty."
)


def one(claim: str, source: str = GATE) -> Verdict:
    (verdict,) = verify([(claim, 0)], [source])
    return verdict


@pytest.mark.parametrize(("language", "kind", "page", "false", "true"), TWINS, ids=[f"{t[0]}-{t[1]}-{n}" for n, t in enumerate(TWINS)])
def test_one_changed_fact_is_caught_and_its_true_twin_is_not(language: str, kind: str, page: str, false: str, true: str) -> None:
    wrong, right = verify([(false, 0), (true, 0)], [page])
    assert wrong.verdict in ("mismatch", "unsupported"), wrong
    assert right.verdict in ("exact", "close"), right
    assert wrong.score < 0.5 <= right.score


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        pytest.param("It is 12 metres wide and weighs 31 tonnes.", "exact", id="word by word"),
        pytest.param("it is 12 metres wide and weighs 31 tonnes", "exact", id="case and marks aside"),
        pytest.param("Ada Brandt built the sluice gate at Norwell in 1974.", "close", id="other order"),
        pytest.param("The gate weighs 31,000 kg.", "close", id="converted unit"),
        pytest.param("The gate weighs thirty-one tonnes.", "close", id="number in words"),
        pytest.param("The sluice gate at Norwell was built in 1982.", "mismatch", id="a year of another sentence"),
        pytest.param("The gate was repaired in 1982.", "close", id="not until is when"),
        pytest.param("The gate is 12 miles wide.", "mismatch", id="unit"),
        pytest.param("The gate weighs 13 tonnes.", "mismatch", id="number"),
        pytest.param("The sluice gate at Norwell was built by Ida Brandt.", "mismatch", id="name"),
        pytest.param("The keeper's house does not stand empty.", "mismatch", id="negation"),
        pytest.param("In a normal year about 4,000 trucks cross the bridge at Leeds.", "unsupported", id="another place"),
        pytest.param("Salmon spawn in cold gravel beds.", "unsupported", id="another matter"),
        pytest.param("The sluice gate was built in 1974 and cost 900 pounds.", "unsupported", id="a figure the page never gives"),
    ],
)
def test_rulings(claim: str, verdict: str) -> None:
    assert one(claim).verdict == verdict, one(claim)


def test_span_and_quote_are_where_the_page_speaks() -> None:
    verdict = one("The gate weighs 31 tonnes.")
    assert verdict.span is not None
    assert GATE[slice(*verdict.span)] == verdict.quote == "It is 12 metres wide and weighs 31 tonnes."


def test_a_mismatch_says_what_differs() -> None:
    assert "1982" in one("The sluice gate at Norwell was built in 1982.").reason
    assert "1974" in one("The sluice gate at Norwell was built in 1982.").reason


@pytest.mark.parametrize("claim", ["", "   ", "…", "😀", "a" * 5000, "\ud800", "1" * 400])
@pytest.mark.parametrize("source", ["", " \n ", GATE, "😀", "\ud800 x", "|" * 3000, "9" * 3000])
def test_any_text_gets_a_verdict(claim: str, source: str) -> None:
    (verdict,) = verify([(claim, 0)], [source])
    assert verdict.verdict in ("exact", "close", "mismatch", "unsupported")
    assert 0 <= verdict.score <= 1
    assert verdict.span is None or source[slice(*verdict.span)] == verdict.quote


def test_each_claim_is_held_against_its_own_source() -> None:
    verdicts = verify([("The gate weighs 31 tonnes.", 1), ("The gate weighs 31 tonnes.", 0)], ["Nothing of the sort.", GATE])
    assert [(v.source, v.holds) for v in verdicts] == [(1, True), (0, False)]


def test_an_unknown_source_is_an_error() -> None:
    with pytest.raises(IndexError):
        verify([("x", 3)], [GATE])


def test_support_ranks_the_truth_above_its_distortions() -> None:
    true = support("The sluice gate at Norwell was built in 1974 by Ada Brandt.", GATE)
    others = [
        "The sluice gate at Norwell was built in 1982 by Ada Brandt.",
        "The sluice gate at Norwell was built in 1974 by Ida Brandt.",
        "The sluice gate at Norwell was not built in 1974 by Ada Brandt.",
        "The sluice gate at Norwell was closed in 1971 by Ada Brandt.",
    ]
    assert all(support(other, GATE) < true for other in others)


def test_the_same_question_gets_the_same_answer() -> None:
    assert one("The gate was built in 1974.") == one("The gate was built in 1974.")


@pytest.mark.parametrize(
    ("claimed", "stated", "equal"),
    [
        ("1,200 km", "1.200 Kilometer", True),
        ("1,200 km", "1200公里", True),
        ("1200 km", "١٢٠٠ كيلومتر", True),
        ("twelve hundred people", "1200 people", True),
        ("in nineteen seventy-four", "in 1974", True),
        ("in 1974", "一九七四年", True),
        ("in 1974", "昭和49年", True),
        ("in 1974", "พ.ศ. 2517", True),
        ("in 1974", "१९७४ में", True),
        ("in 1974", "in 1982", False),
        ("neunzehnhundertvierundsiebzig", "1974", True),
        ("mil novecientos setenta y cuatro", "1974", True),
        ("35,000 units", "3万5千台", True),
        ("3 March 1974", "1974-03-03", True),
        ("5 million", "5 billion", False),
        ("5 km", "5 miles", False),
        ("5 miles", "8 km", True),
        ("2 tonnes", "2000 kg", True),
        ("41 %", "41.3 %", False),
        ("about 41 %", "41.3 %", True),
        ("over 260,000 books", "263,412 books", True),
        ("over 260,000 books", "251,000 books", False),
        ("$5.2m", "5.2 million dollars", True),
        ("$5.2m", "€5.2m", False),
        ("-5 °C", "5 °C", False),
        ("1970s", "1974", True),
        ("1970s", "1982", False),
    ],
)
def test_figures_compare_as_values(claimed: str, stated: str, equal: bool) -> None:
    mine, theirs = quantities(claimed), quantities(stated)
    assert mine
    assert theirs
    assert all(any(same(q, other) for other in theirs) for q in mine) is equal


def test_ten_thousand_characters_are_read_in_milliseconds() -> None:
    page = " ".join(f"In {1900 + n} the ferry carried {n * 137} passengers to Norwell and back." for n in range(150))
    start = time.process_time()
    one("In 1950 the ferry carried 6850 passengers to Norwell.", page)
    assert time.process_time() - start < 1.0  # measured near 10 ms; the bound is for a busy machine


PIECES = [
    "1974",
    "١٩٧٤",
    "ــ",
    "ً",
    "พ.ศ. 2517",
    "第三",
    "三千五百万",
    "not ",
    "ไม่",
    "不",
    "No. ",
    "May",
    "über ",
    "�",
    "💧",
    "\u200d",
    "IX ",
    "XIIII",
    "$",
    "€5m",
    "1.234,56",
    "1,2,3,4",
    "--",
    "[1]",
    "(",
    "\n",
    "# ",
    "```",
    "the ",
    "Gate ",
    "was ",
    "昭和49年",
    "3万5千",
    "5 km",
    "miles",
    "−5 °C",
    "100%",
    "٪",
    "ª",
    "½",
    "²",
    "१९७४",
    "लाख",
    "ألف",
    "و",
    "ein",
    "und",
    "zwanzig",
    "dix",
    "-sept",
    "。",
    "！",
    "،",
]


def test_any_mixture_of_scripts_gets_a_verdict() -> None:
    chance = random.Random(4)
    for _ in range(300):
        claim = "".join(chance.choice(PIECES) for _ in range(chance.randint(0, 12)))
        source = "".join(chance.choice(PIECES) for _ in range(chance.randint(0, 40)))
        (verdict,) = verify([(claim, 0)], [source])
        assert 0 <= verdict.score <= 1
        assert verdict.span is None or source[slice(*verdict.span)] == verdict.quote
