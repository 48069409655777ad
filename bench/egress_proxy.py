"""The egress proxy beside tinyproxy: plain requests a second, tunnel megabytes a second, and the proxy's own CPU for each.

    python bench/egress_proxy.py [--seconds 3] [--clients 32]

Both stand in the same place in the same run: one process each on loopback, in front of one origin, asked in turn by one
client. tinyproxy (C, threads) is left out where it is not installed.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import shutil
import socket
import ssl
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import trustme
from report import save, table

ROUNDS = 3
TUNNEL_BYTES = 64 * 1024**2
ORIGIN = "127.0.0.2"  # not the proxies' own address: ours refuses to lead back to its node


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


async def answering(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """1 KiB for every request; `/large` is the tunnel's payload."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
        size = TUNNEL_BYTES if b" /large " in head else 1024
        writer.write(f"HTTP/1.1 200 OK\r\nContent-Length: {size}\r\nConnection: close\r\n\r\n".encode())
        chunk = b"x" * 262_144
        while size:
            writer.write(chunk[: min(size, len(chunk))])
            size -= min(size, len(chunk))
            await writer.drain()
    except (ConnectionError, asyncio.IncompleteReadError):
        pass
    finally:
        writer.close()


def cpu_s(pid: int) -> float:
    """CPU seconds a process has used (proc(5), fields 14 and 15)."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@asynccontextmanager
async def running(command: list[str], port: int, environment: dict[str, str]) -> AsyncIterator[int]:
    process = await asyncio.create_subprocess_exec(*command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        async with asyncio.timeout(20):
            while True:
                try:
                    _, writer = await asyncio.open_connection("127.0.0.1", port)
                    writer.close()
                    break
                except OSError:
                    await asyncio.sleep(0.05)
        yield process.pid
    finally:
        process.terminate()
        await process.wait()


async def plain(port: int, origin: int, seconds: float, clients: int) -> int:
    """Requests answered in the time, by so many clients at once; each has a connection of its own, as the proxy closes it."""
    ends = time.perf_counter() + seconds
    done = 0

    async def client() -> None:
        nonlocal done
        while time.perf_counter() < ends:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(f"GET http://{ORIGIN}:{origin}/ HTTP/1.1\r\nHost: {ORIGIN}:{origin}\r\nConnection: close\r\n\r\n".encode())
            got = await reader.read()
            writer.close()
            if not got.startswith(b"HTTP/1.") or b" 200 " not in got[:20]:
                raise RuntimeError(got[:200])
            done += 1

    await asyncio.gather(*(client() for _ in range(clients)))
    return done


async def tunnel(port: int, origin: int) -> float:
    """Seconds for the payload through one TLS tunnel."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 20)
    writer.write(f"CONNECT {ORIGIN}:{origin} HTTP/1.1\r\nHost: {ORIGIN}:{origin}\r\n\r\n".encode())
    await reader.readuntil(b"\r\n\r\n")
    started = time.perf_counter()
    await writer.start_tls(context)
    writer.write(f"GET /large HTTP/1.1\r\nHost: {ORIGIN}\r\n\r\n".encode())
    seen = 0
    while data := await reader.read(1 << 20):
        seen += len(data)
    writer.close()
    if seen < TUNNEL_BYTES:
        raise RuntimeError(f"only {seen} bytes came through")
    return time.perf_counter() - started


def tinyproxy(folder: Path, port: int, origin_tls: int) -> list[str]:
    config = folder / "tinyproxy.conf"
    config.write_text(f"Port {port}\nListen 127.0.0.1\nTimeout 60\nMaxClients 500\nConnectPort {origin_tls}\nLogLevel Critical\n")
    return ["tinyproxy", "-d", "-c", str(config)]


async def measure(seconds: float, clients: int) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    with tempfile.TemporaryDirectory() as kept:
        folder = Path(kept)
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        trustme.CA().issue_cert(ORIGIN).configure_cert(tls)
        async with (
            await asyncio.start_server(answering, ORIGIN, 0, backlog=1024) as http,
            await asyncio.start_server(answering, ORIGIN, 0, ssl=tls) as https,
        ):
            origin, secure = (server.sockets[0].getsockname()[1] for server in (http, https))
            ports = {"cormorant egress-proxy": free_port(), "tinyproxy": free_port()}
            ours = [sys.executable, "-m", "cormorant", "egress-proxy", "--port", str(ports["cormorant egress-proxy"])]
            commands = {"cormorant egress-proxy": ours}
            if shutil.which("tinyproxy"):
                commands["tinyproxy"] = tinyproxy(folder, ports["tinyproxy"], secure)
            environment = {**os.environ, "CORMORANT_EGRESS__ALLOW_RANGES": "127.0.0.0/8", "XDG_CONFIG_HOME": kept}
            for name, command in commands.items():
                async with running(command, ports[name], environment) as pid:
                    rows.append(await _row(name, ports[name], origin, secure, pid, seconds, clients))
    return rows


async def _row(name: str, port: int, origin: int, secure: int, pid: int, seconds: float, clients: int) -> dict[str, object]:
    await plain(port, origin, 0.5, clients)
    rates, costs, speeds, tunnel_costs = [], [], [], []
    for _ in range(ROUNDS):
        before = cpu_s(pid)
        done = await plain(port, origin, seconds, clients)
        rates.append(done / seconds)
        costs.append((cpu_s(pid) - before) / done * 1000)
        before = cpu_s(pid)
        speeds.append(TUNNEL_BYTES / 1024**2 / await tunnel(port, secure))
        tunnel_costs.append((cpu_s(pid) - before) / TUNNEL_BYTES * 1024**3)
    return {
        "proxy": name,
        "requests/s": round(statistics.median(rates)),
        "CPU ms/request": round(statistics.median(costs), 3),
        "tunnel MiB/s": round(statistics.median(speeds)),
        "CPU s/GiB": round(statistics.median(tunnel_costs), 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--clients", type=int, default=32)
    given = parser.parse_args()
    rows = asyncio.run(measure(given.seconds, given.clients))
    print(table(rows))
    save(
        "egress_proxy",
        {"rows": rows, "seconds": given.seconds, "clients": given.clients},
        bars={
            "requests a second, a connection each": {str(r["proxy"]): float(str(r["requests/s"])) for r in rows},
            "MiB a second through one TLS tunnel": {str(r["proxy"]): float(str(r["tunnel MiB/s"])) for r in rows},
        },
    )


if __name__ == "__main__":
    main()
