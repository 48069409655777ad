"""What a text is about, as terms: words, light stems, character 4-grams, and bigrams where words have no spaces. Pure.

No language is detected and no dictionary is asked: a term is only ever compared with terms made the same way. Words are
folded (case, compatibility forms, accents), so that `Müller` meets `MULLER`. Han, kana, Thai, Lao, Khmer and Burmese
runs become bigrams.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

GRAM = 4
_UNSPACED = (
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
    r"\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han, kana
)
_WORD = re.compile(rf"[{_UNSPACED}]+|\d+(?:[.,]\d+)*|[^\W\d_{_UNSPACED}]+(?:\d+|['’][^\W\d_{_UNSPACED}]+)*|\d+")
_BIGRAMMED = re.compile(rf"[{_UNSPACED}]")
_SUFFIXES = (
    "ations",
    "ation",
    "ingly",
    "edly",
    "ments",
    "ment",
    "ness",
    "ions",
    "ies",
    "ied",
    "ing",
    "ion",
    "ers",
    "est",
    "ed",
    "es",
    "er",
    "ly",
    "al",
    "s",
    "e",
)
_MARKS = re.compile(r"[\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0640]")


def folded(text: str) -> str:
    """Lower case, compatibility forms unified, accents and vowel points dropped."""
    if text.isascii():
        return text.lower()
    return _MARKS.sub("", unicodedata.normalize("NFKD", text.casefold()))


def words(text: str) -> list[str]:
    """The words of a text as they stand, runs without spaces in one piece."""
    return _WORD.findall(text)


def stem(word: str) -> str:
    """A word without its commonest English endings; at least three letters stay."""
    if not word.isascii() or not word.isalpha():
        return word
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= 3:
            return word[: -len(suffix)]
    return word


@lru_cache(maxsize=65_536)
def terms_of(word: str) -> tuple[str, ...]:
    """The terms of one word: itself, its stem (marked `~`) and its 4-grams (marked `#`), or bigrams."""
    if _BIGRAMMED.match(word):
        word = unicodedata.normalize("NFKC", word)
        return tuple(word[at : at + 2] for at in range(max(1, len(word) - 1)))
    word = folded(word)
    if word.endswith(("'s", "’s")):
        word = word[:-2]
    grams = [f"#{word[at : at + GRAM]}" for at in range(len(word) - GRAM + 1)] if len(word) > GRAM else []
    return (word, f"~{stem(word)}", *grams)


def terms(text: str) -> list[str]:
    """All terms of a text in order, repeated as often as they occur: what BM25 counts."""
    return [term for word in words(text) for term in terms_of(word)]
