"""Pages fetched once: within a session by what was asked, across sessions by what HTTP allows."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
import stat
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest

import support_hold
from cormorant import errors
from cormorant.address import parse
from cormorant.cache import Got, HttpCache, SessionCache
from cormorant.cache.freshness import Response, Wish, directives
from cormorant.store import DirectoryStore
from cormorant.store.held import Item


def session(**options: Any) -> SessionCache[Item]:
    return SessionCache(final_url=lambda item: item.final_url, size=lambda item: len(item.text), **options)


@dataclass
class Site:
    """Serves one text per address, counts, and redirects where told."""

    texts: dict[str, str] = field(default_factory=dict)
    redirects: dict[str, str] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    fails: bool = False

    def __post_init__(self) -> None:
        self.gate.set()

    async def get(self, url: str) -> Item:
        self.asked.append(url)
        await self.gate.wait()
        if self.fails:
            raise errors.HttpError("HTTP 503", status=503)
        final = self.redirects.get(url, url)
        return Item(url=url, final_url=final, text=self.texts.get(final, f"at {final}"))


async def read(cache: SessionCache[Item], site: Site, url: str, **options: Any) -> tuple[str, bool]:
    item, cached = await cache.fetch(parse(url), lambda: site.get(url), **options)
    return item.text, cached


A, B, C = "https://a.example/p", "https://b.example/q", "https://c.example/r"


# The session's cache


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("first", "second", "shared"),
    [
        pytest.param(A, A, True, id="the same"),
        pytest.param(A, A + "#part", True, id="fragments are one page"),
        pytest.param(A + "#x", A + "#y", True, id="two fragments"),
        pytest.param(A, "HTTPS://A.EXAMPLE:443/p", True, id="scheme, host and default port in another spelling"),
        pytest.param(A, "https://a.example/P", False, id="paths keep their case"),
        pytest.param(A + "?id=1", A + "?id=2", False, id="queries differ"),
        pytest.param(A + "?q=x", A + "?q=X", False, id="queries keep their case"),
        pytest.param(A, A + "/", False, id="a slash more"),
        pytest.param(A, "http://a.example/p", False, id="another scheme"),
        pytest.param(A, "https://a.example:8443/p", False, id="another port"),
    ],
)
async def test_what_counts_as_one_address(first: str, second: str, shared: bool) -> None:
    cache, site = session(), Site()
    assert await read(cache, site, first) == (f"at {first}", False)
    assert (await read(cache, site, second))[1] is shared
    assert len(site.asked) == (1 if shared else 2)


@pytest.mark.anyio
@pytest.mark.parametrize("other", [{"extract": "full"}, {"output": "raw"}, {"options": (5,)}], ids=str)
async def test_what_is_asked_of_a_page_is_part_of_the_key(other: dict[str, Any]) -> None:
    cache, site = session(), Site()
    await read(cache, site, A)
    assert (await read(cache, site, A, **other))[1] is False
    assert (await read(cache, site, A, **other))[1] is True
    assert (await read(cache, site, A))[1] is True


@pytest.mark.anyio
async def test_a_redirected_address_and_its_target_are_one_entry() -> None:
    cache, site = session(), Site(redirects={A: C + "#end", B: C})
    await read(cache, site, A)
    assert (await read(cache, site, A + "#x"))[1] is True
    assert (await read(cache, site, C))[1] is True
    assert (await read(cache, site, B))[1] is False, "nobody knew where B leads"
    assert (await read(cache, site, B))[1] is True
    assert site.asked == [A, B]


@pytest.mark.anyio
async def test_a_redirect_that_moves_leaves_the_old_target_alone() -> None:
    cache, site = session(), Site(redirects={A: B})
    await read(cache, site, A)
    site.redirects[A] = C
    assert await read(cache, site, A, refresh=True) == (f"at {C}", False)
    assert await read(cache, site, A) == (f"at {C}", True)
    assert await read(cache, site, B) == (f"at {B}", True)


@pytest.mark.anyio
async def test_errors_are_not_kept() -> None:
    cache, site = session(), Site(fails=True)
    with pytest.raises(errors.HttpError):
        await read(cache, site, A)
    site.fails = False
    assert await read(cache, site, A) == (f"at {A}", False)


@pytest.mark.anyio
async def test_a_refresh_replaces_also_through_an_alias() -> None:
    cache, site = session(), Site(redirects={A: C})
    await read(cache, site, A)
    site.texts[C] = "new"
    assert await read(cache, site, A, refresh=True) == ("new", False)
    assert await read(cache, site, A) == ("new", True)
    assert await read(cache, site, C) == ("new", True)
    assert len(site.asked) == 2


@pytest.mark.anyio
async def test_a_refresh_that_fails_ends_the_old_entry() -> None:
    cache, site = session(), Site()
    await read(cache, site, A)
    site.fails = True
    with pytest.raises(errors.HttpError):
        await read(cache, site, A, refresh=True)
    site.fails = False
    assert (await read(cache, site, A))[1] is False


async def _settle(condition: Callable[[], bool]) -> None:
    for _ in range(1000):
        if condition():
            return
        await asyncio.sleep(0)
    raise AssertionError("never came about")


@pytest.mark.anyio
async def test_callers_at_the_same_time_share_one_fetch_and_its_error() -> None:
    cache, site = session(), Site()
    site.gate.clear()
    callers = [asyncio.create_task(read(cache, site, f"{A}#{n}")) for n in range(5)]
    await _settle(lambda: bool(site.asked))
    site.gate.set()
    assert await asyncio.gather(*callers) == [(f"at {A}#0", False)] * 5
    site.gate.clear()
    site.fails = True
    callers = [asyncio.create_task(read(cache, site, B)) for _ in range(3)]
    await _settle(lambda: len(site.asked) == 2)
    site.gate.set()
    failed = await asyncio.gather(*callers, return_exceptions=True)
    assert [type(end) for end in failed] == [errors.HttpError] * 3
    assert len(site.asked) == 2


@pytest.mark.anyio
async def test_a_caller_who_gives_up_takes_nothing_from_the_others() -> None:
    cache, site = session(), Site()
    site.gate.clear()
    callers = [asyncio.create_task(read(cache, site, A)) for _ in range(3)]
    await _settle(lambda: bool(site.asked))
    callers[0].cancel()
    await asyncio.wait(callers[:1])
    site.gate.set()
    assert await asyncio.gather(*callers[1:]) == [(f"at {A}", False)] * 2
    assert callers[0].cancelled()


@pytest.mark.anyio
async def test_a_slow_old_fetch_does_not_undo_a_refresh() -> None:
    cache, site = session(), Site()
    site.gate.clear()
    slow = asyncio.create_task(read(cache, site, A))
    await _settle(lambda: len(site.asked) == 1)
    fresh, _ = await cache.fetch(parse(A), _just(Item(url=A, final_url=A, text="fresh")), refresh=True)
    site.gate.set()
    assert (await slow)[0] == f"at {A}"
    assert await read(cache, site, A) == (fresh.text, True)


def _just(item: Item) -> Callable[[], Any]:
    async def work() -> Item:
        return item

    return work


@pytest.mark.anyio
async def test_clearing_ends_it_also_for_what_is_on_its_way() -> None:
    cache, site = session(), Site()
    await read(cache, site, A)
    site.gate.clear()
    late = asyncio.create_task(read(cache, site, B))
    await _settle(lambda: len(site.asked) == 2)
    cache.clear()
    site.gate.set()
    assert (await late)[0] == f"at {B}"
    assert (await read(cache, site, A))[1] is False
    assert (await read(cache, site, B))[1] is False


@pytest.mark.anyio
async def test_it_is_bounded_and_the_least_used_go() -> None:
    cache, site = session(max_entries=3, max_bytes=1000), Site(texts={C: "x" * 990})
    urls = [f"https://h{n}.example/" for n in range(4)]
    for url in urls[:3]:
        await read(cache, site, url)
    await read(cache, site, urls[0])
    await read(cache, site, urls[3])
    assert [(await read(cache, site, url))[1] for url in (urls[0], urls[2], urls[3], urls[1])] == [True, True, True, False]
    await read(cache, site, C)
    assert (await read(cache, site, C))[1] is True
    assert (await read(cache, site, urls[3]))[1] is False


@pytest.mark.anyio
async def test_a_file_is_a_final_address_too() -> None:
    cache = session()
    item, _ = await cache.fetch(parse(A), _just(Item(final_url="file:///x.md#y", text="t")))
    assert (await cache.fetch(parse(A), _just(item)))[1] is True


# The HTTP cache


@dataclass
class Origin:
    """A server on a clock of its own: answers with the fields it was given, or 304 when the validators fit."""

    now: float = 1_000_000.0
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b"tide"
    status: int = 200
    url: str = A
    complete: bool = True
    error: errors.CormorantError | None = None
    on_304: dict[str, str] = field(default_factory=dict)
    asked: list[dict[str, str]] = field(default_factory=list)

    def clock(self) -> float:
        return self.now

    async def send(self, extra: dict[str, str]) -> Response:
        self.asked.append(extra)
        if self.error:
            raise self.error
        headers = {"date": formatdate(self.now, usegmt=True), **self.headers}
        fits = extra.get("if-none-match") == headers.get("etag", "-") or extra.get("if-modified-since") == headers.get("last-modified", "-")
        if self.status == 200 and fits:
            return Response(304, headers | self.on_304, b"", self.url)
        return Response(self.status, headers, self.body, self.url, self.complete)


@dataclass
class Reader:
    origin: Origin
    cache: HttpCache

    async def __call__(self, *, later: float = 0, headers: Mapping[str, str] | None = None, partition: str = "", **wish: Any) -> Got:
        self.origin.now += later
        return await self.cache.fetch(parse(A), self.origin.send, headers=headers, wish=Wish(**wish), partition=partition)


@pytest.fixture
async def reader(tmp_path: Path) -> AsyncIterator[Reader]:
    origin = Origin()
    cache = HttpCache(tmp_path / "cache" / "http.sqlite", clock=origin.clock)
    yield Reader(origin, cache)
    await cache.aclose()


def gmt(seconds: float) -> str:
    return formatdate(seconds, usegmt=True)


T = 1_000_000.0


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("headers", "later", "source"),
    [
        pytest.param({"cache-control": "max-age=60"}, 59, "cache", id="fresh"),
        pytest.param({"cache-control": "max-age=60"}, 61, "network", id="stale"),
        pytest.param({"cache-control": "max-age=60", "etag": '"1"'}, 61, "revalidated", id="stale, with an ETag"),
        pytest.param({"cache-control": "max-age=60", "last-modified": gmt(T - 9)}, 61, "revalidated", id="stale, with a date"),
        pytest.param({"cache-control": "public, MAX-AGE=60"}, 59, "cache", id="names in any case"),
        pytest.param({"cache-control": 'max-age="60"'}, 59, "cache", id="quoted"),
        pytest.param({"cache-control": "max-age=60, max-age=0"}, 1, "network", id="said twice, differently"),
        pytest.param({"cache-control": "max-age=1e3"}, 1, "network", id="no number"),
        pytest.param({"cache-control": "max-age=-1"}, 0, "network", id="less than nothing"),
        pytest.param({"cache-control": "max-age=99999999999999"}, 10**9, "cache", id="as long as can be"),
        pytest.param({"cache-control": "max-age=60", "age": "50"}, 20, "network", id="it was old when it came"),
        pytest.param({"cache-control": "max-age=60", "date": gmt(T - 50)}, 20, "network", id="its date was old when it came"),
        pytest.param({"cache-control": "s-maxage=60"}, 1, "network", id="for shared caches only"),
        pytest.param({"cache-control": "s-maxage=1, max-age=60"}, 30, "cache", id="s-maxage is not for us"),
        pytest.param({"cache-control": "private, max-age=60"}, 30, "cache", id="private is for us"),
        pytest.param({"cache-control": "max-age=60, no-store"}, 1, "network", id="no-store"),
        pytest.param({"cache-control": "max-age=60, no-store, must-understand"}, 1, "cache", id="must-understand, and we do"),
        pytest.param({"cache-control": "max-age=60, no-cache", "etag": '"1"'}, 1, "revalidated", id="no-cache asks each time"),
        pytest.param(
            {"cache-control": 'no-cache="set-cookie", max-age=60', "etag": '"1"'}, 1, "revalidated", id="no-cache with fields too"
        ),
        pytest.param({"pragma": "no-cache", "expires": gmt(T + 60), "etag": '"1"'}, 1, "revalidated", id="the old way to say so"),
        pytest.param({"expires": gmt(T + 60)}, 59, "cache", id="expires"),
        pytest.param({"expires": gmt(T + 60)}, 61, "network", id="expired"),
        pytest.param({"expires": "0", "etag": '"1"'}, 1, "revalidated", id="expires 0"),
        pytest.param({"expires": gmt(T + 600), "cache-control": "max-age=5"}, 10, "network", id="max-age before expires"),
        pytest.param({"last-modified": gmt(T - 1000)}, 99, "cache", id="a tenth of its age"),
        pytest.param({"last-modified": gmt(T - 1000)}, 101, "revalidated", id="and no longer"),
        pytest.param({"last-modified": gmt(T - 10**8)}, 86_500, "revalidated", id="a day at most"),
        pytest.param({"last-modified": "yesterday"}, 1, "network", id="a date that is none"),
        pytest.param({}, 1, "network", id="nothing said"),
        pytest.param({"cache-control": "max-age=60", "vary": "*"}, 1, "network", id="vary by anything"),
        pytest.param({"cache-control": "max-age=60", "vary": "accept"}, 1, "cache", id="vary by what did not change"),
    ],
)
async def test_how_long_a_response_is_good(reader: Reader, headers: dict[str, str], later: float, source: str) -> None:
    reader.origin.headers = headers
    assert (await reader()).source == "network"
    again = await reader(later=later)
    assert (again.source, again.response.body) == (source, b"tide")
    assert len(reader.origin.asked) == (1 if source == "cache" else 2)


@pytest.mark.anyio
@pytest.mark.parametrize("status", [204, 206, 301, 302, 404, 410, 429, 500, 503])
async def test_only_content_is_kept(reader: Reader, status: int) -> None:
    reader.origin.headers = {"cache-control": "max-age=600", "etag": '"1"'}
    reader.origin.status = status
    await reader()
    assert (await reader()).source == "network"
    assert reader.origin.asked == [{}, {}]


@pytest.mark.anyio
async def test_a_body_that_was_cut_is_not_kept(reader: Reader) -> None:
    reader.origin.headers = {"cache-control": "max-age=600", "etag": '"1"'}
    reader.origin.complete = False
    await reader()
    assert (await reader()).source == "network"


@pytest.mark.anyio
async def test_it_outlives_the_session_and_is_private(reader: Reader, tmp_path: Path) -> None:
    reader.origin.headers = {
        "cache-control": "max-age=600",
        "set-cookie": "a=b",
        "connection": "x-hop",
        "x-hop": "1",
        "content-type": "text/plain",
    }
    await reader()
    await reader.cache.aclose()
    other = Reader(reader.origin, HttpCache(tmp_path / "cache" / "http.sqlite", clock=reader.origin.clock))
    got = await other(later=5)
    assert (got.source, got.age_s, got.response.url, got.response.status) == ("cache", 5, A, 200)
    assert got.response.headers == {"date": gmt(T), "cache-control": "max-age=600", "content-type": "text/plain"}
    await other.cache.aclose()
    folder = tmp_path / "cache"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}


@pytest.mark.anyio
async def test_a_304_renews_time_and_fields_and_keeps_the_body(reader: Reader) -> None:
    reader.origin.headers = {"cache-control": "max-age=10", "etag": '"1"', "content-type": "text/html"}
    await reader()
    reader.origin.on_304 = {"cache-control": "max-age=100", "content-type": "text/wrong", "x-new": "1"}
    renewed = await reader(later=20)
    assert (renewed.source, renewed.age_s, renewed.response.body) == ("revalidated", 0, b"tide")
    assert renewed.response.headers["content-type"] == "text/html"
    assert renewed.response.headers["x-new"] == "1"
    assert (await reader(later=90)).source == "cache"
    assert reader.origin.asked == [{}, {"if-none-match": '"1"'}]


@pytest.mark.anyio
async def test_both_validators_are_sent(reader: Reader) -> None:
    reader.origin.headers = {"cache-control": "no-cache", "etag": 'W/"1"', "last-modified": gmt(T - 5)}
    await reader()
    assert (await reader()).source == "revalidated"
    assert reader.origin.asked[1] == {"if-none-match": 'W/"1"', "if-modified-since": gmt(T - 5)}


@pytest.mark.anyio
@pytest.mark.parametrize("how", ["another tag", "another address"])
async def test_a_304_about_another_response_is_not_believed(reader: Reader, how: str) -> None:
    reader.origin.headers = {"cache-control": "no-cache", "etag": '"1"'}
    await reader()
    reader.origin.body = b"new"
    if how == "another tag":
        reader.origin.on_304 = {"etag": '"2"'}
    else:
        reader.origin.url = B
    got = await reader()
    assert (got.source, got.response.body) == ("network", b"new")
    assert reader.origin.asked[-1] == {}


@pytest.mark.anyio
async def test_a_changed_page_replaces_the_old_one(reader: Reader) -> None:
    reader.origin.headers = {"cache-control": "max-age=10", "etag": '"1"'}
    await reader()
    reader.origin.headers, reader.origin.body = {"cache-control": "max-age=10", "etag": '"2"'}, b"new"
    assert (await reader(later=20)).source == "network"
    assert (await reader(later=5)).response.body == b"new"


@pytest.mark.anyio
@pytest.mark.parametrize("becomes", ["gone", "not to be kept", "moved"])
async def test_what_may_not_be_kept_any_more_is_forgotten(reader: Reader, becomes: str) -> None:
    reader.origin.headers = {"cache-control": "max-age=10", "etag": '"1"'}
    await reader()
    if becomes == "gone":
        reader.origin.status = 404
    elif becomes == "moved":
        reader.origin.url, reader.origin.headers = B, {"cache-control": "max-age=10", "etag": '"9"'}
    else:
        reader.origin.headers = {"cache-control": "no-store", "etag": '"2"'}
    await reader(later=20)
    await reader(stale_if_error=True)
    assert reader.origin.asked[2] == {}


@pytest.mark.anyio
async def test_a_redirected_response_is_kept_where_it_came_from(reader: Reader) -> None:
    reader.origin.headers, reader.origin.url = {"cache-control": "max-age=100"}, B
    await reader()
    assert (await reader()).source == "network"
    assert (await reader.cache.fetch(parse(B + "#x"), reader.origin.send)).source == "cache"


@pytest.mark.anyio
async def test_vary_keeps_one_response_per_set_of_fields(reader: Reader) -> None:
    reader.origin.headers = {"cache-control": "max-age=100", "vary": "Accept-Language, Accept"}
    reader.origin.body = b"hello"
    await reader(headers={"Accept-Language": "en", "Accept": "text/html, */*"})
    reader.origin.body = b"hallo"
    assert (await reader(headers={"accept-language": "de"})).response.body == b"hallo"
    assert (await reader(headers={"accept-language": "en", "accept": "text/html,  */*"})).response.body == b"hello"
    assert (await reader(headers={"accept-language": "de", "user-agent": "x"})).response.body == b"hallo"
    assert len(reader.origin.asked) == 2
    for n in range(20):
        await reader(headers={"accept-language": f"x-{n}"})
    assert (await reader(headers={"accept-language": "de"})).source == "network", "few variants of one address are kept"


@pytest.mark.anyio
async def test_what_the_caller_wishes(reader: Reader) -> None:
    reader.origin.headers = {"cache-control": "max-age=100", "etag": '"1"'}
    await reader(no_store=True)
    assert (await reader()).source == "network", "nothing was kept"
    assert (await reader(later=50, max_age_s=60)).source == "cache"
    assert (await reader(later=20, max_age_s=60)).source == "revalidated"
    assert (await reader(max_age_s=0, later=1)).source == "revalidated"
    assert (await reader(later=110, max_stale_s=20)).source == "cache"
    assert (await reader(later=20, max_stale_s=20)).source == "revalidated"
    assert (await reader(no_store=True)).source == "network"


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("said", "wish", "later", "stands_in"),
    [
        pytest.param("max-age=10", {}, 20, False, id="not asked for"),
        pytest.param("max-age=10", {"stale_if_error": True}, 20, True, id="asked for"),
        pytest.param("max-age=10, must-revalidate", {"stale_if_error": True}, 20, False, id="forbidden"),
        pytest.param("max-age=10, no-cache", {"stale_if_error": True}, 5, False, id="never without asking"),
        pytest.param("max-age=10, stale-if-error=60", {"stale_if_error": True}, 60, True, id="within what the server allows"),
        pytest.param("max-age=10, stale-if-error=60", {"stale_if_error": True}, 80, False, id="and past it"),
        pytest.param("max-age=10, stale-if-error=60", {}, 20, False, id="allowed, and not asked for"),
    ],
)
@pytest.mark.parametrize("failure", [503, errors.Timeout("slow"), errors.Network("reset")], ids=["503", "timeout", "network"])
async def test_a_stale_response_stands_in_for_a_failing_server_only_when_asked(
    reader: Reader, said: str, wish: dict[str, Any], later: float, stands_in: bool, failure: int | errors.CormorantError
) -> None:
    reader.origin.headers = {"cache-control": said, "etag": '"1"'}
    await reader()
    if isinstance(failure, int):
        reader.origin.status, reader.origin.body = failure, b"down"
    else:
        reader.origin.error = failure
    if stands_in:
        got = await reader(later=later, **wish)
        assert (got.source, got.response.body, got.age_s) == ("stale", b"tide", later)
    elif isinstance(failure, int):
        assert (await reader(later=later, **wish)).response.status == failure
    else:
        with pytest.raises(type(failure)):
            await reader(later=later, **wish)
    reader.origin.status, reader.origin.error = 200, None
    assert (await reader()).source == "revalidated", "a failure takes nothing away"


@pytest.mark.anyio
async def test_identities_are_kept_apart(reader: Reader) -> None:
    reader.origin.headers = {"cache-control": "max-age=100"}
    await reader(partition="ann")
    assert (await reader()).source == "network"
    assert (await reader(partition="bob")).source == "network"
    assert (await reader(partition="ann")).source == "cache"
    await reader.cache.clear("ann")
    assert (await reader(partition="ann")).source == "network"
    assert (await reader(partition="bob")).source == "cache"
    await reader.cache.clear()
    assert (await reader(partition="bob")).source == "network"


@pytest.mark.anyio
async def test_it_keeps_to_its_bytes(tmp_path: Path) -> None:
    origin = Origin(headers={"cache-control": "max-age=1000"})
    cache = HttpCache(tmp_path / "http.sqlite", max_bytes=50_000, clock=origin.clock)
    for n in range(30):
        origin.body, origin.url = os.urandom(8_000), ""
        await cache.fetch(parse(f"https://h{n}.example/"), origin.send)
    await cache.aclose()
    with sqlite3.connect(tmp_path / "http.sqlite") as db:
        total, count = db.execute("select sum(size), count(*) from entries").fetchone()
    db.close()
    assert total <= 53_000
    assert count < 30
    again = HttpCache(tmp_path / "http.sqlite", clock=origin.clock)
    assert (await again.fetch(parse("https://h29.example/"), origin.send)).source == "cache"
    await again.aclose()


@pytest.mark.anyio
@pytest.mark.parametrize("harm", ["rubbish", "a folder in its place", "a row", "read-only"])
async def test_trouble_with_the_file_never_fails_a_fetch(reader: Reader, tmp_path: Path, harm: str) -> None:
    path = tmp_path / "cache" / "http.sqlite"
    reader.origin.headers = {"cache-control": "max-age=100"}
    if harm == "rubbish":
        path.parent.mkdir()
        path.write_bytes(b"this is no database at all" * 100)
    elif harm == "a folder in its place":
        path.mkdir(parents=True)
    elif harm == "read-only":
        path.parent.mkdir()
        path.parent.joinpath("http.sqlite").symlink_to("/proc/version")
    else:
        await reader()
        with sqlite3.connect(path) as db:
            db.execute("update entries set headers = '{'")
        db.close()
    assert (await reader()).response.body == b"tide"
    if harm in ("rubbish", "a row"):
        await reader()
        assert (await reader()).source == "cache", "begun anew"
        assert reader.cache.trouble == ""
    else:
        assert reader.cache.trouble
        assert (await reader()).source == "network"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", {}),
        ("no-store", {"no-store": ""}),
        (" No-Cache , max-age = 5", {"no-cache": "", "max-age": "5"}),
        ('private="a, b", max-age="7"', {"private": "a, b", "max-age": "7"}),
        ("max-age=1, max-age=2", {"max-age": ""}),
        ("max-age=1, max-age=1", {"max-age": "1"}),
        (",,;", {}),
    ],
)
def test_directives(text: str, expected: dict[str, str]) -> None:
    assert directives(text) == expected


# Many processes


def test_many_processes_open_and_use_one_file_at_once(tmp_path: Path) -> None:
    with support_hold.Pool(6) as pool:
        failures = pool.starmap(support_hold.use_one_cache, [(str(tmp_path / "http.sqlite"), 5)] * 12, chunksize=1)
    assert failures == [""] * 12


@pytest.mark.anyio
async def test_a_reader_never_sees_half_of_what_four_processes_write(tmp_path: Path) -> None:
    torn = 0
    with support_hold.Pool(4) as pool:
        running = pool.starmap_async(support_hold.put_again_and_again, [(str(tmp_path / "s"), fill, 5) for fill in "abcd"])
        while not running.ready():
            store = DirectoryStore(tmp_path / "s")
            try:
                text = (await store.get("5" * 32)).items[0].text
                torn += len(set(text)) != 1 or len(text) != 400_000
            except errors.UnknownResponse as error:
                torn += "damaged" in str(error)
            await store.aclose()
        assert running.get() == [5] * 4
    assert torn == 0


# The collected cases


@pytest.mark.anyio
async def test_the_collected_cases_of_a_session(cases: Path) -> None:
    wrong = []
    for line in (cases / "bugs" / "cases.jsonl").read_text().splitlines():
        case = json.loads(line)
        if case["op"] != "cache":
            continue
        steps = json.loads((cases / "bugs" / case["input"]["files"]["input"]).read_text())["steps"]
        if any(step["do"] not in ("fetch", "wait", "parallel") for step in steps):
            continue  # several processes, or a tool's text: shown above and in the tests of the surfaces
        outcome = await _played(steps)
        wrong += [f"{case['id']}: {outcome}" for check in case["expect"] if not _holds(check, outcome)]
    assert wrong == []


async def _played(steps: list[dict[str, Any]]) -> dict[str, Any]:
    cache = session()
    outcome: dict[str, Any] = {"upstream_calls": 0, "bodies": []}

    async def fetch(step: dict[str, Any]) -> str | None:
        async def upstream() -> Item:
            outcome["upstream_calls"] += 1
            await asyncio.sleep(0)
            if step.get("serve_status", 200) >= 400:
                raise errors.HttpError(f"HTTP {step['serve_status']}", status=step["serve_status"])
            return Item(final_url=step["url"], text=step.get("serve", ""))

        try:
            return (await cache.fetch(parse(step["url"]), upstream, refresh=step.get("refresh", False)))[0].text
        except errors.HttpError:
            return None

    for step in steps:
        if step["do"] == "parallel":
            outcome["bodies"] += await asyncio.gather(*(fetch(each) for each in step["steps"]))
        else:  # a wait has its place in the list too: the cases count steps
            outcome["bodies"].append(await fetch(step) if step["do"] == "fetch" else None)
    return outcome


def _holds(check: dict[str, Any], outcome: dict[str, Any]) -> bool:
    value: Any = outcome
    for name in check["f"].split("."):
        value = value[int(name)] if name.isdigit() else value[name]
    return bool(value == check["v"])
