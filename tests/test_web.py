"""The main job through `Web`: fetch, fit, keep, read back, search, answer; every refusal is an error with a remedy."""

from __future__ import annotations

import asyncio
import json
import re

import pytest

from cormorant import BlockingWeb, Policy, Web
from cormorant.errors import (
    BudgetSpent,
    CormorantError,
    ExtractionFailed,
    HttpError,
    InvalidArguments,
    NotAllowed,
    PrivateAddress,
    Refused,
    Robots,
    Soft404,
    UnknownResponse,
    UnknownSelector,
    Vetoed,
)
from cormorant.gates import Called, HandedOver, Leaving
from cormorant.tokens import counter
from support_net import answer, serving
from support_web import GUIDE, LOCAL, PAGES, index, opened

pytestmark = pytest.mark.anyio


async def test_a_page_is_read_into_markdown(tmp_path) -> None:
    async with opened(tmp_path) as (web, _, base):
        page = await web.fetch(f"{base}/guide")
    assert page.title == "Tide guide"
    assert page.content.startswith("# Tide guide")
    assert page.status == 200
    assert page.outcome == "content"
    assert page.content_signals == {"search": True, "ai-train": False}
    assert (page.site_guide, page.markdown_version) == (f"{base}/llms.txt", f"{base}/guide.md")
    assert re.fullmatch("[0-9a-f]{32}", page.response_id)
    assert re.fullmatch("[0-9a-f]{64}", page.sha256)
    assert set(page.as_dict()) >= {
        "response_id", "url", "final_url", "status", "type", "title", "content", "truncated", "output", "extract", "bytes", "chars",
        "cached", "byline", "site", "published_at", "summary", "language", "outcome", "coverage", "findings", "sha256", "retrieved_at",
        "fit", "document", "warnings",
    }  # fmt: skip


@pytest.mark.parametrize("budget", [1, 7, 40, 90, 200, 600, 2_000, 20_000])
async def test_the_whole_text_costs_at_most_the_budget(tmp_path, budget) -> None:
    async with opened(tmp_path) as (web, _, base):
        page = await web.fetch(f"{base}/guide", budget=budget)
        again = await web.get(page.response_id, budget=budget)
    assert counter("o200k_base").count(page.as_text()) <= budget
    assert counter("o200k_base").count(again.as_text()) <= budget
    assert page.fit["counter"] == "o200k_base"


async def test_a_section_is_found_by_its_heading_and_named_in_the_hint(tmp_path) -> None:
    async with opened(tmp_path) as (web, _, base):
        page = await web.fetch(f"{base}/guide", query="install", budget=300)
        small = await web.fetch(f"{base}/guide", budget=300)
    assert page.fit["view"] == "section"
    assert "Run the installer" in page.content
    assert "1944" not in page.content
    assert small.response_id in small.fit["hint"]


async def test_a_question_brings_the_passages_that_answer_it(tmp_path) -> None:
    async with opened(tmp_path) as (web, _, base):
        page = await web.fetch(f"{base}/guide", query="what happened in 1944?", budget=400)
    assert page.fit["view"] == "passages"
    assert "1944" in page.content


async def test_a_redirect_is_followed_and_the_stored_page_answers_to_both_addresses(tmp_path) -> None:
    async with opened(tmp_path) as (web, _, base):
        page = await web.fetch(f"{base}/old")
        assert page.final_url == f"{base}/guide"
        assert (await web.get(page.response_id, url=f"{base}/old")).content
        assert (await web.get(page.response_id, url=f"{base}/guide")).content


async def test_a_meta_refresh_is_followed_like_a_redirect(tmp_path) -> None:
    async with opened(tmp_path) as (web, _, base):
        assert (await web.fetch(f"{base}/refresh")).final_url == f"{base}/guide"


async def test_a_page_read_twice_is_asked_for_once(tmp_path) -> None:
    async with opened(tmp_path) as (web, server, base):
        first = await web.fetch(f"{base}/guide")
        second, third = await asyncio.gather(web.fetch(f"{base}/guide#history"), web.fetch(f"{base}/guide", refresh=True))
        assert [first.cached, second.cached, third.cached] == [False, True, False]
        assert len({first.response_id, second.response_id, third.response_id}) == 3
        assert server.targets.count("/guide") == 2


async def test_several_targets_come_in_order_and_one_that_fails_fails_alone(tmp_path) -> None:
    async with opened(tmp_path) as (web, _, base):
        pages = await web.fetch([f"{base}/note.txt", f"{base}/gone", f"{base}/guide"], budget=900)
        assert [item.page is not None for item in pages.items] == [True, False, True]
        assert pages.items[1].error.code == "http_error"
        assert pages.as_dict()["items"][1]["error"]["status"] == 410
        assert "High water" in (await web.get(pages.response_id, url_index=0)).content
        with pytest.raises(HttpError):
            await web.get(pages.response_id, url_index=1)


@pytest.mark.parametrize(
    ("path", "error"),
    [
        pytest.param("/secret", Robots, id="robots"),
        pytest.param("/gone", HttpError, id="gone"),
        pytest.param("/soft", Soft404, id="soft 404"),
        pytest.param("/cat.png", ExtractionFailed, id="a broken picture"),
        pytest.param("/inside", CormorantError, id="a redirect to the inside"),
    ],
)
async def test_what_is_no_content_is_an_error_that_says_what_to_do(tmp_path, path, error) -> None:
    async with opened(tmp_path) as (web, _, base):
        with pytest.raises(error) as raised:
            await web.fetch(base + path)
    assert raised.value.remedy
    assert raised.value.url


async def test_nothing_private_is_reached_by_default(tmp_path) -> None:
    async with serving(PAGES) as server, Web({"store": {"path": "memory"}}) as web:
        with pytest.raises(PrivateAddress):
            await web.fetch(server.url("/guide", host="127.0.0.1"))
    assert server.targets == []


async def test_a_policy_of_the_caller_is_the_one_that_holds(tmp_path) -> None:
    async with opened(tmp_path, policy=Policy(allow=())) as (web, _, base):
        with pytest.raises(NotAllowed):
            await web.fetch(f"{base}/guide")


async def test_robots_is_the_operators_to_ignore(tmp_path) -> None:
    settings = {"egress": {"allow_ranges": ["127.0.0.0/8"], "robots": "ignore"}}
    async with opened(tmp_path, settings=settings) as (web, server, base):
        assert (await web.fetch(f"{base}/secret")).title == "Tide guide"
        assert "/robots.txt" not in server.targets


async def test_gates_see_every_moment_and_may_say_no(tmp_path) -> None:
    seen = []

    async def gate(moment):
        seen.append((type(moment), getattr(moment, "url", "").rsplit("/", 1)[-1]))
        if isinstance(moment, Leaving) and moment.url.endswith("/note.txt"):
            raise Vetoed("gate notes: no notes today", url=moment.url)
        if isinstance(moment, HandedOver):
            return HandedOver(moment.tool, moment.text.replace("1944", "[REDACTED]"))
        return moment

    async with opened(tmp_path, gates=[gate]) as (web, _, base):
        page = await web.fetch(f"{base}/old")
        assert "1944" not in page.content
        assert [name for kind, name in seen if kind is Leaving and name != "robots.txt"] == ["old", "guide"]
        assert seen[0][0] is Called
        with pytest.raises(Vetoed, match="no notes today"):
            await web.fetch(f"{base}/note.txt")
        found = await web.get(page.response_id, find=["1944", "1945"])
        assert "1945" in found.content
        assert "1944" not in json.dumps(found.as_dict()), "what is found in a stored page is handed over too"


async def test_a_gate_may_change_what_a_call_asks_for(tmp_path) -> None:
    async def frugal(moment):
        if isinstance(moment, Called) and moment.tool == "web_fetch":
            return Called(moment.tool, {**moment.arguments, "budget": 150, "section": "Install"})
        return moment

    async with opened(tmp_path, gates=[frugal]) as (web, _, base):
        page = await web.fetch(f"{base}/guide", budget=5_000)
    assert page.fit["budget"] == 150
    assert page.fit["view"] == "section"
    assert "Run the installer" in page.content


async def test_strict_provenance_wants_an_address_to_have_been_seen(tmp_path) -> None:
    settings = {"egress": {"allow_ranges": ["127.0.0.0/8"], "provenance": "strict"}}
    async with opened(tmp_path, settings=settings) as (web, _, base):
        with pytest.raises(CormorantError) as raised:
            await web.fetch(f"{base}/guide")
        assert raised.value.code == "provenance"
        web.saw(f"please read {base}/guide")
        page = await web.fetch(f"{base}/guide")
        assert "The old page" in page.content
        assert (await web.fetch(f"{base}/old")).title == "Tide guide"


async def test_a_stored_result_is_read_by_exact_selectors(tmp_path) -> None:
    async with opened(tmp_path) as (web, _, base):
        page = await web.fetch(f"{base}/guide", prompt="when was it built?")
        assert (await web.get(page.response_id, query="when was it built?")).content
        assert "Run the installer" in (await web.get(page.response_id, section="Install")).content
        found = await web.get(page.response_id, find="keeper")
        assert found.matches["needles"][0]["count"] == 61
        with pytest.raises(UnknownSelector, match="url_index=0"):
            await web.get(page.response_id, url="https://elsewhere.example/")
        with pytest.raises(UnknownResponse, match="unknown response_id"):
            await web.get("0" * 32)
        with pytest.raises(InvalidArguments):
            await web.get("../../etc/passwd")


async def test_reading_on_brings_every_character_once(tmp_path) -> None:
    async with opened(tmp_path) as (web, _, base):
        whole = (await web.fetch(f"{base}/guide", max_chars=100_000)).content
        page = await web.fetch(f"{base}/guide", max_chars=1_000)
        assert page.truncated
        seen = 0
        offset: int | None = page.next_offset
        while offset is not None:
            seen += 1
            part = await web.get(page.response_id, offset=offset, max_chars=1_000)
            offset = part.next_offset
        assert "The old page" in part.content
        assert seen < len(whole) / 500


async def test_the_library_is_searched_with_nothing_set(tmp_path) -> None:
    async with opened(tmp_path) as (web, _, _base):
        await index(web, tmp_path / "pages")
        found = await web.search("dinghy varnish")
        assert found.provider == "library"
        assert found.results[0].title == "Boats"
        assert found.as_text().startswith(f"response_id: {found.response_id}\n")
        listed = await web.get(found.response_id)
        assert "Boats" in listed.content
        nothing = await web.search("xylophone quartet")
        assert nothing.results == ()
        assert "(no results)" in nothing.as_text()


async def test_an_answer_cites_what_it_read_and_the_citation_was_checked(tmp_path) -> None:
    async with opened(tmp_path) as (web, _, _base):
        await index(web, tmp_path / "pages")
        answered = await web.answer("What is a dinghy?")
        assert '<web_citation url="file://' in answered.response
        assert "small boat" in answered.response
        assert answered.sources_used
        assert {verdict["verdict"] for verdict in answered.verdicts} <= {"exact", "close"}
        text = answered.as_text()
        assert "## Answer" in text
        assert "## Sources" in text
        stored = await web.get(answered.response_id)
        assert "small boat" in stored.content


async def test_the_events_of_an_answer_end_in_exactly_one_terminal_event(tmp_path) -> None:
    async with opened(tmp_path) as (web, _, _base):
        await index(web, tmp_path / "pages")
        events = [event async for event in web.stream_answer("What is a dinghy?")]
    names = [event.event for event in events]
    assert names[-1] == "tool_end"
    assert sum(name in ("tool_end", "error") for name in names) == 1
    assert [e.data["phase"] for e in events if e.data.get("status") == "started"] == [
        "WEB_SEARCH",
        "SCRAPING_URLS",
        "RERANKING",
        "GENERATION",
    ]
    assert events[-1].data["response_id"]


async def test_a_stream_that_is_left_early_stops_its_work(tmp_path) -> None:
    async with opened(tmp_path) as (web, _, _base):
        await index(web, tmp_path / "pages")
        before = asyncio.all_tasks()
        events = web.stream_answer("What is a dinghy?")
        async for _ in events:
            break
        await events.aclose()
        assert asyncio.all_tasks() == before


async def test_a_file_is_read_only_below_the_workspace(tmp_path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "page.html").write_text(GUIDE)
    (tmp_path / "out.txt").write_text("secret")
    (tmp_path / "in" / "link.txt").symlink_to(tmp_path / "out.txt")
    async with opened(tmp_path, workspace=tmp_path / "in") as (web, _, _base):
        assert (await web.fetch("./page.html")).title == "Tide guide"
        for outside in ("../out.txt", str(tmp_path / "out.txt"), "./link.txt"):
            with pytest.raises(NotAllowed):
                await web.fetch(outside)
    async with opened(tmp_path) as (web, _, _base):
        with pytest.raises(InvalidArguments):
            await web.fetch(str(tmp_path / "in" / "page.html"))


def test_the_blocking_face_has_the_same_methods(tmp_path) -> None:
    (tmp_path / "page.html").write_text(GUIDE)
    settings = LOCAL | {"library": {"path": str(tmp_path / "library.db")}}
    with BlockingWeb(settings, workspace=tmp_path) as web:
        page = web.fetch("./page.html", budget=500)
        assert web.get(page.response_id, section="Install").content
        list(web.index(str(tmp_path / "page.html")))
        assert web.search("harbour wall").results
        assert [event.event for event in web.stream_answer("When was the harbour wall rebuilt?")][-1] == "tool_end"
        assert web.answer("When was the harbour wall rebuilt?").sources_used


async def test_a_limit_of_the_run_is_named_when_it_is_spent(tmp_path) -> None:
    settings = {"limits": {"requests": 3, "tokens": 400}}
    async with opened(tmp_path, settings=settings | {"egress": LOCAL["egress"]}) as (web, _, base):
        page = await web.fetch(f"{base}/guide")
        assert counter("o200k_base").count(page.as_text()) <= 400
        spent = counter("o200k_base").count(page.as_text())

        async def spend_the_rest() -> None:
            nonlocal spent
            while spent <= 400:
                spent += counter("o200k_base").count((await web.fetch(f"{base}/guide")).as_text())

        with pytest.raises(BudgetSpent, match="tokens"):
            await spend_the_rest()
        assert spent <= 400
    async with opened(tmp_path, settings={"limits": {"requests": 1}, "egress": LOCAL["egress"]}) as (web, _, base):
        await web.fetch(f"{base}/guide")
        with pytest.raises(BudgetSpent, match="requests"):
            await web.fetch(f"{base}/note.txt")
        assert web.ledger.as_dict()["requests"] == 1
        assert web.ledger.as_dict()["bytes"] > 0


async def test_a_response_is_kept_across_sessions_as_its_site_allows(tmp_path) -> None:
    kept = {"/fresh": answer(200, "High water at six.", {"content-type": "text/plain", "cache-control": "max-age=600"})}
    settings = LOCAL | {"store": {"path": str(tmp_path / "results")}}
    async with serving(kept | {"/robots.txt": answer(404, "")}) as server:
        url = server.url("/fresh", host="127.0.0.1")
        for asked in ({}, {}, {"max_age": 0}, {"refresh": True}):
            async with Web(settings) as web:
                assert (await web.fetch(url, **asked)).content == "High water at six."
        assert server.targets.count("/fresh") == 3
        async with Web(settings, policy=Policy(allow_ranges=("127.0.0.0/8",), block=("nowhere.example",))) as web:
            await web.fetch(url)
        assert server.targets.count("/fresh") == 4, "another policy has a cache of its own"


async def test_every_decision_leaves_a_line_and_no_line_has_a_secret(tmp_path) -> None:
    log = tmp_path / "audit.jsonl"
    settings = {"egress": {"allow_ranges": ["127.0.0.0/8"], "audit": str(log)}, "keys": {"BRAVE_API_KEY": "canary-5f0c2e"}}
    async with opened(tmp_path, settings=settings) as (web, _, base):
        await web.fetch(f"{base}/old")
        for refused in (
            f"{base}/secret",
            "http://10.0.0.7/",
            f"{base}/note.txt?k=canary-5f0c2e",
            f"{base}/note.txt?k=Y2FuYXJ5LTVmMGMyZQ==",
        ):
            with pytest.raises(Refused):
                await web.fetch(refused)
        with pytest.raises(Vetoed, match="BRAVE_API_KEY"):
            await web.search("please look up canary-5f0c2e")
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert [line["code"] for line in lines if line["decision"] == "refused"] == ["robots", "private_address", "vetoed", "vetoed", "vetoed"]
    assert [line["url"].rsplit("/", 1)[1] for line in lines if line["decision"] == "allowed"] == ["robots.txt", "old", "guide"]
    assert "canary" not in log.read_text()
    assert log.stat().st_mode & 0o777 == 0o600


async def test_without_any_size_named_a_page_is_at_most_64_000_bytes(tmp_path) -> None:
    long = "水門は毎朝六時に開きます。" * 4_000
    async with serving({"/": answer(200, long, {"content-type": "text/plain; charset=utf-8"}), "*": answer(404, "")}) as server:
        settings = LOCAL | {"fetch": {"max_chars": 100_000}}
        async with Web(settings) as web:
            url = server.url("/", host="127.0.0.1")
            page = await web.fetch(url)
            assert len(page.content.encode()) <= 64_000
            assert page.truncated
            assert page.next_offset
            whole = await web.fetch(url, max_chars=100_000)
            assert len(whole.content.encode()) > 64_000
