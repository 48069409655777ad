"""Text to a tree, once, by the HTML5 rules (lexbor); with guards for input made to hurt. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

import ada_url
from selectolax.lexbor import LexborHTMLParser, LexborNode

MAX_DEPTH = 400  # browsers stop nesting at 512; deeper is never content, and lexbor's scope checks are quadratic in it
MANY_TAGS = 6_000  # below this even the worst nesting parses in some milliseconds, and nothing needs a look
MAX_CHARS = 20_000_000

# Elements that close themselves or one another: an unclosed one is ordinary and doesn't nest.
_SELF_CLOSING = frozenset(
    "area base br col embed hr img input link meta param source track wbr p li dt dd tr td th thead tbody tfoot option optgroup"
    " colgroup rp rt html head body frame keygen basefont bgsound command image".split()
)
_TAG = re.compile(r"<(/?)([a-zA-Z][^\s/>]*)(?:[^>\"']|\"[^\"]*\"|'[^']*')*>|<!--.*?(?:-->|\Z)|<(script|style|textarea|title)\b", re.S)


@dataclass(frozen=True)
class Page:
    """A parsed page: its tree, the address its links are relative to, and what had to be cut."""

    tree: LexborHTMLParser
    url: str
    base: str
    warnings: tuple[str, ...] = ()

    @property
    def body(self) -> LexborNode | None:
        return self.tree.body


def parse(text: str, url: str) -> Page:
    """The tree of a page. Scripting is on, as in a browser: `<noscript>` is not what a person sees."""
    tree = LexborHTMLParser(text, scripting=True)
    return Page(tree, url, _base(tree, url))


def _base(tree: LexborHTMLParser, url: str) -> str:
    node = tree.css_first("base[href]")
    href = (node.attributes.get("href") or "").strip() if node else ""
    if not href:
        return url
    try:
        base = ada_url.URL(href, base=url)
    except ValueError:
        return url
    return base.href if base.protocol in ("http:", "https:") else url
