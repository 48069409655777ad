"""The sentences of a page that answer a question, as many as fit a budget. Pure.

Inside one page words beat vectors. A sentence's score is its own BM25 plus a part of its neighbours' plus its
paragraph's, over words, stems and character 4-grams (bigrams where words have no spaces), with rarity taken from the
page itself. Sentences are taken in score order while they fit and handed back in page order; those that touch are one
passage.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from math import log
from statistics import fmean, pstdev

from cormorant import tokens, words

K1, B = 1.2, 0.5  # BM25; sentences differ in length for good reasons, so length weighs half
NEIGHBOUR = 0.3
SENTENCE_MAX_CHARS = 600  # a longer one is cut at a clause or a space: it would eat a small budget alone


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of a text, `text == source[start:end]`. `document` says which text, where there are several."""

    id: str
    document: str
    start: int
    end: int
    text: str
    score: float

    def moved(self, by: int, document: str) -> Passage:
        """The same passage of a text that has `by` more characters before it."""
        return _passage_of(self.text, self.start + by, self.end + by, self.score, document)


@dataclass(frozen=True, slots=True)
class Parts:
    """Where a sentence's score comes from: each part is in standard deviations above the page's mean."""

    start: int
    end: int
    score: float
    sentence: float
    neighbours: float
    paragraph: float
    terms: tuple[str, ...]  # what of the question stands in it, rarest first


def pick(text: str, question: str, *, budget: int, counter: str | tokens.Counter = tokens.DEFAULT, document: str = "") -> list[Passage]:
    """The best passages of `text` for `question`, in page order, together at most `budget` tokens."""
    return Ranked(text, question).fill(budget, counter, document=document)


class Ranked:
    """A text whose sentences are scored for one question, to be filled into more than one budget."""

    def __init__(self, text: str, question: str) -> None:
        self._text = text
        self._spans = sentences(text)
        self._scores = [parts.score for parts in _scored(text, question, self._spans)]

    def fill(self, budget: int, counter: str | tokens.Counter = tokens.DEFAULT, *, document: str = "") -> list[Passage]:
        """The best sentences, in page order, those that touch as one passage, together at most `budget` tokens."""
        chosen = _filled(self._text, self._spans, self._scores, budget, tokens.counter(counter))
        return _merged(self._text, self._spans, self._scores, chosen, document)


def explain(text: str, question: str) -> list[Parts]:
    """Every sentence of `text` with its score and the score's parts, best first."""
    return sorted(_scored(text, question, sentences(text)), key=lambda parts: (-parts.score, parts.start))


_BREAK = re.compile(
    r"(?<=[.!?…])[\"'”’»)\]]*\s+(?=[^\s\d]|\d)"  # a full stop and a space
    r"|(?<=[。！？｡])[」』”’）]*"  # a full stop that needs no space
    r"|\n\s*\n|\n(?=\s*(?:[-*+#>|]|\d+[.)]\s))|\n"
)
_ABBREVIATED = re.compile(r"(?:\b(?:[A-Z]|Dr|Mr|Mrs|Ms|St|Jr|Sr|vs|etc|cf|Fig|No|Prof|e\.g|i\.e|al|approx|ca|Vol|pp|U\.S))\.$")
_CLAUSE = re.compile(r"[;:,，、；：—–]\s*|\s+")
_PARAGRAPH = re.compile(r"\n[ \t]*\n\s*")


def sentences(text: str) -> list[tuple[int, int]]:
    """Character spans of the sentences, in order; blank stretches between them belong to none."""
    spans: list[tuple[int, int]] = []
    start = 0
    for mark in _BREAK.finditer(text):
        if "\n" not in mark[0] and _ABBREVIATED.search(text, max(start, mark.start() - 8), mark.start()):
            continue
        _add(text, start, mark.end(), spans)
        start = mark.end()
    _add(text, start, len(text), spans)
    return spans


def _add(text: str, start: int, end: int, spans: list[tuple[int, int]]) -> None:
    while end > start and text[end - 1].isspace():
        end -= 1
    while start < end and text[start].isspace():
        start += 1
    while end - start > SENTENCE_MAX_CHARS:
        cut = start + SENTENCE_MAX_CHARS
        for mark in _CLAUSE.finditer(text, start + SENTENCE_MAX_CHARS // 2, cut):
            cut = mark.end()
        spans.append((start, cut))
        start = cut
    if end > start:
        spans.append((start, end))


def paragraphs(text: str, spans: Sequence[tuple[int, int]]) -> list[int]:
    """For each sentence the number of its paragraph."""
    borders = [mark.end() for mark in _PARAGRAPH.finditer(text)]
    return [bisect_right(borders, start) for start, _ in spans]


def _scored(text: str, question: str, spans: Sequence[tuple[int, int]]) -> list[Parts]:
    asked = list(dict.fromkeys(words.terms(question)))
    if not spans:
        return []
    found = _found(text, asked, spans)
    home = paragraphs(text, spans)
    by_paragraph: list[dict[int, int]] = [defaultdict(int) for _ in range(home[-1] + 1)]
    lengths = [0] * (home[-1] + 1)
    for number, (place, counts) in enumerate(zip(home, found, strict=True)):
        lengths[place] += spans[number][1] - spans[number][0]
        for term, times in counts.items():
            by_paragraph[place][term] += times
    rarity = _rarity(found, len(asked))
    own = _bm25(found, [end - start for start, end in spans], rarity)
    around = [NEIGHBOUR * ((own[n - 1] if n else 0.0) + (own[n + 1] if n + 1 < len(own) else 0.0)) for n in range(len(own))]
    paragraph = _bm25(by_paragraph, lengths, rarity)
    near = _standard([a + b for a, b in zip(own, around, strict=True)])
    far = _standard([paragraph[place] for place in home])
    return [
        Parts(
            start,
            end,
            near[n] + far[n],
            own[n],
            around[n],
            paragraph[home[n]],
            tuple(asked[term] for term in sorted(found[n], key=lambda term: -rarity[term])),
        )
        for n, (start, end) in enumerate(spans)
    ]


class _Hits(dict[str, tuple[int, ...]]):
    """Word -> which of the asked terms it carries; each distinct word of the page is looked at once."""

    def __init__(self, asked: Sequence[str]) -> None:
        super().__init__()
        self._number = {term: n for n, term in enumerate(asked)}

    def __missing__(self, word: str) -> tuple[int, ...]:
        number = self._number
        self[word] = hits = tuple(number[term] for term in words.terms_of(word) if term in number)
        return hits


def _found(text: str, asked: Sequence[str], spans: Sequence[tuple[int, int]]) -> list[dict[int, int]]:
    hits = _Hits(asked)
    found = []
    for start, end in spans:
        counts: dict[int, int] = {}
        for word in words.words(text[start:end]):
            for term in hits[word]:
                counts[term] = counts.get(term, 0) + 1
        found.append(counts)
    return found


def _rarity(found: Sequence[dict[int, int]], terms: int) -> list[float]:
    within = [0] * terms
    for counts in found:
        for term in counts:
            within[term] += 1
    return [log(1 + (len(found) - n + 0.5) / (n + 0.5)) for n in within]


def _bm25(found: Sequence[dict[int, int]], lengths: Sequence[int], rarity: Sequence[float]) -> list[float]:
    mean = sum(lengths) / (len(lengths) or 1) or 1.0
    scores = []
    for counts, length in zip(found, lengths, strict=True):
        damp = K1 * (1 - B + B * length / mean)
        scores.append(sum(rarity[term] * times * (K1 + 1) / (times + damp) for term, times in counts.items()))
    return scores


def _standard(values: list[float]) -> list[float]:
    mean, spread = fmean(values), pstdev(values)
    return [(value - mean) / spread if spread else 0.0 for value in values]


def _filled(text: str, spans: Sequence[tuple[int, int]], scores: Sequence[float], budget: int, counter: tokens.Counter) -> set[int]:
    chosen: set[int] = set()
    left = budget
    for n in sorted(range(len(spans)), key=lambda n: (-scores[n], n)):
        if left <= 0:
            break
        start, end = spans[n]
        cost = counter.count(text[start:end]) + 1  # the space or line end that joins it to the next
        if cost <= left:
            chosen.add(n)
            left -= cost
    return chosen


def _merged(text: str, spans: Sequence[tuple[int, int]], scores: Sequence[float], chosen: set[int], document: str) -> list[Passage]:
    runs: list[list[int]] = []
    for n in sorted(chosen):
        if runs and runs[-1][-1] == n - 1:
            runs[-1].append(n)
        else:
            runs.append([n])
    return [
        _passage_of(text[spans[run[0]][0] : spans[run[-1]][1]], spans[run[0]][0], spans[run[-1]][1], max(scores[n] for n in run), document)
        for run in runs
    ]


def _passage_of(said: str, start: int, end: int, score: float, document: str) -> Passage:
    mark = sha256(f"{document}\n{start}\n{said}".encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return Passage(f"p{mark}", document, start, end, said, round(score, 4))
