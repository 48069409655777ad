"""Addresses in a page: absolute, as a browser resolves them, and fit to stand in Markdown. Pure."""

from __future__ import annotations

import re

import ada_url

_CLEAN = re.compile(
    r"https?://[a-z0-9][a-z0-9.-]*/[^\s<>\"\\^`{|}\x00-\x1f\x7f-\U0010ffff]*"
)  # absolute and harmless: kept as it was written
_DOTS = re.compile(r"/\.\.?(?:/|$|[?#])")
_SPOKEN = ("http:", "https:", "mailto:", "tel:", "ftp:", "magnet:", "news:", "sms:", "geo:", "xmpp:", "irc:")
MAX_CHARS = 4_000  # longer ones are data in disguise


class Addresses:
    """Resolves against one base and remembers: a page names the same few addresses again and again."""

    def __init__(self, base: str, page: str) -> None:
        self.base = base
        self.page = page.partition("#")[0]
        self._known: dict[str, str] = {}

    def absolute(self, href: str) -> str:
        """The absolute address, or "" for one that leads nowhere outside a browser (javascript:, data:, broken)."""
        found = self._known.get(href)
        if found is None:
            found = self._known[href] = self._resolved(href)
        return found

    def _resolved(self, href: str) -> str:
        href = href.strip()
        if not href or len(href) > MAX_CHARS:
            return ""
        if _CLEAN.fullmatch(href) and not _DOTS.search(href.partition("?")[0]):
            return href
        try:
            url = ada_url.join_url(self.base, href)
        except (ValueError, UnicodeError):
            return ""
        return url if url.startswith(_SPOKEN) else ""

    def written(self, href: str) -> str:
        """The address as the target of a Markdown link: parentheses that don't balance, and brackets, escaped."""
        address = self.absolute(href)
        if "(" in address or ")" in address:
            depth = lowest = 0
            for char in address:
                depth += (char == "(") - (char == ")")
                lowest = min(lowest, depth)
            if depth or lowest < 0:
                address = address.replace("(", "%28").replace(")", "%29")
        if "<" in address or ">" in address or " " in address:
            address = address.replace("<", "%3C").replace(">", "%3E").replace(" ", "%20")
        return address
