"""Bringing documents in: folders, pages, sitemaps, feeds, llms.txt; again and again, and when things go wrong."""

from __future__ import annotations

import gzip
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cormorant.errors import HttpError, InvalidArguments, Network, Robots, TooLarge
from cormorant.library import Library, Limits, Progress, gather
from cormorant.library.lists import kind_of, listed, unpacked
from cormorant.library.reader import Job, readers
from cormorant.search import Reply

pytestmark = pytest.mark.anyio
LOREM = "Words about harbours, tides and boats fill this page so that it is worth keeping. " * 6


def html(title: str, body: str, links: str = "") -> str:
    return f"<!doctype html><title>{title}</title><main><h1>{title}</h1><p>{body}</p><p>{LOREM}</p>{links}</main>"


@pytest.fixture
def library(tmp_path: Path):
    with Library(tmp_path / "library.sqlite") as library:
        yield library


async def run(library: Library, source: Any, **more: Any) -> tuple[Progress, list[Progress]]:
    steps = [step async for step in gather(library, str(source), **more)]
    return steps[-1], steps[:-1]


def urls(library: Library) -> list[str]:
    return [held.url for held in library.documents()]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "docs"
    (root / "sub").mkdir(parents=True)
    (root / ".git").mkdir()
    (root / "node_modules").mkdir()
    (root / "a.html").write_text(html("Tides", "Low water at Harlow is at noon."))
    (root / "sub" / "b.md").write_text("# Bread\n\nKnead the dough for ten minutes.")
    (root / "c.txt").write_text("The lighthouse keeper left at dawn.")
    (root / "empty.txt").write_text("")
    (root / "picture.png").write_bytes(b"\x89PNG")
    (root / ".hidden.md").write_text("secret harbour")
    (root / ".git" / "d.md").write_text("secret harbour")
    (root / "node_modules" / "e.md").write_text("secret harbour")
    return root


async def test_a_folder_is_read_and_what_is_not_for_reading_is_left(library, folder):
    last, steps = await run(library, folder)
    assert (last.added, last.failed, last.total, last.finished) == (3, 1, 4, True)
    assert urls(library) == [(folder / name).as_uri() for name in ("a.html", "c.txt", "sub/b.md")]
    assert [step.done for step in steps] == [1, 2, 3, 4]
    assert [(Path(s.url).name, s.error.code) for s in steps if s.error] == [("empty.txt", "empty_page")]
    assert library.search("low water harlow").hits[0].title == "Tides"
    assert library.search("secret harbour").hits == () or "secret" not in library.search("secret harbour").hits[0].snippet
    assert library.sources() == [
        {"collection": "default", "place": str(folder), "kind": "files", "documents": 3, "finished_at": library.sources()[0]["finished_at"]}
    ]


async def test_the_second_time_only_what_changed_is_read(library, folder):
    await run(library, folder)
    (folder / "a.html").write_text(html("Tides", "Low water at Harlow is at midnight, they say."))
    (folder / "new.md").write_text("# New\n\nA page about zeppelins.")
    (folder / "c.txt").unlink()
    last, _ = await run(library, folder)
    assert (last.added, last.updated, last.unchanged, last.removed) == (1, 1, 1, 1)
    assert "midnight" in library.search("low water harlow").hits[0].snippet
    assert library.search("lighthouse keeper").hits == ()


async def test_a_file_that_can_not_be_read_today_has_not_vanished(library, folder):
    await run(library, folder)
    (folder / "c.txt").write_text("   ")
    last, _ = await run(library, folder)
    assert (last.failed, last.removed) == (2, 0)
    assert library.search("lighthouse keeper").hits


async def test_one_file_and_a_file_address_are_places_too(library, folder):
    assert (await run(library, folder / "a.html"))[0].added == 1
    assert (await run(library, (folder / "sub" / "b.md").as_uri()))[0].added == 1
    assert len(urls(library)) == 2


async def test_a_run_that_stopped_at_a_limit_removes_nothing(library, folder):
    await run(library, folder)
    last, _ = await run(library, folder, limits=Limits(pages=1))
    assert (last.unchanged, last.removed) == (1, 0)


@pytest.mark.parametrize(
    ("source", "says"), [("no/such/place", "no file or folder"), ("docs.example.org/guide", "https://docs.example.org/guide")]
)
async def test_a_place_that_is_none_is_named(library, source, says):
    with pytest.raises(InvalidArguments) as caught:
        await run(library, source)
    assert says in f"{caught.value.message} {caught.value.remedy}"


async def test_built_documentation_is_read_without_its_own_index_pages(library, tmp_path):
    root = tmp_path / "html"
    for name in ("index.html", "genindex.html", "genindex-A.html", "search.html", "_sources/index.rst.txt", "objects.inv"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(html(name, "text"))
    await run(library, root)
    assert urls(library) == [(root / "index.html").as_uri()]


class Site:
    """Pages by path; each visit is noted."""

    def __init__(self, **pages: Any) -> None:
        self.pages: dict[str, Any] = pages
        self.visits: list[tuple[str, dict[str, str]]] = []

    async def __call__(self, method: str, url: str, *, headers=None, **_: Any) -> Reply:
        self.visits.append((url, dict(headers or {})))
        path = url.removeprefix("https://site.example") or "/"
        page = self.pages.get(path, (404, {}, "not found"))
        if isinstance(page, Exception):
            raise page
        status, given, body = page if isinstance(page, tuple) else (200, {}, page)
        if given.get("etag") and (headers or {}).get("If-None-Match") == given["etag"]:
            status, body = 304, ""
        kind = "text/html" if isinstance(body, str) else "application/octet-stream"
        return Reply(status, {"content-type": kind, **given}, body.encode() if isinstance(body, str) else body, given.get("url", url))

    def asked(self) -> list[str]:
        return [url.removeprefix("https://site.example") for url, _ in self.visits]


def site(**more: Any) -> Site:
    links = "".join(
        f'<a href="{href}">link</a> ' for href in ("/one", "two#part", "https://other.example/x", "/pic.png", "/one?utm_source=a")
    )
    return Site(**{
        "/": html("Home", "Welcome to the harbour.", links),
        "/one": html("One", "About pilot boats.", '<a href="/deep">d</a>'),
        "/two": html("Two", "About lighthouses."),
        "/deep": html("Deep", "About deep water."),
        **more,
    })  # fmt: skip


@pytest.mark.parametrize(
    ("depth", "found"),
    [(0, ["/"]), (1, ["/", "/one", "/two"]), (2, ["/", "/deep", "/one", "/two"])],
    ids=["the page", "its links", "their links"],
)
async def test_a_page_and_what_it_links_to_on_its_host(library, depth, found):
    pages = site()
    last, _ = await run(library, "https://site.example/", fetch=pages, limits=Limits(depth=depth))
    assert [url.removeprefix("https://site.example") for url in urls(library)] == found
    assert last.added == len(found)
    assert sorted(pages.asked()) == found, "each page is asked once, others never"


async def test_pages_are_bounded(library):
    last, _ = await run(library, "https://site.example/", fetch=site(), limits=Limits(depth=9, pages=2))
    assert (last.added, len(urls(library))) == (2, 2)


SITEMAP = """<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
<url><loc>https://site.example/one</loc><lastmod>2020-01-01</lastmod></url><url><loc> https://site.example/two </loc></url>
<url><loc>https://site.example/gone</loc></url></urlset>"""
INDEX = (
    """<sitemapindex><sitemap><loc>https://site.example/a.xml.gz</loc></sitemap><sitemap><loc>/missing.xml</loc></sitemap></sitemapindex>"""
)
RSS = """<rss><channel><link>https://site.example/</link><item><title>1</title><link>https://site.example/one</link></item>
<item><guid>https://site.example/two</guid></item><item><guid isPermaLink="false">urn:x</guid></item></channel></rss>"""
ATOM = """<feed><link rel="self" href="/feed"/><entry><link rel="edit" href="/e"/><link rel="alternate" href="/one"/></entry></feed>"""
LLMS = "# Site\n\n> About.\n\n## Docs\n\n- [One](/one): first\n- [Two](https://site.example/two)\n"


@pytest.mark.parametrize(
    ("path", "body", "found", "complete"),
    [
        pytest.param("/sitemap.xml", SITEMAP, ["/one", "/two"], True, id="sitemap"),
        pytest.param("/sitemap.xml.gz", gzip.compress(SITEMAP.encode()), ["/one", "/two"], True, id="gzip"),
        pytest.param("/sitemap_index.xml", INDEX, ["/one", "/two"], False, id="index with a missing part"),
        pytest.param("/sitemap.txt", "https://site.example/one\nhttps://site.example/two\n", ["/one", "/two"], True, id="plain sitemap"),
        pytest.param("/feed", RSS, ["/one", "/two"], False, id="rss"),
        pytest.param("/atom", ATOM, ["/one"], False, id="atom"),
        pytest.param("/llms.txt", LLMS, ["/one", "/two"], True, id="llms.txt"),
    ],
)
async def test_lists_of_pages(library, path, body, found, complete):
    pages = site(**{path: body, "/a.xml.gz": gzip.compress(SITEMAP.encode())})
    last, _ = await run(library, f"https://site.example{path}", fetch=pages)
    assert [url.removeprefix("https://site.example") for url in urls(library)] == found
    assert last.added == len(found)
    pages.pages["/one"] = (404, {}, "gone")
    library.db.execute("UPDATE docs SET added_at = '2019-01-01'")
    last, _ = await run(library, f"https://site.example{path}", fetch=pages)
    assert last.removed == (1 if complete else 0), "what vanished goes, once a run saw everything"


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/feed", RSS.replace("<title>1</title>", "<title>1</title><pubDate>Mon, 02 Nov 2026 10:00:00 GMT</pubDate>")),
        ("/rdf", "<rdf:RDF><item><link>/one</link><dc:date>2026-11-02T10:00:00Z</dc:date></item></rdf:RDF>"),
        ("/atom", ATOM.replace("<entry>", "<entry><updated>2026-11-20T00:00:00Z</updated><published>2026-11-02</published>")),
    ],
    ids=["rss", "rdf", "atom"],
)
async def test_a_page_without_a_date_has_that_of_its_feed(library, path, body):
    await run(library, f"https://site.example{path}", fetch=site(**{path: body}))
    assert library.held("https://site.example/one").published[:10] == "2026-11-02"


async def test_what_the_sitemap_says_is_old_is_not_asked_again(library):
    pages = site(**{"/sitemap.xml": SITEMAP})
    await run(library, "https://site.example/sitemap.xml", fetch=pages)
    pages.visits.clear()
    last, _ = await run(library, "https://site.example/sitemap.xml", fetch=pages)
    assert "/one" not in pages.asked()
    assert last.unchanged == 2


async def test_a_page_with_an_etag_is_asked_conditionally(library):
    pages = site(**{"/one": (200, {"etag": '"v1"'}, html("One", "About pilot boats."))})
    await run(library, "https://site.example/one", fetch=pages)
    assert library.held("https://site.example/one").etag == '"v1"'
    pages.pages["/llms.txt"] = "- [One](/one)"
    pages.visits.clear()
    last, _ = await run(library, "https://site.example/llms.txt", fetch=pages)
    assert dict(pages.visits)["https://site.example/one"] == {"If-None-Match": '"v1"'}
    assert (last.unchanged, last.failed) == (1, 0)


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        pytest.param((500, {}, "broken"), "http_error", id="status"),
        pytest.param(Network("could not connect"), "network", id="network"),
        pytest.param(Robots("robots.txt says no"), "robots", id="robots"),
        pytest.param((200, {"content-type": "application/octet-stream"}, b"\0\1\2\3" * 99), "unsupported_type", id="no document"),
    ],
)
async def test_a_page_that_fails_is_said_fails_no_other_and_stays(library, answer, code):
    pages = site(**{"/llms.txt": LLMS})
    await run(library, "https://site.example/llms.txt", fetch=pages)
    pages.pages["/one"] = answer
    last, steps = await run(library, "https://site.example/llms.txt", fetch=pages)
    assert [s.error.code for s in steps if s.error] == [code]
    assert (last.failed, last.removed, len(urls(library))) == (1, 0, 2)


@pytest.mark.parametrize(("answer", "error"), [((404, {}, ""), HttpError), (Network("no"), Network)])
async def test_a_place_that_can_not_be_had_is_an_error(library, answer, error):
    with pytest.raises(error):
        await run(library, "https://site.example/", fetch=Site(**{"/": answer}))


async def test_a_redirected_page_is_held_under_its_final_address(library):
    await run(library, "https://site.example/old", fetch=site(**{"/old": (200, {"url": "https://site.example/new"}, html("New", "text"))}))
    assert urls(library) == ["https://site.example/new"]


def test_a_gzip_bomb_is_refused():
    with pytest.raises(TooLarge):
        unpacked(gzip.compress(b"a" * 60 * 1024**2))


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"<?xml version='1.0'?><!-- x --><sitemapindex>", "sitemap index"),
        (b"<ns:urlset xmlns:ns='x'>", "sitemap"),
        (b"<rss version='2.0'>", "feed"),
        (b"<feed xmlns='http://www.w3.org/2005/Atom'>", "feed"),
        (b"<!doctype html><p>urlset</p>", "page"),
    ],
)
def test_what_a_place_is_shows_in_its_first_bytes(body, kind):
    assert kind_of("https://x.example/y", body) == kind


def test_a_broken_sitemap_gives_what_can_be_read():
    text = (
        "<urlset><url><loc><![CDATA[https://x.example/a?b=1&c=2]]></loc></url><url><loc>https://x.example/d&amp;e</loc></url>"
        "<url><loc>nonsense</loc></url><url><loc>javascript:1</loc>"
    )
    assert [page.url for page in listed("sitemap", text.encode(), "https://x.example/")] == [
        "https://x.example/a?b=1&c=2",
        "https://x.example/d&e",
        "https://x.example/nonsense",
    ]


async def test_a_child_that_dies_costs_one_document():
    async with readers(1) as pool:
        await pool.read(Job("https://x.example/", "text/plain", body=b"one"))
        os.kill(pool._idle[0].pid, signal.SIGKILL)
        failed = await pool.read(Job("https://x.example/", "text/plain", body=b"two"))
        good = await pool.read(Job("https://x.example/", "text/plain", body=b"three"))
    assert failed.code == "extraction_failed"
    assert good.markdown == "three"


GATHER = """
import anyio, sys
from cormorant.library import Library, gather
async def main():
    async for step in gather(Library(sys.argv[1]), sys.argv[2]):
        print(step.url, flush=True)
anyio.run(main)
"""


def test_stopped_in_the_middle_what_was_said_is_there(tmp_path):
    root = tmp_path / "docs"
    root.mkdir()
    for n in range(120):
        (root / f"{n:03}.md").write_text(f"# Page {n}\n\n{LOREM}")
    process = subprocess.Popen([sys.executable, "-c", GATHER, str(tmp_path / "l.sqlite"), str(root)], stdout=subprocess.PIPE, text=True)
    said = [process.stdout.readline().strip() for _ in range(40)]
    process.kill()
    process.stdout.close()
    process.wait(30)
    with Library(tmp_path / "l.sqlite") as library:
        assert set(said) <= set(urls(library))
        assert library.db.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
