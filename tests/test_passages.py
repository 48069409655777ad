"""Passages answer the question, fit the budget, and are the page's own words."""

from __future__ import annotations

import random
import time
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cormorant import tokens, words
from cormorant.passages import explain, pick, relevance
from cormorant.passages.sentences import sentences
from support_markdown import DOCUMENTS

TOPICS = ["lamp", "gate", "wall", "sluice", "mole", "crane", "ferry", "bell", "buoy", "chart"]


def long_page(paragraphs: int) -> str:
    made = random.Random(5)
    vocabulary = [
        "harbour",
        "keeper",
        "timber",
        "winter",
        "tide",
        "repair",
        "stone",
        "rope",
        "morning",
        "boat",
        "master",
        "cargo",
        "light",
        "storm",
    ]
    said = []
    for n in range(paragraphs):
        topic = TOPICS[n % len(TOPICS)]
        lines = [f"The {topic} {made.choice(vocabulary)} {' '.join(made.choices(vocabulary, k=12))} number {n}." for _ in range(6)]
        said.append(" ".join(lines))
    return "\n\n".join(said)


PAGE = f"""{long_page(40)}

The lighthouse of Harlow was built in 1874 by the engineer Ada Brandt. It stands 41 metres tall. Its lamp burns colza oil.

{long_page(40)}
"""


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        pytest.param("When was the lighthouse of Harlow built?", "1874", id="when"),
        pytest.param("Who built the Harlow lighthouse?", "Ada Brandt", id="who"),
        pytest.param("How tall is the lighthouse?", "41 metres", id="how tall"),
        pytest.param("What do lighthouses burn, colza?", "colza oil", id="another form of a word"),
    ],
)
def test_the_sentence_that_answers_is_among_the_passages(question: str, answer: str) -> None:
    picked = pick(PAGE, question, budget=120)
    assert any(answer in passage.text for passage in picked)


@pytest.mark.parametrize(
    ("text", "question", "answer"),
    [
        pytest.param("堤防は石で造られた。水門は一九七四年に完成した。灯台は赤い。", "水門はいつ完成したか", "水門は", id="Japanese"),
        pytest.param("กำแพงสร้างด้วยหิน ประตูน้ำสร้างเสร็จในปี 1974 ประภาคารทาสีแดง", "ประตูน้ำสร้างเสร็จเมื่อใด", "1974", id="Thai"),
        pytest.param("Стену построили из камня. Шлюз открыли в 1974 году. Маяк красный.", "Когда открыли шлюз?", "1974", id="Russian"),
        pytest.param("بني الجدار من الحجر. افتتحت البوابة عام 1974. المنارة حمراء.", "متى افتتحت البوابة؟", "1974", id="Arabic"),
        pytest.param(
            "Die Mauer ist aus Stein. Das Müllerhaus steht seit 1974. Rot ist die Lampe.",
            "Seit wann steht das MULLERHAUS?",
            "1974",
            id="German",
        ),
    ],
)
def test_every_script_works_without_being_told(text: str, question: str, answer: str) -> None:
    best = explain(text, question)[0]
    assert answer in text[best.start : best.end]


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(text=DOCUMENTS, question=st.text(max_size=60), budget=st.integers(0, 400))
def test_passages_are_slices_in_order_within_the_budget(text: str, question: str, budget: int) -> None:
    picked = pick(text, question, budget=budget)
    count = tokens.counter().count
    assert sum(count(passage.text) for passage in picked) <= budget
    assert count("\n".join(passage.text for passage in picked)) <= budget
    for passage in picked:
        assert passage.text == text[passage.start : passage.end]
        assert passage.text.strip()
    assert all(one.end <= other.start for one, other in pairwise(picked))
    assert len({passage.id for passage in picked}) == len(picked)


def test_the_same_passage_has_the_same_id_and_another_document_another() -> None:
    once, twice = pick(PAGE, "lighthouse", budget=60), pick(PAGE, "lighthouse", budget=60)
    assert once == twice
    elsewhere = pick(PAGE, "lighthouse", budget=60, document="https://site.example/")
    assert [p.start for p in elsewhere] == [p.start for p in once]
    assert elsewhere[0].id != once[0].id


def test_a_paragraph_is_also_about_what_its_heading_says() -> None:
    parts = [f"## {name}\n\nUse the package of your distribution. It needs no compiler." for name in ("Windows", "Linux", "BSD")]
    text = "\n\n".join(["# Install", *parts])
    best = next(parts for parts in explain(text, "How do I install it on Linux?") if not text[parts.start :].startswith("#"))
    assert text.rfind("## Linux", 0, best.start) > text.rfind("## Windows", 0, best.start) > -1
    assert "BSD" not in text[: best.start]


def test_a_score_can_be_explained() -> None:
    best = explain(PAGE, "When was the lighthouse of Harlow built?")[0]
    assert "1874" in PAGE[best.start : best.end]
    assert best.score == pytest.approx(best.near + best.paragraph + best.cue + best.cover)
    assert {"lighthouse", "harlow", "lighthouse … harlow"} <= set(best.terms)
    assert best.cue > 0


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        pytest.param("Dr. Brandt came. She left.", ["Dr. Brandt came.", "She left."], id="title"),
        pytest.param("**It opens.** The fee is 5. _Rest._ More.", ["**It opens.**", "The fee is 5.", "_Rest._", "More."], id="emphasis"),
        pytest.param("J. R. Brandt et al. wrote Fig. 3. It is red.", ["J. R. Brandt et al. wrote Fig. 3.", "It is red."], id="initials"),
        pytest.param("it is 3.5 m wide. see the plan.", ["it is 3.5 m wide.", "see the plan."], id="all in lower case"),
        pytest.param("水門です。赤い！次の文", ["水門です。", "赤い！", "次の文"], id="ideographic stops"),
        pytest.param("「はい。」と言った。", ["「はい。」", "と言った。"], id="closing bracket stays"),
        pytest.param("- one\n- two", ["- one", "- two"], id="items"),
        pytest.param("| a | b |\n|---|---|\n| x. Y | 2 |\n| z | 3 |", ["| x. Y | 2 |", "| z | 3 |"], id="rows are not cut"),
        pytest.param("```\na. B\nc. D\n```", ["```\na. B\nc. D\n```"], id="code is not cut"),
        pytest.param("", [], id="nothing"),
    ],
)
def test_where_sentences_end(text: str, parts: list[str]) -> None:
    assert [text[start:end] for start, end in sentences(text)] == parts


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("x" * 3_000, id="one word"),
        pytest.param("x" * 900 + " " + "y" * 900, id="two words"),
        pytest.param("word " * 500, id="no full stop"),
        pytest.param("水" * 2_000, id="ideographs"),
        pytest.param("ประตูน้ำ" * 60 + " " + "ประภาคาร" * 60, id="Thai"),
        pytest.param("👩‍👩‍👧" * 400, id="visible characters of many code points"),
    ],
)
def test_a_sentence_without_end_is_cut_between_words(text: str) -> None:
    spans = sentences(text)
    assert "".join(text[a:b] for a, b in spans).replace(" ", "") == text.replace(" ", "")
    for start, end in spans:
        before, after = text[end - 1 : end], text[end : end + 1]
        assert not after.strip() or after == before == "水"
        assert start == 0 or text[start - 1] in " 水"


def test_lines_that_a_typist_wrapped_are_one_sentence() -> None:
    text = "The keeper opens the gate at low tide and writes\nthe time in a book that nobody but the auditor\nhas read in years. He is old."
    assert [text[a:b].count("\n") for a, b in sentences(text)] == [2, 0]


def test_relevance_tells_pages_apart_and_stays_between_0_and_1() -> None:
    question = "When was the lighthouse of Harlow built?"
    about, beside, nothing = relevance(PAGE, question), relevance(long_page(20), question), relevance("", question)
    assert 1 >= about > beside >= nothing == 0
    assert relevance(PAGE, "") == 0


def test_terms_meet_across_case_accents_and_endings() -> None:
    assert set(words.terms("Müller")) & set(words.terms("MULLERS"))
    assert set(words.terms("東京タワー")) & set(words.terms("東京"))
    assert words.weight("what") < words.weight("lamp") == 1


def test_a_page_of_a_megabyte_takes_linear_time() -> None:
    small, large = long_page(300), long_page(2400)
    pick(small, "lamp", budget=500)
    first = _seconds(small)
    assert _seconds(large) < 16 * first + 0.5


def _seconds(text: str) -> float:
    start = time.process_time()
    pick(text, "When did the lamp keeper repair the crane in winter?", budget=500)
    return time.process_time() - start


@pytest.mark.parametrize("unit", ["[", "|", "`", "- ", "> ", "a.", "# \n", "| a |\n", "ก", "x\n", "\n", "<a ", "*"])
def test_hostile_text_stays_quick(unit: str) -> None:
    from cormorant.document import Document
    from cormorant.view import fit

    text = unit * (200_000 // len(unit))
    start = time.process_time()
    pick(text, "a lamp", budget=300)
    fit(Document("https://site.example/", text), budget=300)
    fit(Document("https://site.example/", text), max_chars=2_000)
    assert time.process_time() - start < 8
