"""Each backend against a simulator on loopback: the request exactly as documented, its answers, its failures."""

# ruff: noqa: E501 - requests and answers read best as rows of a table

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from cormorant import parts
from cormorant.document import Document
from cormorant.errors import CormorantError, NotConfigured
from cormorant.library import Library
from cormorant.providers.contract import check, check_all, playing
from cormorant.search import Found, Hit, Query
from cormorant.settings import SECRETS, of
from support_backends import request, serving

pytestmark = pytest.mark.anyio
KEYS = dict.fromkeys(SECRETS, "key-of-the-test")
FULL = Query(
    "low tide", count=5, page=2, freshness="week", language="pt-BR", safe_search="strict", domains=("x.example", ".y.example", "-z.example")
)
PLAIN = Query("low tide", count=5)


async def no_pause(seconds: float) -> None:
    """Retries at once."""


def provider(name: str, url: str, keys: dict[str, str] | None = None, **search: Any) -> Any:
    settings = of(
        {"search": {"provider": name, "urls": {name: url}, "engine_id": "cx-1", **search}, "keys": KEYS if keys is None else keys}
    )
    made = parts.part("search", name)(settings, request)
    made.sleep = no_pause
    return made


def row(**fields: Any) -> dict[str, Any]:
    return {"title": "Tide table", "url": "https://x.example/t", **fields}


# name, query, method, path, params or json, headers
REQUESTS = [
    pytest.param(
        "brave", FULL, "GET", "/res/v1/web/search",
        {"q": "low tide (site:x.example OR site:y.example) -site:z.example", "count": "5", "offset": "1", "safesearch": "strict", "text_decorations": "false",
         "result_filter": "web", "freshness": "pw", "search_lang": "pt-br", "country": "BR"},
        {"x-subscription-token": "key-of-the-test"}, id="brave",
    ),
    pytest.param("brave_context", PLAIN, "GET", "/res/v1/llm/context", {"q": "low tide", "count": "5", "maximum_number_of_urls": "5"}, {"x-subscription-token": "key-of-the-test"}, id="brave context"),
    pytest.param(
        "exa", PLAIN, "POST", "/search", {"query": "low tide", "numResults": 5, "type": "auto", "contents": {"highlights": True}}, {"x-api-key": "key-of-the-test"}, id="exa"
    ),
    pytest.param(
        "exa_keyless", PLAIN, "POST", "/mcp",
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "web_search_exa", "arguments": {"query": "low tide", "numResults": 5}}},
        {"accept": "application/json, text/event-stream"}, id="exa keyless",
    ),
    pytest.param(
        "tavily", PLAIN, "POST", "/search", {"query": "low tide", "max_results": 5, "search_depth": "basic"}, {"authorization": "Bearer key-of-the-test"}, id="tavily"
    ),
    pytest.param(
        "tavily", FULL, "POST", "/search",
        {"query": "low tide", "max_results": 20, "search_depth": "basic", "include_domains": ["x.example", "y.example"], "exclude_domains": ["z.example"],
         "time_range": "week"},
        {}, id="tavily with everything",
    ),
    pytest.param("serper", PLAIN, "POST", "/search", {"q": "low tide", "num": 5, "page": 1}, {"x-api-key": "key-of-the-test"}, id="serper"),
    pytest.param(
        "serper", FULL, "POST", "/search",
        {"q": "low tide (site:x.example OR site:y.example) -site:z.example", "num": 5, "page": 2, "tbs": "qdr:w", "hl": "pt", "gl": "br"}, {}, id="serper with everything",
    ),
    pytest.param(
        "kagi", PLAIN, "POST", "/api/v1/search", {"query": "low tide", "workflow": "search", "limit": 5, "page": 1, "safe_search": True},
        {"authorization": "Bearer key-of-the-test"}, id="kagi",
    ),
    pytest.param(
        "kagi", replace(FULL, freshness="none"), "POST", "/api/v1/search",
        {"query": "low tide", "workflow": "search", "limit": 5, "page": 2, "safe_search": True, "lens": {"sites_included": ["x.example", "y.example"], "sites_excluded": ["z.example"]},
         "filters": {"region": "BR"}},
        {}, id="kagi with everything",
    ),
    pytest.param(
        "tavily_keyless", PLAIN, "POST", "/search", {"query": "low tide", "max_results": 5, "search_depth": "basic"},
        {"x-tavily-access-mode": "keyless", "authorization": None}, id="tavily keyless",
    ),
    pytest.param("perplexity", PLAIN, "POST", "/search", {"query": "low tide", "max_results": 5}, {"authorization": "Bearer key-of-the-test"}, id="perplexity"),
    pytest.param(
        "perplexity", FULL, "POST", "/search",
        {"query": "low tide", "max_results": 20, "search_domain_filter": ["x.example", "y.example"], "search_recency_filter": "week", "search_language_filter": ["pt"],
         "country": "BR"},
        {}, id="perplexity with everything",
    ),
    pytest.param("firecrawl", PLAIN, "POST", "/v2/search", {"query": "low tide", "limit": 5, "sources": [{"type": "web"}]}, {"authorization": "Bearer key-of-the-test"}, id="firecrawl"),
    pytest.param("jina", PLAIN, "POST", "/", {"q": "low tide", "num": 5, "page": 1}, {"authorization": "Bearer key-of-the-test", "x-respond-with": "no-content"}, id="jina"),
    pytest.param(
        "parallel", PLAIN, "POST", "/v1/search",
        {"objective": "low tide", "search_queries": ["low tide"], "mode": "basic", "advanced_settings": {"max_results": 5}}, {"x-api-key": "key-of-the-test"}, id="parallel",
    ),
    pytest.param(
        "google", FULL, "GET", "/customsearch/v1",
        {"cx": "cx-1", "q": "low tide (site:x.example OR site:y.example) -site:z.example", "num": "5", "start": "6", "safe": "active", "dateRestrict": "w1", "lr": "lang_pt"},
        {"x-goog-api-key": "key-of-the-test"}, id="google",
    ),
    pytest.param(
        "mediawiki", Query("low tide", count=5, page=3), "GET", "/api.php",
        {"action": "query", "list": "search", "format": "json", "formatversion": "2", "srsearch": "low tide", "srlimit": "5", "sroffset": "10", "srprop": "snippet",
         "srnamespace": "0"},
        {}, id="mediawiki",
    ),
    pytest.param("duckduckgo", Query("low tide", language="de-DE", freshness="day"), "GET", "/html/", {"q": "low tide", "kp": "-1", "kl": "de-de", "df": "d"}, {"accept": "text/html"}, id="duckduckgo"),
]  # fmt: skip
EMPTY: dict[str, Any] = {
    "brave": {}, "brave_context": {"grounding": {"generic": []}}, "exa": {"results": []}, "exa_keyless": {"result": {"content": []}}, "tavily": {"results": []}, "serper": {},
    "tavily_keyless": {"results": []}, "kagi": {"meta": {}, "data": {}}, "perplexity": {"results": []}, "firecrawl": {"success": True, "data": {"web": []}}, "jina": {"data": []}, "parallel": {"results": []}, "google": {},
    "mediawiki": {"query": {"search": []}}, "wikipedia": {"query": {"search": []}}, "duckduckgo": "<div class='no-results'>No results.</div>", "searxng": {"results": []},
    "openai": {"output": []}, "xai": {"output": []}, "anthropic": {"content": []}, "gemini": {"candidates": [{}]},
}  # fmt: skip


@pytest.mark.parametrize(("name", "query", "method", "path", "sent", "headers"), REQUESTS)
async def test_the_request_is_as_documented(name, query, method, path, sent, headers):
    with serving() as simulator:
        simulator.play(EMPTY[name])
        await provider(name, simulator.url).search(query)
    (seen,) = simulator.seen
    assert (seen.method, seen.path) == (method, path)
    assert (seen.params if method == "GET" else seen.json) == sent
    assert {key: seen.headers.get(key) for key in headers} == headers
    assert "key-of-the-test" not in f"{seen.path} {seen.params} {seen.json}"


EXA_MCP = 'event: message\ndata: {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"Title: Tide table\\nURL: https://x.example/t\\nPublished: 2026-11-01\\nText: High water\\n\\nTitle: Two\\nURL: https://y.example/\\nText: more"}]}}\n\n'
DDG = """<div class="result result--ad"><a class="result__a" href="//duckduckgo.com/y.js?ad">Ad</a></div>
<div class="result"><a class="result__a" href="//duckduckgo.com/l/?uddg=https%3A%2F%2Fx.example%2Ft&rut=1">Tide <b>table</b></a><a class="result__snippet">High <b>water</b></a></div>"""
ANSWERS = [
    ("brave", {"web": {"results": [row(description="High <strong>water</strong>", page_age="2026-11-01T00:00:00")]}}, "2026-11-01T00:00:00"),
    ("brave_context", {"grounding": {"generic": [row(snippets=["High", "water"])]}, "sources": {"https://x.example/t": {"age": ["Sunday", "2026-11-01"]}}}, "2026-11-01"),
    ("exa", {"results": [row(highlights=["High", "water"], publishedDate="2026-11-01", score=0.4)]}, "2026-11-01"),
    ("exa_keyless", EXA_MCP, "2026-11-01"),
    ("tavily", {"results": [row(content="High water", score=0.9)]}, ""),
    ("serper", {"organic": [{"title": "Tide table", "link": "https://x.example/t", "snippet": "High water", "date": "Nov 1, 2026"}]}, "Nov 1, 2026"),
    ("kagi", {"data": {"related_search": [{"title": "x", "url": "y"}], "search": [row(snippet="High water", time="2026-11-01")]}}, "2026-11-01"),
    ("tavily_keyless", {"results": [row(content="High water", published_date="Sun, 01 Nov 2026 10:00:00 GMT")]}, "Sun, 01 Nov 2026 10:00:00 GMT"),
    ("perplexity", {"results": [row(snippet="High water", date="2026-11-01")]}, "2026-11-01"),
    ("firecrawl", {"success": True, "data": {"web": [row(description="High water")]}}, ""),
    ("firecrawl", {"success": True, "data": [row(description="High water")]}, ""),
    ("jina", {"code": 200, "data": [row(description="High water", date="1 Nov 2026")]}, "1 Nov 2026"),
    ("parallel", {"results": [row(excerpts=["High", "water"], publish_date="2026-11-01")]}, "2026-11-01"),
    ("google", {"items": [{"title": "Tide table", "link": "https://x.example/t", "snippet": "High water", "pagemap": {"metatags": [{"article:published_time": "2026-11-01"}]}}]}, "2026-11-01"),
    ("duckduckgo", DDG, ""),
    ("searxng", {"results": [row(content="High water", publishedDate="2026-11-01", engines=["a", "b"])]}, "2026-11-01"),
    ("openai", {"output": [{"type": "web_search_call", "action": {"sources": [{"type": "url", "url": "https://y.example/"}]}}, {"type": "message", "content": [
        {"type": "output_text", "text": "High water", "annotations": [{"type": "url_citation", "url": "https://x.example/t", "title": "Tide table", "start_index": 10}]}]}]}, ""),
    ("xai", {"citations": ["https://y.example/"], "output": [{"type": "message", "content": [
        {"type": "output_text", "text": "High water", "annotations": [{"type": "url_citation", "url": "https://x.example/t", "title": "Tide table", "start_index": 10}]}]}]}, ""),
    ("anthropic", {"content": [{"type": "web_search_tool_result", "content": [{"type": "web_search_result", "url": "https://y.example/", "title": "Two"},
        {"type": "web_search_result", "url": "https://x.example/t", "title": "Tide table", "page_age": "November 1, 2026"}]},
        {"type": "text", "text": "x", "citations": [{"type": "web_search_result_location", "url": "https://x.example/t", "cited_text": "High water"}]}]}, "November 1, 2026"),
    ("gemini", {"candidates": [{"groundingMetadata": {"groundingChunks": [{"web": {"uri": "https://x.example/t", "title": "Tide table"}}],
        "groundingSupports": [{"segment": {"text": "High water"}, "groundingChunkIndices": [0]}]}}]}, ""),
]  # fmt: skip


@pytest.mark.parametrize(("name", "answer", "date"), ANSWERS, ids=[f"{n}-{a[0]}" for n, a in enumerate(ANSWERS)])
async def test_an_answer_becomes_hits(name, answer, date):
    with serving() as simulator:
        simulator.play(answer)
        found = await check(provider(name, simulator.url), PLAIN)
    assert isinstance(found, Found)
    first = found.results[0]
    assert (first.title, first.url.removeprefix("https://duckduckgo.com/l/?uddg=https%3A%2F%2Fx.example%2Ft&rut=1") or "https://x.example/t") == (
        "Tide table", "https://x.example/t",
    )  # fmt: skip
    assert "High" in first.snippet
    assert first.published_at == date


@pytest.mark.parametrize("name", list(EMPTY))
async def test_nothing_found_is_a_success(name):
    with serving() as simulator:
        simulator.play(EMPTY[name])
        found = await check(provider(name, simulator.url), PLAIN)
    assert isinstance(found, Found)
    assert found.results == ()


KEYED = [name for name in EMPTY if name not in ("exa_keyless", "tavily_keyless", "mediawiki", "wikipedia", "duckduckgo", "searxng")]


@pytest.mark.parametrize("name", KEYED)
@pytest.mark.parametrize(
    ("status", "body", "headers", "code", "retryable"),
    [
        (401, {"error": "bad key-of-the-test"}, {}, "provider_error", False),
        (403, {"error": "forbidden key-of-the-test"}, {}, "provider_error", False),
        (402, {"error": "pay"}, {}, "rate_limited", False),
        (429, {"error": "slow key-of-the-test"}, {"retry-after": "99"}, "rate_limited", True),
        (500, "<html><h1>broken</h1><script>x</script>" + "y" * 900, {}, "provider_error", True),
        (200, "<html>a login page</html>", {}, "provider_misconfigured", False),
        (302, "", {"location": "https://elsewhere.example"}, "provider_error", False),
        (200, '["not what is documented"]', {"content-type": "application/json"}, "provider_error", False),
    ],
    ids=["401", "403", "402", "429", "500", "html", "redirect", "shape"],
)
async def test_failures_read_the_same_for_every_backend(name, status, body, headers, code, retryable):
    with serving() as simulator:
        simulator.play(body, status, **headers)
        error = await check(provider(name, simulator.url), PLAIN)
    assert isinstance(error, CormorantError)
    assert (error.code, error.retryable) == (code, retryable)
    assert "key-of-the-test" not in str(error.as_dict())
    assert "<h1>" not in error.message
    assert len(error.message) < 420
    if status in (401, 403):
        assert any(variable in error.remedy for variable in type(provider(name, simulator.url)).variables)
    if status == 429:
        assert error.retry_after == 99


@pytest.mark.parametrize(
    ("name", "status", "body"),
    [
        ("brave", 429, {"error": {"code": "RATE_LIMITED", "meta": {"quota_limit": 2000, "quota_current": 2000}}}),
        ("brave", 429, {"error": {"code": "QUOTA_LIMITED"}}),
        ("tavily", 432, {"detail": {"error": "This request exceeds your plan's set usage limit."}}),
        ("tavily", 433, {"detail": {"error": "pay as you go limit"}}),
        ("serper", 400, {"message": "Not enough credits"}),
        ("google", 429, {"error": {"code": 429, "errors": [{"reason": "dailyLimitExceeded"}]}}),
        ("google", 403, {"error": {"code": 403, "message": "Quota exceeded for quota metric 'Queries' and limit 'Queries per day'"}}),
        ("kagi", 400, {"error": [{"code": "billing.credit", "message": "Insufficient credit to perform this request."}]}),
        ("kagi", 429, {"error": [{"code": "usage.exhausted", "message": "Usage limit exhausted"}]}),
    ],
)
async def test_a_spent_quota_is_not_retried(name, status, body):
    with serving() as simulator:
        simulator.play(body, status)
        error = await check(provider(name, simulator.url), PLAIN)
    assert isinstance(error, CormorantError)
    assert (error.code, error.retryable) == ("rate_limited", False)
    assert len(simulator.seen) == 1


@pytest.mark.parametrize(
    ("name", "headers", "requests"),
    [
        ("brave", {}, 2),
        ("brave", {"retry-after": "2"}, 2),
        ("tavily", {"retry-after": "1"}, 2),
        ("tavily", {}, 1),
        ("exa", {"retry-after": "60"}, 1),
    ],
)
async def test_a_short_pause_is_waited_for_within_the_deadline(name, headers, requests):
    pauses: list[float] = []

    async def note(seconds: float) -> None:
        pauses.append(seconds)

    with serving() as simulator:
        simulator.play({"error": {"code": "RATE_LIMITED"}}, 429, **headers)
        simulator.play(EMPTY[name])
        made = provider(name, simulator.url)
        made.sleep = note
        await check(made, PLAIN)
    assert len(simulator.seen) == requests
    assert sum(pauses) == (float(headers.get("retry-after", 1)) if requests == 2 else 0)


@pytest.mark.parametrize("status", [202, 418])
@pytest.mark.parametrize("body", ["<form id='challenge-form'></form>", "<div class='anomaly-modal'>"])
async def test_a_bot_check_is_rate_limiting_and_never_no_results(status, body):
    for played in (status, 200):
        with serving() as simulator:
            simulator.play(body, played)
            error = await check(provider("duckduckgo", simulator.url), PLAIN)
        assert isinstance(error, CormorantError)
        assert error.code == "rate_limited"


async def test_a_page_of_duckduckgo_that_is_neither_is_a_failure():
    with serving() as simulator:
        simulator.play("<html><p>new design</p></html>")
        error = await check(provider("duckduckgo", simulator.url), PLAIN)
    assert isinstance(error, CormorantError)
    assert error.code == "provider_error"


@pytest.mark.parametrize(("text", "code"), [("Rate limit exceeded for free use", "rate_limited"), ("internal failure", "provider_error")])
async def test_an_error_inside_an_mcp_answer_is_an_error(text, code):
    with serving() as simulator:
        simulator.play({"jsonrpc": "2.0", "id": 1, "result": {"isError": True, "content": [{"type": "text", "text": text}]}})
        error = await check(provider("exa_keyless", simulator.url), PLAIN)
    assert isinstance(error, CormorantError)
    assert error.code == code


async def test_anthropic_s_own_search_errors_are_errors():
    with serving() as simulator:
        block = {"type": "web_search_tool_result", "content": {"type": "web_search_tool_result_error", "error_code": "too_many_requests"}}
        simulator.play({"content": [block]})
        error = await check(provider("anthropic", simulator.url), PLAIN)
    assert isinstance(error, CormorantError)
    assert error.code == "rate_limited"


async def test_gemini_s_redirects_are_opened():
    with serving() as simulator:
        simulator.answer = lambda seen: (
            (302, {"location": "https://x.example/t"}, "")
            if seen.path.startswith("/grounding")
            else (
                200,
                {},
                {
                    "candidates": [
                        {
                            "groundingMetadata": {
                                "groundingChunks": [{"web": {"uri": f"{simulator.url}/grounding-api-redirect/1", "title": "x"}}]
                            }
                        }
                    ]
                },
            )
        )
        found = await check(provider("gemini", simulator.url), PLAIN)
    assert isinstance(found, Found)
    assert [hit.url for hit in found.results] == ["https://x.example/t"]


async def test_wikipedia_is_asked_in_the_language_of_the_question():
    asked: list[str] = []

    async def note(method: str, url: str, **more: Any):
        asked.append(url)
        return await request(method, f"{simulator.url}/w/api.php", **more)

    with serving() as simulator:
        simulator.play({"query": {"search": [{"title": "Ebbe und Flut", "snippet": "<span class='searchmatch'>Ebbe</span>"}]}})
        found = await parts.part("search", "wikipedia")(of({}), note).search(Query("Ebbe", language="de-AT"))
    assert asked == ["https://de.wikipedia.org/w/api.php"]
    assert found.results[0].url == "https://de.wikipedia.org/wiki/Ebbe_und_Flut"


@pytest.mark.parametrize("name", [*KEYED, "searxng", "mediawiki", "browser", "ddgs"])
def test_what_is_missing_is_named(name):
    with pytest.raises(NotConfigured) as caught:
        parts.part("search", name)(of({"search": {"provider": name}}), request)
    assert caught.value.remedy
    variables = getattr(parts.part("search", name), "variables", ())
    assert name in caught.value.message
    if name in KEYED:
        assert any(variable in caught.value.message for variable in variables)


async def test_page_two_of_a_backend_without_pages_is_cut_from_one_answer():
    rows = [row(url=f"https://x.example/{n}") for n in range(10)]
    with serving() as simulator:
        simulator.play({"results": rows})
        found = await check(provider("tavily", simulator.url), Query("x", count=4, page=2))
    assert isinstance(found, Found)
    assert simulator.seen[0].json["max_results"] == 8
    assert found.results[0].url == "https://x.example/4"


@pytest.mark.parametrize(
    ("name", "page", "count", "asked"),
    [
        ("brave", 10, 5, True),
        ("brave", 11, 5, False),
        ("kagi", 11, 5, False),
        ("google", 12, 8, True),
        ("google", 13, 8, False),
        ("searxng", 40, 5, True),
    ],
)
async def test_a_page_behind_the_last_one_is_empty_and_never_the_last_one_again(name, page, count, asked):
    with serving() as simulator:
        simulator.play(EMPTY[name])
        found = await check(provider(name, simulator.url), Query("x", count=count, page=page))
    assert isinstance(found, Found)
    assert bool(simulator.seen) is asked
    assert any(note.startswith("page_limit") for note in found.notes) is not asked


async def test_a_page_that_one_answer_does_not_reach_is_said():
    with serving() as simulator:
        simulator.play({"results": [row()]})
        found = await check(provider("tavily", simulator.url), Query("x", count=5, page=3))
    assert isinstance(found, Found)
    assert (found.results, found.notes) == ((), ("page_limit: tavily gave 1 results in all and has no pages",))


async def test_a_filter_asks_for_more_on_the_first_page_and_leaves_no_gap_before_the_second():
    with serving() as simulator:
        simulator.play({})
        for page in (1, 2):
            await check(provider("serper", simulator.url), Query("x", count=5, page=page, domains=("x.example",)))
    assert [(seen.json["num"], seen.json["page"]) for seen in simulator.seen] == [(20, 1), (5, 2)]


async def test_a_long_question_is_cut_to_what_the_backend_takes_and_it_is_said():
    with serving() as simulator:
        simulator.play({})
        found = await check(provider("brave", simulator.url), Query("word " * 200))
    assert isinstance(found, Found)
    assert len(simulator.seen[0].params["q"].split()) == 50
    assert any(note.startswith("query_cut") for note in found.notes)


@pytest.mark.parametrize("name", ["brave", "duckduckgo"])
async def test_a_long_question_leaves_room_for_its_sites(name):
    """What is added to a question counts against the backend's limit too."""
    most = parts.part("search", name).max_chars
    with serving() as simulator:
        simulator.play(EMPTY[name])
        await check(provider(name, simulator.url), Query("word " * 200, domains=("docs.python.org", "-pinterest.com")))
    sent = simulator.seen[0].params["q"]
    assert sent.endswith("word site:docs.python.org -site:pinterest.com")
    assert len(sent) <= most
    assert name != "brave" or len(sent.split()) == 50


async def test_sites_that_leave_no_room_for_the_question_are_left_to_our_own_filter():
    long = tuple(f"{'sub-' * 12}{n}.example" for n in range(5))
    with serving() as simulator:
        simulator.play({"web": {"results": [row(url=f"https://{long[0]}/"), row(url="https://other.example/")]}})
        found = await check(provider("brave", simulator.url), Query("low tide " * 30, domains=long))
    assert "site:" not in simulator.seen[0].params["q"]
    assert isinstance(found, Found)


@pytest.mark.parametrize(
    ("name", "domains", "filters"),
    [
        ("openai", (*(f"h{n}.example" for n in range(100)), "-a.example"), {"allowed_domains": 100, "blocked_domains": 1}),
        ("xai", ("x.example", "-a.example"), {"allowed_domains": 1}),
        ("xai", ("-a.example",), {"excluded_domains": 1}),
        ("xai", tuple(f"h{n}.example" for n in range(6)), None),
    ],
    ids=["openai takes both", "xai one of them", "xai excluded", "too many are left to us"],
)
async def test_a_vendor_is_handed_the_domains_it_takes(name, domains, filters):
    with serving() as simulator:
        simulator.play(EMPTY[name])
        await check(provider(name, simulator.url), replace(PLAIN, domains=domains))
    (tool,) = simulator.seen[0].json["tools"]
    assert (filters and {kind: len(hosts) for kind, hosts in tool["filters"].items()}) == filters
    assert filters or "filters" not in tool


async def test_a_spent_keyless_quota_says_until_when():
    with serving() as simulator:
        body = {
            "error": {
                "code": "keyless_limit",
                "message": "Daily cap reached",
                "window": "day",
                "retry_after_seconds": 3600,
                "next_actions": [],
            }
        }
        simulator.play(body, 429)
        error = await check(provider("tavily_keyless", simulator.url), PLAIN)
    assert isinstance(error, CormorantError)
    assert (error.code, error.retry_after, len(simulator.seen)) == ("rate_limited", 3600, 1)
    assert "TAVILY_API_KEY" in error.remedy


async def test_a_key_is_never_sent_where_none_is_wanted():
    with serving() as simulator:
        simulator.play(EMPTY["tavily_keyless"])
        await check(provider("tavily_keyless", simulator.url, key="search-key-1"), PLAIN)
    assert "key-of-the-test" not in str(simulator.seen[0])
    assert "search-key-1" not in str(simulator.seen[0])


@pytest.mark.parametrize(
    ("name", "query", "note"),
    [
        ("kagi", Query("x", language="de"), "option_ignored:language"),
        ("tavily_keyless", Query("x", language="de"), "option_ignored:language"),
        ("tavily", Query("x", safe_search="strict"), "option_ignored:safe_search"),
    ],
)
async def test_what_a_backend_does_not_take_is_said(name, query, note):
    with serving() as simulator:
        simulator.play(EMPTY[name])
        found = await check(provider(name, simulator.url), query)
    assert isinstance(found, Found)
    assert any(one.startswith(note) for one in found.notes)


def test_search_key_belongs_to_the_backend_that_is_configured():
    assert provider("exa", "http://x.example", keys={}, key="k").key == "k"
    settings = of({"search": {"provider": "exa", "key": "k"}})
    with pytest.raises(NotConfigured):
        parts.part("search", "brave")(settings, request)
    named = of({"search": {"provider": "exa", "api_key_env": "OURS"}, "keys": {"OURS": "k2", "EXA_API_KEY": "k1"}})
    assert parts.part("search", "exa")(named, request).key == "k2"


async def test_the_library_keeps_the_contract(tmp_path):
    with Library(tmp_path / "library.sqlite") as index:
        with pytest.raises(NotConfigured, match="empty"):
            parts.part("search", "library")(of({}), request, library=index)
        index.add(Document(url="https://x.example/t", markdown="# Tides\n\nLow water at noon.", title="Tides", published="2026-11-01"))
        backend = parts.part("search", "library")(of({}), request, library=index)
        for query in (
            Query("low water"),
            Query("unobtainium"),
            Query("low water", freshness="year", domains=("x.example",)),
            Query("x", domains=("a b",)),
        ):
            await check(backend, query)


@pytest.mark.parametrize("name", list(EMPTY))
@pytest.mark.parametrize("status", [200, 503])
async def test_every_backend_keeps_the_contract_whatever_is_asked(name, status):
    """The same that a package with a backend of its own calls in its tests."""
    made = parts.part("search", name)(
        of({"search": {"provider": name, "urls": {name: "http://b.example"}, "engine_id": "cx"}, "keys": KEYS}),
        playing(EMPTY[name], status),
    )
    made.sleep = no_pause
    answers = await check_all(made)
    assert {isinstance(answer, Found) for answer in answers} == {status == 200}


class Broken:
    """A backend that breaks the contract in one way."""

    name = "broken"

    def __init__(self, found: Any) -> None:
        self.found = found

    async def search(self, query: Query) -> Any:
        return self.found


GOOD = Found("low tide", "broken")


@pytest.mark.parametrize(
    "found",
    [None, [], replace(GOOD, provider="other"), replace(GOOD, query="else"), replace(GOOD, page=2), replace(GOOD, results=[]), replace(GOOD, results=({},)),
     replace(GOOD, results=(Hit("t", ""),)), replace(GOOD, results=(Hit(None, "https://x"),)), replace(GOOD, freshness_applied="provider")],
    ids=["None", "list", "provider", "query", "page", "results", "no hit", "no url", "no title", "freshness"],
)  # fmt: skip
async def test_the_contract_notices_what_is_broken(found):
    await check(Broken(GOOD), PLAIN)
    with pytest.raises(AssertionError):
        await check(Broken(found), PLAIN)
    with pytest.raises(AssertionError, match="asked Query"):
        await check_all(Broken(found))
