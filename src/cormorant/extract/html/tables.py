"""Tables: the cells of a grid, whether it holds data or only lays out a page, and the rows as GitHub Markdown. Pure,
save that `rewrite` works on the tree.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import pairwise

from selectolax.lexbor import LexborHTMLParser

from cormorant.extract.html.assemble import Block, item, joined
from cormorant.extract.html.nodes import outermost

MAX_COLUMNS = 100  # a `colspan` of a thousand million is a joke; the widest real tables have some dozens
MAX_CELLS = 100_000
REPEATED_CHARS = 80  # a spanning cell up to this long is said again on each row it covers: a row is read on its own

_ITEM_MARK = re.compile(r"(?m)^[ ]*(?:[-*+]|(\d+\.))[ ](?:\[[ x]\][ ])?")
_RANK = re.compile(r"\d{1,4}\\?\.")  # as it stands in a cell: the dot is escaped


@dataclass(slots=True)
class Cell:
    """One cell as it was met: its blocks, how far it reaches, and whether it is a `<th>`."""

    blocks: list[Block]
    columns: int = 1
    rows: int = 1
    head: bool = False


@dataclass(slots=True)
class Table:
    """Rows of cells, filled while the page is walked."""

    rows: list[list[Cell]] = field(default_factory=list)
    caption: str = ""
    layout: bool = False  # said so by the page: role="presentation"
    nested: bool = False  # a cell holds another table

    def add_row(self) -> None:
        self.rows.append([])

    def add(self, cell: Cell) -> None:
        if not self.rows:
            self.rows.append([])
        self.rows[-1].append(cell)


_ARIA_ROWS = {"columnheader": "th", "rowheader": "th", "cell": "td", "gridcell": "td"}


def rewrite(tree: LexborHTMLParser) -> None:
    """Tables that are set with other elements and say so by their roles become what they are."""
    body = tree.body
    if body is None:
        return
    for node in outermost(body, "[role=table]:not(table),[role=grid]:not(table)"):
        made = tree.create_node("table")
        for row in node.css("[role=row]"):
            line = tree.create_node("tr")
            for cell in row.css(",".join(f"[role={role}]" for role in _ARIA_ROWS)):
                written = tree.create_node(_ARIA_ROWS[cell.attributes.get("role") or ""])
                for child in cell.iter(include_text=True):
                    written.insert_child(child)
                line.insert_child(written)
            if line.first_child is not None:
                made.insert_child(line)
        if made.first_child is not None:
            node.replace_with(made)


def blocks_of(table: Table, *, plain: bool = False) -> list[Block]:
    """The table as one block of rows, or, where it only lays out the page, the blocks of its cells in order."""
    rows = [row for row in table.rows if any(cell.blocks for cell in row)]
    caption = [Block("p", table.caption)] if table.caption else []
    if not rows:
        return caption
    if is_layout(table, rows):
        return caption + [block for row in rows for block in _laid_out(row)]
    if ranked := _ranked(rows, plain=plain):
        return caption + ranked
    grid, heads = _grid(table.rows)
    return [
        *caption,
        Block("table", _plain(grid) if plain else _markdown(grid, heads), "<br>".join(", ".join(filter(None, line)) for line in grid)),
    ]


def is_layout(table: Table, rows: list[list[Cell]]) -> bool:
    """A table that arranges a page: it says so, or has one column or row, or holds what no cell of data holds."""
    cells = [cell for row in rows for cell in row]
    headed = len(rows) > 1 and len(rows[0]) > 1 and all(cell.head for cell in rows[0])
    if table.layout or (table.nested and not headed):
        return True
    if any(cell.head for cell in cells):
        return max(map(len, rows)) == 1 and not any(cell.columns > 1 for cell in cells)
    if max(map(len, rows)) == 1 or len(rows) == 1:
        return True
    wordy = sum(1 for cell in cells if _is_page_like(cell))
    return wordy > 0 and (len(rows) <= 2 or wordy >= len(rows))


def _is_page_like(cell: Cell) -> bool:
    """Headings, or several paragraphs: what a page is made of."""
    kinds = [block.kind for block in cell.blocks]
    return "heading" in kinds or (kinds.count("p") > 2 and sum(len(block.text) for block in cell.blocks) > 400)


def _laid_out(row: list[Cell]) -> list[Block]:
    """Short cells of a row belong on one line (a number, a mark, a link); anything longer keeps its blocks."""
    filled = [cell for cell in row if cell.blocks]
    simple = all(len(cell.blocks) == 1 and cell.blocks[0].kind in ("p", "math") for cell in filled)
    if simple and len(filled) > 1:
        return [Block("p", " ".join(_flat(cell.blocks[0]) for cell in filled))]
    return [block for cell in filled for block in cell.blocks]


def _ranked(rows: list[list[Cell]], *, plain: bool) -> list[Block]:
    """Rows that are numbered 1., 2., 3., each with further rows below its number: a list that is set in a table (a
    front page of links with votes below each). Nothing, where it is no such table."""
    ranks = [at for at, row in enumerate(rows) if len(row) > 1 and _RANK.fullmatch(_said(row[0]))]
    if len(ranks) < 2 or ranks[0] != 0 or any(_said(row[0]) for at, row in enumerate(rows) if at not in ranks):
        return []
    numbers = [int(_said(rows[at][0]).rstrip("\\.")) for at in ranks]
    heights = {after - at for at, after in pairwise(ranks)}
    if heights != {max(heights)} or max(heights) < 2 or any(after != before + 1 for before, after in pairwise(numbers)):
        return []
    height = max(heights)
    items: list[Block] = []
    for number, at in zip(numbers, ranks, strict=True):
        lines = [flat([block for cell in row[1 if row is rows[at] else 0 :] for block in cell.blocks]) for row in rows[at : at + height]]
        items.append(Block("item", item([Block("p", ("\n" if plain else "  \n").join(filter(None, lines)))], f"{number}. ")))
    return [Block("list", joined(items)), *(block for row in rows[ranks[-1] + height :] for block in _laid_out(row))]


def _said(cell: Cell) -> str:
    return flat(cell.blocks)


def _grid(rows: list[list[Cell]]) -> tuple[list[list[str]], int]:
    """Every row with the same number of cells, spans spread out, and how many leading rows are a header."""
    width = min(MAX_COLUMNS, max(sum(min(cell.columns, MAX_COLUMNS) for cell in row) for row in rows))
    pending: dict[int, tuple[int, str]] = {}  # column -> rows still covered from above, and what is said there
    grid: list[list[str]] = []
    heads = 0
    for row in rows:
        line: list[str] = []
        cells = iter(row)
        while len(line) < width:
            column = len(line)
            if column in pending:
                left, text = pending.pop(column)
                line.append(text)
                if left > 1:
                    pending[column] = (left - 1, text)
                continue
            cell = next(cells, None)
            if cell is None:
                if not any(later > column for later in pending):
                    break
                line.append("")
                continue
            _place(cell, line, pending, width)
        if not any(line):
            continue
        if heads == len(grid) and row and all(cell.head for cell in row):
            heads += 1
        grid.append(line)
        if len(grid) * width > MAX_CELLS:
            break
    return _evened(grid), heads


def _place(cell: Cell, line: list[str], pending: dict[int, tuple[int, str]], width: int) -> None:
    text = flat(cell.blocks)
    below = text if len(text) <= REPEATED_CHARS else ""
    for step in range(min(cell.columns, width - len(line))):
        if step and len(line) in pending:
            break
        if cell.rows > 1:
            pending[len(line)] = (cell.rows - 1, below if step == 0 else "")
        line.append(text if step == 0 else "")


def _evened(grid: list[list[str]]) -> list[list[str]]:
    """All rows to one width, without columns that are empty from top to bottom at the right."""
    used = max((column + 1 for line in grid for column, text in enumerate(line) if text), default=0)
    return [line[:used] + [""] * (used - len(line)) for line in grid]


def flat(blocks: list[Block]) -> str:
    """Blocks on one line, as a cell wants them: list items and lines of code parted by `<br>`, the rest by a space."""
    return " ".join(text for block in blocks if (text := _flat(block))).strip()


def _flat(block: Block) -> str:
    if block.kind == "table":
        return block.raw
    if block.kind == "math":
        return block.raw
    if block.kind == "code":
        return "<br>".join(_span(line) for line in block.raw.split("\n") if line.strip())
    text = block.text
    if block.kind == "heading":
        text = text.lstrip("#")
    elif block.kind == "quote":
        text = re.sub(r"(?m)^>[ ]?", "", text)
    elif block.kind == "rule":
        return ""
    elif block.kind in ("list", "item"):
        items = [line.strip() for line in _ITEM_MARK.sub(lambda m: "\x00" + (f"{m[1]} " if m[1] else ""), text).split("\x00")]
        return "<br>".join(" ".join(item.split()) for item in items if item)
    return " ".join(text.split())


def _span(code: str) -> str:
    """One line as a code span, with ticks longer than any inside."""
    longest = max(map(len, re.findall("`+", code)), default=0)
    ticks = "`" * (longest + 1)
    room = " " if code.startswith("`") or code.endswith("`") else ""
    return f"{ticks}{room}{code.rstrip()}{room}{ticks}"


def _markdown(grid: list[list[str]], heads: int) -> str:
    """GitHub's tables know one header row. Where the page has none it is left empty: no row of data is promoted."""
    width = len(grid[0])
    lines = ["| " + " | ".join(text.replace("|", "\\|") for text in line) + " |" for line in grid]
    head = lines.pop(0) if heads else "|" + "  |" * width
    return "\n".join([head, "|" + " --- |" * width, *lines])


def _plain(grid: list[list[str]]) -> str:
    return "\n".join(" | ".join(line).replace("<br>", "; ") for line in grid)
