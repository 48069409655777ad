"""What a page is made of, for somebody who has to choose a part of it: headings, or ranges of lines. Pure.

A heading is found as it stands, then without regard to case and punctuation, then as the only one that begins with or
holds what was asked. Lines are 1-based and inclusive wherever a caller sees them.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from cormorant.blocks import Block, Lines, blocks
from cormorant.document import Document
from cormorant.words import folded

RANGES = 12  # a page without headings is shown as at most this many ranges of lines
RANGE_MIN_CHARS = 1_500


@dataclass(frozen=True, slots=True)
class Part:
    """A heading with its own text, or a range of lines. `start` and `end` are 0-based lines, end exclusive.

    `own_end` is where the next heading begins; `end` takes the headings below with it. `level` 0 is no heading.
    """

    name: str
    level: int
    start: int
    own_end: int
    end: int

    @property
    def lines(self) -> str:
        """The range as `section` takes it."""
        return f"{self.start + 1}-{max(self.end, self.start + 1)}"

    @property
    def own_lines(self) -> str:
        return f"{self.start + 1}-{max(self.own_end, self.start + 1)}"


class Page:
    """A document with its lines, blocks and parts, each worked out when first asked for."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.text = document.markdown

    @cached_property
    def lines(self) -> Lines:
        return Lines(self.text)

    @cached_property
    def blocks(self) -> list[Block]:
        return blocks(self.text, self.lines)

    @cached_property
    def parts(self) -> list[Part]:
        """The parts in order: the headings (with what stands before the first), else ranges of lines."""
        sections = self.document.sections
        if not sections:
            return _ranges(self.lines, self.blocks)
        parts = []
        first = sections[0].start
        if any(line.strip() for line in self.lines.texts[:first]):
            parts.append(Part("", 0, 0, first, first))
        for n, section in enumerate(sections):
            own_end = sections[n + 1].start if n + 1 < len(sections) else len(self.lines)
            parts.append(Part(section.heading, section.level, section.start, own_end, section.end))
        return parts

    @property
    def has_headings(self) -> bool:
        return bool(self.document.sections)

    def find(self, asked: str, *, loosely: bool = True) -> Part | None:
        """The part that `asked` names; see `find`."""
        return find(self.parts, len(self.lines), asked, loosely=loosely)

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The characters of the lines `start` to `end` (0-based, end exclusive)."""
        return self.lines.starts[start], self.lines.starts[min(end, len(self.lines))]

    def own_blocks(self, part: Part) -> list[Block]:
        """The blocks of a part's own text, its heading left out."""
        start, end = self.span(part.start, part.own_end)
        first = bisect_left(self._block_starts, start)
        inside = self.blocks[first : bisect_left(self._block_starts, end)]
        return inside[1:] if part.level and inside else inside

    @cached_property
    def _block_starts(self) -> list[int]:
        return [block.start for block in self.blocks]

    def call(self, part: Part, *, own: bool = False) -> str:
        """The `section="..."` that brings this part and no other."""
        if part.level and not own and self.find(part.name) is part:
            return f"section={json.dumps(part.name, ensure_ascii=False)}"
        return f'section="{part.own_lines if own else part.lines}"'


def _ranges(lines: Lines, found: Sequence[Block]) -> list[Part]:
    if not found:
        return []
    size = max(RANGE_MIN_CHARS, -(-found[-1].end // RANGES))
    borders = [0]
    for block in found[1:]:
        if block.start - lines.starts[borders[-1]] >= size:
            borders.append(lines.at(block.start))
    ends = [*borders[1:], len(lines)]
    return [Part(f"lines {start + 1}-{end}", 0, start, end, end) for start, end in zip(borders, ends, strict=True)]


_RANGE = re.compile(r"(?:lines?\s*|l\s*)?(\d{1,9})(?:\s*(?:-|–|—|\.\.|to)\s*(?:l\s*)?(\d{1,9}))?", re.IGNORECASE)
_PUNCTUATION = re.compile(r"[\W_]+")
_NUMBERING = re.compile(r"^(?:\d+\.?)+\s+")


def find(parts: Sequence[Part], lines: int, asked: str, *, loosely: bool = True) -> Part | None:
    """The part that `asked` names: a heading, else a range of lines such as `40-90`.

    Without `loosely` a part of a heading has to be whole words, so that a question does not name one by accident.
    """
    asked = asked.strip()
    if not asked:
        return None
    headings = [part for part in parts if part.level]
    if exact := [part for part in headings if part.name == asked or f"{'#' * part.level} {part.name}" == asked]:
        return exact[0]
    wanted = plain(asked)
    if alike := [part for part in headings if wanted and plain(part.name) == wanted]:
        return alike[0]
    ranged = line_range(asked, lines)
    if ranged and (loosely or not asked.isdigit()):
        return ranged
    if not wanted or (not loosely and len(wanted) < 3):
        return None
    return _by_piece(headings, wanted, loosely)


def _by_piece(headings: Sequence[Part], wanted: str, loosely: bool) -> Part | None:
    names = [(part, plain(part.name)) for part in headings]
    numbered = [(part, _NUMBERING.sub("", name)) for part, name in names]
    if without := [part for part, name in numbered if name == wanted]:
        return without[0] if len(without) == 1 else None
    for group in (names, numbered):
        begins = [part for part, name in group if name.startswith(wanted if loosely else f"{wanted} ")]
        if len(begins) == 1:
            return begins[0]
    holds = [part for part, name in names if (wanted in name if loosely else f" {wanted} " in f" {name} ")]
    return holds[0] if len(holds) == 1 else None


def plain(heading: str) -> str:
    """A heading without case, punctuation, markup and accents."""
    return _PUNCTUATION.sub(" ", folded(heading)).strip()


def line_range(asked: str, lines: int) -> Part | None:
    """`40-90`, `L40-L90`, `lines 40 to 90` or `40` as a part; None when it is no range or lies outside the page."""
    match = _RANGE.fullmatch(asked.strip())
    if not match:
        return None
    first, last = int(match[1]), int(match[2] or match[1])
    if not 1 <= first <= min(last, lines):
        return None
    last = min(last, lines)
    return Part(f"lines {first}-{last}", 0, first - 1, last, last)
