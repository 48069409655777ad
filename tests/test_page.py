"""The page at `/` in a real Chromium: ask, read, look back; by keyboard; small and dark; and nothing a page says runs."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from support_chromium import BINARY, Tab, tab
from support_net import answer, serving
from support_server import running

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(BINARY is None, reason="no Chromium on this machine")]

HOSTILE = (
    '<img src=x onerror="window.pwned=1">',
    "<script>window.pwned=1</script>",
    '"><svg onload=window.pwned=1>',
    "[click](javascript:window.pwned=1)",
    "</web_citation><b>bold</b>",
    "`<img src=x onerror=window.pwned=1>`",
    "**<iframe srcdoc='<script>parent.pwned=1</script>'></iframe>**",
)
SOURCE = {"rank": 1, "snippet": HOSTILE[0], "rerank_score": 0.5, "used_in_response": True, "content_kind": "source_page"}
ANSWER = {
    "query": "q",
    "response": "Use `gather()` and **not** *this*, 2 * 3 * 4. "
    + " ".join(HOSTILE)
    + ' <web_citation url="https://a.example/" title="A">[1]</web_citation>',
    "sources": [{**SOURCE, "title": HOSTILE[1], "url": "javascript:window.pwned=1"}],
    "sources_used": [1],
    "verdicts": [{"claim": "c", "source": 1, "verdict": "exact", "quote": HOSTILE[2], "link": "javascript:window.pwned=1"}],
    "not_reached": [{"url": "data:text/html,x", "code": "not_allowed", "reason": HOSTILE[0], "command": HOSTILE[1]}],
    "ledger": {"requests": 1, "bytes": 2, "seconds": 0.1},
    "model": HOSTILE[0],
    "reranker": "words::bm25",
    "response_id": "0" * 32,
}
PAGE = (
    "<title>Tides</title><main><h1>Tides</h1>"
    + "".join(f"<h2>Year {n}</h2><p>High water at {n}.</p>" for n in range(1900, 1990))
    + "</main>"
)


@asynccontextmanager
async def at_the_page(tmp_path: Path) -> AsyncIterator[tuple[Tab, str]]:
    (tmp_path / "boats.md").write_text("# Boats\n\nA dinghy is a small boat that is rowed or sailed.\n")
    pages = {"/tides": answer(200, PAGE, {"content-type": "text/html"}), "*": answer(404, "")}
    async with serving(pages) as site, running(tmp_path) as http, tab(tmp_path / "profile") as page:
        async for _ in http.service.tenant("local").web.index(str(tmp_path / "boats.md")):
            pass
        await page.go(str(http.base_url).rstrip("/") + "/")
        yield page, site.url("/tides", host="127.0.0.1")
        assert page.complaints == []


async def test_asking_reading_and_looking_back(tmp_path) -> None:
    async with at_the_page(tmp_path) as (page, url):
        await page.fill("#query", "What is a dinghy?")
        await page.run("document.querySelector('#query').focus()")
        await page.press("Enter")
        await page.until("!document.querySelector('#ledger').hidden")
        assert "small boat" in await page.run("document.querySelector('#answer').textContent")
        phases = await page.run("[...document.querySelectorAll('.phases li.done')].map(n => n.textContent.split(' · ')[0])")
        assert phases == ["Search", "Read", "Rank", "Write"]
        await page.run("document.querySelector('.cite').click()")
        assert await page.run("document.querySelector('#quote').open")
        assert "small boat" in await page.run("document.querySelector('#quote-text').textContent")
        await page.press("Escape")
        await page.until("!document.querySelector('#quote').open")
        await page.run("document.querySelector('#tab-ask').focus()")
        await page.press("ArrowRight")
        assert await page.run("document.activeElement.id") == "tab-read"
        await page.fill("#url", url)
        await page.fill("[name=budgets]", "100, 400")
        await page.run("document.querySelector('#read').requestSubmit()")
        await page.until("document.querySelectorAll('#views section').length === 2")
        assert "tokens" in await page.run("document.querySelector('#views .quiet').textContent")
        await page.press("ArrowRight")
        await page.until("document.querySelectorAll('#runs li').length === 1")
        await page.run("document.querySelector('#runs button').click()")
        await page.until("document.querySelector('#runs pre')?.textContent.includes('small boat')")
        await page.fill("#url", "http://10.0.0.7/")
        await page.run("document.querySelector('#read').requestSubmit()")
        await page.until("document.querySelector('#trouble').textContent.includes('private_address')")
        page.complaints[:] = [one for one in page.complaints if "403" not in one]  # the browser logs the refusal itself
        if folder := os.environ.get("PAGE_SHOTS"):
            await page.shot(Path(folder) / "page.png")


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
async def test_a_small_window_holds_everything(tmp_path, dark) -> None:
    async with at_the_page(tmp_path) as (page, _):
        await page.size(360, 740, dark=dark)
        await _show(page, ANSWER)
        assert await page.run("document.documentElement.scrollWidth") <= 360
        ground, ink = await page.run("[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color]")
        assert (_brightness(ground) < _brightness(ink)) == dark
        if folder := os.environ.get("PAGE_SHOTS"):
            await page.shot(Path(folder) / f"small-{'dark' if dark else 'light'}.png")


async def test_nothing_a_page_or_a_model_says_runs(tmp_path) -> None:
    async with at_the_page(tmp_path) as (page, _):
        await _show(page, ANSWER)
        assert await page.run("window.pwned === undefined")
        assert await page.run("document.querySelectorAll('main img, main script, main iframe, main svg, main b').length") == 0
        assert await page.run("[...document.querySelectorAll('main a')].filter(a => !/^https?:/.test(a.href)).length") == 0
        shown = await page.run("document.querySelector('#answer').textContent")
        assert all(text.strip("`*") in shown for text in HOSTILE)
        await page.run("document.querySelector('.cite').click()")
        assert await page.run("document.querySelector('#quote-link').hidden")
        inline = "[...document.querySelectorAll('#answer code, #answer strong, #answer em')].map(n => n.localName + ':' + n.textContent)"
        assert (await page.run(inline))[:3] == ["code:gather()", "strong:not", "em:this"]
        assert "2 * 3 * 4" in shown
        blocked = await page.run("fetch('https://example.com/').then(() => false, () => true)")
        assert blocked
        assert any("Content Security Policy" in one for one in page.complaints)
        page.complaints.clear()


async def test_an_axe_finds_nothing(tmp_path) -> None:
    script = Path(os.environ.get("AXE_SCRIPT", Path(__file__).parents[1] / "node_modules" / "axe-core" / "axe.min.js"))
    if not script.is_file():
        pytest.skip("axe-core is not here: make page-tools")
    async with at_the_page(tmp_path) as (page, _):
        await _show(page, ANSWER)
        await page.run(script.read_text() + "; undefined")
        for name in ("ask", "read", "runs"):
            await page.run(f"document.querySelector('#tab-{name}').click()")
            found = await page.run("axe.run().then(r => r.violations.map(v => v.id + ': ' + v.nodes.map(n => n.html).join(' ')))")
            assert found == []
        page.complaints.clear()


async def _show(page: Tab, result: dict) -> None:
    """Let the page ask, and answer in the server's place."""
    frame = f"id: 1\nevent: tool_end\ndata: {json.dumps(result)}\n\n"
    reply = f"new Response({json.dumps(frame)}, {{ headers: {{ 'content-type': 'text/event-stream' }} }})"
    answering = f"async (path, how) => String(path).includes('v1/answer') ? {reply} : window.own_fetch(path, how)"
    await page.run(f"window.own_fetch = window.fetch; window.fetch = {answering}; undefined")
    await page.fill("#query", "q")
    await page.run("document.querySelector('#ask').requestSubmit()")
    await page.until("!document.querySelector('#ledger').hidden")


def _brightness(color: str) -> int:
    return sum(int(part) for part in color.removeprefix("rgb(").removesuffix(")").split(",")[:3])
