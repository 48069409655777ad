"""Servers that misbehave on purpose: each ends in the right error within its deadline, and no socket is left open."""

from __future__ import annotations

import asyncio
import os
import socket
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

import pytest

from cormorant.errors import CormorantError, Dns, HttpError, Network, RateLimited, Timeout, Tls
from cormorant.policy import Policy
from cormorant.transport import Options
from support_net import Authority, Request, Scripted, answer, dials_to, quick, read_request, serving, transport

pytestmark = pytest.mark.anyio
HASTY = Options(connect_timeout_s=3.0, first_byte_timeout_s=3.0)  # enough for a busy machine, short enough for a hang


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("ca"))


@pytest.fixture(autouse=True)
async def no_socket_is_left() -> AsyncIterator[None]:
    before = len(os.listdir("/proc/self/fd"))
    yield
    for _ in range(50):
        if len(os.listdir("/proc/self/fd")) <= before:
            return
        await asyncio.sleep(0.01)
    assert len(os.listdir("/proc/self/fd")) <= before, [os.readlink(f"/proc/self/fd/{n}") for n in os.listdir("/proc/self/fd")]


@asynccontextmanager
async def sending(raw: bytes, *, then: str = "close") -> AsyncIterator[int]:
    """A server that answers the first request of a connection with these bytes and then closes, resets or stays silent."""
    writers = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)
        if await read_request(reader) is None:
            writer.close()
            return
        writer.write(raw)
        if then == "close":
            writer.close()
        elif then == "reset":
            await asyncio.sleep(0)
            writer.transport.abort()
        elif then == "half":
            writer.write_eof()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for writer in writers:
            writer.transport.abort()


CHUNKS = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
GOOD = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"


def cut_everywhere() -> Iterator[tuple[bytes, str]]:
    for whole in (GOOD, CHUNKED):
        for end in range(len(whole)):
            yield whole[:end], "close"
        for end in range(0, len(whole), 7):
            yield whole[:end], "reset"


async def test_an_answer_that_breaks_off_at_any_byte_is_a_network_error() -> None:
    async with transport(options=HASTY) as t:
        for raw, then in cut_everywhere():
            async with sending(raw, then=then) as port:
                with pytest.raises(Network):
                    await t.get(f"http://site.test:{port}/", timeout_s=10)


async def test_an_answer_that_comes_byte_by_byte_is_read() -> None:
    for whole in (GOOD, CHUNKED):

        async def dribble(request: Request, writer: asyncio.StreamWriter, whole: bytes = whole) -> bool:
            for n in range(len(whole)):
                writer.write(whole[n : n + 1])
                await writer.drain()
                await asyncio.sleep(0)
            return True

        async with serving(dribble) as server, transport() as t:
            assert (await t.get(server.url())).body == b"hello"
            assert (await t.get(server.url())).body == b"hello"
            assert server.connections == 1


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        pytest.param(b"", "ended before an answer", id="nothing"),
        pytest.param(b"<html>hello</html>", "not HTTP/1.x", id="HTTP/0.9"),
        pytest.param(b"SSH-2.0-OpenSSH_9.2\r\n", "not HTTP/1.x", id="another protocol"),
        pytest.param(os.urandom(400) + b"\r\n\r\n", "not HTTP/1.x", id="garbage"),
        pytest.param(b"HTTP/2.0 200 OK\r\n\r\n", "not HTTP/1.x", id="HTTP/2.0"),
        pytest.param(b"HTTP/1.1 20 OK\r\n\r\n", "not HTTP/1.x", id="two-digit status"),
        pytest.param(b"HTTP/1.1 200 OK\r\nNo colon here\r\n\r\n", "can't be read", id="no colon"),
        pytest.param(b"HTTP/1.1 200 OK\r\nName : x\r\n\r\n", "can't be read", id="space before the colon"),
        pytest.param(b"HTTP/1.1 200 OK\r\nA: b\rC: d\r\n\r\n", "control character", id="bare CR"),
        pytest.param(b"HTTP/1.1 200 OK\r\nA: b\0\r\n\r\n", "control character", id="NUL"),
        pytest.param(b"HTTP/1.1 200 OK\r\n folded: first\r\n\r\n", "continuation", id="a fold with nothing before it"),
        pytest.param(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!", "two different", id="two lengths"),
        pytest.param(b"HTTP/1.1 200 OK\r\nContent-Length: 5, 6\r\n\r\nhello!", "two different", id="two lengths in one field"),
        pytest.param(b"HTTP/1.1 200 OK\r\nContent-Length: +5\r\n\r\nhello", "not a number", id="signed length"),
        pytest.param(b"HTTP/1.1 200 OK\r\nContent-Length: 0x5\r\n\r\nhello", "not a number", id="hex length"),
        pytest.param(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", "transfer coding", id="gzip, chunked"),
        pytest.param(CHUNKS + b"5\nhello\r\n0\r\n\r\n", "bare line feed", id="chunk line with LF"),
        pytest.param(CHUNKS + b"5\r\nhelloXX0\r\n\r\n", "its length says", id="chunk too long"),
        pytest.param(CHUNKS + b"zz\r\n", "can't be read", id="chunk size"),
        pytest.param(CHUNKS + b"-5\r\nhello", "can't be read", id="negative chunk"),
        pytest.param(CHUNKS + b"1;" + b"x" * 9000, "without end", id="endless extension"),
        pytest.param(CHUNKS + b"0\r\n" + b"A: b\r\n" * 4000, "endless trailer", id="endless trailer"),
        pytest.param(b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 300 + b"\r\n", "more than 200", id="too many fields"),
        pytest.param(b"HTTP/1.1 200 OK\r\nA: " + b"b" * 70_000, "64 KiB", id="endless head"),
        pytest.param(b"HTTP/1.1 100 Continue\r\n\r\n" * 20 + GOOD, "informational", id="endless 100"),
        pytest.param(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n", "101", id="unasked upgrade"),
        pytest.param(b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nshort", "after 5 of 50", id="length too long"),
        pytest.param(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\nhello", "not valid gzip", id="no gzip"),
    ],
)
async def test_what_is_not_a_sound_answer_is_named(raw: bytes, says: str) -> None:
    async with sending(raw) as port, transport(options=HASTY) as t:
        with pytest.raises(Network) as caught:
            await t.get(f"http://site.test:{port}/", timeout_s=10)
    assert says in caught.value.message


@pytest.mark.parametrize(
    ("raw", "body"),
    [
        pytest.param(b"HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nhi", b"hi", id="no reason phrase"),
        pytest.param(b"HTTP/1.1 200 OK\nContent-Length: 2\n\nhi", b"hi", id="bare line feeds in the head"),
        pytest.param(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello", b"hello", id="the same length twice"),
        pytest.param(b"HTTP/1.1 200 OK\r\nX: a\r\n b\r\nContent-Length: 2\r\n\r\nhi", b"hi", id="folded field"),
        pytest.param(b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" + GOOD, b"hello", id="early hints"),
        pytest.param(
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n5;a=b\r\nhello\r\n000\r\nX: y\r\n\r\n", b"hello", id="chunk extras"
        ),
        pytest.param(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello and more", b"hello", id="more than promised"),
        pytest.param(b"HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n", b"", id="no content"),
        pytest.param(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n" + CHUNKED[17:], b"hello", id="both lengths"),
    ],
)
async def test_what_is_odd_but_sound_is_read_and_the_connection_goes(raw: bytes, body: bytes) -> None:
    async with sending(raw, then="stay") as port, transport(options=HASTY) as t:
        assert (await t.get(f"http://site.test:{port}/", timeout_s=10)).body == body


@pytest.mark.parametrize("raw", [b"HTTP/1.0 200 OK\r\n\r\nuntil the end", b"HTTP/1.1 200\r\n\r\nuntil the end"])
async def test_a_body_without_length_ends_with_the_connection(raw: bytes) -> None:
    for then in ("close", "half"):
        async with sending(raw, then=then) as port, transport() as t:
            assert (await t.get(f"http://site.test:{port}/")).body == b"until the end"


@pytest.mark.parametrize(
    "extra",
    [
        pytest.param("Content-Length: 3\r\nTransfer-Encoding: chunked", id="both lengths"),
        pytest.param("Transfer-Encoding: chunked\r\nX: a\r\n b", id="folded field"),
        pytest.param("Transfer-Encoding: chunked\r\nConnection: close", id="close"),
    ],
)
async def test_an_answer_with_two_readings_ends_its_connection(extra: str) -> None:
    raw = f"HTTP/1.1 200 OK\r\n{extra}\r\n\r\n2\r\nhi\r\n0\r\n\r\n".encode()
    async with serving({"*": raw}) as server, transport() as t:
        await t.get(server.url("/1"))
        await t.get(server.url("/2"))
        assert server.connections == 2


async def test_bytes_nobody_asked_for_are_never_the_next_answer() -> None:
    poison = answer(200, "poison")
    async with serving({"/a": answer(200, "first") + poison, "*": answer(200, "second")}) as server, transport() as t:
        assert (await t.get(server.url("/a"))).body == b"first"
        assert (await t.get(server.url("/b"))).body == b"second"

    async def late(request: Request, writer: asyncio.StreamWriter) -> bool:
        writer.write(answer(200, "first" if request.target == "/a" else "second"))
        await writer.drain()
        if request.target == "/a":
            asyncio.get_running_loop().call_later(0.02, writer.write, poison)
        return True

    async with serving(late) as server, transport() as t:
        assert (await t.get(server.url("/a"))).body == b"first"
        await asyncio.sleep(0.06)
        assert (await t.get(server.url("/b"))).body == b"second"
        assert server.connections == 2


async def test_a_kept_connection_that_died_is_replaced_for_a_get_and_not_for_a_post() -> None:
    async def once(request: Request, writer: asyncio.StreamWriter) -> bool:
        if len(state.requests) in (2, 4):  # the second request of a connection is swallowed
            return False
        writer.write(answer(200, "x"))
        await writer.drain()
        return True

    async with serving(once) as state, transport() as t:
        await t.get(state.url())
        assert (await t.get(state.url())).body == b"x"
        with pytest.raises(Network):
            await t.request("POST", state.url(), body=b"1")


async def test_the_total_deadline_is_not_outlived_by_a_slow_drip() -> None:
    async def drip(request: Request, writer: asyncio.StreamWriter) -> bool:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
        while not writer.is_closing():
            writer.write(b"x")
            await writer.drain()
            await asyncio.sleep(0.02)
        return False

    async with serving(drip) as server, transport() as t:
        started = time.monotonic()
        with pytest.raises(Timeout, match="reading the body") as caught:
            await t.get(server.url(), timeout_s=0.3)
        assert time.monotonic() - started < 5
    assert caught.value.retryable


async def test_a_header_that_never_ends_is_cut_by_the_first_byte_limit() -> None:
    async def drip(request: Request, writer: asyncio.StreamWriter) -> bool:
        writer.write(b"HTTP/1.1 200 OK\r\n")
        while not writer.is_closing():
            writer.write(b"A: b\r\n")
            await writer.drain()
            await asyncio.sleep(0.02)
        return False

    async with serving(drip) as server, transport(options=quick(first_byte_timeout_s=0.4)) as t:
        with pytest.raises(Timeout, match=r"no answer within 0\.4 s"):
            await t.get(server.url(), timeout_s=5)


async def test_a_resolver_that_hangs_fails_or_answers_nonsense() -> None:
    async def hangs(host: str, port: int) -> list[str]:
        await asyncio.sleep(60)
        return []

    async with transport(resolve=hangs) as t:
        with pytest.raises(Timeout, match="connecting"):
            await t.get("http://site.test/", timeout_s=0.1)
    async with transport(resolve=Scripted(otherwise=())) as t:
        with pytest.raises(Dns):
            await t.get("http://site.test/")

    async def fails(host: str, port: int) -> list[str]:
        raise OSError(-2, "Name or service not known")

    async with transport(resolve=fails) as t:
        with pytest.raises(Dns, match="Name or service not known"):
            await t.get("http://site.test/")
    async with transport(resolve=Scripted(otherwise=["nonsense"])) as t:
        with pytest.raises(CormorantError, match="nonsense"):
            await t.get("http://site.test/")


async def test_a_port_nobody_listens_on_is_a_network_error() -> None:
    async with serving({}) as server:
        port = server.port
    async with transport() as t:
        with pytest.raises(Network, match="could not connect") as caught:
            await t.get(f"http://site.test:{port}/")
    assert caught.value.retryable


async def test_every_vetted_address_may_be_tried() -> None:
    resolve = Scripted({"site.test": ["127.0.0.9", "127.0.0.1"]})
    async with serving({"*": answer(200, "x")}) as server, transport(resolve=resolve) as t:
        assert (await t.get(server.url())).body == b"x"


async def test_an_address_that_does_not_answer_holds_the_next_one_up_for_a_quarter_second() -> None:
    dialled: list[str] = []
    async with serving({"*": answer(200, "x")}) as server:

        async def connect(address: str, port: int) -> object:
            if address == "2606:4700::1":
                dialled.append(address)
                await asyncio.sleep(60)
            return await dials_to(server.port, dialled)(address, port)

        resolve = Scripted({"site.test": ["2606:4700::1", "2606:4700::2", "8.8.8.8"]})
        async with transport(resolve=resolve, connect=connect) as t:
            started = time.monotonic()
            assert (await t.get("http://site.test/")).body == b"x"
    assert dialled == ["2606:4700::1", "8.8.8.8"], "families in turn"
    assert 0.2 < time.monotonic() - started < 10


async def test_another_peer_than_the_one_dialled_gets_nothing() -> None:
    async with serving({"*": answer(200, "x")}) as server:
        connect = dials_to(server.port, lying="93.184.215.99")
        async with transport(resolve=Scripted(otherwise=["93.184.215.14"]), connect=connect) as t:
            with pytest.raises(Network, match=r"93\.184\.215\.99 answered"):
                await t.get("http://site.test/")
        assert server.requests == []


async def test_certificates_that_are_not_good_are_never_waved_through(authority: Authority, tmp_path: object) -> None:
    stranger = Authority(tmp_path)  # type: ignore[arg-type]
    past = datetime.now(UTC) - timedelta(days=2)
    contexts = {
        "mismatch": authority.context_for("other.test"),
        "expired": authority.context_for("site.test", not_after=past),
        "issuer": stranger.context_for("site.test"),
    }
    for context in contexts.values():
        async with serving({"*": answer(200, "x")}, tls=context) as server, transport(options=quick(ca_bundle=authority.bundle)) as t:
            with pytest.raises(Tls, match="certificate") as caught:
                await t.get(server.url(scheme="https"))
            assert server.requests == []
        assert "site.test" in caught.value.message
    async with serving({"*": answer(200, "x")}, tls=authority.context_for("site.test")) as server:
        async with transport(options=quick(ca_bundle=authority.bundle)) as t:
            assert (await t.get(server.url(scheme="https"))).body == b"x"
            assert server.requests[0].headers["host"] == f"site.test:{server.port}"
        async with transport(options=quick()) as t:
            with pytest.raises(Tls):
                await t.get(server.url(scheme="https"))


@pytest.mark.parametrize("size", [10, 16_383, 16_384, 16_385, 40_000, 1_000_000])
async def test_a_body_over_tls_is_what_was_sent_however_many_records_it_takes(authority: Authority, size: int) -> None:
    body = bytes(n * 31 % 255 + 1 for n in range(size))  # no NUL in it
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in (body[at : at + 50_000] for at in range(0, size, 50_000)))
    chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks + b"0\r\n\r\n"
    async with (
        serving({"/length": answer(200, body), "/chunks": chunked}, tls=authority.context_for("site.test")) as server,
        transport(options=quick(ca_bundle=authority.bundle)) as t,
    ):
        for target in ("/length", "/chunks", "/length"):
            page = await t.get(server.url(target, scheme="https"))
            assert page.body == body, target


async def test_https_to_a_server_without_tls_and_the_other_way_round(authority: Authority) -> None:
    async with serving({"*": answer(200, "x")}) as server, transport(options=HASTY) as t:
        with pytest.raises((Tls, Timeout)):
            await t.get(server.url(scheme="https"), timeout_s=1)
    async with serving({"*": answer(200, "x")}, tls=authority.context_for("site.test")) as server, transport(options=HASTY) as t:
        with pytest.raises((Network, Timeout)):
            await t.get(server.url(), timeout_s=1)


async def test_a_handshake_that_hangs_ends_with_the_connect_limit() -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(-1)
        writer.close()

    server = await asyncio.start_server(silent, "127.0.0.1", 0)
    try:
        async with transport(options=Options(connect_timeout_s=0.3)) as t:
            with pytest.raises(Timeout, match="TLS handshake"):
                await t.get(f"https://site.test:{server.sockets[0].getsockname()[1]}/")
    finally:
        server.close()
        await asyncio.sleep(0.02)


async def test_a_short_retry_after_is_waited_for_and_a_long_one_is_not() -> None:
    def busy(request: Request) -> bytes:
        return answer(429, "", retry_after="0") if len(server.requests) < 3 else answer(200, "x")

    async with serving({"*": busy}) as server, transport() as t:
        assert (await t.get(server.url(), timeout_s=5)).body == b"x"
    async with serving({"*": answer(429, "", retry_after="600")}) as server, transport() as t:
        with pytest.raises(RateLimited) as caught:
            await t.get(server.url())
        assert (caught.value.retry_after, len(server.requests)) == (600, 1)
    async with serving({"*": answer(503, "", retry_after="Wed, 21 Oct 2099 07:28:00 GMT")}) as server, transport() as t:
        with pytest.raises(RateLimited) as late:
            await t.get(server.url())
        assert (late.value.status, late.value.retryable) == (503, True)
        assert (late.value.retry_after or 0) > 1e6
    async with serving({"*": answer(503, "")}) as server, transport() as t:
        with pytest.raises(HttpError):
            await t.get(server.url())
    async with serving({"*": answer(429, "", retry_after="soon")}) as server, transport() as t:
        with pytest.raises(RateLimited) as unknown:
            await t.get(server.url())
        assert (unknown.value.retry_after, len(server.requests)) == (None, 1)


async def test_a_cancelled_fetch_closes_its_connection() -> None:
    asked = asyncio.Event()

    async def never(request: Request, writer: asyncio.StreamWriter) -> bool:
        asked.set()
        await asyncio.sleep(60)
        return False

    async with serving(never) as server, transport() as t:
        task = asyncio.create_task(t.get(server.url()))
        await asyncio.wait_for(asked.wait(), 5)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


async def test_the_environment_changes_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    (tmp_path / ".netrc").write_text("machine site.test login me password S3CRET\n")  # type: ignore[operator]
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NETRC", str(tmp_path) + "/.netrc")
    async with serving({"*": answer(200, "x")}) as server, transport() as t:
        await t.get(server.url())
        assert "authorization" not in server.requests[0].headers


async def test_a_literal_address_is_dialled_without_a_look_up_and_its_certificate_names_it(authority: Authority) -> None:
    async def never(host: str, port: int) -> list[str]:
        raise AssertionError("nothing to resolve")

    options = quick(ca_bundle=authority.bundle)
    good, bad = authority.context_for("127.0.0.1"), authority.context_for("other.test")
    async with serving({"*": answer(200, "x")}, tls=good) as server, transport(resolve=never, options=options) as t:
        assert (await t.get(f"https://127.0.0.1:{server.port}/")).body == b"x"
        assert server.requests[0].host == f"127.0.0.1:{server.port}"
    async with serving({"*": answer(200, "x")}, tls=bad) as server, transport(resolve=never, options=options) as t:
        with pytest.raises(Tls):
            await t.get(f"https://127.0.0.1:{server.port}/")


async def test_ipv6_works_where_the_machine_has_it() -> None:
    try:
        probe = socket.create_server(("::1", 0), family=socket.AF_INET6)
    except OSError:
        pytest.skip("this machine has no IPv6 loopback")
    probe.close()
    policy = Policy(allow_ranges=["::1/128"])
    async with (
        serving({"*": answer(200, "six")}, host="::1", family=socket.AF_INET6) as server,
        transport(policy, resolve=Scripted(otherwise=["::1"])) as t,
    ):
        assert (await t.get(f"http://[::1]:{server.port}/")).body == b"six"
        assert server.requests[0].host == f"[::1]:{server.port}"
        assert (await t.get(server.url())).body == b"six"


async def test_an_ipv4_address_in_ipv6_clothes_is_dialled_as_ipv4() -> None:
    dialled: list[str] = []
    resolve = Scripted(otherwise=["::ffff:8.8.8.8"])
    async with (
        serving({"*": answer(200, "x")}) as server,
        transport(Policy(), resolve=resolve, connect=dials_to(server.port, dialled)) as t,
    ):
        await t.get("http://site.test/")
        await t.get("http://[::ffff:8.8.4.4]/")
    assert dialled == ["8.8.8.8", "8.8.4.4"]


async def test_many_answers_are_all_checked_and_few_are_tried() -> None:
    many = [f"8.8.{n}.1" for n in range(40)]
    async with transport(Policy(), resolve=Scripted(otherwise=[*many, "10.0.0.1"])) as t:
        with pytest.raises(CormorantError, match=r"10\.0\.0\.1"):
            await t.get("http://site.test/")
    dialled: list[str] = []

    async def refuses(address: str, port: int) -> socket.socket:
        dialled.append(address)
        raise ConnectionRefusedError(111, "Connection refused")

    async with transport(Policy(), resolve=Scripted(otherwise=many), connect=refuses) as t:
        with pytest.raises(Network, match="Connection refused"):
            await t.get("http://site.test/")
    assert dialled == many[:8]
