"""Rerankers: one contract for all of them, and what each does by itself."""

from __future__ import annotations

from typing import Any

import pytest

from cormorant.rank.words import Words

pytestmark = pytest.mark.anyio
QUESTION = "When was the lock at Brimley opened?"
TEXTS = [
    "The ferry timetable changes in winter.",
    "The lock at Brimley opened in 1974 after six years of work.",
    "Brimley has a church and two mills.",
    "Locks are opened by hand on most canals.",
    "",
]
RERANKERS = [Words()]


@pytest.mark.parametrize("reranker", RERANKERS, ids=lambda r: r.label)
async def test_scores_are_one_a_text_between_nought_and_one(reranker: Any) -> None:
    scores = await reranker.score(QUESTION, TEXTS)
    assert len(scores) == len(TEXTS)
    assert all(0 <= score <= 1 for score in scores)


@pytest.mark.parametrize("reranker", RERANKERS, ids=lambda r: r.label)
async def test_the_answer_is_above_the_rest(reranker: Any) -> None:
    scores = await reranker.score(QUESTION, TEXTS)
    assert max(range(len(TEXTS)), key=lambda n: scores[n]) == 1


@pytest.mark.parametrize("reranker", RERANKERS, ids=lambda r: r.label)
async def test_the_same_call_gives_the_same_scores(reranker: Any) -> None:
    assert await reranker.score(QUESTION, TEXTS) == await reranker.score(QUESTION, TEXTS)


@pytest.mark.parametrize("reranker", RERANKERS, ids=lambda r: r.label)
@pytest.mark.parametrize(
    ("question", "texts"), [("", TEXTS), (QUESTION, []), ("…", TEXTS), (QUESTION, ["", ""]), ("x" * 900, ["x" * 9000])]
)
async def test_any_input_gets_scores(reranker: Any, question: str, texts: list[str]) -> None:
    assert len(await reranker.score(question, texts)) == len(texts)


@pytest.mark.parametrize("reranker", RERANKERS, ids=lambda r: r.label)
def test_a_label_says_kind_and_model(reranker: Any) -> None:
    assert "::" in reranker.label


async def test_a_text_without_a_word_of_the_question_scores_nought() -> None:
    scores = await Words().score("zebra migration", ["The zebra migration begins.", "Nothing here bears on it."])
    assert scores[0] > 0
    assert scores[1] == 0


@pytest.mark.parametrize(
    ("question", "right", "wrong"),
    [
        ("Cuándo se inauguró el puente de Olmeda", "El puente de Olmeda se inauguró en 1931.", "El molino se vendió en 1958."),
        ("青石大桥哪一年通车", "青石大桥于1974年建成通车。", "图书馆藏书三百万册。"),
        ("когда построена обсерватория", "Обсерватория построена в 1903 году.", "Завод выпускает велосипеды."),
        ("متى افتتح الجسر", "افتتح الجسر عام 1974.", "تضم المكتبة كتبا كثيرة."),
        ("สะพานเปิดใช้ปีใด", "สะพานเปิดใช้ในปี 2517", "เกาะนี้ไม่มีสนามบิน"),
    ],
)
async def test_every_script_is_ranked(question: str, right: str, wrong: str) -> None:
    scores = await Words().score(question, [wrong, right])
    assert scores[1] > scores[0]


async def test_what_the_best_texts_share_lifts_the_others_that_have_it() -> None:
    texts = [
        "Who won the Norwell regatta in 1990? Adelheid Brandt won the Norwell regatta in 1990.",
        "The Norwell regatta of 1990 was won by Adelheid Brandt.",
        "The regatta has rules about oars and rain.",
        "At the regatta Adelheid Brandt rowed for her club.",
    ]
    scores = await Words().score("Who won the Norwell regatta in 1990?", texts)
    assert scores[3] > scores[2]
