"""HTML to a Document: parse, clean, select, render, and say whether it is content at all."""

from __future__ import annotations

from selectolax.lexbor import LexborNode

from cormorant.document import Document
from cormorant.extract.html.clean import clean
from cormorant.extract.html.links import Addresses
from cormorant.extract.html.markdown import markdown
from cormorant.extract.html.parse import parse


def read(text: str, *, url: str, media_type: str = "text/html", extract: str = "auto", output: str = "markdown") -> Document:
    """The page as Markdown, with what is known about it."""
    page = parse(text, url)
    title = page.tree.css_first("title")
    clean(page.tree)
    body = page.tree.body
    written = ""
    if body is not None:
        root = _main(body)
        written = markdown(root, Addresses(page.base, url), plain=output == "text")
    return Document(url=url, markdown=written, title=title.text(strip=True) if title else "", extractor="readability", media_type=media_type)


def _main(body: LexborNode) -> LexborNode:
    for node in body.css("nav,header,footer,aside,form"):
        node.decompose()
    return body.css_first("main") or body.css_first("article") or body
