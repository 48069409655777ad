"""Cookies that live for one fetch, so that a page which redirects to itself to set one can be read.

Host-only on purpose: a `Domain` attribute is not honoured, so a cookie goes back to the very host that set it and no
public-suffix list is needed for `Domain=co.uk` or `Domain=github.io` to be harmless (RFC 6265 5.3 lets a user agent).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from cormorant.address import Url

COOKIES_MAX = 50  # of one fetch
COOKIE_MAX_BYTES = 4096  # RFC 6265 6.1
SENT_MAX_BYTES = 8192


@dataclass(frozen=True, slots=True)
class Cookie:
    """One cookie of one host."""

    host: str
    path: str
    name: str
    value: str
    secure: bool


@dataclass(frozen=True)
class Jar:
    """The cookies of one fetch. Frozen: two equal jars mean that nothing changed, which is how a loop is told."""

    cookies: tuple[Cookie, ...] = ()

    def header_for(self, url: Url) -> str:
        """The `Cookie` field for a request, empty where there is none."""
        if not self.cookies:
            return ""
        safe = url.scheme == "https"
        sent = [one for one in self.cookies if one.host == url.host and (safe or not one.secure) and _covers(one.path, url.target)]
        sent.sort(key=lambda one: -len(one.path))  # RFC 6265 5.4: longer paths first
        text = "; ".join(f"{one.name}={one.value}" for one in sent)
        return text if len(text) <= SENT_MAX_BYTES else ""

    def after(self, url: Url, set_cookie: Iterable[str]) -> Jar:
        """The jar once the answer of `url` was read."""
        jar = self
        for text in set_cookie:
            jar = jar._with(url, text)
        return jar

    def _with(self, url: Url, text: str) -> Jar:
        if len(text) > COOKIE_MAX_BYTES or any(ord(c) < 0x20 or ord(c) == 0x7F for c in text):
            return self
        pair, *attributes = text.split(";")
        name, equals, value = pair.partition("=")
        name, value = name.strip(), value.strip()
        if not equals or not name:
            return self
        given = {key.strip().lower(): found.strip() for key, _, found in (attribute.partition("=") for attribute in attributes)}
        secure = "secure" in given
        if secure and url.scheme != "https":
            return self
        path = given.get("path", "")
        made = Cookie(url.host, path if path.startswith("/") else _default_path(url.target), name, value, secure)
        if name.startswith("__Secure-") and not secure:
            return self
        if name.startswith("__Host-") and not (secure and made.path == "/" and "domain" not in given):
            return self
        others = tuple(one for one in self.cookies if (one.host, one.path, one.name) != (made.host, made.path, made.name))
        if _is_over(given):
            return replace(self, cookies=others)
        return replace(self, cookies=(*others, made)[-COOKIES_MAX:])


def _is_over(given: dict[str, str]) -> bool:
    """Whether the cookie deletes itself (RFC 6265 5.2.1, 5.2.2: Max-Age wins)."""
    if "max-age" in given:
        age = given["max-age"]
        return age.lstrip("-").isdigit() and int(age) <= 0
    try:
        ends = parsedate_to_datetime(given.get("expires", ""))
    except (ValueError, TypeError, IndexError):
        return False
    return ends.replace(tzinfo=ends.tzinfo or UTC) <= datetime.now(UTC)


def _default_path(target: str) -> str:
    path = target.partition("?")[0]
    return path[: path.rfind("/")] or "/"


def _covers(path: str, target: str) -> bool:
    asked = target.partition("?")[0]
    return asked == path or (asked.startswith(path) and (path.endswith("/") or asked[len(path) : len(path) + 1] == "/"))
