"""Text that has the colour of what is behind it, as far as the page itself says. Pure: asks the sheet, changes nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator

from selectolax.lexbor import LexborNode

from cormorant.extract.html import styles
from cormorant.extract.html.cascade import Sheet
from cormorant.extract.instructions import instructs

COLOURED_MAX = 500
_WHITE = (255, 255, 255)
_UNSAID = (-999, -999, -999)  # of no colour at all: nothing on the page says what is behind a text
_INKS = frozenset({"color", "background", "background-color", "background-image", "background-clip", "-webkit-background-clip"})
_OWN_COLOUR = "[style*='color' i], font[color], [class*='color' i]"
_TEXT_COLOUR = "[style*='color' i], font[color], body[text]"


def unreadable(root: LexborNode, sheet: Sheet) -> Iterator[LexborNode]:
    """Elements whose text has the colour of what is behind it, as far as the page itself says."""
    inked = root.css(_TEXT_COLOUR)
    ruled = sheet.coloured(sheet.backgrounds() | {_WHITE}) if sheet.is_small else []
    plain = bool(inked or ruled) and sheet.is_small and root.parser.css_first("link[rel~='stylesheet' i]") is None
    inks = _Inks(sheet)
    for node in [*inked[:COLOURED_MAX], *ruled]:
        given = inks.of(node)
        ink = styles.colour(given.get("color") or (node.attributes.get("color") or "").lower())
        if (
            ink is None
            or node.tag in ("html", "body")
            or "text" in given.get("background-clip", "") + given.get("-webkit-background-clip", "")
        ):
            continue
        paper = inks.behind(node)
        if not styles.same(ink, _WHITE if paper == _UNSAID else paper):
            continue
        if paper == _UNSAID and not plain and not instructs(node.text()):
            continue  # a sheet that was not fetched may say what is behind it
        if all(inner.mem_id == node.mem_id for inner in node.css(_OWN_COLOUR)):
            yield node  # else what stands inside has a colour of its own, known here or not


class _Inks:
    """What is declared of an element's colours, asked once for each: text after text stands on the same paper."""

    def __init__(self, sheet: Sheet) -> None:
        self._sheet = sheet
        self._known: dict[int, dict[str, str]] = {}
        self._papers: dict[int, styles.Colour | None] = {}

    def of(self, node: LexborNode) -> dict[str, str]:
        if (given := self._known.get(node.mem_id)) is None:
            given = self._sheet.of(node, _INKS) if self._sheet.is_small else styles.declarations(node.attributes.get("style") or "")[0]
            self._known[node.mem_id] = given
        return given

    def behind(self, node: LexborNode) -> styles.Colour | None:
        """The colour behind an element, of the nearest that declares one; None for a picture, `_UNSAID` where nothing does."""
        above: list[int] = []
        found: styles.Colour | None = _UNSAID
        at: LexborNode | None = node
        while at is not None and at.is_element_node:
            key = at.mem_id
            found = self._papers[key] if key in self._papers else self._own_paper(at)
            above.append(key)
            if key in self._papers or found != _UNSAID:
                break
            at = at.parent
        self._papers.update(dict.fromkeys(above, found))
        return found

    def _own_paper(self, node: LexborNode) -> styles.Colour | None:
        given = self.of(node)
        if any(name.startswith("background") for name in given):
            found = styles.background(given)
            transparent = given.get("background-color", given.get("background")) in ("transparent", "none", "inherit", "initial")
            if found is not None or not transparent:
                return found
        attributes = node.attributes
        if attributes.get("background"):
            return None
        if bg := (attributes.get("bgcolor") or "").lower():
            return styles.colour(bg if bg.startswith("#") or not re.fullmatch(r"[0-9a-f]{6}", bg) else f"#{bg}")
        return _UNSAID
