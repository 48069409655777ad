"""React's flight stream, as Next writes it into a page: rows of elements that refer to one another, to HTML. Pure."""

from __future__ import annotations

import html
import json
import re
from contextlib import suppress
from typing import Any

from selectolax.lexbor import LexborHTMLParser

MAX_CHARS = 8_000_000
MAX_DEPTH = 200
MAX_ELEMENTS = 100_000

_CALL = re.compile(r"(?:self|window)\.__next_f\.push\(|\(self\.__next_f\s*=\s*self\.__next_f\s*\|\|\s*\[\]\)\.push\(")
_ROW = re.compile(r"([0-9a-f]*):(?:T([0-9a-f]+),)?")
_REFERENCE = re.compile(r"\$[L@]?([0-9a-f]+)$")
_VOID = frozenset(["br", "img", "hr", "wbr"])
_DROPPED = frozenset(["script", "style", "link", "meta", "title", "head", "svg", "noscript", "template"])
_KEPT = ("href", "src", "alt", "colSpan", "rowSpan", "className", "id", "hidden", "start", "srcSet", "dateTime")
_NAMES = {"className": "class", "colSpan": "colspan", "rowSpan": "rowspan", "srcSet": "srcset", "dateTime": "datetime"}


def html_of(tree: LexborHTMLParser) -> str:
    """The HTML of the stream's elements; "" where the page has no stream."""
    rows = _rows(_stream(tree))
    if not rows:
        return ""
    writer = _Writer(rows)
    referred = {key for text in rows.values() for key in _references(text, 0)}
    roots = [key for key in rows if key not in referred] or list(rows)[:1]
    return "".join(writer.write(rows[key], 0) for key in roots)


def _stream(tree: LexborHTMLParser) -> str:
    pieces: list[str] = []
    size = 0
    for node in tree.css("script:not([src])"):
        text = node.text() or ""
        found = _CALL.search(text)
        if found is None:
            continue
        try:
            pushed, _ = json.JSONDecoder(strict=False).raw_decode(text, found.end())
        except (ValueError, RecursionError):
            continue
        if isinstance(pushed, list) and len(pushed) > 1 and pushed[0] == 1 and isinstance(pushed[1], str):
            size += len(pushed[1])
            if size > MAX_CHARS:
                break
            pieces.append(pushed[1])
    return "".join(pieces)


def _rows(stream: str) -> dict[str, Any]:
    """Rows by their id: JSON to the line's end, or a text whose length in bytes is given."""
    rows: dict[str, Any] = {}
    raw = stream.encode("utf-8", "replace")
    at = 0
    while at < len(raw):
        found = _ROW.match(raw[at : at + 40].decode("ascii", "replace"))
        if found is None:
            at = _next_line(raw, at)
            continue
        start = at + found.end()
        if found[2]:
            end = start + int(found[2], 16)
            rows[found[1]] = raw[start:end].decode("utf-8", "replace")
            at = end
            continue
        end = raw.find(b"\n", start)
        end = len(raw) if end < 0 else end
        line = raw[start:end].decode("utf-8", "replace")
        if line[:1] in '[{"':
            with suppress(ValueError, RecursionError):
                rows[found[1]] = json.loads(line)
        at = end + 1
    return rows


def _next_line(raw: bytes, at: int) -> int:
    end = raw.find(b"\n", at)
    return len(raw) if end < 0 else end + 1


def _references(value: Any, depth: int) -> set[str]:
    if depth > MAX_DEPTH:
        return set()
    if isinstance(value, str):
        found = _REFERENCE.match(value)
        return {found[1]} if found else set()
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return {key for one in inner for key in _references(one, depth + 1)}


class _Writer:
    """Elements to HTML, each row once: a page's rows may refer in circles."""

    def __init__(self, rows: dict[str, Any]) -> None:
        self.rows = rows
        self.open: set[str] = set()
        self.left = MAX_ELEMENTS

    def write(self, value: Any, depth: int) -> str:
        self.left -= 1
        if depth > MAX_DEPTH or self.left < 0:
            return ""
        if isinstance(value, str):
            return self._text(value, depth)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return str(value)
        if isinstance(value, list):
            if len(value) >= 4 and value[0] == "$" and isinstance(value[1], str):
                return self._element(value[1], value[3], depth)
            return "".join(self.write(one, depth + 1) for one in value)
        if isinstance(value, dict):
            return self.write(value.get("children"), depth + 1)
        return ""

    def _text(self, value: str, depth: int) -> str:
        if not value.startswith("$"):
            return html.escape(value, quote=False)
        if value.startswith("$$"):
            return html.escape(value[1:], quote=False)
        found = _REFERENCE.match(value)
        if found is None or found[1] not in self.rows or found[1] in self.open:
            return ""
        self.open.add(found[1])
        written = self.write(self.rows[found[1]], depth + 1)
        self.open.discard(found[1])
        return written

    def _element(self, tag: str, properties: Any, depth: int) -> str:
        properties = properties if isinstance(properties, dict) else {}
        raw = properties.get("dangerouslySetInnerHTML")
        inner = (
            raw["__html"]
            if isinstance(raw, dict) and isinstance(raw.get("__html"), str)
            else self.write(properties.get("children"), depth + 1)
        )
        if inner.startswith("$") and (found := _REFERENCE.match(inner)) and isinstance(self.rows.get(found[1]), str):
            inner = self.rows[found[1]]
        if not re.fullmatch(r"[a-z][a-z0-9-]*", tag):  # a component of the page's own: what it holds
            return inner
        if tag in _DROPPED:
            return ""
        written = "".join(
            f' {_NAMES.get(name, name)}="{html.escape(str(properties[name]))}"'
            for name in _KEPT
            if isinstance(properties.get(name), (str, int))
        )
        return f"<{tag}{written}>" if tag in _VOID else f"<{tag}{written}>{inner}</{tag}>"
