"""Failures that users of search backends met, replayed against ours."""

from __future__ import annotations

import importlib.util
import json
import time
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

import pytest

from cormorant.choice import Finder
from cormorant.errors import CormorantError
from cormorant.providers.searxng import Searxng
from cormorant.search import Query
from cormorant.settings import SECRETS, of
from support_backends import Seen, request, serving

KEYS = dict.fromkeys(SECRETS, "test-key")


def checker(cases: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("case_checker", cases / "bugs" / "check.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def searches(cases: Path) -> list[dict[str, Any]]:
    lines = (cases / "bugs" / "cases.jsonl").read_text().splitlines()
    return [case for case in map(json.loads, lines) if case["op"] == "search"]


class Playing:
    """Answers by path as the case says; `once` answers are used up."""

    def __init__(self, exchanges: list[dict[str, Any]]) -> None:
        self.exchanges = list(exchanges)
        self.times: list[float] = []

    def __call__(self, seen: Seen) -> tuple[int, dict[str, str], Any]:
        self.times.append(time.monotonic())
        for exchange in self.exchanges:
            wanted = urlsplit(exchange["request"]["url"])
            if (
                len({urlsplit(e["request"]["url"]).netloc for e in self.exchanges}) > 1
                and wanted.netloc.split(".")[0] != seen.path.split("/")[1]
            ):
                continue
            response = exchange["response"]
            if response.get("once"):
                self.exchanges.remove(exchange)
            return response["status"], response["headers"], response["body"]
        return 404, {}, "nothing left to play"


async def run(given: dict[str, Any], url: str, playing: Playing, seen: list[Seen], state: Path) -> dict[str, Any]:
    name = given["provider"]
    options = {"freshness": "none", **given["options"]}
    query = Query(given["query"], freshness=options["freshness"], domains=tuple(options.get("domains", ())))
    if name.startswith("multi:"):
        names = name.removeprefix("multi:").split(",")
        settings = of({"search": {"provider": "auto"}})
        finder = Finder(settings, request=request, state=state)
        finder._made = {n: Instance(n, f"{url}/{n}") for n in names}
        asked = "+".join(names)
    else:
        settings = of({"search": {"provider": name, "urls": {name: url}, "engine_id": "x"}, "keys": KEYS})
        finder, asked = Finder(settings, request=request, state=state), "auto"
    try:
        found = await (finder._fused(asked.split("+"), query) if "+" in asked else finder.search(query))
        result: dict[str, Any] = {"ok": True, **found.as_dict(), "cached": False}
        result["warnings"] = [" ".join(note.split(": ")[:1]) for note in found.notes]
        result["error"] = None
    except CormorantError as error:
        result = {"ok": False, "error": error.as_dict(), "warnings": []}
        if error.code == "rate_limited" and not error.retryable:
            result["error"]["code"] = "quota_exhausted"
    result["request_count"] = len(playing.times)
    result["min_gap_s"] = min((b - a for a, b in zip(playing.times, playing.times[1:], strict=False)), default=None)
    result["requests"] = [{"json": s.json, "params": s.params, "headers": s.headers} for s in seen]
    return result


class Instance(Searxng):
    """A backend of one's own, shaped like SearXNG."""

    def __init__(self, name: str, url: str) -> None:
        super().__init__(of({"search": {"urls": {"searxng": url}}}), request)
        self.name = name  # type: ignore[misc]


@pytest.mark.anyio
async def test_every_collected_search_failure_is_met(cases, tmp_path):
    checks = checker(cases)
    failed = []
    for case in searches(cases):
        given = json.loads((cases / "bugs" / case["input"]["files"]["input"]).read_text())
        with serving() as simulator:
            simulator.answer = playing = Playing(given["exchanges"])
            result = await run(given, simulator.url, playing, simulator.seen, tmp_path / f"{case['id']}.json")
        failed += [(case["id"], check, result) for ok, check in checks.check(case, result) if not ok]
    assert not failed


# The same kinds of failure, told by every backend in its own words. None of these needs the collection.

KEYED = "brave brave_context exa tavily serper kagi perplexity firecrawl jina parallel google openai xai anthropic gemini"
ALL = [*KEYED.split(), "searxng", "tavily_keyless", "mediawiki", "wikipedia"]
PAST = "2011-01-01"


async def asked(
    name: str, answers: list[tuple[int, dict[str, str], Any]], query: Query, state: Path, **search: Any
) -> tuple[Any, list[Seen]]:
    """What one backend, asked by name, makes of these answers; and what it was sent."""
    with serving() as simulator:
        simulator.answers = list(answers)
        settings = of({"search": {"provider": name, "urls": {name: simulator.url}, "engine_id": "x", **search}, "keys": KEYS})
        try:
            return await Finder(settings, request=request, state=state).search(query), simulator.seen
        except CormorantError as error:
            return error, simulator.seen


@pytest.mark.anyio
@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize(
    "body",
    [
        {"error": {"code": 500, "message": "backend exploded"}},
        {"error": "backend exploded"},
        {"type": "error", "error": {"type": "overloaded", "message": "backend exploded"}},
    ],
    ids=["object", "text", "typed"],
)
async def test_a_failure_that_calls_itself_200_is_never_no_results(name, body, tmp_path):
    found, _ = await asked(name, [(200, {}, body)], Query("tides"), tmp_path / "health.json")
    assert isinstance(found, CormorantError)
    assert found.code in ("provider_error", "provider_misconfigured", "rate_limited")
    assert name.split("_")[0] in found.message.lower()


@pytest.mark.anyio
async def test_serper_says_no_with_a_message_alone(tmp_path):
    found, _ = await asked("serper", [(200, {}, {"message": "Unauthorized.", "statusCode": 403})], Query("tides"), tmp_path / "h.json")
    assert isinstance(found, CormorantError)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("status", "kind", "body"),
    [
        (403, "text/html", "<html><title>403 Forbidden</title><h1>Forbidden</h1></html>"),
        (403, "text/plain", "Forbidden"),
        (403, "application/json", {"error": "forbidden"}),
        (200, "text/html", "<!DOCTYPE html><html><body><main id='results'>42 results</main></body></html>"),
        (200, "text/html", ""),
    ],
    ids=["html", "plain", "json", "results as html", "empty"],
)
async def test_a_searxng_without_json_is_named_for_what_it_is(status, kind, body, tmp_path):
    found, _ = await asked("searxng", [(status, {"content-type": kind}, body)], Query("tides"), tmp_path / "h.json")
    assert found.code == "provider_misconfigured"
    assert "search.formats" in found.message
    assert "settings.yml" in found.remedy
    assert "<h1>" not in found.message


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("engines", "rows", "note"),
    [
        ([["google", "timeout"]], 1, "google timeout"),
        ([["google", "Suspended: CAPTCHA"], ["bing", "access denied"]], 1, "bing access denied"),
        (["brave"], 1, "brave"),
        ([["google", "timeout"]], 0, ""),
    ],
    ids=["one", "several", "a bare name", "all of them"],
)
async def test_engines_that_failed_are_named(engines, rows, note, tmp_path):
    body = {"results": [{"title": "T", "url": "https://a.example/"}] * rows, "unresponsive_engines": engines}
    found, _ = await asked("searxng", [(200, {}, body)], Query("tides"), tmp_path / "h.json")
    if not rows:
        assert (found.code, found.retryable) == ("provider_error", True)
        assert "google" in found.message
        return
    assert any(one.startswith("partial_provider_failure") and note in one for one in found.notes)


@pytest.mark.anyio
@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("after", ["120", "Mon, 30 Nov 2026 12:02:00 GMT"], ids=["seconds", "date"])
async def test_a_long_pause_is_the_caller_s_to_decide(name, after, tmp_path):
    headers = {"retry-after": after, "date": "Mon, 30 Nov 2026 12:00:00 GMT"}
    found, seen = await asked(name, [(429, headers, {"detail": "slow down"})], Query("tides"), tmp_path / "h.json")
    assert (found.code, found.retryable, len(seen)) == ("rate_limited", True, 1)
    assert found.retry_after == pytest.approx(120, abs=2)


@pytest.mark.anyio
@pytest.mark.parametrize("name", ["brave", "exa", "searxng", "perplexity"])
async def test_a_backend_in_repair_rests_as_long_as_it_says(name, tmp_path):
    found, _ = await asked(name, [(503, {"retry-after": "300"}, "maintenance")], Query("tides"), tmp_path / "h.json")
    assert (found.code, found.retryable, found.retry_after) == ("provider_error", True, 300)


@pytest.mark.anyio
@pytest.mark.parametrize("name", ALL)
async def test_what_is_not_asked_is_not_sent(name, tmp_path):
    _, seen = await asked(name, [(500, {}, "down")], Query("tides"), tmp_path / "h.json")

    def empties(value: Any) -> bool:
        if isinstance(value, dict):
            return any(empties(item) for item in value.values())
        return value in (None, "", [], "[]", "null", "None")

    body = {key: item for key, item in (seen[0].json or {}).items() if key != "tools"}  # an empty object asks for Gemini's
    assert not empties(body)
    assert not empties(seen[0].params)


@pytest.mark.anyio
@pytest.mark.parametrize("name", ["brave", "exa", "tavily", "serper", "kagi", "perplexity", "jina", "google", "searxng"])
@pytest.mark.parametrize(("freshness", "kept"), [("day", 0), ("year", 0), ("none", 1)])
async def test_a_freshness_that_was_not_honoured_is_enforced_and_said(name, freshness, kept, tmp_path):
    dates = dict.fromkeys(("date", "publishedDate", "page_age", "time", "published_date"), PAST)
    old: dict[str, Any] = {"title": "Old", "url": "https://r1.example/", "link": "https://r1.example/", **dates}
    old["pagemap"] = {"metatags": [{"article:published_time": PAST}]}
    body = {
        "results": [old],
        "web": {"results": [old]},
        "organic": [old],
        "items": [old],
        "data": [old] if name == "jina" else {"search": [old]},
    }
    found, _ = await asked(name, [(200, {}, body)], Query("tides", freshness=freshness), tmp_path / "h.json")  # type: ignore[arg-type]
    assert len(found.results) == kept
    assert any(note.startswith("option_ignored:freshness") for note in found.notes) is (freshness != "none")
