"""What a page is once it has been read: Markdown, what is known about it, and what was left out. Pure."""

from __future__ import annotations

import re
from base64 import b64decode
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from typing import Any

# How a page may be asked for: what is kept of it, in which form, and how much of it (biggest first).
EXTRACTS = ("auto", "readability", "full")
OUTPUTS = ("markdown", "text", "raw", "pretty")
VIEWS = ("full", "section", "passages", "summary", "stub")
BOUNDARY_HEX = 12  # of the body's own sha256: a page would have to contain its own hash to forge it


@dataclass(frozen=True, slots=True)
class Link:
    """A link of the page; `href` is absolute."""

    text: str
    href: str


@dataclass(frozen=True, slots=True)
class Finding:
    """Something a reader should know and must not obey: hidden text that was left out, or instruction-like text kept.

    `span` is the character range in the Markdown where the text stands, or None where it was left out; `sha256` is of
    the text itself, so that two fetches can be compared without repeating it.
    """

    kind: str
    span: tuple[int, int] | None
    sha256: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and the lines it owns, up to the next heading of its level or above.

    `start` and `end` are 0-based line numbers of the Markdown, end exclusive.
    """

    level: int
    heading: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class FileFacts:
    """What is known of a document that was no web page (a PDF, a spreadsheet): the `document` of a result."""

    mime: str
    name: str
    pages: int | None = None
    truncated: bool = False
    warnings: tuple[str, ...] = ()
    pages_without_text: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class PictureFacts:
    """What is known of an image without looking at it; 0 where its size is not."""

    mime: str
    width: int
    height: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Picture:
    """An image as it is handed on, in Base64, so that every store and surface can carry it. `original`: what was sent,
    where this is encoded anew."""

    facts: PictureFacts
    base64: str = field(repr=False)
    name: str = ""
    original: PictureFacts | None = None

    @property
    def data(self) -> bytes:
        return b64decode(self.base64)


@dataclass(frozen=True)
class Document:
    """One page, read. `markdown` is the whole of it; views and passages are cut from it later."""

    url: str
    markdown: str
    title: str = ""
    byline: str = ""
    site: str = ""
    published: str = ""  # ISO 8601, as exact as the page is
    summary: str = ""
    language: str = ""  # BCP 47
    links: tuple[Link, ...] = ()
    outcome: str = "content"  # or a code of errors.NotContent
    signs: tuple[str, ...] = ()  # what spoke for that outcome
    extractor: str = ""  # readability, full, raw, plain, pdf, ...
    coverage: float = 1.0  # share of the visible words that were kept
    findings: tuple[Finding, ...] = ()
    warnings: tuple[str, ...] = ()
    media_type: str = "text/html"
    file: FileFacts | None = None
    picture: Picture | None = None
    structured: dict[str, Any] = field(default_factory=dict)
    refresh: str = ""  # absolute target of a meta refresh that ought to be followed

    @cached_property
    def sections(self) -> tuple[Section, ...]:
        """The headings in order, fenced code left alone."""
        return tuple(sections_of(self.markdown))


_FENCE = re.compile(r"(?: {0,3}(?:[-*+]|\d{1,9}[.)]) {1,3})? {0,3}(`{3,}|~{3,})")  # also one that opens a list item
_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_UNDERLINED = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_NOT_PROSE = re.compile(r" {0,3}(?:[-*+>|#<]|\d{1,9}[.)]|`{3}|~{3})| {4}|\t")  # what a line under it does not make a heading


def sections_of(markdown: str) -> list[Section]:
    """Headings with the line ranges they own (CommonMark, both kinds; none inside a fence)."""
    lines = markdown.split("\n")
    heads: list[tuple[int, str, int]] = []
    fence = ""
    for number, line in enumerate(lines):
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1][0] == fence[0] and len(mark[1]) >= len(fence) and not line[mark.end() :].strip():
                fence = ""
        elif mark and not (mark[1][0] == "`" and "`" in line[mark.end() :]):
            fence = mark[1]
        elif head := _ATX.match(line):
            heads.append((len(head[1]), (head[2] or "").strip(), number))
        elif (under := _UNDERLINED.match(line)) and _is_underlined(lines, number):
            heads.append((1 if under[1][0] == "=" else 2, lines[number - 1].strip(), number - 1))
    ends = [len(lines)] * len(heads)
    last_at = [len(lines)] * 7  # by level: where the last heading seen of that level or above begins
    for n in range(len(heads) - 1, -1, -1):
        level, _, start = heads[n]
        ends[n] = last_at[level]
        last_at[level:] = [start] * (7 - level)
    return [Section(level, heading, start, end) for (level, heading, start), end in zip(heads, ends, strict=True)]


def _is_underlined(lines: list[str], number: int) -> bool:
    """Whether the line above is one line of prose, so that this one makes it a heading; front matter does not count."""
    above = lines[number - 1] if number else ""
    if not above.strip() or _NOT_PROSE.match(above):
        return False
    return number == 1 or not lines[number - 2].strip()


def bounded(body: str) -> str:
    """The body between two lines that carry its own hash, so that nothing inside can pretend to be the end."""
    mark = sha256(body.encode("utf-8", "surrogatepass")).hexdigest()[:BOUNDARY_HEX]
    return f"[page text {mark}]\n{body}\n[end of page text {mark}]"
