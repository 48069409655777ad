"""The HTTP server against its own OpenAPI description: schemathesis makes calls up, good and bad, and judges the answers.

    pip install schemathesis; python bench/http_fuzz.py [--examples 20]

Bounded: loopback alone, no egress, one worker. Checked: no 500, every answer has the described status, type and shape.
Not checked: that what the schema forbids is refused (reading arguments is lenient on purpose) and that what it allows is
accepted (a made-up id is unknown).
"""

from __future__ import annotations

import argparse
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SKIPPED = "negative_data_rejection,positive_data_acceptance"


def serve(folder: Path, port: int) -> None:
    """A server that reaches nothing."""
    import asyncio

    from cormorant.settings import of
    from cormorant.surfaces.http import create_app, listening, server_of

    own = {"egress": {"allow": []}, "search": {"keyless": False}, "store": {"path": "memory"}, "library": {"path": str(folder / "l.db")}}
    app = create_app(of(own), folder)
    (folder / "tides.md").write_text("# Tides\n\nHigh water is at 0 and at 6.\n")

    async def run() -> None:
        async for _ in app.state.service.tenant("local").web.index(str(folder / "tides.md")):
            pass  # without a page to find, every search is an honest 503
        await server_of(app).serve(sockets=[listening("127.0.0.1", port)])

    asyncio.run(run())


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--examples", type=int, default=20)
    options.add_argument("--serve", type=int)
    options.add_argument("--folder", type=Path)
    given = options.parse_args()
    if given.serve:
        serve(given.folder, given.serve)
        return
    program = shutil.which("schemathesis")
    if program is None:
        print("schemathesis is not installed: pip install schemathesis")
        return
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    with tempfile.TemporaryDirectory() as folder:
        server = subprocess.Popen([sys.executable, __file__, "--serve", str(port), "--folder", folder])
        try:
            for _ in range(200):
                with socket.socket() as probe:
                    if probe.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.1)
            bounds = ["--max-examples", str(given.examples), "--request-timeout", "20", "--phases", "coverage,fuzzing", "--workers", "1"]
            command = [program, "run", f"http://127.0.0.1:{port}/openapi.json", *bounds, "--exclude-checks", SKIPPED]
            ended = subprocess.run(command, cwd=folder, check=False).returncode
        finally:
            server.terminate()
            server.wait()
    sys.exit(ended)


if __name__ == "__main__":
    main()
