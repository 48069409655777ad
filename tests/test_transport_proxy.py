"""Through an operator's proxy: nothing is resolved here, names meet the lists, everything is sent by name."""

from __future__ import annotations

import asyncio
import base64
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest

from cormorant.errors import CormorantError, InvalidArguments, Network, NotAllowed, PrivateAddress, Timeout, Tls
from cormorant.policy import Policy
from cormorant.transport.routes import Proxy
from support_net import Authority, Request, Scripted, answer, quick, read_request, serving, transport

pytestmark = pytest.mark.anyio
TUNNELLED = b"HTTP/1.1 200 OK\r\n\r\n"


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("ca"))


async def never(host: str, port: int) -> list[str]:
    raise AssertionError(f"{host} was resolved here")


@dataclass
class Tunnel:
    """A CONNECT proxy that leads every name to one port of this machine."""

    port: int
    heads: list[Request] = field(default_factory=list)


@asynccontextmanager
async def tunnelling(
    to_port: int, *, reply: bytes = b"HTTP/1.1 200 OK\r\n\r\n", tls: ssl.SSLContext | None = None
) -> AsyncIterator[Tunnel]:
    tasks = []

    async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while data := await reader.read(65536):
                writer.write(data)
                await writer.drain()
        except (ConnectionError, ssl.SSLError):
            pass
        finally:
            writer.close()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await read_request(reader)
            if head is None:
                return
            state.heads.append(head)
            writer.write(reply)
            if reply.startswith(b"HTTP/1.1 200") and head.method == "CONNECT":
                inner_reader, inner_writer = await asyncio.open_connection("127.0.0.1", to_port)
                await asyncio.gather(pump(reader, inner_writer), pump(inner_reader, writer))
        finally:
            writer.close()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks.append(asyncio.create_task(serve(reader, writer)))

    server = await asyncio.start_server(accept, "127.0.0.1", 0, ssl=tls)
    state = Tunnel(server.sockets[0].getsockname()[1])
    try:
        yield state
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.sleep(0.01)  # the loop closes the sockets


async def test_plain_http_goes_by_name_in_absolute_form() -> None:
    async with serving({"*": answer(200, "via")}) as proxy:
        async with transport(Policy(), resolve=never, proxy=f"http://127.0.0.1:{proxy.port}") as t:
            page = await t.get("http://site.test/a?b=1")
        assert page.body == b"via"
        sent = proxy.requests[0]
    assert (sent.target, sent.host) == ("http://site.test/a?b=1", "site.test")
    assert sent.headers["cormorant-egress-public-only"] == "1"


async def test_https_goes_through_a_tunnel_and_the_origin_never_sees_the_proxys_fields(authority: Authority) -> None:
    tls = authority.context_for("site.test")
    async with serving({"*": answer(200, "safe")}, tls=tls) as server, tunnelling(server.port) as proxy:
        options = quick(ca_bundle=authority.bundle, public_only_headers=("Cormorant-Egress-Public-Only", "Oz0-Egress-Public-Only"))
        login = f"http://me:p%40ss@127.0.0.1:{proxy.port}"
        async with transport(Policy(), resolve=never, proxy=login, options=options) as t:
            for _ in range(2):
                assert (await t.get("https://site.test/a")).body == b"safe"
        assert len(proxy.heads) == 1, "a tunnel is kept"
        head = proxy.heads[0]
        assert (head.method, head.target, head.host) == ("CONNECT", "site.test:443", "site.test:443")
        assert head.headers["cormorant-egress-public-only"] == head.headers["oz0-egress-public-only"] == "1"
        assert head.headers["proxy-authorization"] == "Basic " + base64.b64encode(b"me:p@ss").decode()
        assert not {"cormorant-egress-public-only", "oz0-egress-public-only", "proxy-authorization"} & server.requests[0].headers.keys()
        assert server.requests[0].target == "/a"


async def test_the_fields_for_a_proxy_never_reach_an_origin_without_one() -> None:
    async with serving({"*": answer(200, "x")}) as server, transport() as t:
        await t.get(server.url())
        assert not [name for name in server.requests[0].headers if "egress" in name or "proxy" in name]


async def test_a_proxy_spoken_to_in_tls_carries_a_tunnel_in_tls(authority: Authority) -> None:
    options = quick(ca_bundle=authority.bundle)
    async with (
        serving({"*": answer(200, "deep")}, tls=authority.context_for("site.test")) as server,
        tunnelling(server.port, tls=authority.context_for("127.0.0.1")) as proxy,
        transport(Policy(), resolve=never, proxy=f"https://127.0.0.1:{proxy.port}", options=options) as t,
    ):
        assert (await t.get("https://site.test/")).body == b"deep"


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("http://other.test/", NotAllowed),
        ("http://127.0.0.1/", NotAllowed),
        ("http://site.test:25/", NotAllowed),
        ("http://a.blocked.test/", NotAllowed),
    ],
)
async def test_the_lists_judge_the_name_before_the_proxy_hears_of_it(url: str, kind: type[CormorantError]) -> None:
    policy = Policy(allow=["site.test", ".blocked.test"], block=["blocked.test"])
    async with serving({"*": answer(200, "x")}) as proxy:
        async with transport(policy, resolve=never, proxy=f"127.0.0.1:{proxy.port}") as t:
            with pytest.raises(kind):
                await t.get(url)
        assert proxy.connections == 0


@pytest.mark.parametrize(
    "url", ["http://10.0.0.1/", "http://localhost/", "http://metadata.google.internal/", "http://[::1]/", "http://printer.local/"]
)
async def test_literals_and_inside_names_are_refused_without_asking_the_proxy(url: str) -> None:
    async with serving({"*": answer(200, "x")}) as proxy:
        async with transport(Policy(), resolve=never, proxy=f"127.0.0.1:{proxy.port}") as t:
            with pytest.raises(PrivateAddress):
                await t.get(url)
        assert proxy.connections == 0


async def test_a_redirect_behind_a_proxy_is_judged_like_any_other() -> None:
    async with serving({"*": answer(302, "", location="http://10.0.0.1/")}) as proxy:
        async with transport(Policy(), resolve=never, proxy=f"127.0.0.1:{proxy.port}") as t:
            with pytest.raises(PrivateAddress):
                await t.get("http://site.test/")
        assert len(proxy.requests) == 1


@pytest.mark.parametrize(
    ("reply", "kind", "says"),
    [
        (b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n", NotAllowed, "refuses site.test:443"),
        (b"HTTP/1.1 407 Auth\r\nContent-Length: 0\r\n\r\n", Network, "credentials"),
        (b"HTTP/1.1 502 Bad\r\nContent-Length: 0\r\n\r\n", Network, "502"),
        (b"nonsense\r\n\r\n", Network, "did not answer CONNECT"),
        (b"", Network, "did not answer CONNECT"),
        (b"HTTP/1.1 200 OK\r\n\r\nbytes before the handshake", Network, "before the tunnel"),
    ],
)
async def test_a_proxy_that_says_no_is_named(reply: bytes, kind: type[CormorantError], says: str) -> None:
    async with (
        serving({}) as nothing,
        tunnelling(nothing.port, reply=reply) as proxy,
        transport(Policy(), resolve=never, proxy=f"127.0.0.1:{proxy.port}") as t,
    ):
        with pytest.raises(kind, match=says):
            await t.get("https://site.test/")


async def test_the_certificate_inside_a_tunnel_is_the_origins(authority: Authority) -> None:
    async with serving({"*": answer(200, "x")}, tls=authority.context_for("other.test")) as server, tunnelling(server.port) as proxy:
        options = quick(ca_bundle=authority.bundle)
        async with transport(Policy(), resolve=never, proxy=f"127.0.0.1:{proxy.port}", options=options) as t:
            with pytest.raises(Tls):
                await t.get("https://site.test/")
        assert server.requests == []


async def test_a_proxy_that_is_silent_ends_with_the_connect_limit() -> None:
    async with (
        serving({}) as nothing,
        tunnelling(nothing.port, reply=b"HTTP/1.1 200") as proxy,
        transport(Policy(), resolve=never, proxy=f"127.0.0.1:{proxy.port}", options=quick(connect_timeout_s=0.3)) as t,
    ):
        with pytest.raises(Timeout, match="tunnel"):
            await t.get("https://site.test/")


async def test_hosts_of_the_no_proxy_list_are_reached_directly() -> None:
    async with serving({"*": answer(200, "direct")}) as server, serving({"*": answer(200, "via")}) as proxy:
        resolve = Scripted()
        policy = Policy(allow_ranges=["127.0.0.0/8"])
        options = quick(no_proxy=("inside.test",))
        async with transport(policy, resolve=resolve, proxy=f"127.0.0.1:{proxy.port}", options=options) as t:
            assert (await t.get(server.url(host="a.inside.test"))).body == b"direct"
            assert (await t.get(server.url(host="outside.test"))).body == b"via"
        assert resolve.asked == ["a.inside.test"]


@pytest.mark.parametrize("text", ["socks5://127.0.0.1:1", "http://", "http://127.0.0.1:1/path", "::"])
def test_what_is_no_proxy_is_an_error(text: str) -> None:
    with pytest.raises(InvalidArguments, match=r"egress\.proxy"):
        Proxy.read(text)


def test_a_proxys_password_is_in_no_repr() -> None:
    assert "S3CRET" not in repr(Proxy.read("http://me:S3CRET@127.0.0.1:1"))
