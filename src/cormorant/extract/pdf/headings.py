"""What stands above the text of a page: running heads, page and line numbers, which go, and headings, which stay. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from cormorant.extract.pdf.layout import Block, Page, Segment

LINE_NUMBERS_MIN = 8
HEADING_RATIO = 1.14
HEADING_MAX_CHARS = 160
OUTLINED_SHARE = 0.3  # of the pages have a bookmark: below it an outline doesn't name what stands on the pages
NEAR_PT = 40.0  # how far a bookmark may point from the heading it names
_PAGE_NUMBER = re.compile(
    r"^\W*(?:(?:page|seite|p\.?|стр\.?|第)\s*)?(?:\d{1,4}|[ivxlc]{1,6})(?:\s*(?:/|of|von|de|sur|из)\s*\d{1,4})?(?:\s*页)?\W*$", re.I
)


def running(pages: Sequence[tuple[float, list[Segment]]]) -> list[set[int]]:
    """For each page, the ids of the segments that are running heads, feet or page numbers."""
    seen: Counter[str] = Counter()
    edges: list[list[Segment]] = []
    for height, segments in pages:
        edge = [s for s in segments if s.middle < 0.1 * height or s.middle > 0.9 * height]
        edges.append(edge)
        seen.update({_pattern(s.text) for s in edge})
    wanted = max(3, 0.4 * len(pages))
    slots: Counter[tuple[int, int]] = Counter()
    for edge in edges:
        slots.update({_slot(s) for s in edge})
    usual = {slot for slot, count in slots.items() if count >= max(4, 0.5 * len(pages))}
    numbers = sum(any(_PAGE_NUMBER.match(s.text) for s in edge) for edge in edges) >= 2
    return [
        {
            id(s)
            for s in edge
            if seen[_pattern(s.text)] >= wanted
            or (_PAGE_NUMBER.match(s.text) and (numbers or len(pages) == 1) and len(s.text) < 16)
            or (seen[_pattern(s.text)] > 1 and _slot(s) in usual and _stands_alone(s, segments))
        }
        | _line_numbers(segments)
        for edge, (_, segments) in zip(edges, pages, strict=True)
    ]


def _slot(segment: Segment) -> tuple[int, int]:
    """Where on the page, and how large: what a running head that changes its words keeps."""
    return round(segment.middle / 4), round(segment.size)


def _stands_alone(segment: Segment, others: list[Segment]) -> bool:
    """Whether more than a line of nothing parts a line at the page's edge from the text."""
    below = [s.y0 - segment.y1 for s in others if s.middle > segment.y1]
    above = [segment.y0 - s.y1 for s in others if s.middle < segment.y0]
    return min(min(below, default=1e9), min(above, default=1e9)) > 0.9 * segment.size


def _line_numbers(segments: list[Segment]) -> set[int]:
    """The ids of numbers that count the lines of a manuscript, in a margin of their own."""
    numbers = [s for s in segments if s.text.isdigit() and len(s.text) < 5]
    text = [s for s in segments if not s.text.isdigit()]
    if len(numbers) < LINE_NUMBERS_MIN or not text or median(len(s.text) for s in text) < 30:
        return set()
    left, right = min(s.x0 for s in text), max(s.x1 for s in text)
    for margin in ([s for s in numbers if s.x1 < left], [s for s in numbers if s.x0 > right]):
        counted = sorted(margin, key=lambda s: s.middle)
        steps = [int(b.text) - int(a.text) for a, b in pairwise(counted)]
        if len(counted) >= LINE_NUMBERS_MIN and sum(step == steps[0] for step in steps) > 0.8 * len(steps) and steps[0] in (1, 5, 10):
            return {id(s) for s in counted}
    return set()


def _pattern(text: str) -> str:
    return re.sub(r"\d+", "#", " ".join(text.lower().split()))


def settle_headings(pages: list[Page], outline: dict[int, list[tuple[int, str, float | None]]]) -> None:
    """Marks headings: by the document's outline, and where it has none, or names a few parts of many pages (slides under
    their chapters), by size and weight of the type."""
    for page in pages:
        for level, title, y in outline.get(page.number, []):
            _outline_heading(page, level, title, y)
    if len(outline) >= OUTLINED_SHARE * len(pages) and outline:
        return
    above = min(3, 1 + max((level for marks in outline.values() for level, _, _ in marks), default=-1))
    sizes: Counter[float] = Counter()
    for page in pages:
        for block in page.blocks:
            sizes[round(block.size * 2) / 2] += len(block.text)
    if not sizes:
        return
    body = sizes.most_common(1)[0][0]
    heads = [block for page in pages for block in page.blocks if _looks_like_heading(block, body)]
    ranks = sorted({round(block.size) for block in heads if block.size >= HEADING_RATIO * body}, reverse=True)[:4]
    for block in heads:
        larger = block.size >= HEADING_RATIO * body
        block.kind = "heading"
        block.level = above + (
            next((n for n, rank in enumerate(ranks, 1) if round(block.size) >= rank), len(ranks) or 1) if larger else min(len(ranks) + 1, 5)
        )
        block.level = min(6, block.level)


def _looks_like_heading(block: Block, body: float) -> bool:
    if block.kind != "paragraph" or block.rows > 3 or len(block.text) > HEADING_MAX_CHARS or not re.search(r"[^\W\d_]{2}", block.text):
        return False
    if block.size >= HEADING_RATIO * body:
        return True
    return (
        block.bold
        and block.rows == 1
        and len(block.text) < 90
        and not block.text.endswith((".", ",", ";", ":"))
        and block.size >= 0.95 * body
    )


def _outline_heading(page: Page, level: int, title: str, y: float | None) -> None:
    wanted = _letters(title)
    if not wanted:
        return
    for block in page.blocks:
        held = _letters(block.text)
        if block.kind in ("paragraph", "item") and (
            held == wanted or (held.endswith(wanted) and len(held) - len(wanted) <= 8 and len(wanted) > 3)
        ):
            block.kind, block.level = "heading", min(6, level + 1)
            block.text = block.text.removeprefix("- ")
            return
    words = r"\s+".join(map(re.escape, title.split()))
    begins = re.compile(rf"(?:- )?((?:[\dA-Z]{{1,3}}(?:\.\d{{1,3}})*\.?\s+)?{words})[.:]?(?:\s+|$)", re.I)
    for n, block in enumerate(page.blocks):
        if block.kind in ("paragraph", "item") and (y is None or abs(block.y0 - y) < NEAR_PT) and (found := begins.match(block.text)):
            block.text = block.text[found.end() :]  # the heading runs on into its paragraph
            page.blocks.insert(n, Block(found[1], "heading", block.y0, level=min(6, level + 1)))
            return
    at = next((n for n, block in enumerate(page.blocks) if y is not None and block.y0 >= y - 2), 0)
    page.blocks.insert(at, Block(" ".join(title.split()), "heading", y or 0.0, level=min(6, level + 1)))


def _letters(text: str) -> str:
    return "".join(char for char in text.lower() if char.isalnum())
