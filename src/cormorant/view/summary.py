"""A page in short: its headings, with as much under each as there is room for. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from cormorant.blocks import Block, grapheme_border
from cormorant.passages.sentences import sentences
from cormorant.view.cut import Room, piece
from cormorant.view.outline import Page, Part

SENTENCE_CHARS = (300, 120)  # how much of a first sentence is shown, and how much where room is scarce
GAP = "[…]"
WORTH_FILLING = 0.15  # of the room; less is left empty rather than filled with a piece of a block


def summaries(page: Page, page_tokens: int) -> Iterator[str]:
    """Address, title, each heading with its first sentence; then the same with shorter sentences."""
    for most in SENTENCE_CHARS:
        yield "\n\n".join([_about(page, page_tokens), *(_short(page, part, most) for part in page.parts)])


def stubs(page: Page, page_tokens: int) -> Iterator[str]:
    """Address, title, size and headings; then fewer headings; then none; then the size alone; then nothing."""
    about = _about(page, page_tokens)
    entries = [(part.level, _entry(part)) for part in page.parts]
    for deepest in sorted({level for level, _ in entries}, reverse=True):
        yield about + "\n\n" + "\n".join(entry for level, entry in entries if level <= deepest)
    for most in (48, 24, 12, 6, 3):
        if most < len(entries):
            shown = [entry for _, entry in entries[:most]]
            yield about + "\n\n" + "\n".join([*shown, f"- and {len(entries) - most} more"])
    yield about
    yield _size(page, page_tokens)
    yield ""


def grown(page: Page, page_tokens: int, room: Room) -> tuple[str, list[Part]]:
    """The summary with whole blocks in place of first sentences, the top of each part first, until the room is full.

    Also the parts that are not there in full. Empty when not even the summary fits.
    """
    shown = [_short(page, part, SENTENCE_CHARS[0]) for part in page.parts]
    about = _about(page, page_tokens)
    left = room.less("\n\n".join([about, *shown]))
    if not left.tokens:
        return "", list(page.parts)
    rows = [page.own_blocks(part) for part in page.parts]
    depth, left = _depths(page, rows, left)
    short_of = [n for n, row in enumerate(rows) if depth[n] < len(row)]
    texts = [_deep(page, part, row, deep) if deep else short for part, row, deep, short in zip(page.parts, rows, depth, shown, strict=True)]
    if short_of and (left.tokens or 0) > WORTH_FILLING * (room.tokens or 0):
        _top_up(page, rows, depth, short_of, texts, left)
    return "\n\n".join([about, *texts]), [page.parts[n] for n in short_of]


def _depths(page: Page, rows: Sequence[Sequence[Block]], left: Room) -> tuple[list[int], Room]:
    """How many blocks of each part there is room for, one more for each in turn, and the room that is left."""
    depth = [0] * len(rows)
    growing = [n for n, row in enumerate(rows) if row]
    while growing:
        still = []
        for n in growing:
            block = rows[n][depth[n]]
            said = page.text[block.start : block.end] + "\n\n"
            if not left.holds(said):
                continue
            left = left.less(said)
            depth[n] += 1
            if depth[n] < len(rows[n]):
                still.append(n)
        growing = still
    return depth, left


def _top_up(
    page: Page, rows: Sequence[Sequence[Block]], depth: Sequence[int], short_of: Sequence[int], texts: list[str], left: Room
) -> None:
    """Give what is left to the first part whose next block can be cut."""
    left = left.less(f"\n\n{GAP}\n\n")
    for n in short_of:
        block = rows[n][depth[n]]
        cut = piece(page.text, page.blocks, block.start, block.end, left)
        if cut.text:
            head = texts[n].removesuffix(GAP).rstrip() if depth[n] else _heading(page.parts[n], page)
            texts[n] = "\n\n".join(filter(None, [head, cut.text.rstrip("\n"), GAP]))
            return


def _deep(page: Page, part: Part, row: Sequence[Block], deep: int) -> str:
    said = page.text[page.lines.starts[part.start] : row[deep - 1].end].strip("\n")
    if not page.has_headings:
        said = f"{_name(part)}\n\n{said}"
    return said if deep == len(row) else f"{said}\n\n{GAP}"


def _heading(part: Part, page: Page) -> str:
    return f"{'#' * part.level} {part.name}" if part.level else "" if page.has_headings else _name(part)


def _about(page: Page, page_tokens: int) -> str:
    return "\n".join(filter(None, [page.document.title, page.document.url, _size(page, page_tokens)]))


def _size(page: Page, page_tokens: int) -> str:
    parts = sum(1 for part in page.parts if part.level)
    sections = f", {parts} section{'s' if parts != 1 else ''}" if parts else ""
    return f"{page_tokens} tokens, {len(page.text)} characters, {len(page.lines)} lines{sections}"


def _name(part: Part) -> str:
    return f"Lines {part.own_lines}:"


def _entry(part: Part) -> str:
    indent = "  " * max(0, part.level - 1)
    return f"{indent}- {part.name} (lines {part.lines})" if part.level else f"- lines {part.own_lines}"


def _short(page: Page, part: Part, most: int) -> str:
    first = next((said for block in page.own_blocks(part) if (said := _first(page.text, block, most))), "")
    if not part.level:
        return f"{_name(part)} {first}".strip() if not page.has_headings else first
    return f"{'#' * part.level} {part.name}\n{first}".rstrip()


_MARKER = re.compile(r"^[ \t]*(?:[-*+]|\d{1,9}[.)]|>)[ \t]+")


def _first(text: str, block: Block, most: int) -> str:
    """The first sentence of a block; of a table or of code what it is."""
    said = text[block.start : min(block.end, block.start + 4 * most)]
    if block.kind == "fence":
        language = text[block.start : block.head].strip(" \t`~\n").split(" ")[0]
        return f"(code, {text.count(chr(10), block.head, block.end)} lines{', ' + language if language else ''})"
    if block.kind == "table":
        rows = text.count("\n", block.head, block.end)
        return f"(table, {rows} rows: {' '.join(text[block.start : block.head].split(chr(10))[0].replace('|', ' ').split())[:most]})"
    if block.kind == "rule":
        return ""
    said = _MARKER.sub("", said)
    spans = sentences(said)
    if not spans:
        return ""
    sentence = " ".join(said[spans[0][0] : spans[0][1]].split())
    if len(sentence) <= most:
        return sentence
    space = sentence.rfind(" ", most // 2, most)
    return sentence[: space if space > 0 else grapheme_border(sentence, most)] + " …"
