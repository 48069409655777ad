"""What changed between two readings of a page: block by block, with spans into both. Pure.

Rows of a table and items of a list count each for themselves; spaces and line ends do not count. A block that only moved
is not one that went and one that came.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any, Literal

from cormorant.blocks import blocks

Op = Literal["added", "removed", "changed", "moved"]
ALIKE = 0.4  # share of words two blocks have in common when one became the other
PAIRED_MAX = 60  # blocks on a side that are compared each with each
_EXACT_MAX = 400  # blocks on both sides without any that occurs once: diffed exactly up to here
_MOVED_MIN_CHARS = 20  # shorter ones are too common to say where they went
_ITEM = re.compile(r"^ {0,3}(?:[-*+]|\d{1,9}[.)])[ \t]", re.MULTILINE)
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Change:
    """One block. Spans are characters of the old and the new text; None on the side where it does not stand."""

    op: Op
    old_span: tuple[int, int] | None
    new_span: tuple[int, int] | None
    old: str = ""
    new: str = ""

    def as_dict(self, max_chars: int) -> dict[str, Any]:
        return {
            "op": self.op,
            "old_span": list(self.old_span) if self.old_span else None,
            "new_span": list(self.new_span) if self.new_span else None,
            "old": _clipped(self.old, max_chars),
            "new": _clipped(self.new, max_chars) if self.op != "moved" else "",
        }


@dataclass(frozen=True, slots=True)
class Changes:
    """Every change in the order of the new text, and how many blocks stayed as they were."""

    blocks: tuple[Change, ...]
    same: int

    def count(self, op: Op) -> int:
        return sum(change.op == op for change in self.blocks)

    def as_dict(self, *, max_blocks: int = 100, max_chars: int = 1_000) -> dict[str, Any]:
        """Counts, and the blocks. Long ones are clipped, their spans are not; `more` counts those left out."""
        counts = {op: self.count(op) for op in ("added", "removed", "changed", "moved")}
        shown = [change.as_dict(max_chars) for change in self.blocks[:max_blocks]]
        return {**counts, "same": self.same, "blocks": shown, "more": len(self.blocks) - len(shown)}

    def text(self) -> str:
        """For a reader: `+` came, `-` went, `~` changed, `>` moved."""
        if not self.blocks:
            return "(nothing changed)"
        return "\n".join(line for change in self.blocks for line in _lines(change))


@dataclass(frozen=True, slots=True)
class _Unit:
    start: int
    end: int
    key: str


def changes(old: str, new: str) -> Changes:
    """What has to be done to `old` to make it `new`."""
    before, after = list(_units(old)), list(_units(new))
    same = _matched([unit.key for unit in before], [unit.key for unit in after])
    found: list[tuple[int, Change]] = []
    at, other = 0, 0
    for n, m in [*same, (len(before), len(after))]:
        found += _replaced(old, new, before[at:n], after[other:m], after[m].start if m < len(after) else len(new))
        at, other = n + 1, m + 1
    found.sort(key=lambda placed: placed[0])  # stable: what stands together stays together
    return Changes(tuple(_moved([change for _, change in found])), len(same))


def _units(text: str) -> Iterator[_Unit]:
    """Blocks; of tables each row, of lists each item."""
    for block in blocks(text):
        body = text[block.start : block.end]
        if block.kind == "table":
            cuts = [0, *(match.end() for match in re.finditer("\n", body))]
        elif block.kind == "list":
            cuts = [0, *(match.start() for match in _ITEM.finditer(body))]
        else:
            cuts = [0]
        for begin, end in zip(cuts, [*cuts[1:], len(body)], strict=True):
            piece = body[begin:end].rstrip()
            if piece:
                yield _Unit(block.start + begin, block.start + begin + len(piece), " ".join(piece.split()))


def _matched(old: list[str], new: list[str]) -> list[tuple[int, int]]:
    """Pairs of equal units in order: what stands once on both sides first, then what lies between (patience diff)."""
    found: list[tuple[int, int]] = []
    todo = [(0, len(old), 0, len(new))]
    while todo:
        a, b, c, d = todo.pop()
        while a < b and c < d and old[a] == new[c]:
            found.append((a, c))
            a, c = a + 1, c + 1
        while a < b and c < d and old[b - 1] == new[d - 1]:
            b, d = b - 1, d - 1
            found.append((b, d))
        if a == b or c == d:
            continue
        anchors = _anchors(old, new, a, b, c, d)
        if anchors:
            for (n, m), (next_n, next_m) in zip([(a - 1, c - 1), *anchors], [*anchors, (b, d)], strict=True):
                todo.append((n + 1, next_n, m + 1, next_m))
            found += anchors
        elif b - a + d - c <= _EXACT_MAX:
            for match in SequenceMatcher(None, old[a:b], new[c:d], autojunk=False).get_matching_blocks():
                found += [(a + match.a + n, c + match.b + n) for n in range(match.size)]
    return sorted(found)


def _anchors(old: list[str], new: list[str], a: int, b: int, c: int, d: int) -> list[tuple[int, int]]:
    """The longest run of units that stand once on either side, in the order of both."""
    here, there = Counter(old[a:b]), Counter(new[c:d])
    place = {key: c + n for n, key in enumerate(new[c:d]) if there[key] == 1}
    pairs = [(n, place[old[n]]) for n in range(a, b) if here[old[n]] == 1 and old[n] in place]
    tops: list[int] = []  # the least place at which a run of each length ends
    ends: list[int] = []
    back: list[int] = []
    for index, (_, m) in enumerate(pairs):
        length = bisect_left(tops, m)
        back.append(ends[length - 1] if length else -1)
        if length == len(tops):
            tops.append(m)
            ends.append(index)
        else:
            tops[length], ends[length] = m, index
    run: list[tuple[int, int]] = []
    index = ends[-1] if ends else -1
    while index >= 0:
        run.append(pairs[index])
        index = back[index]
    return run[::-1]


def _replaced(old: str, new: str, gone: list[_Unit], come: list[_Unit], place: int) -> Iterator[tuple[int, Change]]:
    """Units between two that stayed: those alike are one that changed. With each the place it has in the new text."""
    pairs = _pairs(gone, come)
    partners = set(pairs.values())
    removed: list[tuple[int, Change]] = []
    for n in reversed(range(len(gone))):  # from behind: each stands before the next one that has a place
        unit = gone[n]
        if n in pairs:
            place = come[pairs[n]].start
        else:
            removed.append((place, Change("removed", (unit.start, unit.end), None, old[unit.start : unit.end])))
    yield from reversed(removed)
    for m, unit in enumerate(come):
        if m not in partners:
            yield unit.start, Change("added", None, (unit.start, unit.end), "", new[unit.start : unit.end])
    for n, m in pairs.items():
        was, now = gone[n], come[m]
        span = (was.start, was.end), (now.start, now.end)
        yield now.start, Change("changed", *span, old[was.start : was.end], new[now.start : now.end])


def _pairs(gone: list[_Unit], come: list[_Unit]) -> dict[int, int]:
    """Which unit became which, in order."""
    words = [Counter(_WORD.findall(unit.key.lower())) for unit in come[:PAIRED_MAX]]
    pairs: dict[int, int] = {}
    first = 0
    for n, unit in enumerate(gone[:PAIRED_MAX]):
        mine = Counter(_WORD.findall(unit.key.lower()))
        scored = [(_alike(mine, words[m]), -m) for m in range(first, len(words))]
        best, at = max(scored, default=(0.0, 0))
        if best >= ALIKE:
            pairs[n] = -at
            first = -at + 1
    return pairs


def _alike(one: Counter[str], other: Counter[str]) -> float:
    total = one.total() + other.total()
    return 2 * (one & other).total() / total if total else 0.0


def _moved(found: list[Change]) -> Iterator[Change]:
    """A block that went and stands elsewhere word for word has moved."""
    came: dict[str, list[Change]] = {}
    for change in found:
        if change.op == "added" and len(change.new) >= _MOVED_MIN_CHARS:
            came.setdefault(" ".join(change.new.split()), []).append(change)
    origin: dict[int, Change] = {}
    dropped: set[int] = set()
    for change in found:
        twins = came.get(" ".join(change.old.split()), []) if change.op == "removed" else []
        if twins:
            origin[id(twins.pop(0))] = change
            dropped.add(id(change))
    for change in found:
        if id(change) in origin:
            was = origin[id(change)]
            yield Change("moved", was.old_span, change.new_span, was.old, change.new)
        elif id(change) not in dropped:
            yield change


def _lines(change: Change) -> Iterator[str]:
    if change.op == "changed":
        yield from (f"~ was: {_clipped(change.old, 1_000)}", f"~ now: {_clipped(change.new, 1_000)}")
    else:
        sign = {"added": "+", "removed": "-", "moved": ">"}[change.op]
        yield f"{sign} {_clipped(change.new or change.old, 1_000)}"


def _clipped(text: str, max_chars: int) -> str:
    return text if len(text) <= max_chars else text[: max_chars - 1] + "…"
