"""Client CPU and requests a second of a fetch over loopback, against its peers in the same run.

    python bench/fetch_throughput.py            # about a minute; writes results/fetch_throughput.json and .svg
    python bench/fetch_throughput.py --quick
    python bench/fetch_throughput.py --soak     # 20,000 fetches at concurrency 256: resident memory and open files

The server is another process that answers with one fixed 10 KiB page. Every client keeps its connections, asks for a
different address each time, reads the whole body and checks its length. `raw asyncio` writes a fixed request and reads
to the blank line and the body's length, nothing else: what is left out there (URL, policy, limits, decoding, hashing,
errors) is what a client is for. Rounds are interleaved and the median is kept, since other programs run on the machine.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from importlib.metadata import version
from pathlib import Path

import aiohttp
import drawbridge
import httpx2
from report import save, table

from cormorant.policy import Policy
from cormorant.transport import Transport

BODY = 10 * 1024
LEVELS = (1, 32, 256)
SERVER = f"""
import asyncio
PAGE = (b"HTTP/1.1 200 OK\\r\\nServer: bench\\r\\nDate: Mon, 30 Nov 2026 12:00:00 GMT\\r\\nContent-Type: text/html; charset=utf-8\\r\\n"
        b"Cache-Control: max-age=60\\r\\nContent-Length: {BODY}\\r\\n\\r\\n" + b"x" * {BODY})
class Page(asyncio.Protocol):
    def connection_made(self, transport):
        self.transport, self.buffer = transport, b""
    def data_received(self, data):
        self.buffer += data
        while (end := self.buffer.find(b"\\r\\n\\r\\n")) >= 0:
            self.buffer = self.buffer[end + 4:]
            self.transport.write(PAGE)
async def main():
    server = await asyncio.get_running_loop().create_server(Page, "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()
asyncio.run(main())
"""

Fetch = Callable[[int], Awaitable[int]]
Client = Callable[[int, int, int], Awaitable[None]]


async def spread(fetch: Fetch, requests: int, concurrency: int) -> None:
    """`concurrency` workers that share the requests."""
    numbers = iter(range(requests))

    async def work() -> None:
        for n in numbers:
            size = await fetch(n)
            if size != BODY:
                raise RuntimeError(f"{size} bytes instead of {BODY}")

    await asyncio.gather(*(work() for _ in range(concurrency)))


async def raw(port: int, requests: int, concurrency: int) -> None:
    numbers = iter(range(requests))

    async def work() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for n in numbers:
            writer.write(b"GET /page?n=%d HTTP/1.1\r\nHost: site.test\r\n\r\n" % n)
            await reader.readuntil(b"\r\n\r\n")
            await reader.readexactly(BODY)
        writer.close()

    await asyncio.gather(*(work() for _ in range(concurrency)))


async def ours(port: int, requests: int, concurrency: int) -> None:
    async with Transport(Policy(allow_ranges=("127.0.0.0/8",)), resolve=loopback) as transport:

        async def fetch(n: int) -> int:
            return len((await transport.get(f"http://site.test:{port}/page?n={n}")).body)

        await spread(fetch, requests, concurrency)


async def httpx2_client(port: int, requests: int, concurrency: int) -> None:
    limits = httpx2.Limits(max_connections=concurrency, max_keepalive_connections=concurrency)
    async with httpx2.AsyncClient(limits=limits, timeout=20, trust_env=False) as client:

        async def fetch(n: int) -> int:
            return len((await client.get(f"http://127.0.0.1:{port}/page?n={n}")).content)

        await spread(fetch, requests, concurrency)


async def aiohttp_client(port: int, requests: int, concurrency: int) -> None:
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=concurrency)) as client:

        async def fetch(n: int) -> int:
            async with client.get(f"http://127.0.0.1:{port}/page?n={n}") as response:
                return len(await response.read())

        await spread(fetch, requests, concurrency)


async def drawbridge_client(port: int, requests: int, concurrency: int) -> None:
    """A guard over httpx: it refuses private addresses and follows redirects by hand, as we do; no robots, no pinning per policy."""
    policy = drawbridge.Policy(allow_private=True, allow_ports=frozenset({port}))
    async with drawbridge.Client(policy) as client:

        async def fetch(n: int) -> int:
            return len((await client.get(f"http://127.0.0.1:{port}/page?n={n}")).content)

        await spread(fetch, requests, concurrency)


CLIENTS: dict[str, tuple[Client, int]] = {  # name: how, and requests a round
    "raw asyncio": (raw, 6000),
    "cormorant": (ours, 3000),
    f"aiohttp {aiohttp.__version__}": (aiohttp_client, 3000),
    f"httpx2 {version('httpx2')}": (httpx2_client, 1000),
    f"drawbridge {version('drawbridge')}": (drawbridge_client, 500),
}


def once(client: Client, port: int, requests: int, concurrency: int) -> tuple[float, float]:
    """Microseconds of this process's CPU a request, and requests a second."""
    asyncio.run(client(port, concurrency, concurrency))  # connections of one kind warmed: imports, caches
    cpu, wall = time.process_time(), time.perf_counter()
    asyncio.run(client(port, requests, concurrency))
    return (time.process_time() - cpu) / requests * 1e6, requests / (time.perf_counter() - wall)


def resident_kib() -> int:
    return int(next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmRSS")).split()[1])


async def soak(port: int) -> None:
    """Memory after each 4,000 of 20,000 fetches, a third of them over a connection of their own that is then closed."""
    async with Transport(Policy(allow_ranges=("127.0.0.0/8",)), resolve=loopback) as transport:

        async def fetch(n: int) -> int:
            page = await transport.get(f"http://host{n % 40}.test:{port}/page?n={n}", max_bytes=BODY // 2 if n % 3 == 0 else 2 * BODY)
            return BODY if page.truncated else len(page.body)

        rows = []
        for part in range(5):
            await spread(fetch, 4000, 256)
            rows.append({"fetches": (part + 1) * 4000, "resident_kib": resident_kib(), "open_files": len(os.listdir("/proc/self/fd"))})
    print(table(rows))
    grown = rows[-1]["resident_kib"] - rows[0]["resident_kib"]
    print(f"grown by {grown} KiB from the first part to the last; open files after closing: {len(os.listdir('/proc/self/fd'))}")
    save("fetch_soak", {"what": "resident memory during 20,000 fetches at concurrency 256", "rows": rows, "grown_kib": grown})


async def loopback(host: str, _: int) -> list[str]:
    return ["127.0.0.1"]


def main(*, quick: bool, soaking: bool) -> None:
    server = subprocess.Popen([sys.executable, "-c", SERVER], stdout=subprocess.PIPE)
    assert server.stdout
    port = int(server.stdout.readline())
    try:
        if soaking:
            asyncio.run(soak(port))
        else:
            compare(port, quick=quick)
    finally:
        server.terminate()
        server.wait()


def compare(port: int, *, quick: bool) -> None:
    rows = []
    for level in LEVELS:
        measured: dict[str, list[tuple[float, float]]] = {name: [] for name in CLIENTS}
        for _ in range(2 if quick else 5):
            for name, (client, requests) in CLIENTS.items():
                measured[name].append(once(client, port, max(requests // (4 if quick else 1), level * 2), level))
        for name, found in measured.items():
            cpu, rate = (statistics.median(column) for column in zip(*found, strict=True))
            rows.append({"concurrency": level, "client": name, "cpu_us": round(cpu, 1), "requests_per_s": round(rate)})
    base = {row["concurrency"]: row["cpu_us"] for row in rows if row["client"] == "raw asyncio"}
    for row in rows:
        row["times_raw"] = round(row["cpu_us"] / base[row["concurrency"]], 2)
    print(table(rows))
    if not quick:
        charts = {
            f"CPU a request at concurrency {n}": {row["client"]: row["cpu_us"] for row in rows if row["concurrency"] == n} for n in LEVELS
        }
        save(
            "fetch_throughput",
            {"what": "client CPU microseconds a request over loopback", "body_bytes": BODY, "rows": rows},
            bars=charts,
            unit=" µs",
        )


if __name__ == "__main__":
    main(quick="--quick" in sys.argv[1:], soaking="--soak" in sys.argv[1:])
