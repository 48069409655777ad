"""Where Markdown may be cut: its blocks, the places inside each, and what a part needs to stand alone. Pure.

Blocks are found line by line, as CommonMark and GFM tables draw them, in time linear in the text. A part that begins
inside a table needs its header, one that begins or ends inside a fence needs the fence: `opening` and `closing` say so.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace

_FENCE = re.compile(r"[ \t]{0,3}(`{3,}|~{3,})(.*)")
_INNER_FENCE = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(`{3,}|~{3,})(.*)")
_HEADING = re.compile(r" {0,3}#{1,6}(?:[ \t]|$)")
_RULE = re.compile(r" {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-+)[ \t]*$")
_ITEM = re.compile(r" {0,3}(?:[-*+]|(\d{1,9})[.)])(?:[ \t]+|$)")
_QUOTE = re.compile(r" {0,3}>")
_HTML = re.compile(r" {0,3}<(?:[A-Za-z/!?])")
_DELIMITER = re.compile(r" {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
_INDENTED = re.compile(r"(?: {4}|\t)")


@dataclass(frozen=True, slots=True)
class Block:
    """One block: characters `start` to `end` of the text, the line end after its last line included.

    `head` is where the part that has to be repeated ends: after a fence's first line, after a table's header rows.
    """

    kind: str  # heading, paragraph, table, fence, code, list, quote, html, rule
    start: int
    end: int
    head: int = 0
    closer: str = ""  # of a fence, also where the text forgot it


class Lines:
    """The lines of a text and where each begins."""

    def __init__(self, text: str) -> None:
        self.texts = text.split("\n")
        self.starts = [0]
        for line in self.texts:
            self.starts.append(self.starts[-1] + len(line) + 1)
        self.starts[-1] -= 1  # the last line has no line end

    def __len__(self) -> int:
        return len(self.texts)

    def at(self, offset: int) -> int:
        """The number (from 0) of the line a character stands in."""
        return min(bisect_right(self.starts, offset) - 1, len(self.texts) - 1)


def blocks(text: str, lines: Lines | None = None) -> list[Block]:
    """The blocks of `text` in order. Blank lines between blocks belong to none."""
    lines = lines or Lines(text)
    found = []
    at = 0
    while at < len(lines):
        if not lines.texts[at].strip():
            at += 1
            continue
        kind, end, head, closer = _block(lines.texts, at)
        start = lines.starts
        found.append(Block(kind, start[at], start[end], start[at + head] if head else 0, closer))
        at = end
    return found


def _block(texts: list[str], at: int) -> tuple[str, int, int, str]:
    """Kind, end line, number of head lines and closer of the block that begins in line `at`."""
    line = texts[at]
    if fence := _opens(_FENCE, line):
        return "fence", _fence_end(texts, at + 1, fence), 1, fence
    if _HEADING.match(line):
        return "heading", at + 1, 0, ""
    if "|" in line and at + 1 < len(texts) and "|" in texts[at + 1] and _DELIMITER.match(texts[at + 1]):
        return "table", _end(texts, at + 2, _breaks_table), 2, ""
    if _RULE.match(line):
        return "rule", at + 1, 0, ""
    if _ITEM.match(line):
        return "list", _list_end(texts, at), 0, ""
    if _QUOTE.match(line):
        return "quote", _end(texts, at + 1, _breaks_paragraph), 0, ""
    if _INDENTED.match(line):
        return "code", _end(texts, at + 1, lambda later: not _INDENTED.match(later)), 0, ""
    if _HTML.match(line):
        return "html", _end(texts, at + 1, lambda later: not later.strip()), 0, ""
    end = at + 1
    while end < len(texts) and not _breaks_paragraph(texts[end]):
        if _UNDERLINE.match(texts[end]):
            return "heading", end + 1, 0, ""
        if "|" in texts[end] and end + 1 < len(texts) and "|" in texts[end + 1] and _DELIMITER.match(texts[end + 1]):
            break
        end += 1
    else:
        if end < len(texts) and _UNDERLINE.match(texts[end]):
            return "heading", end + 1, 0, ""
    return "paragraph", end, 0, ""


def _end(texts: list[str], at: int, breaks: object) -> int:
    while at < len(texts) and not breaks(texts[at]):  # type: ignore[operator]
        at += 1
    return at


def _breaks_table(line: str) -> bool:
    return not line.strip() or bool(_HEADING.match(line) or _FENCE.match(line) or _QUOTE.match(line))


def _breaks_paragraph(line: str) -> bool:
    if not line.strip() or _HEADING.match(line) or _opens(_FENCE, line) or _QUOTE.match(line) or _RULE.match(line):
        return True
    item = _ITEM.match(line)
    return bool(item and item[1] in (None, "1") and line[item.end() :].strip())


def _opens(pattern: re.Pattern[str], line: str) -> str:
    """The fence that this line opens, or nothing. A backtick fence has no backtick in its info string."""
    mark = pattern.match(line)
    return mark[1] if mark and not (mark[1][0] == "`" and "`" in mark[2]) else ""


def _closes(line: str, fence: str) -> bool:
    rest = line.lstrip(" \t>").rstrip()
    return len(rest) >= len(fence) and rest == fence[0] * len(rest)


def _fence_end(texts: list[str], at: int, fence: str) -> int:
    while at < len(texts):
        if _closes(texts[at], fence):
            return at + 1
        at += 1
    return at


def _list_end(texts: list[str], at: int) -> int:
    """A list goes on through items, deeper lines, blank lines before either, and lines that lean on the one above."""
    end = at
    blank = False
    while at < len(texts):
        line = texts[at]
        if not line.strip():
            blank = True
            at += 1
            continue
        if not (_ITEM.match(line) or line[0] in " \t") and (blank or _breaks_paragraph(line)):
            break
        if _RULE.match(line):
            break
        fence = _opens(_INNER_FENCE, line)
        at = _fence_end(texts, at + 1, fence) if fence else at + 1
        blank = False
        end = at
    return end


def opening(text: str, block: Block, at: int) -> str:
    """What has to stand before `text[at:]`, when `at` is inside `block`, so that it reads as the same thing."""
    return text[block.start : min(at, block.head)] if block.head and block.start < at < block.end else ""


def closing(block: Block, at: int) -> str:
    """What has to stand after a text that ends at `at` inside `block`."""
    return block.closer + "\n" if block.closer and block.head <= at < block.end else ""


def renumbered(text: str, block: Block, at: int) -> tuple[str, int]:
    """Where an ordered list goes on at `at`: its right number and how many characters of the text that replaces.

    Markdown lists may say `1.` throughout; only the first number counts, so a part has to carry its own.
    """
    item = _ITEM.match(text, at, block.end)
    if block.kind != "list" or not item or item[1] is None or at == block.start:
        return "", 0
    first = _ITEM.match(text, block.start)
    if not first or first[1] is None:
        return "", 0
    before = sum(1 for place in items(text, block) if place < at)
    number = str(int(first[1]) + before)
    start = item.start(1)
    return ("", 0) if item[1] == number else (text[at:start] + number, item.end(1) - at)


def items(text: str, block: Block) -> Iterator[int]:
    """Where the outermost items of a list begin; nothing inside a fence is an item."""
    for at, line, fenced in _lines(text, block):
        if not fenced and _ITEM.match(line):
            yield at


def _lines(text: str, block: Block) -> Iterator[tuple[int, str, bool]]:
    fence = ""
    at = block.start
    for line in text[block.start : block.end].removesuffix("\n").split("\n"):
        yield at, line, bool(fence)
        fence = ("" if _closes(line, fence) else fence) if fence else _opens(_INNER_FENCE, line)
        at += len(line) + 1


_SENTENCE_END = re.compile(r"[.!?…][\"'”’»)\]]*\s+|[。！？｡][」』”’）]*\s*|\n")
_SPACE = re.compile(r"\s+|(?<=[\u3001-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uff60])(?=[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff])")
_INLINE = re.compile(
    r"!?\[(?:[^\[\]\n]|!\[[^\[\]\n]{0,200}\]\([^()\s]{0,500}\)){0,300}\]\((?:[^()\s]|\([^()\s]{0,100}\)){0,500}(?:\s+\"[^\"\n]{0,200}\")?\)"
    r"|`[^`\n]{1,300}`|<[^<>\s][^<>\n]{0,300}>"
)


def places(text: str, block: Block, since: int, until: int) -> Iterator[list[int]]:
    """Where inside `block`, from `since` to `until`, it may be cut: lists of rising offsets, the best kind of place first.

    Rows of a table, lines of code, items and then lines of a list, sentences and then words of prose. Never inside a
    word, a row, a link or an inline code. A heading is not cut.
    """
    block = replace(block, end=min(block.end, until))
    if block.kind in ("table", "fence", "code"):
        yield [at for at, _, _ in _lines(text, block) if at > max(block.head, block.start)]
    elif block.kind == "list":
        yield list(items(text, block))[1:]
        yield [at for at, _, fenced in _lines(text, block) if not fenced and at > block.start]
    elif block.kind == "quote":
        yield [at for at, _, _ in _lines(text, block)][1:]
    since = max(since, block.start)
    inside = text[since : block.end]
    if block.kind in ("paragraph", "html", "quote", "list") and "```" not in inside and "~~~" not in inside:
        whole = [mark.span() for mark in _INLINE.finditer(text, since, block.end)]
        yield _outside(whole, [mark.end() for mark in _SENTENCE_END.finditer(text, since, block.end)])
        yield _outside(whole, [mark.end() for mark in _SPACE.finditer(text, since, block.end)])


def _outside(spans: list[tuple[int, int]], cuts: list[int]) -> list[int]:
    starts = [start for start, _ in spans]
    kept = []
    for at in cuts:
        n = bisect_right(starts, at) - 1
        if n < 0 or not spans[n][0] < at < spans[n][1]:
            kept.append(at)
    return kept


_JOINS = {"\u200d", "\u200c"}


def grapheme_border(text: str, at: int) -> int:
    """The last place at or before `at` that is not inside one visible character."""
    while 0 < at < len(text) and _joined(text, at):
        at -= 1
    return at


def _joined(text: str, at: int) -> bool:
    """Whether the characters on both sides of `at` make one visible character."""
    left, right = text[at - 1], text[at]
    if left == "\r" and right == "\n":
        return True
    if left in _JOINS or right in _JOINS:
        return True
    if unicodedata.category(right) in ("Mn", "Mc", "Me") or "\U0001f3fb" <= right <= "\U0001f3ff" or "\U000e0020" <= right <= "\U000e007f":
        return True
    if _is_flag(left) and _is_flag(right):
        before = at - 1
        while before > 0 and _is_flag(text[before - 1]):
            before -= 1
        return (at - before) % 2 == 1
    hangul = "\u1100" <= left <= "\u11ff" or "\uac00" <= left <= "\ud7a3"
    return hangul and "\u1160" <= right <= "\u11ff"


def _is_flag(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"
