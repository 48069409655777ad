"""An image as a Document: a line that says what it is, and the image itself, encoded anew where Pillow is installed."""

from __future__ import annotations

from base64 import b64encode
from importlib.util import find_spec
from urllib.parse import unquote, urlsplit

from cormorant.document import Document, Picture, PictureFacts
from cormorant.errors import ExtractionFailed, TooLarge
from cormorant.extract import child
from cormorant.extract.image import MAX_PIXELS, size
from cormorant.extract.invisible import visible

LONGEST_SIDE = 1_568  # pixels; a vision model shrinks what is larger before it looks
HANDED_ON_BYTES = 256 * 1024  # what a client takes inside a message
TIMEOUT_S = 20.0
_WITHOUT_PILLOW = "handed on as it was sent, with whatever its file says of camera and place: pip install 'cormorant[images]' encodes anew"
_RECODED = frozenset(f"image/{name}" for name in ("png", "jpeg", "gif", "webp", "bmp", "avif", "tiff", "x-icon"))
_SIZED = _RECODED - {"image/tiff", "image/x-icon"}  # kinds whose size stands in the first bytes
_NAMES = {"image/jpeg": "JPEG", "image/webp": "WebP", "image/x-icon": "ICO"}


def read(body: bytes, *, url: str, media_type: str) -> Document:
    """The image at `url`. Raises: TooLarge for one with too many pixels, ExtractionFailed for a broken one."""
    found = size(body)
    kind = found.media_type if found and found.media_type != "image/svg+xml" else media_type
    if found and found.width * found.height > MAX_PIXELS:
        raise TooLarge(
            f"the image has {found.width} x {found.height} pixels, more than {MAX_PIXELS:,} in all",
            url=url,
            remedy="fetch a smaller version of it",
        )
    if found is None and kind in _SIZED:
        raise ExtractionFailed(f"the image is broken: its {_name(kind)} header says no size", url=url, remedy="try another copy of it")
    sent = PictureFacts(kind, found.width if found else 0, found.height if found else 0, len(body))
    named = visible(" ".join(unquote(urlsplit(url).path.rpartition("/")[2]).split()))[0][:100] or "image"
    if kind not in _RECODED:
        return _document(
            url, Picture(sent, b64encode(body).decode(), named), f"{_name(kind)} can't be encoded anew: handed on as it was sent"
        )
    if find_spec("PIL") is None:
        return _document(url, Picture(sent, b64encode(body).decode(), named), _WITHOUT_PILLOW)
    made = child.run("image", body, timeout_s=TIMEOUT_S, media_type=kind, longest=LONGEST_SIDE, most=HANDED_ON_BYTES)
    sent = sent if found else PictureFacts(kind, made["sent"][0], made["sent"][1], len(body))
    padding = made["data"][-2:].count("=")
    facts = PictureFacts(made["mime"], made["width"], made["height"], len(made["data"]) // 4 * 3 - padding)
    return _document(url, Picture(facts, made["data"], named, original=sent), "it moves: this is its first frame" if made["moving"] else "")


def _document(url: str, picture: Picture, warning: str) -> Document:
    sent = picture.original or picture.facts
    said = f"{picture.name}: {_said(sent)}."
    if picture.original and (picture.facts.mime, picture.facts.width) != (sent.mime, sent.width):
        said += f" Handed on as {_said(picture.facts)}."
    return Document(
        url=url, markdown=said, extractor="image", media_type=sent.mime, picture=picture, warnings=(warning,) if warning else ()
    )


def _said(facts: PictureFacts) -> str:
    pixels = f", {facts.width} x {facts.height} pixels" if facts.width else ""
    return f"{_name(facts.mime)} image{pixels}, {facts.bytes:,} bytes"


def _name(kind: str) -> str:
    return _NAMES.get(kind, kind.partition("/")[2].upper())
