"""From characters on a page to lines, columns and reading order. Pure: numbers and text.

A PDF knows glyphs and places, nothing of reading. Lines come from the reader; here they are cut where a gap is too wide
for a space, and ordered by columns (a gutter that few lines cross, with full lines on both sides). Places are in points
from the top left corner of the page.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median

GUTTER_MIN_PT = 6.0  # LaTeX sets 10 pt between columns, some journals 8
CROSSING_MAX = 0.2  # share of lines that may cross a gutter (titles, wide figures)
COLUMN_MIN_CHARS = 15  # shorter "lines" side by side are table cells
CELL_MAX_CHARS = 8  # a column of shorter pieces is one of figures


@dataclass(slots=True)
class Segment:
    """A run of text on one line, with its box and what its font says."""

    text: str
    x0: float
    y0: float
    x1: float
    y1: float
    size: float
    bold: bool = False
    mono: bool = False

    @property
    def middle(self) -> float:
        return (self.y0 + self.y1) / 2


@dataclass(slots=True)
class Row:
    """Segments side by side on one line of a column."""

    segments: list[Segment]

    @property
    def text(self) -> str:
        return " ".join(segment.text for segment in self.segments)

    @property
    def x0(self) -> float:
        return self.segments[0].x0

    @property
    def x1(self) -> float:
        return self.segments[-1].x1

    @property
    def y0(self) -> float:
        return min(segment.y0 for segment in self.segments)

    @property
    def y1(self) -> float:
        return max(segment.y1 for segment in self.segments)

    @property
    def size(self) -> float:
        return max(self.segments, key=lambda segment: len(segment.text)).size


@dataclass(slots=True)
class Block:
    """A paragraph, heading, table or listing, with the place where it begins."""

    text: str
    kind: str = "paragraph"  # paragraph, heading, item, table, code
    y0: float = 0.0
    size: float = 0.0
    bold: bool = False
    rows: int = 1
    level: int = 0
    plain: str = ""  # of a table or listing: the same without marks


@dataclass(slots=True)
class Page:
    """One page as blocks, before headings are settled for the whole document."""

    number: int
    width: float
    height: float
    blocks: list[Block] = field(default_factory=list)


def ordered(segments: Sequence[Segment], depth: int = 0) -> list[list[Segment]]:
    """Segments by columns in reading order: each inner list is one column, or a band that spans them."""
    if len(segments) < 4 or depth > 4:
        return [list(segments)] if segments else []
    cut = _gutter(segments)
    if cut is None:
        return [list(segments)]
    crossing = sorted((s for s in segments if s.x0 < cut < s.x1), key=lambda s: s.y0)
    sides = ([s for s in segments if s.x1 <= cut], [s for s in segments if s.x0 >= cut])
    found: list[list[Segment]] = []
    for band, (top, bottom) in _bands(crossing):
        if band:
            found.append(band)
        for side in sides:
            found += ordered([s for s in side if top <= s.middle < bottom], depth + 1)
    return found


def _bands(crossing: list[Segment]) -> Iterable[tuple[list[Segment], tuple[float, float]]]:
    """The wide lines, one run after the other, each with the space below it up to the next."""
    if not crossing:
        return [([], (float("-inf"), float("inf")))]
    runs: list[list[Segment]] = [[crossing[0]]]
    for segment in crossing[1:]:
        if segment.y0 - max(s.y1 for s in runs[-1]) < 1.6 * segment.size:
            runs[-1].append(segment)
        else:
            runs.append([segment])
    tops = [min(s.middle for s in run) for run in runs] + [float("inf")]
    return [([], (float("-inf"), tops[0])), *((run, (tops[n], tops[n + 1])) for n, run in enumerate(runs))]


def _gutter(segments: Sequence[Segment]) -> float | None:
    """The middle of the white strip between two columns of running text, if there is one."""
    left, right = min(s.x0 for s in segments), max(s.x1 for s in segments)
    width = right - left
    if width < 100:
        return None
    step = max(2.0, width / 2_000)  # a page may say that it is a kilometre wide
    cover = [0] * (int(width / step) + 2)
    for segment in segments:
        for at in range(max(0, int((segment.x0 - left) / step)), min(len(cover), int((segment.x1 - left) / step) + 1)):
            cover[at] += 1
    lines = len({round(s.middle / 3) for s in segments})
    allowed = CROSSING_MAX * lines
    first, last = int(0.15 * len(cover)), int(0.85 * len(cover))
    best: tuple[int, float, float] | None = None  # crossings, -width, middle
    at = first
    while at < last:
        if cover[at] > allowed:
            at += 1
            continue
        end, most = at, 0
        while end < last and cover[end] <= allowed and cover[end] <= cover[at] + 1:
            most = max(most, cover[end])
            end += 1
        if (end - at) * step >= GUTTER_MIN_PT:
            middle = left + (at + end) / 2 * step
            rank = (most, -(end - at) * step, middle)
            if (best is None or rank < best) and _is_column_gap(segments, middle):
                best = rank
        at = end
    return best[2] if best else None


def _is_column_gap(segments: Sequence[Segment], cut: float) -> bool:
    """Whether both sides hold running text beside each other, and not the cells of a table."""
    sides = ([s for s in segments if s.x1 <= cut], [s for s in segments if s.x0 >= cut])
    if min(map(len, sides)) < 2:
        return False
    spans = [(min(s.y0 for s in side), max(s.y1 for s in side)) for side in sides]
    shared = min(spans[0][1], spans[1][1]) - max(spans[0][0], spans[1][0])
    if shared < 0.3 * min(bottom - top for top, bottom in spans):
        return False
    if _written_by_column(segments, cut):
        return all(median(len(s.text) for s in side) >= CELL_MAX_CHARS for side in sides)
    if min(map(len, sides)) < 3:
        return False
    for side in sides:
        widths = sorted(s.x1 - s.x0 for s in side)
        full = widths[int(0.9 * (len(widths) - 1))]
        if median(len(s.text) for s in side) < COLUMN_MIN_CHARS or median(widths) < 0.5 * full:
            return False
    return True


def _written_by_column(segments: Sequence[Segment], cut: float) -> bool:
    """Whether the file draws one side wholly before the other, as it does with columns; a table comes row by row."""
    sides = [s.x0 >= cut for s in segments if s.x1 <= cut or s.x0 >= cut]
    return sum(a != b for a, b in pairwise(sides)) == 1


def rows_of(column: Iterable[Segment]) -> list[Row]:
    """A column's segments as rows from top to bottom, each from left to right."""
    rows: list[Row] = []
    for segment in sorted(column, key=lambda s: (s.middle, s.x0)):
        near = next(
            (row for row in reversed(rows[-3:]) if abs(row.segments[0].middle - segment.middle) < 0.4 * min(segment.size, row.size)), None
        )
        if near is None and rows and _is_script(rows[-1], segment):
            near = rows[-1]
        if near is not None:
            near.segments.append(segment)
        else:
            rows.append(Row([segment]))
    for row in rows:
        row.segments = _merged(sorted(row.segments, key=lambda s: s.x0))
    return sorted(rows, key=lambda row: (row.y0 + row.y1) / 2)


def _is_script(row: Row, segment: Segment) -> bool:
    """A raised or lowered mark beside the line it belongs to."""
    small, large = sorted((row.size, segment.size))
    return (
        small < 0.8 * large
        and abs(row.segments[0].middle - segment.middle) < 0.7 * large
        and (abs(segment.x0 - row.segments[-1].x1) < large or abs(row.segments[0].x0 - segment.x1) < large)
    )


def _merged(segments: list[Segment]) -> list[Segment]:
    merged = [segments[0]]
    for segment in segments[1:]:
        last = merged[-1]
        gap = segment.x0 - last.x1
        if gap < 1.2 * max(last.size, segment.size):
            space = "" if gap < 0.12 * last.size or last.text.endswith(" ") else " "
            larger = last if len(last.text) >= len(segment.text) else segment
            merged[-1] = Segment(
                last.text + space + segment.text,
                last.x0,
                min(last.y0, segment.y0),
                max(last.x1, segment.x1),
                max(last.y1, segment.y1),
                larger.size,
                larger.bold,
                larger.mono,
            )
        else:
            merged.append(segment)
    return merged
