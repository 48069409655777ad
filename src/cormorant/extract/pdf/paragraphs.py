"""Rows of one column as paragraphs, list items, tables and listings. Pure: rows in, Markdown out.

Lines are joined to paragraphs by distance, indent and size, and by whether the next word would have had room.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from cormorant.extract.pdf.layout import Block, Row

TABLE_MIN_ROWS = 3
TABLE_MAX_COLUMNS = 12
HYPHENS = "\x02\u00ad\ufffe"  # what the reader gives for a hyphen that a line break made
_BULLET = re.compile(r"^\s*[•‣◦▪▸●○■□–—∙·►➢✓❖♦◆➤\uf0b7\uf0a7]\s+(?=\S)")
_ITEM = re.compile(r"^\s*(?:\(?(?:\d{1,3}|[a-z]|[ivx]{1,5})[.)]\s+)(?=\S)")
_LEADER = re.compile(r"(?:[ \u00a0]?[.·…_]){4,} ?")
_PIECES = re.compile(r"\[([^\[\]]+)\]\(([^()\s]+)\)( ?)\[([^\[\]]+)\]\(\2\)")
_LEADS = re.compile(r"(?:[ \u00a0]?[.·…_]){4,} ?\w{1,6}$")  # a line of a table of contents
_NUMBERED = re.compile(r"^\s*\(?(\d{1,3})[.)]\s+\S")
_ENDS = re.compile(r"[.!?:;。！？：][\"'”’)\]]*$")


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


def escaped(text: str) -> str:
    """Text in which a Markdown reader sees no tag, heading or quote that the page did not write."""
    text = re.sub(r"<(?=[A-Za-z/!?])", r"\\<", text)
    return re.sub(r"^(\s*)(#{1,6} |>|[-+*] |\d+[.)] |```|~~~)", r"\1\\\2", text) if not _ITEM.match(text) else text
