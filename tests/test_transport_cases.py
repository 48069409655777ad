"""Failures people reported of other clients, replayed here: those that policy and transport decide."""

from __future__ import annotations

import base64
import importlib.util
import json
import resource
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

import pytest

from cormorant.errors import CormorantError, Refused
from cormorant.policy import Policy
from support_net import Authority, Request, Scripted, answer, dials_to, quick, serving, transport

pytestmark = pytest.mark.anyio
BUGS = Path(__file__).parents[2] / "shared" / "cases" / "bugs"
PUBLIC = "93.184.215.14"
FETCHED = (  # by what the case is about, since other rooms decide the rest
    "ssrf",
    "resource-limits",
    "redirects",
    "rate-limit",
)
NOT_OURS = ("FET-27", "FET-28", "FET-30", "FET-33")  # the reading of the page decides them


def collected(op: str) -> list[Any]:
    lines = (BUGS / "cases.jsonl").read_text().splitlines() if BUGS.is_dir() else []
    found = [case for case in map(json.loads, lines) if case["op"] == op and case["kind"] in FETCHED]
    return [pytest.param(case, id=case["id"]) for case in found if not case["id"].startswith(NOT_OURS)]


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("ca"))


@pytest.fixture(scope="module")
def checker(cases: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("bug_checker", cases / "bugs" / "check.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def body_of(response: dict[str, Any]) -> bytes:
    if "body_b64" in response:
        return base64.b64decode(response["body_b64"])
    if many := response.get("repeat"):
        return (many.get("prefix", "") + many["unit"] * many["times"] + many.get("suffix", "")).encode()
    return (response.get("body") or "").encode()


def replaying(exchanges: list[dict[str, Any]], scheme: str, log: list[dict[str, Any]]) -> Callable[[Request], bytes]:
    """Answers as the exchange file says; what it does not hold is a 404."""
    used: set[int] = set()

    def respond(request: Request) -> bytes:
        host = request.host.partition(":")[0]
        log.append({"url": f"{scheme}://{host}{request.target}", "headers": request.headers})
        for n, exchange in enumerate(exchanges):
            asked, response = urlsplit(exchange["request"]["url"]), exchange["response"]
            if (asked.hostname, (asked.path or "/") + (f"?{asked.query}" if asked.query else "")) != (host, request.target):
                continue
            if (response.get("unless_cookie") or "\0") in request.headers.get("cookie", "") or (response.get("once") and n in used):
                continue
            used.add(n)
            headers = {
                name: value for name, value in response["headers"].items() if name.lower() not in ("content-length", "transfer-encoding")
            }
            return answer(response["status"], body_of(response), headers)
        return answer(404, "Not found")

    return respond


@pytest.mark.parametrize("case", collected("policy") or [pytest.param(None, id="none")])
def test_a_reported_policy_failure_does_not_happen_here(case: dict[str, Any] | None, cases: Path, checker: ModuleType) -> None:
    assert case
    call = case["input"]["call"]
    policy = Policy(allow=call.get("allow"), block=call.get("deny", call.get("block", ())))
    results = []
    for url in call["urls"]:
        try:
            policy.check_url(url)
        except CormorantError:
            results.append({"url": url, "allowed": False})
        else:
            results.append({"url": url, "allowed": True})
    wrong = [check for ok, check in checker.check(case, {"results": results}) if not ok]
    assert not wrong


@pytest.mark.parametrize("case", collected("fetch") or [pytest.param(None, id="none")])
async def test_a_reported_fetch_failure_does_not_happen_here(
    case: dict[str, Any] | None, cases: Path, checker: ModuleType, authority: Authority
) -> None:
    assert case
    call = case["input"]["call"]
    exchanges = json.loads((cases / "bugs" / case["input"]["files"]["exchange"]).read_text())
    exchanges = exchanges["exchanges"] if isinstance(exchanges, dict) else exchanges
    log: list[dict[str, Any]] = []
    dialled: list[str] = []
    resolve = Scripted(call.get("dns", {}), otherwise=(PUBLIC,))
    async with (
        serving({"*": replaying(exchanges, "http", log)}) as plain,
        serving({"*": replaying(exchanges, "https", log)}, tls=authority.for_any_name()) as secure,
    ):

        async def connect(address: str, port: int) -> Any:
            return await dials_to(secure.port if port == 443 else plain.port, dialled)(address, port)

        async with transport(Policy(), resolve=resolve, connect=connect, options=quick(ca_bundle=authority.bundle)) as t:
            result = await outcome_of(t, call)
    names = {ours: theirs for theirs, ours in json.loads((cases / "bugs" / "names.json").read_text()).items()}
    if "error" in result:
        result["error"]["code"] = names.get(result["error"]["code"], result["error"]["code"])
    result |= {
        "requests": log,
        "requested_urls": [entry["url"] for entry in log],
        "request_count": len(log),
        "connected_ip": dialled[0] if dialled else None,
    }
    wrong = [(check, result.get(check.get("f", ""))) for ok, check in checker.check(case, result) if not ok]
    assert not wrong


async def outcome_of(t: Any, call: dict[str, Any]) -> dict[str, Any]:
    started, before = time.monotonic(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        page = await t.get(
            call["url"], max_bytes=call.get("max_bytes", 2_000_000), timeout_s=call.get("timeout_s", 20), headers=call.get("headers")
        )
    except CormorantError as error:
        found = {"ok": False, "text": "", "error": error.as_dict(), "outcome": "error:unsupported_encoding"}
    else:
        found = {
            "ok": True,
            "text": page.body.decode("utf-8", "replace"),
            "final_url": page.url,
            "decoded_bytes": len(page.body),
            "received_bytes": page.wire_bytes,
            "truncated": page.truncated,
            "outcome": "decoded",
        }
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    return found | {"elapsed_s": time.monotonic() - started, "peak_memory_growth": grown}


def test_a_refusal_is_one_kind_of_error() -> None:
    with pytest.raises(Refused):
        Policy(allow=["example.com"]).check_url("https://example.com.evil.test/")
