"""Links that open a page at a quote, in a real Chromium: it scrolls to the words and marks them."""

from __future__ import annotations

import json

import pytest

from cormorant import extract
from cormorant.citations import fragment_link
from cormorant.verify import verify
from support_chromium import BINARY, tab
from support_net import answer, serving

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(BINARY is None, reason="no Chromium on this machine")]
FAR = "<p>The keeper reads the gauge and writes the tide into a bound book.</p>" * 120
QUOTES = {
    "plain": ("<p>The sluice gate at Norwell weighs thirty-one tonnes.</p>", "The gate at Norwell weighs 31 tonnes."),
    "marks of the syntax": (
        "<p>Brandt &amp; Moss, engineers, built well-known gates - 4, in all.</p>",
        "Brandt & Moss, engineers, built gates.",
    ),
    "long": (
        "<p>In the autumn of the year 1974 the engineers of the county, led by Ada Brandt, raised the gate by nine metres and gave it a "
        "second wheel, which is still in use and painted every spring.</p>",
        "In 1974 engineers led by Ada Brandt raised the gate by nine metres.",
    ),
    "across elements": (
        "<p>The <b>sluice</b> gate <a href='/x'>at Norwell</a> opened in <i>1974</i> at last.</p>",
        "The sluice gate at Norwell opened in 1974.",
    ),
    "quotation marks": (
        "<p>“We sold twelve thousand tickets,” said O’Neill, the director.</p>",
        "O'Neill said they sold twelve thousand tickets.",
    ),
    "no spaces": (
        "<p>布里姆利船闸于一九七四年三月启用，全长三百二十米，由工程师李明设计，至今仍在使用，每年有四千艘船通过这座古老的船闸。</p>",
        "布里姆利船闸由工程师李明设计。",
    ),
    "Arabic": ("<p dir=rtl>افتتح الجسر الكبير في المدينة القديمة عام 1974 بعد ست سنوات من العمل.</p>", "افتتح الجسر الكبير عام 1974."),
    "a row of a table": (
        "<table><tr><th>Gate</th><th>Weight</th></tr><tr><td>Norwell</td><td>31 tonnes</td></tr></table>",
        "The weight of the Norwell gate is 31 tonnes.",
    ),
    "a line of a list": ("<ul><li>Leeds has 12 boats</li><li>Norwell has 34 boats</li></ul>", "Norwell has 34 boats."),
    "two paragraphs": ("<p>Norwell has a gate.</p><p>It weighs 31 tonnes.</p>", "The gate of Norwell weighs 31 tonnes."),
    "a heading": ("<h2>Norwell, gate of 1974 (rebuilt)</h2><p>It stands.</p>", "Norwell's gate of 1974 was rebuilt."),
}


@pytest.mark.parametrize("case", QUOTES)
async def test_a_link_opens_the_page_at_the_quote(case: str, tmp_path) -> None:
    html, claim = QUOTES[case]
    page = f"<!doctype html><title>Gates</title><main><h1>Gates</h1>{FAR}<section id=there>{html}</section>{FAR}</main>"
    async with serving({"/page": answer(200, page, {"content-type": "text/html; charset=utf-8"}), "*": answer(404, "")}) as site:
        address = site.url("/page", host="127.0.0.1")
        document = extract.document(page.encode(), url=address, content_type="text/html; charset=utf-8", extract="full")
        (verdict,) = verify([(claim, 0)], [document.markdown])
        assert verdict.quote, verdict
        link = fragment_link(address, verdict.quote)
        async with tab(tmp_path / "profile") as browser:
            await browser.send("Page.navigate", url=link)
            await browser.until(f"document.readyState === 'complete' && location.href.startsWith({json.dumps(address)})")
            seen = await browser.run(
                "(async () => { for (let n = 0; n < 60; n++) { const box = document.querySelector('#there').getBoundingClientRect();"
                " if (box.top < innerHeight && box.bottom > 0) return true; await new Promise(r => setTimeout(r, 50)); } return false; })()"
            )
    assert seen, link
