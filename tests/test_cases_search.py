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
