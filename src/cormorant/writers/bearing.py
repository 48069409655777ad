"""How much of a question a stretch of text holds, and how much it must hold to bear on it. Pure.

Counted by words: each weighs what it is rare in ordinary text, one that only asks or joins weighs little, and one whose
inflected form alone is there counts in part. Where words have no spaces, pairs of characters stand for them.
"""

from __future__ import annotations

import re
from collections.abc import Set
from math import log

from cormorant import background, words

GRAMS_AT_LEAST, GRAMS_COUNT = 0.5, 0.8  # another form of a word: this share of its 4-grams is there, and counts so much
# What must be held of a question before anything counts as an answer, measured on questions whose page was there and on the same
# ones without it (bench/answer_hits.py): the shares of the best sentences, of what stands around them and half that of their page.
# The more sentences there are, the more hold it by chance; inflection and paraphrase lower it where the table of ordinary words
# does not know the language; pairs of Han characters cross words, pairs of Thai letters meet by chance.
ENOUGH, ENOUGH_KNOWN, ENOUGH_MANY = 0.23, 0.48, 0.116
ENOUGH_HAN, ENOUGH_UNSPACED = 0.42, 1.42
FEW, ENOUGH_OF_FEW = 2, 0.7  # a question with so few telling words is answered where about all of them stand together
JOINS = 0.1  # of the rarest word: what a word that only asks or joins weighs at most
_HAN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")


class Asked:
    """A question as weighed words, each with the terms that say it is there."""

    def __init__(self, question: str) -> None:
        self._parts: list[tuple[float, tuple[str, ...], tuple[str, ...]]] = []
        self._telling: list[tuple[float, tuple[str, ...], tuple[str, ...]]] = []  # those that do not only ask or join
        spaced = known = 0
        for word in dict.fromkeys(words.folded(word) for word in words.words(question)):
            terms = words.terms_of(word)
            if _HAN.match(word) or _UNSPACED.match(word):
                self._parts += [(background.rarity(term), (term,), ()) for term in terms]
                continue
            whole = tuple(term for term in terms if not term.startswith("#"))
            weight = min(min(map(background.rarity, whole)), background.rarity("") * (1.0 if words.weight(word) == 1.0 else JOINS))
            self._parts.append((weight, whole, tuple(term for term in terms if term.startswith("#"))))
            spaced += 1
            self._telling += self._parts[-1:] if words.weight(word) == 1.0 else []
            known += any(map(background.knows, whole))
        self._terms = frozenset(term for _, whole, grams in self._parts for term in (*whole, *grams))
        self._seen: dict[str, frozenset[str]] = {}  # by word: what of the question it holds
        self._shares: dict[Set[str], float] = {}  # many sentences hold the same of it
        self._total = sum(weight for weight, _, _ in self._parts) or 1.0
        self._question, self._known = question, known / (spaced or 1)
        self._few = 0 < len(self._telling) <= FEW and spaced == len(self._parts)

    def answered(self, bears: float, told: float, many: int) -> bool:
        """Whether the best of `many` sentences, which hold `bears` of the question and with their neighbours `told` of what it asks
        about, answer it."""
        return bears >= self._enough(many) and (told >= ENOUGH_OF_FEW or not self._few)

    def _enough(self, many: int) -> float:
        if _HAN.search(self._question):
            return ENOUGH_HAN
        if _UNSPACED.search(self._question):
            return ENOUGH_UNSPACED
        return ENOUGH + ENOUGH_KNOWN * self._known + ENOUGH_MANY * log(1 + many)

    def held(self, text: str) -> frozenset[str]:
        """The terms of the question that stand in a text."""
        return frozenset[str]().union(*map(self._held, words.words(text)))

    def _held(self, word: str) -> frozenset[str]:
        found = self._seen.get(word)
        if found is None:
            found = self._seen[word] = self._terms.intersection(words.terms_of(word))
        return found

    def share(self, terms: frozenset[str]) -> float:
        """The share of the question that these terms have, 0..1."""
        found = self._shares.get(terms)
        if found is None:
            found = self._shares[terms] = self._weighed(self._parts, terms) / self._total
        return found

    def told(self, terms: frozenset[str]) -> float:
        """The share of the words that say what the question is about, 0..1."""
        return self._weighed(self._telling, terms) / (sum(weight for weight, _, _ in self._telling) or 1.0)

    def _weighed(self, parts: list[tuple[float, tuple[str, ...], tuple[str, ...]]], terms: frozenset[str]) -> float:
        return sum(weight * self._present(whole, grams, terms) for weight, whole, grams in parts)

    @staticmethod
    def _present(whole: tuple[str, ...], grams: tuple[str, ...], terms: Set[str]) -> float:
        if any(term in terms for term in whole):
            return 1.0
        share = sum(gram in terms for gram in grams) / len(grams) if grams else 0.0
        return GRAMS_COUNT * share if share >= GRAMS_AT_LEAST else 0.0
