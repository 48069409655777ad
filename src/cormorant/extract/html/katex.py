"""KaTeX's drawing back to TeX, for a page that kept nothing but the drawing (`output: "html"`). Pure.

Letters in order, with what KaTeX stacks: scripts, fractions and roots. Everything else is read as its text.
"""

from __future__ import annotations

from selectolax.lexbor import LexborNode

from cormorant.extract.html.mathml import letters

MAX_DEPTH = 40
_SPACING = frozenset(("strut", "pstrut", "vlist-s", "mspace", "frac-line", "nulldelimiter", "hide-tail"))


def tex_of(drawing: LexborNode) -> str:
    return " ".join(_read(drawing, 0).split())


def _read(node: LexborNode, depth: int) -> str:
    if node.is_text_node:
        return letters((node.text_content or "").replace("\u200b", "").strip())
    names = (node.attributes.get("class") or "").split()
    if depth > MAX_DEPTH or node.tag == "svg" or _SPACING.intersection(names):
        return ""
    if "msupsub" in names:
        stacked = _stacked(node, depth)
        if len(stacked) > 1:
            return f"_{{{stacked[0]}}}^{{{stacked[-1]}}}"
        # A lone subscript hangs below the line, and KaTeX sets a second row to hold it there.
        return f"{'_' if node.css_first('.vlist-t2') is not None else '^'}{{{''.join(stacked)}}}"
    if "mfrac" in names:
        stacked = _stacked(node, depth)
        return f"\\frac{{{stacked[-1]}}}{{{stacked[0]}}}" if len(stacked) > 1 else "".join(stacked)
    if "sqrt" in names:
        return f"\\sqrt{{{''.join(_stacked(node, depth))}}}"
    return "".join(_read(child, depth + 1) for child in node.iter(include_text=True))


def _stacked(node: LexborNode, depth: int) -> list[str]:
    """What stands in one column, from the bottom up, as KaTeX writes it."""
    column = node.css_first(".vlist")
    return [text for row in column.iter() if (text := _read(row, depth + 1).strip())] if column is not None else []
