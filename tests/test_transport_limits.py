"""Bounds: decoded bytes, wire bytes, codings, documents, threads of the resolver, connections kept."""

from __future__ import annotations

import asyncio
import gzip
import socket
import subprocess
import sys
import threading
import tracemalloc
import zlib

import brotli
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cormorant.errors import Dns, Network, TooLarge, UnsupportedType
from cormorant.transport import decoding
from cormorant.transport.decoding import Decoder
from cormorant.transport.dialling import RESOLVER_THREADS, SystemResolver, addresses_of, in_order
from support_net import Request, answer, serving, transport

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

pytestmark = pytest.mark.anyio
TEXT = "Die Schleuse öffnet um sechs. ".encode() * 200


def raw_deflate(data: bytes) -> bytes:
    squeeze = zlib.compressobj(wbits=-15)
    return squeeze.compress(data) + squeeze.flush()


CODINGS = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "GZip": gzip.compress,
    "deflate": zlib.compress,
    "br": brotli.compress,
    "zstd": zstd.compress,
}


@pytest.mark.parametrize("coding", CODINGS)
async def test_every_coding_is_undone(coding: str) -> None:
    async with serving({"*": answer(200, CODINGS[coding](TEXT), content_encoding=coding)}) as server, transport() as t:
        page = await t.get(server.url())
    assert page.body == TEXT
    assert page.wire_bytes < len(TEXT)


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        pytest.param("deflate", raw_deflate(TEXT), id="deflate without its wrapper"),
        pytest.param("gzip", gzip.compress(TEXT[:100]) + gzip.compress(TEXT[100:]), id="two gzip members"),
        pytest.param("gzip", gzip.compress(TEXT) + b"\0" * 20, id="padding after gzip"),
        pytest.param("zstd", zstd.compress(TEXT[:100]) + zstd.compress(TEXT[100:]), id="two zstd frames"),
        pytest.param("gzip, br", brotli.compress(gzip.compress(TEXT)), id="two layers"),
        pytest.param("identity", TEXT, id="identity"),
        pytest.param("identity, gzip", gzip.compress(TEXT), id="identity and gzip"),
        pytest.param("", TEXT, id="empty"),
        pytest.param("UTF-8", TEXT, id="a charset"),
        pytest.param("gzip, aws-chunked", gzip.compress(TEXT, mtime=0), id="what an upload had"),
    ],
)
async def test_codings_as_servers_send_them(encoding: str, body: bytes) -> None:
    async with serving({"*": answer(200, body, content_encoding=encoding)}) as server, transport() as t:
        assert (await t.get(server.url())).body == TEXT


@pytest.mark.parametrize("encoding", ["compress", "sdch", "gzip, gzip, gzip", "br, rot13"])
async def test_a_coding_that_cant_be_undone_is_named_and_its_bytes_are_not_handed_over(encoding: str) -> None:
    async with serving({"*": answer(200, b"xyz", content_encoding=encoding)}) as server, transport() as t:
        with pytest.raises(UnsupportedType, match="coding"):
            await t.get(server.url())


@pytest.mark.parametrize("encoding", ["gzip", "br", "zstd"])
async def test_a_coded_body_that_is_broken_is_an_error(encoding: str) -> None:
    whole = CODINGS[encoding](TEXT)
    for body in (whole[:-5], whole[: len(whole) // 2], b"\xff" + whole[1:]):
        async with serving({"*": answer(200, body, content_encoding=encoding)}) as server, transport() as t:
            with pytest.raises(Network):
                await t.get(server.url())


def bomb(coding: str, size: int = 256 * 1024**2) -> bytes:
    """`size` zero bytes, squeezed in pieces so that making it costs no memory."""
    block = bytes(1024**2)
    if coding == "br":
        squeeze = brotli.Compressor(quality=5)
        return b"".join(squeeze.process(block) for _ in range(size // len(block))) + squeeze.finish()
    if coding == "zstd":
        pack = zstd.ZstdCompressor()
        return b"".join(pack.compress(block) for _ in range(size // len(block))) + pack.flush()
    gz = zlib.compressobj(1, wbits=31 if coding == "gzip" else 15)
    return b"".join(gz.compress(block) for _ in range(size // len(block))) + gz.flush()


def taken(decoder: Decoder, packed: bytes, most: int) -> tuple[bytes, bool]:
    """The first `most` decoded bytes and whether there were more, as a fetch takes them."""
    out = bytearray()
    for piece in decoder.pieces(packed):
        out += piece
        if len(out) > most:
            return bytes(out[:most]), True
    return bytes(out), False


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd"])
def test_a_bomb_costs_one_step_of_memory(coding: str) -> None:
    packed = bomb(coding, 64 * 1024**2)
    decoder = Decoder(coding)
    tracemalloc.start()
    out, more = taken(decoder, packed, 1_000_000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (len(out), more) == (1_000_000, True)
    assert peak < 8_000_000


def test_a_bomb_inside_a_bomb_costs_no_more() -> None:
    packed = gzip.compress(bomb("gzip", 64 * 1024**2))
    out, more = taken(Decoder("gzip, gzip"), packed, 500_000)
    assert (len(out), more) == (500_000, True)


BOMB_CLIENT = """
import asyncio, resource, sys
from cormorant.policy import Policy
from cormorant.transport import Transport
async def main():
    async def resolve(host, port): return ["127.0.0.1"]
    async with Transport(Policy(allow_ranges=("127.0.0.0/8",)), resolve=resolve) as t:
        await t.get(f"http://a.test:{sys.argv[1]}/small")
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for coding in ("gzip", "br", "zstd"):
            page = await t.get(f"http://a.test:{sys.argv[1]}/{coding}", max_bytes=2_000_000, document_max_bytes=25_000_000)
            assert page.truncated and len(page.body) == 2_000_000
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
asyncio.run(main())
"""


async def test_a_gigabyte_in_a_megabyte_stays_far_under_64_mib_of_resident_memory() -> None:
    pages = {"/small": answer(200, b"x")}
    for coding in ("gzip", "br", "zstd"):
        quarter = bomb(coding, 16 * 1024**2)
        body = quarter * 64 if coding in ("gzip", "zstd") else bomb("br", 1024**3)
        pages[f"/{coding}"] = answer(200, body, content_encoding=coding, content_type="text/html")
    async with serving(pages) as server:
        child = await asyncio.create_subprocess_exec(sys.executable, "-c", BOMB_CLIENT, str(server.port), stdout=subprocess.PIPE)
        out, _ = await asyncio.wait_for(child.communicate(), 30)
    assert child.returncode == 0
    assert int(out) < 64 * 1024, f"{int(out)} KiB more"


async def test_an_endless_body_is_cut_and_says_so() -> None:
    async def endless(request: Request, writer: asyncio.StreamWriter) -> bool:
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        while not writer.is_closing():
            writer.write(b"1000\r\n" + b"x" * 4096 + b"\r\n")
            await writer.drain()
        return False

    async with serving(endless) as server, transport() as t:
        page = await t.get(server.url(), max_bytes=100_000)
    assert (len(page.body), page.truncated) == (100_000, True)
    assert page.wire_bytes < 1_000_000


async def test_a_body_of_exactly_the_limit_is_whole() -> None:
    async with serving({"*": answer(200, b"x" * 1000)}) as server, transport() as t:
        assert not (await t.get(server.url(), max_bytes=1000)).truncated
        assert (await t.get(server.url(), max_bytes=999)).truncated
        assert (await t.get(server.url(), max_bytes=999)).body == b"x" * 999


async def test_input_that_decodes_to_nothing_is_cut_by_its_wire_bytes() -> None:
    empty = gzip.compress(b"")

    async def endless(request: Request, writer: asyncio.StreamWriter) -> bool:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n")
        while not writer.is_closing():
            writer.write(empty * 500)
            await writer.drain()
        return False

    async with serving(endless) as server, transport() as t:
        page = await t.get(server.url(), max_bytes=10_000)
    assert (page.body, page.truncated) == (b"", True)


@pytest.mark.parametrize(
    ("content_type", "body", "length", "outcome"),
    [
        ("application/pdf", b"%PDF-1.7" + b"x" * 3000, True, "error"),
        ("application/pdf", b"%PDF-1.7" + b"x" * 3000, False, "error"),
        ("text/html", b"<p>" + b"x" * 3000, True, "cut at 500"),
        ("text/plain", b"%PDF-1.7" + b"x" * 3000, True, "error"),
        ("", b"PK\x03\x04" + b"x" * 3000, True, "error"),
        ("text/html", b"\n%PDF-1.7" + b"x" * 900, True, "whole"),
        ("text/html", b"\n%PDF-1.7" + b"x" * 3000, True, "error"),
        ("text/plain", b"plain " * 600, True, "cut at 500"),
        ("text/plain", b"plain " * 100, False, "cut at 500"),
        ("", b"plain " * 600, False, "cut at 500"),
        ("application/octet-stream", b"plain " * 600, True, "cut at 500"),
        ("application/octet-stream", b"\0bin" * 600, True, "error"),
        ("application/vnd.example", b"data" * 600, True, "error"),
        ("application/ld+json", b"{}  " * 600, True, "cut at 500"),
        ("application/pdf", b"%PDF-1.7" + b"x" * 900, True, "whole"),
        ("", b"plain " * 80, True, "whole"),
    ],
)
async def test_a_document_past_its_limit_is_an_error_and_text_is_cut(content_type: str, body: bytes, length: bool, outcome: str) -> None:
    raw = answer(200, body, content_type=content_type)
    if not length:
        raw = (
            answer(200, b"", content_type=content_type, transfer_encoding="chunked")
            + f"{len(body):x}\r\n".encode()
            + body
            + b"\r\n0\r\n\r\n"
        )
    async with serving({"*": raw}) as server, transport() as t:
        if outcome == "error":
            with pytest.raises(TooLarge, match="1000"):
                await t.get(server.url(), max_bytes=500, document_max_bytes=1000)
            return
        page = await t.get(server.url(), max_bytes=500, document_max_bytes=1000)
    assert len(page.body) == (500 if outcome == "cut at 500" else len(body))
    assert page.truncated is (outcome == "cut at 500")


async def test_64_look_ups_go_on_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    # With as many threads 256 look-ups of 50 ms take four rounds, 0.2 s; the barrier shows it without a stop watch.
    together = threading.Barrier(64)

    def slow(host: str, port: int, **_: object) -> list[object]:
        together.wait(20)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("8.8.8.8", port))] * 2

    monkeypatch.setattr(socket, "getaddrinfo", slow)
    resolve = SystemResolver()
    found = await asyncio.gather(*(resolve(f"h{n}.test", 80) for n in range(256)))
    resolve.close()
    assert found == [["8.8.8.8"]] * 256
    assert RESOLVER_THREADS == 64


HANGING = """
import asyncio, socket, threading
socket.getaddrinfo = lambda *a, **k: threading.Event().wait(60)
from cormorant.errors import Timeout
from cormorant.policy import Policy
from cormorant.transport import Transport
async def main():
    async with Transport(Policy()) as t:
        try:
            await t.get("http://slow.example/", timeout_s=0.1)
        except Timeout:
            print("timeout")
asyncio.run(main())
"""


async def test_a_look_up_that_hangs_does_not_hold_up_the_end_of_the_program() -> None:
    child = await asyncio.create_subprocess_exec(sys.executable, "-c", HANGING, stdout=subprocess.PIPE)
    out, _ = await asyncio.wait_for(child.communicate(), 15)
    assert (child.returncode, out) == (0, b"timeout\n")


async def test_the_resolver_names_what_went_wrong_and_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(host: str, port: int, **_: object) -> list[object]:
        if host == "missing.test":
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        if host == "x" * 64:
            raise UnicodeError("label too long")
        return [(socket.AF_INET6, socket.SOCK_STREAM, 6, "", ("2606:4700::1", port, 0, 0))]

    monkeypatch.setattr(socket, "getaddrinfo", fails)
    resolve = SystemResolver()
    for host in ("missing.test", "x" * 64):
        with pytest.raises(Dns):
            await addresses_of(host, 80, resolve)
    assert await addresses_of("found.test", 80, resolve) == ["2606:4700::1"]
    resolve.close()
    assert await addresses_of("found.test", 80, resolve) == ["2606:4700::1"], "closing is no end"
    resolve.close()


def test_families_take_turns_beginning_with_the_resolvers_first() -> None:
    assert in_order(["::1", "::2", "1.1.1.1", "1.1.1.2"]) == ["::1", "1.1.1.1", "::2", "1.1.1.2"]
    assert in_order(["1.1.1.1", "1.1.1.2", "::1"]) == ["1.1.1.1", "::1", "1.1.1.2"]
    assert in_order(["1.1.1.1"]) == ["1.1.1.1"]


async def test_idle_connections_are_closed_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cormorant.transport.exchange.IDLE_S", 0.05)
    async with serving({"*": answer(200, "x")}) as server, transport() as t:
        await t.get(server.url())
        for _ in range(50):
            await asyncio.sleep(0.02)
            if server.open_now == 0:
                break
        assert server.open_now == 0
        await t.get(server.url())
        assert server.connections == 2


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd"])
def test_a_tiny_body_that_decodes_to_much_is_read_whole_in_small_steps(coding: str) -> None:
    decoder = Decoder(coding)
    sizes = [len(piece) for piece in decoder.pieces(bomb(coding, 8 * 1024**2))]
    decoder.end()
    assert sum(sizes) == 8 * 1024**2
    assert max(sizes) <= 2 * decoding.STEP_BYTES


@given(
    st.sampled_from(["gzip", "deflate", "br", "zstd", "gzip, br", "zstd, gzip"]),
    st.binary(max_size=300),
    st.integers(1, 500),
    st.integers(1, 40),
)
def test_decoding_gives_back_what_was_encoded_however_it_is_cut(coding: str, text: bytes, times: int, cut: int) -> None:
    whole = text * times
    packed = whole
    for name in coding.split(", "):
        packed = CODINGS[name](packed)
    decoder = Decoder(coding)
    found = b"".join(piece for n in range(0, len(packed), cut) for piece in decoder.pieces(packed[n : n + cut]))
    decoder.end()
    assert found == whole
