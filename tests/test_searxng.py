"""The searxng provider against the real searx of Debian on loopback, and against what instances answer when they refuse."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from cormorant.errors import CormorantError, NotConfigured
from cormorant.providers.searxng import Searxng
from cormorant.search import Query
from cormorant.settings import of
from support_backends import request, serving

SEARX = shutil.which("searx-run")
SETTINGS = """
use_default_settings: false
general: {{debug: false, instance_name: test}}
search: {{safe_search: 0, autocomplete: "", default_lang: "", ban_time_on_fail: 0, max_ban_time_on_fail: 0}}
server:
  {{port: {port}, bind_address: 127.0.0.1, secret_key: test, base_url: false, http_protocol_version: "1.0", method: GET}}
ui:
  static_path: /usr/share/python3-searx/static
  templates_path: /usr/share/python3-searx/templates
  default_theme: oscar
  default_locale: ""
  theme_args: {{oscar_style: logicodev}}
  autofocus: false
  archive_today: false
outgoing: {{request_timeout: 2.0, useragent_suffix: "", pool_connections: 10, pool_maxsize: 10}}
engines:
  - &engine
    name: harbour
    engine: json_engine
    shortcut: hb
    categories: general
    paging: true
    enable_http: true
    timeout: 3.0
    first_page_num: 1
    search_url: "{engine}/s?q={{query}}&p={{pageno}}"
    results_query: results
    url_query: url
    title_query: title
    content_query: content
  - <<: *engine
    name: broken
    shortcut: br
    search_url: "{engine}/broken?q={{query}}"
locales: {{en: English}}
doi_resolvers: {{oadoi.org: "https://oadoi.org/"}}
default_doi_resolver: oadoi.org
"""


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


def engine(seen):
    if seen.path == "/broken":
        return 500, {}, {"error": "down"}
    if "nothing" in seen.params.get("q", ""):
        return 200, {}, {"results": []}
    page = int(seen.params["p"])
    rows = [
        {"url": f"https://r{n}.example/tide", "title": f"Tide <b>table</b> {n}", "content": f"High &amp; low water, note {n}"}
        for n in range(page * 10, page * 10 + 3)
    ]
    return 200, {}, {"results": rows}


@pytest.fixture(scope="module")
def instance(tmp_path_factory):
    """A real instance whose engines are on loopback, too."""
    if not SEARX:
        pytest.skip("Debian's searx is not installed (apt install searx)")
    port, folder = free_port(), tmp_path_factory.mktemp("searx")
    with serving() as simulator, (folder / "log").open("wb") as log:
        simulator.answer = engine
        (folder / "settings.yml").write_text(SETTINGS.format(port=port, engine=simulator.url))
        env = {"PATH": os.environ["PATH"], "HOME": str(folder), "SEARX_SETTINGS_PATH": str(folder / "settings.yml")}
        process = subprocess.Popen([SEARX], env=env, cwd=folder, stdout=log, stderr=log)
        try:
            _await(f"http://127.0.0.1:{port}", process, folder)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(10)


def _await(url: str, process: subprocess.Popen[bytes], folder: Path) -> None:
    """Bounded: each try waits for the connection itself, refused ones are repeated while the process lives."""
    for _ in range(600):
        try:
            with urllib.request.urlopen(f"{url}/healthz", timeout=30):
                return
        except (urllib.error.URLError, ConnectionError):
            try:
                process.wait(0.1)
            except subprocess.TimeoutExpired:
                continue
            break
    pytest.fail(f"searx did not start: {(folder / 'log').read_text()[-2000:]}")


def searxng(url: str) -> Searxng:
    return Searxng(of({"search": {"provider": "searxng", "url": url}}), request)


@pytest.mark.anyio
async def test_a_real_instance_answers(instance):
    found = await searxng(instance).search(Query("harlow tide", count=3, language="en-US", safe_search="strict"))
    assert found.provider == "searxng"
    assert [hit.url for hit in found.results] == [f"https://r{n}.example/tide" for n in (10, 11, 12)]
    assert found.results[0].engine == "harbour"
    assert "High & low water" in found.results[0].snippet
    second = await searxng(instance).search(Query("harlow tide", page=2))
    assert [hit.url for hit in second.results] == [f"https://r{n}.example/tide" for n in (20, 21, 22)]


@pytest.mark.anyio
async def test_a_failed_engine_is_a_note_beside_the_rows(instance):
    found = await searxng(instance).search(Query("harlow tide"))
    assert len(found.results) == 3
    assert any(note.startswith("partial_provider_failure") and "broken" in note for note in found.notes)


@pytest.mark.parametrize(
    ("status", "body", "headers", "code", "says"),
    [
        pytest.param(403, "<!doctype html><h1>Forbidden</h1>", {}, "provider_misconfigured", "search.formats", id="no json"),
        pytest.param(200, "<!doctype html><p>results", {}, "provider_misconfigured", "search.formats", id="html instead of json"),
        pytest.param(429, "Rate limit exceeded", {}, "rate_limited", "429", id="limiter"),
        pytest.param(500, "<h1>Internal Server Error</h1>", {}, "provider_error", "500", id="broken"),
        pytest.param(401, "no", {}, "provider_error", "401", id="behind a login"),
        pytest.param(404, "Not found", {}, "provider_error", "404", id="not an instance"),
        pytest.param(200, {"unexpected": 1}, {}, "provider_error", "shape", id="other json"),
        pytest.param(
            200, {"results": [], "unresponsive_engines": [["a", "timeout"]]}, {}, "provider_error", "no engine", id="all engines failed"
        ),
    ],
)
@pytest.mark.anyio
async def test_what_an_instance_says_when_it_refuses(status, body, headers, code, says):
    with serving() as simulator:
        simulator.play(body, status, **headers)
        with pytest.raises(CormorantError) as caught:
            await searxng(simulator.url).search(Query("x"))
    error = caught.value.as_dict()
    assert error["code"] == code
    assert says in error["message"]
    assert "<h1>" not in error["message"]
    assert error["hint"]
    assert error["retryable"] == (status in (429, 500) or "no engine" in says)


@pytest.mark.anyio
async def test_the_request_is_as_documented():
    with serving() as simulator:
        simulator.play({"results": []})
        settings = of({"search": {"provider": "searxng", "url": f"{simulator.url}/", "key": "token-1"}})
        found = await Searxng(settings, request).search(
            Query("a b", page=3, freshness="week", language="de", safe_search="off", domains=("docs.python.org", "-x.org"))
        )
    assert found.results == ()
    assert found.freshness_applied == "provider"
    (seen,) = simulator.seen
    assert (seen.method, seen.path) == ("GET", "/search")
    assert seen.params == {
        "q": "a b site:docs.python.org -site:x.org",
        "format": "json",
        "pageno": "3",
        "safesearch": "0",
        "language": "de",
        "time_range": "week",
    }
    assert seen.headers["authorization"] == "Bearer token-1"


@pytest.mark.parametrize(
    "url", ["ftp://x.example", "http://user:pw@x.example", "http://x.example/?a=b", "http://x.example/#f", "x.example", "http://"]
)
def test_an_address_has_to_be_plain(url):
    with pytest.raises(NotConfigured, match="plain http"):
        searxng(url)


def test_without_an_address_it_is_not_configured():
    with pytest.raises(NotConfigured) as caught:
        Searxng(of({"search": {"provider": "searxng"}}), request)
    assert "search.urls.searxng" in caught.value.remedy
