"""The writer that needs no model: the sentences that answer best, each with its citation. Pure but for being async.

Within a page the sentences are scored as passages.py does; between pages the share of the question that a sentence has, and
how the page itself was ranked, make the scores comparable. What the answer shows is the page's own words: the best sentence
first, what else its page says of it behind that in the page's order, then the other pages.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, field

from cormorant import words
from cormorant.citations import Source
from cormorant.writers.bearing import Asked
from cormorant.writers.quotable import Page, Quotable
from cormorant.writers.wanted import wanted

SENTENCES = 5
# What makes sentences of different pages comparable: how near a sentence comes to the best one of its page, the share of the question
# that it has, the same with what stands around it, and how near its page comes to the best page. Set on the even pages of the sets of
# bench/answer_hits.py, which reports on the odd ones.
NEAREST, COVERED, AROUND, RANKED = 5.0, 3.0, 3.0, 10.0
SUREST = 3  # sentences that are looked at to tell whether anything answers
WHOLE_PAGE = 0.5  # of the question's share in a whole page, beside that of a sentence and of what stands around it
# What a further sentence must hold of what the best one has: on its page, and on another.
BESIDE_ALONE, BESIDE = 0.4, 0.9
ALIKE = 0.75  # two sentences that share this part of their words say the same
PER_SOURCE = 16


@dataclass(frozen=True)
class Sentence:
    """A sentence that may be quoted. `bears` is how much of the question it, its surroundings and its page hold together."""

    source: int
    part: Quotable
    score: float
    words: frozenset[str]
    covered: float  # the share of the question that it has
    around: float  # the same with its neighbours, its headings and the title of its page
    told: float  # of the words that say what is asked about, the share that it has with them
    page: float  # the share of the question that its whole page has

    @property
    def bears(self) -> float:
        return self.covered + self.around + WHOLE_PAGE * self.page

    def follows(self, other: Sentence) -> bool:
        return self.source == other.source and self.part.place == other.part.place + 1


@dataclass
class Kept:
    """A sentence that is quoted, with the sentence before it where `brings`, and the other sources that say the same."""

    sentence: Sentence
    brings: bool = False
    also: list[int] = field(default_factory=list)


class Quote:
    """Quotes at most `sentences` sentences. Writes nothing when no sentence bears on the question."""

    label = "quote::extractive"

    def __init__(self, sentences: int = SENTENCES) -> None:
        self.sentences = sentences

    async def write(self, question: str, sources: Sequence[Source]) -> AsyncIterator[str]:
        """The answer in pieces, a sentence at a time, each followed by the markers of the sources that say so."""
        for piece in _said(_pool(question, sources), self.sentences):
            yield piece


def _said(pool: Sequence[Sentence], most: int) -> Iterator[str]:
    chosen = _in_order(_chosen(pool, most))
    for n, one in enumerate(chosen):
        yield ("" if n == 0 else _gap(chosen[n - 1].sentence, one.sentence)) + _cited(one)


def _pool(question: str, sources: Sequence[Source]) -> list[Sentence]:
    """Every sentence that bears on the question, best first; none when nothing holds enough of it to be an answer."""
    found, many = _scored(question, sources)
    asked = Asked(question)
    surest = [one for one in found[:SUREST] if one.covered > 0]
    if not surest:
        return []
    best = surest[0]
    around = max(one.around for one in surest)
    told = max(one.told for one in surest)
    if not asked.answered(max(one.covered for one in surest) + around + WHOLE_PAGE * best.page, told, many):
        return []
    return [best, *(one for one in found if one is not best and _belongs(one, best))]


def _scored(question: str, sources: Sequence[Source]) -> tuple[list[Sentence], int]:
    """The best sentences of each page, best first, and how many there were to choose from."""
    asked, kind = Asked(question), wanted(question)
    top = max((source.score for source in sources), default=0.0) or 1.0
    found: list[Sentence] = []
    many = 0
    for source in sources:
        page = Page(source.page or source.text, question, asked, kind)
        parts = list(page.quotable())
        many += len(parts)
        title = asked.held(source.title)
        whole = asked.share(page.terms | title)
        most = max((one.score for one in parts), default=0.0)
        near = NEAREST / most if most > 0 else 0.0
        for one in sorted(parts, key=lambda one: (-near * one.score - one.lift, one.start))[:PER_SOURCE]:
            near_by = one.around | title
            covered, around = asked.share(one.terms), asked.share(near_by)
            score = near * one.score + one.lift + COVERED * covered + AROUND * around + RANKED * source.score / top
            plain = frozenset(term for term in words.terms(one.text) if term and term[0] not in "~#")
            found.append(Sentence(source.number, one, score, plain, covered, around, asked.told(near_by), whole))
    return sorted(found, key=lambda s: (-s.score, s.source, s.part.start)), many


def _belongs(one: Sentence, best: Sentence) -> bool:
    """Whether a further sentence is part of the answer that the best one begins."""
    if one.source == best.source and not one.part.code:
        return one.part.block == best.part.block or one.covered >= BESIDE_ALONE * best.covered
    return one.covered > 0 and one.bears >= BESIDE * best.bears


def _chosen(pool: Sequence[Sentence], most: int) -> list[Kept]:
    """The best sentences, no two saying the same; a source that repeats one is named behind it.

    One that needs the sentence before brings it, or stays out where there is no room left for both.
    """
    kept: list[Kept] = []
    left = most
    for sentence in pool:
        twin = next((one for one in kept if _alike(sentence.words, one.sentence.words)), None)
        if twin is not None:
            if sentence.source not in (twin.sentence.source, *twin.also) and sentence.words == twin.sentence.words:
                twin.also.append(sentence.source)
            continue
        if any(one.brings and one.sentence.follows(sentence) for one in kept):
            continue
        brings = bool(sentence.part.needs) and not any(sentence.follows(one.sentence) for one in kept)
        if brings and left == most == 1:
            brings = False  # a single sentence is asked for, and this is the one
        cost = sentence.part.costs + brings
        if cost <= left:
            kept.append(Kept(sentence, brings))
            left -= cost
    return kept


def _alike(mine: frozenset[str], theirs: frozenset[str]) -> bool:
    return len(mine & theirs) >= ALIKE * max(1, min(len(mine), len(theirs))) and len(mine & theirs) >= 0.6 * max(len(mine), len(theirs))


def _in_order(chosen: Sequence[Kept]) -> list[Kept]:
    """The best sentence, the others of its page in the page's order, then the other pages, each in its order.

    A sentence that needs the one before stays behind it.
    """
    best: dict[int, Sentence] = {}
    for one in chosen:
        best.setdefault(one.sentence.source, one.sentence)  # they come best first
    first = chosen[0].sentence if chosen else None
    while before := next((one.sentence for one in chosen if first and first.part.needs and first.follows(one.sentence)), None):
        first = before
    pages = list(best)

    def place(one: Kept) -> tuple[int, bool, int]:
        leads = first is not None and (one.sentence is first or _led_by(one.sentence, first, chosen))
        return pages.index(one.sentence.source), not leads, one.sentence.part.start

    return sorted(chosen, key=place)


def _led_by(one: Sentence, first: Sentence, chosen: Sequence[Kept]) -> bool:
    """Whether a sentence follows the first one without a gap, each needing the one before."""
    while one.part.needs:
        before = next((other.sentence for other in chosen if one.follows(other.sentence)), None)
        if before is None:
            return False
        if before is first:
            return True
        one = before
    return False


def _cited(one: Kept) -> str:
    """The part with the markers where each of its sentences ends; behind code they stand on a line of their own."""
    part, marks = one.sentence.part, "".join(f"<source_{number}>" for number in (one.sentence.source, *one.also))
    if part.code:
        return f"{part.text}\n{marks}"
    lines = [f"{line} {marks}" if line else "" for line in part.text.split("\n")]
    return (f"{part.needs} {marks} " if one.brings else "") + "\n".join(lines)


def _gap(before: Sentence, after: Sentence) -> str:
    apart = before.source != after.source or before.part.code or after.part.code or "\n" in before.part.text + after.part.text
    return "\n\n" if apart else " "
