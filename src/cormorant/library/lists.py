"""Lists of pages: sitemaps and their indexes, feeds, llms.txt. Pure: bytes in, addresses out.

Read with patterns and not with an XML parser: real sitemaps are broken in every way, and no entity is ever expanded.
"""

from __future__ import annotations

import html
import re
import zlib
from dataclasses import dataclass
from typing import Literal

from cormorant.address import parse
from cormorant.errors import InvalidArguments, TooLarge

SITEMAP_MAX_BYTES = 50 * 1024**2  # sitemaps.org: 50 MB uncompressed
Kind = Literal["sitemap index", "sitemap", "feed", "llms.txt", "page"]


@dataclass(frozen=True)
class Listed:
    """One page of a list, with the dates the list gives it: a sitemap when it changed, a feed when it appeared too."""

    url: str
    modified: str = ""
    published: str = ""


def kind_of(url: str, body: bytes) -> Kind:
    """What a fetched body is, as a place to gather from."""
    head = body[:4096].decode("utf-8", "replace")
    if re.search(r"<(?:\w+:)?sitemapindex[\s>]", head):
        return "sitemap index"
    if re.search(r"<(?:\w+:)?urlset[\s>]", head):
        return "sitemap"
    if re.search(r"<(?:rss|rdf:RDF|feed)[\s>]", head):
        return "feed"
    path = url.partition("?")[0].partition("#")[0].lower()
    if path.endswith(("/llms.txt", "/llms-full.txt")):
        return "llms.txt"
    plain = re.fullmatch(r".*/[\w.-]*sitemap[\w.-]*\.txt", path)
    return "sitemap" if plain else "page"


def unpacked(body: bytes) -> bytes:
    """A gzip body opened within the sitemap limit; any other as it is. Raises: TooLarge."""
    if not body.startswith(b"\x1f\x8b"):
        return body
    opener = zlib.decompressobj(wbits=31)
    try:
        plain = opener.decompress(body, SITEMAP_MAX_BYTES)
    except zlib.error as error:
        raise InvalidArguments(f"the sitemap is no gzip file: {error}") from error
    if opener.unconsumed_tail:
        raise TooLarge(f"the sitemap is larger than {SITEMAP_MAX_BYTES // 1024**2} MB unpacked")
    return plain


def listed(kind: Kind, body: bytes, base: str) -> list[Listed]:
    """The pages a list names, in its order, once each, absolute."""
    text = body.decode("utf-8-sig", "replace")
    if kind in ("sitemap", "sitemap index"):
        found = _sitemap(text)
    elif kind == "feed":
        found = _feed(text)
    else:
        found = [Listed(url) for url in re.findall(r"\[[^\]]*\]\(\s*<?([^)>\s]+)", text)]
    pages: dict[str, Listed] = {}
    for page in found:
        try:
            url = parse(page.url.strip(), base).without_fragment
        except InvalidArguments:
            continue
        pages.setdefault(url, Listed(url, page.modified, page.published))
    return list(pages.values())


def _sitemap(text: str) -> list[Listed]:
    if "<" not in text:  # the plain text form: an address a line
        return [Listed(line) for line in text.split() if line.startswith("http")]
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    found = []
    for entry in re.findall(r"<(?:\w+:)?(?:url|sitemap)\b[^>]*>(.*?)</(?:\w+:)?(?:url|sitemap)>", text, re.DOTALL):
        if where := _inside(entry, "loc"):
            found.append(Listed(where, _inside(entry, "lastmod")))
    return found


def _feed(text: str) -> list[Listed]:
    found = []
    for entry in re.findall(r"<(?:item|entry)\b[^>]*>(.*?)</(?:item|entry)>", text, re.DOTALL):
        links = re.findall(r"<link\b([^>]*?)/?>", entry)
        hrefs = [
            m[1]
            for a in links
            if (m := re.search(r"""href\s*=\s*["']([^"']+)""", a)) and not re.search(r"""rel\s*=\s*["'](?!alternate)""", a)
        ]
        where = hrefs[0] if hrefs else _inside(entry, "link")
        if not where and 'isPermaLink="false"' not in entry:
            where = _inside(entry, "guid")
        if where:
            names = ("published", "pubDate", "dc:date", "updated")
            published = next((date for name in names if (date := _inside(entry, name))), "")
            found.append(Listed(html.unescape(where), _inside(entry, "updated") or _inside(entry, "pubDate"), published))
    return found


def _inside(entry: str, name: str) -> str:
    found = re.search(rf"<(?:\w+:)?{name}\b[^>]*>\s*(?:<!\[CDATA\[)?(.*?)(?:\]\]>)?\s*</(?:\w+:)?{name}>", entry, re.DOTALL)
    return html.unescape(found[1].strip()) if found else ""
