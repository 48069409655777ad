"""The page at `/` in a real Chromium: ask, read, look back; by keyboard; at any width, light and dark; and nothing a page says runs."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest

from cormorant.surfaces.tenants import Keys
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
    "<details open ontoggle=window.pwned=1>",
    "<math><mtext><table><mglyph><style><img src=x onerror=window.pwned=1>",
    "<a href='java\tscript:window.pwned=1' autofocus onfocus=window.pwned=1>x</a>",
    "&lt;script&gt;window.pwned=1&lt;/script&gt;",
    "\u202e<style>*{display:none}</style>\u0000",
    '<form action="/v1/fetch"><input name=isAdmin><button id=query>',
    "<base href=https://evil.example/><meta http-equiv=refresh content='0;url=https://evil.example/'>",
    "${window.pwned=1} {{constructor.constructor('window.pwned=1')()}}",
)
SOURCE = {"rank": 1, "snippet": HOSTILE[0], "rerank_score": 0.5, "used_in_response": True, "content_kind": "source_page"}
ANSWER = {
    "query": "q",
    "response": "Use `gather()` and **not** *this*, 2 * 3 * 4. "
    + " ".join(HOSTILE)
    + ' <web_citation url="https://a.example/" title="A">[1]</web_citation>'
    + "\n\n- one\n- two <source_1>\n\n```\nraw *text*\n```\n\n## Head\ntail",
    "sources": [
        {**SOURCE, "title": HOSTILE[1], "url": "javascript:window.pwned=1", "published_at": HOSTILE[0]},
        {
            **SOURCE,
            "rank": 2,
            "title": "B",
            "url": "data:text/html,<script>1</script>",
            "used_in_response": False,
            "content_kind": "snippet",
        },
    ],
    "sources_used": [1],
    "verdicts": [
        {"claim": "c", "source": 1, "verdict": "exact", "quote": HOSTILE[2], "link": "javascript:window.pwned=1"},
        {"claim": HOSTILE[0], "source": 1, "verdict": "mismatch", "quote": "", "reason": HOSTILE[1]},
        {"claim": "d", "source": 1, "verdict": "unsupported", "quote": "| a | b |"},
    ],
    "not_reached": [
        {"url": "data:text/html,x", "code": "not_allowed", "reason": HOSTILE[0], "command": HOSTILE[1]},
        {"url": "https://a.example/x", "code": HOSTILE[0], "reason": "no", "command": "cormorant egress allow a.example"},
    ],
    "ledger": {"requests": 1, "bytes": 2, "seconds": 0.1, "tokens": 3, "usd": 0.1},
    "model": HOSTILE[0],
    "reranker": "words::bm25",
    "response_id": "0" * 32,
}
PAGE = (
    "<title>Tides</title><main><h1>Tides</h1>"
    + "".join(f"<h2>Year {n}</h2><p>High water at {n}.</p>" for n in range(1900, 1990))
    + "</main>"
)
PWNED = "&lt;img src=x onerror=window.pwned=1&gt;"
TRAP = f"<title>{PWNED}</title><main><h1>{PWNED}</h1><p>{PWNED} {'The keeper writes every tide. ' * 20}</p></main>"


@asynccontextmanager
async def at_the_page(tmp_path: Path, **server) -> AsyncIterator[tuple[Tab, str]]:
    """The page, and the address of a small site; `/slow` there waits for ever."""
    (tmp_path / "boats.md").write_text("# Boats\n\nA dinghy is a small boat that is rowed or sailed.\n")
    never = asyncio.Event()
    pages = {"/tides": PAGE, "/trap": TRAP}

    async def site_answers(request, writer) -> bool:
        if request.target == "/slow":
            await never.wait()
        body = pages.get(request.target)
        writer.write(answer(200, body, {"content-type": "text/html"}) if body else answer(404, ""))
        return True

    if server.get("require_key"):
        Keys(tmp_path / "server" / "keys.json").create("somebody")
    async with serving(site_answers) as site, running(tmp_path, **server) as http, tab(tmp_path / "profile") as page:
        async for _ in http.service.tenant("local").web.index(str(tmp_path / "boats.md")):
            pass
        page.service = http.service
        await page.go(str(http.base_url).rstrip("/") + "/")
        yield page, site.url("", host="127.0.0.1").rstrip("/")
        never.set()
        assert page.complaints == []


def refused(page: Tab) -> None:
    """The browser itself logs an answer that is an error: that is no complaint."""
    page.complaints[:] = [one for one in page.complaints if "Failed to load resource" not in one]


async def asks(page: Tab, question: str = "What is a dinghy?") -> None:
    await page.fill("#query", question)
    await page.run("document.querySelector('#query').focus()")
    await page.press("Enter")
    await page.until("!document.querySelector('#ledger').hidden")


async def test_asking_reading_and_looking_back(tmp_path) -> None:
    async with at_the_page(tmp_path) as (page, site):
        await page.until("document.querySelector('#backends').textContent.includes('your indexed pages')")
        await asks(page)
        assert "small boat" in await page.run("document.querySelector('#answer').textContent")
        phases = await page.run("[...document.querySelectorAll('.phases li.done')].map(n => n.firstChild.textContent)")
        assert phases == ["Search", "Read", "Rank", "Write"]
        assert await page.run("document.querySelector('#verdicts').textContent") == "1 citation checked, it holds"
        assert "Answer complete" in await page.run("document.querySelector('#status').textContent")
        await page.run("document.querySelector('.cite').click()")
        assert await page.run("document.querySelector('#quote').open")
        assert "small boat" in await page.run("document.querySelector('#quote-text').textContent")
        assert "✓ The page says this." in await page.run("document.querySelector('#quote-verdict').textContent")
        await page.press("Escape")
        await page.until("!document.querySelector('#quote').open")
        await page.run("document.querySelector('#tab-ask').focus()")
        await page.press("ArrowRight")
        assert await page.run("document.activeElement.id") == "tab-read"
        await page.fill("#url", f"{site}/tides")
        await page.fill("[name=budgets]", "100, 400, 100")
        await page.run("document.querySelector('#read').requestSubmit()")
        await page.until("document.querySelectorAll('#views pre').length === 2")
        assert "tokens" in await page.run("document.querySelector('#views .quiet').textContent")
        assert "Tides" in await page.run("document.querySelector('#page').textContent")
        await page.press("ArrowRight")
        await page.until("document.querySelectorAll('#runs .row').length === 1")
        assert "What is a dinghy?" in await page.run("document.querySelector('#runs .row').textContent")


async def test_a_link_shows_what_is_kept_and_asks_nothing(tmp_path) -> None:
    async with at_the_page(tmp_path) as (page, site):
        await asks(page)
        link = await page.run("location.href")
        assert "#run=call_" in link
        calls = len(page.service.tenant("local").executions.latest()[0])
        await page.go("about:blank")
        await page.go(link)
        await page.until("!document.querySelector('#ledger').hidden")
        assert "small boat" in await page.run("document.querySelector('#answer').textContent")
        assert await page.run("document.querySelector('#query').value") == "What is a dinghy?"
        stored = await page.run(f"fetch('v1/fetch', {{method: 'POST', body: JSON.stringify({{url: '{site}/tides'}})}}).then(r => r.json())")
        await page.run(f"location.hash = 'get={stored['response_id']}'")
        await page.until("!document.querySelector('#opened').hidden")
        assert "High water at 1900" in await page.run("document.querySelector('#opened pre').textContent")
        await page.run("location.hash = 'q=' + encodeURIComponent('<b>What</b> then?')")
        await page.until("document.querySelector('#query').value === '<b>What</b> then?'")
        await page.run("location.hash = 'run=call_0000'")
        await page.until("document.querySelector('#view-runs .trouble').textContent.includes('no execution')")
        assert len(page.service.tenant("local").executions.latest()[0]) == calls  # links started nothing
        refused(page)


async def test_what_fails_says_what_allows_it_and_what_is_stopped_says_so(tmp_path) -> None:
    async with at_the_page(tmp_path) as (page, site):
        await page.run("document.querySelector('#tab-read').click()")
        await page.fill("#url", "http://10.0.0.7/")
        await page.run("document.querySelector('#read').requestSubmit()")
        await page.until("document.querySelector('#view-read .trouble').textContent.includes('private_address')")
        assert "cormorant egress allow 10.0.0.7" in await page.run("document.querySelector('#view-read .command code').textContent")
        assert await page.run("document.querySelectorAll('#views section').length") == 0
        await page.fill("#url", f"{site}/slow")
        await page.run("document.querySelector('#read').requestSubmit()")
        await page.until("!document.querySelector('#read .stop').hidden")
        assert await page.run("document.querySelectorAll('#views .waiting').length") == 3
        async with asyncio.timeout(20):
            while page.service.tenant("local").calls == 0:
                await asyncio.sleep(0.01)
        await page.run("document.activeElement.blur()")
        await page.press("Escape")
        await page.until("document.querySelector('#view-read .trouble').textContent === 'Stopped.'")
        async with asyncio.timeout(20):
            while page.service.tenant("local").calls:  # the server's work ends with it
                await asyncio.sleep(0.01)
        await page.run("document.querySelector('#tab-ask').click()")
        await page.run("window.fetch = () => Promise.reject(new TypeError('Failed to fetch'))")
        await page.fill("#query", "q")
        await page.run("document.querySelector('#ask').requestSubmit()")
        await page.until("document.querySelector('#view-ask .trouble').textContent.includes('is it still running?')")
        refused(page)


async def test_single_keys_work_outside_fields_and_can_be_turned_off(tmp_path) -> None:
    async with at_the_page(tmp_path) as (page, _):
        await page.key("/")
        assert await page.run("document.activeElement.id") == "query"
        await page.key("2")
        assert await page.run("document.querySelector('#query').value + document.querySelector('#view-read').hidden") == "2true"
        await page.run("document.activeElement.blur()")
        await page.key("3")
        assert not await page.run("document.querySelector('#view-runs').hidden")
        await page.key("?")
        assert await page.run("document.querySelector('#keys').open")
        await page.run("document.querySelector('#single-keys').click()")
        await page.press("Escape")
        await page.until("!document.querySelector('#keys').open")
        await page.key("1")
        assert await page.run("document.querySelector('#view-ask').hidden")
        for colour in ("light", "dark", ""):
            await page.run("document.querySelector('#theme').click()")
            assert await page.run("document.documentElement.dataset.theme") == colour


async def test_a_server_that_wants_a_key_is_given_one(tmp_path) -> None:
    async with at_the_page(tmp_path, require_key=True) as (page, _):
        _, key = page.service.keys.create("local")
        assert await page.run("document.querySelector('#backends').hidden")
        await page.fill("#query", "What is a dinghy?")
        await page.run("document.querySelector('#ask').requestSubmit()")
        await page.until("document.querySelector('#key').open")
        await page.fill("#key [name=key]", key)
        await page.run("document.querySelector('#key button').click()")
        await page.until("!document.querySelector('#ledger').hidden")
        assert key not in await page.run(
            "document.documentElement.outerHTML + document.cookie + JSON.stringify(localStorage) + location.href"
        )
        refused(page)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [360, 768, 1280])
async def test_every_width_holds_everything(tmp_path, width, dark) -> None:
    async with at_the_page(tmp_path) as (page, site):
        await page.size(width, 740, dark=dark)
        await _show(page, ANSWER)
        assert await page.run("document.documentElement.scrollWidth") <= width
        ground, ink = await page.run("[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color]")
        assert (_brightness(ground) < _brightness(ink)) == dark
        await page.run("document.querySelector('#tab-read').click()")
        await page.fill("#url", f"{site}/tides")
        await page.run("document.querySelector('#read').requestSubmit()")
        await page.until("document.querySelectorAll('#views pre').length === 3")
        assert await page.run("document.documentElement.scrollWidth") <= width
        if folder := os.environ.get("PAGE_SHOTS"):
            await page.shot(Path(folder) / f"{width}-{'dark' if dark else 'light'}.png")


async def test_nothing_moves_for_who_wants_no_motion(tmp_path) -> None:
    async with at_the_page(tmp_path) as (page, _):
        moving = "(document.querySelector('#phases').hidden = false, document.querySelector('#phases').innerHTML = '<li class=going>x', "
        moving += "getComputedStyle(document.querySelector('.going'), '::before').animationName)"
        seen = []
        for wish in ("reduce", "no-preference"):
            await page.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-reduced-motion", "value": wish}])
            seen.append(await page.run(moving))
        assert seen == ["none", "turn"]


async def test_nothing_a_page_or_a_model_says_runs(tmp_path) -> None:
    async with at_the_page(tmp_path) as (page, _):
        await _show(page, ANSWER)
        assert await page.run("window.pwned === undefined")
        own = await page.run(
            "document.querySelectorAll('main img, main script, main iframe, main b, main style, main base, main math').length"
        )
        assert own == 0
        assert await page.run("document.querySelectorAll('main svg').length") == 0
        assert await page.run("[...document.querySelectorAll('main a')].filter(a => !/^https?:/.test(a.href)).length") == 0
        assert await page.run("document.querySelectorAll('[onerror], [onload], [onfocus], [ontoggle]').length") == 0
        shown = await page.run("document.querySelector('#answer').textContent")
        assert all(text.strip("`*").replace("\0", "\ufffd") in shown or text.strip("`*") in shown for text in HOSTILE)
        await page.run("document.querySelector('.cite').click()")
        assert await page.run("document.querySelector('#quote-link').hidden")
        inline = "[...document.querySelectorAll('#answer code, #answer strong, #answer em')].map(n => n.localName + ':' + n.textContent)"
        assert (await page.run(inline))[:3] == ["code:gather()", "strong:not", "em:this"]
        blocks = "[...document.querySelector('#answer').children].map(n => n.localName)"
        assert await page.run(blocks) == ["p", "ul", "pre", "h2", "p"]
        assert "2 * 3 * 4" in shown
        assert "raw *text*" in shown
        blocked = await page.run("fetch('https://example.com/').then(() => false, () => true)")
        assert blocked
        assert any("Content Security Policy" in one for one in page.complaints)
        page.complaints.clear()


async def test_a_hostile_page_is_read_as_text(tmp_path) -> None:
    async with at_the_page(tmp_path) as (page, site):
        await page.run("document.querySelector('#tab-read').click()")
        await page.fill("#url", f"{site}/trap")
        await page.fill("[name=budgets]", "2000")
        await page.run("document.querySelector('#read').requestSubmit()")
        await page.until("document.querySelectorAll('#views pre').length === 1")
        assert "<img src=x onerror=window.pwned=1>" in await page.run("document.querySelector('#views pre').textContent")
        assert "<img src=x onerror=window.pwned=1>" in await page.run("document.querySelector('#page .name').textContent")
        assert await page.run("document.querySelectorAll('main img').length") == 0
        assert await page.run("window.pwned === undefined")


AXE = "axe.run().then(r => r.violations.map(v => v.id + ': ' + v.nodes.map(n => n.html + ' ' + n.failureSummary).join(' ')))"


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
async def test_an_axe_finds_nothing_in_any_state(tmp_path, dark) -> None:
    home = find_spec("axe_playwright_python")  # it carries axe-core; nothing else of it is used
    if home is None or not home.submodule_search_locations:
        pytest.skip("axe-core is not here: pip install --no-deps -r requirements/page.txt")
    script = (Path(home.submodule_search_locations[0]) / "axe.min.js").read_text()
    async with at_the_page(tmp_path) as (page, site):
        await page.size(1280, 900, dark=dark)
        await page.run(script + "; undefined")
        assert await page.run(AXE) == [], "before anything was asked"
        await _show(page, ANSWER)
        await page.run("document.querySelectorAll('details').forEach(one => { one.open = true; })")
        assert await page.run(AXE) == [], "an answer"
        await page.run("document.querySelector('.cite').click()")
        assert await page.run(AXE) == [], "a quote"
        await page.press("Escape")
        await page.run("document.querySelector('#help').click()")
        assert await page.run(AXE) == [], "the list of keys"
        await page.press("Escape")
        await page.run("document.querySelector('#tab-read').click()")
        assert await page.run(AXE) == [], "nothing read yet"
        await page.fill("#url", f"{site}/tides")
        await page.run("document.querySelector('#read').requestSubmit()")
        await page.until("document.querySelectorAll('#views pre').length === 3")
        assert await page.run(AXE) == [], "views"
        await page.fill("#url", "http://10.0.0.7/")
        await page.run("document.querySelector('#read').requestSubmit()")
        await page.until("!document.querySelector('#view-read .trouble').hidden")
        assert await page.run(AXE) == [], "an error"
        await page.run("window.fetch = window.own_fetch; document.querySelector('#tab-runs').click()")
        await page.until("document.querySelectorAll('#runs .none').length === 1")
        assert await page.run(AXE) == [], "no runs"
        await asks_for_real(page)
        await page.run("document.querySelector('#tab-runs').click()")
        await page.until("document.querySelectorAll('#runs .row').length === 1")
        await page.run("document.querySelector('#response').value = '0'.repeat(32); document.querySelector('#stored').requestSubmit()")
        await page.until("!document.querySelector('#view-runs .trouble').hidden")
        assert await page.run(AXE) == [], "runs"
        page.complaints.clear()


async def asks_for_real(page: Tab) -> None:
    await page.run("document.querySelector('#tab-ask').click()")
    await asks(page)


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
