"""Text to a tree, once, by the HTML5 rules (lexbor); with guards for input made to hurt. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import ada_url
from selectolax.lexbor import LexborHTMLParser

MAX_CHARS = 6_000_000  # more is no page that anybody reads; the rest is cut, with a warning
MAX_DEPTH = 400  # browsers stop nesting at 512; deeper is never content, and lexbor's scope checks are quadratic in it
MAX_ELEMENTS = 40_000  # about a second of work
MANY_TAGS = 8_000  # with fewer, even the worst nesting parses in some milliseconds, and nothing needs a look
MANY_UNCLOSED = 1_500

# Elements that close themselves or one another: an unclosed one is ordinary and doesn't nest.
_FLAT = frozenset(
    (
        "area base br col embed hr img input link meta param source track wbr p li dt dd tr td th thead tbody tfoot option "
        "optgroup colgroup rp rt html head body frame keygen basefont bgsound command image"
    ).split()
)
_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9:-]*)|<!--.*?(?:-->|\Z)", re.S)
_RAW = re.compile(r"</(?:script|style|textarea|title|noscript|template|xmp)\b|\Z", re.I)
_RAW_NAMES = frozenset(["script", "style", "textarea", "title", "noscript", "xmp"])
_REFRESH = re.compile(r"\s*(\d*)(?:\.\d*)?\s*[;,]\s*(?:url\s*=\s*)?[\"']?\s*([^\"'\s][^\"']*)", re.I)
_REFRESH_TAG = re.compile(r"<meta\b[^>]*http-equiv\s*=\s*[\"']?refresh[^>]*>", re.I)
_CONTENT = re.compile(r"content\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s>]+))", re.I)
_LOCATION = re.compile(r"\blocation(?:\.href)?\s*(?:=|\.(?:replace|assign)\()\s*([\"'])([^\"'\n]{1,2000})\1")
_OPENING = re.compile(r"<[a-zA-Z][^\s/>]*")
_RAW_OPEN = re.compile(r"<(?:script|style|textarea|title|noscript|xmp)\b[^<]*$", re.I)
_QUOTED = re.compile(r"=\s*(?:\"[^\"]*\"|'[^']*')")
LONG_TAG = 20_000
MANY_ATTRIBUTES = 1_000
REFRESH_MAX_S = 10  # a page that reloads itself later than that is there to be read


@dataclass(frozen=True)
class Page:
    """A parsed page: its tree, the address its links are relative to, and what had to be cut."""

    tree: LexborHTMLParser
    url: str
    base: str
    warnings: tuple[str, ...] = ()


def parse(text: str, url: str) -> Page:
    """The tree of a page. Scripting is on, as in a browser: `<noscript>` is not what a person sees."""
    warnings = []
    if len(text) > MAX_CHARS:
        warnings.append(f"the page has {len(text)} characters; what follows the first {MAX_CHARS} was left out")
        text = text[:MAX_CHARS]
    text, dropped, cut = _shallow(_trimmed(text))
    if cut:
        warnings.append(f"the page has more than {MAX_ELEMENTS} elements; what follows them was left out")
    if dropped:
        warnings.append(f"{dropped} elements nested deeper than {MAX_DEPTH} were taken as their text")
    tree = LexborHTMLParser(text, scripting=True)
    return Page(tree, url, _base(tree, url), tuple(warnings))


def _trimmed(text: str) -> str:
    """The text with tags of more than some hundred attributes cut: lexbor compares each with all before it."""
    kept: list[str] = []
    done = 0
    for start, end in _long_pieces(text):
        found = _OPENING.search(text, start, end)
        if found is None or end - found.end() < LONG_TAG or _is_raw(text, start):
            continue
        bare = _QUOTED.sub("=''", text[found.end() : end])
        if len(bare.split()) + bare.count("''") > MANY_ATTRIBUTES:
            kept.append(text[done : found.end()])
            done = end
    return "".join([*kept, text[done:]]) if kept else text


def _long_pieces(text: str) -> Iterator[tuple[int, int]]:
    """Where as much as `LONG_TAG` stands between two `>`. Goes from one to the last within reach, and so looks at little."""
    at = 0
    while len(text) - at >= LONG_TAG:
        end = text.rfind(">", at, at + LONG_TAG)
        if end < 0:
            end = text.find(">", at)
            end = end if end >= 0 else len(text)
            yield at, end
        at = end + 1


def _is_raw(text: str, start: int) -> bool:
    """Whether what begins here, behind a `>`, is a script or the like and no markup."""
    before = text[max(0, start - 1 - 4_000) : max(0, start - 1)]
    return _RAW_OPEN.search(before.rpartition(">")[2]) is not None


def _shallow(text: str) -> tuple[str, int, bool]:
    """The text without the tags that nest too deep, how many those were, and whether the page was too long to read whole."""
    tags, closing = text.count("<"), text.count("</")
    if tags < MANY_TAGS and tags - 2 * closing < MANY_UNCLOSED:
        return text, 0, False
    out: list[str] = []
    position = depth = dropped = pending = opened = 0
    at = 0
    while (found := _TAG.search(text, at)) is not None:
        at = found.end()
        name = (found[2] or "").lower()
        opened += bool(name) and not found[1]
        if opened > MAX_ELEMENTS:
            return "".join([*out, text[position : found.start()]]), dropped, True
        if not name or name in _FLAT:
            continue
        if name in _RAW_NAMES and not found[1]:
            ending = _RAW.search(text, at)
            at = ending.end() if ending is not None else len(text)
            continue
        if found[1]:
            if not pending:
                depth = max(0, depth - 1)
                continue
            pending -= 1
        else:
            if depth < MAX_DEPTH:
                depth += 1
                continue
            pending += 1
            dropped += 1
        out += [text[position : found.start()], "<!"]  # a bogus comment: ends where the tag would
        position = found.start() + 1
    return ("".join([*out, text[position:]]) if out else text), dropped, False


def _base(tree: LexborHTMLParser, url: str) -> str:
    """The address links are relative to: the first `<base>`, itself resolved against the page's own."""
    node = tree.css_first("base[href]")
    href = (node.attributes.get("href") or "").strip() if node else ""
    return _resolved(href, url) or url


def _resolved(href: str, base: str) -> str:
    try:
        found = ada_url.URL(href, base=base) if href else None
    except (ValueError, UnicodeError):
        return ""
    return found.href if found is not None and found.protocol in ("http:", "https:") else ""


def refresh_of(page: Page, *, bare: bool) -> str:
    """Where the page sends its reader at once: by a meta refresh, and, from a page that is `bare` of text, by the one in
    `<noscript>` or by a script that does nothing else. "" when it sends nobody anywhere."""
    for node in page.tree.css("meta[http-equiv='refresh' i]"):
        if target := _target(node.attributes.get("content") or "", page):
            return target
    if not bare:
        return ""
    for node in page.tree.css("noscript"):
        for tag in _REFRESH_TAG.findall((node.text() or "")[:5_000]):
            content = _CONTENT.search(tag)
            if content and (target := _target(content[1] or content[2] or content[3] or "", page)):
                return target
    for node in page.tree.css("script:not([src])"):
        text = node.text() or ""
        found = _LOCATION.search(text) if len(text) < 2_000 else None
        target = _resolved(found[2], page.base) if found else ""
        if target and target.partition("#")[0] != page.url.partition("#")[0]:
            return target
    return ""


def _target(content: str, page: Page) -> str:
    found = _REFRESH.match(content)
    if found is None or int(found[1] or 0) > REFRESH_MAX_S:
        return ""
    target = _resolved(found[2].strip(), page.base)
    return target if target.partition("#")[0] != page.url.partition("#")[0] else ""
