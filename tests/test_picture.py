"""An image by its address: what it is, what a page said of it, and the image itself, small and without its file's secrets."""

from __future__ import annotations

import base64
import json
import os
import struct
import subprocess
import sys
import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from io import BytesIO
from pathlib import Path

import pytest
from mcp.client import Client
from PIL import Image

from cormorant import Web
from cormorant.errors import ExtractionFailed, TooLarge, UnsupportedType
from cormorant.extract import document, picture
from cormorant.fetching import Wanted
from cormorant.pictures import Shown
from cormorant.results import Page
from cormorant.surfaces.mcp import server as mcp_server
from support_net import answer, serving
from support_web import LOCAL

WORDS = "taken by Ines on the quay"


def drawn(kind: str, size: tuple[int, int] = (64, 48), mode: str = "RGB", **options: object) -> bytes:
    out = BytesIO()
    Image.linear_gradient("L").resize(size).convert(mode).save(out, kind, **options)
    return out.getvalue()


def photograph(size: tuple[int, int] = (64, 48), *, turned: bool = False) -> bytes:
    exif = Image.Exif()
    exif[0x010E] = WORDS  # ImageDescription
    exif[0x0112] = 6 if turned else 1  # Orientation
    return drawn("JPEG", size, exif=exif, comment=WORDS.encode())


def moving() -> bytes:
    out = BytesIO()
    frames = [Image.new("RGB", (32, 16), colour) for colour in ("red", "green", "blue")]
    frames[0].save(out, "GIF", save_all=True, append_images=frames[1:], duration=100)
    return out.getvalue()


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def bomb(width: int, height: int) -> bytes:
    """A PNG of a few hundred bytes that promises that many pixels."""
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zlib.compress(bytes(100_000))) + chunk(b"IEND", b"")


AVIF_HEADER = b"\x00\x00\x00\x1cftypavif" + bytes(8) + b"ispe" + bytes(4) + struct.pack(">II", 640, 480) + bytes(64)
PNG = drawn("PNG")
SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script>alert(1)</script><text>High water</text></svg>'
PAGE = (
    "<!DOCTYPE html><title>Quay</title><main><h1>Quay</h1><p>The north gate as it stood in May, before the storm took it away.</p>"
    '<img src="/gate.png" alt="The [north] gate at low water"></main>'
)


def sent(body: bytes | str, kind: str) -> bytes:
    return answer(200, body, {"content-type": kind})


PAGES = {
    "/gate.png": sent(PNG, "image/png"),
    "/photo.jpg": sent(photograph((3200, 1600)), "image/jpeg"),
    "/upright.jpg": sent(photograph(turned=True), "image/jpeg"),
    "/moving.gif": sent(moving(), "image/gif"),
    "/quay.webp": sent(drawn("WEBP"), "image/webp"),
    "/quay.avif": sent(drawn("AVIF"), "image/avif"),
    "/scan.tiff": sent(drawn("TIFF"), "image/tiff"),
    "/glass.png": sent(drawn("PNG", mode="LA"), "image/png"),
    "/named%20wrong.png": sent(photograph(), "image/png"),
    "/as-text.png": sent(PNG, "text/plain"),
    "/no-image.png": sent(
        "<!DOCTYPE html><title>Gone</title><main><h1>Gone</h1><p>No such image is here any more.</p></main>", "image/png"
    ),
    "/cut.png": sent(PNG[: len(PNG) // 2], "image/png"),
    "/empty-header.png": sent(b"\x89PNG\r\n\x1a\n" + bytes(64), "image/png"),
    "/only-a-header.avif": sent(AVIF_HEADER, "image/avif"),
    "/bomb.png": sent(bomb(60_000, 60_000), "image/png"),
    "/small-bomb.png": sent(bomb(6_000, 6_000), "image/png"),
    "/drawing.svg": sent(SVG, "image/svg+xml"),
    "/page": sent(PAGE, "text/html"),
    "*": answer(404, "nothing"),
}


@asynccontextmanager
async def opened(**options: object) -> AsyncIterator[tuple[Web, str]]:
    async with serving(PAGES) as site, Web(LOCAL, **options) as web:  # type: ignore[arg-type]
        yield web, site.url("", host="127.0.0.1").rstrip("/")


async def fetched(path: str) -> Page:
    async with opened() as (web, site):
        page = await web.fetch(site + path)
    assert isinstance(page, Page)
    return page


@pytest.mark.parametrize(
    ("path", "kind", "size", "handed_on"),
    [
        pytest.param("/gate.png", "image/png", (64, 48), ("image/png", 64, 48), id="PNG"),
        pytest.param("/photo.jpg", "image/jpeg", (3200, 1600), ("image/jpeg", 1568, 784), id="a large JPEG made smaller"),
        pytest.param("/upright.jpg", "image/jpeg", (48, 64), ("image/jpeg", 48, 64), id="a JPEG turned upright"),
        pytest.param("/moving.gif", "image/gif", (32, 16), ("image/png", 32, 16), id="GIF"),
        pytest.param("/quay.webp", "image/webp", (64, 48), ("image/jpeg", 64, 48), id="WebP"),
        pytest.param("/quay.avif", "image/avif", (64, 48), ("image/jpeg", 64, 48), id="AVIF"),
        pytest.param("/scan.tiff", "image/tiff", (64, 48), ("image/png", 64, 48), id="TIFF"),
        pytest.param("/glass.png", "image/png", (64, 48), ("image/png", 64, 48), id="clear parts stay clear"),
        pytest.param("/named%20wrong.png", "image/jpeg", (64, 48), ("image/jpeg", 64, 48), id="a JPEG that is called PNG"),
        pytest.param("/as-text.png", "image/png", (64, 48), ("image/png", 64, 48), id="a PNG that is called text"),
    ],
)
async def test_an_image_comes_as_it_is_with_its_size(path: str, kind: str, size: tuple[int, int], handed_on: tuple[str, int, int]) -> None:
    page = await fetched(path)
    image = page.image
    assert image is not None
    assert image.original is not None
    assert (page.type, (image.original.width, image.original.height)) == (kind, size)
    assert (image.facts.mime, image.facts.width, image.facts.height, image.facts.bytes) == (*handed_on, len(image.data))
    with Image.open(BytesIO(image.data)) as shown:
        assert (shown.get_format_mimetype(), *shown.size) == handed_on
    assert f"{size[0]} x {size[1]} pixels, {page.bytes:,} bytes" in page.content
    assert page.extract == "image"
    assert page.as_dict()["image"]["data"] == image.base64


@pytest.mark.parametrize("path", ["/photo.jpg", "/upright.jpg"])
async def test_what_a_camera_wrote_into_its_file_is_not_handed_on(path: str) -> None:
    page = await fetched(path)
    assert page.image is not None
    assert WORDS.encode() not in page.image.data
    assert b"Exif" not in page.image.data


@pytest.mark.parametrize(
    ("path", "error", "says"),
    [
        pytest.param("/cut.png", ExtractionFailed, "broken", id="cut in the middle"),
        pytest.param("/empty-header.png", ExtractionFailed, "says no size", id="no header"),
        pytest.param("/only-a-header.avif", ExtractionFailed, "broken", id="an AVIF that is only a header"),
        pytest.param("/bomb.png", TooLarge, "60000 x 60000", id="more pixels than are ever decoded"),
        pytest.param("/small-bomb.png", ExtractionFailed, "broken", id="pixels that are not there"),
    ],
)
async def test_a_broken_or_hostile_image_is_an_error_that_says_so(path: str, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        await fetched(path)


async def test_the_first_frame_of_a_moving_image_is_said_to_be_that() -> None:
    assert (await fetched("/moving.gif")).warnings == ("it moves: this is its first frame",)


async def test_an_error_page_in_an_images_place_is_read_as_the_page_it_is() -> None:
    page = await fetched("/no-image.png")
    assert (page.type, page.image) == ("text/html", None)


async def test_a_drawing_in_svg_is_its_source() -> None:
    page = await fetched("/drawing.svg")
    assert (page.type, page.content, page.image) == ("image/svg+xml", SVG, None)


async def test_what_a_page_of_the_session_said_of_an_image_comes_with_it() -> None:
    async with opened() as (web, site):
        alone = await web.fetch(site + "/photo.jpg")
        await web.fetch(site + "/page")
        page = await web.fetch(site + "/gate.png")
    assert "Shown on" not in alone.content
    assert page.content.endswith(f"Shown on {site}/page as: The [north] gate at low water")


async def test_an_image_is_kept_with_its_result(tmp_path: Path) -> None:
    async with serving(PAGES) as site, Web(LOCAL | {"store": {"path": str(tmp_path / "results")}}) as web:
        page = await web.fetch(site.url("/photo.jpg", host="127.0.0.1"))
        again = await web.get(page.response_id)
    async with Web(LOCAL | {"store": {"path": str(tmp_path / "results")}}) as later:
        after = await later.get(page.response_id)
    assert page.image == again.image == after.image
    assert again.content == page.content
    assert again.as_dict()["image"]["data"] == page.image.base64


async def test_who_reads_text_is_told_that_it_is_an_image() -> None:
    async with opened() as (web, site):
        await web.fetch(site + "/gate.png")
        with pytest.raises(UnsupportedType, match="image/png is an image"):
            await web.fetcher.read(site + "/gate.png", Wanted())
        several = await web.fetch([site + "/gate.png", site + "/page"])
    assert [item.page.image is not None for item in several.items if item.page] == [True, False]


def test_without_pillow_the_image_comes_as_it_was_sent_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(picture, "find_spec", lambda name: None)
    body = photograph()
    page = document(body, url="https://site.example/a.jpg")
    assert page.picture is not None
    assert (page.picture.data, page.picture.original) == (body, None)
    assert "cormorant[images]" in page.warnings[0]


@pytest.mark.parametrize("side", [400, 2000])
async def test_a_client_of_mcp_sees_the_image_or_how_to_get_it(side: int, monkeypatch: pytest.MonkeyPatch) -> None:
    if side == 2000:
        monkeypatch.setattr(picture, "find_spec", lambda name: None)
    noise = BytesIO()
    Image.effect_noise((side, side), 90).save(noise, "PNG")
    pages = {"/noise.png": sent(noise.getvalue(), "image/png")}
    async with serving(pages) as site, Web(LOCAL) as web, Client(mcp_server(web, structured="on")) as client:
        got = await client.call_tool("web_fetch", {"url": site.url("/noise.png", host="127.0.0.1")})
    assert f"PNG image, {side} x {side} pixels" in got.content[0].text
    assert got.structured_content["image"]["data"] is None
    if side == 400:
        assert (got.content[1].type, got.content[1].mime_type) == ("image", "image/png")
        assert base64.b64decode(got.content[1].data).startswith(b"\x89PNG")
    else:
        assert "too many for a message" in got.content[1].text


async def test_the_command_line_saves_the_image(tmp_path: Path) -> None:
    (tmp_path / "gate.png").write_bytes(PNG)
    homes = {name: str(tmp_path) for name in ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME")}
    kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "cormorant", "fetch", "./gate.png", *words]
        return subprocess.run(command, cwd=tmp_path, env=kept | homes, capture_output=True, text=True, timeout=60)

    saved = run("-o", "copy.png")
    assert (saved.returncode, saved.stdout) == (0, "")
    assert "64 x 48 pixels" in saved.stderr
    with Image.open(tmp_path / "copy.png") as shown:
        assert shown.size == (64, 48)
    assert "64 x 48 pixels" in run().stdout
    assert json.loads(run("--json").stdout)["image"]["width"] == 64
    assert run("-o", "no/such/folder.png").returncode == 2


def test_the_session_remembers_the_images_it_met_last() -> None:
    shown = Shown()
    for n in range(6_000):
        shown.note(f"https://a.example/{n}", f"![Gate {n}](https://a.example/{n}.png)")
    assert shown.of("https://a.example/5.png") == ""
    assert shown.of("https://a.example/x.png", "https://a.example/5999.png") == "Shown on https://a.example/5999 as: Gate 5999"
