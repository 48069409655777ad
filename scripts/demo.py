"""`make demo`: the main job on real pages, by the commands a person would type.

Indexes a folder of HTML pages (this project's own documentation, or `DOCS=/path` or `DOCS=https://...`), asks a question,
then reads one long page over HTTP within 1,000 tokens. Nothing leaves this machine unless DOCS is an address. What is
written goes to a temporary folder. `QUESTION=...` asks something else.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
import threading
import time
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

ROOT = Path(__file__).parents[1]
CORMORANT = Path(sys.executable).with_name("cormorant")
OWN_QUESTION = "How can a private address be reached on purpose?"
BUDGET = 1_000


class Quiet(SimpleHTTPRequestHandler):
    """Serves the pages to the demo itself, on loopback."""

    def log_message(self, *args: object) -> None:
        """The demo prints what a user would see, and nothing else."""


def run(environment: dict[str, str], *words: str) -> str:
    """Show the command, run it, show what it printed."""
    print(f"\n\033[1m$ cormorant {shlex.join(words)}\033[0m" if sys.stdout.isatty() else f"\n$ cormorant {shlex.join(words)}", flush=True)
    done = subprocess.run([CORMORANT, *words], env=environment, stdout=subprocess.PIPE, text=True, check=False)
    print(done.stdout.rstrip(), flush=True)
    if done.returncode:
        sys.exit(f"cormorant {words[0]} ended with {done.returncode}")
    return done.stdout


def build_own_docs() -> Path:
    built = ROOT / "site"
    if not (built / "index.html").exists():
        zensical = Path(sys.executable).with_name("zensical")
        subprocess.run([zensical, "build"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return built


def question_for(folder: Path) -> str:
    """What to ask of a folder nobody has told us about."""
    if asked := os.environ.get("QUESTION"):
        return asked
    if (folder / "library" / "asyncio-task.html").exists():
        return "What does a TaskGroup do when one of its tasks raises an exception?"
    return OWN_QUESTION if folder == ROOT / "site" else f"What is {longest_page(folder).stem.replace('-', ' ')}?"


def longest_page(folder: Path) -> Path:
    """A page with a lot to leave out, indexes of everything passed over."""
    listing = re.compile(r"genindex|contents$|cli$|changelog$")
    pages = [page for page in folder.rglob("*.html") if not any(listing.match(name) for name in (page.stem, page.parent.name))]
    return max(pages, key=lambda page: page.stat().st_size)


def main() -> None:
    started = time.perf_counter()
    wanted = os.environ.get("DOCS", "")
    folder = Path(wanted).resolve() if wanted and "://" not in wanted else build_own_docs()
    if not any(folder.rglob("*.html")):
        sys.exit(f"no HTML pages in {folder}")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory(prefix="cormorant-demo-") as kept:
        environment = {
            **os.environ,
            "CORMORANT_LIBRARY__PATH": f"{kept}/library.db",
            "CORMORANT_STORE__PATH": f"{kept}/results",
        }
        run(environment, "index", "add", wanted or str(folder))
        run(environment, "answer", os.environ.get("QUESTION") or question_for(folder))
        page = longest_page(folder).relative_to(folder)
        loopback = f"127.0.0.1:{server.server_port}"
        # A private address is reached only as a literal that the operator names: here the demo's own server.
        run({**environment, "CORMORANT_EGRESS__ALLOW": loopback}, "fetch", f"http://{loopback}/{page}", "--budget", str(BUDGET))
    server.shutdown()
    print(f"\nDone in {time.perf_counter() - started:.0f} s.\n")
    run(dict(os.environ), "mcp", "--how")


if __name__ == "__main__":
    main()
