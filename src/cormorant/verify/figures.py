"""The fence around figures: another number, date or unit where the page speaks of the same thing. Pure."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from cormorant.verify.alignment import Alignment, Difference
from cormorant.verify.coverage import Coverage
from cormorant.verify.polarity import clause_borders
from cormorant.verify.quantities import Quantity, rival, same
from cormorant.verify.reading import Sentence, Token, placed_terms

TOPIC = 0.45  # the rest of the claim must be carried this far before a figure contradicts
ELSEWHERE = 0.3  # by how much the rival's sentence must fit better than the one with the claim's own figure
LOOKED_AT = 400  # sentences whose figures are read when a number is not near
OUTVOTED = 1.5  # by how much the claim's words must stand nearer to the rival than to their own figure


def figures(coverage: Coverage, aligned: Alignment) -> list[Difference]:
    """What the page's figures say against the claim's."""
    found = []
    for quantity in coverage.claim.quantities:
        difference = _weak_figure(quantity, coverage, aligned) if quantity.weak else _figure(quantity, coverage, aligned)
        if difference:
            found.append(difference)
    return found


def _figure(quantity: Quantity, coverage: Coverage, aligned: Alignment) -> Difference | None:
    """The fence for one figure of the claim."""
    sentences = coverage.page.sentences
    near = _window(coverage)
    homes = [n for n in near if any(same(quantity, q) for q in sentences[n].quantities)]
    if not homes:
        homes = [n for n in _with_figures(coverage) if any(same(quantity, q) for q in sentences[n].quantities)]
    against = _in_place(quantity, aligned)
    if against is not None and not _only_at_home(coverage, homes, sentences.index(aligned.sentence)):
        return Difference(label(quantity, against), quantity.raw, against.raw)
    rivals = {n: q for n in near for q in sentences[n].quantities if _rivals(quantity, q, coverage)}
    if not homes:
        if rivals and topic(coverage, near) >= TOPIC:
            best = max(rivals, key=lambda n: topic(coverage, [n]))
            return Difference(label(quantity, rivals[best]), quantity.raw, rivals[best].raw)
        return Difference(label(quantity), quantity.raw, missing=True)
    outvoted = {n: _outvoted(quantity, coverage, sentences[n]) for n in homes[:LOOKED_AT]}
    own = max((topic(coverage, [n], lean=True) for n in homes if not outvoted[n]), default=0.0)
    for n, stated in outvoted.items():
        if stated is not None and topic(coverage, [n]) >= max(TOPIC, own):
            return Difference(label(quantity, stated), quantity.raw, stated.raw)
    for n, stated in rivals.items():
        if n not in homes and topic(coverage, [n]) >= max(0.6, own + ELSEWHERE) and not _only_at_home(coverage, homes, n):
            return Difference(label(quantity, stated), quantity.raw, stated.raw)
    return None


def _only_at_home(coverage: Coverage, homes: Sequence[int], other: int) -> bool:
    """Whether a sentence with the claim's figure has a content word of the claim that the rival's sentence lacks."""
    pairs = zip(coverage.hits, coverage.claim.asked, strict=True)
    content = [hit for hit, asked in pairs if asked.kind not in ("function", "number") and asked.term not in coverage.claim.figure_of]
    return any(hit.get(home, 0.0) > 0.5 and hit.get(other, 0.0) <= 0.5 for hit in content for home in homes)


def _rivals(quantity: Quantity, stated: Quantity, coverage: Coverage) -> bool:
    """Whether the page's figure can stand against the claim's: one that the claim has too cannot, nor a passing "two"."""
    if not rival(quantity, stated) or (stated.weak and not quantity.weak):
        return False
    return not any(same(other, stated) for other in coverage.claim.quantities if other is not quantity)


def _outvoted(quantity: Quantity, coverage: Coverage, sentence: Sentence) -> Quantity | None:
    """The other figure of the same sentence that the claim's words stand nearer to: "opened in 1931 and mended in 1958".

    Every word that both have votes for the figure of its own clause, or else the nearest one; the nearer it stands to the
    figure in the claim, the more its vote counts.
    """
    own = [q for q in sentence.quantities if same(quantity, q)]
    others = [q for q in sentence.quantities if q.kind == quantity.kind and _rivals(quantity, q, coverage)]
    if not own or not others:
        return None
    borders = clause_borders(sentence.text)
    stated = placed_terms(sentence.tokens)
    votes: dict[Quantity, float] = {}
    nearest: tuple[float, Quantity] | None = None
    for term, spots in placed_terms(coverage.claim.tokens).items():
        if term not in stated or len(spots) > 1 or _inside(spots[0], quantity):
            continue
        owners = {_owner(spot, [*own, *others], borders) for spot in stated[term]}
        if len(owners) != 1 or any(_inside(spot, q) for spot in stated[term] for q in sentence.quantities):
            continue  # it stands beside both figures, or is a part of one
        owner = owners.pop()
        distance = min(abs(spots[0] - quantity.start), abs(spots[0] - quantity.end))
        votes[owner] = votes.get(owner, 0.0) + 1 / (4 + distance)
        if nearest is None or distance < nearest[0]:
            nearest = (distance, owner)
    if nearest is None or nearest[1] in own:
        return None
    best = max(others, key=lambda q: votes.get(q, 0.0))
    return best if votes.get(best, 0.0) >= OUTVOTED * sum(votes.get(q, 0.0) for q in own) else None


def _inside(spot: int, quantity: Quantity) -> bool:
    return quantity.start <= spot < quantity.end


def _owner(spot: int, figures: Sequence[Quantity], borders: Sequence[int]) -> Quantity:
    """The figure a word belongs to: one of its clause where there is one, the nearest of them."""
    clause = bisect_right(borders, spot)
    beside = [q for q in figures if bisect_right(borders, q.start) == clause] or figures
    return min(beside, key=lambda q: min(abs(spot - q.start), abs(spot - q.end)))


def _in_place(quantity: Quantity, aligned: Alignment) -> Quantity | None:
    """The figure of the page that stands exactly where the claim's does, where that is another one."""
    if aligned.matched < 0.6:
        return None
    tokens = aligned.claim.tokens
    runs = any(token.kind == "run" for token in tokens)  # characters align by chance: there the words around decide
    for tag, a, b, c, d in aligned.blocks:
        if tag == "equal" or a == b or c == d or not (tokens[a].start <= quantity.start < tokens[b - 1].end):
            continue
        low, high = aligned.sentence.tokens[c].start, aligned.sentence.tokens[d - 1].end
        there = [q for q in aligned.sentence.quantities if low <= q.start < high]
        stands_elsewhere = any(same(quantity, q) for q in aligned.sentence.quantities)
        if there and not any(same(quantity, q) for q in there) and not (stands_elsewhere and (runs or aligned.matched < 0.85)):
            return next((q for q in there if rival(quantity, q)), None)
    return None


def _weak_figure(quantity: Quantity, coverage: Coverage, aligned: Alignment) -> Difference | None:
    """A small number in words contradicts only where another one stands in its place or counts the same thing."""
    against = _in_place(quantity, aligned)
    if against is not None:
        return Difference(label(quantity, against), quantity.raw, against.raw)
    near = [coverage.page.sentences[n] for n in _window(coverage)]
    if any(same(quantity, q) for s in near for q in s.quantities):
        return None
    counted = _next_word(coverage.claim.text, coverage.claim.tokens, quantity)
    for sentence in near:
        for stated in sentence.quantities:
            if counted and rival(quantity, stated) and _next_word(sentence.text, sentence.tokens, stated) == counted:
                return Difference(label(quantity, stated), quantity.raw, stated.raw)
    return None


def _next_word(text: str, tokens: Sequence[Token], quantity: Quantity) -> str:
    following = [t for t in tokens if t.start >= quantity.end][:1]
    return following[0].norm if following and following[0].kind == "word" and following[0].start - quantity.end <= 2 else ""


def _window(coverage: Coverage) -> list[int]:
    last = len(coverage.page.sentences)
    near = {n + step for n in coverage.places for step in (-1, 0, 1)}
    return sorted(n for n in near if 0 <= n < last)


def _with_figures(coverage: Coverage) -> list[int]:
    """The sentences that carry something of the claim, best first, and then the rest."""
    scored = sorted(coverage.scores, key=lambda n: -coverage.scores[n])
    rest = [n for n in range(len(coverage.page.sentences)) if n not in coverage.scores]
    return (scored + rest)[:LOOKED_AT]


def topic(coverage: Coverage, places: Sequence[int], *, lean: bool = False) -> float:
    """How far these sentences carry what the claim is about, figures left out; `lean` counts in part what the sentences before it name."""
    total = found = 0.0
    for hit, asked in zip(coverage.hits, coverage.claim.asked, strict=True):
        if asked.kind in ("function", "number"):
            continue
        total += asked.weight
        here = max((hit.get(n, 0.0) for n in places), default=0.0)
        if lean:
            here = max(here, 0.7 * max((hit.get(n + step, 0.0) for n in places for step in (-3, -2, -1, 1)), default=0.0))
        found += asked.weight * here
    return found / total if total else 1.0


def label(quantity: Quantity, stated: Quantity | None = None) -> str:
    """What sort of figure it is, for a person: date, unit or number."""
    if quantity.kind in ("year", "month", "day", "weekday", "decade", "clock"):
        return "date"
    if stated is not None and stated.kind != quantity.kind and set(stated.bare) & set(quantity.bare):
        return "unit"
    if stated is not None and set(stated.bare) & set(quantity.bare):
        return "unit"
    return "number"
