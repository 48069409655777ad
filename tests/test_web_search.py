"""`Web.search` as its callers meet it: what may be asked, what comes back, how it is kept and shown."""

from __future__ import annotations

import json
import re
from contextlib import AsyncExitStack, asynccontextmanager

import pytest

from cormorant import Web
from cormorant.errors import InvalidArguments, NoProvider
from support_backends import Seen
from support_backends import serving as backend
from support_net import answer, serving

pytestmark = pytest.mark.anyio
PAGE = (
    "<title>Tides</title><main><h1>Tides</h1><p>High water at the pier is at six in the morning, said the keeper of the gauge.</p></main>"
)


def rows(seen: Seen) -> list[dict[str, str]]:
    return [{"title": f"{seen.params['q']} {n}", "url": f"https://{n}.example/{seen.params['pageno']}", "content": "x"} for n in range(30)]


@asynccontextmanager
async def searching(**search):
    """A `Web` over a searxng that has thirty rows for everything."""
    async with AsyncExitStack() as stack:
        sim = stack.enter_context(backend())
        sim.answer = lambda seen: (200, {}, {"results": rows(seen)})
        settings = {"search": {"url": sim.url, "keyless": False} | search, "store": {"path": "memory"}}
        yield await stack.enter_async_context(Web(settings | {"egress": {"allow_ranges": ["127.0.0.0/8"], "robots": "ignore"}})), sim


@pytest.mark.parametrize(
    ("given", "asked"),
    [
        ({"query": "  low tide "}, ["low tide"]),
        ({"queries": ["a", " b ", "", "a"]}, ["a", "b"]),
        ({"query": "a", "queries": ["b"]}, ["a", "b"]),
        ({"queries": [str(n) for n in range(12)]}, [str(n) for n in range(10)]),
    ],
    ids=["one", "several", "both", "ten at most"],
)
async def test_queries_are_trimmed_joined_and_asked_once_each(given, asked) -> None:
    async with searching() as (web, sim):
        found = await web.search(**given)
    assert sorted(seen.params["q"] for seen in sim.seen) == sorted(asked)
    assert list(found.queries) == asked
    assert found.query == (asked[0] if len(asked) == 1 else "")
    assert [hit.query for hit in found.results] == [q for q in asked for _ in range(8)]


@pytest.mark.parametrize("given", [{}, {"query": "  "}, {"queries": ["", " "]}])
async def test_nothing_to_ask_is_an_error_before_anybody_is_asked(given) -> None:
    async with searching() as (web, sim):
        with pytest.raises(InvalidArguments, match="needs a query"):
            await web.search(**given)
    assert sim.seen == []


@pytest.mark.parametrize(
    ("asked", "setting", "kept", "noted"), [(3, 8, 3, False), (None, 5, 5, False), (99, 8, 20, True), (0, 8, 1, True), (-4, 8, 1, True)]
)
async def test_the_count_is_the_call_s_or_the_setting_s_and_clamped(asked, setting, kept, noted) -> None:
    async with searching(count=setting) as (web, _):
        found = await web.search("tides", count=asked)
    assert found.count == kept
    assert any("out of range" in note for note in found.notes) is noted


async def test_a_search_is_kept_and_never_served_from_what_was_kept() -> None:
    async with searching() as (web, sim):
        first, second = await web.search("tides"), await web.search("tides", page=0)
        assert len(sim.seen) == 2
        assert first.response_id != second.response_id
        assert [seen.params["pageno"] for seen in sim.seen] == ["1", "1"], "a page below one is the first"
        stored = await web.get(first.response_id)
    assert re.fullmatch(r"[0-9a-f]{32}", first.response_id)
    assert "https://0.example/1" in stored.content


async def test_pages_of_the_hits_come_along_when_asked_each_with_how_it_went() -> None:
    pages = {"/tides": answer(200, PAGE, {"content-type": "text/html"}), "*": answer(410, "gone")}
    async with serving(pages) as site, searching() as (web, sim):
        base = site.url("", host="127.0.0.1").rstrip("/")
        hits = [("/tides", "High water"), ("/gone", "It was here"), ("/gone2", "")]
        found_rows = [{"title": path, "url": base + path, "content": text} for path, text in hits]
        sim.answer = lambda seen: (200, {}, {"results": found_rows})
        plain = await web.search("tides")
        assert {hit.content_kind for hit in plain.results} == {"snippet"}
        assert site.requests == [], "page bodies never come by default"
        found = await web.search("tides", include_content=True)
    assert [hit.content_kind for hit in found.results] == ["source_page", "snippet_with_fetch_warning", "fetch_failed"]
    assert "six in the morning" in found.results[0].content
    assert "http_error" in found.results[1].content
    assert "six in the morning" in found.as_text()


async def test_the_text_form_is_numbered_and_ends_in_a_line_for_code() -> None:
    async with searching() as (web, sim):
        text = (await web.search("tides", count=2)).as_text()
        sim.answer = lambda seen: (200, {}, {"results": []})
        nothing = await web.search("tides")
    lines = text.split("\n")
    assert re.fullmatch(r"response_id: [0-9a-f]{32}", lines[0])
    assert lines[1] == '## Search "tides" (searxng, 2 results)'
    assert [line for line in lines if re.match(r"\d\. ", line)] == ["1. tides 0", "2. tides 1"]
    assert lines[-2] == "---"
    told = json.loads(lines[-1])
    assert (told["query"], told["provider"], [row["rank"] for row in told["results"]]) == ("tides", "searxng", [1, 2])
    assert (nothing.count, nothing.results) == (0, ())
    assert "(no results)" in nothing.as_text().split("\n")


async def test_with_nobody_to_ask_everything_else_works_and_the_search_says_what_to_set() -> None:
    page = answer(200, PAGE, {"content-type": "text/html"})
    settings = {"search": {"keyless": False}, "store": {"path": "memory"}, "egress": {"allow_ranges": ["127.0.0.0/8"]}}
    async with serving({"*": page}) as site, Web(settings) as web:
        assert (await web.fetch(site.url("/tides", host="127.0.0.1"))).title == "Tides"
        with pytest.raises(NoProvider) as caught:
            await web.search("tides")
    assert "WEB_SEARCH_URL" in caught.value.remedy
    assert "BRAVE_API_KEY" in caught.value.remedy


async def test_disabled_takes_the_tools_away() -> None:
    async with searching(provider="disabled") as (web, _):
        assert [tool for tool in ("web_search", "web_fetch", "web_get", "web_answer", "research") if web.offers(tool)] == [
            "web_fetch",
            "web_get",
        ]
        with pytest.raises(NoProvider, match="disabled"):
            await web.search("tides")
