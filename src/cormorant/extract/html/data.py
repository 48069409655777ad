"""Data a page carries in scripts: JSON-LD, and the state a framework left for its own start. Pure: reads the tree."""

from __future__ import annotations

import json
import re
from typing import Any

from selectolax.lexbor import LexborHTMLParser, LexborNode

MAX_CHARS = 2_000_000
MAX_KEPT_CHARS = 200_000  # more JSON-LD than that is a catalogue, and no part of a page's description
MAX_PROPERTIES = 2_000
_COMMENT = re.compile(r"^\s*(?:<!--|//\s*<!\[CDATA\[|/\*.*?\*/|<!\[CDATA\[)|(?:-->|//\s*\]\]>|\]\]>)\s*$")


def linked(tree: LexborHTMLParser) -> list[dict[str, Any]]:
    """The JSON-LD objects of a page, graphs and lists laid flat."""
    found: list[dict[str, Any]] = []
    for node in tree.css('script[type="application/ld+json" i]'):
        text = node.text() or ""
        if len(text) > MAX_CHARS:
            continue
        found += _flat(parsed(_COMMENT.sub("", text)), 0)
    return found


def parsed(text: str) -> Any:
    """JSON as pages write it: raw line breaks in strings, a semicolon behind; None when it is none."""
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        pass
    try:
        return json.loads(text.strip().rstrip(";"), strict=False)
    except (ValueError, RecursionError):
        return None


def _flat(value: Any, depth: int) -> list[dict[str, Any]]:
    if depth > 3:
        return []
    if isinstance(value, list):
        return [one for item in value[:200] for one in _flat(item, depth + 1)]
    if isinstance(value, dict):
        graph = _flat(value.get("@graph"), depth + 1)
        return [value, *graph] if "@type" in value or not graph else graph
    return []


def structured(tree: LexborHTMLParser, entities: list[dict[str, Any]], source: str) -> dict[str, Any]:
    """What the page says in machine-readable form, by vocabulary: `json_ld`, `opengraph`, `dublin_core`, `microdata`."""
    found: dict[str, Any] = {}
    if entities and sum(len(node.text() or "") for node in tree.css('script[type="application/ld+json" i]')) <= MAX_KEPT_CHARS:
        found["json_ld"] = entities
    graph: dict[str, Any] = {}
    dublin: dict[str, Any] = {}
    for node in tree.css("meta[content]"):
        attributes = node.attributes
        name = (attributes.get("property") or attributes.get("name") or "").strip().lower()
        value = " ".join((attributes.get("content") or "").split())
        if not name or not value:
            continue
        if name.startswith(("og:", "article:", "product:", "book:", "profile:", "twitter:")):
            _put(graph, name.removeprefix("og:"), value)
        elif name.startswith(("dc.", "dcterms.", "dc:")):
            _put(dublin, re.split("[.:]", name, maxsplit=1)[1], value)
    if graph:
        found["opengraph"] = graph
    if dublin:
        found["dublin_core"] = dublin
    if "itemscope" in source and (items := _microdata(tree)):
        found["microdata"] = items
    return found


def _put(held: dict[str, Any], name: str, value: Any) -> None:
    """A name that comes again makes a list."""
    if name not in held:
        held[name] = value
    elif isinstance(held[name], list):
        held[name].append(value)
    elif held[name] != value:
        held[name] = [held[name], value]


def _microdata(tree: LexborHTMLParser) -> list[dict[str, Any]]:
    """Items with their properties, nested as the page nests them."""
    items: dict[int, dict[str, Any]] = {}
    tops: list[dict[str, Any]] = []
    for node in {node.mem_id: node for node in tree.css("[itemscope],[itemprop]")[:MAX_PROPERTIES]}.values():
        attributes = node.attributes
        item: dict[str, Any] | None = None
        if "itemscope" in attributes:
            item = items[node.mem_id] = {"type": (attributes.get("itemtype") or "").rpartition("/")[2]}
        holder = _holder(node, items)
        name = (attributes.get("itemprop") or "").strip()
        if name and holder is not None:
            _put(holder, name, item if item is not None else _value(node))
        elif item is not None:
            tops.append(item)
    return tops


def _holder(node: LexborNode, items: dict[int, dict[str, Any]]) -> dict[str, Any] | None:
    parent = node.parent
    for _ in range(60):
        if parent is None:
            return None
        if parent.mem_id in items:
            return items[parent.mem_id]
        parent = parent.parent
    return None


def _value(node: LexborNode) -> str:
    """A property's value: the attribute its element keeps it in (HTML, microdata 5.2.4), or its text."""
    attributes = node.attributes
    for name in ("content", "datetime", "href", "src", "value"):
        if attributes.get(name):
            return str(attributes[name])
    return " ".join(node.text(separator=" ").split())[:2_000]
