"""What reading costs as a page grows, shape by shape: time and memory must grow in line with the bytes, whatever they are.

    python bench/extraction_growth.py [--shape NAME] [--sizes 10000 100000 1000000 10000000]

Each page is read in a process of its own. `steepest` is the largest growth of CPU time between two sizes, divided by the
growth of the bytes: 1 is in line, 10 would be the square. Times under `FLOOR_S` are start-up and noise and count as that.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from report import save, table

from cormorant.errors import CormorantError
from cormorant.extract import document

SIZES = (10_000, 100_000, 1_000_000, 10_000_000)
FLOOR_S = 0.02
LONGEST_S = 120.0
WORDS = "The keeper walks the wall twice a day and writes the reading of each gauge in a book that nobody else may touch. "


def ordinary(size: int) -> str:
    """What pages are made of."""
    part = "<h2>Part {n}</h2><p>The keeper walks the wall <a href='/g/{n}'>twice</a> a day and writes the <b>reading</b> in a book.</p>"
    part += "<ul><li>upper</li><li>lower</li></ul><pre><code class='language-py'>gate({n})\n</code></pre>"
    part += "<p>" + "A longer paragraph follows that says in many words what the gauges are for and who reads them. " * 10 + "</p>"
    return "<main><h1>The wall</h1>" + "".join(part.replace("{n}", str(n)) for n in range(max(1, size // len(part)))) + "</main>"


def repeated(part: str) -> Callable[[int], str]:
    """One piece again and again; `{n}` in it is its number."""

    def page(size: int) -> str:
        count = max(1, size // len(part))
        return "".join(part.replace("{n}", str(n)) for n in range(count)) if "{n}" in part else part * count

    return page


def nested(opening: str, closing: str) -> Callable[[int], str]:
    def page(size: int) -> str:
        depth = max(1, size // (len(opening) + len(closing)))
        return opening * depth + WORDS + closing * depth

    return page


def one_table(size: int) -> str:
    row = "<tr><td>gate {n}</td><td>12.5</td><td>closed</td></tr>"
    rows = "".join(row.replace("{n}", str(n)) for n in range(size // len(row)))
    return f"<table><tr><th>Gate</th><th>Level</th><th>State</th></tr>{rows}</table>"


def wide_table(size: int) -> str:
    cells = "<td>x</td>" * 200
    return f"<table>{('<tr>' + cells + '</tr>') * max(1, size // 2_009)}</table>"


def spanning_table(size: int) -> str:
    row = '<tr><td rowspan="900">long</td><td colspan="40">wide</td><td>x</td></tr>'
    return f"<table>{row * max(1, size // len(row))}</table>"


def one_list(size: int) -> str:
    return "<ol>" + repeated("<li>Gate {n} is watched by a float switch.</li>")(size) + "</ol>"


def attributes(size: int) -> str:
    return "<p " + repeated('data-a{n}="v{n}" ')(size) + f">{WORDS}</p>"


def one_value(size: int) -> str:
    return f'<p title="{"x" * size}" class="{"y " * 20}">{WORDS}</p>'


def classes(size: int) -> str:
    return f'<p class="{repeated("c{n} ")(size)}">{WORDS}</p>'


def styled(size: int) -> str:
    """A third rules that hide, a third rules that show, a third elements that both are about."""
    hide = repeated(".a{n},.b .c{n}{display:none;position:absolute;clip:rect(0,0,0,0)}")(size // 3)
    show = repeated("div.a{n},p.a{n}{display:block;position:static}")(size // 3)
    return f"<style>{hide}{show}</style>" + repeated('<p class="a{n} b">The keeper walks.</p>')(size // 3)


def styled_alike(size: int) -> str:
    """Many rules about one class, many elements that have it."""
    rules = repeated(".a{display:none}.a{display:block;color:#{n}}div .a,.x{n} .a{visibility:hidden}")(size // 2)
    return f"<style>{rules}</style><div class='x1'>" + '<p class="a">The keeper walks.</p>' * (size // 70) + "</div>"


def styled_deep(size: int) -> str:
    """Rules that look far up, and elements that stand deep."""
    rules = repeated("div div div div div .a{n},div .b{n} div div .a{display:none}")(size // 2)
    return f"<style>{rules}</style>" + ("<div class=q>" * 300 + '<p class="a">x</p>' * (size // 60) + "</div>" * 300)


SHAPES: dict[str, Callable[[int], str]] = {
    "ordinary": ordinary,
    "paragraphs": repeated(f"<p>{WORDS}</p>"),
    "one paragraph": lambda size: f"<p>{WORDS * (size // len(WORDS))}</p>",
    "one word": lambda size: f"<p>{'x' * size}</p>",
    "no tags": lambda size: WORDS * (size // len(WORDS)),
    "line breaks": repeated("The gate is shut.<br>"),
    "nested div": nested("<div>", "</div>"),
    "nested span": nested("<span>", "</span>"),
    "nested list": nested("<ul><li>x", "</li></ul>"),
    "nested quote": nested("<blockquote>x", "</blockquote>"),
    "nested table": nested("<table><tr><td>", "</td></tr></table>"),
    "nested bold": nested("<b>x", "</b>"),
    "unclosed div": repeated("<div>x "),
    "unclosed p": repeated("<p>The gate is shut. "),
    "unclosed b": repeated("<b>x "),
    "unclosed a": repeated('<a href="/{n}">x '),
    "unclosed formatting in p": repeated("<p><b><i><u><a href=x>x"),
    "misnested": repeated("<b><p>x</b><i>y</p></i>"),
    "stray ends": repeated("</p></div></b>x"),
    "one list": one_list,
    "lists": repeated("<ul><li>upper gate</li><li>lower gate</li></ul>"),
    "definitions": lambda size: "<dl>" + repeated("<dt>Gate {n}</dt><dd>shut</dd>")(size) + "</dl>",
    "one table": one_table,
    "tables": repeated("<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>"),
    "wide table": wide_table,
    "spanning table": spanning_table,
    "links": repeated('<a href="/gate/{n}">Gate number {n}</a> '),
    "one link": repeated('<a href="/gate">gate</a> '),
    "headings": repeated("<h2>Gate {n}</h2><p>Shut.</p>"),
    "images": repeated('<img src="/g/{n}.jpg" alt="gate {n}"> '),
    "code": repeated("<pre><code>gate({n})\nshut()\n</code></pre>"),
    "one code": lambda size: "<pre><code>" + repeated("gate({n})\n")(size) + "</code></pre>",
    "spans in code": lambda size: "<pre><code>" + repeated("<span class='k'>gate</span>({n})\n")(size) + "</code></pre>",
    "attributes": attributes,
    "one value": one_value,
    "classes": classes,
    "comments": repeated("<!-- a note of the makers about gate {n} -->x "),
    "one comment": lambda size: f"<!-- {WORDS * (size // len(WORDS))} --><p>{WORDS}</p>",
    "unclosed comment": lambda size: f"<p>{WORDS}</p><!-- {WORDS * (size // len(WORDS))}",
    "comment openings": repeated("<!-- x "),
    "scripts": repeated("<script>var gate={n};</script>x "),
    "one script": lambda size: f"<p>{WORDS}</p><script>{'gate(1);' * (size // 8)}</script>",
    "json state": lambda size: f'<script>window.__STATE__={{"a":["{WORDS}",{",".join(["1"] * (size // 2))}]}}</script>',
    "noscripts": repeated("<noscript>x <img src=/a.png></noscript>"),
    "inline styles": repeated('<p style="display:none;left:-{n}px">hidden {n} from the reader</p>'),
    "coloured": repeated('<p style="color:#fff{n}">pale text of gate {n}</p>'),
    "rules and elements": styled,
    "rules of one class": styled_alike,
    "rules that look up": styled_deep,
    "rules alone": lambda size: f"<style>{repeated('.a{n}{display:none}')(size)}</style><p class=a1>{WORDS}</p>",
    "unclosed rules": lambda size: f"<style>{'a{' * (size // 2)}</style><p>{WORDS}</p>",
    "media rules": lambda size: f"<style>{'@media screen{@layer x{' * (size // 23)}</style><p>{WORDS}</p>",
    "aria-hidden": repeated('<i aria-hidden="true">x</i> gate '),
    "tabs": repeated('<a role=tab aria-controls="t{n}">T</a><div id="t{n}" role=tabpanel hidden>Panel {n}</div>'),
    "accordions": repeated('<button aria-expanded="false">Gate {n}</button><div hidden>It is shut.</div>'),
    "footnotes": repeated('<p>x<sup><a href="#n{n}" id="r{n}">{n}</a></sup></p><p id="n{n}">note {n} <a href="#r{n}">back</a></p>'),
    "formulas": repeated("<math><mi>x</mi><mo>=</mo><mn>{n}</mn></math> "),
    "microdata": repeated('<div itemscope itemtype="https://schema.org/Thing"><b itemprop="name">gate {n}</b></div>'),
    "consent": repeated('<div class="cookie-consent">We use cookies, gate {n}</div>'),
    "dialogs": repeated("<div role=dialog>Gate {n}</div>"),
    "forms": repeated("<select><option>gate {n}</option></select><input value=x>"),
    "entities": repeated("&amp;&lt;&eacute;&#x200b;"),
    "angle brackets": lambda size: "<" * size,
    "half tags": repeated("<a href='"),
    "spaces": lambda size: f"<p>{WORDS}{' ' * size}x</p>",
    "line ends": lambda size: f"<p>{WORDS}{chr(10) * size}x</p>",
    "marks of markdown": repeated("*_`[x](y)`_* "),
    "backticks": lambda size: f"<p>{'`' * size}</p>",
    "brackets": lambda size: f"<p>{'[' * (size // 2)}{']' * (size // 2)}</p>",
    "zero width": repeated("a&#8203;b"),
    "templates": repeated("<template><p>x</p></template>y "),
    "pictures in svg": repeated("<svg><text>x</text></svg>"),
}


def one(shape: str, size: int) -> None:
    """In a process of its own: what reading one page costs, above what the program takes anyway."""
    document(ordinary(5_000).encode(), url="https://example.com/", content_type="text/html")
    body = f"<!DOCTYPE html><html><head><title>The wall</title></head><body>{SHAPES[shape](size)}".encode()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.process_time()
    try:
        cut = bool(document(body, url="https://example.com/", content_type="text/html; charset=utf-8").warnings)
    except CormorantError:
        cut = False
    spent = time.process_time() - started
    more = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    print(json.dumps({"bytes": len(body), "cpu_s": round(spent, 4), "memory_mb": round(more, 1), "cut": cut}))


def measured(shape: str, size: int) -> dict[str, Any]:
    command = [sys.executable, __file__, "--shape", shape, "--one", str(size)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST_S)
    except subprocess.TimeoutExpired:
        return {"bytes": size, "cpu_s": LONGEST_S, "memory_mb": 0.0, "cut": False, "failed": "took too long"}
    if done.returncode:
        return {"bytes": size, "cpu_s": LONGEST_S, "memory_mb": 0.0, "cut": False, "failed": done.stderr.strip().rpartition("\n")[2]}
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def steepest(rows: list[dict[str, Any]]) -> float:
    steps = pairwise(rows)
    return max(
        ((max(b["cpu_s"], FLOOR_S) / max(a["cpu_s"], FLOOR_S)) / (b["bytes"] / a["bytes"]) for a, b in steps if b["bytes"] > a["bytes"]),
        default=0.0,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shape", choices=SHAPES, action="append")
    parser.add_argument("--sizes", type=int, nargs="*", default=list(SIZES))
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        one(given.shape[0], given.one)
        return
    found = {shape: [measured(shape, size) for size in given.sizes] for shape in given.shape or SHAPES}
    shown = [
        {
            "shape": shape,
            **{f"{row['bytes'] / 1e6:.2g} MB": row["cpu_s"] for row in rows},
            "memory_mb": rows[-1]["memory_mb"],
            "steepest": round(steepest(rows), 2),
            "failed": next((row["failed"] for row in rows if "failed" in row), ""),
        }
        for shape, rows in found.items()
    ]
    for line in shown:
        print(table([dict(zip(("shape", *given.sizes, "memory_mb", "steepest", "failed"), line.values(), strict=False))]))
    if not given.shape:
        largest = {
            f"CPU seconds for {given.sizes[-1] / 1e6:g} MB, by shape": {
                f"cormorant: {shape}": rows[-1]["cpu_s"] for shape, rows in found.items()
            }
        }
        save("extraction_growth", {"shapes": found, "steepest": {line["shape"]: line["steepest"] for line in shown}}, bars=largest)


if __name__ == "__main__":
    main()
