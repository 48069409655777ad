"""From characters on a page to lines, columns, paragraphs, tables and headings. Pure: numbers and text in, Markdown out.

A PDF knows glyphs and places, nothing of reading. Lines come from the reader; here they are cut where a gap is too wide
for a space, ordered by columns (a gutter that few lines cross, with full lines on both sides), and joined to paragraphs
by distance, indent and size. Places are in points from the top left corner of the page.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median

GUTTER_MIN_PT = 6.0  # LaTeX sets 10 pt between columns, some journals 8
CROSSING_MAX = 0.2  # share of lines that may cross a gutter (titles, wide figures)
COLUMN_MIN_CHARS = 15  # shorter "lines" side by side are table cells
CELL_MAX_CHARS = 8  # a column of shorter pieces is one of figures
TABLE_MIN_ROWS = 3
LINE_NUMBERS_MIN = 8
TABLE_MAX_COLUMNS = 12
HEADING_RATIO = 1.14
HEADING_MAX_CHARS = 160
NEAR_PT = 40.0  # how far a bookmark may point from the heading it names

HYPHENS = "\x02\u00ad\ufffe"  # what the reader gives for a hyphen that a line break made
LIGATURES = {0xFB00: "ff", 0xFB01: "fi", 0xFB02: "fl", 0xFB03: "ffi", 0xFB04: "ffl", 0xFB05: "st", 0xFB06: "st"}
_BULLET = re.compile(r"^\s*[•‣◦▪▸●○■□–—∙·►➢✓❖♦◆➤\uf0b7\uf0a7]\s+(?=\S)")
_ITEM = re.compile(r"^\s*(?:\(?(?:\d{1,3}|[a-z]|[ivx]{1,5})[.)]\s+)(?=\S)")
_PAGE_NUMBER = re.compile(
    r"^\W*(?:(?:page|seite|p\.?|стр\.?|第)\s*)?(?:\d{1,4}|[ivxlc]{1,6})(?:\s*(?:/|of|von|de|sur|из)\s*\d{1,4})?(?:\s*页)?\W*$", re.I
)
_LEADER = re.compile(r"(?:[ \u00a0]?[.·…_]){4,} ?")
_PIECES = re.compile(r"\[([^\[\]]+)\]\(([^()\s]+)\)( ?)\[([^\[\]]+)\]\(\2\)")
_LEADS = re.compile(r"(?:[ \u00a0]?[.·…_]){4,} ?\w{1,6}$")  # a line of a table of contents
_NUMBERED = re.compile(r"^\s*\(?(\d{1,3})[.)]\s+\S")
_ENDS = re.compile(r"[.!?:;。！？：][\"'”’)\]]*$")


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


# --- order --------------------------------------------------------------------------------------------------------


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


# --- blocks -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Column:
    """Where a column begins and ends, and how far apart its lines usually are."""

    left: float
    right: float
    leading: float


def blocks_of(rows: list[Row]) -> list[Block]:
    """Rows of one column as paragraphs, list items, tables and listings."""
    blocks: list[Block] = []
    if not rows:
        return blocks
    column = _Column(min(row.x0 for row in rows), max(row.x1 for row in rows), _leading(rows))
    at = 0
    while at < len(rows):
        end = _table_end(rows, at)
        if end > at and (cells := _table(rows[at:end])):
            blocks.append(Block(_gfm(cells), "table", rows[at].y0, rows[at].size, rows=end - at, plain=_barred(cells)))
            at = end
            continue
        end = _code_end(rows, at)
        if end > at:
            listing = _code(rows[at:end])
            blocks.append(Block(_fenced(listing), "code", rows[at].y0, rows[at].size, rows=end - at, plain=listing))
            at = end
            continue
        end = _paragraph_end(rows, at, column)
        blocks.append(_paragraph(rows[at:end]))
        at = end
    return blocks


def _table_end(rows: list[Row], at: int) -> int:
    end = at
    while end < len(rows) and len(rows[end].segments) >= 2:
        end += 1
    return end if end - at >= TABLE_MIN_ROWS else at


def _table(rows: list[Row]) -> list[list[str]]:
    """The cells of a table when the segments fall into columns; none when they do not."""
    columns: list[tuple[float, float]] = []
    for x0, x1 in sorted((segment.x0, segment.x1) for row in rows for segment in row.segments):
        if columns and x0 < columns[-1][1] - 1:
            columns[-1] = (columns[-1][0], max(columns[-1][1], x1))
        else:
            columns.append((x0, x1))
    if not 2 <= len(columns) <= TABLE_MAX_COLUMNS:
        return []
    lines: list[list[str]] = []
    for row in rows:
        cells = [""] * len(columns)
        for segment in row.segments:
            place = next(n for n, (x0, x1) in enumerate(columns) if x0 - 1 <= segment.x0 <= x1 + 1)
            if cells[place]:
                return []
            cells[place] = " ".join(_LEADER.sub(" ", segment.text).split())
        lines.append(cells)
    return lines if sum(bool(cell) for line in lines for cell in line) >= 0.6 * len(lines) * len(columns) else []


def _gfm(cells: list[list[str]]) -> str:
    lines = [[cell.replace("|", "\\|") for cell in line] for line in cells]
    lines.insert(1, ["---"] * len(cells[0]))
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _barred(cells: list[list[str]]) -> str:
    return "\n".join(" | ".join(line) for line in cells)


def _code_end(rows: list[Row], at: int) -> int:
    end = at
    while end < len(rows) and all(segment.mono for segment in rows[end].segments):
        end += 1
    return end if end - at >= 2 else at


def _code(rows: list[Row]) -> str:
    left = min(row.x0 for row in rows)
    wide = median((s.x1 - s.x0) / max(1, len(s.text)) for row in rows for s in row.segments) or 6.0
    lines: list[str] = []
    for n, row in enumerate(rows):
        if n and row.y0 - rows[n - 1].y1 > 0.8 * row.size:
            lines.append("")
        line = ""
        for segment in row.segments:
            line = line.ljust(round((segment.x0 - left) / wide)) + segment.text
        lines.append(line.rstrip().translate({ord(mark): "-" for mark in HYPHENS}))
    return "\n".join(lines)


def _fenced(body: str) -> str:
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", body)), default=0))
    return f"{fence}\n{body}\n{fence}"


def _paragraph_end(rows: list[Row], at: int, column: _Column) -> int:
    left, right, leading = column.left, column.right, column.leading
    end = at + 1
    while end < len(rows):
        before, row = rows[end - 1], rows[end]
        if abs(row.size - before.size) > 0.12 * max(row.size, before.size) and min(len(row.text), len(before.text)) > 2:
            break
        if (row.y0 + row.y1 - before.y0 - before.y1) / 2 > max(1.4 * leading, 1.75 * row.size if end == at + 1 else 0):
            break
        if (
            _BULLET.match(row.text)
            or (_ITEM.match(row.text) and (_ENDS.search(before.text) or _counts_on(rows, at, end)))
            or row.segments[0].bold != before.segments[0].bold
            or _LEADS.search(before.text)
            or _ends_early(rows, end)
        ):
            break
        short = before.x1 < right - 0.12 * (right - left)
        if _ENDS.search(before.text) and (short or row.x0 > before.x0 + 0.8 * row.size):
            break
        if (len(row.segments) >= 2 and _table_end(rows, end) > end) or _code_end(rows, end) > end:
            break
        end += 1
    return end


def _counts_on(rows: list[Row], at: int, end: int) -> bool:
    """Whether a row begins the next item of a numbered list, or its first, with the second below."""
    number = _number(rows[end])
    if number is None:
        return False
    aligned = [(n, _number(row)) for n, row in enumerate(rows[at : end + 13], at) if abs(row.x0 - rows[end].x0) < 2]
    return any(found == number - 1 and n < end for n, found in aligned) or any(found == number + 1 and n > end for n, found in aligned)


def _number(row: Row) -> int | None:
    found = _NUMBERED.match(row.text)
    return int(found[1]) if found else None


def _ends_early(rows: list[Row], end: int) -> bool:
    """Whether the row before ends where the next word would have had room: whoever set it so wanted a new line there."""
    before, row = rows[end - 1], rows[end]
    if abs(row.x0 - before.x0) > 2 or before.text[-1:] in f"-\u2010{HYPHENS}" or _dense(before.text[-1:]):
        return False
    near = [one for one in rows[max(0, end - 4) : end + 4] if abs(one.x0 - row.x0) <= 2 and abs(one.size - row.size) < 1]
    right = max(one.x1 for one in near)
    word = row.text.split(" ", 1)[0]
    wide = (row.x1 - row.x0) / max(1, len(row.text))
    room = right - before.x1
    return room > 0.25 * (right - row.x0) and room > (len(word) + 2) * wide


def _leading(rows: list[Row]) -> float:
    """The usual distance of one line to the next in this column."""
    steps = [b.y0 + b.y1 - a.y0 - a.y1 for a, b in pairwise(rows)]
    near = [step / 2 for step, row in zip(steps, rows, strict=False) if 0.5 * row.size < step / 2 < 2.5 * row.size]
    return median(near) if near else 1.3 * rows[0].size


def _paragraph(rows: list[Row]) -> Block:
    text = _LEADER.sub(" ... ", joined([row.text for row in rows]))
    first = max((s for row in rows for s in row.segments), key=lambda s: len(s.text))
    bold = all(segment.bold for row in rows for segment in row.segments)
    kind = "item" if _BULLET.match(text) or _LEADS.search(rows[-1].text) else "paragraph"
    if kind == "item":
        text = "- " + _BULLET.sub("", text)
    return Block(text, kind, rows[0].y0, first.size, bold, len(rows))


def joined(lines: list[str]) -> str:
    """Lines as one paragraph: broken words are mended. A hyphen that may belong there is left as a mark for `mended`."""
    text = ""
    for line in (" ".join(line.split(" ")).strip() for line in lines):
        if not text:
            text = line
        elif text[-1] in HYPHENS or (text[-1] in "-\u2010" and len(text) > 1 and text[-2].isalpha() and line[:1].islower()):
            text = text[:-1] + ("\x02" if line[:1].islower() else "-") + line
        elif _dense(text[-1]) and _dense(line[:1]):
            text += line
        else:
            text += " " + line
    return text


def _dense(char: str) -> bool:
    """A character of a script that is written without spaces."""
    return "\u3000" <= char <= "\u9fff" or "\uff00" <= char <= "\uffef"


def mended(text: str, compounds: Counter[str]) -> str:
    """Words broken at a line's end made whole; the hyphen stays where the document writes the word with one."""
    if not any(mark in text for mark in HYPHENS):
        return text

    def whole(match: re.Match[str]) -> str:
        with_hyphen = f"{match[1]}-{match[2]}"
        return with_hyphen if compounds[with_hyphen.lower()] else match[1] + match[2]

    text = re.sub(rf"(\w+)[{HYPHENS}](\w+)", whole, text)
    return re.sub(f"[{HYPHENS}]", "-", text)


def relinked(text: str) -> str:
    """A link that a line's end, or the reader, cut into pieces is one link again."""
    while (joined_up := _PIECES.sub(_one_link, text)) != text:
        text = joined_up
    return text


def _one_link(match: re.Match[str]) -> str:
    first, href, gap, second = match.groups()
    text = f"{first}{'' if first + second in href else gap}{second}"
    return text if text == href else f"[{text}]({href})"


def compounds_of(texts: Iterable[str]) -> Counter[str]:
    """The words a document writes with a hyphen inside a line."""
    return Counter(word.lower() for text in texts for word in re.findall(r"\w+-\w+", text))


# --- running heads, headings --------------------------------------------------------------------------------------


def running(pages: Sequence[tuple[float, list[Segment]]]) -> list[set[int]]:
    """For each page, the ids of the segments that are running heads, feet or page numbers."""
    seen: Counter[str] = Counter()
    edges: list[list[Segment]] = []
    for height, segments in pages:
        edge = [s for s in segments if s.middle < 0.1 * height or s.middle > 0.9 * height]
        edges.append(edge)
        seen.update({_pattern(s.text) for s in edge})
    wanted = max(3, 0.4 * len(pages))
    slots: Counter[tuple[int, int]] = Counter()
    for edge in edges:
        slots.update({_slot(s) for s in edge})
    usual = {slot for slot, count in slots.items() if count >= max(4, 0.5 * len(pages))}
    numbers = sum(any(_PAGE_NUMBER.match(s.text) for s in edge) for edge in edges) >= 2
    return [
        {
            id(s)
            for s in edge
            if seen[_pattern(s.text)] >= wanted
            or (_PAGE_NUMBER.match(s.text) and (numbers or len(pages) == 1) and len(s.text) < 16)
            or (seen[_pattern(s.text)] > 1 and _slot(s) in usual and _stands_alone(s, segments))
        }
        | _line_numbers(segments)
        for edge, (_, segments) in zip(edges, pages, strict=True)
    ]


def _slot(segment: Segment) -> tuple[int, int]:
    """Where on the page, and how large: what a running head that changes its words keeps."""
    return round(segment.middle / 4), round(segment.size)


def _stands_alone(segment: Segment, others: list[Segment]) -> bool:
    """Whether more than a line of nothing parts a line at the page's edge from the text."""
    below = [s.y0 - segment.y1 for s in others if s.middle > segment.y1]
    above = [segment.y0 - s.y1 for s in others if s.middle < segment.y0]
    return min(min(below, default=1e9), min(above, default=1e9)) > 0.9 * segment.size


def _line_numbers(segments: list[Segment]) -> set[int]:
    """The ids of numbers that count the lines of a manuscript, in a margin of their own."""
    numbers = [s for s in segments if s.text.isdigit() and len(s.text) < 5]
    text = [s for s in segments if not s.text.isdigit()]
    if len(numbers) < LINE_NUMBERS_MIN or not text or median(len(s.text) for s in text) < 30:
        return set()
    left, right = min(s.x0 for s in text), max(s.x1 for s in text)
    for margin in ([s for s in numbers if s.x1 < left], [s for s in numbers if s.x0 > right]):
        counted = sorted(margin, key=lambda s: s.middle)
        steps = [int(b.text) - int(a.text) for a, b in pairwise(counted)]
        if len(counted) >= LINE_NUMBERS_MIN and sum(step == steps[0] for step in steps) > 0.8 * len(steps) and steps[0] in (1, 5, 10):
            return {id(s) for s in counted}
    return set()


def _pattern(text: str) -> str:
    return re.sub(r"\d+", "#", " ".join(text.lower().split()))


def settle_headings(pages: list[Page], outline: dict[int, list[tuple[int, str, float | None]]]) -> None:
    """Marks headings: by the document's outline where it has one, else by size and weight of the type."""
    if outline:
        for page in pages:
            for level, title, y in outline.get(page.number, []):
                _outline_heading(page, level, title, y)
        return
    sizes: Counter[float] = Counter()
    for page in pages:
        for block in page.blocks:
            sizes[round(block.size * 2) / 2] += len(block.text)
    if not sizes:
        return
    body = sizes.most_common(1)[0][0]
    heads = [block for page in pages for block in page.blocks if _looks_like_heading(block, body)]
    ranks = sorted({round(block.size) for block in heads if block.size >= HEADING_RATIO * body}, reverse=True)[:4]
    for block in heads:
        larger = block.size >= HEADING_RATIO * body
        block.kind = "heading"
        block.level = (
            next((n for n, rank in enumerate(ranks, 1) if round(block.size) >= rank), len(ranks) or 1) if larger else min(len(ranks) + 1, 5)
        )


def _looks_like_heading(block: Block, body: float) -> bool:
    if block.kind != "paragraph" or block.rows > 3 or len(block.text) > HEADING_MAX_CHARS or not re.search(r"[^\W\d_]{2}", block.text):
        return False
    if block.size >= HEADING_RATIO * body:
        return True
    return (
        block.bold
        and block.rows == 1
        and len(block.text) < 90
        and not block.text.endswith((".", ",", ";", ":"))
        and block.size >= 0.95 * body
    )


def _outline_heading(page: Page, level: int, title: str, y: float | None) -> None:
    wanted = _letters(title)
    if not wanted:
        return
    for block in page.blocks:
        held = _letters(block.text)
        if block.kind in ("paragraph", "item") and (
            held == wanted or (held.endswith(wanted) and len(held) - len(wanted) <= 8 and len(wanted) > 3)
        ):
            block.kind, block.level = "heading", min(6, level + 1)
            block.text = block.text.removeprefix("- ")
            return
    words = r"\s+".join(map(re.escape, title.split()))
    begins = re.compile(rf"(?:- )?((?:[\dA-Z]{{1,3}}(?:\.\d{{1,3}})*\.?\s+)?{words})[.:]?(?:\s+|$)", re.I)
    for n, block in enumerate(page.blocks):
        if block.kind in ("paragraph", "item") and (y is None or abs(block.y0 - y) < NEAR_PT) and (found := begins.match(block.text)):
            block.text = block.text[found.end() :]  # the heading runs on into its paragraph
            page.blocks.insert(n, Block(found[1], "heading", block.y0, level=min(6, level + 1)))
            return
    at = next((n for n, block in enumerate(page.blocks) if y is not None and block.y0 >= y - 2), 0)
    page.blocks.insert(at, Block(" ".join(title.split()), "heading", y or 0.0, level=min(6, level + 1)))


def _letters(text: str) -> str:
    return "".join(char for char in text.lower() if char.isalnum())


def escaped(text: str) -> str:
    """Text in which a Markdown reader sees no tag, heading or quote that the page did not write."""
    text = re.sub(r"<(?=[A-Za-z/!?])", r"\\<", text)
    return re.sub(r"^(\s*)(#{1,6} |>|[-+*] |\d+[.)] |```|~~~)", r"\1\\\2", text) if not _ITEM.match(text) else text
