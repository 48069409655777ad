"""The size of a picture by its first bytes."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cormorant.extract.image import Size, size

JFIF = b"\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00"
FRAME = b"\xff\xc0\x00\x11\x08" + struct.pack(">HH", 480, 640) + bytes(12)
TURNED = b"\xff\xe1\x00\x22Exif\x00\x00MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00\x06\x00\x00" + bytes(4)


@pytest.mark.parametrize(
    ("body", "found"),
    [
        pytest.param(b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + struct.pack(">II", 800, 600), Size("image/png", 800, 600), id="PNG"),
        pytest.param(b"GIF89a" + struct.pack("<HH", 32, 16), Size("image/gif", 32, 16), id="GIF"),
        pytest.param(JFIF + FRAME, Size("image/jpeg", 640, 480), id="JPEG"),
        pytest.param(b"\xff\xd8" + TURNED + FRAME, Size("image/jpeg", 480, 640), id="JPEG held upright"),
        pytest.param(
            b"RIFF....WEBPVP8 " + bytes(7) + b"\x9d\x01\x2a" + struct.pack("<HH", 320, 200), Size("image/webp", 320, 200), id="WebP"
        ),
        pytest.param(
            b"RIFF....WEBPVP8L" + bytes(4) + b"\x2f" + (319 | 199 << 14).to_bytes(4, "little"),
            Size("image/webp", 320, 200),
            id="WebP lossless",
        ),
        pytest.param(
            b"RIFF....WEBPVP8X" + bytes(8) + (319).to_bytes(3, "little") + (199).to_bytes(3, "little"),
            Size("image/webp", 320, 200),
            id="WebP extended",
        ),
        pytest.param(b"BM" + bytes(16) + struct.pack("<ii", 10, -20), Size("image/bmp", 10, 20), id="BMP from the top"),
        pytest.param(
            b"\x00\x00\x00\x1cftypavif" + bytes(8) + b"ispe" + bytes(4) + struct.pack(">II", 64, 48), Size("image/avif", 64, 48), id="AVIF"
        ),
        pytest.param(b'<svg xmlns="x" width="120" height="1in"/>', Size("image/svg+xml", 120, 96), id="SVG"),
        pytest.param(b'<?xml version="1.0"?><svg viewBox="0 0 40 20"/>', Size("image/svg+xml", 40, 20), id="SVG by its box"),
        pytest.param(b'<svg width="200" viewBox="0 0 40 20"/>', Size("image/svg+xml", 200, 100), id="SVG by width and box"),
        pytest.param(b'<svg width="100%" height="100%"/>', Size("image/svg+xml", 300, 150), id="SVG without a size"),
        pytest.param(b"\x89PNG\r\n\x1a\n\x00", None, id="cut"),
        pytest.param(b"words", None, id="no picture"),
        pytest.param(b"a page about <svg width='1' height='1'>", None, id="a text about SVG"),
        pytest.param(b"", None, id="empty"),
    ],
)
def test_size(body: bytes, found: Size | None) -> None:
    assert size(body) == found


@given(
    st.sampled_from([b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff\xe1", b"GIF89a", b"RIFF....WEBPVP8X", b"BM", b"....ftypavif", b"<svg "]),
    st.binary(max_size=200),
)
def test_no_bytes_make_it_fail(head: bytes, rest: bytes) -> None:
    size(head + rest)
