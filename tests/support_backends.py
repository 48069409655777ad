"""Backends on 127.0.0.1 for tests: a server that plays what it is told, and the request function providers are given."""

from __future__ import annotations

import http.server
import json
import threading
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio.to_thread

from cormorant.errors import Network, Timeout
from cormorant.search import Reply


@dataclass
class Seen:
    """One request as it arrived."""

    method: str
    path: str
    params: dict[str, str]
    headers: dict[str, str]
    json: Any


@dataclass
class Simulator:
    """Answers with `answers` in turn, the last one over and over; each is (status, headers, body)."""

    url: str = ""
    answers: list[tuple[int, dict[str, str], Any]] = field(default_factory=list)
    seen: list[Seen] = field(default_factory=list)
    answer: Callable[[Seen], tuple[int, dict[str, str], Any]] | None = None

    def play(self, body: Any, status: int = 200, **headers: str) -> None:
        self.answers.append((status, {k.replace("_", "-"): v for k, v in headers.items()}, body))


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    simulator: Simulator

    def _serve(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        parts = urllib.parse.urlsplit(self.path)
        seen = Seen(
            self.command, parts.path, dict(urllib.parse.parse_qsl(parts.query, keep_blank_values=True)),
            {k.lower(): v for k, v in self.headers.items()}, json.loads(body) if body else None,
        )  # fmt: skip
        sim = self.simulator
        sim.seen.append(seen)
        status, headers, content = sim.answer(seen) if sim.answer else sim.answers.pop(0) if len(sim.answers) > 1 else sim.answers[0]
        data = content if isinstance(content, bytes) else content.encode() if isinstance(content, str) else json.dumps(content).encode()
        self.send_response(status)
        for name, value in {"content-type": "text/html" if isinstance(content, str) else "application/json", **headers}.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    do_GET = do_POST = do_HEAD = _serve

    def log_message(self, *args: Any) -> None:
        """Silence."""


@contextmanager
def serving() -> Iterator[Simulator]:
    simulator = Simulator()
    handler = type("Handler", (_Handler,), {"simulator": simulator})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    simulator.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield simulator
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *args: Any) -> None:
        return None


_OPENER = urllib.request.build_opener(_NoRedirect, urllib.request.ProxyHandler({}))


async def request(method: str, url: str, *, headers=None, params=None, json=None, body: bytes = b"", timeout_s: float = 5.0) -> Reply:
    """What `web` gives a provider, made of the standard library."""
    return await anyio.to_thread.run_sync(_send, method, url, headers or {}, params or {}, json, body, timeout_s)


def _send(method: str, url: str, headers: dict, params: dict, payload: Any, body: bytes, timeout_s: float) -> Reply:
    if params:
        url += ("&" if "?" in url else "?") + urllib.parse.urlencode(params)
    sent = json.dumps(payload).encode() if payload is not None else body or None
    headers = {**headers, **({"Content-Type": "application/json"} if payload is not None else {})}
    asked = urllib.request.Request(url, data=sent, headers=headers, method=method)
    try:
        with _OPENER.open(asked, timeout=timeout_s) as answer:
            return Reply(answer.status, {k.lower(): v for k, v in answer.headers.items()}, answer.read(), answer.url)
    except urllib.error.HTTPError as error:
        with error:
            return Reply(error.code, {k.lower(): v for k, v in error.headers.items()}, error.read(), url)
    except TimeoutError as error:
        raise Timeout(f"no answer from {url}", url=url) from error
    except urllib.error.URLError as error:
        raise Network(f"could not connect to {url}: {error.reason}", url=url) from error
