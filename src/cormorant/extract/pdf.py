"""PDF to Markdown by pdfium: columns in reading order, the outline as headings, page marks, links. No OCR.

`read` works in a child process, since pdfium is native code over hostile input; `parse` is the same without it. A page
that is only a picture is named, a document that is nothing but pictures is an error: never an empty success.
"""

from __future__ import annotations

import ctypes
import re
import time
import zlib
from dataclasses import dataclass, field
from typing import Any

from cormorant.document import Document, FileFacts, Finding, Link
from cormorant.errors import ExtractionFailed, TooLarge
from cormorant.extract import child
from cormorant.extract.instructions import finding, instructs, suspicious
from cormorant.extract.invisible import visible
from cormorant.extract.layout import (
    LIGATURES,
    Block,
    Page,
    Segment,
    blocks_of,
    compounds_of,
    escaped,
    mended,
    ordered,
    relinked,
    rows_of,
    running,
    settle_headings,
)

MIME = "application/pdf"
BODY_MAX_BYTES = 25 * 1024**2
TEXT_MAX_CHARS = 200_000
EXPANDED_MAX_BYTES = 64 * 1024**2
PAGES_MAX = 5_000
SOFT_LIMIT_S = 20.0  # of processor time; pages read so far are returned then
WARNINGS_MAX = 20
WARNING_MAX_CHARS = 500
LETTERS_MIN = 4  # fewer on a page with a picture: a page number, a stamp
STAMP_MAX_LETTERS = 25
PICTURE_SHARE = 0.5

_NO_TEXT_REMEDY = "the pages are pictures: run OCR over the document, or look for a version with text"
_NAMES = re.compile(
    r"^(?:untitled|unknown|document\d*|slide ?\d*|microsoft (?:word|powerpoint|excel)\b.*"
    r"|.*\.(?:docx?|dvi|tex|indd|qxd|pptx?|xlsx?|rtf|odt|pages))$",
    re.I,
)
_MONO = re.compile(r"mono|courier|consol|menlo|typewriter|cm(?:sl|it)?tt|sftt|sourcecode|inconsolata|lucidacons|nimbusmon|txtt", re.I)
_FIXED_PITCH = 1  # of a font's flags (ISO 32000-1, 9.8.2)
_NOT_MONO = re.compile(r"CJK|Song|Ming|Mincho|Gothic|Hei|Kai", re.I)  # every ideograph is as wide as the next, in any type


@dataclass(slots=True)
class _Held:
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


def read(body: bytes, *, url: str, output: str = "markdown") -> Document:
    """A PDF as a Document, read in a child process.

    Raises: TooLarge over 25 MiB or 64 MiB unpacked, ExtractionFailed when it is encrypted, broken or has no text layer.
    """
    if len(body) > BODY_MAX_BYTES:
        raise TooLarge(f"the PDF has {len(body)} bytes, the limit is {BODY_MAX_BYTES}", url=url, remedy="ask for a smaller document")
    try:
        found = child.run("pdf", body, plain=output == "text")
    except (ExtractionFailed, TooLarge) as error:
        raise type(error)(error.message, remedy=error.remedy, url=url) from error
    return document_of(found, url=url)


def document_of(found: dict[str, Any], *, url: str) -> Document:
    """What `parse` found, as a Document."""
    name = url.split("#")[0].split("?")[0].rstrip("/").rsplit("/", 1)[-1] or "document.pdf"
    warnings = tuple(found["warnings"])
    findings = [Finding(kind, tuple(span) if span else None, digest, note) for kind, span, digest, note in found["findings"]]
    return Document(
        url=url,
        markdown=found["markdown"],
        title=found["title"] or name,
        byline=found["author"],
        published=found["published"],
        links=tuple(Link(text, href) for text, href in found["links"]),
        extractor="pdf",
        findings=(*findings, *suspicious(found["markdown"])),
        warnings=warnings,
        media_type=MIME,
        file=FileFacts(MIME, name, found["pages"], found["truncated"], warnings, tuple(found["pages_without_text"])),
    )


def parse(body: bytes, *, plain: bool = False) -> dict[str, Any]:
    """A PDF read in this process, as plain values. Raises: as `read`."""
    import pypdfium2 as pdfium

    _check_expansion(body)
    try:
        document = pdfium.PdfDocument(body)
    except pdfium.PdfiumError as error:
        raise _unopened(error) from error
    try:
        return _parsed(document, plain=plain)
    finally:
        document.close()


def _unopened(error: Exception) -> ExtractionFailed:
    if getattr(error, "err_code", None) == 4:  # FPDF_ERR_PASSWORD
        return ExtractionFailed("the PDF is encrypted and needs a password", remedy="open it with its password and save it without one")
    if getattr(error, "err_code", None) == 5:  # FPDF_ERR_SECURITY
        return ExtractionFailed("the PDF is encrypted in a way that can't be read", remedy="save it without encryption")
    return ExtractionFailed("the PDF is broken: it can't be opened", remedy="fetch it again, or look for another copy")


def _check_expansion(body: bytes) -> None:
    """Bomb guard: what the Flate streams that are no pictures unpack to, counted in bounded steps."""
    left = EXPANDED_MAX_BYTES
    for match in re.finditer(rb"stream\r?\n", body):
        head = body[max(0, match.start() - 400) : match.start()].rsplit(b"obj", 1)[-1]
        if b"/Fl" not in head or re.search(rb"/Subtype\s*/Image", head):
            continue
        end = body.find(b"endstream", match.end())
        left -= _unpacked(body[match.end() : end if end >= 0 else len(body)], left)
        if left < 0:
            raise TooLarge(f"the PDF unpacks to more than {EXPANDED_MAX_BYTES} bytes", remedy="this looks like a decompression bomb")


def _unpacked(packed: bytes, limit: int) -> int:
    """How many bytes a Flate stream unpacks to; counting stops just past the limit."""
    unpack = zlib.decompressobj()
    total = 0
    try:
        while packed and not unpack.eof and total <= limit:
            total += len(unpack.decompress(packed, 1 << 20))
            packed = unpack.unconsumed_tail
    except zlib.error:
        pass  # encrypted or broken: the reader will say so
    return total


def _parsed(document: Any, *, plain: bool) -> dict[str, Any]:
    started = time.process_time()
    held = _Held(plain=plain)
    pages = len(document)
    letters = 0
    for number in range(1, min(pages, PAGES_MAX) + 1):
        if time.process_time() - started > SOFT_LIMIT_S or letters > 1.5 * TEXT_MAX_CHARS:
            break
        letters += _read_page(document, number, held)
        held.read = number
    if held.read < pages:
        held.warnings.append(f"only the first {held.read} of {pages} pages were read")
    if held.read and not any(segments for _, segments in held.segments) and not any(held.turned):
        what = "its only page is" if pages == 1 else f"its {pages} pages are"
        raise ExtractionFailed(f"the PDF has no text layer: {what} a scan or a picture and would need OCR", remedy=_NO_TEXT_REMEDY)
    about = document.get_metadata_dict()
    laid_out = _laid_out(held)
    settle_headings(laid_out, _outline(document, held))
    _name_title(laid_out, _said(about.get("Title", "")))
    markdown, truncated = _markdown(laid_out, held, pages)
    return {
        "markdown": markdown,
        "title": _title(about.get("Title", ""), laid_out),
        "author": _said(about.get("Author", "")),
        "published": _date(about.get("CreationDate", "") or about.get("ModDate", "")),
        "links": [[link.text, link.href] for link in dict.fromkeys(held.links)],
        "pages": pages,
        "truncated": truncated or held.read < pages,
        "warnings": [warning[:WARNING_MAX_CHARS] for warning in held.warnings[:WARNINGS_MAX]],
        "pages_without_text": held.without_text,
        "findings": [[one.kind, one.span, one.sha256, one.note] for one in held.findings[:60]],
    }


# --- one page -----------------------------------------------------------------------------------------------------


def _read_page(document: Any, number: int, held: _Held) -> int:
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
    textpage: Any, frame: _Frame, links: list[tuple[tuple[float, float, float, float], str]], held: _Held
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
        self, handle: Any, raw: Any, frame: _Frame, links: list[tuple[tuple[float, float, float, float], str]], held: _Held
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

    def take(self, index: int) -> None:
        """One character, in the order the reader gives them."""
        code = self.raw.FPDFText_GetUnicode(self.handle, index)
        if code in (10, 13):
            self.end()
            return
        if code == 0 or 0xD800 <= code < 0xE000:
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


# --- the whole document -------------------------------------------------------------------------------------------


def _laid_out(held: _Held) -> list[Page]:
    heads = running(held.segments)
    pages = []
    for number, ((_, segments), (width, height), dropped, turned) in enumerate(
        zip(held.segments, held.sizes, heads, held.turned, strict=True), 1
    ):
        page = Page(number, width, height)
        kept = [segment for segment in segments if id(segment) not in dropped]
        for column in ordered(kept):
            page.blocks += blocks_of(rows_of(column))
        page.blocks += [Block(line, y0=height) for line in turned if len(line) > 2]
        pages.append(page)
    compounds = compounds_of(block.text for page in pages for block in page.blocks)
    for page in pages:
        for block in page.blocks:
            block.text = relinked(mended(block.text, compounds))
    return pages


def _outline(document: Any, held: _Held) -> dict[int, list[tuple[int, str, float | None]]]:
    """The bookmarks by page: level from 0, title, and how far down the page they point."""
    found: dict[int, list[tuple[int, str, float | None]]] = {}
    for count, mark in enumerate(document.get_toc(max_depth=6)):
        title, where = " ".join(mark.get_title().split()), mark.get_dest()
        index = where.get_index() if where is not None else None
        if not title or index is None or index >= held.read or count > 5_000:
            continue
        _, view = where.get_view()
        y = held.sizes[index][1] - view[1] if len(view) >= 2 and view[1] else None
        found.setdefault(index + 1, []).append((mark.level, title, y))
    return found


def _markdown(pages: list[Page], held: _Held, count: int) -> tuple[str, bool]:
    """The document's text with its notices in front, cut at a paragraph when it is longer than it may be."""
    body: list[str] = []
    length, truncated = 0, False
    for page in pages:
        parts = [f"[page {page.number}]"] if count > 1 and page.blocks else []
        parts += [_bare(block) if held.plain else _rendered(block) for block in page.blocks]
        for part in parts:
            if length + len(part) > TEXT_MAX_CHARS:
                truncated = True
                break
            body.append(part)
            length += len(part) + 2
        if truncated:
            held.warnings.append(f"the text was cut after {TEXT_MAX_CHARS} characters, on page {page.number} of {count}")
            break
    if held.without_text:
        named = ", ".join(map(str, held.without_text[:40])) + (" ..." if len(held.without_text) > 40 else "")
        one = len(held.without_text) == 1
        held.warnings.insert(
            0, f"{'page' if one else 'pages'} {named} {'has' if one else 'have'} no text layer (a picture or scan); OCR would be needed"
        )
    text, gone = visible("\n\n".join(_with_lists(body)))
    held.findings += [finding(kind, chars, note=f"{len(chars)} characters") for kind, chars in sorted(gone.items())]
    garbled = sum(0xE000 <= ord(char) < 0xF900 or char == "\ufffd" for char in text)
    if garbled > 0.1 * len(text):
        held.warnings.append("fonts without a Unicode map: part of the text can't be read without OCR")
    notice = [f"[document: PDF, {count} {'page' if count == 1 else 'pages'}, text layer as it stands, no OCR]"]
    notice += [f"[document warning: {warning[:WARNING_MAX_CHARS]}]" for warning in held.warnings[:WARNINGS_MAX]]
    return "\n".join(notice) + "\n\n" + text + "\n", truncated


def _rendered(block: Block) -> str:
    if block.kind == "heading":
        return f"{'#' * block.level} {block.text}"
    return block.text if block.kind in ("table", "code", "item") else escaped(block.text)


def _bare(block: Block) -> str:
    return block.plain or block.text


def _with_lists(parts: list[str]) -> list[str]:
    """Items of one list stand together."""
    found: list[str] = []
    for part in parts:
        if part.startswith("- ") and found and found[-1].rsplit("\n", 1)[-1].startswith("- "):
            found[-1] += "\n" + part
        else:
            found.append(part)
    return found


def _name_title(pages: list[Page], named: str) -> None:
    """The title on the first page is a heading too where the document says that it is its title."""
    for block in pages[0].blocks[:6] if pages and named else ():
        if block.kind == "paragraph" and block.text.rstrip(" *∗†").casefold() == named.casefold():
            block.kind, block.level = "heading", 1
            return


def _title(named: str, pages: list[Page]) -> str:
    named = _said(named)
    if named and not _NAMES.match(named):
        return named[:300]
    first = [block for block in pages[0].blocks if 3 < len(block.text) < 200 and block.kind in ("heading", "paragraph")] if pages else []
    return max(first, key=lambda block: block.size).text[:300] if first else ""


def _said(value: str) -> str:
    value = " ".join(value.split())
    return "" if value.lower() in ("anonymous", "unknown", "user", "administrator", "unspecified", "author") else value[:300]


def _date(value: str) -> str:
    """`D:20240131093000+01'00'` as ISO 8601, as exact as it is."""
    found = re.match(r"D:(\d{4})(\d\d)?(\d\d)?(?:(\d\d)(\d\d)(\d\d)?)?(?:(Z)|([+-])(\d\d)'?(\d\d)?'?)?", value)
    if not found:
        return ""
    year, month, day, hour, minute, second, zulu, sign, off_h, off_m = found.groups()
    date = "-".join(part for part in (year, month, day) if part)
    if not (month and day and hour):
        return date
    zone = "Z" if zulu else f"{sign}{off_h}:{off_m or '00'}" if sign else ""
    return f"{date}T{hour}:{minute}:{second or '00'}{zone}"
