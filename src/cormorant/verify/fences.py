"""What a page contradicts: figures, names, negation, direction. Pure.

A fence fires only where the page speaks of the same thing: the sentence that carries the rest of the claim says another
number, another name, the contrary. `missing` ones are figures and names that stand nowhere on the page.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property

from cormorant.verify.coverage import Asked, Claim, Coverage
from cormorant.verify.lexicon import STOPWORDS
from cormorant.verify.polarity import denied, negators, turned, turned_run
from cormorant.verify.quantities import Quantity, rival, same
from cormorant.verify.reading import Sentence, Token, likeness
from cormorant.words import folded

NEARLY = 0.8  # from this share on a negator that only one side has was put in or left out
VERBATIM = 0.7  # from this share of aligned tokens on, what differs stands in the place of what it replaces
TOPIC = 0.45  # the rest of the claim must be carried this far before a figure contradicts
ELSEWHERE = 0.3  # by how much the rival's sentence must fit better than the one with the claim's own figure
LOOKED_AT = 400  # sentences whose figures are read when a number is not near


@dataclass(frozen=True)
class Difference:
    """One thing in which claim and page differ. `missing`: the page has nothing in its place, it just is not there."""

    kind: str  # number, date, unit, name, negation, direction, word
    claimed: str
    stated: str = ""
    missing: bool = False

    @property
    def reason(self) -> str:
        if self.missing:
            return f"{self.kind}: the page never says {self.claimed!r}"
        return (
            f"{self.kind}: the claim says {self.claimed!r}, the page {self.stated!r}" if self.stated else f"{self.kind}: {self.claimed!r}"
        )


@dataclass(frozen=True)
class Alignment:
    """The claim laid against one sentence, token by token."""

    claim: Claim
    sentence: Sentence

    @cached_property
    def blocks(self) -> Sequence[tuple[str, int, int, int, int]]:
        left = [token.norm for token in self.claim.tokens]
        right = [token.norm for token in self.sentence.tokens]
        return SequenceMatcher(None, left, right, autojunk=False).get_opcodes()

    @cached_property
    def matched(self) -> float:
        """The share of the claim's tokens that stand in the sentence in the same order."""
        return sum(b - a for tag, a, b, _, _ in self.blocks if tag == "equal") / (len(self.claim.tokens) or 1)

    @cached_property
    def reach(self) -> tuple[int, int]:
        """The first and last token of the sentence that are aligned."""
        equal = [(c, d) for tag, _, _, c, d in self.blocks if tag == "equal"]
        return (equal[0][0], equal[-1][1]) if equal else (0, 0)


def differences(coverage: Coverage) -> list[Difference]:
    """Everything that speaks against the claim, the surest first."""
    claim, page = coverage.claim, coverage.page
    if coverage.best is None:
        return [Difference(_label(q), q.raw, missing=True) for q in claim.quantities if not q.weak]
    aligned = laid_against(coverage)
    found: list[Difference] = []
    if aligned.matched >= VERBATIM:
        found += _replaced(aligned, coverage)
    found += _figures(coverage, aligned)
    found += _polarity(coverage, aligned, {d.kind for d in found})
    found += _names(coverage, page_names=page.capitals)
    unique = {(d.kind, d.claimed): d for d in reversed(found)}
    return sorted(unique.values(), key=lambda d: d.missing)


def laid_against(coverage: Coverage) -> Alignment:
    """The claim against the sentence it follows most closely, among those that carry it best."""
    best = sorted(coverage.scores, key=lambda n: -coverage.scores[n])[:3]
    options = [Alignment(coverage.claim, coverage.page.sentences[n]) for n in best]
    return max(options, key=lambda a: a.matched)


# ---- what stands in the place of what ----------------------------------------------------------------------------------


def _replaced(aligned: Alignment, coverage: Coverage) -> list[Difference]:
    """In a sentence that is nearly the page's own: names and, where case says nothing, any one word put in another's place."""
    claim, sentence = aligned.claim.tokens, aligned.sentence.tokens
    swaps: list[tuple[list[Token], list[Token]]] = []
    for tag, a, b, c, d in aligned.blocks:
        if tag == "replace":
            mine, theirs = _weighty(claim[a:b], claim), _weighty(sentence[c:d], sentence)
            if not _same_words(mine, theirs):
                swaps.append((mine, theirs))
    found: list[Difference] = []
    for mine, theirs in swaps:
        if not mine or not theirs or all(t.kind == "number" for t in mine):
            continue
        said, stated = _shown(mine, aligned.claim.text), _shown(theirs, aligned.sentence.text)
        if contrary := turned([t.raw for t in mine], [t.raw for t in theirs]) or turned_run(said, stated):
            found.append(Difference("direction", *contrary))
        elif (_is_name(mine, aligned.claim.tokens) and _is_name(theirs, sentence)) or (
            _caseless(mine) and _caseless(theirs) and len(swaps) == 1 and aligned.matched >= 0.75 and not _said_nearby(mine, coverage)
        ):
            found.append(Difference("name", said, stated))
    return found + _swapped(aligned)


def _swapped(aligned: Alignment) -> list[Difference]:
    """Two names that changed places: "A beat B" and "B beat A" have the same words."""
    mine = [t.norm for t in aligned.claim.tokens]
    order = [t.norm for t in aligned.sentence.tokens]
    names = [t for t in aligned.claim.tokens if (t.capital or t.kind == "katakana") and len(t.raw) > 1 and mine.count(t.norm) == 1]
    placed = [(order.index(t.norm), t) for t in names if order.count(t.norm) == 1]
    rest = [t.norm for t in aligned.claim.tokens if not t.capital]
    if len(placed) < 2 or aligned.matched < 0.6:
        return []
    kept = [n for n in order if n in set(rest)]
    if [n for n in rest if n in set(order)] != kept[: len(rest)]:
        return []
    places = [place for place, _ in placed]
    return [Difference("name", placed[0][1].raw, placed[-1][1].raw)] if places != sorted(places) else []


def _same_words(mine: Sequence[Token], theirs: Sequence[Token]) -> bool:
    """Whether every word of the claim's stretch is a form of one in the page's."""
    return all(any(likeness(a.norm, b.norm) >= 0.85 for b in theirs) for a in mine)


def _content(found: Sequence[Token]) -> list[Token]:
    return [t for t in found if t.kind != "word" or folded(t.raw) not in STOPWORDS]


def _weighty(found: Sequence[Token], whole: Sequence[Token]) -> list[Token]:
    """The content words; inside a sentence a capital makes a name of any word."""
    return [t for t in found if t in _content([t]) or (t.capital and len(t.raw) > 1 and t is not whole[0])]


def _shown(found: Sequence[Token], text: str) -> str:
    return text[found[0].start : found[-1].end] if found else ""


def _is_name(found: Sequence[Token], whole: Sequence[Token]) -> bool:
    if any(t.kind == "katakana" for t in found):
        return True
    return any(t.capital and (t is not whole[0] or (len(whole) > 1 and whole[1].capital) or len(found) == 1) for t in found)


def _caseless(found: Sequence[Token]) -> bool:
    return all(t.kind in ("run", "hangul", "katakana") or (t.kind == "word" and t.raw.lower() == t.raw.upper()) for t in found)


def _said_nearby(mine: Sequence[Token], coverage: Coverage) -> bool:
    """Whether the words stand in the neighbourhood of the best sentence: then it is an order, not a replacement."""
    assert coverage.best is not None
    best = coverage.best
    near = " ".join(s.text for s in coverage.page.sentences[max(0, best - 1) : best + 2])
    return _shown(mine, coverage.claim.text) in near


# ---- figures ----------------------------------------------------------------------------------------------------------


def _figures(coverage: Coverage, aligned: Alignment) -> list[Difference]:
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
    against = _in_place(quantity, aligned)
    if against is not None:
        return Difference(_label(quantity, against), quantity.raw, against.raw)
    homes = [n for n in near if any(same(quantity, q) for q in sentences[n].quantities)]
    rivals = {n: q for n in near for q in sentences[n].quantities if rival(quantity, q)}
    if not homes:
        homes = [n for n in _with_figures(coverage) if any(same(quantity, q) for q in sentences[n].quantities)]
    topic = _topic(coverage, near)
    if not homes:
        if rivals and topic >= TOPIC:
            best = max(rivals, key=lambda n: _topic(coverage, [n]))
            return Difference(_label(quantity, rivals[best]), quantity.raw, rivals[best].raw)
        return Difference(_label(quantity), quantity.raw, missing=True)
    own = max(_topic(coverage, [n], lean=True) for n in homes)
    for n, stated in rivals.items():
        if n not in homes and _topic(coverage, [n]) >= max(0.6, own + ELSEWHERE):
            return Difference(_label(quantity, stated), quantity.raw, stated.raw)
    return None


def _in_place(quantity: Quantity, aligned: Alignment) -> Quantity | None:
    """The figure of the page that stands exactly where the claim's does, where that is another one."""
    if aligned.matched < 0.6:
        return None
    tokens = aligned.claim.tokens
    for tag, a, b, c, d in aligned.blocks:
        if tag == "equal" or a == b or c == d or not (tokens[a].start <= quantity.start < tokens[b - 1].end):
            continue
        low, high = aligned.sentence.tokens[c].start, aligned.sentence.tokens[d - 1].end
        there = [q for q in aligned.sentence.quantities if low <= q.start < high]
        if there and not any(same(quantity, q) for q in there):
            return next((q for q in there if rival(quantity, q)), None)
    return None


def _weak_figure(quantity: Quantity, coverage: Coverage, aligned: Alignment) -> Difference | None:
    """A small number in words contradicts only where another one stands in its place or counts the same thing."""
    against = _in_place(quantity, aligned)
    if against is not None:
        return Difference(_label(quantity, against), quantity.raw, against.raw)
    near = [coverage.page.sentences[n] for n in _window(coverage)]
    if any(same(quantity, q) for s in near for q in s.quantities):
        return None
    counted = _next_word(coverage.claim.text, coverage.claim.tokens, quantity)
    for sentence in near:
        for stated in sentence.quantities:
            if counted and rival(quantity, stated) and _next_word(sentence.text, sentence.tokens, stated) == counted:
                return Difference(_label(quantity, stated), quantity.raw, stated.raw)
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


def _topic(coverage: Coverage, places: Sequence[int], *, lean: bool = False) -> float:
    """How far these sentences carry what the claim is about, figures left out; `lean` counts the sentence before by half."""
    total = found = 0.0
    for hit, asked in zip(coverage.hits, coverage.claim.asked, strict=True):
        if asked.kind in ("function", "number"):
            continue
        total += asked.weight
        here = max((hit.get(n, 0.0) for n in places), default=0.0)
        if lean:
            here = max(here, 0.7 * max((hit.get(n + step, 0.0) for n in places for step in (-1, 1)), default=0.0))
        found += asked.weight * here
    return found / total if total else 1.0


def _label(quantity: Quantity, stated: Quantity | None = None) -> str:
    if quantity.kind in ("year", "month", "day", "weekday", "decade", "clock"):
        return "date"
    if stated is not None and stated.kind != quantity.kind and set(stated.bare) & set(quantity.bare):
        return "unit"
    if stated is not None and set(stated.bare) & set(quantity.bare):
        return "unit"
    return "number"


# ---- negation and direction -------------------------------------------------------------------------------------------


def _polarity(coverage: Coverage, aligned: Alignment, known: set[str]) -> list[Difference]:
    """The claim denies what the page says, or the other way round; or it says more where the page says less."""
    claim, sentence = aligned.claim, aligned.sentence
    if aligned.matched < 0.5 and _topic(coverage, [coverage.best or 0]) < 0.6:
        return []
    negation = _denial(aligned)
    contrary = None
    if "direction" not in known:
        contrary = turned(_unshared(claim.tokens, sentence.tokens), _unshared(sentence.tokens, claim.tokens))
        if contrary is None and _caseless(_content(claim.tokens)[:3]):
            contrary = turned_run(claim.text, sentence.text)
        if contrary is not None and not _same_company(contrary, claim.tokens, sentence.tokens):
            contrary = None
    if negation and (contrary or "direction" in known):
        return []  # "did not rise" and "fell" say the same
    found = [negation] if negation else []
    return found + ([Difference("direction", *contrary)] if contrary else [])


def _denial(aligned: Alignment) -> Difference | None:
    """A word that both have, denied on one side only."""
    claim, sentence = aligned.claim, aligned.sentence
    mine, theirs = negators(claim.text), negators(sentence.text)
    if not mine and not theirs:
        return None
    if aligned.matched >= NEARLY:
        put_in = " ".join(_put_in(aligned, claim.text, claim.tokens, side=0))
        left_out = " ".join(_put_in(aligned, sentence.text, sentence.tokens, side=1))
        return Difference("negation", put_in, left_out) if bool(put_in) != bool(left_out) else None
    sure_mine = _denied_words(claim.text, claim.tokens, soft=False)
    sure_theirs = _denied_words(sentence.text, sentence.tokens, soft=False)
    any_mine = _denied_words(claim.text, claim.tokens, soft=True)
    any_theirs = _denied_words(sentence.text, sentence.tokens, soft=True)
    shared = {t.norm for t in _content(claim.tokens)} & {t.norm for t in _content(sentence.tokens)}
    added, dropped = (sure_mine - any_theirs) & shared, (sure_theirs - any_mine) & shared
    share = max(1, len(shared))
    if added and (len(added) / share > 0.2 or len(added) >= 3):
        return Difference("negation", _negator(claim.text, mine), "")
    if dropped and (len(dropped) / share > 0.2 or len(dropped) >= 3):
        return Difference("negation", "", _negator(sentence.text, theirs))
    return None


def _put_in(aligned: Alignment, text: str, tokens: Sequence[Token], *, side: int) -> list[str]:
    """The negators of one side that the other does not have in their place."""
    low, high = aligned.reach
    loose: set[int] = set()
    for tag, a, b, c, d in aligned.blocks:
        if tag != "equal":
            loose.update(range(a, b) if side == 0 else range(max(c, low), min(d, high)))
    spots = [(text[start:end], start, end) for start, end, sure in negators(text, plain=True) if sure]
    return [word for word, start, end in spots if any(tokens[n].start < end and start < tokens[n].end for n in loose)]


def _negator(text: str, found: Iterable[tuple[int, int, bool]]) -> str:
    return next((text[a:b] for a, b, sure in found if sure), "")


def _denied_words(text: str, tokens: Sequence[Token], *, soft: bool) -> set[str]:
    return {tokens[n].norm for n in denied(text, tokens, soft=soft) if tokens[n] in _content([tokens[n]])}


def _unshared(mine: Sequence[Token], theirs: Sequence[Token]) -> list[str]:
    other = {t.norm for t in theirs}
    return [t.raw for t in mine if t.norm not in other]


def _same_company(contrary: tuple[str, str], claim: Sequence[Token], sentence: Sequence[Token]) -> bool:
    """Whether the two words stand among the same words: then they speak of the same thing."""
    mine, theirs = _company(contrary[0], claim), _company(contrary[1], sentence)
    return not mine or not theirs or bool(mine & theirs)


def _company(word: str, found: Sequence[Token]) -> set[str]:
    places = [n for n, t in enumerate(found) if t.raw == word]
    around = {n + step for n in places for step in range(-4, 5) if step}
    return {found[n].norm for n in around if 0 <= n < len(found) and _content([found[n]])}


# ---- names ------------------------------------------------------------------------------------------------------------


def _names(coverage: Coverage, page_names: frozenset[str]) -> list[Difference]:
    """Names of the claim that stand nowhere on the page."""
    found = []
    assert coverage.best is not None
    best = coverage.page.sentences[coverage.best]
    claimed = {asked.term for asked in coverage.claim.asked}
    for hit, asked in zip(coverage.hits, coverage.claim.asked, strict=True):
        if asked.kind != "name" or hit or _spelled_out(asked, coverage):
            continue
        free = [t for t in best.tokens[1:] if t.capital and t.norm not in claimed and folded(t.raw) not in STOPWORDS]
        beside = _beside(asked, coverage.claim.tokens)
        instead = next((t for t in free if _beside_names(t, best.tokens) & beside), None)
        if instead is not None:
            found.append(Difference("name", asked.raw, instead.raw))
        else:
            found.append(Difference("name", asked.raw, missing=True))
    return found


def _beside(asked: Asked, tokens: Sequence[Token]) -> set[str]:
    return {n for t in tokens if t.norm == asked.term for n in _beside_names(t, tokens)}


def _beside_names(token: Token, tokens: Sequence[Token]) -> set[str]:
    """The neighbours of a token that are content words: the rest of a name, or what it is said of."""
    at = tokens.index(token)
    return {t.norm for t in (*tokens[max(0, at - 2) : at], *tokens[at + 1 : at + 3]) if _content([t])}


def _spelled_out(asked: Asked, coverage: Coverage) -> bool:
    """An abbreviation whose letters begin words that stand in a row on the page: NASA."""
    letters = asked.raw.lower()
    if not asked.raw.isupper() or not 2 <= len(letters) <= 6:
        return False
    for sentence in coverage.page.sentences[:LOOKED_AT]:
        initials = "".join(t.raw[0].lower() for t in sentence.tokens if t.capital)
        if letters in initials:
            return True
    return False
