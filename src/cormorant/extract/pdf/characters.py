"""The characters of a page as runs of text with their places, fonts and links, as pdfium gives them.

Works in the child process alone: pdfium is native code over hostile input.
"""

from __future__ import annotations

import ctypes
import re
from dataclasses import dataclass, field
from typing import Any

from cormorant.document import Finding, Link
from cormorant.extract.instructions import finding, instructs
from cormorant.extract.pdf.layout import Segment

LETTERS_MIN = 4  # fewer on a page with a picture: a page number, a stamp
STAMP_MAX_LETTERS = 25
PICTURE_SHARE = 0.5
LIGATURES = {0xFB00: "ff", 0xFB01: "fi", 0xFB02: "fl", 0xFB03: "ffi", 0xFB04: "ffl", 0xFB05: "st", 0xFB06: "st"}
_MONO = re.compile(r"mono|courier|consol|menlo|typewriter|cm(?:sl|it)?tt|sftt|sourcecode|inconsolata|lucidacons|nimbusmon|txtt", re.I)
_FIXED_PITCH = 1  # of a font's flags (ISO 32000-1, 9.8.2)
_NOT_MONO = re.compile(r"CJK|Song|Ming|Mincho|Gothic|Hei|Kai", re.I)  # every ideograph is as wide as the next, in any type


@dataclass(slots=True)
class Held:
    """What is gathered page by page."""

    segments: list[tuple[float, list[Segment]]] = field(default_factory=list)
    sizes: list[tuple[float, float]] = field(default_factory=list)
    turned: list[list[str]] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    without_text: list[int] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    read: int = 0
    plain: bool = False


def read_page(document: Any, number: int, held: Held) -> int:
    """Adds a page to what is held and says how many letters it has. A broken page is a warning."""
    import pypdfium2 as pdfium

    try:
        page = document[number - 1]
        text = page.get_textpage()
    except pdfium.PdfiumError:
        held.warnings.append(f"page {number} is broken and was left out")
        held.segments.append((1.0, []))
        held.sizes.append((1.0, 1.0))
        held.turned.append([])
        return 0
    try:
        frame = _Frame(page)
        segments, turned = _segments(text, frame, _link_boxes(document, page, frame), held)
        letters = sum(char.isalpha() for segment in segments for char in segment.text) + sum(
            char.isalpha() for line in turned for char in line
        )
        if letters < STAMP_MAX_LETTERS and _is_picture(page, letters, " ".join(segment.text for segment in segments)):
            held.without_text.append(number)
            if letters < LETTERS_MIN:
                segments, turned = [], []
        held.segments.append((frame.height, segments))
        held.sizes.append((frame.width, frame.height))
        held.turned.append(turned)
        return letters
    finally:
        text.close()
        page.close()


class _Frame:
    """Where the page's own coordinates lie when it is held upright."""

    def __init__(self, page: Any) -> None:
        self.left, self.bottom, self.right, self.top = page.get_cropbox()
        self.turn = page.get_rotation() % 360
        wide, high = self.right - self.left, self.top - self.bottom
        self.width, self.height = (high, wide) if self.turn in (90, 270) else (wide, high)

    def box(self, left: float, bottom: float, right: float, top: float) -> tuple[float, float, float, float]:
        """(x0, y0, x1, y1) from the top left corner."""
        if self.turn == 90:
            return bottom - self.bottom, left - self.left, top - self.bottom, right - self.left
        if self.turn == 180:
            return self.right - right, bottom - self.bottom, self.right - left, top - self.bottom
        if self.turn == 270:
            return self.top - top, self.right - right, self.top - bottom, self.right - left
        return left - self.left, self.top - top, right - self.left, self.top - bottom


def _is_picture(page: Any, letters: int, text: str) -> bool:
    """Whether a page with next to no text shows a picture instead (a scan), or text drawn as shapes."""
    import pypdfium2.raw as raw

    area = max(1.0, page.get_width() * page.get_height())
    covered, shapes = 0.0, 0
    for thing in page.get_objects(max_depth=3):
        left, bottom, right, top = thing.get_bounds()
        space = max(0.0, right - left) * max(0.0, top - bottom)
        covered += space if thing.type == raw.FPDF_PAGEOBJ_IMAGE else 0.0
        shapes += thing.type == raw.FPDF_PAGEOBJ_PATH and space > 0
        if covered > PICTURE_SHARE * area or shapes > 20_000:
            break
    if letters < LETTERS_MIN:
        return covered > 0.02 * area or shapes > 0  # a scan, text drawn as outlines, a drawing; a blank page has none
    return covered > PICTURE_SHARE * area and (letters <= 12 or bool(re.search(r"scan", text, re.I)))


def _segments(
    textpage: Any, frame: _Frame, links: list[tuple[tuple[float, float, float, float], str]], held: Held
) -> tuple[list[Segment], list[str]]:
    """The page's characters as segments, and the lines that are not level (a stamp along the margin)."""
    import pypdfium2.raw as raw

    handle = textpage.raw
    reader = _Reader(handle, raw, frame, links, held)
    for index in range(raw.FPDFText_CountChars(handle)):
        reader.take(index)
    reader.end()
    return reader.segments, reader.turned


class _Reader:
    """Gathers characters to segments: a new one at each line's end, wide gap, step back, or change of link."""

    def __init__(
        self, handle: Any, raw: Any, frame: _Frame, links: list[tuple[tuple[float, float, float, float], str]], held: Held
    ) -> None:
        self.handle, self.raw, self.frame, self.links, self.held = handle, raw, frame, links, held
        self.segments: list[Segment] = []
        self.turned: list[str] = []
        self._rect = raw.FS_RECTF()
        self._chars: list[str] = []
        self._box = [0.0, 0.0, 0.0, 0.0]
        self._first = -1
        self._indices: list[int] = []
        self._size = 0.0
        self._space = False
        self._level = True
        self._link = ""
        self._half = 0

    def take(self, index: int) -> None:
        """One character, in the order the reader gives them."""
        code = self.raw.FPDFText_GetUnicode(self.handle, index)
        if code in (10, 13):
            self.end()
            return
        if 0xD800 <= code < 0xE000:  # the reader gives a letter beyond 16 bits (mathematics, emoji) in two halves
            if code < 0xDC00:
                self._half = code
                return
            code, self._half = 0x10000 + (self._half - 0xD800 << 10) + code - 0xDC00 if self._half else 0, 0
        if code == 0:
            return
        if code in (32, 9, 0xA0):
            self._space = bool(self._chars)
            return
        if not self.raw.FPDFText_GetLooseCharBox(self.handle, index, self._rect):
            return
        x0, y0, x1, y1 = self.frame.box(self._rect.left, self._rect.bottom, self._rect.right, self._rect.top)
        if self._chars and self._breaks(x0, y0, x1, y1):
            self.end()
        if not self._chars:
            self._begin(index, x0, y0, x1, y1)
        if self.links:
            self._mark_link((x0 + x1) / 2, (y0 + y1) / 2)
        if self._space and self._chars and self._chars[-1] != " ":
            self._chars.append(" ")
        self._space = False
        self._indices.append(index)
        self._chars.append(LIGATURES.get(code) or chr(code))
        self._box = [min(self._box[0], x0), min(self._box[1], y0), max(self._box[2], x1), max(self._box[3], y1)]

    def _begin(self, index: int, x0: float, y0: float, x1: float, y1: float) -> None:
        self._first, self._space = index, False
        self._indices = []
        self._size = max(1.0, y1 - y0)
        self._box = [x0, y0, x1, y1]
        angle = (self.raw.FPDFText_GetCharAngle(self.handle, index) * 57.29578 + self.frame.turn) % 360
        self._level = angle < 20 or angle > 340

    def _breaks(self, x0: float, y0: float, x1: float, y1: float) -> bool:
        if not self._level:
            return False
        off_line = abs((y0 + y1) / 2 - (self._box[1] + self._box[3]) / 2) > 0.8 * max(self._size, y1 - y0)
        return off_line or x0 - self._box[2] > 1.6 * self._size or x1 < self._box[0] - 0.5 * self._size

    def _mark_link(self, x: float, y: float) -> None:
        href = next((href for (x0, y0, x1, y1), href in self.links if x0 <= x <= x1 and y0 <= y <= y1), "")
        if href == self._link:
            return
        self._close_link()
        if href:
            if self._space and self._chars:
                self._chars.append(" ")
                self._space = False
            self._chars.append("\ue000")
        self._link = href

    def _close_link(self) -> None:
        """Turns what was read since the link began into a Markdown link."""
        if not self._link or "\ue000" not in self._chars:
            return
        start = len(self._chars) - 1 - self._chars[::-1].index("\ue000")
        text = "".join(self._chars[start + 1 :]).strip()
        self._chars[start:] = [f"[{text}]({self._link})"] if text and text != self._link and not self.held.plain else [text]
        if text:
            self.held.links.append(Link(text, self._link))

    def end(self) -> None:
        """Closes the segment that was being read."""
        self._close_link()
        self._link = ""
        text = "".join(self._chars).strip().replace("\ue000", "")
        self._chars, self._space = [], False
        if not text:
            return
        if not self._level:
            self.turned.append(text)
            return
        x0, y0, x1, y1 = self._box
        if kind := self._unseen(x0, y0, x1, y1, text):
            self.held.findings.append(finding(kind, text))
            return
        ends = (self._indices[0], self._indices[-1])
        self._first = self._indices[len(self._indices) // 2]  # the first may be a bullet in a type of its own
        name = self._font(self._first)
        mono = self._is_mono(self._first) and all(map(self._is_mono, ends))
        bold = (
            bool(re.search(r"bold|black|heavy|semibold|demi", name, re.I))
            or self.raw.FPDFText_GetFontWeight(self.handle, self._first) >= 600
        )
        self.segments.append(Segment(text, x0, y0, x1, y1, self._font_size(), bold, mono))

    def _unseen(self, x0: float, y0: float, x1: float, y1: float, text: str) -> str:
        """Text off the page or too small to see; text without ink only when it speaks to a model (white on a dark box is common)."""
        if x1 < -5 or y1 < -5 or x0 > self.frame.width + 5 or y0 > self.frame.height + 5:
            return "off_screen"
        if self._size < 1.5:
            return "zero_size"
        if not instructs(text):
            return ""
        red, green, blue, alpha = (ctypes.c_uint() for _ in range(4))
        known = self.raw.FPDFText_GetFillColor(self.handle, self._first, red, green, blue, alpha)
        return "same_colour" if known and (min(red.value, green.value, blue.value) > 245 or alpha.value < 10) else ""

    def _font_size(self) -> float:
        """The size of the type in points as it stands on the page."""
        matrix = self.raw.FS_MATRIX()
        size = self.raw.FPDFText_GetFontSize(self.handle, self._first)
        if self.raw.FPDFText_GetMatrix(self.handle, self._first, matrix):
            size *= (matrix.c**2 + matrix.d**2) ** 0.5
        return float(size) if size > 0.1 else self._size

    def _is_mono(self, index: int) -> bool:
        name, flags = self._font_info(index)
        return bool(_MONO.search(name)) or bool(flags & _FIXED_PITCH and not _NOT_MONO.search(name))

    def _font(self, index: int) -> str:
        return self._font_info(index)[0]

    def _font_info(self, index: int) -> tuple[str, int]:
        """The name of a character's font, and its flags."""
        flags = ctypes.c_int()
        size = self.raw.FPDFText_GetFontInfo(self.handle, index, None, 0, flags)
        if not size:
            return "", 0
        name = ctypes.create_string_buffer(size)
        self.raw.FPDFText_GetFontInfo(self.handle, index, name, size, flags)
        return name.value.decode("utf-8", "replace"), flags.value


def _link_boxes(document: Any, page: Any, frame: _Frame) -> list[tuple[tuple[float, float, float, float], str]]:
    """Where the page has links to the web, and where they lead."""
    import pypdfium2.raw as raw

    found: list[tuple[tuple[float, float, float, float], str]] = []
    position, link, rect = ctypes.c_int(0), raw.FPDF_LINK(), raw.FS_RECTF()
    while len(found) < 500 and raw.FPDFLink_Enumerate(page.raw, position, link):
        action = raw.FPDFLink_GetAction(link)
        if not action or raw.FPDFAction_GetType(action) != raw.PDFACTION_URI or not raw.FPDFLink_GetAnnotRect(link, rect):
            continue
        size = raw.FPDFAction_GetURIPath(document.raw, action, None, 0)
        buffer = ctypes.create_string_buffer(max(1, size))
        raw.FPDFAction_GetURIPath(document.raw, action, buffer, size)
        href = buffer.value.decode("utf-8", "replace").strip()
        if re.match(r"(?:https?|mailto):[^\s<>]+$", href, re.I):
            href = href.replace("(", "%28").replace(")", "%29")
            found.append((frame.box(rect.left, min(rect.bottom, rect.top), rect.right, max(rect.bottom, rect.top)), href))
    return found
