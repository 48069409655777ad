"""Office documents and e-books to Markdown: DOCX, XLSX, XLS, PPTX, ODT, ODS, ODP, EPUB. Nothing they refer to is fetched.

`read` works in a child process with caps; `parse` is the same without it. Everything but XLS needs only the standard
library: these files are ZIP archives of XML, and what a reader wants of them is little and plain.
"""

from __future__ import annotations

import posixpath
import re
from typing import Any
from urllib.parse import unquote

from selectolax.lexbor import LexborHTMLParser

from cormorant.document import Document, Finding
from cormorant.errors import ExtractionFailed, NotConfigured, TooLarge
from cormorant.extract import child, sheets, sniff
from cormorant.extract.archive import Archive, given, local
from cormorant.extract.archive import child as part_of
from cormorant.extract.decode import text_of
from cormorant.extract.filed import document_of
from cormorant.extract.html import hidden
from cormorant.extract.html.links import Addresses
from cormorant.extract.html.markdown import markdown
from cormorant.extract.instructions import finding
from cormorant.extract.invisible import visible
from cormorant.extract.opendocument import odt
from cormorant.extract.plain import markdown_table, plain_table
from cormorant.extract.slides import odp, pptx
from cormorant.extract.word import Word

BODY_MAX_BYTES = 25 * 1024**2
TEXT_MAX_CHARS = 200_000
WARNINGS_MAX = 20
WARNING_MAX_CHARS = 500
CHAPTERS_MAX = 2_000

NAMES = {
    sniff.DOCX: "Word document",
    sniff.XLSX: "Excel workbook",
    sniff.XLS: "Excel 97-2003 workbook",
    sniff.PPTX: "PowerPoint presentation",
    sniff.ODT: "OpenDocument text",
    sniff.ODS: "OpenDocument spreadsheet",
    sniff.ODP: "OpenDocument presentation",
    sniff.EPUB: "e-book",
}
_BASE = "https://document.invalid/"  # inner addresses of a document lead nowhere; they are dropped from links


def read(body: bytes, *, url: str, media_type: str, output: str = "markdown") -> Document:
    """An Office document or e-book as a Document, read in a child process.

    Raises: TooLarge, ExtractionFailed (encrypted, broken, empty), NotConfigured where a package is missing.
    """
    if len(body) > BODY_MAX_BYTES:
        raise TooLarge(f"the document has {len(body)} bytes, the limit is {BODY_MAX_BYTES}", url=url, remedy="ask for a smaller document")
    try:
        found = child.run("office", body, media_type=media_type, plain=output == "text")
    except (ExtractionFailed, TooLarge, NotConfigured) as error:
        raise type(error)(error.message, remedy=error.remedy, url=url) from error
    return document_of(found, url=url, media_type=media_type, extractor="office")


def parse(body: bytes, *, media_type: str, plain: bool = False) -> dict[str, Any]:
    """A document read in this process, as plain values. Raises: as `read`."""
    about: dict[str, str] = {}
    warnings: list[str] = []
    findings: list[Finding] = []
    links: list[tuple[str, str]] = []
    pages: int | None = None
    if media_type == sniff.XLS:
        text = _tables(sheets.xls(body), warnings, plain=plain)
    else:
        archive = Archive(body)
        _refuse_encrypted(archive)
        if media_type == sniff.EPUB:
            text, about, pages = _epub(archive, findings, plain=plain)
        else:
            about = _properties(archive)
            text, pages = _text(archive, media_type, warnings, findings, links, plain=plain)
    text, gone = visible(text)
    findings += [finding(kind, chars, note=f"{len(chars)} characters") for kind, chars in sorted(gone.items())]
    if not text.strip():
        raise ExtractionFailed(f"the {NAMES[media_type]} has no text", remedy="it may hold pictures only; OCR would be needed")
    truncated = len(text) > TEXT_MAX_CHARS
    if truncated:
        text = text[:TEXT_MAX_CHARS].rsplit("\n", 1)[0]
        warnings.append(f"the text was cut after {TEXT_MAX_CHARS} characters")
    warnings = [warning[:WARNING_MAX_CHARS] for warning in warnings[:WARNINGS_MAX]]
    notice = [f"[document: {NAMES[media_type]}]", *(f"[document warning: {warning}]" for warning in warnings)]
    return {
        "markdown": "\n".join(notice) + "\n\n" + text.strip() + "\n",
        "title": about.get("title", ""),
        "author": about.get("creator", ""),
        "published": about.get("date", ""),
        "language": about.get("language", ""),
        "links": [list(link) for link in dict.fromkeys(links)],
        "pages": pages,
        "truncated": truncated or any("are shown" in warning for warning in warnings),
        "warnings": warnings,
        "findings": [[one.kind, None, one.sha256, one.note] for one in findings[:60]],
    }


def _text(
    archive: Archive, media_type: str, warnings: list[str], findings: list[Finding], links: list[tuple[str, str]], *, plain: bool
) -> tuple[str, int | None]:
    if media_type == sniff.XLSX:
        return _tables(sheets.xlsx(archive), warnings, plain=plain), None
    if media_type == sniff.ODS:
        return _tables(sheets.ods(archive), warnings, plain=plain), None
    pages: int | None = None
    if media_type == sniff.DOCX:
        word = Word(archive)
        html = word.html()
        findings += word.findings()
    elif media_type == sniff.ODT:
        html = odt(archive)
    else:
        html, pages, more = (pptx if media_type == sniff.PPTX else odp)(archive)
        warnings += more
    return _rendered(html, links, plain=plain), pages


def _rendered(html: str, links: list[tuple[str, str]], *, plain: bool) -> str:
    tree = LexborHTMLParser(html)
    body = tree.body
    if body is None:
        return ""
    links += [(" ".join(node.text().split()), node.attributes.get("href") or "") for node in body.css("a[href]")]
    return markdown(body, Addresses(_BASE, _BASE), plain=plain)


def _tables(book: list[sheets.Sheet], warnings: list[str], *, plain: bool) -> str:
    """Every visible sheet under its name."""
    hidden_ones = [sheet.name for sheet in book if sheet.hidden]
    if hidden_ones:
        warnings.append(f"hidden sheets were left out: {', '.join(hidden_ones)}")
    parts = []
    for sheet in book:
        if sheet.hidden:
            continue
        warnings += sheet.warnings()
        table = plain_table(sheet.rows) if plain else markdown_table(sheet.rows)[0]
        parts.append(f"{'' if plain else '## '}{' '.join(sheet.name.split())}\n\n{table or '(empty)'}")
    return "\n\n".join(parts)


def _properties(archive: Archive) -> dict[str, str]:
    """Title, author, date and language, as Office and OpenDocument files name them."""
    found: dict[str, str] = {}
    for name in ("docProps/core.xml", "meta.xml"):
        part = archive.xml(name)
        for one in part.iter() if part is not None else ():
            text = " ".join((one.text or "").split())
            key = {"created": "date", "creation-date": "date", "initial-creator": "creator"}.get(local(one), local(one))
            if (
                key in ("title", "creator", "date", "language")
                and text
                and (key not in found or local(one) in ("created", "creation-date"))
            ):
                found[key] = text[:300]
    return found


def _refuse_encrypted(archive: Archive) -> None:
    manifest = archive.bytes_of("META-INF/manifest.xml")
    rights = archive.bytes_of("META-INF/encryption.xml")
    locked = b"encryption-data" in manifest or (b"EncryptedData" in rights and re.search(rb"URI=\"[^\"]+\.x?html?\"", rights))
    if locked or "META-INF/rights.xml" in archive.names:
        raise ExtractionFailed("the document is encrypted and needs a password or a licence", remedy="save it without encryption")


# --- EPUB ---------------------------------------------------------------------------------------------------------


def _epub(archive: Archive, findings: list[Finding], *, plain: bool) -> tuple[str, dict[str, str], int]:
    """The chapters in reading order, what the book says of itself, and how many chapters there are."""
    container = archive.xml("META-INF/container.xml")
    rootfile = next(
        (given(one, "full-path") for one in (container.iter() if container is not None else ()) if local(one) == "rootfile"), ""
    )
    package = archive.xml(rootfile)
    if package is None:
        raise ExtractionFailed("the e-book is broken: it names no contents", remedy="fetch it again, or look for another copy")
    about: dict[str, str] = {}
    for one in part_of(package, "metadata") or ():
        text = " ".join((one.text or "").split())
        if local(one) in ("title", "creator", "date", "language") and text:
            about.setdefault(local(one), text[:300])
    folder = posixpath.dirname(rootfile)
    items = {given(one, "id"): one for one in part_of(package, "manifest") or ()}
    spine = [items[given(one, "idref")] for one in part_of(package, "spine") or () if given(one, "idref") in items]
    chapters, length = [], 0
    for item in spine[:CHAPTERS_MAX]:
        if "nav" in given(item, "properties").split():
            continue
        chapter = _chapter(archive, posixpath.normpath(posixpath.join(folder, unquote(given(item, "href")))), findings, plain=plain)
        chapters.append(chapter)
        length += len(chapter)
        if length > TEXT_MAX_CHARS:
            break
    return "\n\n".join(chapter for chapter in chapters if chapter), about, len(spine)


def _chapter(archive: Archive, name: str, findings: list[Finding], *, plain: bool) -> str:
    body = archive.bytes_of(name)
    tree = LexborHTMLParser(text_of(body, "", "application/xhtml+xml").text)
    if tree.root is None or tree.body is None:
        return ""
    findings += hidden.strip(tree.root)
    for node in tree.css("script, style, svg"):
        node.decompose()
    for node in tree.css("a[href], img[src]"):
        if not (node.attributes.get("href") or "").startswith(("http://", "https://", "mailto:")):
            del node.attrs["href" if node.tag == "a" else "src"]
    return markdown(tree.body, Addresses(_BASE, _BASE), plain=plain).strip()
