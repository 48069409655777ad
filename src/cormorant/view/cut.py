"""The most of a text that a room holds, cut where a reader would cut. Pure.

A part that begins or ends inside a table or a fence is made whole again: the header is repeated, the fence closed.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from cormorant import tokens
from cormorant.blocks import Block, closing, grapheme_border, opening, places, renumbered

ENOUGH = 0.75  # of the room; a cut between blocks that fills so much is better than a fuller one inside a block
ENOUGH_BEFORE_TABLE = 0.5  # a table or a fence that would fit whole in the next part is worth more empty room
CHARACTER_MAX = 64  # code points of one visible character; a longer heap of marks is cut


@dataclass(frozen=True, slots=True)
class Room:
    """How much may be said: tokens by a counter (None: any number) and characters."""

    counter: tokens.Counter
    tokens: int | None
    chars: int

    def holds(self, text: str) -> bool:
        return len(text) <= self.chars and (self.tokens is None or self.counter.count(text) <= self.tokens)

    def less(self, text: str) -> Room:
        """What is left when `text` has been said."""
        left = None if self.tokens is None else max(0, self.tokens - self.counter.count(text))
        return Room(self.counter, left, max(0, self.chars - len(text)))

    def at_most(self, tokens: int | None) -> Room:
        """The same room, with at most so many tokens."""
        return self if tokens is None else Room(self.counter, tokens if self.tokens is None else min(tokens, self.tokens), self.chars)

    def used(self, text: str) -> float:
        """The share of the room that `text` takes."""
        chars = len(text) / (self.chars or 1)
        return chars if self.tokens is None else max(chars, self.counter.count(text) / (self.tokens or 1))


@dataclass(frozen=True, slots=True)
class Piece:
    """What fitted, and the offset in the text where it goes on."""

    text: str
    next: int


def piece(text: str, found: Sequence[Block], start: int, end: int, room: Room, *, must: bool = False) -> Piece:
    """The most of `text[start:end]` that `room` holds; `found` are the blocks of `text`.

    With `must` something is cut off even where no good place is (inside a word longer than the room), so that reading
    on from `next` comes to an end.
    """
    first = bisect_right([block.end for block in found], start)
    head, skipped = _head(text, found[first] if first < len(found) else None, start)
    if (end - start) <= room.chars and room.holds(whole := head + text[start + skipped : end] + _foot(found, end)):
        return Piece(whole, end)
    inside = [block for block in found[first:] if block.start < end]
    count = _blocks_that_fit(text, inside, start + skipped, room.less(head))
    while count and not room.holds(head + text[start + skipped : inside[count - 1].end]):
        count -= 1
    base = head + text[start + skipped : inside[count - 1].end] if count else ""
    worth = count < len(inside) and _worth_cutting(inside[count], base, room, bool(count))
    if worth and (deeper := _within(text, inside[count], start, skipped, head, room)):
        return deeper
    while count > 1 and inside[count - 1].kind == "heading":  # a heading alone at the end promises what is not there
        count -= 1
    if count:
        stop = inside[count - 1].end
        return Piece(head + text[start + skipped : stop], stop)
    return _forced(text, inside[0] if inside else None, start, min(end, start + room.chars), room) if must else Piece("", start)


def _head(text: str, block: Block | None, start: int) -> tuple[str, int]:
    """What stands before the part, and how many of its own characters that replaces."""
    if block is None or start <= block.start:
        return "", 0
    return renumbered(text, block, start) if block.kind == "list" else (opening(text, block, start), 0)


def _foot(found: Sequence[Block], end: int) -> str:
    n = bisect_right([block.end for block in found], end - 1)
    if n < len(found) and found[n].start < end:
        return closing(found[n], end)
    return ""


def _blocks_that_fit(text: str, inside: Sequence[Block], start: int, room: Room) -> int:
    spent = 0
    for n, block in enumerate(inside):
        if block.end - start > room.chars:
            return n
        if room.tokens is not None:
            spent += room.counter.count(text[max(start, block.start) : block.end])
            if spent > room.tokens:
                return n
    return len(inside)


def _worth_cutting(block: Block, base: str, room: Room, any_kept: bool) -> bool:
    if not any_kept:
        return True
    whole = block.kind in ("table", "fence") and block.end - block.start <= room.chars
    return room.used(base) < (ENOUGH_BEFORE_TABLE if whole else ENOUGH)


def _within(text: str, block: Block, start: int, skipped: int, head: str, room: Room) -> Piece | None:
    """The part that ends inside `block`, at the best kind of place that brings anything at all."""
    until = start + room.chars + 1
    for cuts in places(text, block, start, until):
        cuts = [at for at in cuts if start + skipped < at < block.end]
        low, high = 0, len(cuts)
        while low < high:
            middle = (low + high + 1) // 2
            at = cuts[middle - 1]
            if room.holds(head + text[start + skipped : at] + closing(block, at)):
                low = middle
            else:
                high = middle - 1
        if low:
            at = cuts[low - 1]
            return Piece(head + text[start + skipped : at] + closing(block, at), at)
    return None


def _forced(text: str, block: Block | None, start: int, end: int, room: Room) -> Piece:
    low, high = start, max(start + 1, end)
    while low < high:
        middle = (low + high + 1) // 2
        if room.holds(text[start:middle]):
            low = middle
        else:
            high = middle - 1
    if low == start and room.tokens is not None:
        return Piece("", start)
    at = grapheme_border(text, low)
    if at <= start:  # one visible character wider than the room goes out whole, else reading on would never end
        at = max(low, start + 1)
        while at < min(len(text), start + CHARACTER_MAX) and grapheme_border(text, at) != at:
            at += 1
    foot = closing(block, at) if block else ""
    return Piece(text[start:at] + ("\n" if foot and text[at - 1] != "\n" else "") + foot, at)
