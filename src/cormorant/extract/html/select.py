"""Main content: which blocks of a page are what the page is for. Changes the tree in place, touches nothing else.

The page is cut into blocks, each gets a probability of being main content, and the blocks to keep are chosen for the page as
a whole: whole tables and code, headings with what they own, no holes in running text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cormorant.extract.html.blocks import Page, cut, prune
from cormorant.extract.html.features import Facts, Table
from cormorant.extract.html.forest import Model, load


@dataclass(frozen=True, slots=True)
class Selection:
    """What was kept. `confidence` is about 0 for a page with no main content and near 1 for a plain article."""

    coverage: float  # share of the visible words that were kept
    confidence: float
    kept_words: int
    words: int


def select(root: Any, *, title: str = "", url: str = "", model: Model | None = None) -> Selection:
    """Removes from `root`, a selectolax <body> without scripts, styles and hidden text, every block that is not main content.

    `model` is for measuring: another one than the one that is shipped.
    """
    page = cut(root)
    words = sum(block.words for block in page.blocks)
    if not words:
        return Selection(0.0, 0.0, 0, 0)
    model = model or load()
    table = Table(page, Facts(title, url, _kind(root)), model.lexicon)
    chances = model.chances(table)
    kept = decide(table, chances)
    prune(page, kept)
    kept_words = sum(block.words for block, keep in zip(page.blocks, kept, strict=True) if keep)
    confidence = float((chances * table.block["words"])[table.np.array(kept, dtype=bool)].sum()) / max(1, kept_words)
    return Selection(kept_words / words, confidence if kept_words else 0.0, kept_words, words)


def _kind(root: Any) -> str:
    """og:type, where the head is still there."""
    html = root.parent
    meta = html.css_first('meta[property="og:type"]') if html is not None else None
    return (meta.attributes.get("content") or "") if meta is not None else ""


def decide(table: Table, chances: Any) -> list[bool]:
    """Which blocks stay, given each one's probability."""
    np, page = table.np, table.page
    words = table.block["words"].astype(np.float64)
    whole = _whole(table)
    for first, end in whole:  # a table or a code block stays or goes as one
        weight = np.maximum(words[first:end], 0.2)
        chances[first:end] = (chances[first:end] * weight).sum() / weight.sum()
    order = np.argsort(-chances, kind="stable")
    taken = np.cumsum(words[order])
    right = np.cumsum((words * chances)[order])
    expected = 2 * right / (taken + right[-1] + 1e-9)
    threshold = float(chances[order[int(np.argmax(expected))]])
    kept = chances >= threshold
    _headings(table, chances, kept)
    _wordless(page, kept)
    for i, block in enumerate(page.blocks):
        if block.forced:
            kept[i] = False
    return [bool(keep) for keep in kept]


def _whole(table: Table) -> list[tuple[int, int]]:
    """Ranges of blocks that stay together: data tables and preformatted text."""
    found: list[tuple[int, int]] = []
    for e in table.page.elements:
        if e.tag == "pre" or (e.tag == "table" and is_data_table(table, e.first, e.end)):
            if e.end > e.first and not (found and e.first < found[-1][1]):
                found.append((e.first, e.end))
    return found


def is_data_table(table: Table, first: int, end: int) -> bool:
    """Whether a table holds data (short cells in several rows) and not the layout of a page."""
    np = table.np
    owners = np.unique(table.owner[first:end])
    tags = [table.page.elements[int(o)].tag for o in owners]
    cells = sum(tag in ("td", "th") for tag in tags)
    words = table.block["words"][first:end]
    return (
        cells >= 4
        and float(np.median(words)) <= 15
        and float(words.max(initial=0)) <= 120
        and not any(tag in ("h1", "h2", "nav", "form") for tag in tags)
    )


def _headings(table: Table, chances: Any, kept: Any) -> None:
    """A heading stays when something of its own section stays, and goes when all of that goes."""
    np = table.np
    levels = table.level
    at = np.flatnonzero(levels > 0)
    for number, i in enumerate(at):
        end = next((int(j) for j in at[number + 1 :] if levels[j] <= levels[i]), table.n)
        nearby = kept[i + 1 : min(end, i + 4)]
        if not kept[i] and nearby[:1].any() and chances[i] > 0.2:
            kept[i] = True
        elif kept[i] and levels[i] > 1 and end > i + 1 and not kept[i + 1 : end].any() and chances[i] < 0.8:
            kept[i] = False


def _wordless(page: Page, kept: Any) -> None:
    """An image or a lone mark stays where what stands before and after it stays."""
    n = len(page.blocks)
    for i, block in enumerate(page.blocks):
        if block.words == 0:
            before = next((bool(kept[j]) for j in range(i - 1, max(-1, i - 6), -1) if page.blocks[j].words), True)
            after = next((bool(kept[j]) for j in range(i + 1, min(n, i + 6)) if page.blocks[j].words), True)
            kept[i] = before and after
