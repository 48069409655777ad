"""One URL parser for everybody: the WHATWG URL standard (url.spec.whatwg.org), by ada. Pure.

Policy, transport, cache keys, links and search filters all look at the same parsed value, so that no two of them can
disagree about which host an address means.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import ada_url

from cormorant.errors import InvalidArguments

DEFAULT_PORTS = {"http": 80, "https": 443}
# What other parsers (RFC 3986 3.2) would call the authority, where the WHATWG one has ended it at a backslash:
# `http://a.org\@b.org/` is a.org here and b.org there. Nobody writes that in good faith, so the policy refuses it.
_TWO_READINGS = re.compile(r"[^:/?#]+:/{2}[^/?#\\]+\\")
_WITHOUT_SCHEME = re.compile(r"(?P<host>localhost|\w[\w-]*(?:\.[\w-]+)+|\[[\da-f:.]+\])(?P<port>:\d{1,5})?(?=[/?#]|$)", re.I)


@dataclass(frozen=True, slots=True)
class Url:
    """An absolute http(s) address, parsed once.

    `host` is what is dialled and sent: lower case, A-labels, IP literals normalised, no brackets, no trailing dot.
    `target` is path and query as they go on the request line; the fragment stays on this side of the wire.
    """

    scheme: str
    host: str
    port: int
    target: str
    fragment: str
    href: str
    ambiguous: bool = False  # other parsers would find another host in the same text

    @property
    def authority(self) -> str:
        """`host`, with the port where it is not the scheme's own; IPv6 in brackets (RFC 3986 3.2)."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def origin(self) -> str:
        return f"{self.scheme}://{self.authority}"

    @property
    def without_fragment(self) -> str:
        """The address as a cache key: what a server can tell apart."""
        return self.origin + self.target

    def __str__(self) -> str:
        return self.href


def parse(text: str, base: str | None = None) -> Url:
    """The address `text` names, read as a browser reads it (against `base` where it is relative).

    Raises: InvalidArguments when it is no http(s) URL, or carries a user name or password.
    """
    try:
        href = ada_url.URL(text, base=base).href if base is not None else ada_url.URL(text).href
    except (ValueError, UnicodeError) as error:
        raise InvalidArguments(f"not a URL: {_shown(text)}", remedy=_hint(text), url=_shown(text)) from error
    scheme, _, rest = href.partition(":")
    if scheme not in DEFAULT_PORTS:
        if _WITHOUT_SCHEME.match(text.strip()):  # what stands before a port reads as a scheme
            raise InvalidArguments(f"not a URL: {_shown(text)}", remedy=_hint(text), url=_shown(text))
        raise InvalidArguments(
            f"only http(s) schemes are allowed, not {scheme}:", url=_shown(text), remedy="give an http:// or https:// address"
        )
    ambiguous = "\\" in text and _TWO_READINGS.match(text.strip()) is not None
    return _split(scheme, rest[2:], href, ambiguous)


def _split(scheme: str, rest: str, href: str, ambiguous: bool) -> Url:
    """Take a serialised URL apart. In that form every delimiter stands for itself (URL standard, 4.5), so cutting is safe,
    and asking the parser for each part by name would cost four times as much."""
    authority, slash, path = rest.partition("/")
    if "@" in authority:
        raise InvalidArguments("user names and passwords in a URL are refused", remedy="remove the part before the @")
    if authority[0] == "[":
        host, _, port = authority[1:].partition("]")
        port = port[1:]
    else:
        host, _, port = authority.partition(":")
    target, _, fragment = path.partition("#")
    return Url(
        scheme, host.removesuffix(".") or host, int(port) if port else DEFAULT_PORTS[scheme], slash + target, fragment, href, ambiguous
    )


def _hint(text: str) -> str:
    """The address that was probably meant. A server on a port of its own, or on this machine, seldom speaks TLS."""
    bare = text.strip().removeprefix("//")
    said = _WITHOUT_SCHEME.match(bare)
    if said is None:
        return "give an absolute address such as https://example.com/page"
    plain = said["host"] == "localhost" or said["port"] not in (None, ":443")
    return f"did you mean {'http' if plain else 'https'}://{bare} ?"


def _shown(text: str) -> str:
    return text if len(text) <= 200 else text[:199] + "…"
