"""Style sheets hide in many ways: what no screen shows is left out, what any screen shows is kept."""

from __future__ import annotations

import base64
import time

import pytest

from cormorant.document import Document
from cormorant.extract import document

SECRET = "the SECRET text for the model alone"
PROSE = "".join(
    f"<p>The Harlow tidal station was rebuilt in the spring after two winters of work on the wall, part {n}.</p>" for n in range(5)
)
BOX = f'<p class="q">{SECRET}</p>'
IN_BASE64 = base64.b64encode(b".q{display:none}").decode()


def read(head: str, body: str) -> Document:
    source = (
        f"<html><head><title>Notes</title>{head}</head><body><main><h1>Notes</h1>{PROSE}{body}<p>The end of it.</p></main></body></html>"
    )
    return document(source.encode(), url="https://site.example/a", content_type="text/html; charset=utf-8", extract="full")


@pytest.mark.parametrize(
    "style",
    [
        "clip-path:inset(0 100% 0 0)",
        "clip-path:inset(0 0 100% 0)",
        "clip-path:inset(50%)",
        "-webkit-clip-path:inset(100%)",
        "clip-path:polygon(50% 50%,50% 50%,50% 50%)",
        "clip-path:polygon(0 0,0px 0,0% 0)",
        "clip-path:rect(0 0 0 0)",
        "clip-path:path('M0 0')",
        "clip-path:circle(0px at 50% 50%)",
        "transform:scale(1,0)",
        "transform:scale(.001)",
        "transform:matrix(0,0,0,0,0,0)",
        "transform:rotateY(90deg)",
        "scale:0 1",
        "scale:0%",
        "opacity:calc(0)",
        "opacity:1e-3",
        "opacity:-1",
        "filter:contrast(0)",
        "filter:blur(100px)",
        "mask:linear-gradient(transparent,transparent)",
        "-webkit-mask-image:linear-gradient(to right, rgba(0,0,0,0), transparent)",
        "mask-size:0",
        "font-size:calc(0px)",
        "font-size:0.01em",
        "block-size:0;overflow:hidden",
        "max-block-size:0;overflow:clip",
        "height:0;contain:paint",
        "text-indent:100%;white-space:nowrap;overflow:hidden",
        "position:absolute;left:-100%",
        "position:absolute;inset-inline-start:-9999px",
        "margin-inline-start:-9999px",
        "--x:#123456;color:var(--x);background:var(--x)",
        "color:hwb(0 100% 0%)",
        "color:oklch(1 0 0)",
        "color:oklch(0 0 0 / 0)",
        "color:rgb(0 0 0 / 0%)",
        "display:var(--nowhere,none)",
    ],
)
@pytest.mark.parametrize("inline", [True, False], ids=["inline", "rule"])
def test_a_style_that_leaves_nothing_to_see(style: str, inline: bool) -> None:
    page = read("", f'<p style="{style}">{SECRET}</p>') if inline else read(f"<style>.q{{{style}}}</style>", BOX)
    assert "SECRET" not in page.markdown
    assert page.findings


@pytest.mark.parametrize(
    "sheet",
    [
        "@media screen, print{.q{display:none}}",
        "@media (min-width:0){.q{display:none}}",
        "@media screen and (min-width:1px){.q{display:none}}",
        "@media not print{.q{display:none}}",
        "@media (width >= 300px){.q{display:none}}",
        "@media (max-width:900px){.q{display:none}}@media (min-width:901px){.q{visibility:hidden}}",
        "@container (min-width:0){.q{display:none}}",
        "@scope (main){.q{display:none}}",
        "@layer a,b;@layer a{.q{display:none}}",
        "@layer a{.q{display:none!important}}.q{display:block!important}",
        "@import url(x.css);.q{display:none}",
        "main{.q{display:none}}",
        "main{& .q{display:none}}",
        ".z,.q{color:red;&.q{display:none}}",
        "main{color:red;.q{display:none}margin:0}",
        ".q{@media screen{display:none}}",
        "main :is(p.q){display:none}",
        ":where(.q){display:none}",
        ":root{--d:none}.q{display:var(--d)}",
        ":root{--o:0}.q{opacity:var(--o)}",
        ".q{display:none}.x::after{content:'} .q{display:block!important} .z{'}",
        ".x::after{content:'}'} .q{display:none}",
        "/* don't */.q{display:none}/* won't */",
        ".q{display:none}@media print{.q{display:block}}",
    ],
)
def test_a_rule_that_holds_on_every_screen(sheet: str) -> None:
    assert "SECRET" not in read(f"<style>{sheet}</style>", BOX).markdown


@pytest.mark.parametrize(
    ("head", "body"),
    [
        pytest.param('<style media="screen,print">.q{display:none}</style>', BOX, id="a sheet for screens and paper"),
        pytest.param('<style media="only screen">.q{display:none}</style>', BOX, id="a sheet for screens"),
        pytest.param('<link rel="stylesheet" href="data:text/css,.q%7Bdisplay:none%7D">', BOX, id="a sheet in an address"),
        pytest.param(f'<link rel="stylesheet" href="data:text/css;base64,{IN_BASE64}">', BOX, id="a sheet in an address, packed"),
        pytest.param("", f"<div popover>{SECRET}</div>", id="a popover that nothing opens"),
        pytest.param("", f"<noembed>{SECRET}</noembed><noframes>{SECRET}</noframes>", id="for browsers of old"),
        pytest.param("", f'<div style="font-size:0">{SECRET}<b style="font-size:2em">also SECRET</b></div>', id="a share of no size"),
        pytest.param(
            "<style>.q{display:none}</style>",
            f'<div style="visibility:hidden">x<div style="visibility:visible">seen{BOX}</div></div>',
            id="hidden inside of what is shown inside of what is hidden",
        ),
    ],
)
def test_hidden_by_other_means(head: str, body: str) -> None:
    assert "SECRET" not in read(head, body).markdown


@pytest.mark.parametrize(
    ("head", "body"),
    [
        pytest.param("<style>.q{display:none}@media (min-width:600px){.q{display:block}}</style>", BOX, id="shown at a desk alone"),
        pytest.param("<style>@media (min-width:600px){.q{display:none}}</style>", BOX, id="shown on a phone alone"),
        pytest.param('<style media="(max-width:600px)">.q{display:none}</style>', BOX, id="a sheet for phones"),
        pytest.param("<style>@supports not (display:grid){.q{display:none}}</style>", BOX, id="for browsers without a grid"),
        pytest.param("<style>@media (prefers-color-scheme:dark){.q{color:#fff}}</style>", BOX, id="white at night"),
        pytest.param("<style>@layer a{main p.q{display:none}}.q{display:block}</style>", BOX, id="a layer is weaker"),
        pytest.param("<style>p{display:block}:where(main .q){display:none}</style>", BOX, id="where has no weight"),
        pytest.param("<style>.q{color:red;.z{display:none}}</style>", BOX, id="another is nested in it"),
        pytest.param("<style>ul{font-size:0}li{font-size:16px}</style>", f"<ul><li>{SECRET}</li></ul>", id="letters have their size again"),
        pytest.param("", f'<div style="visibility:hidden"><p style="visibility:visible">{SECRET}</p></div>', id="visible again"),
        pytest.param("", f'<button popovertarget="a">Why</button><div id="a" popover>{SECRET}</div>', id="a popover that a button opens"),
        pytest.param("", f'<div><template shadowrootmode="open"><p>{SECRET}</p></template></div>', id="a shadow root"),
        pytest.param("", f"<p inert>{SECRET}</p>", id="inert"),
        pytest.param("", f'<p style="content-visibility:auto">{SECRET}</p>', id="drawn when needed"),
        pytest.param("", f'<p style="clip-path:inset(0 round 8px)">{SECRET}</p>', id="round corners"),
        pytest.param("", f'<p style="mask-image:linear-gradient(black,transparent)">{SECRET}</p>', id="fades out"),
        pytest.param("", f'<p style="float:left;margin-left:-100%">{SECRET}</p>', id="a column of a floated layout"),
        pytest.param("", f'<p style="transform:scale(.9)">{SECRET}</p>', id="a little smaller"),
        pytest.param("", f'<p style="width:1%;overflow:hidden">{SECRET}</p>', id="a narrow share"),
    ],
)
def test_what_some_screen_shows_is_kept(head: str, body: str) -> None:
    assert "SECRET" in read(head, body).markdown


@pytest.mark.parametrize(
    "sheet",
    [
        pytest.param("a{" * 200_000, id="unclosed"),
        pytest.param("@media screen{@layer x{" * 40_000, id="unclosed conditions"),
        pytest.param("a :b " * 100_000, id="colons without a rule"),
        pytest.param("a,b,c{" * 20 + "display:none", id="nested lists of selectors"),
        pytest.param(":is(" + "a," * 100_000 + "b){display:none}", id="a long list in brackets"),
        pytest.param('"' * 300_000, id="quotes"),
        pytest.param("/*" * 200_000, id="comments"),
        pytest.param("@layer " + ",".join(f"a{n}" for n in range(50_000)) + ";", id="layers"),
    ],
)
def test_no_sheet_takes_long(sheet: str) -> None:
    started = time.process_time()
    assert "Harlow" in read(f"<style>{sheet}</style>", "").markdown
    assert time.process_time() - started < 3  # quadratic work takes minutes here
