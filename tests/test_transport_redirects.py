"""Redirects by hand: which are followed, what crosses with them, and how a walk ends."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cormorant.errors import HttpError, InvalidArguments, NotAllowed, PrivateAddress, Redirect, Vetoed
from cormorant.gates import Leaving
from cormorant.policy import Policy
from support_net import LOOPBACK, Authority, Request, Scripted, answer, dials_to, quick, serving, transport

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("ca"))


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_five_statuses_are_followed(status: int) -> None:
    async with serving({"/a": answer(status, "moved", location="b?x=1"), "/b?x=1": answer(200, "here")}) as server, transport() as t:
        page = await t.get(server.url("/a#part"))
    assert page.body == b"here"
    assert (page.asked, page.url) == (server.url("/a#part"), server.url("/b?x=1#part"))
    assert [hop.status for hop in page.hops] == [status, 200]
    assert page.redirected


@pytest.mark.parametrize("status", [300, 304, 305, 306])
async def test_other_statuses_with_a_location_are_not(status: int) -> None:
    async with serving({"/a": answer(status, "", location="/b"), "*": answer(200, "x")}) as server, transport() as t:
        with pytest.raises(HttpError) as caught:
            await t.get(server.url("/a"))
        assert server.targets == ["/a"]
    assert caught.value.status == status


async def test_a_created_page_and_a_refresh_field_lead_nowhere() -> None:
    pages = {
        "/a": answer(201, "made", location="/b"),
        "/r": answer(200, "text", refresh="0;url=/b", link="</b>; rel=next", alt_svc='h2=":1"'),
    }
    async with serving(pages) as server, transport() as t:
        assert (await t.get(server.url("/a"))).body == b"made"
        assert (await t.get(server.url("/r"))).body == b"text"
        assert server.targets == ["/a", "/r"]


async def test_the_sixth_redirect_stops_with_the_chain() -> None:
    def next_one(request: Request) -> bytes:
        return answer(302, "", location=f"/{int(request.target[1:]) + 1}")

    async with serving({"*": next_one}) as server, transport() as t:
        with pytest.raises(Redirect, match="stopped after 5 redirects") as caught:
            await t.get(server.url("/0"))
        assert len(server.requests) == 6
    assert server.url("/0") in caught.value.message
    assert server.url("/5") in caught.value.message


async def test_a_circle_is_named_at_once() -> None:
    async with serving({"/a": answer(302, "", location="/b"), "/b": answer(302, "", location="/a")}) as server, transport() as t:
        with pytest.raises(Redirect, match="circle") as caught:
            await t.get(server.url("/a"))
        assert server.targets == ["/a", "/b"]
    assert f"{server.url('/a')} -> {server.url('/b')}" in caught.value.message


async def test_a_page_that_redirects_to_itself_to_set_a_cookie_is_no_circle() -> None:
    def page(request: Request) -> bytes:
        return (
            answer(200, "behind")
            if "seen=1" in request.headers.get("cookie", "")
            else answer(302, "", location="/a", set_cookie="seen=1; Path=/")
        )

    async with serving({"*": page}) as server, transport() as t:
        assert (await t.get(server.url("/a"))).body == b"behind"
        await t.get(server.url("/a"))
        assert "cookie" not in server.requests[2].headers, "cookies live for one fetch"


@pytest.mark.parametrize(
    ("location", "kind"),
    [
        ("http://10.0.0.1/", PrivateAddress),
        ("http://169.254.169.254/latest/", PrivateAddress),
        ("http://localhost/", PrivateAddress),
        ("http://other.test/", NotAllowed),
        ("http://site.test:25/", NotAllowed),
        ("file:///etc/passwd", Redirect),
        ("gopher://127.0.0.1:6379/_", Redirect),
        ("data:text/html,x", Redirect),
        ("http://user:pw@site.test/", Redirect),
        ("http://[bad/", Redirect),
        ("", HttpError),
        ("   ", HttpError),
    ],
)
async def test_every_hop_is_judged_like_the_first(location: str, kind: type[Exception]) -> None:
    policy = Policy(allow=["site.test", "10.0.0.2", "169.254.169.254"], allow_ranges=["127.0.0.0/8"])
    if kind is PrivateAddress:
        policy = Policy(allow_ranges=["127.0.0.0/8"])
    async with serving({"/a": answer(302, "", location=location), "*": answer(200, "x")}) as server, transport(policy) as t:
        with pytest.raises(kind) as caught:
            await t.get(server.url("/a"))
        assert server.targets == ["/a"]
    if kind in (PrivateAddress, NotAllowed):
        assert caught.value.hop == 1
        assert server.url("/a") in caught.value.message


async def test_two_different_locations_are_refused() -> None:
    async with serving({"*": answer(302, "", [("Location", "/b"), ("Location", "/c")])}) as server, transport() as t:
        with pytest.raises(Redirect, match="two different Location"):
            await t.get(server.url("/a"))


async def test_redirects_can_be_turned_off() -> None:
    async with serving({"*": answer(302, "moved", location="/b")}) as server, transport() as t:
        with pytest.raises(Redirect, match="/b, and redirects are off"):
            await t.get(server.url("/a"), follow_redirects=False)
        page = await t.get(server.url("/a"), follow_redirects=False, any_status=True)
        assert (page.status, page.headers["location"]) == (302, "/b")


async def test_a_location_in_utf8_is_read_as_a_browser_does() -> None:
    raw = b"HTTP/1.1 302 X\r\nLocation: /\xc3\xa9?q=\xe2\x82\xac\r\nContent-Length: 0\r\n\r\n"
    async with serving({"/a": raw, "*": answer(200, "x")}) as server, transport() as t:
        await t.get(server.url("/a"))
        assert server.targets[1] == "/%C3%A9?q=%E2%82%AC"


async def test_what_another_origin_may_not_see_stays_behind() -> None:
    headers = {"Authorization": "Bearer T", "Cookie": "own=1", "X-Key": "k", "Accept": "text/plain", "If-None-Match": '"e"'}
    async with serving({"*": answer(200, "x")}) as other, serving({}) as first:

        def page(request: Request) -> bytes:
            return (
                answer(302, "", location=other.url("/there", host="site.test"), set_cookie="set=1") if request.target == "/a" else answer()
            )

        async with serving({"*": page}) as server, transport() as t:
            await t.get(server.url("/a"), headers=headers)
        sent, passed = server.requests[0].headers, other.requests[0].headers
    assert (sent["authorization"], sent["cookie"], sent["x-key"]) == ("Bearer T", "own=1", "k")
    assert not {"authorization", "x-key", "if-none-match"} & passed.keys()
    assert "own=1" not in passed.get("cookie", "")
    assert passed["accept"] == "text/plain"
    assert first.requests == []


async def test_credentials_do_not_come_back_when_the_way_does() -> None:
    async with serving({}) as _:
        targets: dict[str, str] = {}

        def away(request: Request) -> bytes:
            return answer(302, "", location=targets["back"])

        def home(request: Request) -> bytes:
            return answer(302, "", location=targets["away"]) if request.target == "/a" else answer(200, "x")

        async with serving({"*": away}) as other, serving({"*": home}) as server, transport() as t:
            targets |= {"away": other.url("/", host="other.test"), "back": server.url("/again")}
            await t.get(server.url("/a"), headers={"Authorization": "Bearer T"})
            assert "authorization" not in server.requests[1].headers


async def test_an_https_page_that_leads_to_http_loses_its_credentials(authority: Authority) -> None:
    async with serving({"*": answer(200, "x")}) as plain:
        to_plain = answer(302, "", location="http://site.test/b", set_cookie="s=1; Secure")
        async with serving({"*": to_plain}, tls=authority.context_for("site.test")) as secure:

            async def connect(address: str, port: int) -> object:
                return await dials_to(secure.port if port == 443 else plain.port)(address, port)

            async with transport(connect=connect, options=quick(ca_bundle=authority.bundle)) as t:
                await t.get("https://site.test/a", headers={"Authorization": "Bearer T"})
        assert secure.requests[0].headers["authorization"] == "Bearer T"
        assert not {"authorization", "cookie"} & plain.requests[0].headers.keys()


async def test_an_upgrade_to_https_is_kept(authority: Authority) -> None:
    async with (
        serving({"*": answer(301, "", location="https://site.test/")}) as plain,
        serving({"*": answer(200, "safe")}, tls=authority.context_for("site.test")) as secure,
    ):

        async def connect(address: str, port: int) -> object:
            return await dials_to(secure.port if port == 443 else plain.port)(address, port)

        async with transport(connect=connect, options=quick(ca_bundle=authority.bundle)) as t:
            page = await t.get("http://site.test/")
    assert (page.url, page.body) == ("https://site.test/", b"safe")


@pytest.mark.parametrize(
    ("set_cookie", "sent"),
    [
        pytest.param("a=1", True, id="plain"),
        pytest.param("a=1; Domain=site.test", True, id="own domain"),
        pytest.param("a=1; Domain=test", True, id="a suffix: host-only, so harmless"),
        pytest.param("a=1; Path=/other", False, id="other path"),
        pytest.param("a=1; Secure", False, id="secure on http"),
        pytest.param("__Host-a=1; Path=/", False, id="host prefix without secure"),
        pytest.param("a=1; Max-Age=0", False, id="over"),
        pytest.param("a=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT", False, id="long over"),
        pytest.param("a=1; Expires=Thu, 01 Jan 2099 00:00:00 GMT", True, id="far ahead"),
        pytest.param("a=1; Expires=nonsense", True, id="unreadable date"),
        pytest.param("novalue", False, id="no pair"),
        pytest.param("a=" + "x" * 5000, False, id="too long"),
    ],
)
async def test_which_cookies_come_back(set_cookie: str, sent: bool) -> None:
    async with serving({"/a": answer(302, "", location="/b", set_cookie=set_cookie), "*": answer(200, "x")}) as server, transport() as t:
        await t.get(server.url("/a"))
        assert ("a=" in server.requests[1].headers.get("cookie", "")) is sent


@pytest.mark.parametrize("domain", ["example.co.uk", "co.uk", "github.io", "uk"])
async def test_a_cookie_never_reaches_another_host(domain: str) -> None:
    hop = lambda request: answer(302, "", location=f"http://b.example.co.uk:{server.port}/b", set_cookie=f"a=1; Domain={domain}; Path=/")  # noqa: E731
    async with serving({"/a": hop, "*": answer(200, "x")}) as server, transport() as t:
        await t.get(server.url("/a", host="a.example.co.uk"))
        assert "cookie" not in server.requests[1].headers


async def test_a_refresh_in_the_page_goes_on_with_the_same_fetch() -> None:
    pages = {
        "/a": answer(302, "", location="/b", set_cookie="s=1; Path=/"),
        "/b": answer(200, "<meta refresh>"),
        "/c": answer(302, "", location="/d"),
        "/d": answer(200, "x"),
    }
    async with serving(pages) as server, transport() as t:
        stub = await t.get(server.url("/a"))
        page = await t.get(server.url("/c"), after=stub)
        assert [hop.status for hop in page.hops] == [302, 200, 302, 200]
        assert (page.asked, page.url) == (server.url("/a"), server.url("/d"))
        assert server.requests[2].headers["cookie"] == "s=1"
        page = await t.get(server.url("/c"), after=page)
        with pytest.raises(Redirect, match="stopped after 5"):
            await t.get(server.url("/c"), after=page)


async def test_a_body_is_not_sent_to_another_origin() -> None:
    async with serving({"*": answer(200, "x")}) as other:
        async with serving({"*": answer(307, "", location=other.url("/", host="other.test"))}) as server, transport() as t:
            with pytest.raises(Redirect, match="body"):
                await t.request("POST", server.url("/a"), body=b"secret")
        assert other.requests == []


@pytest.mark.parametrize(
    ("status", "method", "body"), [(301, "GET", b""), (302, "GET", b""), (303, "GET", b""), (307, "POST", b"{}"), (308, "POST", b"{}")]
)
async def test_a_post_goes_on_as_browsers_do(status: int, method: str, body: bytes) -> None:
    async with serving({"/a": answer(status, "", location="/b"), "*": answer(200, "x")}) as server, transport() as t:
        await t.request("POST", server.url("/a"), body=b"{}", headers={"Content-Type": "application/json"})
        sent = server.requests[1]
    assert (sent.method, sent.raw.endswith(b"\r\n\r\n" + body)) == (method, True)
    assert ("content-type" in sent.headers) is (method == "POST")


async def test_a_backend_leads_to_no_other_origin() -> None:
    async with serving({"*": answer(302, "", location="http://127.0.0.2:1/")}) as server, transport(Policy(allow=[])) as t:
        with pytest.raises(Redirect, match=r"127\.0\.0\.2"):
            await t.request("GET", f"http://127.0.0.1:{server.port}/", trusted=True)


async def test_a_trusted_backend_is_reached_and_metadata_is_not() -> None:
    async with serving({"*": answer(200, "x")}) as server, transport(Policy(allow=[])) as t:
        assert (await t.request("POST", f"http://127.0.0.1:{server.port}/", trusted=True, body=b"1")).body == b"x"
        with pytest.raises(PrivateAddress):
            await t.request("GET", "http://169.254.169.254/", trusted=True)
        with pytest.raises(NotAllowed):
            await t.get(f"http://127.0.0.1:{server.port}/")


async def test_a_connection_of_a_trusted_call_is_not_handed_to_a_fetch() -> None:
    async with serving({"*": answer(200, "x")}) as server, transport(LOOPBACK) as t:
        await t.request("GET", server.url("/"), trusted=True)
        await t.get(server.url("/"))
        assert server.connections == 2


@pytest.mark.parametrize(
    "headers", [{"Host": "x"}, {"content-length": "1"}, {"Transfer-Encoding": "chunked"}, {"A": "b\r\nC: d"}, {"A b": "c"}, {"A": "\0"}]
)
async def test_headers_that_would_reframe_a_request_are_refused(headers: dict[str, str]) -> None:
    async with serving({"*": answer(200, "x")}) as server, transport() as t:
        with pytest.raises(InvalidArguments):
            await t.get(server.url("/"), headers=headers)
        assert server.requests == []


async def test_a_line_break_in_the_path_stays_encoded() -> None:
    async with serving({"*": answer(200, "x")}) as server, transport() as t:
        await t.get(server.url("/a%0d%0aX:%201"))
        await t.get(server.url("/a\r\nX: 1"))
        assert server.targets == ["/a%0d%0aX:%201", "/aX:%201"]
        assert all("x" not in request.headers for request in server.requests)
        with pytest.raises(InvalidArguments):
            await t.get("http://site.test%0d%0aX:1/")


async def test_a_profile_is_sent_on_https_to_its_host_alone(authority: Authority) -> None:
    def page(request: Request) -> bytes:
        return answer(302, "", location="https://other.test/b") if request.target == "/a" else answer(200, "x")

    async with serving({"*": page}, tls=authority.for_any_name()) as secure, serving({"*": answer(200, "x")}) as plain:

        async def connect(address: str, port: int) -> object:
            return await dials_to(secure.port if port == 443 else plain.port)(address, port)

        profiles = {"site.test": {"Cookie": "session=S3CRET"}}
        seen: list[object] = []

        async def gate(leaving: object) -> object:
            seen.append(leaving)
            return leaving

        async with transport(connect=connect, before=gate, options=quick(ca_bundle=authority.bundle, profiles=profiles)) as t:
            page_of_mine = await t.get("https://site.test/a")
            await t.get("http://site.test/a")
            assert page_of_mine.private
            assert not (await t.get("https://other.test/b")).private
            assert "S3CRET" not in repr(t.options) + repr(seen)
        assert [request.headers.get("cookie") for request in secure.requests] == ["session=S3CRET", None, None]
        assert "cookie" not in plain.requests[0].headers


async def test_a_login_and_the_cookies_of_the_fetch_are_sent_together(authority: Authority) -> None:
    def page(request: Request) -> bytes:
        return answer(302, "", location="/b", set_cookie="seen=1; Path=/") if request.target == "/a" else answer(200, "x")

    async with serving({"*": page}, tls=authority.context_for("site.test")) as server:
        options = quick(ca_bundle=authority.bundle, profiles={"site.test": {"Cookie": "session=S3CRET"}})
        async with transport(options=options) as t:
            await t.get(server.url("/a", scheme="https"))
        assert [request.headers["cookie"] for request in server.requests] == ["session=S3CRET", "session=S3CRET; seen=1"]


async def test_a_gate_sees_every_hop_and_a_changed_address_is_judged_again() -> None:
    seen: list[tuple[str, str]] = []

    async def gate(leaving: Leaving) -> Leaving:
        seen.append((leaving.purpose, leaving.url.rpartition("/")[2]))
        if leaving.url.endswith("/evil"):
            return replace(leaving, url="http://10.0.0.1/")
        if leaving.url.endswith("/no"):
            raise Vetoed("the gate says no")
        return replace(leaving, headers=dict(leaving.headers) | {"X-Gate": "1"})

    pages = {"/a": answer(302, "", location="/b"), "/n": answer(302, "", location="/no"), "*": answer(200, "x")}
    async with serving(pages) as server, transport(before=gate) as t:
        await t.get(server.url("/a"), purpose="robots")
        assert seen == [("robots", "a"), ("robots", "b")]
        assert server.requests[1].headers["x-gate"] == "1"
        with pytest.raises(PrivateAddress):
            await t.get(server.url("/evil"))
        with pytest.raises(Vetoed) as caught:
            await t.get(server.url("/n"))
        assert caught.value.hop == 1
        assert server.targets == ["/a", "/b", "/n"]


async def test_a_gate_that_moves_a_request_takes_no_credentials_along_and_opens_nothing() -> None:
    async with serving({"*": answer(200, "x")}) as other, serving({"*": answer(200, "x")}) as server:

        async def gate(leaving: Leaving) -> Leaving:
            return replace(leaving, url=other.url("/moved", host="other.test"))

        async with transport(before=gate) as t:
            await t.request("GET", server.url(), credentials={"X-Key": "S3CRET"})
            assert "x-key" not in other.requests[0].headers
            with pytest.raises(NotAllowed, match="gate"):
                await t.request("GET", server.url(), trusted=True)
        assert (len(other.requests), len(server.requests)) == (1, 0)


async def test_names_are_looked_up_once_a_hop_and_never_again_for_the_connection() -> None:
    resolve = Scripted({"rebind.test": [["127.0.0.1"], ["10.0.0.1"]]})
    async with serving({"*": answer(200, "x", connection="close")}) as server, transport(resolve=resolve) as t:
        assert (await t.get(server.url(host="rebind.test"))).status == 200
        with pytest.raises(PrivateAddress):
            await t.get(server.url(host="rebind.test"))
        assert server.connections == 1
