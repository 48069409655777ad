"""What is known about each block of a page: the numbers the forests decide by. Pure.

Plain Python gathers one row per block and per element; everything that relates blocks to each other (containers, groups of
siblings, neighbours, headings) is then a handful of numpy operations over the whole page, since every element covers an
unbroken range of blocks.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from cormorant.extract.html.blocks import Block, Element, Page

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
# Whole words of class and id whose share of the page's words tells what kind of page it is. A name alone decides nothing.
NAME_GROUPS = (
    "comment comments commentlist disqus respond reply replies discussion responses",
    "author byline meta metadata date category categories published time bio avatar authorbox posted",
    "item card cards grid tile tiles product products result results listing listings collection catalog",
    "message messages answer question thread threads forum topic topics postbody bbcode msg conversation posts viewtopic",
    "price review reviews rating ratings stars spec specs specification specifications faq testimonial testimonials",
    "login account cart search filter filters sort toolbar signin register wishlist checkout basket facet facets refine swatch quantity",
)
_WORD_BITS = {word: 1 << bit for bit, group in enumerate(NAME_GROUPS) for word in group.split()}
_NAME_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[^\W\d_]+")
_DIGITS = re.compile(r"\d+")
_DIGIT = re.compile(r"\d")
_UPPER = re.compile(r"[A-ZÀ-ÖØ-ÞА-Я]")
_LOWER_WORD = re.compile(r"[^\W\d_]+|[$€£©]")
_PRICE = re.compile(r"[$€£¥₹]\s?\d|\d\s?(?:[$€£]|eur\b|usd\b)", re.I)
_DATE = re.compile(
    r"\b(?:19|20)\d\d\b|\b\d{1,2}[./-]\d{1,2}[./-]\d{2,4}\b|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]* \d"
    r"|\bago\b|\d\d?:\d\d",
    re.I,
)
LOOKED_INTO = 240  # characters; what a longer block is shows in its shape
SHORT = 12  # words up to which a block is short: what it says is looked up word by word
ABSENT = -1
ROW = 9  # numbers kept of each element


def name_words(names: str) -> tuple[str, ...]:
    """The words of a class and id, lower case: `contentWithSidebar` is content, with and sidebar."""
    return tuple(dict.fromkeys(map(str.lower, _NAME_WORD.findall(names[:NAMES_READ]))))


def text_words(text: str) -> list[str]:
    """The words of a short block that the lexicon of texts knows it by."""
    return _LOWER_WORD.findall(text.lower())


@dataclass(frozen=True)
class Named:
    """What the class and id of an element say."""

    shape: str  # the first class without its digits, so that `post-12` and `post-13` are alike
    bits: int  # which of NAME_GROUPS
    score: float


NAMES_READ = 200  # characters of class and id; what follows is utility classes
UNNAMED = Named("", 0, 0.0)
NAMES_KEPT = 20_000  # then the memory of names starts anew


@dataclass(frozen=True)
class Lexicon:
    """Log odds that a block is main content, by a word in the names around it or in its own short text."""

    names: dict[str, float]
    texts: dict[str, float]
    known: dict[str, Named] = field(default_factory=dict, compare=False)

    def of_names(self, names: str) -> Named:
        """What the names of an element say, remembered."""
        found = self.known.get(names)
        if found is None:
            words = name_words(names)
            bits = 0
            for word in words:
                bits |= _WORD_BITS.get(word, 0)
            found = Named(_DIGITS.sub("", names.split(" ", 1)[0]), bits, sum(self.names.get(word, 0.0) for word in words))
            if len(self.known) >= NAMES_KEPT:
                self.known.clear()
            self.known[names] = found
        return found

    def of_words(self, words: list[str]) -> float:
        """The mean over the words of a short text that are known."""
        known = [self.texts[word] for word in words if word in self.texts]
        return sum(known) / len(known) if known else 0.0


@dataclass(frozen=True)
class Facts:
    """What a page is beside its blocks."""

    title: str = ""
    url: str = ""
    kind: str = ""  # og:type, where the page says one


_PATH = re.compile(r"^[a-z]+://[^/?#]*", re.I)
_ENDS = (".", "!", "?", "。", "！", "？", "…", '."', ".”", ".)")
_BLOCK_COLUMNS = tuple(
    str.split(
        "words chars link_share bold_share links images upper ends price date title_share copies nth_copy lexicon inline text_link prose"
    )
)


def _block_row(block: Block, title: frozenset[str], copies: dict[str, int], seen: dict[str, int], lexicon: Lexicon) -> tuple[float, ...]:
    text, words = block.text, block.words
    size = len(text) or 1
    nth = seen[text] = seen.get(text, 0) + 1
    price = date = False
    titled = score = 0.0
    upper = 0.03
    if size < LOOKED_INTO:
        upper = len(_UPPER.findall(text)) / size
        if _DIGIT.search(text):
            price = _PRICE.search(text) is not None
            date = _DATE.search(text) is not None
        if words <= SHORT:
            own = text_words(text)
            score = lexicon.of_words(own)
            once = title.intersection(own)
            titled = len(once) / max(1, min(len(title), len(own)))
    n = words or 1
    linked = block.link_words
    return (
        words,
        size / n,
        linked / n,
        min(1.0, block.bold_words / n),
        block.links,
        block.images,
        upper,
        text.endswith(_ENDS),
        price,
        date,
        titled,
        copies[text],
        nth,
        score,
        block.inline,
        linked,
        words >= 10 and linked < 0.4 * n,
    )


class Table:
    """The page as arrays, and the columns computed from them. `X` has one row per scored block."""

    def __init__(self, page: Page, facts: Facts, lexicon: Lexicon) -> None:
        import numpy as np

        self.np = np
        self.page = page
        self.n = len(page.blocks)
        self.columns: list[Any] = []
        self.names: list[str] = []
        blocks, elements = page.blocks, page.elements
        title = frozenset(text_words(facts.title))
        copies: dict[str, int] = {}
        for block in blocks:
            copies[block.text] = copies.get(block.text, 0) + 1
        seen: dict[str, int] = {}
        flat: list[float] = []
        for block in blocks:
            flat.extend(_block_row(block, title, copies, seen, lexicon))
        rows = np.array(flat, dtype=np.float32).reshape(self.n, len(_BLOCK_COLUMNS))
        self.block = dict(zip(_BLOCK_COLUMNS, rows.T.copy(), strict=True))
        self.facts = facts
        self.owner = np.array([block.owner for block in blocks], dtype=np.int32)
        self._elements(elements, lexicon)
        self._sums()

    def _elements(self, elements: list[Element], lexicon: Lexicon) -> None:
        """One pass over the elements, which stand parents first: what surrounds each, and which are alike."""
        np = self.np
        n = len(elements)
        # Flat lists and whole numbers as keys: thousands of tuples a page keep the garbage collector busy.
        rows: list[int] = []
        scores: list[float] = []
        shapes: list[int] = []
        shape_ids: dict[str, int] = {}
        groups: dict[int, int] = {}
        paths: dict[int, int] = {}
        sizes: list[int] = []
        group: list[int] = []
        main = ABSENT
        around, level, near, low, high, total = 0, 0, 0.0, 0.0, 0.0, 0.0
        for i, e in enumerate(elements):
            tag, p = e.tag, e.parent
            named = lexicon.of_names(e.names) if e.names else UNNAMED
            shape = shape_ids.setdefault(f"{tag}.{named.shape}", len(shape_ids) + 1)
            g = groups.setdefault(p << 32 | shape, len(sizes))
            if g == len(sizes):
                sizes.append(0)
            sizes[g] += 1
            s = named.score
            around = AROUND_BIT.get(tag, 0) | (ROLE_BIT.get(e.role, 0) if e.role else 0)
            if main < 0 and around & AROUND_BIT["main"]:
                main = i
            level = HEADING_LEVEL.get(tag, 0)
            near = low = high = total = s
            q = r = ABSENT
            if p >= 0:
                around |= rows[p * ROW + 1]
                level = level or rows[p * ROW + 3]
                at = p * 4
                near = s if e.names else scores[at] * 0.7
                low, high, total = min(scores[at + 1], s), max(scores[at + 2], s), scores[at + 3] * 0.8 + s
                q = elements[p].parent
                r = elements[q].parent if q >= 0 else ABSENT
            shapes.append(shape)
            key = shape
            for up in (p, q, r):
                key = key << 20 | (shapes[up] if up >= 0 else 0)
            path = paths.setdefault(key, len(paths))
            group.append(g)
            rows.extend((TAG_CODE.get(tag, 0), around, named.bits, level, path, p, e.depth, e.first, e.end))
            scores.extend((near, low, high, total))
        item, outer = [ABSENT] * n, [ABSENT] * n
        for i in range(1, n):
            p = elements[i].parent
            alike = sizes[group[i]] >= 3
            item[i] = i if alike else item[p]
            outer[i] = outer[p] if outer[p] >= 0 else (i if alike else ABSENT)
        ints = np.array(rows, dtype=np.int64).reshape(n, ROW).T.copy()
        (self.tag, self.around, self.bits, self.levels, self.path, self.parent, self.depth, self.first, self.end) = ints
        self.group, self.item, self.outer = np.array([group, item, outer], dtype=np.int64)
        self.parent[0] = 0
        self.scores = np.array(scores, dtype=np.float32).reshape(n, 4).T.copy()
        self.sizes = np.array(sizes, dtype=np.float32)
        self.main = main

    def _sums(self) -> None:
        """Running sums over the blocks, so that any range is one subtraction."""
        np, b = self.np, self.block
        w = b["words"]
        self.good = np.where(b["prose"] > 0, w, 0.0)
        rows = np.stack(
            [w, b["text_link"], self.good, np.ones(self.n, np.float32), b["images"], b["price"], b["date"], b["prose"], b["links"]]
        )
        self.running = np.zeros((len(rows), self.n + 1), dtype=np.float64)
        np.cumsum(rows, axis=1, out=self.running[:, 1:])
        self.inside = (self.running[:, self.end] - self.running[:, self.first]).astype(np.float32)  # per element
        self.total = max(1.0, float(self.running[0, -1]))
        self.total_good = max(1.0, float(self.running[2, -1]))

    def add(self, name: str, column: Any) -> None:
        self.names.append(name)
        self.columns.append(column)

    def compute(self) -> Any:
        """All columns, as an array of blocks by features."""
        self._own()
        self._containers()
        self._siblings()
        self._neighbours()
        self._headings()
        self._places()
        self._page()
        np = self.np
        return np.stack([np.broadcast_to(np.asarray(column, dtype=np.float32), (self.n,)) for column in self.columns], axis=1)

    def _own(self) -> None:
        np, b, owner = self.np, self.block, self.owner
        self.add("log_words", np.log1p(b["words"]))
        for name in _BLOCK_COLUMNS:
            if name not in ("inline", "price", "date", "prose", "images"):
                self.add(name, b[name])
        inline = b["inline"].astype(np.int64)
        self.add("has_code", (inline & 2) > 0)
        self.add("tag", self.tag[owner])
        self.add("parent_tag", self.tag[self.parent[owner]])
        self.add("depth", self.depth[owner])
        around = self.around[owner]
        for bit, tag in enumerate(AROUND):
            self.add(f"in_{tag}", around >> bit & 1)
        for name, row in zip(("near", "low", "high", "sum"), self.scores, strict=True):
            self.add(f"names_{name}", row[owner])

    def _range(self, name: str, e: Any) -> None:
        """Columns about the elements `e`, one per block."""
        np, inside = self.np, self.inside
        w = inside[0][e]
        self.add(f"{name}_words", w / self.total)
        self.add(f"{name}_links", inside[1][e] / np.maximum(1, w))
        self.add(f"{name}_good", inside[2][e] / self.total_good)
        self.add(f"{name}_blocks", np.log1p(inside[3][e]))

    def _containers(self) -> None:
        np = self.np
        e = self.owner.astype(np.int64)
        for level in range(1, 9):
            if level != 7:
                self._range(f"up{level}", e)
            if level <= 4:
                self.add(f"up{level}_score", self.scores[0][e])
                self.add(f"up{level}_tag", self.tag[e])
            e = self.parent[e]
        index = np.arange(self.n)
        for share in (0.5, 0.7, 0.9):
            holds = np.flatnonzero(self.inside[2] >= share * self.total_good)
            best = int(holds[-1]) if len(holds) else 0  # the last in document order that holds this share is the innermost
            if share > 0.5 and len(holds):
                best = int(holds[np.argmax(self.depth[holds])])
            first, end = self.first[best], self.end[best]
            self.add(f"in_best_{share}", np.where(index < first, -1, np.where(index >= end, 1, 0)))
            self.add(f"under_best_{share}", self.depth[self.owner] - self.depth[best])
        if self.main >= 0:
            first, end = self.first[self.main], self.end[self.main]
            self.add("at_main", np.where(index < first, -1, np.where(index >= end, 1, 0)))
            self.add("main_share", self.inside[0][self.main] / self.total)
        else:
            self.add("at_main", -2)
            self.add("main_share", -1)

    def _siblings(self) -> None:
        """Groups of like siblings (threads, cards, rows), and blocks with the same path anywhere on the page."""
        np = self.np
        words, links, good, blocks, images, prices, dates, prose, _ = self.inside
        count = len(self.sizes)
        group = self.group

        def per_group(values: Any) -> Any:
            return np.bincount(group, weights=values, minlength=count).astype(np.float32)

        total = per_group(words)
        mean = total / self.sizes
        spread = np.sqrt(np.maximum(0, per_group(words.astype(np.float64) ** 2) / self.sizes - mean**2)) / np.maximum(1, mean)
        stats = {
            "n": np.log1p(self.sizes),
            "mean": np.log1p(mean),
            "links": per_group(links) / np.maximum(1, total),
            "spread": spread,
            "blocks": per_group(blocks) / self.sizes,
            "images": per_group(images > 0) / self.sizes,
            "prices": per_group(prices > 0) / self.sizes,
            "dates": per_group(dates > 0) / self.sizes,
            "prose": per_group(prose > 0) / self.sizes,
            "share": total / self.total,
            "good": per_group(good) / self.total_good,
        }
        starts = np.zeros(count, dtype=np.int64)
        order = np.argsort(group, kind="stable")
        starts[1:] = np.cumsum(self.sizes[:-1]).astype(np.int64)
        nth = np.empty(len(group), dtype=np.float32)
        nth[order] = np.arange(len(group)) - starts[group[order]]
        self.nth = nth
        for name, which in (("item", self.item), ("outer", self.outer)):
            e = which[self.owner]
            there = e >= 0
            g = group[np.maximum(e, 0)]
            for stat, values in stats.items():
                self.add(f"{name}_{stat}", np.where(there, values[g], -1))
            self.add(f"{name}_nth", np.where(there, nth[np.maximum(e, 0)], -1))
            self.add(f"{name}_own", np.where(there, words[np.maximum(e, 0)], -1))
            self.add(f"{name}_up", np.where(there, self.depth[self.owner] - self.depth[np.maximum(e, 0)], -1))
        path = self.path[self.owner]
        size = np.bincount(path)
        w = np.bincount(path, weights=self.block["words"])
        linked = np.bincount(path, weights=self.block["text_link"])
        proses = np.bincount(path, weights=self.block["prose"])
        self.add("path_n", np.log1p(size[path]))
        self.add("path_mean", w[path] / size[path])
        self.add("path_links", linked[path] / np.maximum(1, w[path]))
        self.add("path_share", w[path] / self.total)
        self.add("path_prose", proses[path] / size[path])

    def _shifted(self, values: Any, by: int) -> Any:
        np = self.np
        out = np.full(self.n, -1, dtype=np.float32)
        if by > 0:
            out[:-by] = values[by:]
        else:
            out[-by:] = values[:by]
        return out

    def _neighbours(self) -> None:
        np, b = self.np, self.block
        log, tags = np.log1p(b["words"]), self.tag[self.owner]
        for by in (-3, -2, -1, 1, 2, 3):
            self.add(f"at{by}_lexicon", self._shifted(b["lexicon"], by))
            if abs(by) <= 2:
                self.add(f"at{by}_words", self._shifted(log, by))
                self.add(f"at{by}_tag", self._shifted(tags, by))
        index = np.arange(self.n)
        is_prose = b["prose"] > 0
        before = np.maximum.accumulate(np.where(is_prose, index, -1000))
        after = np.minimum.accumulate(np.where(is_prose, index, self.n + 1000)[::-1])[::-1]
        self.add("prose_before", np.minimum(index - before, 200))
        self.add("prose_after", np.minimum(after - index, 200))
        for reach in (5, 15):
            low, high = np.maximum(0, index - reach), np.minimum(self.n, index + reach + 1)
            near = self.running[:, high] - self.running[:, low]
            self.add(f"near{reach}_words", np.log1p(near[0]))
            self.add(f"near{reach}_links", near[1] / np.maximum(1, near[0]))
            self.add(f"near{reach}_good", near[2] / np.maximum(1, near[0]))

    def _headings(self) -> None:
        """The heading a block stands under: what it says, how far above it is."""
        np, b = self.np, self.block
        index = np.arange(self.n)
        level = self.levels[self.owner]
        self.level = level
        last = np.maximum.accumulate(np.where(level > 0, index, -1))
        before = np.concatenate(([-1], last[:-1])) if self.n else last  # the heading above, also for a heading
        nearest = np.minimum.accumulate(np.where(level > 0, index, self.n)[::-1])[::-1]
        next_one = np.concatenate((nearest[1:], [self.n])) if self.n else nearest
        self.heading = last
        safe = np.maximum(before, 0)
        has = before >= 0
        self.add("level", level)
        self.add("under_level", np.where(has, level[safe], 0))
        self.add("under_distance", np.where(has, index - before, -1))
        self.add("under_lexicon", np.where(has, b["lexicon"][safe], 0))
        self.add("under_title", np.where(has, b["title_share"][safe], 0))
        self.add("under_links", np.where(has, b["link_share"][safe], 0))
        owned = self.running[:, next_one] - self.running[:, np.minimum(index + 1, next_one)]
        self.add("owned_words", np.where(level > 0, np.log1p(owned[0]), -1))
        self.add("owned_links", np.where(level > 0, owned[1] / np.maximum(1, owned[0]), -1))
        self.add("owned_good", np.where(level > 0, np.log1p(owned[2]), -1))
        start = np.where(last >= 0, last, 0)
        stretch = self.running[:, next_one] - self.running[:, start]
        self.add("section_words", np.log1p(stretch[0]))
        self.add("section_links", stretch[1] / np.maximum(1, stretch[0]))
        self.add("section_good", stretch[2] / np.maximum(1, stretch[0]))
        tops = np.flatnonzero(level == 1)
        top = int(tops[0]) if len(tops) else -1
        if len(tops) > 1:  # of several, the one most like the title
            top = int(tops[np.argmax(b["title_share"][tops])])
        self.add("h1_distance", index - top if top >= 0 else -999)
        self.add("h1_words", (self.running[0, :-1] - self.running[0, top]) / self.total if top >= 0 else -9)
        self.add("h1_count", len(tops))

    def _places(self) -> None:
        np, b = self.np, self.block
        index = np.arange(self.n)
        self.add("place", index / max(1, self.n - 1))
        self.add("place_back", self.n - index)
        self.add("place_words", self.running[0, :-1] / self.total)
        self.add("place_good", self.running[2, :-1] / self.total_good)
        gain = np.concatenate(([0.0], np.cumsum(b["words"] * (1 - 2 * b["link_share"]) - 4)))
        lowest = np.minimum.accumulate(gain)
        end = int(np.argmax(gain - lowest))
        start = int(np.argmin(gain[: end + 1]))
        self.add("at_densest", np.where(index < start, -1, np.where(index >= end, 1, 0)))
        self.add("densest_distance", np.where(index < start, index - start, np.where(index >= end, index - end + 1, 0)))
        self.add("densest_share", self.running[0, end] / self.total - self.running[0, start] / self.total)

    def _page(self) -> None:
        np, b = self.np, self.block
        tags = np.bincount(self.tag, minlength=len(TAGS) + 1)
        in_list = self.around[self.owner] & AROUND_BIT["li"] > 0
        page: list[float] = [
            np.log1p(self.n),
            np.log1p(self.total),
            self.running[1, -1] / self.total,
            self.total_good / self.total,
            *(float(b[name].sum()) for name in ("images", "price", "date", "prose")),
            float(in_list.sum()),
            *(float(tags[TAG_CODE[tag]]) for tag in ("article", "pre", "form", "table", "p", "h2", "h3")),
            float(b["words"].max(initial=0)),
        ]
        words = self.inside[0]
        page += [float(words[(self.bits >> bit & 1) > 0].sum()) / self.total for bit in range(len(NAME_GROUPS))]
        path = _PATH.sub("", self.facts.url)
        kind = self.facts.kind.lower()
        page += [path.count("/"), path.strip("/") == "", "article" in kind, "product" in kind, bool(kind)]
        for number, value in enumerate(page):
            self.add(f"page_{number}", value)


def second_stage(table: Table, first: Any) -> Any:
    """What the scores of the first forest say about a block's surroundings; `first` has one probability per block."""
    np = table.np
    n, words = table.n, table.block["words"]
    running = np.concatenate(([0.0], np.cumsum(first * words)))
    inside = (running[table.end] - running[table.first]).astype(np.float32)
    plain = np.concatenate(([0.0], np.cumsum(first)))
    total = max(1e-6, float(running[-1]))
    columns: list[Any] = [first, np.full(n, running[-1] / table.total)]
    columns += [table._shifted(first, by) for by in (-4, -3, -2, -1, 1, 2, 3, 4)]
    e = table.owner.astype(np.int64)
    for level in range(1, 9):
        if level != 7:
            columns.append(inside[e] / np.maximum(1, table.inside[0][e]))
        e = table.parent[e]
    group = table.group
    sums = np.bincount(group, weights=inside, minlength=len(table.sizes))
    weights = np.bincount(group, weights=table.inside[0], minlength=len(table.sizes))
    for which in (table.item, table.outer):
        e = which[table.owner]
        g = group[np.maximum(e, 0)]
        columns.append(np.where(e >= 0, sums[g] / np.maximum(1, weights[g]), -1))
        columns.append(np.where(e >= 0, inside[np.maximum(e, 0)] / np.maximum(1, table.inside[0][np.maximum(e, 0)]), -1))
    path = table.path[table.owner]
    columns.append((np.bincount(path, weights=first) / np.maximum(1, np.bincount(path)))[path])
    columns.append((np.bincount(path, weights=first * words) / np.maximum(1, np.bincount(path, weights=words)))[path])
    index = np.arange(n)
    columns += [running[1:] / total, (total - running[:-1]) / total]
    for reach in (10, 30):
        low, high = np.maximum(0, index - reach), np.minimum(n, index + reach + 1)
        columns.append((plain[index] - plain[low]) / np.maximum(1, index - low))
        columns.append((plain[high] - plain[np.minimum(index + 1, high)]) / np.maximum(1, high - index - 1))
        columns.append((running[high] - running[low]) / np.maximum(1, table.running[0, high] - table.running[0, low]))
    columns.append(np.maximum.accumulate(np.concatenate(([0.0], first[:-1]))))
    columns.append(np.maximum.accumulate(np.concatenate(([0.0], first[:0:-1])))[::-1])
    heading = table.heading
    columns.append(np.where(heading >= 0, first[np.maximum(heading, 0)], -1))
    nearest = np.minimum.accumulate(np.where(table.level > 0, index, n)[::-1])[::-1]
    after = np.concatenate((nearest[1:], [n]))
    start = np.maximum(heading, 0)
    columns.append((running[after] - running[start]) / np.maximum(1, table.running[0, after] - table.running[0, start]))
    sure = first > 0.5
    first_sure = int(np.argmax(sure)) if sure.any() else 0
    last_sure = n - 1 - int(np.argmax(sure[::-1])) if sure.any() else n - 1
    columns += [index - first_sure, last_sure - index]
    for share in (0.5, 0.8, 0.95):
        holds = np.flatnonzero(inside >= share * total)
        best = int(holds[np.argmax(table.depth[holds])]) if len(holds) else 0
        columns.append(np.where(index < table.first[best], -1, np.where(index >= table.end[best], 1, 0)))
        columns.append(np.full(n, inside[best] / max(1.0, float(table.inside[0][best]))))
    return np.stack([np.asarray(column, dtype=np.float32) for column in columns], axis=1)
