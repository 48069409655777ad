"""What a page contradicts: figures, names, negation, direction. Pure.

A fence fires only where the page speaks of the same thing: the sentence that carries the rest of the claim says another
number, another name, the contrary. `missing` ones are figures and names that stand nowhere on the page.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence

from cormorant.verify.alignment import Alignment, Difference, content, laid_against
from cormorant.verify.coverage import Asked, Coverage
from cormorant.verify.figures import LOOKED_AT, figures, label, topic
from cormorant.verify.lexicon import ARTICLES, CONJUNCTIONS, MONTHS, MUTUAL, STOPWORDS, UNTIL, WEEKDAYS
from cormorant.verify.polarity import (
    clause_borders,
    denied,
    denied_form,
    has_contrary,
    missing_things,
    negators,
    same_side,
    turned,
    turned_run,
)
from cormorant.verify.quantities import Quantity
from cormorant.verify.reading import Token, likeness
from cormorant.words import folded

NEARLY = 0.8  # from this share on a negator that only one side has was put in or left out
NAME_CHARS = 24  # the same in a script without spaces
EXCHANGED_MOST = 24  # tokens of a sentence in which two sides are looked for
NAME_WORDS = 4  # a longer stretch that differs is another wording
PIVOTS = frozenset(folded(word) for word in ["than", "als", "que", "che", "чем", "dan", "niż", "ніж", "比"])  # between what is compared
VERBATIM = 0.7  # from this share of aligned tokens on, what differs stands in the place of what it replaces


def differences(coverage: Coverage) -> list[Difference]:
    """Everything that speaks against the claim, the surest first."""
    claim, page = coverage.claim, coverage.page
    if coverage.best is None:
        figures_not_there = [Difference(label(q), q.raw, missing=True) for q in claim.quantities if not q.weak]
        return figures_not_there + [Difference("name", a.raw, missing=True) for a in claim.asked if a.kind == "name"]
    aligned = laid_against(coverage)
    found: list[Difference] = []
    if aligned.matched >= VERBATIM or aligned.one_swap:
        found += _replaced(aligned, coverage)
    found += _swapped(aligned) or _turned_about(aligned) or _of_another_clause(aligned)
    found += figures(coverage, aligned)
    found += _polarity(coverage, aligned, {d.kind for d in found})
    found += _names(coverage, page_names=page.capitals)
    unique = {(d.kind, d.claimed): d for d in reversed(found)}
    return sorted(unique.values(), key=lambda d: d.missing)


# ---- what stands in the place of what ----------------------------------------------------------------------------------


def _replaced(aligned: Alignment, coverage: Coverage) -> list[Difference]:
    """In a sentence that is nearly the page's own: names and, where case says nothing, any one word put in another's place."""
    claim, sentence = aligned.claim.tokens, aligned.sentence.tokens
    swaps: list[tuple[list[Token], list[Token]]] = []
    for tag, a, b, c, d in aligned.blocks:
        if tag == "replace":
            months = aligned.matched >= NEARLY  # in a sentence of the page's own words a month is no wording
            mine, theirs = _weighty(claim[a:b], claim, months=months), _weighty(sentence[c:d], sentence, months=months)
            if mine and all(_in_figure(t, aligned.claim.quantities) for t in mine):
                continue  # figures are compared as figures
            if not _same_words(mine, theirs):
                swaps.append((mine, theirs))
    found: list[Difference] = []
    for mine, theirs in swaps:
        if not mine or not theirs or max(len(mine), len(theirs)) > _most(mine) or all(t.kind == "number" for t in mine):
            continue
        said, stated = _shown(mine, aligned.claim.text), _shown(theirs, aligned.sentence.text)
        if _initials(said, stated) or _initials(stated, said):
            continue
        clause = _clause_of(theirs, aligned)
        if contrary := turned(_unshared(mine, clause), [t.raw for t in theirs]) or turned_run(said, stated):
            found.append(Difference("direction", *contrary))
        elif (_is_name(mine, claim) and _is_name(theirs, sentence) and not _moved(mine, sentence)) or (
            aligned.one_swap and _exchanged(mine, theirs, aligned, coverage)
        ):
            found.append(Difference("name", said, stated))
    return found


def _moved(mine: Sequence[Token], sentence: Sequence[Token]) -> bool:
    """Whether the whole name stands in the sentence, only elsewhere."""
    there = {token.norm for token in sentence}
    return len(mine) > 1 and all(token.norm in there for token in mine)


def _in_figure(token: Token, figures: Iterable[Quantity]) -> bool:
    return any(figure.start <= token.start < figure.end for figure in figures)


def _initials(short: str, long: str) -> bool:
    """Whether one is made of the other's first letters: NATO, North Atlantic Treaty Organization."""
    letters = "".join(word[0] for word in long.replace("-", " ").split() if word[0].isupper())
    return short.isupper() and len(short) > 1 and short == letters


def _most(found: Sequence[Token]) -> int:
    """How many tokens a name can have: words, or the characters of a run."""
    return NAME_CHARS if any(t.kind == "run" for t in found) else NAME_WORDS


def _clause_of(found: Sequence[Token], aligned: Alignment) -> list[Token]:
    """The tokens of the page's clause in which these stand."""
    borders = clause_borders(aligned.sentence.text)
    clause = bisect_right(borders, found[0].start)
    return [t for t in aligned.sentence.tokens if bisect_right(borders, t.start) == clause]


def _exchanged(mine: Sequence[Token], theirs: Sequence[Token], aligned: Alignment, coverage: Coverage) -> bool:
    """Where case tells no names: whether one thing was put in another's place, and not another form or order of it."""
    if not (_caseless(mine) and _caseless(theirs)) or _said_nearby(mine, coverage):
        return False
    if any(t.kind == "hangul" for t in mine) and len(mine) != len(theirs):
        return False  # Korean says a thing in one word or in two
    said, stated = _shown(mine, aligned.claim.text), _shown(theirs, aligned.sentence.text)
    if any(q.start <= t.start < q.end for t in mine for q in aligned.claim.quantities) or same_side(said, stated):
        return False
    if all(t.kind == "run" for t in mine):
        pairs = {said[n : n + 2] for n in range(len(said) - 1)}
        there = sum(pair in aligned.sentence.text for pair in pairs)
        shared = _shared_letters(said, stated)
        moved = shared <= 0.5 and not any(
            a == b for a, b in zip(said, stated, strict=False)
        )  # 山田 for 田中; but 增加 for 增长 is a synonym
        return (shared < 0.5 or moved) and there < 0.5 * max(1, len(pairs))
    arabic = "\u0590" <= said[:1] <= "\u08ff"
    return not (arabic and len(said) <= 4 and _shared_letters(said, stated) >= 0.6)  # another form of one root


def _shared_letters(said: str, stated: str) -> float:
    mine, theirs = Counter(said.replace(" ", "")), Counter(stated.replace(" ", ""))
    return (mine & theirs).total() / max(mine.total(), theirs.total(), 1)


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


def _turned_about(aligned: Alignment) -> list[Difference]:
    """Doer and done-to changed: the claim is the page's own sentence, with what stands on either side of the verb exchanged."""
    mine, theirs = list(aligned.claim.tokens), list(aligned.sentence.tokens)
    while mine and theirs and mine[-1].norm == theirs[-1].norm:
        mine, theirs = mine[:-1], theirs[:-1]
    said, stated = [t.norm for t in mine], [t.norm for t in theirs]
    if len(said) != len(stated) or len(said) > EXCHANGED_MOST or sorted(said) != sorted(stated):
        return []
    for first in range(1, len(stated) - 1):
        for second in range(1, len(stated) - first):
            left, verb, right = stated[:first], stated[first:-second], stated[-second:]
            if said != right + verb + left:
                continue
            between = content(theirs[first:-second])
            sides = theirs[:first], theirs[-second:]
            if any(not t.capital for t in between) and not MUTUAL & {folded(t.raw) for t in between} and all(map(_is_somebody, sides)):
                return [Difference("name", _shown(mine[:second], aligned.claim.text), _shown(theirs[:first], aligned.sentence.text))]
    return []


def _is_somebody(found: Sequence[Token]) -> bool:
    """Whether the words are a noun with its article or a name, and no "in winter" or "today"."""
    begins = folded(found[0].raw)
    named = found[0].capital and begins not in STOPWORDS and (found[0].start > 0 or (found[1:] and found[1].capital))
    return bool(content(found)) and bool(begins in ARTICLES or named) and not any(t.kind == "number" for t in found)


def _of_another_clause(aligned: Alignment) -> list[Difference]:
    """A name that the page names in one half of the sentence, with what it says in the other half of another name.

    "A founded the firm and B has led it since" does not support "A has led it". Both halves have to say something: in
    "A and B founded the firm" the first is only a name.
    """
    names = [t for t in aligned.claim.tokens if t.capital and len(t.raw) > 1 and content([t])]
    tokens = aligned.sentence.tokens
    joints = [n for n, t in enumerate(tokens) if folded(t.raw) in CONJUNCTIONS and not t.capital]
    claimed = {t.norm for t in aligned.claim.tokens}
    plain = [t.norm for t in content(aligned.claim.tokens) if not t.capital]
    for joint in joints if names and aligned.matched >= 0.5 else ():
        halves = (tokens[:joint], tokens[joint + 1 :])
        for own, other, least in ((halves[0], halves[1], 1), (halves[1], halves[0], 2)):
            here = [t for t in own if t.norm in {name.norm for name in names}]
            rivals = [t for t in other[1 if other is halves[0] and other[:1] == tokens[:1] else 0 :] if t.capital and t.norm not in claimed]
            if len(here) < len({name.norm for name in names} & {t.norm for t in tokens}) or not here or not rivals:
                continue
            says = [t for t in content(own) if not t.capital and (t.start > here[-1].start if least == 1 else t.start < here[0].start)]
            mine, theirs = (sum(any(likeness(word, t.norm) for t in half) for word in plain) for half in (own, other))
            if len(says) >= least and theirs >= 2 and theirs >= 2 * mine:
                return [Difference("name", here[0].raw, rivals[0].raw)]
    return []


def _same_words(mine: Sequence[Token], theirs: Sequence[Token]) -> bool:
    """Whether every word of the claim's stretch is a form of one in the page's."""
    return all(any(likeness(a.norm, b.norm) >= 0.85 for b in theirs) for a in mine)


def _weighty(found: Sequence[Token], whole: Sequence[Token], *, months: bool) -> list[Token]:
    """The content words, months if asked; inside a sentence a capital makes a name of any word."""
    kept = []
    for token in found:
        at = whole.index(token)
        opens = at == 0 or whole[at - 1].end + 2 < token.start
        if content([token]) or (token.capital and len(token.raw) > 2 and not opens):
            kept.append(token)
    return [t for t in kept if months or (folded(t.raw) not in MONTHS and folded(t.raw) not in WEEKDAYS)]


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


# ---- negation and direction -------------------------------------------------------------------------------------------


def _polarity(coverage: Coverage, aligned: Alignment, known: set[str]) -> list[Difference]:
    """The claim denies what the page says, or the other way round; or it says more where the page says less."""
    claim, sentence = aligned.claim, aligned.sentence
    if aligned.matched < 0.5 and topic(coverage, [coverage.best or 0]) < 0.6:
        return []
    negation = _denial(aligned)
    inside = _denied_inside(aligned)
    if inside is not None:
        return [] if negation else [inside]  # "not safe" and "unsafe" say the same
    contrary = None
    if "direction" not in known:
        contrary = turned(_unshared(claim.tokens, sentence.tokens), _unshared(sentence.tokens, claim.tokens))
        if contrary is None and _caseless(content(claim.tokens)[:3]):
            contrary = turned_run(claim.text, sentence.text)
        if contrary is not None and not _same_company(contrary, claim.tokens, sentence.tokens):
            contrary = None
        if contrary is not None and UNTIL & set(map(folded, contrary)) and (negators(claim.text) or negators(sentence.text)):
            contrary = None  # "did not open until 1974" and "open since 1974"
        if contrary is not None and _said_elsewhere(contrary[0], coverage, aligned):
            contrary = None
        crossed = _crossed(claim.tokens, sentence.tokens)
        if crossed and contrary:
            contrary = None  # "lower than" with its sides changed says the same as "higher than"
        elif crossed and {t.norm for t in content(claim.tokens)} <= {t.norm for t in content(sentence.tokens)}:
            contrary = crossed
    if negation and (contrary or "direction" in known):
        return []  # "did not rise" and "fell" say the same
    found = [negation] if negation else []
    return found + ([Difference("direction", *contrary)] if contrary else [])


def _denied_inside(aligned: Alignment) -> Difference | None:
    """What one side denies without a "not": unsafe for safe, "without power" for "with power"."""
    claim, sentence = aligned.claim, aligned.sentence
    if form := denied_form(_unshared(claim.tokens, sentence.tokens), _unshared(sentence.tokens, claim.tokens)):
        return Difference("negation", *form)
    mine, theirs = missing_things(claim.tokens), missing_things(sentence.tokens)
    if bool(mine) == bool(theirs) or negators(claim.text if theirs else sentence.text):
        return None
    other = content(claim.tokens if theirs else sentence.tokens)
    there = next((t.raw for t in other if any(likeness(thing, t.norm) for thing in mine | theirs)), "")
    return Difference("negation", there if theirs else f"without {there}", f"without {there}" if theirs else there) if there else None


def _said_elsewhere(word: str, coverage: Coverage, aligned: Alignment) -> bool:
    """Whether another sentence that the claim rests on has the word, and something of the claim that the aligned one lacks."""
    at = coverage.page.sentences.index(aligned.sentence)
    terms = {token.norm for token in aligned.claim.tokens if token.raw == word}
    for other in coverage.places:
        if other == at or not any(
            hit.get(other, 0.0) > 0.5 for hit, a in zip(coverage.hits, coverage.claim.asked, strict=True) if a.term in terms
        ):
            continue
        pairs = zip(coverage.hits, coverage.claim.asked, strict=True)
        if any(hit.get(other, 0.0) > 0.5 >= hit.get(at, 0.0) for hit, a in pairs if a.kind != "function" and a.term not in terms):
            return True
    return False


def _crossed(mine: Sequence[Token], theirs: Sequence[Token]) -> tuple[str, str] | None:
    """The things whose places in a comparison changed: "the south tower is taller than the north one"."""
    sides = [_beside_pivot(tokens) for tokens in (mine, theirs)]
    if not all(sides):
        return None
    left, right, page_left, page_right = (
        {t.norm: t.raw for t in part if content([t]) or has_contrary(t.raw)} for pair in sides for part in pair
    )
    over = [raw for norm, raw in left.items() if norm not in right and norm in page_right and norm not in page_left]
    back = [raw for norm, raw in right.items() if norm not in left and norm in page_left and norm not in page_right]
    return (" ".join(over), " ".join(back)) if over and back else None


def _beside_pivot(tokens: Sequence[Token]) -> tuple[Sequence[Token], Sequence[Token]] | tuple[()]:
    at = next((n for n, t in enumerate(tokens) if folded(t.raw) in PIVOTS), 0)
    return (tokens[:at], tokens[at + 1 :]) if at else ()


def _denial(aligned: Alignment) -> Difference | None:
    """A word that both have, denied on one side only."""
    claim, sentence = aligned.claim, aligned.sentence
    mine, theirs = negators(claim.text), negators(sentence.text)
    if not mine and not theirs:
        return None
    if aligned.matched >= NEARLY:
        put_in = " ".join(_put_in(aligned, claim.text, claim.tokens, side=0))
        left_out = " ".join(_put_in(aligned, sentence.text, sentence.tokens, side=1))
        if bool(put_in) != bool(left_out) and _sure(claim.text) != _sure(sentence.text):
            return Difference("negation", put_in, left_out)
        return None
    said, stated = {t.norm for t in content(claim.tokens)}, {t.norm for t in content(sentence.tokens)}
    if any(sure for _, _, sure in mine) and not theirs:
        shared = {a for a in said for b in stated if likeness(a, b)}
        touched = _denied_words(claim.text, claim.tokens) & shared
        return Difference("negation", _negator(claim.text, mine)) if len(touched) > 0.2 * len(shared) else None
    if any(sure for _, _, sure in theirs) and not mine:
        shared = {b for b in stated for a in said if likeness(a, b)}
        touched = _denied_words(sentence.text, sentence.tokens) & shared
        return Difference("negation", "", _negator(sentence.text, theirs)) if len(touched) > 0.2 * len(shared) else None
    return None


def _put_in(aligned: Alignment, text: str, tokens: Sequence[Token], *, side: int) -> list[str]:
    """The negators of one side that the other does not have in their place."""
    low, high = aligned.reach
    if side == 1 and tokens:
        low, high = _to_clause(text, tokens, low, high)
    loose: set[int] = set()
    for tag, a, b, c, d in aligned.blocks:
        if tag != "equal":
            loose.update(range(a, b) if side == 0 else range(max(c, low), min(d, high)))
    spots = [(text[start:end], start, end) for start, end, sure in negators(text, plain=True) if sure]
    return [word for word, start, end in spots if any(tokens[n].start < end and start < tokens[n].end for n in loose)]


def _to_clause(text: str, tokens: Sequence[Token], low: int, high: int) -> tuple[int, int]:
    """The aligned stretch, and a few more tokens of the clauses it begins and ends in: a denial may stand there."""
    borders = clause_borders(text)
    first, last = bisect_right(borders, tokens[low].start), bisect_right(borders, tokens[high - 1].start)
    while low > 0 and bisect_right(borders, tokens[low - 1].start) == first:
        low -= 1
    while high < len(tokens) and bisect_right(borders, tokens[high].start) == last:
        high += 1
    return low, high


def _sure(text: str) -> int:
    return sum(sure for _, _, sure in negators(text, plain=True))


def _negator(text: str, found: Iterable[tuple[int, int, bool]]) -> str:
    return next((text[a:b] for a, b, sure in found if sure), "")


def _denied_words(text: str, tokens: Sequence[Token]) -> set[str]:
    return {tokens[n].norm for n in denied(text, tokens, soft=False) if content([tokens[n]])}


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
    return {found[n].norm for n in around if 0 <= n < len(found) and content([found[n]])}


# ---- names ------------------------------------------------------------------------------------------------------------


def _names(coverage: Coverage, page_names: frozenset[str]) -> list[Difference]:
    """Names of the claim that stand nowhere on the page."""
    found = []
    assert coverage.best is not None
    best = coverage.page.sentences[coverage.best]
    claimed = {asked.term for asked in coverage.claim.asked}
    for hit, asked in zip(coverage.hits, coverage.claim.asked, strict=True):
        if asked.kind != "name" or hit or asked.term in coverage.claim.figure_of or _spelled_out(asked, coverage):
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
    return {t.norm for t in (*tokens[max(0, at - 2) : at], *tokens[at + 1 : at + 3]) if content([t])}


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
