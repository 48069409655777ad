"""The writer that needs no model: the sentences that answer best, each with its citation. Pure but for being async.

Within a page the sentences are scored as passages.py does; between pages the share of the question that a sentence has, and
how the page itself was ranked, make the scores comparable. What the answer shows is the page's own words.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

from cormorant import background, words
from cormorant.citations import Source
from cormorant.passages import explain

SENTENCES = 5
COVERED = 3.0  # what all the question's words in one sentence are worth, in standard deviations of its page
RANKED = 4.0  # what the best page's sentences gain over those of a page without a score
# Something answers when a sentence has this share of the question, or any share of it on a page that has much of the rest.
LEAST_COVERED, LEAST_OF_PAGE = 0.2, 0.3
LEAST_BESIDE = 0.08  # what a further sentence needs, unless it is of the page that answers best
ALIKE = 0.75  # two sentences that share this part of their words say the same
PER_SOURCE = 12
SHORTEST_CHARS = 12  # a shorter line is a label
SHORTEST_WORDS = 3  # the same, where words are parted by spaces

_LINK = re.compile(r"!?\[([^\[\]]*)\]\((?:<[^<>]*>|[^()\s]*(?:\([^()]*\)[^()\s]*)*)(?:\s+\"[^\"]*\")?\)")
_LISTING = re.compile(r"^ {0,3}(`{3,}|~{3,})[^\n]*\n.*?(?:^ {0,3}\1[`~]*[ \t]*$|\Z)", re.M | re.S)
_CODE = re.compile(r"(`[^`\n]+`)")
_MARKS = re.compile(
    r"^(?:\s*(?:[-*+>]|\d{1,3}[.)])\s+)+|\*\*|__|(?<!\w)[*_](?=\w)|(?<=\w)[*_](?!\w)|\[\^?\d+\]|\\(?=[\\`*_{}\[\]()#+.!|<>~-])"
)


@dataclass(frozen=True)
class Sentence:
    """A sentence that may be quoted."""

    source: int
    start: int
    text: str
    score: float
    words: frozenset[str]
    covered: float  # the share of the question's words that it has


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
    """Every sentence that bears on the question, best first."""
    weights = background.weights(question)
    total = sum(weights.values()) or 1.0
    top = max((source.score for source in sources), default=0.0) or 1.0
    found: list[Sentence] = []
    speaking: set[int] = set()
    for source in sources:
        if sum(weights[term] for term in set(words.terms(source.text)) if term in weights) >= LEAST_OF_PAGE * total:
            speaking.add(source.number)
        listings = [found.span() for found in _LISTING.finditer(source.text)]
        for part in explain(source.text, question)[:PER_SOURCE]:
            raw = source.text[part.start : part.end]
            text = shown(raw)
            if raw.lstrip().startswith("#") or _is_label(text) or any(part.start < end and start < part.end for start, end in listings):
                continue
            terms = set(words.terms(text))
            covered = sum(weights[term] for term in terms if term in weights) / total
            score = part.score + COVERED * covered + RANKED * source.score / top
            plain = frozenset(term for term in terms if term and term[0] not in "~#")
            found.append(Sentence(source.number, part.start, text, score, plain, covered))
    found.sort(key=lambda s: (-s.score, s.source, s.start))
    best = next((s for s in found if s.covered >= (LEAST_BESIDE if s.source in speaking else LEAST_COVERED)), None)
    if best is None:
        return []
    return [best, *(s for s in found if s is not best and (s.covered >= LEAST_BESIDE or (s.source == best.source and s.covered > 0)))]


def shown(raw: str) -> str:
    """A sentence of Markdown as it is read: link texts for links, no list marks, no emphasis, on one line."""
    text = _LINK.sub(lambda m: "" if m[0].startswith("!") else m[1], raw)
    if text.lstrip().startswith("|"):
        text = " · ".join(cell.strip() for cell in text.strip().strip("|").split("|") if cell.strip(" -:"))
    plain = [piece if piece.startswith("`") else _MARKS.sub("", piece) for piece in _CODE.split(text)]  # marks inside code are code
    return " ".join("".join(plain).split())


def _is_label(text: str) -> bool:
    """Whether a line only names something: too short to say anything of it."""
    return len(text) < SHORTEST_CHARS or (text.isascii() and len(text.split()) < SHORTEST_WORDS)


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
