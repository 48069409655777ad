"""Rerankers: one contract for all of them, and what each does by itself."""

from __future__ import annotations

from json import dumps
from typing import Any

import pytest

from cormorant.errors import NotConfigured, ProviderError, RateLimited
from cormorant.rank import maxsim
from cormorant.rank.api import Api
from cormorant.rank.maxsim import MaxSim
from cormorant.rank.words import Words
from cormorant.search import Reply
from cormorant.settings import Settings

pytestmark = pytest.mark.anyio
QUESTION = "When was the lock at Brimley opened?"
TEXTS = [
    "The ferry timetable changes in winter.",
    "The lock at Brimley opened in 1974 after six years of work.",
    "Brimley has a church and two mills.",
    "Locks are opened by hand on most canals.",
    "",
]


def installed() -> list[Any]:
    """`words` always; `maxsim` where its extra is installed."""
    try:
        return [Words(), MaxSim()]
    except NotConfigured:
        return [Words()]


RERANKERS = installed()


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


def test_a_model_file_that_is_not_the_measured_one_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    package = tmp_path / "a_model_package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "model.onnx").write_bytes(b"something else")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setitem(maxsim.FILES, "model", ("a_model_package", "model.onnx", "0" * 64))
    with pytest.raises(NotConfigured, match="not the one"):
        maxsim._file("model")
    monkeypatch.setitem(maxsim.FILES, "model", ("no_such_package_here", "model.onnx", "0" * 64))
    with pytest.raises(NotConfigured) as caught:
        maxsim._file("model")
    assert "cormorant[rerank]" in caught.value.remedy


SHAPES = {
    "cohere": {"results": [{"index": 1, "relevance_score": 0.9}, {"index": 0, "relevance_score": 0.1}]},
    "jina": {"results": [{"index": 1, "relevance_score": 0.9, "document": {"text": "x"}}, {"index": 0, "relevance_score": 0.1}]},
    "voyage": {"object": "list", "data": [{"index": 1, "relevance_score": 0.9}, {"index": 0, "relevance_score": 0.1}]},
    "tei": [{"index": 1, "score": 0.9}, {"index": 0, "score": 0.1}],
}
KEYS = {"COHERE_API_KEY": "sk-1", "JINA_API_KEY": "sk-1", "VOYAGE_API_KEY": "sk-1"}
URLS = {"rerank-tei": "http://127.0.0.1:9/rerank"}


def service(kind: str, answer: Any, status: int = 200) -> tuple[Api, list[dict[str, Any]]]:
    """A reranking service that answers so, and what it was asked."""
    asked: list[dict[str, Any]] = []

    async def request(method: str, url: str, *, headers: Any = None, json: Any = None, **_: Any) -> Reply:
        asked.append({"method": method, "url": url, "headers": dict(headers or {}), "json": json})
        return Reply(status, {}, dumps(answer).encode() if not isinstance(answer, bytes) else answer)

    settings = Settings.model_validate({"keys": KEYS, "search": {"urls": URLS}, "answer": {"reranker": kind}})
    return Api(settings, request), asked


@pytest.mark.parametrize("kind", SHAPES)
async def test_each_service_is_asked_and_read_in_its_own_shape(kind: str) -> None:
    reranker, asked = service(kind, SHAPES[kind])
    assert await reranker.score("q", ["a", "b"]) == [0.1, 0.9]
    (sent,) = asked
    assert sent["method"] == "POST"
    assert sent["json"]["query"] == "q"
    assert sent["json"]["texts" if kind == "tei" else "documents"] == ["a", "b"]
    assert (sent["headers"].get("Authorization") == "Bearer sk-1") is (kind != "tei")
    assert reranker.label.startswith(f"{kind}::")


async def test_logits_become_shares_and_unnamed_texts_score_nought() -> None:
    reranker, _ = service("tei", [{"index": 1, "score": 4.0}, {"index": 0, "score": -4.0}])
    low, high, none = await reranker.score("q", ["a", "b", "c"])
    assert 0 < low < 0.05 < 0.95 < high < 1
    assert none == 0


@pytest.mark.parametrize(("status", "kind"), [(401, ProviderError), (429, RateLimited), (500, ProviderError)])
async def test_a_refusal_is_typed_and_shows_no_key(status: int, kind: type[Exception]) -> None:
    reranker, _ = service("cohere", {"message": "bad key sk-1"}, status)
    with pytest.raises(kind) as caught:
        await reranker.score("q", ["a"])
    assert "sk-1" not in str(caught.value)


@pytest.mark.parametrize("answer", [{}, {"results": [{"index": 9, "relevance_score": 1}]}, {"results": [{}]}, {"results": []}, b"<x>", [1]])
async def test_an_undocumented_answer_is_typed(answer: Any) -> None:
    reranker, _ = service("cohere", answer)
    with pytest.raises(ProviderError):
        await reranker.score("q", ["a"])


@pytest.mark.parametrize(("name", "says"), [("cohere", "COHERE_API_KEY"), ("tei", "address"), ("nobody", "no reranking service")])
def test_what_a_service_lacks_is_named(name: str, says: str) -> None:
    async def request(*_: Any, **__: Any) -> Reply:
        raise AssertionError

    with pytest.raises(NotConfigured, match=says):
        Api(Settings(), request, name=name)


@pytest.mark.parametrize("text", ["ـــ", "\u064b\u064c", "\u0301", "️", "\u200d\u200d", "ªº", "𝟙𝟚"])
async def test_text_that_folds_to_nothing_is_scored(text: str) -> None:
    texts = [f"{text} when was the lock opened {text}"] * 3 + [text]
    assert len(await Words().score(f"when {text}", texts)) == 4
