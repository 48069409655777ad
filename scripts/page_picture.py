"""Take the README's picture of the page: the real server, a real Chromium, this project's documentation as the library.

python scripts/page_picture.py ["a question"]            writes docs/images/page.png
"""

from __future__ import annotations

import asyncio
import base64
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from support_chromium import tab  # noqa: E402
from support_server import running  # noqa: E402

QUESTION = "How can a private address be reached on purpose?"
WIDTH, HEIGHT = 1200, 860


async def main(question: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        async with running(home) as http, tab(home / "profile") as page:
            async for _ in http.service.tenant("local").web.index(str(ROOT / "docs")):
                pass
            await page.size(WIDTH, HEIGHT)
            await page.send("Emulation.setScrollbarsHidden", hidden=True)
            await page.go(f"{str(http.base_url).rstrip('/')}/")
            await page.fill("#query", question)
            await page.run("document.querySelector('#ask').requestSubmit()")
            await page.until("!document.querySelector('#ledger').hidden")
            shot = await page.send("Page.captureScreenshot", format="png")
            (ROOT / "docs" / "images" / "page.png").write_bytes(base64.b64decode(shot["data"]))


asyncio.run(main(" ".join(sys.argv[1:]) or QUESTION))
