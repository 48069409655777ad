"""Where a page says that it can be had as Markdown: a hint, which costs no request until somebody asks for it. Pure.

Read from the `Link` field (RFC 8288) and from `<link rel=alternate type=text/markdown>` (HTML, "Link type alternate").
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import unescape

from cormorant.address import parse
from cormorant.errors import InvalidArguments

HEAD_BYTES = 64 * 1024  # a link in the head stands early; the body's own links are no statement about the page
MARKDOWN = "text/markdown"
_FIELD = re.compile(r"<([^<>]*)>((?:\s*;\s*[\w*]+\s*(?:=\s*(?:\"[^\"]*\"|[^\s;,\"]+))?)*)")
_TAG = re.compile(r"<link\b([^<>]*)>", re.I)
_ATTRIBUTE = re.compile(r"([\w*-]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))")


def markdown_version(url: str, headers: Mapping[str, str], body: bytes) -> str:
    """The absolute address of the page's Markdown version, or empty. Only http(s) addresses count."""
    head = body[:HEAD_BYTES].decode("utf-8", "replace")
    named = [({"href": target} | _attributes(rest)) for target, rest in _FIELD.findall(headers.get("link", ""))]
    named += [_attributes(tag) for tag in _TAG.findall(head)]
    for link in named:
        if "alternate" in link.get("rel", "").lower().split() and link.get("type", "").lower().partition(";")[0].strip() == MARKDOWN:
            try:
                found = parse(link.get("href", ""), url).href
            except InvalidArguments:
                continue
            return "" if found == url else found
    return ""


def _attributes(text: str) -> dict[str, str]:
    return {name.lower(): unescape(a or b or c.rstrip(";")) for name, a, b, c in _ATTRIBUTE.findall(text)}
