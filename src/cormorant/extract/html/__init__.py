"""HTML to a Document: parse, clean, select, render, and say whether it is content at all."""

from __future__ import annotations

from html_to_markdown import convert

from cormorant.document import Document
from cormorant.extract.html.parse import parse


def read(text: str, *, url: str, media_type: str = "text/html", extract: str = "auto", output: str = "markdown") -> Document:
    """The page as Markdown, with what is known about it."""
    page = parse(text, url)
    for node in page.tree.css("script,style,noscript,template,nav,header,footer,aside,form,svg"):
        node.decompose()
    body = page.tree.css_first("main") or page.tree.css_first("article") or page.tree.body
    title = page.tree.css_first("title")
    markdown = convert(body.html or "").content or "" if body else ""
    return Document(url=url, markdown=markdown, title=title.text(strip=True) if title else "", extractor="readability", media_type=media_type)
