"""A page in short: its headings, with as much under each as there is room for. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cormorant.blocks import Block, grapheme_border
from cormorant.passages.sentences import sentences
from cormorant.view.cut import Room
from cormorant.view.outline import Page, Part

FEWEST = 3  # headings that are worth showing without the deeper ones


def stubs(page: Page, page_tokens: int, room: Room) -> Iterator[str]:
    """Address, title, size and headings with their lines; then without lines; then fewer; then none; then the size; then nothing."""
    said = about(page, page_tokens)
    for deepest in sorted({part.level for part in page.parts}, reverse=True):
        shown = [part for part in page.parts if part.level <= deepest]
        deeper = [f"- and {len(page.parts) - len(shown)} deeper ones"] if len(shown) < len(page.parts) else []
        if deeper and len(shown) < FEWEST:
            break
        yield "\n".join([said, "", *(_entry(part) for part in shown), *deeper])
        yield "\n".join([said, "", *(_entry(part, lines=False) for part in shown), *deeper])
    if begun := _as_many(page, said, room):
        yield begun
    yield said
    yield _size(page, page_tokens)
    yield ""


def _as_many(page: Page, said: str, room: Room) -> str:
    """The headings from the top of the page on that the room holds, and how many more there are; the highest levels only."""
    levels = sorted({part.level for part in page.parts})
    shown = next((some for level in levels if len(some := [part for part in page.parts if part.level <= level]) >= FEWEST), page.parts)
    rest = "- and {} more"
    left = room.less("\n".join([said, "", rest.format(len(page.parts)), ""]))
    tokens, entries = left.tokens or 0, []
    for part in shown:
        entry = _entry(part, lines=False)
        if (tokens := tokens - room.counter.count(entry + "\n")) < 0:
            break
        entries.append(entry)
    return "\n".join([said, "", *entries, rest.format(len(page.parts) - len(entries))]) if entries else ""


def heading(page: Page, part: Part) -> str:
    """The line that stands above what is said of a part; none above what comes before the first heading."""
    return f"{'#' * part.level} {part.name}" if part.level else "" if page.has_headings else f"Lines {part.own_lines}:"


def about(page: Page, page_tokens: int) -> str:
    return "\n".join(filter(None, [page.document.title, page.document.url, _size(page, page_tokens)]))


def _size(page: Page, page_tokens: int) -> str:
    parts = sum(1 for part in page.parts if part.level)
    sections = f", {parts} section{'s' if parts != 1 else ''}" if parts else ""
    return f"{page_tokens} tokens, {len(page.text)} characters, {len(page.lines)} lines{sections}"


def _entry(part: Part, *, lines: bool = True) -> str:
    indent = "  " * max(0, part.level - 1)
    where = f" (lines {part.lines})" if lines else ""
    return f"{indent}- {part.name}{where}" if part.level else f"- lines {part.own_lines}"


def first_sentence(page: Page, part: Part, most: int) -> str:
    """The first sentence of a part's own text, at most so many characters of it."""
    return next((said for block in page.own_blocks(part) if (said := _first(page.text, block, most))), "")


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
