"""Chosen passages as one Markdown text: in page order, under their headings, with a mark where something is missing. Pure."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from cormorant.blocks import Block, closing, opening
from cormorant.passages import Passage
from cormorant.view.outline import Page

GAP = "…"


def joined(page: Page, found: Sequence[Passage]) -> str:
    """The passages of a page, tables with their header, fences closed."""
    ends = [block.end for block in page.blocks]
    text = ""
    last: Block | None = None
    at = 0
    for passage in found:
        n = bisect_right(ends, passage.start)
        block = page.blocks[n] if n < len(ends) else None
        same = block is not None and block is last
        gap = bool(page.text[at : passage.start].strip())
        if same and block and block.head:
            text = text.removesuffix(closing(block, at) if at < block.end else "") + ("" if block.kind == "table" else f"{GAP}\n")
        elif same:
            text += f" {GAP} " if gap else "\n"
        else:
            text += (f"\n\n{GAP}\n\n" if at else f"{GAP}\n\n") if gap else "\n\n" if text else ""
            text += opening(page.text, block, passage.start) if block else ""
        text += passage.text
        at = passage.end
        n = bisect_right(ends, max(passage.start, at - 1))
        last = page.blocks[n] if n < len(ends) else None
        if last and last.head and at > last.start:
            text += "\n" if not text.endswith("\n") else ""
            text += closing(last, at) if page.text[at : last.end].strip() else ""
    return text + (f"\n\n{GAP}" if page.text[at:].strip() and text else "")
