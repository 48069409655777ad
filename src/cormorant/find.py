"""Where words stand in a text: as they are written, in any case, or nearly. Pure, in every script, linear in the text.

`literal` is exactly so; `nocase` makes case, width and kinds of quotes, dashes and spaces equal; `fuzzy` drops accents and
emphasis marks too, and about one letter in five may differ. `auto` is nocase, and fuzzy only where that finds nothing.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any, Literal, get_args

from cormorant.errors import InvalidArguments

Mode = Literal["auto", "literal", "nocase", "fuzzy"]
NEEDLES_MAX = 20
NEEDLE_MAX_CHARS = 500
CONTEXT_CHARS = 80  # on either side
LETTERS_PER_ERROR = 5
_CANDIDATES_MAX = 2_000  # places a fuzzy needle is compared at; a text with more of them is compared no further
_ALIKE = str.maketrans({**dict.fromkeys("‘’‚‛′´`", "'"), **dict.fromkeys("“”„‟«»″", '"'), **dict.fromkeys("‐‑‒–—―−", "-"), "\u00ad": ""})
# A letter with its combining accents, or the jamo of one Hangul run: folded together.
_CLUSTER = "[\u1100-\u11ff]+|[^\u0300-\u036f]?[\u0300-\u036f]+"
_JOINS = re.compile("[\u1100-\u11ff\u0300-\u036f]")
_ACCENTS = re.compile("[\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0640]")
_EMPHASIS = frozenset("*_`\\")
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Match:
    """One place. `start` and `end` are character offsets into the text, `line` counts from 1."""

    needle: str
    start: int
    end: int
    line: int
    text: str
    context: str

    def as_dict(self) -> dict[str, Any]:
        return {"needle": self.needle, "span": [self.start, self.end], "line": self.line, "text": self.text, "context": self.context}


@dataclass(frozen=True, slots=True)
class Needle:
    """What was looked for, how often it stands in the whole text, and which mode found it."""

    needle: str
    count: int
    mode: Mode

    def as_dict(self) -> dict[str, Any]:
        return {"needle": self.needle, "count": self.count, "mode": self.mode}


@dataclass(frozen=True, slots=True)
class Finds:
    """All needles, and the places from `start` on in the order of the text. `next_offset`: where to go on."""

    needles: tuple[Needle, ...]
    matches: tuple[Match, ...]
    next_offset: int | None = None

    @property
    def count(self) -> int:
        return sum(needle.count for needle in self.needles)

    def as_dict(self) -> dict[str, Any]:
        return {
            "needles": [needle.as_dict() for needle in self.needles],
            "matches": [match.as_dict() for match in self.matches],
            "next_offset": self.next_offset,
        }


def find(text: str, needles: str | Iterable[str], *, mode: Mode = "auto", start: int = 0, limit: int = 20) -> Finds:
    """Where each needle stands in `text`; the first `limit` places at or after `start`.

    Raises: InvalidArguments without a needle, with too many or too long ones, or for an unknown mode.
    """
    wanted = _checked([needles] if isinstance(needles, str) else list(needles), mode)
    folds: dict[Mode, _Folded] = {}
    asked: list[Needle] = []
    spans: list[tuple[int, int, str]] = []
    for needle in wanted:
        used, found = _spans(text, needle, mode, folds)
        asked.append(Needle(needle, len(found), used))
        spans += [(begin, end, needle) for begin, end in found if begin >= start]
    spans.sort(key=lambda span: span[:2])
    line_ends = [match.start() for match in re.finditer("\n", text)]
    shown = tuple(
        Match(needle, begin, end, bisect_left(line_ends, begin) + 1, text[begin:end], _context(text, begin, end))
        for begin, end, needle in spans[:limit]
    )
    # Needles may begin at one place: going on there again is better than leaving one of them out.
    more = spans[limit][0] if len(spans) > limit else None
    return Finds(tuple(asked), shown, more if more is None or not shown or more > shown[0].start else more + 1)


def _checked(needles: list[str], mode: Mode) -> list[str]:
    wanted = list(dict.fromkeys(needle.strip() for needle in needles if needle.strip()))
    if not wanted:
        raise InvalidArguments("find needs a text to look for", remedy='find="high water", or a list of texts')
    if len(wanted) > NEEDLES_MAX or max(map(len, wanted)) > NEEDLE_MAX_CHARS:
        raise InvalidArguments(f"find takes up to {NEEDLES_MAX} texts of up to {NEEDLE_MAX_CHARS} characters", remedy="look for less")
    if mode not in get_args(Mode):
        raise InvalidArguments(f"find has no mode {mode!r}", remedy=f"one of {', '.join(get_args(Mode))}")
    return wanted


def _spans(text: str, needle: str, mode: Mode, folds: dict[Mode, _Folded]) -> tuple[Mode, list[tuple[int, int]]]:
    """The mode that was used and the places, none overlapping another."""
    modes: tuple[Mode, ...] = ("nocase", "fuzzy") if mode == "auto" else (mode,)
    for each in modes:
        if each == "literal":
            found = [(match.start(), match.end()) for match in re.finditer(re.escape(needle), text)]
        else:
            if each not in folds:
                folds[each] = _folded(text, loose=each == "fuzzy")
            found = _in_folded(folds[each], _folded(needle, loose=each == "fuzzy").text, loose=each == "fuzzy")
        if found:
            return each, found
    return modes[0] if len(modes) == 1 else "fuzzy", []


@dataclass(frozen=True, slots=True)
class _Folded:
    """A text in which what shall be equal is equal, and where each of its characters came from."""

    text: str
    starts: list[int] | range
    ends: list[int] | range

    def span(self, begin: int, end: int) -> tuple[int, int]:
        return self.starts[begin], self.ends[end - 1]


def _folded(text: str, *, loose: bool) -> _Folded:
    """Character by character where that is enough, which is nearly always: a table and no loop. Else by clusters."""
    if text.isascii() and not (loose and _EMPHASIS.intersection(text)):
        return _Folded(text.lower(), range(len(text)), range(1, len(text) + 1))
    fold = _loose if loose else _strict
    table = {letter: fold(letter) for letter in set(text)}
    odd = "".join(letter for letter, folded in table.items() if len(folded) != 1 or _JOINS.match(letter))
    plain = str.maketrans(table)
    if not odd:
        return _Folded(text.translate(plain), range(len(text)), range(1, len(text) + 1))
    pieces: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    at = 0
    for match in re.finditer(f"{_CLUSTER}|[{re.escape(odd)}]", text, re.DOTALL):
        begin, end = match.span()
        folded = fold(match[0])
        pieces += (text[at:begin].translate(plain), folded)
        starts += (*range(at, begin), *(begin for _ in folded))
        ends += (*range(at + 1, begin + 1), *(end for _ in folded))
        at = end
    pieces.append(text[at:].translate(plain))
    starts += range(at, len(text))
    ends += range(at + 1, len(text) + 1)
    return _Folded("".join(pieces), starts, ends)


@lru_cache(maxsize=20_000)
def _strict(cluster: str) -> str:
    return unicodedata.normalize("NFKC", cluster.casefold()).casefold().translate(_ALIKE)


@lru_cache(maxsize=20_000)
def _loose(cluster: str) -> str:
    if cluster in _EMPHASIS:
        return ""
    return unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFKD", _strict(cluster))))


def _in_folded(folded: _Folded, needle: str, *, loose: bool) -> list[tuple[int, int]]:
    words = needle.split()
    if not words:
        return []
    exact = re.compile(r"\s+".join(map(re.escape, words)))
    found = [folded.span(match.start(), match.end()) for match in exact.finditer(folded.text)]
    errors = len(needle) // LETTERS_PER_ERROR
    if not loose or not errors:
        return found
    near = [folded.span(begin, end) for begin, end in _nearly(folded.text, " ".join(words), errors)]
    return _apart(sorted({*found, *near}))


def _apart(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    kept: list[tuple[int, int]] = []
    for begin, end in spans:
        if not kept or begin >= kept[-1][1]:
            kept.append((begin, end))
    return kept


def _nearly(text: str, needle: str, errors: int) -> Iterator[tuple[int, int]]:
    """Places that differ from the needle by at most so many letters, best first where they overlap.

    One of `errors + 1` pieces of the needle stands in each such place unchanged, so only there is anything compared.
    """
    size = len(needle)
    bounds = [size * n // (errors + 1) for n in range(errors + 2)]
    candidates: set[int] = set()
    for begin, end in pairwise(bounds):
        at = text.find(needle[begin:end])
        while at >= 0 and len(candidates) < _CANDIDATES_MAX:
            candidates.add(max(0, at - begin - errors))
            at = text.find(needle[begin:end], at + 1)
    forth, back = _masks(needle), _masks(needle[::-1])
    done = -1
    for begin in sorted(candidates):
        begin = max(begin, done)
        window = text[begin : begin + size + 4 * errors]
        distances = list(_distances(window, forth, size))
        near = next((n for n, distance in enumerate(distances[: size + 2 * errors]) if distance <= errors), None)
        if near is None:
            continue
        distance, end = min((distances[n], n + 1) for n in range(near, min(len(distances), near + 2 * errors)))
        turned = window[:end][::-1]
        starts = [(abs(n - size), n) for n, other in enumerate(_distances(turned, back, size), 1) if other == distance]
        if not starts:
            continue
        first = begin + end - min(starts)[1]
        if first >= done:
            done = begin + end
            yield first, done


def _masks(needle: str) -> dict[str, int]:
    masks: dict[str, int] = {}
    for n, letter in enumerate(needle):
        masks[letter] = masks.get(letter, 0) | 1 << n
    return masks


def _distances(text: str, masks: dict[str, int], size: int) -> Iterator[int]:
    """For each prefix of `text`: the least edits that make the needle the end of it (Myers 1999, one column a step)."""
    full, top = (1 << size) - 1, 1 << (size - 1)
    up, down, distance = full, 0, size
    for letter in text:
        eq = masks.get(letter, 0)
        vertical = eq | down
        eq |= ((eq & up) + up) ^ up
        right, left = down | ~(eq | up) & full, up & eq
        distance += (1 if right & top else 0) - (1 if left & top else 0)
        right = right << 1 & full
        left = left << 1 & full
        up, down = left | ~(vertical | right) & full, right & vertical
        yield distance


def _context(text: str, start: int, end: int) -> str:
    """The match and some words around it, in one line."""
    before = text[max(0, start - CONTEXT_CHARS) : start]
    after = text[end : end + CONTEXT_CHARS]
    if start > CONTEXT_CHARS:
        before = "…" + before[_word_at(before) :]
    if end + CONTEXT_CHARS < len(text):
        after = after[: len(after) - _word_at(after[::-1])] + "…"
    return _SPACE.sub(" ", before + text[start:end] + after).strip()


def _word_at(text: str) -> int:
    """Where the first whole word begins; without a space nearby, as few characters as keep an accent on its letter."""
    space = _SPACE.search(text, 0, CONTEXT_CHARS // 2)
    if space:
        return space.end()
    return next((n for n, letter in enumerate(text) if not unicodedata.combining(letter)), 0)
