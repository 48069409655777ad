"""The server at its edges: limits, callers who leave, the end of the server, other sites, and the routes of other products."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx2
import pytest

from cormorant import sse
from cormorant.surfaces import executions, http
from support_net import Server, answer, serving
from support_server import running

pytestmark = pytest.mark.anyio

PAGE = (
    "<html lang=en><title>Tides</title><main><h1>Tides</h1><p>High water stood at six, wrote the keeper.</p>"
    '<a href="/next">The next tide</a></main>'
)
PAGES = {
    "/tides": answer(200, PAGE, {"content-type": "text/html"}),
    "/a%2Fb?c=d%26e": answer(200, "as it was sent", {"content-type": "text/plain"}),
    "*": answer(404, "no"),
}


@asynccontextmanager
async def a_slow_site() -> AsyncIterator[tuple[Server, asyncio.Event]]:
    """A site whose pages wait until the event is set."""
    hold = asyncio.Event()

    async def handler(request, writer) -> bool:
        if request.target != "/robots.txt":
            await hold.wait()
        writer.write(answer(404, "") if request.target == "/robots.txt" else PAGES["/tides"])
        return True

    async with serving(handler) as site:
        try:
            yield site, hold
        finally:
            hold.set()


async def until(condition) -> None:
    async with asyncio.timeout(10):
        while not condition():
            await asyncio.sleep(0.01)


async def watched(client: httpx2.AsyncClient, url: str) -> list[sse.Message]:
    reader, seen = sse.Reader(), []
    async with client.stream("GET", url) as response:
        async for piece in response.aiter_bytes():
            seen += reader.feed(piece)
    return seen


async def test_a_server_that_stops_ends_every_stream_with_an_event(tmp_path) -> None:
    async with a_slow_site() as (site, _), running(tmp_path) as client:
        inputs = {"url": site.url("/slow", host="127.0.0.1")}
        run = (await client.post("/v1/tools/web_fetch/execute", json={"inputs": inputs})).json()
        watching = [asyncio.create_task(watched(client, run["stream_url"])) for _ in range(3)]
        await until(lambda: "/slow" in site.targets)
        client.served.should_exit = True
        for messages in await asyncio.gather(*watching):
            assert [(message.event, message.json()["code"]) for message in messages] == [("error", "cancelled")]


async def test_a_server_that_stops_lets_short_work_finish(tmp_path) -> None:
    async with a_slow_site() as (site, hold), running(tmp_path, grace_s=10) as client:
        work = asyncio.create_task(client.post("/v1/fetch", json={"url": site.url("/slow", host="127.0.0.1")}))
        await until(lambda: "/slow" in site.targets)
        client.served.should_exit = True
        await until(lambda: client.service.stopping)
        hold.set()
        assert (await work).json()["title"] == "Tides"


async def test_a_caller_who_leaves_takes_the_work_along(tmp_path) -> None:
    async with a_slow_site() as (site, _), running(tmp_path) as client:
        work = asyncio.create_task(client.post("/v1/fetch", json={"url": site.url("/slow", host="127.0.0.1")}))
        await until(lambda: "/slow" in site.targets)
        assert client.service.tenant("local").calls == 1
        work.cancel()
        await until(lambda: client.service.tenant("local").calls == 0)


async def test_a_stream_beats_while_nothing_happens_and_ends_with_who_asked_for_it(tmp_path, monkeypatch) -> None:
    """A streamed call is its caller's; a run goes on when one of those who watch it leaves."""
    monkeypatch.setattr(http, "HEARTBEAT_S", 0.05)
    async with a_slow_site() as (site, hold), running(tmp_path) as client:
        runs = client.service.tenant("local").executions
        body = {"url": site.url("/slow", host="127.0.0.1")}
        async with client.stream("POST", "/v1/fetch", json=body, headers={"accept": "text/event-stream"}) as answered:
            pieces = answered.aiter_bytes()
            async with asyncio.timeout(10):
                assert [await anext(pieces) for _ in range(3)] == [sse.HEARTBEAT] * 3
            mine = runs.get(answered.headers["x-execution-id"])
            assert mine.status == "running"
        await until(lambda: mine.status == "cancelled")
        run = (await client.post("/v1/tools/web_fetch/execute", json={"inputs": body})).json()
        async with client.stream("GET", run["stream_url"]) as answered:
            async with asyncio.timeout(10):
                assert await anext(answered.aiter_bytes()) == sse.HEARTBEAT
        assert runs.get(run["execution_id"]).status == "running"
        hold.set()
        assert [message.event for message in await watched(client, run["stream_url"])] == ["tool_end"]


async def test_calls_beyond_the_limits_are_told_to_wait(tmp_path) -> None:
    async with a_slow_site() as (site, _), running(tmp_path, queue=1, timeout=30) as client:
        url = site.url("/slow", host="127.0.0.1")
        run = (await client.post("/v1/tools/web_fetch/execute", json={"inputs": {"url": url}})).json()
        await until(lambda: "/slow" in site.targets)
        for path, body in (("/v1/fetch", {"url": url}), ("/v1/tools/web_fetch/execute", {"inputs": {"url": url}})):
            refused = await client.post(path, json=body)
            assert (refused.status_code, refused.json()["code"], refused.json()["retryable"]) == (503, "rate_limited", True)
            assert int(refused.headers["retry-after"]) >= 1
        await client.delete(run["details_url"])


async def test_a_call_past_its_deadline_is_a_timeout(tmp_path) -> None:
    async with a_slow_site() as (site, _), running(tmp_path, timeout=0.3) as client:
        got = await client.post("/v1/fetch", json={"url": site.url("/slow", host="127.0.0.1")})
        assert (got.status_code, got.json()["code"]) == (504, "timeout")
        assert "server.timeout" in got.json()["hint"]


@pytest.mark.parametrize("counted", [True, False], ids=["with a length", "in chunks"])
async def test_a_body_past_the_limit_is_refused(tmp_path, counted) -> None:
    big = json.dumps({"query": "x" * 1_100_000}).encode()

    async def pieces():
        for start in range(0, len(big), 65536):
            yield big[start : start + 65536]

    async with running(tmp_path) as client:
        got = await client.post("/v1/search", content=big if counted else pieces())
        assert (got.status_code, got.json()["code"]) == (413, "too_large")


@pytest.mark.parametrize(("method", "path", "status"), [("GET", "/nope", 404), ("PUT", "/v1/search", 405), ("POST", "/v1/dive", 404)])
async def test_what_is_not_there_has_the_one_shape(tmp_path, method, path, status) -> None:
    async with running(tmp_path) as client:
        got = await client.request(method, path)
    assert got.status_code == status
    assert got.json()["code"] == "invalid_arguments"
    assert "openapi" in got.json()["hint"]
    if status == 405:
        assert got.headers["allow"] == "POST"


async def test_another_sites_link_or_image_starts_nothing(tmp_path) -> None:
    async with serving(PAGES) as site, running(tmp_path) as client:
        for where in ("cross-site", "same-site"):
            got = await client.get(f"/r/{site.url('/tides', host='127.0.0.1')}", headers={"sec-fetch-site": where})
            assert got.status_code == 403
        assert site.targets == []
        assert (await client.get("/", headers={"sec-fetch-site": "cross-site"})).status_code == 200


async def test_listed_origins_may_read_the_answers_and_others_get_no_permission(tmp_path) -> None:
    async with running(tmp_path, origins=["https://app.example"]) as client:
        asking = {"origin": "https://app.example", "access-control-request-method": "POST"}
        preflight = await client.request("OPTIONS", "/v1/search", headers=asking)
        assert preflight.status_code == 204
        assert preflight.headers["access-control-allow-origin"] == "https://app.example"
        assert (await client.get("/v1/tools", headers={"origin": "https://app.example"})).status_code == 200
        other = await client.request("OPTIONS", "/v1/search", headers={**asking, "origin": "https://evil.example"})
        assert "access-control-allow-origin" not in other.headers
        assert other.status_code == 403


async def test_the_reader_route_gives_markdown_of_the_address_as_it_was_sent(tmp_path) -> None:
    async with serving(PAGES) as site, running(tmp_path) as client:
        got = await client.get(f"/r/{site.url('/tides', host='127.0.0.1')}")
        assert got.headers["content-type"] == "text/markdown; charset=utf-8"
        assert got.text.startswith("Title: Tides\nURL: http://127.0.0.1")
        assert "High water stood at six" in got.text
        escaped = await client.get(f"/r/{site.url('/a%2Fb?c=d%26e', host='127.0.0.1')}")
        assert escaped.text.endswith("as it was sent\n")
        assert (await client.get("/r/http://10.0.0.7/")).json()["code"] == "private_address"


async def test_the_routes_of_firecrawl(tmp_path) -> None:
    async with serving(PAGES) as site, running(tmp_path) as client:
        url = site.url("/tides", host="127.0.0.1")
        got = (await client.post("/v2/scrape", json={"url": url, "formats": ["markdown", {"type": "links"}], "mobile": True})).json()
        assert got["success"] is True
        assert "High water stood at six" in got["data"]["markdown"]
        assert got["data"]["links"] == [site.url("/next", host="127.0.0.1")]
        assert got["data"]["metadata"] == {
            "title": "Tides",
            "language": "en",
            "url": url,
            "statusCode": 200,
            "contentType": "text/html",
            "sourceURL": url,
        }
        assert got["warning"] == "not done here: mobile"
        mapped = (await client.post("/v2/map", json={"url": url, "search": "next"})).json()
        assert mapped["links"] == [{"url": site.url("/next", host="127.0.0.1"), "title": "The next tide"}]
        refused = await client.post("/v2/scrape", json={"url": "http://10.0.0.7/"})
        assert (refused.status_code, refused.json()["success"], refused.json()["code"]) == (403, False, "private_address")
        assert (await client.post("/v2/scrape", json={"url": url, "formats": ["screenshot"]})).status_code == 422
        for key, status in (("fc-anything", 200), ("cmt_revoked", 401)):  # their clients always send a key; one of ours has to be right
            got = await client.post("/v2/scrape", json={"url": url}, headers={"authorization": f"Bearer {key}"})
            assert got.status_code == status
        assert (await client.post("/v1/fetch", json={"url": url}, headers={"x-api-key": "fc-anything"})).status_code == 401
        nothing = (await client.post("/v2/search", json={"query": "tides", "limit": 2})).json()
        assert nothing["success"] is False or nothing["data"] == {"web": []}


async def test_a_firecrawl_call_ends_at_its_own_deadline(tmp_path) -> None:
    async with a_slow_site() as (site, _), running(tmp_path) as client:
        got = await client.post("/v2/scrape", json={"url": site.url("/slow", host="127.0.0.1"), "timeout": 200})
        assert (got.status_code, got.json()["success"], got.json()["code"]) == (504, False, "timeout")


async def test_a_site_is_mapped_and_crawled_with_live_events(tmp_path) -> None:
    async with serving(PAGES) as site, running(tmp_path) as client:
        url = site.url("/tides", host="127.0.0.1")
        mapped = (await client.post("/v1/map", json={"url": url})).json()
        assert mapped["links"] == [{"url": site.url("/next", host="127.0.0.1"), "title": "The next tide", "source": "link"}]
        run = (await client.post("/v1/tools/web_crawl/execute", json={"inputs": {"url": url, "pages": 5}})).json()
        seen = await watched(client, run["stream_url"])
        assert [(message.event, message.json().get("ok")) for message in seen] == [
            ("tool_update", True),
            ("tool_update", False),
            ("tool_end", None),
        ]
        assert seen[-1].json()["items"][1]["error"]["code"] == "http_error"


async def test_old_runs_leave_memory_and_stay_on_disk(tmp_path, monkeypatch) -> None:
    class Large:
        def as_dict(self) -> dict[str, str]:
            return {"text": "x" * 1000}

    async def work(_emit) -> Large:
        return Large()

    monkeypatch.setattr(executions, "KEPT_BYTES", 5_000)
    runs = executions.Executions(tmp_path)
    made = [runs.start("web_fetch", {}, work) for _ in range(20)]
    await asyncio.gather(*(run.task for run in made))
    assert sum(runs.get(run.id) is run for run in made) <= 5
    assert [row["id"] for row in runs.latest()[0]] == sorted((run.id for run in made), reverse=True)
    oldest = runs.get(made[0].id)
    assert oldest is not made[0]
    assert oldest.outputs == {"text": "x" * 1000}
    assert [event[1] for event in oldest.events] == ["tool_end"]


async def test_the_list_of_runs_goes_on_past_a_restart_page_by_page(tmp_path) -> None:
    async with serving(PAGES) as site:
        url, began = site.url("/tides", host="127.0.0.1"), []
        for _ in range(2):
            async with running(tmp_path) as client:
                for _ in range(3):
                    done = await client.post("/v1/tools/web_fetch/execute?wait=true", json={"inputs": {"url": url}})
                    began.append(done.json()["id"])
                listed, before = [], ""
                while before is not None:
                    page = (await client.get("/v1/executions", params={"count": 2, "before": before})).json()
                    assert len(page["executions"]) <= 2
                    listed += [(row["id"], row["status"]) for row in page["executions"]]
                    before = page["next"]
                assert sorted(listed) == sorted((run, "completed") for run in began)
                assert [run for run, _ in listed] == sorted((run for run, _ in listed), reverse=True)
        async with running(tmp_path) as client:
            assert (await client.get("/v1/executions", params={"count": 0})).status_code == 422
            (first, *_) = (await client.get("/v1/executions", params={"count": 1})).json()["executions"]
            assert "outputs" not in first
            again = await watched(client, f"/v1/executions/{first['id']}/stream")
            assert [message.event for message in again] == ["tool_end"]


async def test_only_so_many_records_are_kept(tmp_path, monkeypatch) -> None:
    class Small:
        def as_dict(self) -> dict[str, str]:
            return {}

    async def work(_emit) -> Small:
        return Small()

    monkeypatch.setattr(executions, "KEPT_RECORDS", 4)
    monkeypatch.setattr(executions, "KEPT_RUNS", 1)
    monkeypatch.setattr(executions, "PRUNED_EVERY", 1)
    runs = executions.Executions(tmp_path)
    for _ in range(12):
        await runs.start("web_fetch", {}, work).task
    assert len(list(tmp_path.iterdir())) <= 4 + 2
