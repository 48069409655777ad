"""The numbers the forests decide by: for each block what it is, what is around it and what kind of page it is on. Pure.

`describe` makes the first forest's, `opinions` what the second one is told of the first one's view of a block's surroundings.
"""

from __future__ import annotations

import re
from typing import Any

from cormorant.extract.html.features import (
    ABSENT,
    AROUND,
    AROUND_BIT,
    BLOCK_NUMBERS,
    BLOCKS,
    DATES,
    GOOD,
    IMAGES,
    LINKED,
    PRICES,
    PROSE,
    TAG_CODE,
    TAGS,
    WORDS,
    Table,
)
from cormorant.extract.html.lexicon import NAME_GROUPS

ROOM = 256  # columns there is room for
OWN = tuple(name for name in BLOCK_NUMBERS if name not in ("price", "date", "prose", "images"))
_PATH = re.compile(r"^[a-z]+://[^/?#]*", re.I)


class Columns:
    """One row of `values` for each column, filled in order: trees ask for one number of every block at a time."""

    def __init__(self, blocks: int) -> None:
        import numpy as np

        self.names: list[str] = []
        self._room = np.empty((ROOM, blocks), dtype=np.float32)

    def add(self, name: str, values: Any) -> None:
        """A column; one number where it is the same for every block."""
        self._room[len(self.names)] = values
        self.names.append(name)

    @property
    def values(self) -> Any:
        return self._room[: len(self.names)]


def describe(table: Table) -> Columns:
    """What is known of each block."""
    columns = Columns(table.n)
    for part in (_own, _containers, _siblings, _paths, _neighbours, _headings, _places, _page):
        part(table, columns)
    return columns


def _share(part: Any, whole: Any) -> Any:
    """A quotient that is 0 where there is nothing to divide by: what is counted here is whole numbers."""
    import numpy as np

    return part / np.maximum(1, whole)


def _side(table: Table, first: int, end: int) -> Any:
    """-1 before a range of blocks, 0 in it, 1 after it."""
    np = table.np
    index = np.arange(table.n)
    return np.where(index < first, -1, np.where(index >= end, 1, 0))


def _shifted(table: Table, values: Any, by: int) -> Any:
    """Each block's neighbour's number, -1 beyond the edge of the page."""
    out = table.np.full(table.n, -1, dtype=table.np.float32)
    if by > 0:
        out[:-by] = values[by:]
    else:
        out[-by:] = values[:by]
    return out


def _own(t: Table, c: Columns) -> None:
    c.add("log_words", t.np.log1p(t.block["words"]))
    for name in OWN:
        c.add(name, t.block[name])
    c.add("tag", t.tag[t.owner])
    c.add("parent_tag", t.tag[t.parent[t.owner]])
    c.add("depth", t.depth[t.owner])
    around = t.around[t.owner]
    for tag in AROUND:
        c.add(f"in_{tag}", (around & AROUND_BIT[tag]) > 0)
    for name, row in zip(("near", "low", "high", "sum"), t.scores, strict=True):
        c.add(f"names_{name}", row[t.owner])


def _containers(t: Table, c: Columns) -> None:
    """The elements around a block, and the innermost ones that hold most of the page's text."""
    np = t.np
    e = t.owner
    for level in range(1, 9):
        if level != 7:
            words, linked, good, blocks = t.inside[:, e][[WORDS, LINKED, GOOD, BLOCKS]]
            c.add(f"up{level}_words", words / t.total)
            c.add(f"up{level}_links", _share(linked, words))
            c.add(f"up{level}_good", good / t.total_good)
            c.add(f"up{level}_blocks", np.log1p(blocks))
        if level <= 4:
            c.add(f"up{level}_score", t.scores[0][e])
            c.add(f"up{level}_tag", t.tag[e])
        e = t.parent[e]
    for share in (0.5, 0.7, 0.9):
        holds = np.flatnonzero(t.inside[GOOD] >= share * t.total_good)
        best = int(holds[np.argmax(t.depth[holds])]) if len(holds) else 0
        c.add(f"at_best_{share}", _side(t, t.first[best], t.end[best]))
        c.add(f"under_best_{share}", t.depth[t.owner] - t.depth[best])
    there = t.main != ABSENT
    c.add("at_main", _side(t, t.first[t.main], t.end[t.main]) if there else -2)
    c.add("main_share", t.inside[WORDS][t.main] / t.total if there else -1)


def _siblings(t: Table, c: Columns) -> None:
    """The groups of like siblings (threads, cards, rows) a block lies in, the innermost and the outermost."""
    np = t.np
    words, linked, good, blocks, images, prices, dates, prose = t.inside

    def of_group(values: Any) -> Any:
        return np.bincount(t.group, weights=values, minlength=len(t.sizes))

    total = of_group(words)
    mean = total / t.sizes
    spread = np.sqrt(np.maximum(0, of_group(words.astype(np.float64) ** 2) / t.sizes - mean**2))
    stats = {
        "n": np.log1p(t.sizes),
        "mean": np.log1p(mean),
        "links": _share(of_group(linked), total),
        "spread": _share(spread, mean),
        "blocks": of_group(blocks) / t.sizes,
        "images": of_group(images > 0) / t.sizes,
        "prices": of_group(prices > 0) / t.sizes,
        "dates": of_group(dates > 0) / t.sizes,
        "prose": of_group(prose > 0) / t.sizes,
        "share": total / t.total,
        "good": of_group(good) / t.total_good,
    }
    every = np.array(list(stats.values()))
    for name, which in (("item", t.item), ("outer", t.outer)):
        e = which[t.owner]
        there = e != ABSENT
        for stat, values in zip(stats, np.where(there, every[:, t.group[e]], -1), strict=True):
            c.add(f"{name}_{stat}", values)
        c.add(f"{name}_nth", np.where(there, t.nth[e], -1))
        c.add(f"{name}_own", np.where(there, words[e], -1))
        c.add(f"{name}_up", np.where(there, t.depth[t.owner] - t.depth[e], -1))


def _paths(t: Table, c: Columns) -> None:
    """Blocks with the same path anywhere on the page."""
    np, b, path = t.np, t.block, t.path
    size, words = np.bincount(path), np.bincount(path, weights=b["words"])
    c.add("path_n", np.log1p(size)[path])
    c.add("path_mean", (words / size)[path])
    c.add("path_links", _share(np.bincount(path, weights=b["text_link"]), words)[path])
    c.add("path_share", words[path] / t.total)
    c.add("path_prose", (np.bincount(path, weights=b["prose"]) / size)[path])


def _neighbours(t: Table, c: Columns) -> None:
    np, b = t.np, t.block
    log, tags, index = np.log1p(b["words"]), t.tag[t.owner], np.arange(t.n)
    for by in (-3, -2, -1, 1, 2, 3):
        c.add(f"at{by}_lexicon", _shifted(t, b["lexicon"], by))
        if abs(by) <= 2:
            c.add(f"at{by}_words", _shifted(t, log, by))
            c.add(f"at{by}_tag", _shifted(t, tags, by))
    prose = b["prose"] > 0
    before = np.maximum.accumulate(np.where(prose, index, -1000))
    after = np.minimum.accumulate(np.where(prose, index, t.n + 1000)[::-1])[::-1]
    c.add("prose_before", np.minimum(index - before, 200))
    c.add("prose_after", np.minimum(after - index, 200))
    for reach in (5, 15):
        near = t.between(np.maximum(0, index - reach), np.minimum(t.n, index + reach + 1))
        c.add(f"near{reach}_words", np.log1p(near[WORDS]))
        c.add(f"near{reach}_links", _share(near[LINKED], near[WORDS]))
        c.add(f"near{reach}_good", _share(near[GOOD], near[WORDS]))


def _headings(t: Table, c: Columns) -> None:
    """The heading a block stands under: what it says, how far above it is, what it owns."""
    np, b = t.np, t.block
    index, last, after = np.arange(t.n), t.last_heading(), t.next_heading()
    above = np.append(ABSENT, last[:-1])  # also for a heading
    has = above != ABSENT
    c.add("level", t.level)
    c.add("under_level", np.where(has, t.level[above], 0))
    c.add("under_distance", np.where(has, index - above, -1))
    c.add("under_lexicon", np.where(has, b["lexicon"][above], 0))
    c.add("under_title", np.where(has, b["title_share"][above], 0))
    c.add("under_links", np.where(has, b["link_share"][above], 0))
    owned = t.between(np.minimum(index + 1, after), after)
    c.add("owned_words", np.where(t.level > 0, np.log1p(owned[WORDS]), -1))
    c.add("owned_links", np.where(t.level > 0, _share(owned[LINKED], owned[WORDS]), -1))
    c.add("owned_good", np.where(t.level > 0, np.log1p(owned[GOOD]), -1))
    section = t.between(np.maximum(last, 0), after)
    c.add("section_words", np.log1p(section[WORDS]))
    c.add("section_links", _share(section[LINKED], section[WORDS]))
    c.add("section_good", _share(section[GOOD], section[WORDS]))
    tops = np.flatnonzero(t.level == 1)
    top = int(tops[np.argmax(b["title_share"][tops])]) if len(tops) else ABSENT  # of several, the one most like the title
    c.add("h1_distance", index - top if top != ABSENT else -999)
    c.add("h1_words", (t.running[WORDS, :-1] - t.running[WORDS, top]) / t.total if top != ABSENT else -9)
    c.add("h1_count", len(tops))


def _places(t: Table, c: Columns) -> None:
    np, b, index = t.np, t.block, t.np.arange(t.n)
    c.add("place", index / max(1, t.n - 1))
    c.add("place_back", t.n - index)
    c.add("place_words", t.running[WORDS, :-1] / t.total)
    c.add("place_good", t.running[GOOD, :-1] / t.total_good)
    gain = np.append(0.0, np.cumsum(b["words"] * (1 - 2 * b["link_share"]) - 4))
    end = int(np.argmax(gain - np.minimum.accumulate(gain)))
    start = int(np.argmin(gain[: end + 1]))
    c.add("at_densest", _side(t, start, end))
    c.add("densest_distance", np.where(index < start, index - start, np.where(index >= end, index - end + 1, 0)))
    c.add("densest_share", (t.running[WORDS, end] - t.running[WORDS, start]) / t.total)


def _page(t: Table, c: Columns) -> None:
    """What kind of page it is: the same for every block."""
    np, b = t.np, t.block
    tags = np.bincount(t.tag, minlength=len(TAGS) + 1)
    c.add("page_blocks", np.log1p(t.n))
    c.add("page_words", np.log1p(t.total))
    c.add("page_links", t.running[LINKED, -1] / t.total)
    c.add("page_good", t.total_good / t.total)
    for name, row in (("images", IMAGES), ("prices", PRICES), ("dates", DATES), ("prose", PROSE)):
        c.add(f"page_{name}", t.running[row, -1])
    c.add("page_in_li", ((t.around[t.owner] & AROUND_BIT["li"]) > 0).sum())
    for tag in ("article", "pre", "form", "table", "p", "h2", "h3"):
        c.add(f"page_{tag}", tags[TAG_CODE[tag]])
    c.add("page_longest", b["words"].max(initial=0))
    for bit, group in enumerate(NAME_GROUPS):
        named = t.inside[WORDS][(t.bits >> bit & 1) > 0]
        c.add(f"page_named_{group.split(' ', 1)[0]}", named.sum() / t.total)
    path, kind = _PATH.sub("", t.facts.url), t.facts.kind.lower()
    c.add("page_path", path.count("/"))
    c.add("page_is_home", path.strip("/") == "")
    c.add("page_says_article", "article" in kind)
    c.add("page_says_product", "product" in kind)
    c.add("page_says_kind", bool(kind))


def opinions(t: Table, first: Any) -> Columns:
    """What the first forest thinks of a block's surroundings; `first` has one probability per block."""
    c = Columns(t.n)
    np, words, index = t.np, t.block["words"], t.np.arange(t.n)
    running, plain = np.append(0.0, np.cumsum(first * words)), np.append(0.0, np.cumsum(first))
    inside = (running[t.end] - running[t.first]).astype(np.float32)
    total = max(1e-6, float(running[-1]))
    c.add("first", first)
    c.add("first_page", running[-1] / t.total)
    for by in (-4, -3, -2, -1, 1, 2, 3, 4):
        c.add(f"first_at{by}", _shifted(t, first, by))
    of_element = _share(inside, t.inside[WORDS])
    e = t.owner
    for level in range(1, 9):
        if level != 7:
            c.add(f"first_up{level}", of_element[e])
        e = t.parent[e]
    sums, weights = (np.bincount(t.group, weights=values, minlength=len(t.sizes)) for values in (inside, t.inside[WORDS]))
    for name, which in (("item", t.item), ("outer", t.outer)):
        e = which[t.owner]
        c.add(f"first_{name}_group", np.where(e != ABSENT, _share(sums, weights)[t.group[e]], -1))
        c.add(f"first_{name}", np.where(e != ABSENT, of_element[e], -1))
    c.add("first_path", (np.bincount(t.path, weights=first) / np.bincount(t.path))[t.path])
    c.add("first_path_words", _share(np.bincount(t.path, weights=first * words), np.bincount(t.path, weights=words))[t.path])
    c.add("first_so_far", running[1:] / total)
    c.add("first_to_come", (total - running[:-1]) / total)
    for reach in (10, 30):
        low, high = np.maximum(0, index - reach), np.minimum(t.n, index + reach + 1)
        c.add(f"first_before{reach}", _share(plain[index] - plain[low], index - low))
        c.add(f"first_after{reach}", _share(plain[high] - plain[np.minimum(index + 1, high)], high - index - 1))
        c.add(f"first_near{reach}", _share(running[high] - running[low], t.between(low, high)[WORDS]))
    c.add("first_best_before", np.maximum.accumulate(np.append(0.0, first[:-1])))
    c.add("first_best_after", np.maximum.accumulate(np.append(0.0, first[:0:-1]))[::-1])
    last, after = t.last_heading(), t.next_heading()
    c.add("first_heading", np.where(last != ABSENT, first[last], -1))
    start = np.maximum(last, 0)
    c.add("first_section", _share(running[after] - running[start], t.between(start, after)[WORDS]))
    sure = np.flatnonzero(first > 0.5)
    c.add("first_sure_before", index - (sure[0] if len(sure) else 0))
    c.add("first_sure_after", (sure[-1] if len(sure) else t.n - 1) - index)
    for share in (0.5, 0.8, 0.95):
        holds = np.flatnonzero(inside >= share * total)
        best = int(holds[np.argmax(t.depth[holds])]) if len(holds) else 0
        c.add(f"first_side_{share}", _side(t, t.first[best], t.end[best]))
        c.add(f"first_best_{share}", of_element[best])
    return c
