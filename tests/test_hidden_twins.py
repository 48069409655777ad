"""Each way to hide a text beside its twin that can be seen: the first is left out, the second is kept."""

from __future__ import annotations

import pytest

from cormorant.extract import document

SECRET = "the SECRET text for the model alone"
PROSE = "".join(
    f"<p>The Harlow tidal station was rebuilt in the spring after two winters of work on the wall, part {n}.</p>" for n in range(5)
)
TWINS = [
    ("margin-left:-100vw", "position:relative;width:100vw;left:50%;right:50%;margin-left:-50vw;margin-right:-50vw"),
    ("margin-left:calc(-100vw - 20px)", "width:100vw;margin-left:calc(50% - 50vw)"),
    ("margin-left:-9999px", "width:100vw;margin-left:calc((100% - 100vw) / 2)"),
    ("line-height:0;overflow:hidden", "line-height:0"),
    ("line-height:0px;overflow:hidden;height:auto", "line-height:1;overflow:hidden"),
    ("display:grid;grid-template-rows:0fr;overflow:hidden", "display:grid;grid-template-rows:1fr;overflow:hidden"),
    ("mask:url(m.png);mask-size:0", "mask:url(m.png);mask-size:10px"),
    ("-webkit-mask-size:0 0;-webkit-mask-image:url(a.png)", "-webkit-mask-size:cover;-webkit-mask-image:url(a.png)"),
    ("mask:linear-gradient(#000,#000) 0 0/0 0 no-repeat", "mask:linear-gradient(#000,#000) 0 0/100% 100% no-repeat"),
    ("position:absolute;right:110%", "position:absolute;right:10%"),
    ("position:fixed;inset:0 auto auto -100vw", "position:fixed;inset:0 auto auto 0"),
    ("position:absolute;left:100vw", "position:absolute;left:50vw"),
    ("position:absolute;top:-100vh", "position:absolute;top:0"),
    ("position:absolute;bottom:110%", "position:relative;bottom:10%"),
    ("letter-spacing:-1em", "letter-spacing:-.02em"),
    ("letter-spacing:-100px", "letter-spacing:2px"),
    ("letter-spacing:-2ch", "letter-spacing:.1ch"),
    ("transform:scale(0)", "transform:scale(1)"),
    ("transform:scale3d(0,0,0)", "transform:scale3d(1,1,0)"),
    ("transform:translateX(-100vw)", "transform:translateX(-50%)"),
    ("transform:translate(-200vw,0)", "transform:translate(-50%,-50%)"),
    ("transform:translateY(-100vh)", "transform:translateY(10px)"),
    ("translate:-9999px", "translate:-50% 0"),
    ("translate:0 -100vh", "translate:0 4px"),
    ("filter:opacity(0)", "filter:opacity(.8)"),
    ("filter:opacity(1%)", "filter:opacity(90%)"),
    ("filter:brightness(1000%) contrast(0)", "filter:brightness(90%)"),
    ("clip-path:polygon(0 0)", "clip-path:polygon(0 0,100% 0,100% 100%,0 100%)"),
    ("clip-path:polygon(0 0,0 0,0 0,0 0)", "clip-path:polygon(0 0,100% 0,90% 100%)"),
    ("clip-path:polygon(0 0,100% 0,100% 0)", "clip-path:polygon(0 0,100% 0,100% 50%)"),
    ("clip-path:circle(0%)", "clip-path:circle(70%)"),
    ("clip-path:ellipse(0 50%)", "clip-path:ellipse(60% 60%)"),
    ("clip-path:ellipse(50% 0)", "clip-path:ellipse(60% 70%)"),
    ("clip-path:xywh(0 0 0 0)", "clip-path:xywh(0 0 100% 100%)"),
    ("content-visibility:hidden", "content-visibility:auto"),
    ("max-height:0;overflow:hidden", "max-height:20em;overflow:hidden"),
    ("max-height:0;overflow-y:clip", "max-height:0"),
    ("max-width:0;overflow:hidden;white-space:nowrap", "max-width:40em;overflow:hidden"),
    ("text-indent:-9999px", "text-indent:-2em"),
    ("text-indent:-100vw", "text-indent:-1em;padding-left:1em"),
    ("text-indent:200%;overflow:hidden;white-space:nowrap", "text-indent:2em;overflow:hidden;white-space:nowrap"),
    ("color:transparent", "color:inherit"),
    ("-webkit-text-fill-color:transparent", "-webkit-text-fill-color:#333"),
    ("-webkit-text-fill-color:#fff;background:#fff", "-webkit-text-fill-color:#fff;background:#000"),
    ("-webkit-text-fill-color:rgba(0,0,0,0)", "-webkit-text-fill-color:rgba(0,0,0,.8)"),
    ("--a:#fff;color:var(--a);background:#fff", "--a:#111;color:var(--a);background:#fff"),
    ("color:color-mix(in srgb,#fff 100%,#000 0%);background:#fff", "color:color-mix(in srgb,#fff 10%,#000);background:#fff"),
    ("color:color-mix(in srgb, white, white);background:white", "color:color-mix(in srgb, white, black);background:white"),
    ("color:color-mix(in srgb,red 0%,transparent)", "color:color-mix(in srgb,red 80%,transparent)"),
    ("color:hsl(210 50% 99%);background:#fff", "color:hsl(210 50% 30%);background:#fff"),
    ("color:hsl(0,100%,50%);background:#f00", "color:hsl(0,100%,50%);background:#fff"),
    ("color:oklch(99% 0.01 200);background:#fff", "color:oklch(30% 0.05 200);background:#fff"),
    ("color:lab(99 0 0);background:white", "color:lab(20 0 0);background:white"),
    ("color:#ffffff03", "color:#000000cc"),
    ("color:rgb(250,250,250);background:rgb(255 255 255)", "color:rgb(90,90,90);background:rgb(255 255 255)"),
    ("color:color(srgb 1 1 1);background:#fff", "color:color(srgb 0 0 0);background:#fff"),
    ("color:aliceblue;background:aliceblue", "color:midnightblue;background:aliceblue"),
    ("color:pink;background:#ffc0cb", "color:pink;background:#000"),
    ("color:canvas", "color:canvastext"),
    ("background:#777;color:currentcolor;color:#777", "background:#777;color:#fff"),
    ("font-size:0.1px", "font-size:12px"),
    ("font-size:.05rem", "font-size:.8rem"),
    ("font-size:0vw", "font-size:2vw"),
    ("font-size:clamp(0px,0px,1px)", "font-size:clamp(12px,2vw,20px)"),
    ("font-size:min(0px,1em)", "font-size:min(16px,1em)"),
    ("font-size:max(0px,0em)", "font-size:max(16px,1em)"),
    ("font:normal 0.5px/1 serif", "font:normal 15px/1 serif"),
    ("font-size-adjust:0", "font-size-adjust:.5"),
    ("zoom:0.001", "zoom:.9"),
    ("opacity:min(0,1)", "opacity:.6"),
    ("opacity:0.5%", "opacity:50%"),
    ("visibility:collapse", "visibility:visible"),
    ("width:0;height:0;overflow:hidden", "width:100%;height:auto;overflow:hidden"),
    ("width:0;overflow:hidden;white-space:nowrap", "width:50%;overflow:hidden"),
    ("width:0;height:0;overflow:auto", "width:20em;height:9em;overflow:auto"),
    ("height:0;overflow:scroll", "height:9em;overflow:scroll"),
    ("contain:strict;width:0;height:0", "contain:layout"),
    ("transform:rotate3d(1,0,0,90deg)", "transform:rotate3d(0,0,1,5deg)"),
    ("transform:rotateX(0.25turn)", "transform:rotateX(10deg)"),
    ("transform:rotateX(100grad)", "transform:rotate(90deg)"),
    ("transform:skewX(90deg)", "transform:skewX(5deg)"),
    ("rotate:x 90deg", "rotate:z 90deg"),
    ("rotate:y 90deg", "rotate:5deg"),
    ("margin-top:-9999px", "margin-top:-20px"),
    ("margin:-99999px", "margin:-10px"),
    ("position:absolute;z-index:-9999;left:-200%", "position:absolute;z-index:2;left:0"),
    ("overflow:hidden;block-size:0", "overflow:hidden;block-size:auto"),
    ("overflow:hidden;line-height:0;height:0", "overflow:visible;height:0"),
    ("left:calc(-100vw - 10px);position:absolute", "left:calc(50% - 10px);position:absolute"),
    ("left:calc(0px - 9999px);position:absolute", "left:calc(0px - 9px);position:absolute"),
    ("left:max(-9999px,-9998px);position:absolute", "left:max(10px,2vw);position:absolute"),
    ("text-shadow:none;color:#0000", "text-shadow:0 0 0 #333;color:transparent"),
    ("writing-mode:vertical-rl;height:0;overflow:hidden", "writing-mode:vertical-rl"),
    ("position:absolute;clip:rect(0 0 0 0)", "position:absolute;clip:auto"),
    ("display:none;display:sideways", "display:sideways"),
    ("opacity:0;opacity:bogus(3)", "opacity:bogus(0)"),
]


def read(head: str, body: str) -> str:
    source = (
        f"<html><head><title>Notes</title>{head}</head><body><main><h1>Notes</h1>{PROSE}{body}<p>The end of it.</p></main></body></html>"
    )
    return document(source.encode(), url="https://site.example/a", content_type="text/html; charset=utf-8", extract="full").markdown


@pytest.mark.parametrize(("hidden", "seen"), TWINS, ids=[hidden for hidden, _ in TWINS])
def test_a_way_to_hide_and_its_visible_twin(hidden: str, seen: str) -> None:
    assert "SECRET" not in read("", f'<div style="{hidden}">{SECRET}</div>')
    assert "SECRET" not in read(f"<style>.q{{{hidden}}}</style>", f'<div class="q">{SECRET}</div>')
    assert "SECRET" in read("", f'<div style="{seen}">{SECRET}</div>')
    assert "SECRET" in read(f"<style>.q{{{seen}}}</style>", f'<div class="q">{SECRET}</div>')
