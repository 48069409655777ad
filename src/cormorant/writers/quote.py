"""The writer that needs no model: the sentences that answer best, each with its citation. Pure but for being async.

Within a page the sentences are scored as passages.py does; between pages the share of the question that a sentence has, and
how the page itself was ranked, make the scores comparable. What the answer shows is the page's own words.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

from cormorant import words
from cormorant.citations import Source
from cormorant.writers.bearing import Asked
from cormorant.writers.quotable import quotable

SENTENCES = 5
COVERED = 3.0  # what all the question's words in one sentence are worth, in standard deviations of its page
RANKED = 4.0  # what the best page's sentences gain over those of a page without a score
# What a further sentence must hold of what is enough: with its neighbours, or alone on the page that answers best.
BESIDE, BESIDE_ALONE = 0.5, 0.2
ALIKE = 0.75  # two sentences that share this part of their words say the same
PER_SOURCE = 12


@dataclass(frozen=True)
class Sentence:
    """A sentence that may be quoted."""

    source: int
    start: int
    text: str
    score: float
    words: frozenset[str]
    covered: float  # the share of the question that it has
    around: float  # the same with its neighbours and the title of its page


class Quote:
    """Quotes at most `sentences` sentences. Writes nothing when no sentence bears on the question."""

    label = "quote::extractive"

    def __init__(self, sentences: int = SENTENCES) -> None:
        self.sentences = sentences

    async def write(self, question: str, sources: Sequence[Source]) -> AsyncIterator[str]:
        """The answer in pieces, a sentence at a time, each followed by the markers of the sources that say so."""
        chosen = _chosen(_pool(question, sources), self.sentences)
        for n, (sentence, also) in enumerate(_in_order(chosen)):
            lead = "" if n == 0 else _gap(_in_order(chosen)[n - 1][0], sentence)
            yield f"{lead}{sentence.text} {''.join(f'<source_{number}>' for number in (sentence.source, *also))}"


def _pool(question: str, sources: Sequence[Source]) -> list[Sentence]:
    """Every sentence that bears on the question, best first; none when nothing holds enough of it to be an answer."""
    asked = Asked(question)
    top = max((source.score for source in sources), default=0.0) or 1.0
    found: list[Sentence] = []
    for source in sources:
        title = frozenset(words.terms(source.title))
        best = sorted(quotable(source.text, question), key=lambda one: (-one.score, one.start))[:PER_SOURCE]
        for one in best:
            covered = asked.share(one.terms)
            score = one.score + COVERED * covered + RANKED * source.score / top
            plain = frozenset(term for term in one.terms if term and term[0] not in "~#")
            found.append(Sentence(source.number, one.start, one.text, score, plain, covered, asked.share(one.around | title)))
    found.sort(key=lambda s: (-s.score, s.source, s.start))
    best_one = next((s for s in found if s.around >= asked.enough and s.covered > 0), None)
    if best_one is None:
        return []
    rest = [s for s in found if s is not best_one and s.covered > 0]
    alone, around = BESIDE_ALONE * asked.enough, BESIDE * asked.enough
    return [best_one, *(s for s in rest if (s.covered >= alone if s.source == best_one.source else s.around >= around))]


def _chosen(pool: Sequence[Sentence], most: int) -> list[tuple[Sentence, list[int]]]:
    """The best sentences, no two saying the same; a source that repeats one is named behind it."""
    kept: list[tuple[Sentence, list[int]]] = []
    for sentence in pool:
        twin = next(((other, also) for other, also in kept if _alike(sentence.words, other.words)), None)
        if twin is None:
            if len(kept) < most:
                kept.append((sentence, []))
        elif sentence.source != twin[0].source and sentence.source not in twin[1] and sentence.words == twin[0].words:
            twin[1].append(sentence.source)
    return kept


def _alike(mine: frozenset[str], theirs: frozenset[str]) -> bool:
    return len(mine & theirs) >= ALIKE * max(1, min(len(mine), len(theirs))) and len(mine & theirs) >= 0.6 * max(len(mine), len(theirs))


def _in_order(chosen: Sequence[tuple[Sentence, list[int]]]) -> list[tuple[Sentence, list[int]]]:
    """The source of the best sentence first; the sentences of one source in the order of its page."""
    best: dict[int, float] = {}
    for sentence, _ in chosen:
        best[sentence.source] = max(best.get(sentence.source, sentence.score), sentence.score)
    return sorted(chosen, key=lambda row: (-best[row[0].source], row[0].source, row[0].start))


def _gap(before: Sentence, after: Sentence) -> str:
    return " " if before.source == after.source else "\n\n"
