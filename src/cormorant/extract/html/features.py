"""A page as arrays: one row per block and per element, and what relates them (groups of like siblings, paths, running sums). Pure.

Plain Python gathers what it must; the rest is numpy over the whole page at once, since every element covers an unbroken range of
blocks. The numbers the forests decide by are made of these arrays, in `columns`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice
from typing import Any

from cormorant.extract.html.blocks import Element, Page
from cormorant.extract.html.lexicon import UNNAMED, Lexicon, text_words

TAGS = tuple(
    str.split(
        "body div section article main p li ul ol dl dt dd table thead tbody tr td th h1 h2 h3 h4 h5 h6 pre blockquote figure figcaption"
        " header footer nav aside form fieldset button details summary address center caption hgroup"
    )
)
TAG_CODE = {tag: code for code, tag in enumerate(TAGS, 1)}
HEADING_LEVEL = {"h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 5}
AROUND = tuple(str.split("nav header footer aside main article form table ul li td dl blockquote"))
AROUND_BIT = {tag: 1 << bit for bit, tag in enumerate(AROUND)}
ROLE_BIT = {
    role: AROUND_BIT[tag]
    for role, tag in {
        "navigation": "nav",
        "menu": "nav",
        "menubar": "nav",
        "main": "main",
        "banner": "header",
        "contentinfo": "footer",
        "complementary": "aside",
        "article": "article",
        "search": "form",
        "form": "form",
    }.items()
}
LOOKED_INTO = 240  # characters; what a longer block is shows in its shape
SHORT = 12  # words up to which a block is short: what it says is looked up word by word
ALIKE = 3  # siblings of one shape that make a group
ABSENT = -1
BLOCK_NUMBERS = tuple(
    str.split("words chars link_share bold_share links images upper ends price date title_share copies nth_copy lexicon text_link prose")
)
SUMMED = ("words", "text_link", "good", "one", "images", "price", "date", "prose")  # the rows of `running` and `inside`
WORDS, LINKED, GOOD, BLOCKS, IMAGES, PRICES, DATES, PROSE = range(len(SUMMED))

_DIGIT = re.compile(r"\d")
_CAPITAL = re.compile(r"[A-ZÀ-ÖØ-ÞА-Я]")
_CAPITALS = bytes(range(ord("A"), ord("Z") + 1))
_PRICE = re.compile(r"[$€£¥₹]\s?\d|\d\s?(?:[$€£]|eur\b|usd\b)", re.I)
_DATE = re.compile(
    r"\b(?:19|20)\d\d\b|\b\d{1,2}[./-]\d{1,2}[./-]\d{2,4}\b|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]* \d"
    r"|\bago\b|\d\d?:\d\d",
    re.I,
)
_ENDS = (".", "!", "?", "。", "！", "？", "…", '."', ".”", ".)")
_MIX = 0x9E3779B97F4A7C15  # odd, far from a power of two: four shapes in a row make one number


@dataclass(frozen=True, slots=True)
class Facts:
    """What a page is beside its blocks."""

    title: str = ""
    url: str = ""
    kind: str = ""  # og:type, where the page says one


def _capitals(text: str) -> int:
    if text.isascii():
        return len(text) - len(text.encode().translate(None, _CAPITALS))
    return len(_CAPITAL.findall(text))


def _block_numbers(page: Page, title: str, lexicon: Lexicon) -> list[float]:
    """BLOCK_NUMBERS of every block, one after the other: thousands of small tuples would keep the garbage collector busy."""
    wanted = frozenset(text_words(title))
    copies: dict[str, int] = {}
    for block in page.blocks:
        copies[block.text] = copies.get(block.text, 0) + 1
    seen: dict[str, int] = {}
    flat: list[float] = []
    for block in page.blocks:
        text, words, linked = block.text, block.words, block.link_words
        size = len(text) or 1
        nth = seen[text] = seen.get(text, 0) + 1
        price = date = False
        titled = score = 0.0
        upper = 0.03
        if size < LOOKED_INTO:
            upper = _capitals(text) / size
            if _DIGIT.search(text):
                price = _PRICE.search(text) is not None
                date = _DATE.search(text) is not None
            if words <= SHORT:
                own = text_words(text)
                score = lexicon.of_words(own)
                titled = len(wanted.intersection(own)) / max(1, min(len(wanted), len(own)))
        n = words or 1
        bold = min(1.0, block.bold_words / n)
        ends, prose = text.endswith(_ENDS), words >= 10 and linked < 0.4 * n
        flat += (words, size / n, linked / n, bold, block.links, block.images, upper, ends)
        flat += (price, date, titled, copies[text], nth, score, linked, prose)
    return flat


class Table:
    """The page as arrays. `block` has one row for each of BLOCK_NUMBERS; what is said of elements has one entry per element."""

    def __init__(self, page: Page, facts: Facts, lexicon: Lexicon) -> None:
        import numpy as np

        self.np, self.page, self.facts, self.n = np, page, facts, len(page.blocks)
        flat = _block_numbers(page, facts.title, lexicon)
        rows = np.array(flat, dtype=np.float32).reshape(self.n, len(BLOCK_NUMBERS)).T.copy()
        self.block = dict(zip(BLOCK_NUMBERS, rows, strict=True))
        self.owner = np.array([block.owner for block in page.blocks], dtype=np.int64)
        self._elements(page.elements, lexicon)
        self._groups(page.elements)
        self._sums()

    def _elements(self, elements: list[Element], lexicon: Lexicon) -> None:
        """What is inherited from the elements around, which stand before those inside."""
        np = self.np
        shape_ids = {"body.": 1}
        shapes, bits, around, levels = [1], [0], [0], [0]  # of the body, which has no name here
        near, low, high, total = [0.0], [0.0], [0.0], [0.0]
        for e in islice(elements, 1, None):
            tag, p = e.tag, e.parent
            named = lexicon.of_names(e.names) if e.names else UNNAMED
            score = named.score
            shapes.append(shape_ids.setdefault(f"{tag}.{named.shape}", len(shape_ids) + 1))
            bits.append(named.bits)
            around.append(around[p] | AROUND_BIT.get(tag, 0) | (ROLE_BIT.get(e.role, 0) if e.role else 0))
            levels.append(HEADING_LEVEL.get(tag, 0) or levels[p])
            near.append(score if e.names else near[p] * 0.7)
            low.append(min(low[p], score))
            high.append(max(high[p], score))
            total.append(total[p] * 0.8 + score)
        self.tag = np.array([TAG_CODE.get(e.tag, 0) for e in elements], dtype=np.int64)
        places = np.array([(e.parent, e.depth, e.first, e.end) for e in elements], dtype=np.int64)
        self.parent, self.depth, self.first, self.end = places.T.copy()
        self.parent[0] = 0
        self.shape, self.bits, self.around, self.levels = np.array([shapes, bits, around, levels], dtype=np.int64)
        self.scores = np.array([near, low, high, total], dtype=np.float32)
        mains = np.flatnonzero(self.around & AROUND_BIT["main"])
        self.main = int(mains[0]) if len(mains) else ABSENT
        self.level = self.levels[self.owner]

    def _groups(self, elements: list[Element]) -> None:
        """Which elements are like siblings, which blocks have the same path, and the innermost and outermost group around each."""
        np = self.np
        n = len(elements)
        _, self.group = np.unique(self.parent << 32 | self.shape, return_inverse=True)
        self.sizes = np.bincount(self.group).astype(np.float32)
        path, up = self.shape.astype(np.uint64), self.parent
        for _ in range(3):
            path = path * np.uint64(_MIX) + np.where(up > 0, self.shape[up], 0).astype(np.uint64)
            up = self.parent[up]
        _, self.path = np.unique(path[self.owner], return_inverse=True)
        order = np.argsort(self.group, kind="stable")
        self.nth = np.empty(n, dtype=np.int64)  # among its likes
        self.nth[order] = np.arange(n) - np.searchsorted(self.group[order], self.group[order])
        alike = (self.sizes[self.group] >= ALIKE).tolist()
        item, outer = [ABSENT] * n, [ABSENT] * n
        for i in range(1, n):
            p = elements[i].parent
            item[i] = i if alike[i] else item[p]
            outer[i] = outer[p] if outer[p] >= 0 else (i if alike[i] else ABSENT)
        self.item, self.outer = np.array([item, outer], dtype=np.int64)

    def _sums(self) -> None:
        """Running sums over the blocks, so that any range is one subtraction."""
        np, b = self.np, self.block
        good = np.where(b["prose"] > 0, b["words"], 0.0)
        own = {"good": good, "one": np.ones(self.n, np.float32)}
        self.running = np.zeros((len(SUMMED), self.n + 1), dtype=np.float64)
        np.cumsum([b[name] if name in b else own[name] for name in SUMMED], axis=1, out=self.running[:, 1:])
        self.inside = (self.running[:, self.end] - self.running[:, self.first]).astype(np.float32)  # per element
        self.total = max(1.0, float(self.running[WORDS, -1]))
        self.total_good = max(1.0, float(self.running[GOOD, -1]))

    def between(self, first: Any, end: Any) -> Any:
        """The sums over ranges of blocks."""
        return self.running[:, end] - self.running[:, first]

    def last_heading(self) -> Any:
        """For each block the heading at or above it, or ABSENT."""
        np = self.np
        return np.maximum.accumulate(np.where(self.level > 0, np.arange(self.n), ABSENT))

    def next_heading(self) -> Any:
        """For each block the first heading after it, or the end of the page."""
        np = self.np
        at_or_after = np.minimum.accumulate(np.where(self.level > 0, np.arange(self.n), self.n)[::-1])[::-1]
        return np.append(at_or_after[1:], self.n)
