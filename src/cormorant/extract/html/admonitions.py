"""Boxes that set a note, a tip or a warning apart, as the generators of documentation write them. Pure."""

from __future__ import annotations

import re

from selectolax.lexbor import LexborNode

_KINDS = "note|info|tip|hint|warning|warn|danger|caution|important|error|success|question|example|abstract|bug|attention|seealso|deprecated"
_NAMED = re.compile(
    r"(?:^|\s)(?:(?:theme-|md-|markdown-|docs?-|rst-|nextra-)?"
    r"(?:admonition(?:block)?|callout|alert|notice|hint|custom-block|message-box|infobox-note|notecard|starlight-aside"
    r"|confluence-information-macro|awsdocs-note)"
    r"(?:[-_]{1,2}(?:block|box|note|info|tip|hint|warning|warn|danger|caution|important|error|success|secondary|primary))*)(?:$|\s)",
    re.I,
)
_KIND = re.compile(rf"(?:^|(?<=[\s_-]))(?:{_KINDS})(?=$|[\s_-])", re.I)
_ALONE = re.compile(r"\s*(?:note|tip|warning|warn|caution|danger|important)\s*", re.I)  # a class like `info` alone is any box at all
_TITLE = re.compile(r"title|heading|label|header", re.I)
_TYPES = ("data-callout-type", "data-admonition-type")


def kind_of(node: LexborNode) -> str | None:
    """What kind of box this is, "" where it doesn't say; `None` where it is no such box."""
    attributes = node.attributes
    names = attributes.get("class") or ""
    if not names:
        return None
    if node.tag == "details":  # a fold that is coloured like a box is still a fold (Docusaurus sets all of them as `alert`)
        found = [kind for kind in _KIND.findall(names) if kind in names.split()] if "alert" not in names else []
        return found[0] if found else None
    if node.tag != "p" and _NAMED.search(names):
        kinds = [*filter(None, (attributes.get(name) for name in _TYPES)), *_KIND.findall(names)]
        # GitBook's boxes are `hint hint-warning`: the name of the box is the least telling of its words.
        return next((kind for kind in kinds if kind.lower() != "hint"), kinds[0] if kinds else "")
    return names.strip() if node.tag in ("div", "aside", "p") and _ALONE.fullmatch(names) else None


def is_titled(node: LexborNode) -> bool:
    """Whether a box begins with an element that is named as its title."""
    for _ in range(3):
        first = next((child for child in node.iter() if child.tag not in ("svg", "i", "img", "button")), None)
        if first is None:
            return False
        if first.tag == "summary" or _TITLE.search(first.attributes.get("class") or ""):
            return True
        node = first
    return False
