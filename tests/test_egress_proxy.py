"""The forward proxy: the same policy for programs that are not ours, and no way around it."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from cormorant.egress_proxy import EgressProxy
from cormorant.policy import Policy
from cormorant.transport import Options, Transport
from cormorant.transport.client_hello import NotTls, server_name
from support_net import Authority, Scripted, answer, dials_to, serving

pytestmark = pytest.mark.anyio

PUBLIC = {
    "docs.python.org": ["151.101.0.223"],
    "evil.example": ["93.184.215.14"],
    "inside.example": ["10.0.0.7"],
    "self.example": ["203.0.113.9"],
}
DOCS_ONLY = Policy(allow=("docs.python.org",))


@asynccontextmanager
async def proxying(
    policy: Policy, origin_port: int, *, own: frozenset[str] = frozenset(), **dns: list[str]
) -> AsyncIterator[tuple[int, list[dict]]]:
    lines: list[dict] = []
    proxy = EgressProxy(
        policy,
        resolve=Scripted({**PUBLIC, **dns}),
        own=own,
        log=lambda line: lines.append(json.loads(line)),
        connect=dials_to(origin_port),
    )
    async with proxy.serving() as port:
        yield port, lines


async def say(port: int, text: str) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(text.replace("\n", "\r\n").encode("latin-1"))
        writer.write_eof()
        async with asyncio.timeout(10):
            return await reader.read()
    finally:
        writer.close()
        await writer.wait_closed()


def asked(request: str, *headers: str) -> str:
    return "\n".join([f"{request} HTTP/1.1", *headers, "", ""])


async def proxied(case: dict) -> int:
    """The status a request line meets at a proxy with the case's lists and names."""
    policy = Policy(allow=tuple(case["config"]["allow_hosts"]))
    async with serving({"*": answer(200, "origin")}) as origin, proxying(policy, origin.port, **case["dns"]) as (port, _):
        host = case["request"].split(" ", 1)[1].removeprefix("http://").split("/")[0]
        got = await say(port, asked(case["request"], f"Host: {host}"))
        status = int(got.split(b" ")[1])
        assert status == 200 or origin.requests == []
        return status


async def test_every_collected_case_of_a_proxy_decides_as_it_says(cases) -> None:
    rows = [json.loads(line) for line in (cases / "ssrf.jsonl").read_text().splitlines()]
    rows = [row for row in rows if row["kind"] == "proxy"]
    assert rows
    wrong = {row["id"]: status for row in rows if ((status := await proxied(row)) == 200) != (row["expected"] == "allow")}
    assert wrong == {}


@pytest.mark.parametrize(
    ("request_line", "headers", "status"),
    [
        pytest.param("GET http://docs.python.org/x", (), 200, id="absolute form"),
        pytest.param("GET http://DOCS.python.ORG./x", (), 200, id="case and trailing dot"),
        pytest.param("GET http://evil.example/", (), 403, id="not listed"),
        pytest.param("GET http://127.0.0.1/", (), 403, id="a literal"),
        pytest.param("GET http://[::ffff:127.0.0.1]/", (), 403, id="a literal in other clothes"),
        pytest.param("GET http://docs.python.org:25/", (), 403, id="a bad port"),
        pytest.param("GET http://docs.python.org@evil.example/", (), 400, id="userinfo decoy"),
        pytest.param("GET https://docs.python.org/", (), 400, id="https in absolute form"),
        pytest.param("GET /x", (), 400, id="origin form"),
        pytest.param("TRACE http://docs.python.org/", (), 400, id="TRACE"),
        pytest.param("CONNECT docs.python.org", (), 400, id="no port"),
        pytest.param("CONNECT user@docs.python.org:443", (), 400, id="userinfo in CONNECT"),
        pytest.param("GET http://docs.python.org/", ("Host: docs.python.org", "Host: evil.example"), 400, id="two hosts"),
        pytest.param("POST http://docs.python.org/", ("Content-Length: 1", "Transfer-Encoding: chunked"), 400, id="CL and TE"),
        pytest.param("POST http://docs.python.org/", ("Content-Length: 1", "Content-Length: 2"), 400, id="two lengths"),
        pytest.param("GET http://docs.python.org/", ("X-Folded: a", " b"), 200, id="a folded field is one field"),
        pytest.param("nonsense", (), 400, id="no HTTP"),
    ],
)
async def test_what_a_proxy_forwards(request_line, headers, status) -> None:
    async with serving({"*": answer(200, "origin")}) as origin, proxying(DOCS_ONLY, origin.port) as (port, lines):
        hosts = () if any(h.startswith("Host") for h in headers) else ("Host: docs.python.org",)
        got = await say(port, asked(request_line, *hosts, *headers))
        assert got.startswith(f"HTTP/1.1 {status}".encode())
        assert bool(origin.requests) == (status == 200)
    assert len(lines) == 1
    assert lines[0]["allowed"] is (status == 200)
    assert status == 200 or lines[0]["reason"]


async def test_the_target_decides_and_the_host_field_is_rewritten() -> None:
    async with serving({"*": answer(200, "origin")}) as origin, proxying(DOCS_ONLY, origin.port) as (port, _):
        fields = (
            "Host: evil.example",
            "Proxy-Authorization: Basic c2VjcmV0",
            "Connection: X-Private",
            "X-Private: 1",
            "Oz0-Egress-Public-Only: 1",
            "Accept: a/b",
        )
        await say(port, asked("GET http://docs.python.org/x", *fields))
    (request,) = origin.requests
    assert request.target == "/x"
    assert request.headers == {"host": "docs.python.org", "accept": "a/b", "connection": "close"}


@pytest.mark.parametrize("header", ["Cormorant-Egress-Public-Only: 1", "Oz0-Egress-Public-Only: 1"])
async def test_the_public_only_header_takes_the_private_exceptions_away(header) -> None:
    policy = Policy(allow=("inside.example", "10.0.0.7:8080"), allow_ranges=("10.0.0.0/8",))
    async with serving({"*": answer(200, "inside")}) as origin, proxying(policy, origin.port) as (port, _):
        for target in ("http://inside.example/", "http://10.0.0.7:8080/"):
            assert (await say(port, asked(f"GET {target}", "Host: x"))).startswith(b"HTTP/1.1 200")
            assert (await say(port, asked(f"GET {target}", "Host: x", header))).startswith(b"HTTP/1.1 403")
    assert len(origin.requests) == 2


@pytest.mark.parametrize("fields", [(), ("Cormorant-Egress-Public-Only: 1",)])
async def test_no_tunnel_leads_back_to_the_node_itself(fields) -> None:
    policy = Policy(allow=("self.example",), allow_ranges=("203.0.113.0/24",))
    async with serving({"*": answer(200, "self")}) as origin, proxying(policy, origin.port, own=frozenset({"203.0.113.9"})) as (port, _):
        assert (await say(port, asked("GET http://self.example/", "Host: x", *fields))).startswith(b"HTTP/1.1 403")
    assert origin.requests == []


@pytest.mark.parametrize("address", ["169.254.169.254", "169.254.1.1", "fd00:ec2::254"])
async def test_metadata_and_link_local_are_refused(address) -> None:
    dns = {"docs.python.org": [address]}
    async with serving({"*": answer(200, "x")}) as origin, proxying(DOCS_ONLY, origin.port, **dns) as (port, _):
        assert (await say(port, asked("CONNECT docs.python.org:443", "Host: x"))).startswith(b"HTTP/1.1 403")
    assert origin.connections == 0


async def test_bodies_go_both_ways_whole() -> None:
    body = "tide" * 100_000

    def echo(request) -> bytes:
        return answer(200, request.raw.partition(b"\r\n\r\n")[2])

    async with serving({"*": echo}) as origin, proxying(DOCS_ONLY, origin.port) as (port, _):
        got = await say(port, asked("POST http://docs.python.org/", "Host: x", f"Content-Length: {len(body)}") + body)
    assert got.partition(b"\r\n\r\n")[2] == body.encode()
    assert b"connection: close" in got.lower()


async def test_a_tunnel_carries_tls_for_the_name_that_was_asked_for(tmp_path) -> None:
    authority = Authority(tmp_path)
    options = Options(ca_bundle=authority.bundle)
    async with (
        serving({"*": answer(200, "through the tunnel")}, tls=authority.context_for("docs.python.org")) as origin,
        proxying(DOCS_ONLY, origin.port) as (port, lines),
        Transport(DOCS_ONLY, proxy=f"http://127.0.0.1:{port}", options=options) as client,
    ):
        got = await client.get("https://docs.python.org/x")
    assert got.body == b"through the tunnel"
    assert lines[0]["allowed"] is True
    assert lines[0]["public_only"] is True


async def tunnel(port: int, name: str | None, authority: Authority) -> None:
    """A TLS client that asks the tunnel for one host and the handshake for another."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(b"CONNECT docs.python.org:443 HTTP/1.1\r\nHost: x\r\n\r\n")
        assert b" 200 " in await reader.readuntil(b"\r\n\r\n")
        if name is None:
            writer.write(b"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n")
            assert await reader.read() == b""
            return
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        await writer.start_tls(context, server_hostname=name)
    finally:
        writer.close()


@pytest.mark.parametrize("name", ["evil.example", None], ids=["another name", "no TLS at all"])
async def test_a_tunnel_used_for_something_else_is_cut(tmp_path, name) -> None:
    authority = Authority(tmp_path)
    async with serving({"*": answer(200, "x")}, tls=authority.for_any_name()) as origin, proxying(DOCS_ONLY, origin.port) as (port, lines):
        if name:
            with pytest.raises((ConnectionError, ssl.SSLError)):
                await tunnel(port, name, authority)
        else:
            await tunnel(port, name, authority)
        async with asyncio.timeout(5):
            while not lines:
                await asyncio.sleep(0)
    assert lines[0]["allowed"] is False
    assert lines[0]["code"] == "not_allowed"
    assert origin.requests == []


def hello(name: bytes, *, count: int = 1) -> bytes:
    def vector(size: int, content: bytes) -> bytes:
        return len(content).to_bytes(size, "big") + content

    entry = b"\0" + vector(2, name)
    extension = b"\0\0" + vector(2, vector(2, entry * count))
    body = b"\3\3" + b"r" * 32 + vector(1, b"") + vector(2, b"\x13\x01") + vector(1, b"\0") + vector(2, extension)
    return b"\x16\3\1" + vector(2, b"\1" + vector(3, body))


def test_the_server_name_is_read() -> None:
    assert server_name(hello(b"docs.python.org")) == "docs.python.org"


@pytest.mark.parametrize(
    "record",
    [b"", b"\x16", b"GET / HTTP/1.1\r\n\r\n", hello(b"a")[:-1], hello(b"a", count=2), hello(b"\xff"), b"\x17" + hello(b"a")[1:]],
    ids=["nothing", "one byte", "HTTP", "cut short", "two names", "not ASCII", "application data"],
)
def test_what_is_no_hello_is_said(record) -> None:
    with pytest.raises(NotTls):
        server_name(record)


def test_no_cut_of_a_hello_is_taken_for_a_whole_one() -> None:
    whole = hello(b"docs.python.org")
    for end in range(len(whole)):
        with pytest.raises(NotTls):
            server_name(whole[:end])
