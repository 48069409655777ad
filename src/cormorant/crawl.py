"""A site from one address: which pages it has (`site_map`), and their texts (`crawl`), both within bounds.

Neither leaves the site it was given (its host, with or without `www.`), and neither fetches but through what is handed
in, so robots.txt, the egress lists and every limit hold as for a single fetch. The order is the site's own: sitemaps as
they stand there, links as they stand on the pages, level by level.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from cormorant import hits
from cormorant.address import Url, parse
from cormorant.document import Link
from cormorant.errors import CormorantError, InvalidArguments
from cormorant.library.gathering import NO_PAGES
from cormorant.library.lists import kind_of, listed, unpacked
from cormorant.search import Reply
from cormorant.store.held import Item

LINKS_MAX = 10_000
LISTS_MAX = 50  # sitemaps read for one map; an index may name fifty thousand (sitemaps.org)
AT_ONCE = 8  # pages of one level asked for together; the fetcher bounds what really runs

Raw = Callable[[str], Awaitable[Reply]]
Read = Callable[[str], Awaitable[Item]]
Told = Callable[[str, int], Awaitable[None]]  # a list or page that was read, and how many addresses are known by now


@dataclass(frozen=True)
class SiteMap:
    """The pages of one site. `title` is what a link called it; `source` whether a sitemap or a link named it."""

    url: str
    links: tuple[dict[str, str], ...] = ()
    sitemaps: tuple[str, ...] = ()
    truncated: bool = False
    not_reached: tuple[dict[str, Any], ...] = ()
    notes: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        return {
            "url": self.url,
            "count": len(self.links),
            "links": [dict(link) for link in self.links],
            "sitemaps": list(self.sitemaps),
            "truncated": self.truncated,
            "not_reached": [dict(gap) for gap in self.not_reached],
            "notes": list(self.notes),
        }

    def as_text(self) -> str:
        """An address a line: what `cormorant fetch -` reads."""
        return "\n".join(link["url"] for link in self.links)


@dataclass(frozen=True)
class Reach:
    """Which pages a crawl takes: how many, how many links deep, and whose path fits one of `include` and none of `exclude`.

    `seconds` is how long it begins new pages.
    """

    pages: int = 20
    depth: int = 2
    seconds: float = 60.0
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()

    def takes(self, url: Url) -> bool:
        path = url.target.partition("?")[0]
        return (not self.include or _fits(path, self.include)) and not _fits(path, self.exclude)


def _fits(path: str, patterns: Sequence[str]) -> bool:
    """Shell patterns on the path: `/docs/*`; one without a star or mark means everything below it."""
    return any(fnmatchcase(path, p if set(p) & set("*?[") else f"{p.rstrip('/')}/*") or path == p.rstrip("/") for p in patterns)


@dataclass
class _Known:
    """Addresses of one site, each once, in the order they were met."""

    start: Url
    links: dict[str, dict[str, str]] = field(default_factory=dict)

    def add(self, href: str, title: str, source: str) -> str:
        """The address as it is kept, empty when it is no page of this site or already there."""
        url = page_of(self.start, href)
        key = hits.same_page(url) if url else ""
        if key in self.links:
            self.links[key]["title"] = self.links[key]["title"] or title
            return ""
        if key:
            self.links[key] = {"url": url, "title": title, "source": source}
        return url


def page_of(start: Url, href: str) -> str:
    """The address without its fragment and tracking, if it may be a page of the same site; else nothing."""
    try:
        url = parse(hits.page_url(href))
    except InvalidArguments:
        return ""
    same = (_site(url.host), url.port) == (_site(start.host), start.port)
    return url.without_fragment if same and not NO_PAGES.search(url.target.partition("?")[0]) else ""


def _site(host: str) -> str:
    return host.removeprefix("www.")


async def site_map(
    start: Url, *, sitemaps: Sequence[str], raw: Raw, read: Read, search: str = "", limit: int = LINKS_MAX, told: Told
) -> SiteMap:
    """The pages that the site's sitemaps and its page at `start` name.

    `sitemaps` are those of robots.txt; without any, /sitemap.xml is tried. Raises: the error of the page at `start` when
    neither it nor any sitemap can be read.
    """
    known = _Known(start)
    missed: list[CormorantError] = []
    opened: list[str] = []
    guessed = not sitemaps
    async for href in _listed(sitemaps or [f"{start.origin}/sitemap.xml"], raw, known, missed, limit):
        opened.append(href)
        await told(href, len(known.links))
    if guessed and not opened:
        missed.clear()  # nobody said there was one
    try:
        page = await read(start.href)
    except CormorantError as error:
        if not known.links:
            raise
        missed.append(error)
    else:
        for link in _links(page):
            known.add(link.href, " ".join(link.text.split()), "link")
        await told(start.href, len(known.links))
    words = search.lower().split()
    wanted = [link for link in known.links.values() if all(word in f"{link['url']} {link['title']}".lower() for word in words)]
    gaps = tuple({"url": error.url, "code": error.code, "reason": error.message, "command": error.remedy} for error in missed)
    return SiteMap(start.href, tuple(wanted[:limit]), tuple(opened), len(wanted) > limit or len(known.links) >= LINKS_MAX, gaps)


async def _listed(places: Sequence[str], raw: Raw, known: _Known, missed: list[CormorantError], limit: int) -> AsyncIterator[str]:
    """Reads sitemaps and the sitemaps they name; yields each that was one."""
    waiting, seen = deque(places), set(places)
    tries = 0
    while waiting and tries < LISTS_MAX and len(known.links) < LINKS_MAX:
        href = waiting.popleft()
        tries += 1
        try:
            reply = await raw(href)
            body = unpacked(reply.body) if reply.status == 200 else b""
        except CormorantError as error:
            missed.append(error)
            continue
        kind = kind_of(href, body)
        if not body or kind == "page":
            continue
        for one in listed(kind, body, reply.url or href):
            if kind != "sitemap index":
                known.add(one.url, "", "sitemap")
            elif one.url not in seen:
                seen.add(one.url)
                waiting.append(one.url)
        yield href


def _links(item: Item) -> tuple[Link, ...]:
    return item.document.links if item.document else ()


async def crawl(start: Url, reach: Reach, *, read: Read, came: Callable[[int, Item], Awaitable[None]]) -> tuple[list[Item], int, str]:
    """The page at `start` and what it leads to; how many known addresses were left unread; and which bound left them.

    A page that can't be read is an item with its error; two addresses of one page are one. `came` hears of each in order.
    Raises: the error of the page at `start`.
    """
    known, ends_at = _Known(start), time.monotonic() + reach.seconds
    known.add(start.href, "", "link")
    items = [await read(start.href)]
    ended = {hits.same_page(items[0].final_url or start.href)}
    await came(0, items[0])
    level, depth, spent = _next(known, items, reach), 1, False

    def bound() -> str:
        passed = {"pages": len(items) >= reach.pages, "seconds": time.monotonic() >= ends_at, "limits": spent, "depth": depth > reach.depth}
        return next((name for name, is_passed in passed.items() if is_passed), "")

    while level and not bound():
        following: list[str] = []
        while level and not bound():
            asked = level[: min(AT_ONCE, reach.pages - len(items))]
            del level[: len(asked)]
            for item in await asyncio.gather(*(_read(url, read) for url in asked)):
                page = hits.same_page(item.final_url or item.url)
                if page in ended:
                    continue
                ended.add(page)
                spent = spent or (item.error or {}).get("code") == "budget_spent"
                await came(len(items), item)
                items.append(item)
                following += _next(known, [item], reach)
        level, depth = level + following, depth + (not level)
    return items, len(level), bound() if level else ""


async def _read(url: str, read: Read) -> Item:
    try:
        return await read(url)
    except CormorantError as error:
        return Item(url=url, error=error.as_dict())


def _next(known: _Known, items: Sequence[Item], reach: Reach) -> list[str]:
    """The pages of the site that these lead to and nobody met before."""
    found = []
    for item in items:
        if item.error is None and page_of(known.start, item.final_url or item.url):  # a page of another site leads nowhere
            met = (known.add(link.href, "", "link") for link in _links(item))
            found += [url for url in met if url and reach.takes(parse(url))]
    return found
