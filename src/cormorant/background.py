"""How rare a word is in ordinary web text, so that a handful of passages need not say it themselves.

Twenty results for one question all hold its words: counted among themselves the telling words look common. The table
beside this file counts pages that hold each word and stem (see scripts/background.py); a word it does not know is rare.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from math import log

from cormorant import words

GRAM_SHARE = 0.3  # what a character 4-gram of a word weighs against the word


@cache
def _table() -> tuple[int, dict[str, int]]:
    """Pages counted, and pages by term."""
    lines = files("cormorant").joinpath("background.txt").read_text(encoding="utf-8").splitlines()
    counts: dict[str, int] = {}
    for line in lines[1:]:
        count, *terms = line.split(" ")
        counts.update(dict.fromkeys(terms, int(count)))
    return int(lines[0]), counts


def rarity(term: str) -> float:
    """The inverse document frequency of a term as `words.terms` makes them: 0.2 for `the`, 7.6 for what is in no page."""
    pages, counts = _table()
    return log(1 + (pages + 1) / (counts.get(term, 0) + 0.5))


def knows(term: str) -> bool:
    """Whether ordinary text holds it at all."""
    return term in _table()[1]


def weights(question: str) -> dict[str, float]:
    """Every term of a question with its weight: a word by the commoner of itself and its stem, its grams by a share of that."""
    found: dict[str, float] = {}
    for word in words.words(question):
        word_terms = words.terms_of(word)
        whole = [term for term in word_terms if not term.startswith("#")]
        of_word = min((rarity(term) for term in whole[:2]), default=0.0)
        if not any(_table()[1].get(term) for term in whole[:2]):  # `words` lists what only asks or joins in other languages
            of_word *= words.weight(word)
        for term in word_terms:
            found[term] = max(found.get(term, 0.0), of_word * (GRAM_SHARE if term.startswith("#") else 1.0))
    return found
