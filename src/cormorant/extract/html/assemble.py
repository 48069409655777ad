"""Blocks of Markdown that are finished, and how they stand below one another. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

_INTERRUPTS = re.compile(r"(?:[-*+]|1[.)]) ")  # another number may not follow a paragraph without a blank line (CommonMark 5.3)
_LATER_LINES = re.compile(r"\n(?=[^\n])")


@dataclass(slots=True)
class Block:
    """`kind`: p, heading, code, list, item, quote, table, rule, note. `raw`: the code inside a fence."""

    kind: str
    text: str
    raw: str = ""


def joined(blocks: list[Block]) -> str:
    """Blocks one below the other, a blank line between, none between items of one list."""
    out: list[str] = []
    before = ""
    for block in blocks:
        if not block.text:
            continue
        if out:
            out.append("\n" if before == "item" and block.kind == "item" else "\n\n")
        out.append(block.text)
        before = block.kind
    return "".join(out)


def item(blocks: list[Block], mark: str) -> str:
    """A list item: the mark, then its blocks indented to the mark's width; a list inside follows without a blank line."""
    pad = " " * len(mark)
    out: list[str] = []
    before = ""
    for block in blocks:
        if not block.text:
            continue
        if out:
            tight = (
                block.kind in ("list", "item") and before in ("p", "heading", "list", "item") and _INTERRUPTS.match(block.text) is not None
            )
            out.append("\n" if tight else "\n\n")
        out.append(block.text)
        before = block.kind
    return mark + _LATER_LINES.sub("\n" + pad, "".join(out)) if out else ""


def quoted(text: str) -> str:
    """Every line behind `>`."""
    return "\n".join(f"> {line}" if line else ">" for line in text.split("\n"))
