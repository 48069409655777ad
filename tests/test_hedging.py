"""A backend that is slower than it usually is gets company, where the operator wants that; the loser is let go."""

from __future__ import annotations

import asyncio
import json
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest

from cormorant import Web
from cormorant.errors import InvalidArguments, ProviderError, Timeout
from cormorant.providers.health import TIMES_NEEDED
from cormorant.providers.race import hedged
from cormorant.search import Found
from support_net import answer, serving

pytestmark = pytest.mark.anyio
JSON = {"content-type": "application/json"}
SEARXNG = answer(200, json.dumps({"results": [{"title": "S", "url": "https://s.example/", "content": "x"}]}), JSON)
BRAVE = answer(200, json.dumps({"web": {"results": [{"title": "B", "url": "https://b.example/", "description": "x"}]}}), JSON)


@asynccontextmanager
async def two(tmp_path: Path, monkeypatch, *, searxng, brave, times: int = TIMES_NEEDED, **search):
    """A `Web` over a searxng and a brave, whose searxng has answered within 10 ms so far; each may wait for `release`."""
    release = asyncio.Event()

    def handler(first):
        async def handle(request, writer) -> bool:
            if first is None:
                await release.wait()
                return False
            writer.write(first)
            await writer.drain()
            return True

        return handle

    health = tmp_path / "xdg_data_home" / "cormorant" / "search-health.json"
    health.parent.mkdir(parents=True)
    health.write_text(json.dumps({"searxng": {"took_s": [0.01] * times}}))
    async with AsyncExitStack() as stack:
        sites = {name: await stack.enter_async_context(serving(handler(first))) for name, first in (("searxng", searxng), ("brave", brave))}
        urls = {name: site.url("", host="127.0.0.1").rstrip("/") for name, site in sites.items()}
        settings = {"search": {"urls": urls, "keyless": False, "hedge": True} | search, "keys": {"BRAVE_API_KEY": "key-1"}}
        web = await stack.enter_async_context(Web(settings | {"store": {"path": "memory"}}))
        stack.callback(release.set)
        yield web, sites


@pytest.mark.parametrize("provider", ["auto", "searxng,brave"])
async def test_a_slow_first_is_overtaken_and_let_go(tmp_path, monkeypatch, provider):
    async with two(tmp_path, monkeypatch, searxng=None, brave=BRAVE) as (web, sites), asyncio.timeout(20):
        found = await web.search("tides", provider=provider)
        assert found.provider == "brave"
        assert [(t.provider, t.code) for t in found.tried] == [("searxng", "hedged")]
        assert "brave answered first" in found.tried[0].message
        assert web.ledger.as_dict()["requests"] == 2, "both went out and both are counted"
        assert [len(site.requests) for site in sites.values()] == [1, 1]
        assert not web.finder.health.rests("searxng"), "slow is not failed"
        assert (web.finder.health.slow_after_s("searxng") or 0) > 0.01, "what was no longer waited for counts as slow"


@pytest.mark.parametrize(
    ("search", "provider", "times"),
    [
        pytest.param({"hedge": False}, "auto", TIMES_NEEDED, id="off"),
        pytest.param({}, "searxng", TIMES_NEEDED, id="pinned by the call"),
        pytest.param({"provider": "searxng"}, "auto", TIMES_NEEDED, id="pinned by the setting"),
        pytest.param({}, "auto", TIMES_NEEDED - 1, id="too little is known"),
    ],
)
async def test_nobody_is_asked_besides(tmp_path, monkeypatch, search, provider, times):
    given = {"searxng": None, "brave": BRAVE, "times": times, "timeout": 0.3} | search
    async with two(tmp_path, monkeypatch, **given) as (web, sites), asyncio.timeout(20):
        pinned = "searxng" in (provider, search.get("provider"))
        if pinned:
            with pytest.raises(Timeout):
                await web.search("tides", provider=provider)
            assert sites["brave"].requests == []
        else:
            found = await web.search("tides", provider=provider)
            assert [(t.provider, t.code) for t in found.tried] == [("searxng", "timeout")]


async def test_a_first_in_time_leaves_the_second_alone(tmp_path, monkeypatch):
    async with two(tmp_path, monkeypatch, searxng=SEARXNG, brave=BRAVE) as (web, sites):
        web.finder.health.took("searxng", 30.0)  # so that a busy machine is not slow
        found = await web.search("tides")
        assert (found.provider, found.tried, sites["brave"].requests) == ("searxng", (), [])


async def test_a_first_that_fails_in_time_hands_on_as_ever(tmp_path, monkeypatch):
    async with two(tmp_path, monkeypatch, searxng=answer(500, "down"), brave=BRAVE) as (web, _):
        web.finder.health.took("searxng", 30.0)
        found = await web.search("tides")
        assert (found.provider, [(t.provider, t.code) for t in found.tried]) == ("brave", [("searxng", "provider_error")])


def found(name: str) -> Found:
    return Found("q", name)


async def ask(
    name: str, *, hold: asyncio.Event | None = None, fails: Exception | None = None, started: asyncio.Event | None = None
) -> Found:
    if started:
        started.set()
    if hold:
        await hold.wait()
    if fails:
        raise fails
    return found(name)


async def test_how_a_race_ends():
    never, error = asyncio.Event(), ProviderError("down")
    async with asyncio.timeout(20):
        ran = await hedged(lambda: ask("a"), lambda: ask("b"), 30)
        assert (ran.answer, ran.winner, ran.started) == (found("a"), 0, 1)
        ran = await hedged(lambda: ask("a", hold=never), lambda: ask("b"), 0.01)
        assert (ran.answer, ran.winner, ran.started) == (found("b"), 1, 2)
        ran = await hedged(lambda: ask("a", fails=error), lambda: ask("b"), 30)
        assert (ran.answer, ran.errors, ran.started) == (None, {0: error}, 1)
        second = asyncio.Event()  # the first fails once the second is on its way, and the second answers all the same
        ran = await hedged(lambda: ask("a", hold=second, fails=error), lambda: ask("b", started=second), 0.01)
        assert (ran.answer, ran.started) == (found("b"), 2)
        ran = await hedged(lambda: ask("a", hold=second), lambda: ask("b", fails=InvalidArguments("no")), 0)
        assert ran.answer == found("a")
        both = asyncio.Event()
        ran = await hedged(lambda: ask("a", hold=both, fails=error), lambda: ask("b", started=both, fails=error), 0.01)
        assert (ran.answer, ran.errors) == (None, {0: error, 1: error})
