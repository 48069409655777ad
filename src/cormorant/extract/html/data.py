"""Data a page carries in scripts: JSON-LD, and the state a framework left for its own start. Pure: reads the tree."""

from __future__ import annotations

import json
import re
from typing import Any

from selectolax.lexbor import LexborHTMLParser

MAX_CHARS = 2_000_000
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
