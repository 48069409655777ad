"""What a request meets before any route: whose Host and Origin it names, what its body is, and what every answer carries."""

from __future__ import annotations

import json

import httpx2
import pytest

from support_server import running

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("host", "status"),
    [
        pytest.param("127.0.0.1:{port}", 200, id="as it is bound"),
        pytest.param("localhost:{port}", 200, id="by name"),
        pytest.param("LocalHost", 200, id="in any case"),
        pytest.param("[::1]:{port}", 200, id="as IPv6"),
        pytest.param("cormorant.internal", 200, id="a name the operator lists"),
        pytest.param("evil.example", 403, id="another name"),
        pytest.param("127.0.0.1.evil.example", 403, id="a name that begins like ours"),
        pytest.param("localhost.evil.example:{port}", 403, id="another that begins like ours"),
        pytest.param("evil.example#localhost", 403, id="a name that ends like ours"),
        pytest.param("localhost:80@evil.example", 403, id="a user's part"),
        pytest.param("0.0.0.0", 403, id="any address"),
        pytest.param("2130706433", 403, id="loopback as a number"),
        pytest.param("[::ffff:127.0.0.1]", 403, id="loopback inside IPv6"),
        pytest.param("", 403, id="none"),
    ],
)
async def test_only_our_own_names_are_answered(tmp_path, host, status) -> None:
    async with running(tmp_path, hosts=["cormorant.internal"]) as client:
        named = host.format(port=client.base_url.port)
        assert (await client.get("/v1/tools", headers={"host": named})).status_code == status


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        pytest.param({}, 200, id="a program"),
        pytest.param({"origin": "http://127.0.0.1:{port}"}, 200, id="our own page"),
        pytest.param({"sec-fetch-site": "same-origin"}, 200, id="our own page, by the browser's word"),
        pytest.param({"origin": "http://127.0.0.1:1"}, 403, id="another port of this machine"),
        pytest.param({"origin": "null"}, 403, id="a sandboxed page"),
        pytest.param({"origin": "http://127.0.0.1:{port}.evil.example"}, 403, id="a name that begins like ours"),
        pytest.param({"sec-fetch-site": "cross-site"}, 403, id="an image of another site"),
        pytest.param({"sec-fetch-site": "same-site"}, 403, id="a sister of ours"),
    ],
)
async def test_no_page_of_another_site_calls(tmp_path, headers, status) -> None:
    async with running(tmp_path) as client:
        sent = {name: value.format(port=client.base_url.port) for name, value in headers.items()}
        got = await client.get("/v1/tools", headers=sent)
        assert got.status_code == status
        assert "access-control-allow-origin" not in got.headers


@pytest.mark.parametrize(
    ("media_type", "body", "status"),
    [
        pytest.param("application/json", {"query": "x"}, 503, id="plain"),
        pytest.param("application/json; charset=utf-8", {"query": "x"}, 503, id="with its charset"),
        pytest.param('APPLICATION/JSON;charset="UTF-8"; v=1', {"query": "x"}, 503, id="in any case, with more"),
        pytest.param("", {"query": "x"}, 503, id="no type at all"),
        pytest.param("application/x-www-form-urlencoded", {"query": "x"}, 503, id="as curl -d sends it"),
        pytest.param("application/json", {"query": "x", "onlyMainContent": True}, 422, id="an option of another product"),
        pytest.param("application/json", {"query": "x", "numResults": 3, "recencyFilter": "day"}, 503, id="aliases"),
        pytest.param("application/json", {"query": "x", "limt": 3}, 422, id="a mistyped option"),
        pytest.param("application/json", "x", 422, id="a string"),
    ],
)
async def test_a_body_is_read_whatever_its_type_says_and_unknown_keys_are_named(tmp_path, media_type, body, status) -> None:
    """503: it was read, and nothing here can search."""
    async with running(tmp_path) as client:
        got = await client.post("/v1/search", content=json.dumps(body), headers={"content-type": media_type} if media_type else {})
        assert got.status_code == status, got.text
        if status == 422 and isinstance(body, dict):
            (unknown,) = set(body) - {"query"}
            assert repr(unknown) in got.json()["message"]
            assert "accepted: query" in got.json()["hint"]


@pytest.mark.parametrize(
    "path", ["/", "/page.js", "/page.css", "/v1/tools", "/healthz", "/metrics", "/openapi.json", "/nope", "/v1/executions/call_0"]
)
async def test_every_answer_carries_the_headers_and_the_page_its_policy(tmp_path, path) -> None:
    async with running(tmp_path) as client:
        got = await client.get(path)
        assert got.headers["x-content-type-options"] == "nosniff"
        assert got.headers["x-frame-options"] == "DENY"
        assert got.headers["cache-control"] == "no-store"
        assert got.headers["referrer-policy"] == "no-referrer"
        assert "server" not in got.headers
        policy = got.headers.get("content-security-policy", "")
        assert ("default-src 'none'" in policy) == (path in ("/", "/page.js", "/page.css"))
        assert "unsafe" not in policy


async def test_health_needs_no_key_and_tells_nothing_else(tmp_path) -> None:
    from cormorant.surfaces.tenants import Keys

    _, key = Keys(tmp_path / "server" / "keys.json").create("alice")
    async with running(tmp_path, require_key=True) as client:
        assert set((await client.get("/healthz")).json()) == {"status", "version"}
        for path in ("/v1/tools", "/metrics", "/capabilities", "/v1/executions"):
            refused: httpx2.Response = await client.get(path)
            assert (refused.status_code, refused.json()["code"]) == (401, "unauthorized")
            assert (await client.get(path, headers={"authorization": f"Bearer {key}"})).status_code == 200
            assert (await client.get(path, params={"api_key": key})).status_code == 401  # a query is logged on the way
