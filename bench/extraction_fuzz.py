"""Random pages against the reader, for as many seconds as are given: nothing may crash, hang or leak a mark of ours.

    python bench/extraction_fuzz.py --seconds 600 [--seed 1]

Pages are made of the elements, classes, roles and characters that our passes look at, opened and closed at random. A find is
printed with its seed; it becomes a row of tests/test_extract.py.
"""

from __future__ import annotations

import argparse
import faulthandler
import random
import re
import time
import traceback

from cormorant.errors import CormorantError
from cormorant.extract import document

TAGS_TEXT = """
div p span a b i em strong code pre table tr td th tbody thead ul ol li dl dt dd h1 h2 h3 blockquote sup sub img br hr
math mfrac mi svg style script noscript template details summary button input select option figure figcaption section
article main nav header footer aside form iframe video label q time font center rt ruby mjx-container mjx-mi x-note
caption dialog body html title meta base
"""
TAGS = TAGS_TEXT.split()
ATTRIBUTES = (
    *('class="{c}"', 'id="{i}"', 'href="#{i}"', 'href="/x"', 'role="{r}"', "hidden", 'aria-hidden="true"', 'aria-expanded="false"', "open"),
    *(
        'aria-controls="{i}"',
        'aria-labelledby="{i}"',
        'colspan="{n}"',
        'rowspan="{n}"',
        'start="{n}"',
        'value="{n}"',
        'style="display:none"',
    ),
    *('data-tex="x^2"', 'data-lang="py"', 'src="/a.png"', 'alt="x"', 'srcset="/a 1x"', 'type="checkbox"', 'type="math/tex"', 'name="{i}"'),
    *("itemscope", 'itemprop="name"', 'display="block"', 'alttext="x"', 'http-equiv="refresh"', 'content="0;url=/y"', 'data-note="1"'),
)
CLASSES_TEXT = """
katex katex-html highlight code gutter line lineno tabs tab-pane accordion collapse admonition warning alert note
footnotes footnote sidenote ltx_role_footnote ltx_note_outer ltx_note_mark anchor headerlink cookie consent mwe-math-
element MathJax tabbed-set tabbed-labels tabbed-content tabbed-block nav-tabs is-collapsed callout cm-content author
byline date title reference katex-display
"""
CLASSES = CLASSES_TEXT.split()
ROLES = ("tablist", "tab", "tabpanel", "presentation", "navigation", "dialog", "heading", "note")
TEXTS = (
    *(
        "word",
        "1",
        "[1]",
        "↩",
        "a_b",
        "*x*",
        "|",
        "`",
        "&lt;",
        "&amp;",
        "&nbsp;",
        "&#x200B;",
        "![",
        "](",
        "\\(x\\)",
        "$$y$$",
        "\n\n",
        " # ",
    ),
    *("1. ", "-", "x" * 50, "cookie consent choices", "&#xFDD6;", "&#xFDD9;1&#xFDDA;", "日本語", "👩&zwj;👧"),
)
OURS = re.compile("[\ufdd0-\ufdef]")


def page(chance: random.Random) -> str:
    out: list[str] = []
    opened: list[str] = []
    for _ in range(chance.randint(3, chance.choice((20, 120, 400)))):
        kind = chance.random()
        if kind < 0.45:
            tag = chance.choice(TAGS)
            fill = {"i": chance.choice("abcde"), "r": chance.choice(ROLES), "n": chance.choice((0, 1, 2, 3, 99_999, -1))}
            fill["c"] = " ".join(chance.sample(CLASSES, chance.randint(1, 2)))
            attributes = " ".join(chance.choice(ATTRIBUTES).format(**fill) for _ in range(chance.choice((0, 0, 1, 2, 3))))
            out.append(f"<{tag} {attributes}>")
            opened.append(tag)
        elif kind < 0.75 and opened:
            out.append(f"</{opened.pop() if chance.random() < 0.8 else chance.choice(TAGS)}>")
        else:
            out.append(chance.choice(TEXTS) + chance.choice(("", " ")))
    return "".join(out)


def problem(source: str) -> str:
    """What went wrong with a page; "" when nothing did."""
    for extract in ("auto", "full", "readability"):
        for output in ("markdown", "text"):
            try:
                text = document(
                    source.encode(), url="https://e.example/a/b", content_type="text/html", extract=extract, output=output
                ).markdown
            except CormorantError:
                continue
            except Exception:  # noqa: BLE001  anything at all is a find
                return traceback.format_exc(limit=-3)
            if OURS.search(text):
                return f"a mark of ours is left ({extract}, {output})"
    return ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    faulthandler.enable()
    end, seed, finds = time.monotonic() + given.seconds, given.seed, 0
    while time.monotonic() < end:
        started = time.process_time()
        found = problem(page(random.Random(seed)))
        if not found and time.process_time() - started > 6:
            found = f"{time.process_time() - started:.1f} s for six readings"
        if found:
            finds += 1
            print(f"seed {seed}: {found}")
        seed += 1
    print(f"{seed - given.seed} pages, {finds} finds")
    raise SystemExit(finds > 0)


if __name__ == "__main__":
    main()
