"""The fence around figures: another number, date or unit where the page speaks of the same thing. Pure."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence

from cormorant.verify.alignment import Alignment, Difference
from cormorant.verify.comparing import contrary_bounds, rival, same
from cormorant.verify.coverage import Coverage
from cormorant.verify.polarity import clause_borders
from cormorant.verify.quantities import Quantity
from cormorant.verify.reading import Sentence, Token, placed_terms

TOPIC = 0.45  # the rest of the claim must be carried this far before a figure contradicts
ELSEWHERE = 0.3  # by how much the rival's sentence must fit better than the one with the claim's own figure
LOOKED_AT = 400  # sentences whose figures are read when a number is not near
BORDERING = 0.5  # what the vote of a word counts for the figure of another clause
CLEARLY = 3  # characters by which a figure must stand nearer to one than to another
NEAR_CHARS = 30  # how far behind a figure the word may stand that it counts: "412 oil paintings"
OUTVOTED = 1.5  # by how much the claim's words must stand nearer to the rival than to their own figure


_TO = re.compile(r"(?:^|\W)(?:to|auf|bis|à|a|al|до|на|naar|para|إلى|से)(?:\W|$)|到|至|から|에서")
_BULLET = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)])\s+")


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
    if counted := _counts_it(quantity, coverage, homes, rivals) or _in_its_row(quantity, coverage, homes, rivals):
        return Difference(label(quantity, counted), quantity.raw, counted.raw)
    if not homes:
        if _reckoned(quantity, coverage, near):
            return None
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


def _reckoned(quantity: Quantity, coverage: Coverage, near: Sequence[int]) -> bool:
    """Whether the figure is the page's share of the page's number: 320, where it says "half of the 640 seats"."""
    if quantity.kind != "count":
        return False
    for n in near:
        there = [q for place in (n - 1, n) if place >= 0 for q in coverage.page.sentences[place].quantities]
        shares = [q.values[0] / 100 for q in coverage.page.sentences[n].quantities if q.kind == "percent"]
        counts = [q.values[0] for q in there if q.kind == "count" and not q.weak]
        if any(abs(count * share - value) <= 0.005 * value for share in shares for count in counts for value in quantity.values):
            return True
    return False


def _counts_it(quantity: Quantity, coverage: Coverage, homes: Sequence[int], rivals: Mapping[int, Quantity]) -> Quantity | None:
    """The page's figure right before the word that the claim counts, where its own figure counts something else: a list."""
    word = _next_word(coverage.claim.text, coverage.claim.tokens, quantity)
    if quantity.kind != "count" or not word:
        return None
    for n in homes:
        sentence = coverage.page.sentences[n]
        ends = [q.end for q in sentence.quantities if same(quantity, q)]
        if any(t.norm == word and 0 <= t.start - end <= NEAR_CHARS for t in sentence.tokens for end in ends):
            return None
    for n, stated in rivals.items():
        sentence = coverage.page.sentences[n]
        if n not in homes and stated.kind == "count" and _next_word(sentence.text, sentence.tokens, stated) == word:
            return stated
    return None


def _in_its_row(quantity: Quantity, coverage: Coverage, homes: Sequence[int], rivals: Mapping[int, Quantity]) -> Quantity | None:
    """The figure of the row or line that has the claim's other figures and names, where those with its own do not have them."""
    sentences = coverage.page.sentences
    others = [q for q in coverage.claim.quantities if q is not quantity and (not q.weak or q.kind == "weekday")]
    words = [hit for hit, a in zip(coverage.hits, coverage.claim.asked, strict=True) if a.kind in ("name", "word", "run")]

    def carried(n: int) -> int:
        figures_there = sum(any(same(other, q) for q in sentences[n].quantities) for other in others)
        return figures_there + sum(hit.get(n, 0.0) > 0.5 for hit in words)

    rows = [n for n in rivals if n not in homes and _is_line(coverage, n)]
    best = max(rows, key=carried, default=None)
    return rivals[best] if best is not None and homes and carried(best) > max(carried(n) for n in homes) else None


def _is_line(coverage: Coverage, n: int) -> bool:
    """Whether a sentence is a row of a table or a line of a list, which says a thing of its own."""
    sentence = coverage.page.sentences[n]
    before = coverage.page.text[: sentence.start].rpartition("\n")[2]
    return sentence.text.startswith("|") or bool(_BULLET.fullmatch(before) or _BULLET.match(sentence.text))


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
    shared = list(_shared_figures(quantity, coverage, sentence))
    votes: dict[Quantity, float] = {}
    nearest: tuple[float, Quantity] | None = None
    for term, spots in placed_terms(coverage.claim.tokens).items():
        if term not in stated or len(spots) > 1 or _inside(spots[0], quantity):
            continue
        owners = {_owner(spot, [*own, *others], borders) for spot in stated[term]}
        if len(owners) != 1 or any(_inside(spot, q) for spot in stated[term] for q in sentence.quantities):
            continue  # it stands beside both figures, or is a part of one
        if shared and all(_leads(spot, [*own, *others], borders) for spot in stated[term]):
            continue  # "turnout rose from 41 percent in 2016 to 53 percent in 2020": it is said of both
        owner = owners.pop()
        distance = min(abs(spots[0] - quantity.start), abs(spots[0] - quantity.end))
        strength = 1.0 if any(_together(spot, owner, borders) for spot in stated[term]) else BORDERING
        votes[owner] = votes.get(owner, 0.0) + strength / (4 + distance)
        if nearest is None or distance < nearest[0]:
            nearest = (distance, owner)
    for other, place in shared:
        gaps = sorted((_gap(place, q, sentence.text), q.start, q) for q in [*own, *others])
        if gaps[1][0] - gaps[0][0] < CLEARLY:
            continue
        owner = gaps[0][2]
        distance = min(abs(other.start - quantity.end), abs(other.end - quantity.start))
        votes[owner] = votes.get(owner, 0.0) + 1 / (4 + distance)
        if nearest is None or distance < nearest[0]:
            nearest = (distance, owner)
    if nearest is None or nearest[1] in own:
        return None
    best = max(others, key=lambda q: votes.get(q, 0.0))
    return best if votes.get(best, 0.0) >= OUTVOTED * sum(votes.get(q, 0.0) for q in own) else None


def _shared_figures(quantity: Quantity, coverage: Coverage, sentence: Sentence) -> Iterator[tuple[Quantity, Quantity]]:
    """The claim's other figures of another kind that the sentence has once: the year that a share belongs to."""
    for other in coverage.claim.quantities:
        if other is quantity or other.kind == quantity.kind or other.weak:
            continue
        places = [q for q in sentence.quantities if q.kind == other.kind and same(other, q)]
        if len(places) == 1:
            yield other, places[0]


def _gap(one: Quantity, other: Quantity, text: str) -> int:
    """How far two figures stand apart; a "to" between them begins the other end of a range, and parts them."""
    low, high = (one.end, other.start) if one.end <= other.start else (other.end, one.start)
    return high - low + (len(text) if _TO.search(text[low:high]) else 0)


def _leads(spot: int, figures: Sequence[Quantity], borders: Sequence[int]) -> bool:
    """Whether a word stands before all of these figures in the one clause that has them."""
    return all(spot < q.start and _together(spot, q, borders) for q in figures)


def _together(spot: int, figure: Quantity, borders: Sequence[int]) -> bool:
    return bisect_right(borders, spot) == bisect_right(borders, figure.start)


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
    if against is not None and not any(same(quantity, q) for q in aligned.sentence.quantities):
        return Difference(label(quantity, against), quantity.raw, against.raw)
    near = [coverage.page.sentences[n] for n in _window(coverage)]
    if any(same(quantity, q) for s in near for q in s.quantities):
        return None
    if turned_bound := next((q for q in aligned.sentence.quantities if contrary_bounds(quantity, q)), None):
        return Difference("direction", quantity.raw, turned_bound.raw)
    for stated in (q for sentence in near for q in sentence.quantities):
        if quantity.kind not in ("count", stated.kind) or stated.kind == "count" or not set(quantity.bare) & set(stated.bare):
            continue
        if quantity.kind == stated.kind:  # three weeks, three months
            return Difference(label(quantity, stated), quantity.raw, stated.raw)
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
