"""What HTML becomes in Markdown: the files in `pages` have a part of a page, an arrow, and what comes of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from cormorant.extract import document

URL = "https://site.example/docs/page"
PAGES = Path(__file__).parent / "pages"
FILES = {"snippets": "one thing at a time", "generators": "markup as the generators of documentation, and its readers, write it"}
SNIPPET = re.compile(r"^=== (.+?)\n(.*?)\n--->\n(.*?)\n(?=\n=== |\Z)", re.S | re.M)
SNIPPETS = [
    (f"{file}: {name}", html, text) for file in FILES for name, html, text in SNIPPET.findall((PAGES / f"{file}.txt").read_text("utf-8"))
]


def markdown(snippet: str, *, output: str = "markdown") -> str:
    page = f"<!DOCTYPE html><title>T</title><body><main>{snippet}</main>".encode()
    return document(page, url=URL, content_type="text/html; charset=utf-8", extract="full", output=output).markdown


@pytest.mark.parametrize(("snippet", "wanted"), [pytest.param(html, text, id=name) for name, html, text in SNIPPETS])
def test_a_snippet_becomes(snippet: str, wanted: str) -> None:
    assert markdown(snippet) == wanted


def test_all_snippets_are_found() -> None:
    assert len(SNIPPETS) > 220
    assert len({name for name, _, _ in SNIPPETS}) == len(SNIPPETS)


ESCAPED = [
    *("1. not a list", "# not a heading", "- not an item", "+ plus", "> not a quote", "---", "***", "* * *", "```", "===", "~~~"),
    *("2 * 3 * 4 and *so* on", "__init__ and snake_case", "f(*args, **kw)", "~~no~~ and ~5", "`tick` and ``two``", "a | b", "|---|---|"),
    *("[x](y) and [a] b[0]", "[ref]: z", "wow![x](y)", "List<int> and <video> and a < b", "&lt; and &amp; and AT&T", "C #", "!important"),
    *(r"C:\dir\new and \* and \\", "<https://a.example>", "a*b*c", "*", "_", "_x", "x_ _y_", "1) x", "[^1]: z", "[a](<b>)"),
]


@pytest.mark.parametrize("text", ESCAPED)
def test_a_reader_of_the_markdown_sees_what_the_page_shows(text: str) -> None:
    shown = text.replace("&", "&amp;").replace("<", "&lt;")
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(markdown(f"<p>{shown}</p><p>next</p>"))
    assert tokens[0].type == "paragraph_open"
    inline = next(token for token in tokens if token.type == "inline")
    assert "".join(child.content for child in inline.children or []) == text


UNTOUCHED = [
    *("snake_case", "a_b_c", "[note]", "2 * 3", "50%", "f(x)", "C#", "a + b", "x > y", "1.5", "A.B", "$5", "#tag", "e-mail", "wow!"),
    *("a < b", "AT&T", "array[0][1]", r"C:\dir", "it's (so)", "~5", "2024-05-01", "a|b", "`", "x^2", "_"),
]


@pytest.mark.parametrize("text", UNTOUCHED)
def test_nothing_is_escaped_without_need(text: str) -> None:
    assert markdown(f"<p>{text.replace('&', '&amp;').replace('<', '&lt;')}</p>") == text


PLAIN = [
    pytest.param("<h2>A <b>b</b></h2><p>x <a href='/y'>y</a> <code>z_z</code></p>", "A b\n\nx y z_z", id="no marks"),
    pytest.param("<ul><li>a<ul><li>b</li></ul></li></ul>", "- a\n  - b", id="lists keep their shape"),
    pytest.param("<pre><code class='language-py'>a\n  b</code></pre>", "a\n  b", id="no fences"),
    pytest.param("<table><tr><th>A</th><th>B</th></tr><tr><td>1</td><td>2|3</td></tr></table>", "A | B\n1 | 2|3", id="rows on lines"),
    pytest.param("<p>2 *3* 4<br>next_ _line</p><blockquote>q</blockquote>", "2 *3* 4\nnext_ _line\n\nq", id="nothing escaped"),
    pytest.param("<p>a<img src='/x.png' alt='A picture'></p>", "aA picture", id="pictures as their text"),
]


@pytest.mark.parametrize(("snippet", "wanted"), PLAIN)
def test_text_output_has_no_marks(snippet: str, wanted: str) -> None:
    assert markdown(snippet, output="text") == wanted
