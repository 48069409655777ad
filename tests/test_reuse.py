"""A transport and the HTTP cache together, over real sockets: what is asked again, and what is not."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from email.utils import formatdate
from pathlib import Path

import pytest

from cormorant import errors
from cormorant.cache import HttpCache, reuse
from cormorant.cache.freshness import Wish
from cormorant.policy import Policy
from cormorant.transport.resource import Options
from support_net import Request, answer, serving, transport


@dataclass
class Site:
    """Pages that can change, with validators."""

    now: float = 1_700_000_000.0
    body: str = "high water at noon"
    fields: dict[str, str] = field(default_factory=lambda: {"Cache-Control": "max-age=60", "ETag": '"1"'})
    down: bool = False

    def clock(self) -> float:
        return self.now

    def page(self, request: Request) -> bytes:
        if self.down:
            return answer(503, "down")
        dated = {"Date": formatdate(self.now, usegmt=True), "Content-Type": "text/plain", **self.fields}
        if request.headers.get("if-none-match") == self.fields.get("ETag"):
            return answer(304, "", dated)
        return answer(200, self.body, dated)


@pytest.fixture
async def site() -> Site:
    return Site()


@pytest.fixture
async def http(site: Site, tmp_path: Path) -> AsyncIterator[HttpCache]:
    made = HttpCache(tmp_path / "http.sqlite", clock=site.clock)
    yield made
    await made.aclose()


@pytest.mark.anyio
async def test_fresh_then_revalidated_then_changed(site: Site, http: HttpCache) -> None:
    async with serving({"/tide": site.page}) as server, transport() as reach:
        first, source = await reuse.get(http, reach, server.url("/tide"))
        assert (source, first.body, first.status) == ("network", b"high water at noon", 200)
        site.now += 50
        again, source = await reuse.get(http, reach, server.url("/tide#noon"))
        assert (source, again.body, again.sha256, again.content_type) == ("cache", first.body, first.sha256, "text/plain")
        assert (again.url, again.wire_bytes, again.retrieved_at) == (server.url("/tide#noon"), 0, "2023-11-14T22:13:20Z")
        site.now += 50
        again, source = await reuse.get(http, reach, server.url("/tide"))
        assert (source, again.body, again.status, again.hops[-1].status) == ("revalidated", first.body, 200, 304)
        assert again.retrieved_at == "2023-11-14T22:15:00Z"
        site.now += 70
        site.body, site.fields = "low water", {"Cache-Control": "max-age=60", "ETag": '"2"'}
        changed, source = await reuse.get(http, reach, server.url("/tide"))
        assert (source, changed.body) == ("network", b"low water")
    assert [request.headers.get("if-none-match") for request in server.requests] == [None, '"1"', '"1"']


@pytest.mark.anyio
async def test_wishes_reach_the_cache(site: Site, http: HttpCache) -> None:
    async with serving({"/tide": site.page}) as server, transport() as reach:
        await reuse.get(http, reach, server.url("/tide"))
        assert (await reuse.get(http, reach, server.url("/tide"), wish=Wish(max_age_s=0)))[1] == "cache", "no second has passed"
        site.now += 5
        assert (await reuse.get(http, reach, server.url("/tide"), wish=Wish(max_age_s=0)))[1] == "revalidated"
        site.down, site.now = True, site.now + 100
        stale, source = await reuse.get(http, reach, server.url("/tide"), wish=Wish(stale_if_error=True))
        assert (source, stale.body) == ("stale", b"high water at noon")
        failed, source = await reuse.get(http, reach, server.url("/tide"))
        assert (source, failed.status) == ("network", 503)


@pytest.mark.anyio
async def test_vary_looks_at_what_is_really_sent(site: Site, http: HttpCache) -> None:
    site.fields["Vary"] = "Accept-Language"
    english_options, thai_options = Options(accept_language="en"), Options(accept_language="th")
    async with (
        serving({"/tide": site.page}) as server,
        transport(options=english_options) as english,
        transport(options=thai_options) as thai,
    ):
        await reuse.get(http, english, server.url("/tide"))
        assert (await reuse.get(http, thai, server.url("/tide")))[1] == "network"
        assert (await reuse.get(http, english, server.url("/tide")))[1] == "cache"
        assert (await reuse.get(http, english, server.url("/tide"), headers={"Accept-Language": "th"}))[1] == "cache"


@pytest.mark.anyio
async def test_a_cut_body_is_not_kept_and_a_kept_one_is_cut(site: Site, http: HttpCache) -> None:
    async with serving({"/tide": site.page}) as server, transport() as reach:
        cut, _ = await reuse.get(http, reach, server.url("/tide"), max_bytes=4)
        assert (cut.body, cut.truncated) == (b"high", True)
        whole, source = await reuse.get(http, reach, server.url("/tide"))
        assert (source, whole.truncated) == ("network", False)
        cut, source = await reuse.get(http, reach, server.url("/tide"), max_bytes=4)
        assert (source, cut.body, cut.truncated) == ("cache", b"high", True)


@pytest.mark.anyio
async def test_a_redirect_is_asked_for_again_and_its_target_is_not(site: Site, http: HttpCache) -> None:
    async with serving({"/old": answer(301, "", Location="/tide"), "/tide": site.page}) as server, transport() as reach:
        moved, _ = await reuse.get(http, reach, server.url("/old"))
        assert moved.url == server.url("/tide")
        assert (await reuse.get(http, reach, server.url("/old")))[1] == "network"
        assert (await reuse.get(http, reach, server.url("/tide")))[1] == "cache"


@pytest.mark.anyio
async def test_the_lists_are_asked_also_for_what_is_kept(site: Site, http: HttpCache) -> None:
    async with serving({"/tide": site.page}) as server:
        async with transport() as reach:
            await reuse.get(http, reach, server.url("/tide"))
        async with transport(Policy(block=("site.test",), allow_ranges=("127.0.0.0/8",))) as closed:
            with pytest.raises(errors.NotAllowed):
                await reuse.get(http, closed, server.url("/tide"))


@pytest.mark.anyio
async def test_pages_of_a_profile_are_neither_kept_nor_served(site: Site, http: HttpCache) -> None:
    logged_in = Options(profiles={"site.test": {"Cookie": "a=b"}})
    async with serving({"/tide": site.page}) as server, transport() as plain, transport(options=logged_in) as known:
        await reuse.get(http, plain, server.url("/tide"))
        assert (await reuse.get(http, known, server.url("/tide")))[1] == "network"
        assert (await reuse.get(http, plain, server.url("/tide"), partition="ann"))[1] == "network"
        assert (await reuse.get(http, plain, server.url("/tide")))[1] == "cache"
