"""The sentences of a page that answer a question, as many as fit a budget. Pure.

Inside one page words beat vectors. A sentence's score is its own BM25 plus a part of its neighbours' plus its
paragraph's, over words, stems and character 4-grams (bigrams where words have no spaces), with rarity taken from the
page itself. Sentences are taken in score order while they fit and handed back in page order; those that touch are one
passage.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from heapq import nsmallest
from itertools import pairwise
from math import log
from statistics import fmean

from cormorant import tokens, words
from cormorant.passages.cues import cue
from cormorant.passages.sentences import by_block
from cormorant.passages.sentences import sentences as sentences

K1 = 1.2
SENTENCE_B, PARAGRAPH_B = 0.6, 0.75  # BM25: how much the length weighs
RARITY_POWER = 1.3  # a page is small: rarity there says more than in a collection
GRAM_WEIGHT = 0.5  # of a character 4-gram beside a word and its stem
NEXT_WEIGHT, NEAR_WEIGHT = 1.0, 0.5  # of two words of the question that stand side by side, or within NEAR_WORDS
NEAR_WORDS = 4
NEIGHBOUR = 0.2  # of the sentences before and after
COVER, COVERING = 0.5, 2  # standard deviations for being among the two best sentences that hold a word of the question
MISSES = 40  # sentences that did not fit in what is left, until no more are tried
HEADING_TIMES = 2  # how often a heading's words count in each paragraph under it
HEADING_MAX_CHARS = 140
_HEADING = re.compile(r"(?:(#{1,6})[ \t]+\S|(=(?: ?=)*) [^=\n]+ \2$)")  # Markdown's, and `= = Name = =` of wiki texts
CUE = 0.5  # standard deviations for a number where a number is asked, and the like


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
    """Where a sentence's score comes from. `score` adds, in standard deviations: near, paragraph, cue and cover.

    `sentence` and `neighbours` are BM25 sums as they are; `terms` is what of the question stands in it, rarest first.
    """

    start: int
    end: int
    score: float
    sentence: float
    neighbours: float
    near: float
    paragraph: float
    cue: float
    cover: float
    terms: tuple[str, ...]


def pick(text: str, question: str, *, budget: int, counter: str | tokens.Counter = tokens.DEFAULT, document: str = "") -> list[Passage]:
    """The best passages of `text` for `question`, in page order, together at most `budget` tokens."""
    return Ranked(text, question).fill(budget, counter, document=document)


class Ranked:
    """A text whose sentences are scored for one question, to be filled into more than one budget."""

    def __init__(self, text: str, question: str) -> None:
        self._text = text
        groups = [group for group in by_block(text) if group]
        self.spans = [span for group in groups for span in group]
        self._home = [n for n, group in enumerate(groups) for _ in group]
        self._asked = Asked(question)
        self._found = self._asked.counts(text, self.spans)
        self._score()
        self._order = sorted(range(len(self.spans)), key=lambda n: (-self.scores[n], n))
        self._costs: dict[tuple[str, int], int] = {}  # by counter and sentence: a text is often filled more than once

    def _score(self) -> None:
        found, spans, home = self._found, self.spans, self._home
        rarity = self._asked.rarity(found)
        self._rarity = rarity
        self._own = _bm25(found, [end - start for start, end in spans], rarity, SENTENCE_B)
        padded = [0.0, *self._own, 0.0]
        self._around = [NEIGHBOUR * (before + after) for before, after in zip(padded, padded[2:], strict=False)]
        self._near = _standard([a + b for a, b in zip(self._own, self._around, strict=True)])
        together, lengths = _together(found, spans, home)
        for place, over in _headings(self._text, spans, home, found).items():
            for term, times in over.items():
                together[place][term] = together[place].get(term, 0) + times
        paragraph = _standard(_bm25(together, lengths, rarity, PARAGRAPH_B))
        self._far = [paragraph[place] for place in home]
        cue = self._asked.cue
        self._cue = [CUE if cue and cue(self._text, start, end) else 0.0 for start, end in spans]
        self.scores = [a + b + c for a, b, c in zip(self._near, self._far, self._cue, strict=True)]
        self._cover = self._covering()
        self.scores = [score + cover for score, cover in zip(self.scores, self._cover, strict=True)]

    def _covering(self) -> list[float]:
        """A lift for the best sentences of each word, so that no part of a question that asks two things goes unread."""
        word_of = self._asked.word_of
        holding: dict[int, set[int]] = {}
        for n, counts in enumerate(self._found):
            for term in counts:
                if term in word_of:
                    holding.setdefault(word_of[term], set()).add(n)
        lifts = [0.0] * len(self.spans)
        for word, found in holding.items():
            if words.weight(self._asked.words[word]) == 1.0:
                for n in nsmallest(COVERING, found, key=lambda n: (-self.scores[n], n)):
                    lifts[n] += COVER
        return lifts

    def fill(self, budget: int, counter: str | tokens.Counter = tokens.DEFAULT, *, document: str = "") -> list[Passage]:
        """The best sentences, in page order, those that touch as one passage, together at most `budget` tokens."""
        made = tokens.counter(counter)
        chosen = self._chosen(budget, made)
        while True:
            found = _merged(self._text, self.spans, self.scores, chosen, document)
            # The space between two sentences is one token, seldom more; what is handed over is counted as it stands.
            if not found or sum(made.count(passage.text) + 1 for passage in found) - 1 <= budget:
                return found
            chosen.remove(min(chosen, key=lambda n: (self.scores[n], -n)))

    def _chosen(self, budget: int, counter: tokens.Counter) -> set[int]:
        chosen: set[int] = set()
        left = budget
        misses = 0
        for n in self._order:
            if left <= 0 or misses > MISSES:
                break
            if (cost := self._costs.get((counter.name, n))) is None:
                start, end = self.spans[n]
                self._costs[counter.name, n] = cost = counter.count(self._text[start:end])
            if cost <= left:
                chosen.add(n)
                left -= cost + 1  # the space or line end that joins it to the next
            else:
                misses += 1
        return chosen

    def explain(self, n: int) -> Parts:
        """The parts of the score of sentence `n`."""
        start, end = self.spans[n]
        terms = sorted(self._found[n], key=lambda term: (-self._rarity[term], term))
        return Parts(
            start,
            end,
            self.scores[n],
            self._own[n],
            self._around[n],
            self._near[n],
            self._far[n],
            self._cue[n],
            self._cover[n],
            tuple(self._asked.names[term] for term in terms),
        )


def explain(text: str, question: str) -> list[Parts]:
    """Every sentence of `text` with its score and the score's parts, best first."""
    ranked = Ranked(text, question)
    return sorted(map(ranked.explain, range(len(ranked.spans))), key=lambda parts: (-parts.score, parts.start))


def relevance(text: str, question: str) -> float:
    """How much of a question a text speaks of, 0 to 1, comparable between texts: what its best paragraph and it cover.

    The words of the question count by their length, those that only ask or join little; no page's own rarity enters.
    """
    asked = Asked(question)
    weights = [words.weight(word) * min(len(word), 8) for word in asked.words]
    total = sum(weights)
    if not total:
        return 0.0
    groups = [(group[0][0], group[-1][1]) for group in by_block(text) if group]
    seen = [{asked.word_of[term] for term in counts if term in asked.word_of} for counts in asked.counts(text, groups)]
    best = max((sum(weights[n] for n in found) for found in seen), default=0.0)
    whole = sum(weights[n] for n in set().union(*seen)) if seen else 0.0
    return round((0.6 * best + 0.4 * whole) / total, 4)


class Asked:
    """A question as numbered terms: of its words, then the pairs of neighbouring words."""

    def __init__(self, question: str) -> None:
        self.words = list(dict.fromkeys(words.folded(word) for word in words.words(question)))
        self.names: list[str] = []
        self.word_of: dict[int, int] = {}  # term of a word or its stem -> number of the word
        self._weights: list[float] = []
        self._number: dict[str, int] = {}
        for n, word in enumerate(self.words):
            for term in words.terms_of(word):
                if term not in self._number:
                    number = self._add(term, words.weight(word) * (GRAM_WEIGHT if term.startswith("#") else 1.0))
                    self._number[term] = number
                    if not term.startswith("#"):
                        self.word_of[number] = n
        self._next, self._near = self._pairs([words.folded(word) for word in words.words(question)])
        self.cue = cue(question)

    def _add(self, name: str, weight: float) -> int:
        self.names.append(name)
        self._weights.append(weight)
        return len(self.names) - 1

    def _pairs(self, said: Sequence[str]) -> tuple[dict[tuple[str, str], int], dict[str, list[tuple[str, int]]]]:
        says = [word for word in said if words.weight(word) == 1.0]
        side_by_side: dict[tuple[str, str], int] = {}
        for pair in pairwise(said):
            if pair not in side_by_side and max(map(words.weight, pair)) == 1.0:
                side_by_side[pair] = self._add(" ".join(pair), NEXT_WEIGHT)
        near: dict[str, list[tuple[str, int]]] = {}
        for first, second in pairwise(says):
            near.setdefault(second, []).append((first, self._add(f"{first} … {second}", NEAR_WEIGHT)))
        return side_by_side, near

    def counts(self, text: str, spans: Sequence[tuple[int, int]]) -> list[dict[int, int]]:
        """How often each term occurs in each stretch of the text."""
        hits = _Hits(self._number)
        return [self._counted(words.words(text[start:end]), hits) for start, end in spans]

    def _counted(self, said: Sequence[str], hits: _Hits) -> dict[int, int]:
        counts: dict[int, int] = {}
        places: dict[str, int] = {}
        for at, word in enumerate(said):
            form, terms = hits[word]
            for term in terms:
                counts[term] = counts.get(term, 0) + 1
            if form:
                for pair in self._met(form, at, places):
                    counts[pair] = counts.get(pair, 0) + 1
                places[form] = at
        return counts

    def _met(self, form: str, at: int, places: dict[str, int]) -> Iterator[int]:
        """The pairs that this word completes."""
        for before, place in places.items():
            if place == at - 1 and (pair := self._next.get((before, form))) is not None:
                yield pair
        for first, pair in self._near.get(form, ()):
            if at - places.get(first, -NEAR_WORDS - 1) <= NEAR_WORDS:
                yield pair

    def rarity(self, found: Sequence[dict[int, int]]) -> list[float]:
        """What each term weighs on this page: the fewer sentences hold it, the more."""
        within = [0] * len(self.names)
        for counts in found:
            for term in counts:
                within[term] += 1
        return [w * log(1 + (len(found) - n + 0.5) / (n + 0.5)) ** RARITY_POWER for w, n in zip(self._weights, within, strict=True)]


class _Hits(dict[str, tuple[str, tuple[int, ...]]]):
    """Word -> its folded form if it is a word of the question, and which terms it carries. Each is looked at once."""

    def __init__(self, number: dict[str, int]) -> None:
        super().__init__()
        self._number = number

    def __missing__(self, word: str) -> tuple[str, tuple[int, ...]]:
        number = self._number
        hits = tuple(number[term] for term in words.terms_of(word) if term in number)
        form = words.folded(word) if hits else ""
        self[word] = found = (form if form in number else "", hits)
        return found


def _headings(
    text: str, spans: Sequence[tuple[int, int]], home: Sequence[int], found: Sequence[dict[int, int]]
) -> dict[int, dict[int, int]]:
    """For each paragraph the counts of the headings it stands under: what they say, its sentences need not repeat."""
    under: list[tuple[int, dict[int, int]]] = []  # level and counts of the headings that hold here
    over: dict[int, dict[int, int]] = {}
    for n, (start, end) in enumerate(spans):
        mark = _HEADING.match(text, start, end) if end - start <= HEADING_MAX_CHARS else None
        if mark:
            level = len((mark[1] or mark[2]).replace(" ", ""))
            under = [entry for entry in under if entry[0] < level]
            under.append((level, found[n]))
        elif under and home[n] not in over:
            sums = over[home[n]] = {}
            for _, counts in under:
                for term, times in counts.items():
                    sums[term] = sums.get(term, 0) + HEADING_TIMES * times
    return over


def _together(
    found: Sequence[dict[int, int]], spans: Sequence[tuple[int, int]], home: Sequence[int]
) -> tuple[list[dict[int, int]], list[int]]:
    """Counts and lengths of the paragraphs that the sentences make."""
    size = home[-1] + 1 if home else 0
    counts: list[dict[int, int]] = [{} for _ in range(size)]
    lengths = [0] * size
    for place, own, (start, end) in zip(home, found, spans, strict=True):
        lengths[place] += end - start
        whole = counts[place]
        for term, times in own.items():
            whole[term] = whole.get(term, 0) + times
    return counts, lengths


def _bm25(found: Sequence[dict[int, int]], lengths: Sequence[int], rarity: Sequence[float], b: float) -> list[float]:
    mean = sum(lengths) / (len(lengths) or 1) or 1.0
    scores = []
    for counts, length in zip(found, lengths, strict=True):
        damp = K1 * (1 - b + b * length / mean)
        scores.append(sum(rarity[term] * times * (K1 + 1) / (times + damp) for term, times in counts.items()))
    return scores


def _standard(values: list[float]) -> list[float]:
    if not values:
        return []
    mean = fmean(values)
    spread = (sum((value - mean) ** 2 for value in values) / len(values)) ** 0.5
    return [(value - mean) / spread if spread else 0.0 for value in values]


def _merged(text: str, spans: Sequence[tuple[int, int]], scores: Sequence[float], chosen: set[int], document: str) -> list[Passage]:
    runs: list[list[int]] = []
    for n in sorted(chosen):
        if runs and runs[-1][-1] == n - 1 and not text[spans[n - 1][1] : spans[n][0]].strip():
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
