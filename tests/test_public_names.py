"""What users may import, and what importing costs them."""

from __future__ import annotations

import subprocess
import sys

import cormorant

HEAVY = ("mcp", "fastapi", "numpy", "onnxruntime", "playwright", "pydantic_ai", "trafilatura", "lxml")


def test_public_names_are_sorted_and_there() -> None:
    assert sorted(cormorant.__all__) == cormorant.__all__
    for name in cormorant.__all__:
        assert getattr(cormorant, name).__name__ == name


def test_an_unknown_name_is_an_attribute_error() -> None:
    missing = "Nothing"
    assert not hasattr(cormorant, missing)


def test_importing_brings_nothing_heavy() -> None:
    probe = f"import sys, cormorant; cormorant.Web; cormorant.Policy; print([m for m in {HEAVY!r} if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True, timeout=30).stdout.strip() == "[]"


def test_a_session_that_has_read_nothing_has_loaded_no_reader_and_no_index() -> None:
    late = ("selectolax", "cormorant.extract.html", "cormorant.github.reading", "cormorant.library", "cormorant.answer")
    probe = f"""
import sys, cormorant
web = cormorant.Web({{"store": {{"path": "memory"}}}})
assert web.offers("web_search")
print([m for m in {late!r} if m in sys.modules])
"""
    assert subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True, timeout=30).stdout.strip() == "[]"


def test_readers_may_be_loaded_by_several_threads_at_once() -> None:
    probe = """
import threading
from concurrent.futures import ThreadPoolExecutor
from cormorant import extract
ready = threading.Barrier(8)
def load(n):
    ready.wait(10)
    return extract.page_reader().outcome.of_error if n % 2 else extract.document(b"<p>tide</p>", url="https://a.example/")
with ThreadPoolExecutor(8) as threads:
    assert len(list(threads.map(load, range(8)))) == 8
"""
    subprocess.run([sys.executable, "-W", "error", "-c", probe], check=True, timeout=60)


def test_importing_changes_nothing_global() -> None:
    probe = """
import asyncio, logging, signal, socket, ssl, urllib.request
def state():
    return [id(socket.getaddrinfo), id(urllib.request._opener), list(logging.root.handlers), id(ssl._create_default_https_context),
            [signal.getsignal(s) for s in (signal.SIGINT, signal.SIGTERM)], type(asyncio.get_event_loop_policy()).__name__]
before = state()
import cormorant; cormorant.Web; cormorant.BlockingWeb
assert state() == before, (before, state())
"""
    subprocess.run([sys.executable, "-W", "error", "-c", probe], check=True, timeout=30)
