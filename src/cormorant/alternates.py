"""Where a page says that it, or its site, can be had for models: hints, which cost no request until somebody asks. Pure.

Read from the `Link` field (RFC 8288) and from `<link rel=alternate type=text/markdown>` (HTML, "Link type alternate").
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
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

    def is_markdown(link: Mapping[str, str]) -> bool:
        return "alternate" in _relations(link) and link.get("type", "").lower().partition(";")[0].strip() == MARKDOWN

    return _first(url, filter(is_markdown, _links(headers, body)))


def site_guide(url: str, headers: Mapping[str, str], body: bytes) -> str:
    """The absolute address of the site's llms.txt where the page names one (by relation or by its name), or empty."""

    def is_guide(link: Mapping[str, str]) -> bool:
        return "llms-txt" in _relations(link) or link.get("href", "").partition("?")[0].endswith("/llms.txt")

    return _first(url, filter(is_guide, _links(headers, body)))


def _first(url: str, links: Iterable[Mapping[str, str]]) -> str:
    """The first of them that is an address; empty when there is none, or it is the page itself."""
    found = next((address for link in links if (address := _absolute(link, url))), "")
    return "" if found == url else found


def _links(headers: Mapping[str, str], body: bytes) -> Iterator[dict[str, str]]:
    for target, rest in _FIELD.findall(headers.get("link", "")):
        yield {"href": target} | _attributes(rest)
    for tag in _TAG.findall(body[:HEAD_BYTES].decode("utf-8", "replace")):
        yield _attributes(tag)


def _relations(link: Mapping[str, str]) -> list[str]:
    return link.get("rel", "").lower().split()


def _absolute(link: Mapping[str, str], url: str) -> str:
    try:
        return parse(link.get("href", ""), url).href
    except InvalidArguments:
        return ""


def _attributes(text: str) -> dict[str, str]:
    return {name.lower(): unescape(a or b or c.rstrip(";")) for name, a, b, c in _ATTRIBUTE.findall(text)}
