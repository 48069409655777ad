"""A small site on loopback and a `Web` that may reach it, for tests of what stands on `Web`."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from cormorant import Web
from support_canary import CANARY
from support_net import Server, answer, serving

SENTENCE = "The harbour wall was rebuilt in {year} after the storm, and the keeper writes every tide into a bound book. "
GUIDE = (
    "<html lang=en><head><title>Tide guide</title></head><body><main><h1>Tide guide</h1><p>"
    + SENTENCE.format(year=1974)
    + "</p><h2>Install</h2><p>Run the installer, then restart the gauge.</p><h2>History</h2>"
    + "".join(f"<p>{SENTENCE.format(year=1900 + n)}</p>" for n in range(60))
    + '<p><a href="/old">The old page</a></p></main></body></html>'
)
HTML = {"content-type": "text/html; charset=utf-8"}
PAGES = {
    "/guide": answer(200, GUIDE, HTML | {"link": '</llms.txt>; rel="llms-txt", </guide.md>; rel=alternate; type=text/markdown'}),
    "/old": answer(301, headers={"location": "/guide"}),
    "/robots.txt": answer(200, "User-agent: *\nDisallow: /secret\nContent-Signal: search=yes, ai-train=no", {"content-type": "text/plain"}),
    "/secret": answer(200, GUIDE, HTML),
    "/gone": answer(410, "gone", HTML),
    "/soft": answer(200, "<title>404 Page not found</title><h1>Page not found</h1><p>Sorry, this page does not exist.</p>", HTML),
    "/cat.png": answer(200, b"\x89PNG\r\n\x1a\n" + b"\0" * 64, {"content-type": "image/png"}),
    "/note.txt": answer(200, "High water at six.", {"content-type": "text/plain"}),
    "/refresh": answer(200, '<meta content="0; url=/guide" http-equiv="refresh"><p>moved</p>', HTML),
    "/inside": answer(302, headers={"location": "http://10.0.0.7/"}),
    "*": answer(404, "nothing here", HTML),
}
LOCAL = {
    "egress": {"allow_ranges": ["127.0.0.0/8"]},
    "store": {"path": "memory"},
    "search": {"keyless": False},
    "keys": {"COHERE_API_KEY": CANARY},
}


@asynccontextmanager
async def opened(tmp_path: Path, **options) -> AsyncIterator[tuple[Web, Server, str]]:
    settings = (
        LOCAL
        | {"library": {"path": str(tmp_path / "library.db")}, "store": {"path": str(tmp_path / "results")}}
        | options.pop("settings", {})
    )
    async with serving(PAGES) as server, Web(settings, **options) as web:
        yield web, server, server.url("", host="127.0.0.1").rstrip("/")


async def index(web: Web, folder: Path) -> None:
    folder.mkdir()
    (folder / "tides.html").write_text(GUIDE)
    (folder / "boats.html").write_text(
        "<title>Boats</title><main><h1>Boats</h1><p>A dinghy is a small boat that is rowed or sailed. Varnish it every spring.</p></main>"
    )
    async for _ in web.index(str(folder)):
        pass
