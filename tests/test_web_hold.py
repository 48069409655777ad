"""A whole session over real sockets: pages are held, asked for again, compared, and never lost to a full disk."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from cormorant import Web, errors
from support_net import Request, Scripted, Server, answer, serving

SETTINGS = {"egress": {"allow_ranges": ["127.0.0.0/8"]}}


@dataclass
class Harbour:
    """A site whose tide table can change."""

    time: str = "noon"
    served: list[str] = field(default_factory=list)

    def page(self, request: Request) -> bytes:
        self.served.append(request.target)
        text = f"High water at {self.time} today, says the harbour master, who has looked at the gauge."
        more = "Ropes and anchors are sold at the pier to anybody who asks for them in good time."
        body = f"<html><head><title>Tides</title></head><body><main><h1>Tides</h1><p>{text}</p><p>{more}</p></main></body></html>"
        return answer(200, body, {"Content-Type": "text/html"})


@pytest.fixture
def harbour() -> Harbour:
    return Harbour()


@pytest.fixture
async def site(harbour: Harbour) -> AsyncIterator[Server]:
    robots = answer(200, "User-agent: cormorant\nDisallow: /private\n", {"Content-Type": "text/plain"})
    pages = {"/robots.txt": robots, "/tide": harbour.page, "/old": answer(301, "", Location="/tide")}
    async with serving(pages) as server:
        yield server


def open_web(**more: object) -> Web:
    return Web(SETTINGS, resolve=Scripted(), **more)  # type: ignore[arg-type]


@pytest.mark.anyio
async def test_one_fetch_serves_every_spelling_and_each_result_has_its_own_id(harbour: Harbour, site: Server) -> None:
    async with open_web() as web:
        asked = [site.url("/tide#a"), site.url("/tide#b"), site.url("/tide")]
        pages = [await web.fetch(url) for url in asked]
        assert [page.url for page in pages] == asked
        assert [page.cached for page in pages] == [False, True, True]
        assert len({page.response_id for page in pages}) == 3
        assert len({page.content for page in pages}) == 1
        assert harbour.served == ["/tide"]
        assert site.targets.count("/robots.txt") == 1
        moved = await web.fetch(site.url("/old"))
        assert (moved.cached, moved.url, moved.final_url) == (False, site.url("/old"), site.url("/tide"))
        assert (await web.fetch(site.url("/old"))).cached


@pytest.mark.anyio
async def test_callers_at_the_same_time_share_one_fetch(harbour: Harbour, site: Server) -> None:
    async with open_web() as web:
        pages = await asyncio.gather(*(web.fetch(site.url(f"/tide#{n}")) for n in range(6)))
        assert harbour.served == ["/tide"]
        assert len({page.response_id for page in pages}) == 6


@pytest.mark.anyio
async def test_what_changed_since_and_where_it_says_so(harbour: Harbour, site: Server) -> None:
    async with open_web() as web:
        before = await web.fetch(site.url("/tide"))
        harbour.time = "two o'clock"
        after = await web.fetch(site.url("/tide"), refresh=True, since=before.response_id)
        assert not after.cached
        assert after.changes is not None
        (block,) = after.changes["blocks"]
        assert (block["op"], "at noon" in block["old"], "at two o'clock" in block["new"]) == ("changed", True, True)
        assert (await web.fetch(site.url("/tide"))).content == after.content, "a refresh replaces"
        found = await web.get(before.response_id, find=["HIGH WATER", "gulls"])
        assert found.matches is not None
        assert [(needle["needle"], needle["count"]) for needle in found.matches["needles"]] == [("HIGH WATER", 1), ("gulls", 0)]


@pytest.mark.anyio
async def test_results_outlive_the_session_and_the_page_cache_does_not(harbour: Harbour, site: Server) -> None:
    async with open_web() as web:
        page = await web.fetch(site.url("/tide"), prompt="when is high water?")
    async with open_web() as web:
        stored = await web.get(page.response_id, query="when is high water?")
        assert "High water at noon" in stored.content
        assert stored.metadata["sha256"] == page.sha256
        assert not (await web.fetch(site.url("/tide"))).cached


@pytest.mark.anyio
async def test_errors_say_what_there_is_and_name_no_path(site: Server, tmp_path: Path) -> None:
    async with open_web() as web:
        page = await web.fetch(site.url("/tide"))
        refused: list[errors.CormorantError] = []
        for call in (
            web.fetch(site.url("/private/x")),
            web.get("latest"),
            web.get("a" * 32),
            web.get(page.response_id, url_index=4),
        ):
            with pytest.raises(errors.CormorantError) as caught:
                await call
            refused.append(caught.value)
    assert [error.code for error in refused] == ["robots", "invalid_arguments", "unknown_response", "unknown_selector"]
    assert f"url_index=0 url={site.url('/tide')}" in refused[3].message
    assert not [error for error in refused if str(tmp_path) in str(error.as_dict())]


@pytest.mark.anyio
async def test_a_full_disk_costs_the_id_and_not_the_page(site: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(at: int) -> None:
        raise OSError(28, "No space left on device", str(tmp_path))

    monkeypatch.setattr(os, "fsync", full)
    async with open_web() as web:
        page = await web.fetch(site.url("/tide"))
    assert "High water at noon" in page.content
    assert page.response_id == ""
    assert any("no space is left" in warning for warning in page.warnings)
    assert str(tmp_path) not in str(page.as_dict())
