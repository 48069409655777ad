"""PDF to Markdown by pdfium: columns in reading order, the outline as headings, page marks, links. No OCR.

`read` works in a child process, since pdfium is native code over hostile input; `parse` is the same without it. A page
that is only a picture is named, a document that is nothing but pictures is an error: never an empty success.
"""

from __future__ import annotations

import re
import time
import zlib
from typing import Any

from cormorant.document import Document
from cormorant.errors import ExtractionFailed, TooLarge
from cormorant.extract import child, filed
from cormorant.extract.instructions import finding
from cormorant.extract.invisible import visible
from cormorant.extract.pdf.characters import Held, read_page
from cormorant.extract.pdf.headings import running, settle_headings
from cormorant.extract.pdf.layout import Block, Page, ordered, rows_of
from cormorant.extract.pdf.paragraphs import blocks_of, compounds_of, escaped, mended, relinked

MIME = "application/pdf"
BODY_MAX_BYTES = 25 * 1024**2
TEXT_MAX_CHARS = 200_000
EXPANDED_MAX_BYTES = 64 * 1024**2
PAGES_MAX = 5_000
SOFT_LIMIT_S = 20.0  # of processor time; pages read so far are returned then
WARNINGS_MAX = 20
WARNING_MAX_CHARS = 500

_NO_TEXT_REMEDY = "the pages are pictures: run OCR over the document, or look for a version with text"
_NAMES = re.compile(
    r"^(?:untitled|unknown|document\d*|slide ?\d*|microsoft (?:word|powerpoint|excel)\b.*"
    r"|.*\.(?:docx?|dvi|tex|indd|qxd|pptx?|xlsx?|rtf|odt|pages))$",
    re.I,
)


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
    return filed.document_of(found, url=url, media_type=MIME, extractor="pdf", unnamed="document.pdf")


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
    held = Held(plain=plain)
    pages = len(document)
    letters = 0
    for number in range(1, min(pages, PAGES_MAX) + 1):
        if time.process_time() - started > SOFT_LIMIT_S or letters > 1.5 * TEXT_MAX_CHARS:
            break
        letters += read_page(document, number, held)
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


def _laid_out(held: Held) -> list[Page]:
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


def _outline(document: Any, held: Held) -> dict[int, list[tuple[int, str, float | None]]]:
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


def _markdown(pages: list[Page], held: Held, count: int) -> tuple[str, bool]:
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
