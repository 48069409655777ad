"""What a text is about, as terms: words, light stems, character 4-grams, and bigrams where words have no spaces. Pure.

No language is detected and no dictionary is asked: a term is only ever compared with terms made the same way. Words are
folded (case, compatibility forms, accents), so that `Müller` meets `MULLER`. Han, kana, Thai, Lao, Khmer and Burmese
runs become bigrams.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache

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


# Words that ask or join and say little of what is asked about. They stay terms, at a low weight.
_FUNCTION_WORDS = (
    "a about according and are as at be been being by called can could did do does done for from had has have her him his how i if "
    "in into is it its kind many may mentioned might much must name named no not of often on or s shall she should so some than "
    "that the their them then there these they this those to type was we were what when where which who whom whose why will with "
    "would you aus bei das dass dem den der des die durch ein eine einem einen einer für hat im ist mit nach nicht oder sind über "
    "um und viele vom von war wann waren warum was welche welchem welchen welcher welches wem wen wer werden wessen wie wird wo "
    "wofür wodurch womit wurde wurden zu zum zur al como con cual cuál cuales cuáles cuando cuándo cuanto cuánto cuanta cuánta "
    "cuantos cuántos cuantas cuántas de del donde dónde el en era es fue fueron ha la las lo los para por porque qué que quien "
    "quién quienes quiénes se son su sus un una y au aux ce ces cette combien comment dans du est et il leur les ont ou où par pas "
    "pour pourquoi quand quel quelle quels quelles qui sont sur une che chi come dei della delle di dove e gli ho il nel per "
    "perché più quale quali quando quanti quanto sono as dos das em na no onde os qual quais quantos são uma в во за и из как "
    "какая какие каким какими каких какого какое какой какую когда кого кому кто куда на о об от по почему при с сколько то у что "
    "чего чем чему это был была были было не для до bir bu da de ne neden nerede nedir kaç kim kimin hangi hangisi için ile ilk mi "
    "mı nasıl olan olarak ve zaman kadar ما ماذا متى من أين كم كيف لماذا هل هو هي في على إلى عن أي التي الذي كان كانت "
)
_FUNCTION_WEIGHT = 0.3


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


def weight(word: str) -> float:
    """How much a word of a question says of what is asked: little for words that only ask or join."""
    return _FUNCTION_WEIGHT if folded(word) in _function_words() else 1.0


@cache
def _function_words() -> frozenset[str]:
    return frozenset(map(folded, _FUNCTION_WORDS.split()))
