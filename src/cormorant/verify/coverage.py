"""How much of a claim a page carries, and where. Pure.

Each content word of the claim is looked for in every sentence; a claim stands in one sentence, in neighbours, or in a few
places. What is found is told as shares in 0..1, which the scoring joins.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from cormorant.verify.comparing import same
from cormorant.verify.lexicon import NEGATORS, RUN_FUNCTION, SENSES, SOFT_NEGATORS, STOPWORDS
from cormorant.verify.quantities import Quantity, quantities
from cormorant.verify.reading import Page, Sentence, Token, norm_of, tokens
from cormorant.words import folded

FUNCTION_WEIGHT = 0.12
NEIGHBOUR = 0.45  # what a word is worth when it stands in the sentence before or after
APART = 0.6  # two characters of a pair that stand in the sentence, but not side by side
SENSE = 0.8  # another word of the same sense
NAME_FORMS = 0.88  # how alike a form of a name must be
FIGURES_READ = 16  # sentences whose figures are compared in every spelling
PLACES = 3  # a claim may rest on this many sentences
_LIGHT = STOPWORDS | NEGATORS | SOFT_NEGATORS  # what a negator does is judged elsewhere
_STOP_NORMS = frozenset(norm_of(word) for word in STOPWORDS) | STOPWORDS


@dataclass(frozen=True, slots=True)
class Asked:
    """One term of the claim that the page is asked for."""

    term: str
    weight: float
    kind: str  # word, name, number, run, function
    raw: str


@dataclass(frozen=True)
class Claim:
    """A claim, read: its terms with their weights, its names and figures."""

    text: str
    tokens: tuple[Token, ...]
    asked: tuple[Asked, ...]
    quantities: tuple[Quantity, ...]
    figure_of: dict[str, int]  # term -> the figure it is a part of

    @cached_property
    def weight(self) -> float:
        return sum(asked.weight for asked in self.asked) or 1.0

    @cached_property
    def content(self) -> tuple[Asked, ...]:
        return tuple(asked for asked in self.asked if asked.kind != "function")


@lru_cache(maxsize=1024)
def claim_of(text: str) -> Claim:
    """The claim, read once."""
    found = tokens(text)
    figures = tuple(quantities(text))
    asked: dict[str, Asked] = {}
    places: dict[str, set[int]] = {}
    for n, token in enumerate(found):
        figure = next((k for k, q in enumerate(figures) if q.start <= token.start < q.end), -1)
        for term in _pairs_at(found, n) if token.kind == "run" else [token.norm]:
            asked.setdefault(term, _asked(term, token, first=_opens(text, found, n)))
            places.setdefault(term, set()).add(figure)
    figure_of = {term: max(spots) for term, spots in places.items() if len(spots) == 1 and max(spots) >= 0}
    return Claim(text, tuple(found), tuple(asked.values()), figures, figure_of)


def _pairs_at(found: Sequence[Token], n: int) -> list[str]:
    """The pair that begins at a character of a run, function characters left out; a character that has no partner alone."""
    token = found[n]
    if token.norm in RUN_FUNCTION:
        return []
    following, before = found[n + 1 : n + 2], found[n - 1 : n] if n else []
    if following and _pairs_with(following[0]) and following[0].start == token.end:
        return [token.norm + following[0].norm]
    return [] if before and _pairs_with(before[0]) and before[0].end == token.start else ["·" + token.norm]


def _pairs_with(token: Token) -> bool:
    return token.kind == "run" and token.norm not in RUN_FUNCTION


def _opens(text: str, found: list[Token], n: int) -> bool:
    """Whether the token begins a sentence, where a capital says nothing; a second capital behind it makes it a name."""
    if n + 1 < len(found) and found[n + 1].capital and found[n + 1].start - found[n].end == 1 and folded(found[n].raw) not in STOPWORDS:
        return False
    return n == 0 or text[found[n - 1].end : found[n].start].strip()[:1] in (".", "!", "?", ":")


def _asked(term: str, token: Token, *, first: bool) -> Asked:
    if token.kind == "number":
        return Asked(term, 1.0, "number", token.raw)
    if token.kind == "word" and (folded(token.raw) in _LIGHT or term in _STOP_NORMS):
        return Asked(term, FUNCTION_WEIGHT, "function", token.raw)
    if token.kind == "katakana" or (token.capital and not first):
        return Asked(term, 1.2, "name", token.raw)
    if token.kind == "run":
        return Asked(term, 0.6, "run", token.raw)
    return Asked(term, 1.0 if len(term) > 3 else 0.7, "word", token.raw)


@dataclass(frozen=True)
class Coverage:
    """Where the claim's terms stand in the page. `hits[i]` is sentence -> strength for the i-th asked term."""

    claim: Claim
    page: Page
    hits: tuple[dict[int, float], ...]
    scores: dict[int, float]

    @cached_property
    def best(self) -> int | None:
        """The sentence that carries most of it, neighbours counted a little."""
        return max(self.scores, key=lambda n: (self.scores[n], -n)) if self.scores else None

    @cached_property
    def places(self) -> tuple[int, ...]:
        """The few sentences that together carry most of it, the best one first."""
        if self.best is None:
            return ()
        chosen = [self.best]
        have = [hit.get(self.best, 0.0) for hit in self.hits]
        candidates = sorted(self.scores, key=lambda n: -self.scores[n])[:24]
        while len(chosen) < PLACES:
            gains = [
                (sum(max(0.0, h.get(n, 0.0) - old) * a.weight for h, old, a in zip(self.hits, have, self.claim.asked, strict=True)), -n)
                for n in candidates
            ]
            gain, place = max(gains)
            if gain < 0.5:
                break
            chosen.append(-place)
            have = [max(old, h.get(-place, 0.0)) for h, old in zip(self.hits, have, strict=True)]
        return tuple(chosen)

    def share(self, places: Sequence[int] | None, kinds: frozenset[str] | None = None) -> float:
        """The weighted share of the claim that stands in these sentences (None: anywhere). 1.0 when nothing is asked."""
        total = found = 0.0
        for hit, asked in zip(self.hits, self.claim.asked, strict=True):
            if kinds is not None and asked.kind not in kinds:
                continue
            total += asked.weight
            strengths = hit.values() if places is None else [hit[n] for n in places if n in hit]
            found += asked.weight * max(strengths, default=0.0)
        return found / total if total else 1.0


def coverage(claim: Claim, page: Page) -> Coverage:
    """Look up every term of the claim in the page."""
    hits: list[dict[int, float]] = []
    scores: dict[int, float] = defaultdict(float)
    for asked in claim.asked:
        hit = _looked_up(asked, page)
        hits.append(hit)
        for n, strength in hit.items():
            scores[n] += asked.weight * strength
    if claim.quantities:
        _count_figures(claim, page, hits, scores)
    if scores:
        _lean_on_neighbours(claim, hits, scores)
    return Coverage(claim, page, tuple(hits), dict(scores))


def _looked_up(asked: Asked, page: Page) -> dict[int, float]:
    """The sentences that have the term, another form of it, or a word of the same sense."""
    hit = dict.fromkeys(page.where.get(asked.term, ()), 1.0)
    if asked.kind in ("word", "name"):
        for other, alike in page.near(asked.term):
            strength = alike if asked.kind == "word" or alike >= NAME_FORMS else 0.0
            for n in page.where[other] if strength else ():
                hit[n] = max(hit.get(n, 0.0), strength)
    if asked.kind == "run" and len(asked.term) == 2:
        left, right = (page.where.get("·" + char, ()) for char in asked.term)
        for n in set(left) & set(right):
            hit[n] = max(hit.get(n, 0.0), APART)
    for other in senses().get(asked.term, ()):
        for n in page.where.get(other, ()):
            hit[n] = max(hit.get(n, 0.0), SENSE)
    return hit


def _count_figures(claim: Claim, page: Page, hits: list[dict[int, float]], scores: dict[int, float]) -> None:
    """A figure in another spelling counts: "12 km" is there where the page has "twelve kilometres"."""
    for n in sorted(scores, key=lambda n: -scores[n])[:FIGURES_READ]:
        stated = page.sentences[n].quantities
        found = {k for k, q in enumerate(claim.quantities) if any(same(q, s) for s in stated)} if stated else set()
        for at, asked in enumerate(claim.asked):
            if found and claim.figure_of.get(asked.term, -1) in found and hits[at].get(n, 0.0) < 1.0:
                scores[n] += asked.weight * (1.0 - hits[at].get(n, 0.0))
                hits[at][n] = 1.0


@lru_cache(maxsize=1)
def senses() -> dict[str, frozenset[str]]:
    """Term -> the other terms of its sense."""
    found: dict[str, set[str]] = {}
    for line in SENSES:
        forms = {term for word in line.split() for term in sense_terms(word)}
        for form in forms:
            found.setdefault(form, set()).update(forms - {form})
    return {form: frozenset(others) for form, others in found.items()}


def sense_terms(word: str) -> list[str]:
    """The terms a word of the table is found by: itself, or the first pair of a run."""
    made = tokens(word)
    if made and made[0].kind == "run":
        return [made[0].norm + made[1].norm] if len(made) > 1 else ["·" + made[0].norm]
    return [norm_of(word)]


def _lean_on_neighbours(claim: Claim, hits: Sequence[dict[int, float]], scores: dict[int, float]) -> None:
    """Add to the strongest sentences a part of what only the sentence before or after them carries."""
    top = sorted(scores, key=lambda n: -scores[n])[:12]
    extra = {}
    for n in top:
        extra[n] = sum(
            asked.weight * NEIGHBOUR * max(0.0, max(hit.get(n - 1, 0.0), hit.get(n + 1, 0.0)) - hit.get(n, 0.0))
            for hit, asked in zip(hits, claim.asked, strict=True)
            if asked.kind != "function"
        )
    for n, more in extra.items():
        scores[n] += more * 0.5


def ordered_run(claim: Sequence[str], sentence: Sequence[str]) -> tuple[float, float]:
    """The longest common subsequence and the longest common run, each as a share of the claim's tokens."""
    if not claim or not sentence:
        return 0.0, 0.0
    previous = [0] * (len(sentence) + 1)
    run_before = [0] * (len(sentence) + 1)
    longest = 0
    for left in claim:
        row = [0] * (len(sentence) + 1)
        runs = [0] * (len(sentence) + 1)
        for n, right in enumerate(sentence, 1):
            if left == right:
                row[n] = previous[n - 1] + 1
                runs[n] = run_before[n - 1] + 1
                longest = max(longest, runs[n])
            else:
                row[n] = max(previous[n], row[n - 1])
        previous, run_before = row, runs
    return previous[-1] / len(claim), longest / len(claim)


def sentence_of(text: str) -> Sentence:
    """A text as one sentence."""
    return Sentence(text, 0, len(text))
