"""Main content: which blocks of a page are what the page is for. Changes the tree in place, touches nothing else.

The page is cut into blocks, each gets a probability of being main content, and the blocks to keep are chosen for the page as
a whole: whole tables and code, headings with what they own, no holes in running text.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice, takewhile
from typing import Any

from cormorant.extract.html.blocks import Page, cut, prune
from cormorant.extract.html.features import Facts, Table
from cormorant.extract.html.forest import Model, load

LEAST, MOST = 0.2, 0.42  # bounds of the threshold, the best on sites not seen
HEADING_LEAST, HEADING_SURE = 0.15, 0.8
GAP_SURE, GAP_WORDS = 0.8, 40
LEAST_BESIDE = 15  # words that must stand beside a consent text for it to go
_LAYOUT_TAGS = frozenset({"h1", "h2", "nav", "form"})
_ACCEPT = re.compile(
    r"(?:i )?(?:accept|agree|allow|reject|decline|refuse|akzeptieren|zustimmen|accepter|aceptar|accetta)\b"
    r"|(?:alle?s? )?(?:akzeptieren|zulassen)",
    re.I,
)
_CONSENT = re.compile(
    r"cookies?|\bconsent|gdpr|legitimate interest|\bpartners?\b|your privacy|personal data|your device|einwilligung|datenschutz"
    r"|vie privée|privacidad",
    re.I,
)


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
    if sheets := _consent(page):  # gone before anything is compared with it
        prune(page, [not any(first <= i < end for first, end in sheets) for i in range(len(page.blocks))])
        page = cut(root)
    model = model or load()
    table = Table(page, Facts(title, url, kind_of(root)), model.lexicon)
    chances = model.chances(table)
    kept = decide(table, chances)
    prune(page, kept)
    kept_words = sum(block.words for block, keep in zip(page.blocks, kept, strict=True) if keep)
    confidence = float((chances * table.block["words"])[table.np.array(kept, dtype=bool)].sum()) / max(1, kept_words)
    return Selection(kept_words / words, confidence if kept_words else 0.0, kept_words, words)


def kind_of(root: Any) -> str:
    """The og:type of the page, where the head is still there."""
    html = root.parent
    meta = html.css_first('meta[property="og:type"]') if html is not None else None
    return (meta.attributes.get("content") or "") if meta is not None else ""


def decide(table: Table, chances: Any) -> list[bool]:
    """Which blocks stay, given each one's probability."""
    np, page = table.np, table.page
    words = table.block["words"].astype(np.float64)
    chances = chances.copy()
    for first, end in _whole(table):
        weight = np.maximum(words[first:end], 0.2)
        chances[first:end] = (chances[first:end] * weight).sum() / weight.sum()
    kept = chances >= threshold(chances, words)
    _headings(table, chances, kept)
    _gaps(table, chances, kept)
    _wordless(page, kept)
    return [bool(keep) and not block.forced for keep, block in zip(kept, page.blocks, strict=True)]


def threshold(chances: Any, words: Any) -> float:
    """From which probability blocks are kept, so that the F1 to be expected of the page's words is highest.

    Blocks of a page are right or wrong together, more than their chances say; so the best guess is kept within bounds.
    """
    import numpy as np

    order = np.argsort(-chances, kind="stable")
    taken = np.cumsum(words[order])
    right = np.cumsum((words * chances)[order])
    expected = 2 * right / (taken + right[-1] + 1e-9)
    return min(MOST, max(LEAST, float(chances[order[int(np.argmax(expected))]])))


def _whole(table: Table) -> list[tuple[int, int]]:
    """Ranges of blocks that stay or go as one: data tables and preformatted text."""
    found: list[tuple[int, int]] = []
    holds_data = _data_tables(table)
    for e in table.page.elements:
        if e.end <= e.first or (found and e.first < found[-1][1]):
            continue
        if e.tag == "pre" or (e.tag == "table" and holds_data(e.first, e.end)):
            found.append((e.first, e.end))
    return found


def _data_tables(table: Table) -> Callable[[int, int], bool]:
    """Says of a range of blocks, a table's, whether it holds data (short cells in several rows) and not the layout of a page.

    Cells and layout are counted once for the whole page: tables stand in tables, thousands deep where somebody means harm.
    """
    np, elements, owner = table.np, table.page.elements, table.owner
    first_of_owner = np.zeros(len(owner), dtype=bool)
    first_of_owner[np.unique(owner, return_index=True)[1]] = True
    cell = np.array([e.tag in ("td", "th") for e in elements], dtype=bool)[owner]
    layout = np.array([e.tag in _LAYOUT_TAGS for e in elements], dtype=bool)[owner]
    cells, layouts = (np.concatenate(([0], np.cumsum(counted))) for counted in (cell & first_of_owner, layout))

    def holds_data(first: int, end: int) -> bool:
        if cells[end] - cells[first] < 4 or layouts[end] > layouts[first]:
            return False
        words = table.block["words"][first:end]
        return bool(np.median(words) <= 15 and words.max(initial=0) <= 120)

    return holds_data


def _consent(page: Page) -> list[tuple[int, int]]:
    """Ranges of blocks that ask for consent: they speak of cookies or partners and end in a button to accept.

    However long they are and whatever they are called: next to a short story they would win on every other count.
    """
    found: list[tuple[int, int]] = []
    total = sum(block.words for block in page.blocks)
    asking = (block for block in page.blocks if block.words <= 6 and _ACCEPT.match(block.text))
    for block in islice(asking, 20):
        at = block.owner
        while at > 0:
            e = page.elements[at]
            text = " ".join(one.text for one in page.blocks[e.first : e.end][:60])
            if len({match.group().lower() for match in _CONSENT.finditer(text)}) >= 2:
                inside = sum(one.words for one in page.blocks[e.first : e.end])
                if total - inside >= LEAST_BESIDE and not _frames_content(page, at):
                    found.append((e.first, e.end))
                break
            at = e.parent
    return found


def _frames_content(page: Page, at: int) -> bool:
    """Whether an element is, or holds, what only content has: a main part, an article, a first heading."""
    depth = page.elements[at].depth
    within = takewhile(lambda one: one.depth > depth, islice(page.elements, at + 1, None))
    return any(one.tag in ("main", "article", "h1") for one in within) or page.elements[at].tag in ("main", "article", "body")


def _headings(table: Table, chances: Any, kept: Any) -> None:
    """A heading stays when what comes right under it stays (the page's own heading whatever its chances), and goes when
    nothing of its section does."""
    np = table.np
    levels = table.level
    count = np.concatenate(([0], np.cumsum(kept & (levels == 0))))
    ends: dict[int, int] = {}
    open_ones: list[int] = []
    for i in np.flatnonzero(levels > 0).tolist():
        while open_ones and levels[open_ones[-1]] >= levels[i]:
            ends[open_ones.pop()] = i
        open_ones.append(i)
    for i in reversed(np.flatnonzero(levels > 0).tolist()):  # an inner heading is settled before the one around it
        end = ends.get(i, table.n)
        if not kept[i] and i + 1 < end and kept[i + 1] and (chances[i] > HEADING_LEAST or levels[i] == 1):
            kept[i] = True
        elif kept[i] and levels[i] > 1 and end > i + 1 and count[end] == count[i + 1] and chances[i] < HEADING_SURE:
            kept[i] = False


def _gaps(table: Table, chances: Any, kept: Any) -> None:
    """A few words between two sure paragraphs of one parent stay, unless they are links: no name of theirs outweighs where they stand."""
    np, b = table.np, table.block
    at = np.flatnonzero(b["words"] > 0)
    if len(at) < 3:
        return
    before, here, after = at[:-2], at[1:-1], at[2:]
    around = table.parent[table.owner]
    sure = kept & (chances >= GAP_SURE) & (b["prose"] > 0)
    plain = (b["words"] <= GAP_WORDS) & (b["link_share"] <= 0.3)
    together = (around[before] == around[here]) & (around[here] == around[after])
    kept[here] |= sure[before] & sure[after] & plain[here] & together


def _wordless(page: Page, kept: Any) -> None:
    """An image or a lone mark stays where the text before and after it stays."""
    before = True
    waiting: list[int] = []
    for i, block in enumerate(page.blocks):
        if block.words == 0:
            waiting.append(i)
            continue
        after = bool(kept[i])
        for at in waiting:
            kept[at] = before and after
        waiting.clear()
        before = after
    for at in waiting:
        kept[at] = before
