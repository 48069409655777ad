"""How much of a question a stretch of text holds, and how much it must hold to bear on it. Pure.

Counted by words: each weighs what it is rare in ordinary text, one that only asks or joins weighs little, and one whose
inflected form alone is there counts in part. Where words have no spaces, pairs of characters stand for them.
"""

from __future__ import annotations

import re
from collections.abc import Set

from cormorant import background, words

GRAMS_AT_LEAST, GRAMS_COUNT = 0.5, 0.8  # another form of a word: this share of its 4-grams is there, and counts so much
# What two neighbouring sentences must hold of a question before anything counts as an answer, measured on questions whose
# page was there and on the same ones without it (bench/answer_hits.py). Inflection and paraphrase lower it where the table
# of ordinary words does not know the language; pairs of Han characters cross words, pairs of Thai letters meet by chance.
ENOUGH_KNOWN, ENOUGH_UNKNOWN, ENOUGH_HAN, ENOUGH_UNSPACED = 0.5, 0.25, 0.14, 0.62
_HAN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")


class Asked:
    """A question as weighed words, each with the terms that say it is there."""

    def __init__(self, question: str) -> None:
        self._parts: list[tuple[float, tuple[str, ...], tuple[str, ...]]] = []
        spaced = known = 0
        for word in dict.fromkeys(words.folded(word) for word in words.words(question)):
            terms = words.terms_of(word)
            if _HAN.match(word) or _UNSPACED.match(word):
                self._parts += [(background.rarity(term), (term,), ()) for term in terms]
                continue
            whole = tuple(term for term in terms if not term.startswith("#"))
            weight = min(min(map(background.rarity, whole)), background.rarity("") * words.weight(word))
            self._parts.append((weight, whole, tuple(term for term in terms if term.startswith("#"))))
            spaced += 1
            known += any(map(background.knows, whole))
        self._total = sum(weight for weight, _, _ in self._parts) or 1.0
        self.enough = self._least(question, known / (spaced or 1))

    @staticmethod
    def _least(question: str, known: float) -> float:
        if _HAN.search(question):
            return ENOUGH_HAN
        return ENOUGH_UNSPACED if _UNSPACED.search(question) else ENOUGH_UNKNOWN + (ENOUGH_KNOWN - ENOUGH_UNKNOWN) * known

    def share(self, terms: Set[str]) -> float:
        """The share of the question that these terms have, 0..1."""
        return sum(weight * self._present(whole, grams, terms) for weight, whole, grams in self._parts) / self._total

    @staticmethod
    def _present(whole: tuple[str, ...], grams: tuple[str, ...], terms: Set[str]) -> float:
        if any(term in terms for term in whole):
            return 1.0
        share = sum(gram in terms for gram in grams) / len(grams) if grams else 0.0
        return GRAMS_COUNT * share if share >= GRAMS_AT_LEAST else 0.0
