"""Which media type a body really is: by header, by its first bytes, by what is inside it. Pure.

A subset of the WHATWG MIME Sniffing standard (mimesniff.spec.whatwg.org), bent where servers are wrong every day: a PDF
labelled text/html is a PDF, a binary labelled text/plain is refused, HTML labelled text/plain stays text. An Office
file is told from a ZIP archive by its directory; nothing is unpacked here.
"""

from __future__ import annotations

import json
import re
import zipfile
from io import BytesIO

from cormorant.errors import ExtractionFailed, UnsupportedType

HEAD_BYTES = 1_445  # mimesniff 5.2: the resource header a browser looks at
NUL_BYTES = 1_024  # a NUL in the first kilobyte means binary
PEEK_JSON_BYTES = 4_000_000

UNKNOWN = frozenset(
    {"", "*/*", "unknown/unknown", "application/unknown", "application/octet-stream", "binary/octet-stream", "application/binary"}
    | {"application/x-download", "application/download", "application/force-download", "application/x-unknown", "text/octet"}
)
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
PPTX = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
ODT = "application/vnd.oasis.opendocument.text"
ODS = "application/vnd.oasis.opendocument.spreadsheet"
ODP = "application/vnd.oasis.opendocument.presentation"
XLS = "application/vnd.ms-excel"
EPUB = "application/epub+zip"
OFFICE = frozenset({DOCX, XLSX, PPTX, ODT, ODS, ODP, XLS, EPUB})
FEEDS = frozenset({"application/rss+xml", "application/atom+xml", "application/feed+json"})
HTML = frozenset({"text/html", "application/xhtml+xml"})

# Text that hides behind application/*; everything under text/ and every +xml and +json is text anyway.
_TEXT_APPLICATIONS = frozenset(
    f"application/{name}"
    for name in (
        *("json", "x-json", "jsonlines", "x-ndjson", "ndjson", "xml", "xml-dtd", "xslt+xml", "yaml", "x-yaml", "toml", "csv"),
        *("javascript", "x-javascript", "ecmascript", "typescript", "graphql", "sql", "x-sql", "x-sh", "x-shellscript"),
        *("x-httpd-php", "x-python", "x-tex", "x-latex", "x-markdown", "x-subrip", "rtf"),
    )
)
_ALIASES = {
    "text/x-markdown": "text/markdown",
    "application/x-markdown": "text/markdown",
    "text/md": "text/markdown",
    "application/csv": "text/csv",
    "text/x-csv": "text/csv",
    "text/comma-separated-values": "text/csv",
    "application/x-csv": "text/csv",
    "text/json": "application/json",
    "text/x-json": "application/json",
    "application/x-json": "application/json",
    "application/x-pdf": "application/pdf",
    "text/pdf": "application/pdf",
    "application/acrobat": "application/pdf",
    "application/rss": "application/rss+xml",
    "text/rss+xml": "application/rss+xml",
    "application/x-rss+xml": "application/rss+xml",
    "application/rdf+xml": "application/xml",
    "image/jpg": "image/jpeg",
    "image/svg": "image/svg+xml",
}
_EXTENSIONS = {
    "md": "text/markdown",
    "markdown": "text/markdown",
    "csv": "text/csv",
    "tsv": "text/tab-separated-values",
    "json": "application/json",
    "xml": "application/xml",
}

# (offset, magic, type). Only signatures that no text begins with, or that are checked again below.
_MAGIC: tuple[tuple[int, bytes, str], ...] = (
    (0, b"\x89PNG\r\n\x1a\n", "image/png"),
    (0, b"\xff\xd8\xff", "image/jpeg"),
    (0, b"GIF87a", "image/gif"),
    (0, b"GIF89a", "image/gif"),
    (8, b"WEBP", "image/webp"),
    (0, b"II*\x00", "image/tiff"),
    (0, b"MM\x00*", "image/tiff"),
    (0, b"\x00\x00\x01\x00", "image/x-icon"),
    (4, b"ftypavif", "image/avif"),
    (4, b"ftypheic", "image/heic"),
    (4, b"ftypmif1", "image/heif"),
    (4, b"ftyp", "video/mp4"),
    (0, b"\x1aE\xdf\xa3", "video/webm"),
    (8, b"AVI ", "video/avi"),
    (8, b"WAVE", "audio/wave"),
    (0, b"OggS\x00", "application/ogg"),
    (0, b"ID3", "audio/mpeg"),
    (0, b"\xff\xfb", "audio/mpeg"),
    (0, b"fLaC\x00", "audio/flac"),
    (0, b"\x1f\x8b\x08", "application/gzip"),
    (0, b"BZh", "application/x-bzip2"),
    (0, b"\xfd7zXZ\x00", "application/x-xz"),
    (0, b"(\xb5/\xfd", "application/zstd"),
    (0, b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    (0, b"Rar!\x1a\x07", "application/x-rar-compressed"),
    (257, b"ustar", "application/x-tar"),
    (0, b"\x00asm", "application/wasm"),
    (0, b"\x7fELF", "application/x-elf"),
    (0, b"MZ", "application/vnd.microsoft.portable-executable"),
    (0, b"\xca\xfe\xba\xbe", "application/java-vm"),
    (0, b"SQLite format 3\x00", "application/vnd.sqlite3"),
    (0, b"PAR1", "application/vnd.apache.parquet"),
    (0, b"wOFF", "font/woff"),
    (0, b"wOF2", "font/woff2"),
    (0, b"OTTO", "font/otf"),
    (0, b"\x00\x01\x00\x00", "font/ttf"),
    (0, b"BM", "image/bmp"),
    (0, b"%!PS-Adobe-", "application/postscript"),
)
_OLE_STREAMS = (
    ("Workbook", XLS),
    ("Book", XLS),
    ("WordDocument", "application/msword"),
    ("PowerPoint Document", "application/vnd.ms-powerpoint"),
)
_BINARY = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")  # mimesniff 3: binary data bytes
_BOMS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")
_COMMENTS = re.compile(rb"\s*(?:(?:<\?.*?\?>|<!--.*?-->)\s*)*", re.S)
_HTML_START = re.compile(
    rb"<(?:!doctype\s+html|html|head|body|title|script|iframe|h1|div|font|table|style|br|p|a|b|main|article|section|meta|link|span)[\s>/]",
    re.I,
)
_FEED_START = re.compile(rb"<(?:\w+:)?(rss|feed|rdf:rdf|rdf)[\s>]", re.I)
_DOCTYPE = re.compile(rb"\s*<!doctype\s+(\w+)[^>\[]*(?:\[.*?\]\s*)?>", re.I | re.S)


def media_type(body: bytes, content_type: str, url: str) -> str:
    """The media type of a body, in lower case and without parameters, e.g. `text/html`.

    Raises: UnsupportedType, naming the type, for what is neither text nor a known document nor an image.
    """
    declared = essence(content_type)
    head = body[:HEAD_BYTES]
    if not head.strip():
        return declared if declared not in UNKNOWN else "text/html"
    if _is_pdf(head, declared, url):
        return "application/pdf"
    if found := _by_magic(body, head):
        return _usable(found, declared)
    if _is_binary(body, declared, content_type):
        return _usable(_named(declared, head), declared)
    return _of_text(body, head, declared, url)


def essence(content_type: str) -> str:
    """`Text/HTML; charset=x` as `text/html`, known aliases settled; "" where it is no media type."""
    found = content_type.split(";", 1)[0].split(",", 1)[0].strip().strip("\"'").lower()
    found = _ALIASES.get(found, found)
    return found if re.fullmatch(r"[\w.+*-]+/[\w.+*-]+", found) else ""


def is_text(media_type: str) -> bool:
    """Whether a media type names text (HTML, XML, JSON, CSV, source code ...)."""
    return media_type.startswith("text/") or media_type.endswith(("+xml", "+json")) or media_type in _TEXT_APPLICATIONS


def _is_pdf(head: bytes, declared: str, url: str) -> bool:
    if head.lstrip(b"\xef\xbb\xbf \t\r\n\x00").startswith(b"%PDF-"):
        return True
    # Readers accept junk in front of the mark (a stray header line), but a page may also talk about it.
    named = declared == "application/pdf" or (declared in UNKNOWN and _extension(url) == "pdf")
    return named and (b"%PDF-" in head[:1024] or bool(_BINARY.search(head)))


def _by_magic(body: bytes, head: bytes) -> str:
    if head.startswith(b"PK\x03\x04") or head.startswith(b"PK\x05\x06"):
        return _of_zip(body)
    if head.startswith(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"):
        return _of_ole(body)
    for offset, magic, found in _MAGIC:
        if head.startswith(magic, offset):
            # "GIF89a" or "BM" may begin a sentence; a real file of that kind has control bytes close by.
            return found if _BINARY.search(head) or found == "application/postscript" else ""
    return ""


def _of_zip(body: bytes) -> str:
    if body[30:38] == b"mimetype":  # OpenDocument and EPUB store their type first, uncompressed
        found = re.match(rb"[\w.+/-]+", body[38:120])
        stored = found[0].decode("ascii") if found else ""
        for known in sorted(OFFICE):
            if stored.startswith(known):
                return known
    try:
        with zipfile.ZipFile(BytesIO(body)) as archive:
            names = set(archive.namelist())
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError):
        names = {name for name in ("word/document.xml", "xl/workbook.xml", "ppt/presentation.xml") if name.encode() in body}
    for name, found_type in (("word/document", DOCX), ("xl/workbook", XLSX), ("ppt/presentation", PPTX), ("META-INF/container.xml", EPUB)):
        if any(each.startswith(name) for each in names):
            return found_type
    return "application/zip"


def _of_ole(body: bytes) -> str:
    if "EncryptedPackage".encode("utf-16-le") in body:
        raise ExtractionFailed("the document is encrypted and needs a password", remedy="save it without a password")
    for stream, found in _OLE_STREAMS:
        if stream.encode("utf-16-le") in body:
            return found
    return "application/x-ole-storage"


def _is_binary(body: bytes, declared: str, content_type: str) -> bool:
    head = body[:NUL_BYTES]
    if head.startswith(_BOMS) or looks_utf16(head) or re.search(r"charset\s*=\s*[\"']?utf-?(?:16|32)", content_type, re.I):
        return False
    if declared in HTML or declared.endswith(("/xml", "+xml")):
        start = head[_comments_end(head) :]
        if _HTML_START.match(start) or start.startswith(b"<!"):
            return False  # a page with a stray NUL is still a page (the parser drops it)
    if b"\x00" in head:
        return True
    # No NUL, yet mostly control bytes or undecodable: text never looks so. A few control bytes are a broken page.
    return (declared in UNKNOWN or not is_text(declared)) and len(_BINARY.findall(head)) > len(head) // 50


def looks_utf16(head: bytes) -> str:
    """`utf-16-le` or `utf-16-be` for UTF-16 without its mark: markup, or text of which every second byte is NUL."""
    head = head[: len(head) // 2 * 2]
    if len(head) < 8:
        return ""
    for start, name in ((b"<\x00", "utf-16-le"), (b"\x00<", "utf-16-be")):  # markup begins in ASCII, whatever script follows
        if head.startswith(start) and re.match(rb"[!?/a-zA-Z]\x00" if name == "utf-16-le" else rb"\x00[!?/a-zA-Z]", head[2:]):
            return name
    even, odd = head[::2], head[1::2]
    for text, nuls, name in ((even, odd, "utf-16-le"), (odd, even, "utf-16-be")):
        if nuls.count(0) >= 0.7 * len(nuls) and not text.count(0) and not _BINARY.search(text):
            return name
    return ""


def _named(declared: str, head: bytes) -> str:
    return "application/octet-stream" if declared in UNKNOWN or is_text(declared) or _HTML_START.match(head) else declared


def _usable(found: str, declared: str) -> str:
    if found == "application/pdf" or found in OFFICE or found.startswith("image/"):
        return found
    named = f"{found} (sent as {declared})" if declared and declared != found else found
    raise UnsupportedType(
        f"{named} is neither text nor a document that can be read", remedy="fetch a page that links to it, or download it with another tool"
    )


def _of_text(body: bytes, head: bytes, declared: str, url: str) -> str:
    start = _without_bom(head)
    if declared == "text/plain":
        return declared  # mimesniff: HTML sent as text stays text
    if declared in HTML or declared in FEEDS or declared.endswith(("/xml", "+xml")):
        return _of_markup(start, declared) or (_of_json(body) if declared == "text/html" else "") or declared
    if declared.endswith(("/json", "+json")):
        return "text/html" if _HTML_START.match(start.lstrip()) else _of_json(body) or declared
    if declared not in UNKNOWN and is_text(declared):
        return declared
    found = _of_markup(start, "") or _of_json(body)
    if found:
        return found
    if declared not in UNKNOWN:  # says it is a picture or a film, and is neither that nor a page
        return _usable(declared, declared)
    return _EXTENSIONS.get(_extension(url), "text/plain")


def _without_bom(head: bytes) -> bytes:
    if head.startswith(b"\xef\xbb\xbf"):
        return head[3:]
    wide = "utf-16-le" if head.startswith(b"\xff\xfe") else "utf-16-be" if head.startswith(b"\xfe\xff") else looks_utf16(head)
    return head.decode(wide, "ignore").lstrip("\ufeff").encode() if wide else head


def _comments_end(head: bytes) -> int:
    found = _COMMENTS.match(head)
    return found.end() if found else 0


def _of_markup(start: bytes, declared: str) -> str:
    """Feeds, SVG and XHTML by their first element, also behind an XML prolog; "" when the content does not decide."""
    prolog = start.lstrip().startswith(b"<?xml")
    rest = start[_comments_end(start) :]
    if doctype := _DOCTYPE.match(rest):
        if doctype[1].lower() == b"html":
            return declared if declared in HTML else "text/html"
        rest = rest[doctype.end() :]
        rest = rest[_comments_end(rest) :]
    if feed := _FEED_START.match(rest):
        if feed[1].lower() in (b"rdf:rdf", b"rdf"):
            return "application/rss+xml" if b"purl.org/rss" in start else ""
        return "application/rss+xml" if feed[1].lower() == b"rss" else "application/atom+xml"
    if re.match(rb"<(?:\w+:)?svg[\s>]", rest, re.I):
        return "image/svg+xml" if declared != "text/html" else ""
    if re.match(rb"<html[\s>]", rest, re.I):
        return declared if declared in HTML else "application/xhtml+xml" if prolog else "text/html"
    if prolog and declared in ("", "text/html"):
        return "application/xml" if not declared else ""
    if declared in HTML or declared.endswith(("/xml", "+xml")):
        return ""
    return "text/html" if _HTML_START.match(rest) else ""


def _of_json(body: bytes) -> str:
    """JSON only when the whole of it parses: a page of prose may begin with a bracket too."""
    text = body.removeprefix(b"\xef\xbb\xbf").strip()
    if not text.startswith((b"{", b"[")) or not text.endswith((b"}", b"]")) or len(text) > PEEK_JSON_BYTES:
        return ""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return ""
    is_feed = isinstance(found, dict) and str(found.get("version", "")).startswith(
        ("https://jsonfeed.org/version/", "http://jsonfeed.org/version/")
    )
    return "application/feed+json" if is_feed else "application/json"


def _extension(url: str) -> str:
    path = url.split("#", 1)[0].split("?", 1)[0]
    name = path.rsplit("/", 1)[-1]
    return name.rsplit(".", 1)[-1].lower() if "." in name else ""
