"""Bytes to text: the WHATWG cascade, with repairs where the declaration is plainly wrong. Pure.

Order: byte order mark, HTTP header, XML prolog or HTML `<meta>`, valid UTF-8, statistical detection. Labels are read by
the WHATWG table (gb2312 is gb18030, iso-8859-1 is windows-1252, utf-7 is nothing). A declaration is overruled only when
the bytes contradict it: they are valid UTF-8 with real multi-byte characters, or they are not UTF-8 at all.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

import cchardet
import webencodings

from cormorant.extract.sniff import HTML, looks_utf16
from cormorant.extract.sniff import media_type as media_type

PRESCAN_BYTES = 65_536  # browsers look at 1,024 and then follow the parser; pages put scripts in front of <meta>
SAMPLE_BYTES = 65_536
FALLBACK = "windows-1252"  # what the standard falls back to in most locales

_CODECS = {  # WHATWG name -> the Python codec that covers it wholly
    "gbk": "gb18030",
    "gb18030": "gb18030",
    "shift_jis": "cp932",
    "euc-kr": "cp949",
    "big5": "big5hkscs",
    "euc-jp": "euc_jis_2004",
    "iso-2022-jp": "iso2022_jp_ext",
    "windows-874": "cp874",
    "macintosh": "mac-roman",
    "x-mac-cyrillic": "mac-cyrillic",
    "iso-8859-8-i": "iso-8859-8",
    "utf-16le": "utf-16-le",
    "utf-16be": "utf-16-be",
    "utf-32": "utf-32-le",
    "utf-32le": "utf-32-le",
    "utf-32be": "utf-32-be",
}
_MULTIBYTE = frozenset({"gbk", "gb18030", "shift_jis", "euc-kr", "big5", "euc-jp", "iso-2022-jp"})
_DETECTOR_NAMES = {"maccyrillic": "x-mac-cyrillic", "mac-cyrillic": "x-mac-cyrillic", "uhc": "euc-kr", "johab": "euc-kr"}
_SCRIPTS = (
    ("euc-kr", re.compile(r"[\uac00-\ud7a3]")),
    ("shift_jis", re.compile(r"[\u3041-\u30ff]")),
    ("euc-jp", re.compile(r"[\u3041-\u30ff]")),
)
_BOMS = (
    (codecs.BOM_UTF32_LE, "utf-32le"),
    (codecs.BOM_UTF32_BE, "utf-32be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16le"),
    (codecs.BOM_UTF16_BE, "utf-16be"),
)
_UTF8_SEQUENCE = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
_HIGH_BYTES = bytes(range(0x80, 0x100))
_UTF8_LEADS = bytes(range(0xC2, 0xF5))
_ISO_2022_JP = re.compile(rb"\x1b(?:\$[@B]|\([IJ])")
_PROLOG = re.compile(rb"""\s*<\?xml[^>]{0,200}?\sencoding\s*=\s*["']([\w.:-]+)["']""")
_LANDMARK = re.compile(  # what a search for `<meta>` must know: its attributes, and where markup is no markup
    rb"""<!--|<(?:script|style|title|noscript)\b|<meta((?:[\s/]+[^\s=>/"']+(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s>"']+))?)+)""", re.I
)
_ATTRIBUTE = re.compile(rb"""([^\s=>/"']+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>"']+)))?""")
_CHARSET = re.compile(r"""charset\s*=\s*["']?\s*([\w.:+-]+)""", re.I)
_TAGS = re.compile(rb"<(script|style)\b.*?</\1\s*>|<[^>]*>", re.I | re.S)
_NOT_ASCII = re.compile(rb"[\x80-\xff]")


@dataclass(frozen=True, slots=True)
class Decoded:
    """Text, the WHATWG name of the encoding it was read by, and what a reader should know about the reading."""

    text: str
    charset: str
    warnings: tuple[str, ...] = ()


def text_of(body: bytes, content_type: str, media_type: str) -> Decoded:
    """The text of a body. Never fails: what can't be decoded becomes U+FFFD, with a warning.

    A character cut in half at the end (the body was read up to a limit) is dropped.
    """
    for mark, name in _BOMS:
        if body.startswith(mark):
            return _decoded(body[len(mark) :], name)
    if wide := looks_utf16(body[:1024]):
        return _decoded(body, wide.replace("-le", "le").replace("-be", "be"))
    declared = _lookup(header) if (header := charset_of(content_type)) else ""
    inside = _declared_inside(body, media_type)
    text, sequences = _as_utf8(body)
    name, warning = _chosen(body, declared, inside, sequences)
    found = Decoded(text.removeprefix("\ufeff"), name) if name == "utf-8" and sequences >= 0 else _decoded(body, name)
    return Decoded(found.text, found.charset, (warning, *found.warnings)) if warning else found


def charset_of(content_type: str) -> str:
    """The `charset` parameter of a Content-Type, as it was written; "" without one."""
    found = _CHARSET.search(content_type)
    return found[1] if found else ""


def _lookup(label: str) -> str:
    """The WHATWG name of a label; "" for an unknown one (`utf-7` among them)."""
    found = webencodings.lookup(label)
    if found is None or found.name == "replacement":
        return ""
    return str(found.name)


def _declared_inside(body: bytes, media_type: str) -> str:
    head = body[:PRESCAN_BYTES]
    markup = media_type.endswith(("/xml", "+xml"))
    prolog = _PROLOG.match(head)
    named = _lookup(prolog[1].decode("ascii")) if prolog else ""
    if media_type in HTML:
        named = _prescan(head) or named
    elif not markup:
        return ""
    # Nobody could have read the declaration if it were true (HTML 13.2.3.2).
    return "utf-8" if named.startswith("utf-16") else named


def _prescan(head: bytes) -> str:
    """The encoding a `<meta>` declares, wherever it stands in the head and whatever the order of its attributes."""
    at = 0
    while (found := _LANDMARK.search(head, at)) is not None:
        at = found.end()
        if not found[1]:
            at = _end_of_raw(head, at, found[0])
            continue
        given = {one[1].lower(): one[2] or one[3] or one[4] or b"" for one in _ATTRIBUTE.finditer(found[1])}
        label = given.get(b"charset", b"").decode("latin-1")
        if not label and given.get(b"http-equiv", b"").lower() == b"content-type":
            label = charset_of(given.get(b"content", b"").decode("latin-1"))
        if label and (name := _lookup(label.strip())):
            return FALLBACK if name == "x-user-defined" else name
    return ""


def _end_of_raw(head: bytes, at: int, opened: bytes) -> int:
    """Where a comment, or an element whose text is no markup, is over; the end of the head where it isn't."""
    if opened == b"<!--":
        end = head.find(b"-->", at)
        return end + 3 if end >= 0 else len(head)
    closing = re.compile(rb"</" + opened[1:], re.I).search(head, at)
    return closing.end() if closing is not None else len(head)


def _chosen(body: bytes, declared: str, inside: str, utf8: int) -> tuple[str, str]:
    """The encoding to read by, and a warning when it is not the declared one."""
    name = declared or inside
    if not name:
        if utf8 >= 0 and not _ISO_2022_JP.search(body[:SAMPLE_BYTES]):
            return "utf-8", ""
        return _detected(body), ""
    if name == "utf-8":
        return _instead_of_utf8(body, utf8, inside)
    if utf8 > 0 and _contradicts(body, name, utf8):
        return "utf-8", f"declared as {name}, but the bytes are valid UTF-8: read as UTF-8"
    if declared and inside and declared != inside and declared == FALLBACK and _detected(body) == inside:
        # A server's default header over a page that says otherwise, and the bytes agree with the page.
        return inside, f"the header says {declared}, the page and its bytes say {inside}: read as {inside}"
    return name, ""


def _as_utf8(body: bytes) -> tuple[str, int]:
    """The text of valid UTF-8 and how many multi-byte characters it has (0: plain ASCII); -1 when it is not UTF-8."""
    try:
        text, used = codecs.utf_8_decode(body, "strict", False)
    except UnicodeDecodeError:
        return "", -1
    if text.isascii() and used == len(body):
        return text, 0
    count = len(text) - len(body[:used].translate(None, _HIGH_BYTES))  # characters that are not ASCII; a hundred times quicker than looking
    if used < len(body) and not count:
        return "", -1  # one lonely lead byte at the end of ASCII: rather a Latin letter than half a character
    return text, count


def _contradicts(body: bytes, name: str, utf8: int) -> bool:
    """Whether valid UTF-8 with `utf8` multi-byte characters can't be text of that encoding."""
    if name not in _MULTIBYTE:
        return not name.startswith("utf-")  # "Ã©" in earnest: no Latin or Cyrillic text reads so
    try:
        body.decode(_codec(name))
    except UnicodeDecodeError:
        return True
    return utf8 >= 6  # a Chinese pair is UTF-8 by chance once in seven times


def _instead_of_utf8(body: bytes, utf8: int, inside: str) -> tuple[str, str]:
    if utf8 >= 0:
        return "utf-8", ""
    good = sum(1 for _ in _UTF8_SEQUENCE.finditer(body))
    bad = len(_NOT_ASCII.findall(_UTF8_SEQUENCE.sub(b"", body)))
    if good >= bad:
        return "utf-8", ""  # UTF-8 with some broken bytes
    other = inside if inside and inside != "utf-8" else _detected(body)
    return other, f"declared as utf-8, but the bytes are not UTF-8: read as {other}"


def _detected(body: bytes) -> str:
    """The most likely encoding of bytes that are not UTF-8. Tags are left out: they are ASCII and drown short texts."""
    first = _NOT_ASCII.search(body)
    start = max(0, first.start() - 2_000) if first else 0
    sample = _TAGS.sub(b" ", body[start : start + SAMPLE_BYTES]) or body[:SAMPLE_BYTES]
    found = cchardet.detect(sample)
    name = _lookup(_DETECTOR_NAMES.get(str(found["encoding"]).lower(), str(found["encoding"] or "")))
    if name in ("", "utf-8", FALLBACK):
        return _east_asian(sample) or FALLBACK
    return name


def _east_asian(sample: bytes) -> str:
    """A double-byte encoding the detector missed: short texts in one script, decoded without an error."""
    for name, script in _SCRIPTS:
        try:
            text = codecs.getincrementaldecoder(_codec(name))("strict").decode(sample)
        except UnicodeDecodeError:
            continue
        letters = [letter for letter in text if letter > "\x7f"]
        if len(letters) >= 4 and len(script.findall("".join(letters))) >= 0.9 * len(letters):
            return name
    return ""


def _codec(name: str) -> str:
    return _CODECS.get(name, name)


def _decoded(body: bytes, name: str) -> Decoded:
    decoder = codecs.getincrementaldecoder(_codec(name))("replace")
    text = decoder.decode(body)
    if decoder.getstate()[0] and not _ends_cut(body, name):  # bytes that wait for more
        text += decoder.decode(b"", final=True)
    text = text.removeprefix("\ufeff")
    replaced = 0 if text.isascii() else text.count("\ufffd") - (body.count(b"\xef\xbf\xbd") if name == "utf-8" else 0)
    if replaced <= 0:
        return Decoded(text, name)
    noun = "byte or run of bytes" if replaced == 1 else "bytes or runs of bytes"
    return Decoded(text, name, (f"{replaced} undecodable {noun} replaced with U+FFFD (read as {name})",))


def _ends_cut(body: bytes, name: str) -> bool:
    """Whether the last character, of which bytes are missing, looks cut in half rather than broken."""
    if name != "utf-8":
        return name in _MULTIBYTE or name.startswith("utf-")
    return _UTF8_SEQUENCE.search(body) is not None
