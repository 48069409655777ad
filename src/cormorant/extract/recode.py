"""An image encoded anew, smaller and without what a camera or an editor wrote into it. Runs in the child process alone.

Needs Pillow (extra `images`). Only the decoder of the kind that the first bytes name is let near the bytes.
"""

from __future__ import annotations

from base64 import b64encode
from io import BytesIO
from typing import Any

from PIL import Image, ImageOps, UnidentifiedImageError

from cormorant.errors import ExtractionFailed, TooLarge
from cormorant.extract.image import MAX_PIXELS

FORMATS = {  # what Pillow calls the kinds that it reads
    "image/png": "PNG",
    "image/jpeg": "JPEG",
    "image/gif": "GIF",
    "image/webp": "WEBP",
    "image/bmp": "BMP",
    "image/avif": "AVIF",
    "image/tiff": "TIFF",
    "image/x-icon": "ICO",
}
_SMALLER = (1.0, 0.65, 0.45, 0.3)  # of the longest side, until the bytes fit
_QUALITIES = (85, 70)


def parse(body: bytes, *, media_type: str, longest: int, most: int) -> dict[str, Any]:
    """The image with its longest side at most `longest` pixels and, where that can be had, at most `most` bytes.

    Raises: TooLarge for more pixels than are decoded, ExtractionFailed for an image that can't be read.
    """
    Image.MAX_IMAGE_PIXELS = MAX_PIXELS
    try:
        with Image.open(BytesIO(body), formats=[FORMATS[media_type]]) as opened:
            size = opened.size
            if size[0] * size[1] > MAX_PIXELS:
                raise TooLarge(f"the image has {size[0]} x {size[1]} pixels, more than {MAX_PIXELS:,} in all")
            moving = bool(getattr(opened, "is_animated", False))
            opened.draft("RGB", (longest, longest))  # a JPEG is then decoded at a fraction of its size
            opened.load()
            shown = ImageOps.exif_transpose(opened)
    except (UnidentifiedImageError, Image.DecompressionBombError, OSError, SyntaxError, ValueError, EOFError) as error:
        raise ExtractionFailed(f"the image is broken: {str(error)[:200]}", remedy="try another copy of it") from error
    mime, width, height, data = _fitting(shown, photo=media_type in ("image/jpeg", "image/avif", "image/webp"), longest=longest, most=most)
    return {"mime": mime, "width": width, "height": height, "data": b64encode(data).decode(), "sent": size, "moving": moving}


def _fitting(image: Image.Image, *, photo: bool, longest: int, most: int) -> tuple[str, int, int, bytes]:
    """PNG where the image has clear parts or was drawn, JPEG for a photograph and for what is too big otherwise."""
    clear = _has_clear_parts(image)
    image = image.convert("RGBA" if clear else "L" if image.mode in ("1", "L") else "RGB")
    image.info.clear()  # profiles and comments would be written again
    data = b""
    for share in _SMALLER:
        sized = _within(image, round(longest * share))
        if clear or (not photo and share == 1.0):  # what is too big as PNG was no drawing
            data = _encoded(sized, "PNG")
            if len(data) <= most:
                return "image/png", *sized.size, data
        flat = _on_white(sized) if clear else sized
        for quality in _QUALITIES:
            data = _encoded(flat, "JPEG", quality=quality)
            if len(data) <= most:
                return "image/jpeg", *flat.size, data
    return "image/jpeg", *flat.size, data


def _has_clear_parts(image: Image.Image) -> bool:
    if "A" not in image.getbands() and "transparency" not in image.info:
        return False
    return any(image.convert("RGBA").getchannel("A").histogram()[:255])


def _within(image: Image.Image, longest: int) -> Image.Image:
    if max(image.size) <= longest:
        return image
    sized = image.copy()
    sized.thumbnail((longest, longest), Image.Resampling.LANCZOS)
    return sized


def _on_white(image: Image.Image) -> Image.Image:
    ground = Image.new("RGB", image.size, "white")
    ground.paste(image, mask=image.getchannel("A"))
    return ground


def _encoded(image: Image.Image, kind: str, **options: Any) -> bytes:
    out = BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()
