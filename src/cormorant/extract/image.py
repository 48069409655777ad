"""How large a picture is, read from its first bytes. Pure: nothing is decoded, so a picture can't be a bomb here."""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass

MAX_PIXELS = 50_000_000  # decoded, each takes four bytes; the largest cameras have about as many
_SVG_TAG = re.compile(r"<(?:\w+:)?svg\b[^>]*>", re.I | re.S)
_NUMBER = re.compile(r"\s*([\d.]+)\s*(px|pt|pc|mm|cm|in|em|%)?\s*$", re.I)
_PX = {"": 1.0, "px": 1.0, "pt": 4 / 3, "pc": 16.0, "mm": 96 / 25.4, "cm": 96 / 2.54, "in": 96.0, "em": 16.0}
_JPEG_FRAMES = frozenset({*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC})


@dataclass(frozen=True, slots=True)
class Size:
    """A picture's kind and its width and height in pixels."""

    media_type: str
    width: int
    height: int


def size(body: bytes) -> Size | None:
    """The kind and size of a PNG, JPEG, GIF, WebP, BMP, AVIF or SVG; None for what is none of them or cut too early."""
    for kind, read in _READERS:
        try:
            found = read(body)
        except (struct.error, IndexError, ValueError):
            found = None
        if found is not None and found[0] > 0 and found[1] > 0:
            return Size(kind, *found)
    return None


def _png(body: bytes) -> tuple[int, int] | None:
    if not body.startswith(b"\x89PNG\r\n\x1a\n") or body[12:16] != b"IHDR":
        return None
    width, height = struct.unpack(">II", body[16:24])
    return width, height


def _gif(body: bytes) -> tuple[int, int] | None:
    if not body.startswith((b"GIF87a", b"GIF89a")):
        return None
    width, height = struct.unpack("<HH", body[6:10])
    return width, height


def _jpeg(body: bytes) -> tuple[int, int] | None:
    if not body.startswith(b"\xff\xd8"):
        return None
    at, turned = 2, False
    while at + 9 < len(body):
        if body[at] != 0xFF:
            at += 1
            continue
        marker = body[at + 1]
        if marker in (0xFF, 0x01) or 0xD0 <= marker <= 0xD8:
            at += 1 if marker == 0xFF else 2
            continue
        length = struct.unpack(">H", body[at + 2 : at + 4])[0]
        if marker == 0xE1 and body[at + 4 : at + 10] == b"Exif\x00\x00":
            turned = _exif_turned(body[at + 10 : at + 2 + length])
        if marker in _JPEG_FRAMES:
            height, width = struct.unpack(">HH", body[at + 5 : at + 9])
            return (height, width) if turned else (width, height)
        at += 2 + length
    return None


def _exif_turned(exif: bytes) -> bool:
    """Whether the camera was held upright: the picture is shown with its sides exchanged."""
    order = ">" if exif[:2] == b"MM" else "<"
    start = struct.unpack(order + "I", exif[4:8])[0]
    count = struct.unpack(order + "H", exif[start : start + 2])[0]
    for n in range(min(count, 100)):
        entry = exif[start + 2 + 12 * n : start + 14 + 12 * n]
        if len(entry) == 12 and struct.unpack(order + "H", entry[:2])[0] == 0x0112:
            return bool(struct.unpack(order + "H", entry[8:10])[0] >= 5)
    return False


def _webp(body: bytes) -> tuple[int, int] | None:
    if body[:4] != b"RIFF" or body[8:12] != b"WEBP":
        return None
    kind = body[12:16]
    if kind == b"VP8X":
        return 1 + int.from_bytes(body[24:27], "little"), 1 + int.from_bytes(body[27:30], "little")
    if kind == b"VP8L" and body[20] == 0x2F:
        bits = int.from_bytes(body[21:25], "little")
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    if kind == b"VP8 " and body[23:26] == b"\x9d\x01\x2a":
        width, height = struct.unpack("<HH", body[26:30])
        return width & 0x3FFF, height & 0x3FFF
    return None


def _bmp(body: bytes) -> tuple[int, int] | None:
    if body[:2] != b"BM" or len(body) < 26:
        return None
    width, height = struct.unpack("<ii", body[18:26])
    return width, abs(height)


def _avif(body: bytes) -> tuple[int, int] | None:
    """The image's extent box; the largest, since thumbnails and masks have one too."""
    if body[4:8] != b"ftyp" or body[8:12] not in (b"avif", b"avis", b"mif1", b"heic"):
        return None
    found = [struct.unpack(">II", body[at.end() + 4 : at.end() + 12]) for at in re.finditer(b"ispe", body[:65_536])]
    return max(found, key=lambda each: each[0] * each[1], default=None)


def _svg(body: bytes) -> tuple[int, int] | None:
    text = body[:65_536].decode("utf-8", "replace")
    tag = _SVG_TAG.search(text)
    if tag is None or text.lstrip("\ufeff \t\r\n")[:1] != "<":
        return None
    width, height = _length(tag[0], "width"), _length(tag[0], "height")
    if width and height:
        return round(width), round(height)
    box = re.search(r"""viewBox\s*=\s*["']\s*[-\d.]+[\s,]+[-\d.]+[\s,]+([\d.]+)[\s,]+([\d.]+)""", tag[0])
    if box is None:
        return 300, 150  # what a browser gives an SVG that says nothing
    wide, high = float(box[1]), float(box[2])
    if width and wide:
        return round(width), round(width * high / wide)
    return round(wide), round(high)


def _length(tag: str, name: str) -> float:
    found = re.search(rf"""\s{name}\s*=\s*["']([^"']*)["']""", tag)
    number = _NUMBER.match(found[1]) if found else None
    return float(number[1]) * _PX.get((number[2] or "").lower(), 0.0) if number else 0.0


_READERS = (
    ("image/png", _png),
    ("image/jpeg", _jpeg),
    ("image/gif", _gif),
    ("image/webp", _webp),
    ("image/bmp", _bmp),
    ("image/avif", _avif),
    ("image/svg+xml", _svg),
)
