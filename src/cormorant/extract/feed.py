"""RSS, Atom and JSON Feed to a Markdown list of entries: title, address, date, author, a short summary. Pure.

Feeds in the wild are broken XML (stray ampersands, HTML entities, a cut end). What can be read before the break is
returned with a warning. A DOCTYPE is dropped before parsing, so no entity is ever expanded and nothing is loaded.
"""

from __future__ import annotations

import html
import json
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, cast

from selectolax.lexbor import LexborHTMLParser

from cormorant.address import parse
from cormorant.document import Document, Link
from cormorant.errors import ExtractionFailed, InvalidArguments
from cormorant.extract.instructions import finding, suspicious
from cormorant.extract.invisible import visible

ENTRIES_MAX = 200
SUMMARY_MAX_CHARS = 600

_DOCTYPE = re.compile(r"<!DOCTYPE[^>\[]*(?:\[.*?\]\s*)?>", re.I | re.S)
_CDATA = re.compile(r"(<!\[CDATA\[.*?\]\]>)", re.S)
_ENTITY = re.compile(r"&(?!(?:amp|lt|gt|quot|apos|#\d+|#x[0-9a-fA-F]+);)(\w+;)?")
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]|&#(?:x0*(?:[0-8bcef]|1[0-9a-f])|0*(?:[0-8]|1[124-9]|2\\d|3[01]));", re.I)
_DATE_NAMES = ("published", "pubdate", "issued", "date", "updated", "modified", "date_published", "date_modified")


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a feed; every field but the title may be empty."""

    title: str
    href: str = ""
    published: str = ""
    author: str = ""
    summary: str = ""


def read(text: str, *, url: str, media_type: str, output: str = "markdown") -> Document:
    """A feed as a Document. Raises: ExtractionFailed when it is no feed at all."""
    warnings: list[str] = []
    if media_type == "application/feed+json":
        head, entries = _of_json(text, url)
    else:
        head, entries = _of_xml(text, url, warnings)
    if len(entries) > ENTRIES_MAX:
        warnings.append(f"{len(entries)} entries, the first {ENTRIES_MAX} shown")
    entries = entries[:ENTRIES_MAX]
    markdown, gone = visible(_plain(head, entries) if output == "text" else _markdown(head, entries))
    findings = [finding(kind, chars, note=f"{len(chars)} characters") for kind, chars in sorted(gone.items())]
    return Document(
        url=url,
        markdown=markdown,
        title=head.title,
        byline=head.author,
        published=head.published,
        summary=head.summary,
        links=tuple(Link(entry.title, entry.href) for entry in entries if entry.href),
        extractor="feed",
        findings=(*findings, *suspicious(markdown)),
        warnings=tuple(warnings),
        media_type=media_type,
    )


def _markdown(head: Entry, entries: list[Entry]) -> str:
    parts = [f"# {_inline(head.title)}" if head.title else "", _inline(head.summary), "\n".join(map(_item, entries)) or "(no entries)"]
    return "\n\n".join(part for part in parts if part) + "\n"


def _plain(head: Entry, entries: list[Entry]) -> str:
    """The same without marks."""
    items = []
    for entry in entries:
        about = ", ".join(part for part in (entry.published, entry.author) if part)
        lines = (f"{entry.title or '(untitled)'}{f' — {about}' if about else ''}", entry.href, entry.summary)
        items.append("- " + "\n  ".join(" ".join(line.split()) for line in lines if line))
    return "\n\n".join(part for part in (head.title, head.summary, "\n".join(items) or "(no entries)") if part) + "\n"


def _item(entry: Entry) -> str:
    title = _inline(entry.title) or "(untitled)"
    line = f"- [{title}]({entry.href})" if entry.href else f"- {title}"
    about = ", ".join(part for part in (entry.published, _inline(entry.author)) if part)
    return f"{line} — {about}" * bool(about) + line * (not about) + (f"\n  {_inline(entry.summary)}" if entry.summary else "")


def _inline(text: str) -> str:
    """Text on one line in which no character starts a link, a tag or a table."""
    return re.sub(r"([\\\[\]<>`*])", r"\\\1", " ".join(text.split()))


# --- XML ----------------------------------------------------------------------------------------------------------


def _of_xml(text: str, url: str, warnings: list[str]) -> tuple[Entry, list[Entry]]:
    entries: list[Entry] = []
    root: ElementTree.Element | None = None
    for event, element in _events(_repaired(text), warnings):
        root = element if root is None else root
        if event == "end" and _name(element) in ("item", "entry") and len(entries) <= ENTRIES_MAX:
            entries.append(_entry(element, _base(root, url)))
    if root is None or (_name(root) not in ("rss", "feed", "rdf") and not entries):
        raise ExtractionFailed("not a feed that can be read", url=url, remedy="output='raw' returns the XML as it was sent")
    channel = next((child for child in root if _name(child) == "channel"), root)
    return _entry(channel, _base(root, url)), entries


def _events(text: str, warnings: list[str]) -> Iterator[tuple[str, ElementTree.Element]]:
    """Elements as they open and close, up to where the XML breaks."""
    parser: ElementTree.XMLPullParser[ElementTree.Element] = ElementTree.XMLPullParser(["start", "end"])
    try:
        parser.feed(text)
        parser.close()
        yield from cast("Iterator[tuple[str, ElementTree.Element]]", parser.read_events())
    except ElementTree.ParseError as error:
        warnings.append(f"the feed is broken at line {error.position[0]}: read up to there")
        with suppress(ElementTree.ParseError):  # it is kept in the queue behind the events and raised again
            yield from cast("Iterator[tuple[str, ElementTree.Element]]", parser.read_events())


def _repaired(text: str) -> str:
    """XML that a parser takes: no DOCTYPE, no characters XML forbids, HTML entities as characters."""
    text = _NOT_XML.sub("", _DOCTYPE.sub("", text, count=1)).lstrip("\ufeff \t\r\n")
    text = re.sub(r"\A<\?xml[^>]*\?>", "", text)  # it was read by its encoding before
    return "".join(part if part.startswith("<![CDATA[") else _ENTITY.sub(_entity, part) for part in _CDATA.split(text))


def _entity(match: re.Match[str]) -> str:
    named = html.unescape(match[0]) if match[1] else match[0]
    return html.escape(named, quote=False) if named != match[0] else "&amp;" + (match[1] or "")


def _name(element: ElementTree.Element) -> str:
    return element.tag.rsplit("}", 1)[-1].rsplit(":", 1)[-1].lower() if isinstance(element.tag, str) else ""


def _base(root: ElementTree.Element, url: str) -> str:
    return _absolute(root.get("{http://www.w3.org/XML/1998/namespace}base", ""), url) or url


def _entry(element: ElementTree.Element, base: str) -> Entry:
    children = [(child, _name(child)) for child in element]
    own = [(child, name) for child, name in children if not _is_media(child)]
    title = next((_text(child) for child, name in own if name == "title" and _text(child)), "")
    dates = {name: child.text or "" for child, name in reversed(own) if name in _DATE_NAMES}
    published = next((_date(dates[name]) for name in _DATE_NAMES if dates.get(name, "").strip()), "")
    summary = next(
        (
            _text(child)
            for wanted in ("summary", "description", "subtitle", "encoded", "content")
            for child, name in own
            if name == wanted and _text(child)
        ),
        "",
    )
    return Entry(_short(title, 300), _href(own, base), published, _author(own), _short(summary, SUMMARY_MAX_CHARS))


def _is_media(element: ElementTree.Element) -> bool:
    return "search.yahoo.com/mrss" in str(element.tag) or "itunes.com/dtds" in str(element.tag)


def _text(element: ElementTree.Element) -> str:
    """The text of an element that may hold escaped HTML, CDATA or XHTML children."""
    held = "".join(element.itertext()) if len(element) else element.text or ""
    if "<" in held or "&" in held:
        tree = LexborHTMLParser(held)
        for node in tree.css("script, style"):
            node.decompose()
        held = tree.body.text(separator=" ") if tree.body is not None else ""
        held = re.sub(r"\s+([,.;:!?])", r"\1", held)
    return " ".join(held.split())


def _href(children: list[tuple[ElementTree.Element, str]], base: str) -> str:
    links = [child for child, name in children if name == "link"]
    for link in links:
        if link.get("href") and link.get("rel", "alternate") == "alternate":
            return _absolute(link.get("href", ""), base)
    for link in links:
        if (link.text or "").strip():
            return _absolute((link.text or "").strip(), base)
    guid = next((child for child, name in children if name in ("guid", "id")), None)
    text = (guid.text or "").strip() if guid is not None else ""
    return text if text.startswith(("http://", "https://")) and guid is not None and guid.get("isPermaLink") != "false" else ""


def _author(children: list[tuple[ElementTree.Element, str]]) -> str:
    for child, name in children:
        if name in ("author", "creator"):
            named = next((grandchild for grandchild in child if _name(grandchild) == "name"), child)
            return _short(_text(named), 200)
    return ""


# --- JSON Feed ----------------------------------------------------------------------------------------------------


def _of_json(text: str, url: str) -> tuple[Entry, list[Entry]]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ExtractionFailed("not a JSON feed that can be read", url=url, remedy="output='raw' returns it as it was sent") from error
    items = found.get("items") if isinstance(found, dict) else None
    head = Entry(
        _said(found, "title"),
        _said(found, "home_page_url"),
        "",
        _json_author(found),
        _short(_said(found, "description"), SUMMARY_MAX_CHARS),
    )
    entries = [_json_entry(item, url) for item in items if isinstance(item, dict)] if isinstance(items, list) else []
    return head, entries


def _json_entry(item: dict[str, Any], base: str) -> Entry:
    held = _said(item, "summary") or _said(item, "content_text") or _said(item, "content_html")
    summary = " ".join(LexborHTMLParser(held).text(separator=" ").split()) if "<" in held else held
    published = _date(_said(item, "date_published") or _said(item, "date_modified"))
    href = _absolute(_said(item, "url") or _said(item, "external_url"), base)
    return Entry(_short(_said(item, "title") or summary, 300), href, published, _json_author(item), _short(summary, SUMMARY_MAX_CHARS))


def _json_author(item: dict[str, Any]) -> str:
    authors = item.get("authors") or [item.get("author")]
    return (
        ", ".join(_said(author, "name") for author in authors if isinstance(author, dict) and _said(author, "name"))
        if isinstance(authors, list)
        else ""
    )


def _said(item: Any, name: str) -> str:
    value = item.get(name) if isinstance(item, dict) else None
    return value if isinstance(value, str) else ""


# --- values -------------------------------------------------------------------------------------------------------


def _date(text: str) -> str:
    """ISO 8601, from the two ways feeds write dates; as written where it is neither."""
    text = text.strip()
    if re.match(r"\d{4}-\d\d", text) or not text:
        return text
    try:
        found = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError):
        return text[:40]
    return _iso(found)


def _iso(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if moment.tzinfo else moment.strftime("%Y-%m-%dT%H:%M:%S")


def _absolute(href: str, base: str) -> str:
    try:
        return parse(href, base).href if href else ""
    except InvalidArguments:
        return ""


def _short(text: str, limit: int) -> str:
    text = " ".join(text.split())
    return text if len(text) <= limit else text[:limit].rsplit(" ", 1)[0] + " …"
