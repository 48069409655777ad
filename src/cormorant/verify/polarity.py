"""What is denied and what is turned round: negators with their reach, and words of opposite meaning. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from cormorant.verify.coverage import senses
from cormorant.verify.lexicon import (
    DENYING_BEGINNINGS,
    DENYING_ENDINGS,
    HARMLESS,
    JOINING,
    JOINING_RUNS,
    KOREAN_NEGATION,
    NEGATING_RUNS,
    NEGATORS,
    NOT_NEGATING,
    OPPOSITE_RUNS,
    OPPOSITES,
    SOFT_NEGATORS,
    TURKISH_NEGATION,
    UNTIL,
    WITHOUT,
)
from cormorant.verify.reading import Token, likeness, norm_of
from cormorant.words import folded

REACH = 4  # tokens on either side that a negator can deny
RUN_REACH = 6  # the same in characters of a run without spaces
_KOREAN = re.compile(KOREAN_NEGATION)
_TURKISH = re.compile(TURKISH_NEGATION)
_TURKISH_LETTERS = re.compile("[ığşİĞŞ]")
_RUNS = re.compile("|".join(NEGATING_RUNS))
_NOT_RUNS = re.compile("|".join(NOT_NEGATING))
_JOINED_RUNS = re.compile("|".join(JOINING_RUNS))
_SPLIT = re.compile(r"(?<!\d)[,،，](?!\d)|(?<=\d)[,،，](?!\d)|[;:؛；：。!?()、]|\s[-–—]\s")
_SHORT_NOT = re.compile(r"n['’]t\b", re.I)


@lru_cache(maxsize=8192)
def negators(text: str, *, plain: bool = False) -> tuple[tuple[int, int, bool], ...]:
    """Where the text denies: start, end, and whether the word can mean nothing else.

    `plain` also gives those in phrases that deny nothing ("not only"), to compare two wordings of one sentence.
    """
    hidden = text if plain else _masked(text)
    found: list[tuple[int, int, bool]] = [
        (m.start(), m.end(), True) for m in _RUNS.finditer(_NOT_RUNS.sub(lambda m: "□" * len(m[0]), hidden))
    ]
    found += [(m.start(), m.end(), True) for m in _SHORT_NOT.finditer(hidden)]
    found += [(m.start(), m.end(), True) for m in _KOREAN.finditer(hidden)]
    turkish = bool(_TURKISH_LETTERS.search(text))
    for match in re.finditer(r"[^\W\d_]+(?:[\u0900-\u0963\u064b-\u0652]+[^\W\d_]*)*", hidden):
        word = folded(match[0])
        if hidden[match.end() : match.end() + 1] == "-":
            continue  # a non-profit, a no-fly zone
        if word in NEGATORS:
            found.append((match.start(), match.end(), True))
        elif word in SOFT_NEGATORS:
            found.append((match.start(), match.end(), False))
        elif turkish and _TURKISH.search(word):
            found.append((match.start(), match.end(), True))
    return tuple(sorted(found))


def _masked(text: str) -> str:
    """The text with the phrases blanked out whose negator denies nothing."""
    low = text.lower()
    for phrase in HARMLESS:
        at = low.find(phrase)
        while at >= 0 and len(low) == len(text):
            text = text[:at] + "□" * len(phrase) + text[at + len(phrase) :]
            at = low.find(phrase, at + 1)
    return text


@lru_cache(maxsize=8192)
def clause_borders(text: str) -> tuple[int, ...]:
    """Where the parts of a sentence end that can be true or false by themselves: marks and the words that join clauses."""
    marks = {m.end() for m in _SPLIT.finditer(text)} | {m.start() for m in _JOINED_RUNS.finditer(text)}
    marks |= {m.start() for m in re.finditer(r"[^\W\d_]+(?:[\u0900-\u0963]+[^\W\d_]*)*", text) if folded(m[0]) in JOINING}
    return tuple(sorted(marks))


def denied(text: str, tokens: Sequence[Token], *, soft: bool) -> set[int]:
    """The tokens (by index) in reach of a negator, in its own part of the sentence. `soft` counts the doubtful ones too."""
    found: set[int] = set()
    for start, end, sure in negators(text):
        if not (sure or soft):
            continue
        left = max((m.end() for m in _SPLIT.finditer(text, 0, start)), default=0)
        right = next((m.start() for m in _SPLIT.finditer(text, end)), len(text))
        if any(folded(t.raw) in UNTIL for t in tokens if end <= t.start < right):
            continue  # "did not open until 1974" says that it opened
        before = [n for n, t in enumerate(tokens) if left <= t.start and t.end <= start]
        after = [n for n, t in enumerate(tokens) if end <= t.start and t.end <= right]
        within = [n for n, t in enumerate(tokens) if t.start <= start < t.end or start <= t.start < end]
        reach = RUN_REACH if tokens and any(tokens[n].kind == "run" for n in within) else REACH
        found.update(before[-reach:], after[:reach], within)
    return found


def missing_things(tokens: Sequence[Token]) -> set[str]:
    """What a text says to be without: the one or two words beside "without", "ohne", "बिना"."""
    found: set[str] = set()
    for n, token in enumerate(tokens):
        if folded(token.raw) in WITHOUT:
            behind = [t for t in tokens[n + 1 : n + 4] if not t.is_function]
            found.update(t.norm for t in behind[: 2 if behind[1:] and behind[1].start - behind[0].end == 1 else 1])
            if folded(token.raw) in _BEHIND:
                found.update(t.norm for t in tokens[max(0, n - 2) : n] if not t.is_function)
    return found


_BEHIND = {folded("olmadan"), folded("बिना")}


def denied_form(claimed: Iterable[str], stated: Iterable[str]) -> tuple[str, str] | None:
    """A word that one side has plain and the other with a beginning or an ending that denies it: safe and unsafe."""
    mine, theirs = ({folded(word): word for word in words} for words in (claimed, stated))
    for left, right in ((mine, theirs), (theirs, mine)):
        for form in right:
            for plain in left:
                if denies(form, plain):
                    return mine.get(plain) or mine[form], theirs.get(form) or theirs[plain]
    return None


def denies(form: str, plain: str) -> bool:
    """Whether `form` is `plain` with a beginning or an ending that denies it; tree, trees and treeless go together."""
    if len(form) < 5 or form == "unless":
        return False
    for begins in DENYING_BEGINNINGS:
        if form.startswith(begins) and len(plain) >= 4 and (form[len(begins) :] == plain or likeness(form[len(begins) :], plain) >= 0.9):
            return True
    for ends in DENYING_ENDINGS:
        bare = form.removesuffix(ends)
        if form.endswith(ends) and len(bare) >= 2 and (plain == bare or plain.removesuffix("s") == bare):
            return True
    return False


@lru_cache(maxsize=1)
def _sides() -> dict[str, list[tuple[int, int]]]:
    """Word -> the pairs it stands in, and on which side."""
    found: dict[str, list[tuple[int, int]]] = {}
    for number, sides in enumerate(OPPOSITES):
        for side, words in enumerate(sides):
            for word in words.split():
                found.setdefault(folded(word), []).append((number, side))
    return found


def has_contrary(word: str) -> bool:
    """Whether the word is one side of a pair; "sur" is south and no function word then."""
    return folded(word) in _sides()


def turned(claimed: Iterable[str], stated: Iterable[str]) -> tuple[str, str] | None:
    """A word of the claim whose contrary stands in its place: both words, as they stand."""
    sides = _sides()
    other = {place: word for word in stated for place in sides.get(folded(word), ())}
    same = {place for word in stated for place in sides.get(folded(word), ())}
    for word in claimed:
        places = sides.get(folded(word), ())
        if any(place in same for place in places):
            continue
        for number, side in places:
            if (number, 1 - side) in other:
                return word, other[number, 1 - side]
    return None


def same_side(said: str, stated: str) -> bool:
    """Whether two wordings are of one side of a pair, or of one sense: rose and grew, 增加 and 增长."""
    sides, words = _sides(), [text.split() for text in (folded(said), folded(stated))]
    mine, theirs = ({place for word in each for place in sides.get(word, ())} for each in words)
    if mine & theirs or any(norm_of(a) in senses().get(norm_of(b), ()) for a in words[0] for b in words[1]):
        return True
    return any(any(w in said for w in side.split()) and any(w in stated for w in side.split()) for pair in OPPOSITE_RUNS for side in pair)


def turned_run(claimed: str, stated: str) -> tuple[str, str] | None:
    """The same inside runs without spaces: what differs between two stretches of text."""
    for sides in OPPOSITE_RUNS:
        left, right = (words.split() for words in sides)
        for mine, theirs in ((left, right), (right, left)):
            said = next((w for w in mine if w in claimed), None)
            against = next((w for w in theirs if w in stated), None)
            if said and against and not any(w in stated for w in mine) and not any(w in claimed for w in theirs):
                return said, against
    return None
