"""A site mapped and crawled: its sitemaps and links, in the site's order, within the bounds, and never beyond the site."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from cormorant import Web, errors
from cormorant.address import parse
from cormorant.crawl import Reach, page_of
from cormorant.events import Event
from support_net import Server, answer, serving
from support_web import LOCAL

pytestmark = pytest.mark.anyio
HTML = {"content-type": "text/html"}


def page(title: str, *links: str) -> bytes:
    listed = "".join(f'<li><a href="{href}">To {href}</a></li>' for href in links)
    text = f"<p>The keeper of {title} writes every tide into a bound book, and has done so since the storm.</p>" * 3
    return answer(200, f"<title>{title}</title><main><h1>{title}</h1>{text}<ul>{listed}</ul></main>", HTML)


def sitemap(*urls: str, kind: str = "urlset", entry: str = "url") -> bytes:
    body = f"<{kind}>" + "".join(f"<{entry}><loc>{url}</loc></{entry}>" for url in urls) + f"</{kind}>"
    return answer(200, body, {"content-type": "application/xml"})


SITE = {
    "/": page(
        "Home", "/guide", "/guide#install", "/log/1", "/picture.png", "https://elsewhere.example/", "/hidden/a", "mailto:a@b.example"
    ),
    "/guide": page("Guide", "/guide/install", "/", "/moved"),
    "/guide/install": page("Install", "/guide/deep"),
    "/guide/deep": page("Deep"),
    "/log/1": page("Log 1", "/log/2", "/gone"),
    "/log/2": page("Log 2", "/log/3"),
    "/log/3": page("Log 3"),
    "/hidden/a": page("Hidden"),
    "/moved": answer(301, headers={"location": "/guide"}),
    "/robots.txt": answer(200, "User-agent: *\nDisallow: /hidden/", {"content-type": "text/plain"}),
    "*": answer(404, "no", HTML),
}


@asynccontextmanager
async def at(pages: dict[str, bytes]) -> AsyncIterator[tuple[Web, Server, str]]:
    async with serving(pages) as server, Web(LOCAL) as web:
        yield web, server, server.url("", host="127.0.0.1").rstrip("/")


def paths(base: str, found: Any) -> list[str]:
    return [link["url"].removeprefix(base) for link in found.links]


async def test_without_a_sitemap_the_links_of_the_page_are_the_map() -> None:
    async with at(SITE) as (web, _, base):
        found = await web.map(base + "/")
        assert paths(base, found) == ["/guide", "/log/1", "/hidden/a"]
        assert found.links[0] == {"url": base + "/guide", "title": "To /guide", "source": "link"}
        assert found.sitemaps == ()
        assert found.not_reached == ()
        assert found.as_text() == "\n".join(base + path for path in paths(base, found))
        assert paths(base, await web.map(base + "/", search="LOG to")) == ["/log/1"]
        short = await web.map(base + "/", limit=1)
        assert (paths(base, short), short.truncated) == (["/guide"], True)


async def test_sitemaps_of_robots_txt_come_first_and_indexes_are_opened() -> None:
    told: list[dict[str, Any]] = []

    async def hear(event: Event) -> None:
        told.append(event.data)

    pages = dict(SITE)
    async with serving(pages) as server, Web(LOCAL) as web:
        base = server.url("", host="127.0.0.1").rstrip("/")
        pages["/robots.txt"] = answer(200, f"User-agent: *\nDisallow: /hidden/\nSitemap: {base}/index.xml\nSitemap: {base}/broken.xml")
        pages["/index.xml"] = sitemap(f"{base}/one.xml", f"{base}/index.xml", kind="sitemapindex", entry="sitemap")
        pages["/one.xml"] = sitemap(f"{base}/guide", f"{base}/old?b=2&amp;a=1", "https://elsewhere.example/x", f"{base}/old?a=1&amp;b=2")
        found = await web.map(base + "/", emit=hear)
        assert paths(base, found) == ["/guide", "/old?b=2&a=1", "/log/1", "/hidden/a"]
        assert [link["source"] for link in found.links] == ["sitemap", "sitemap", "link", "link"]
        assert found.links[0]["title"] == "To /guide"  # a sitemap has no titles; the link to the same page has
        assert [place.removeprefix(base) for place in found.sitemaps] == ["/index.xml", "/one.xml"]
        assert [event["url"].removeprefix(base) for event in told] == ["/index.xml", "/one.xml", "/"]
        assert server.targets.count("/index.xml") == 1


async def test_a_page_that_cannot_be_read_is_said_where_a_sitemap_still_answers() -> None:
    async with serving(dict(SITE)) as server, Web(LOCAL) as web:
        base = server.url("", host="127.0.0.1").rstrip("/")
        with pytest.raises(errors.HttpError):
            await web.map(base + "/nowhere")
    pages = dict(SITE)
    async with serving(pages) as server, Web(LOCAL) as web:
        base = server.url("", host="127.0.0.1").rstrip("/")
        pages["/sitemap.xml"] = sitemap(f"{base}/guide")
        found = await web.map(base + "/nowhere")
        assert paths(base, found) == ["/guide"]
        assert [gap["code"] for gap in found.not_reached] == ["http_error"]


async def test_a_crawl_goes_level_by_level_and_says_what_was_in_the_way() -> None:
    heard: list[tuple[str, bool]] = []

    async def hear(event: Event) -> None:
        heard.append((event.data["url"], event.data["ok"]))

    async with at(SITE) as (web, server, base):
        found = await web.crawl(base + "/", emit=hear)
        read = {item.url.removeprefix(base): item.page.title if item.page else item.error.code for item in found.items}
        assert read == {
            "/": "Home",
            "/guide": "Guide",
            "/log/1": "Log 1",
            "/hidden/a": "robots",
            "/guide/install": "Install",
            "/log/2": "Log 2",
            "/gone": "http_error",
        }  # /moved leads to /guide, which was read already
        assert heard == [(base + path, title not in ("robots", "http_error")) for path, title in read.items()]
        assert "2 more pages are known, depth ended the crawl" in found.note
        assert "/hidden/a" not in server.targets
        assert found.items[1].page.content == ""
        assert found.items[1].tokens > 20
        stored = await web.get(found.response_id, url=base + "/guide")
        assert "The keeper of Guide" in stored.content


async def test_the_texts_of_a_crawl_share_a_budget() -> None:
    async with at(SITE) as (web, _, base):
        found = await web.crawl(base + "/", budget=3_000, exclude=["/hidden"])
        assert all("keeper" in item.page.content for item in found.items if item.page)
        assert sum(item.tokens for item in found.items) <= 3_000


@pytest.mark.parametrize(
    ("bounds", "read"),
    [
        pytest.param({"pages": 1}, ["/"], id="one page"),
        pytest.param({"pages": 3}, ["/", "/guide", "/log/1"], id="three pages"),
        pytest.param({"depth": 0}, ["/"], id="no links"),
        pytest.param({"depth": 1}, ["/", "/guide", "/log/1", "/hidden/a"], id="one link"),
        pytest.param({"include": ["/log"], "depth": 9}, ["/", "/log/1", "/log/2", "/log/3"], id="one part"),
        pytest.param({"include": ["/log/[12]"], "depth": 9}, ["/", "/log/1", "/log/2"], id="by pattern"),
        pytest.param({"exclude": ["/log/*", "/hidden/*", "/gone"], "depth": 1}, ["/", "/guide"], id="all but"),
        pytest.param({"seconds": 0}, ["/"], id="no time"),
    ],
)
async def test_what_bounds_a_crawl(bounds, read) -> None:
    async with at(SITE) as (web, _, base):
        found = await web.crawl(base + "/", **bounds)
        assert [item.url.removeprefix(base) for item in found.items] == read


async def test_a_spent_limit_ends_a_crawl_with_what_there_is() -> None:
    async with serving(SITE) as server, Web(LOCAL | {"limits": {"requests": 3}}) as web:
        base = server.url("", host="127.0.0.1").rstrip("/")
        found = await web.crawl(base + "/")
        assert found.items[0].page is not None
        assert "budget_spent" in [item.error.code for item in found.items if item.error]
        assert "limits ended the crawl" in found.note


@pytest.mark.parametrize(
    ("href", "kept"),
    [
        ("https://www.a.example/x#y", "https://www.a.example/x"),
        ("https://a.example/x?utm_source=y", "https://a.example/x"),
        ("https://b.a.example/x", ""),
        ("https://a.example:8443/x", ""),
        ("https://a.example/x.png?v=1", ""),
        ("https://user:pw@a.example/x", ""),
        ("javascript:alert(1)", ""),
        ("//", ""),
    ],
)
def test_what_is_a_page_of_the_site(href: str, kept: str) -> None:
    assert page_of(parse("https://a.example/"), href) == kept


def test_a_reach_reads_patterns_of_paths() -> None:
    reach = Reach(include=("/docs/*",), exclude=("/docs/old",))
    taken = {
        path: reach.takes(parse(f"https://a.example{path}")) for path in ("/docs/a", "/docs/old", "/docs/old/b", "/blog", "/docs/a?q=1")
    }
    assert taken == {"/docs/a": True, "/docs/old": False, "/docs/old/b": False, "/blog": False, "/docs/a?q=1": True}
