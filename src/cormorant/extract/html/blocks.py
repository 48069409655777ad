"""A page cut into blocks: runs of text that no block element interrupts, in document order. Pure.

One walk over the tree. Every element covers an unbroken range of blocks, so that whatever is to be known about an element
(its words, the share of them in links, how many blocks were kept) is a difference of two running sums.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

INLINE = frozenset(
    "a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark q rp rt ruby s samp small span strike strong sub sup"
    " time tt u var wbr nobr img picture source math".split()
)
BLIND = frozenset("script style noscript template svg iframe object embed head canvas audio video map option optgroup datalist".split())
# Controls are never part of what a page says; whatever they hold goes when they go.
CONTROLS = frozenset("select textarea input datalist".split())
BOLD = frozenset(("b", "strong"))
WORD = re.compile(r"\w+")
# Scripts written without spaces: two characters count as a word.
UNSPACED = re.compile("[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
MAX_BLOCKS = 20_000  # a page with more is cut here, and what follows is kept as it is
ABSENT = -1


@dataclass(slots=True)
class Block:
    """One run of text. `owner` is the index of the innermost element that is not inline."""

    owner: int
    text: str
    words: int
    link_words: int
    bold_words: int
    links: int
    images: int
    forced: bool = False  # a control: goes whatever its neighbours do


@dataclass(slots=True)
class Element:
    """An element that is not inline. Covers blocks `first` to `end`, exclusive; elements stand in document order."""

    tag: str
    parent: int
    depth: int
    names: str  # class and id, as written
    role: str
    first: int
    end: int = 0


class Kids(list[Any]):
    """What lies in an element, four entries for each node: it, the blocks it covers, and its own Kids where blocks may differ.

    Flat, since thousands of small tuples a page would keep the garbage collector busy.
    """


@dataclass(slots=True)
class Page:
    """What the walk found."""

    blocks: list[Block]
    elements: list[Element]
    kids: Kids


def count_words(text: str) -> int:
    """Words, where two characters of an unspaced script count as one."""
    if text.isascii():
        return len(text.split())
    return len(text.split()) + len(UNSPACED.findall(text)) // 2


class _Run:
    """The text being gathered until a block element ends it."""

    __slots__ = ("bold", "breaks", "images", "link_words", "links", "parts", "seen")

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        self.parts: list[str] = []
        self.seen = False  # something that can be seen is in it: text that is not blank, or an image
        self.link_words = self.bold = self.links = self.images = self.breaks = 0


class _Walk:
    """State of the one pass. Iterative: pages nest thousands of elements deep."""

    def __init__(self, root: Any) -> None:
        self.blocks: list[Block] = []
        self.elements: list[Element] = [Element("body", ABSENT, 0, "", "", 0)]
        self.run = _Run()
        self.owner = 0
        self.in_link = 0
        self.in_bold = 0

    def flush(self, *, forced: bool = False) -> None:
        run = self.run
        if run.seen or forced:
            text = " ".join("".join(run.parts).split())
            words = count_words(text)
            if words and not WORD.search(text):
                words = 0
            self.blocks.append(Block(self.owner, text, words, min(run.link_words, words), run.bold, run.links, run.images, forced))
            run.clear()
        elif run.parts:
            run.clear()

    def pending(self) -> int:
        return len(self.blocks) + self.run.seen

    def text(self, text: str) -> None:
        """Text that is not blank."""
        run = self.run
        run.parts.append(text)
        run.seen, run.breaks = True, 0
        if self.in_link:
            run.link_words += count_words(text)
        if self.in_bold:
            run.bold += count_words(text)

    def inline(self, tag: str) -> None:
        run = self.run
        if tag == "a":
            run.links += 1
            self.in_link += 1
        elif tag in BOLD:
            self.in_bold += 1
        elif tag == "img":
            run.images += 1
            run.seen = True

    def line_break(self) -> None:
        run = self.run
        run.breaks += 1
        if run.breaks == 2 and run.seen:
            self.flush()
        else:
            run.parts.append(" ")

    def open(self, node: Any, tag: str, parent: int) -> int:
        """A new element; `parent` is the innermost element around it."""
        attributes = node.attributes
        names = role = ""
        if attributes:
            names = f"{attributes.get('class') or ''} {attributes.get('id') or ''}"
            role = attributes.get("role") or ""
        self.elements.append(Element(tag, parent, self.elements[parent].depth + 1, names, role, len(self.blocks)))
        return len(self.elements) - 1

    def leaf(self, node: Any, tag: str) -> bool:
        """Whether this node has nothing inside to walk into; what it says is taken in."""
        if tag == "br":
            self.line_break()
        elif tag in CONTROLS:
            self.flush()
            self.flush(forced=True)
        elif tag == "math":
            self.text(node.text() or " ")
        else:
            return tag in BLIND or tag[0] == "-"
        return True

    def close(self, tag: str, element: int, cut_at: int) -> bool:
        """Ends an element; whether blocks end or begin inside it."""
        if tag not in INLINE:
            self.flush()
            self.elements[element].end = len(self.blocks)
            return True
        if tag == "a":
            self.in_link -= 1
        elif tag in BOLD:
            self.in_bold -= 1
        # A card that is one big link: blocks lie inside an inline element.
        return len(self.blocks) > cut_at


def cut(root: Any) -> Page:
    """The blocks and elements under `root` (a selectolax node), which is left untouched."""
    walk = _Walk(root)
    blocks, run = walk.blocks, walk.run
    top = kids = Kids()
    # One frame per open element: node, tag, element around it, first block, blocks at its opening, its siblings.
    stack: list[tuple[Any, str, int, int, int, Kids]] = []
    element = 0
    node = root.first_child
    while node is not None or stack:
        if node is None:
            node, tag, around, first, cut_at, siblings = stack.pop()
            inside = walk.close(tag, element, cut_at)
            siblings += (node, first, walk.pending(), kids if inside else None)
            element, walk.owner, kids = around, around, siblings
            node = node.next
            continue
        tag = node.tag or "-none"
        first = len(blocks)
        if tag == "-text":
            text = node.text_content
            if text and not text.isspace():
                walk.text(text)
                kids += (node, first, first + 1, None)
            elif run.seen:  # blank text is never removed for itself
                run.parts.append(" ")
            node = node.next
            continue
        if walk.leaf(node, tag):
            kids += (node, len(blocks) - 1 if tag in CONTROLS else first, len(blocks) + run.seen, None)
            node = node.next
            continue
        if first >= MAX_BLOCKS:
            break
        if tag in INLINE:
            walk.inline(tag)
            stack.append((node, tag, element, first, first, kids))
        else:
            walk.flush()
            first = len(blocks)
            stack.append((node, tag, element, first, ABSENT, kids))
            element = walk.owner = walk.open(node, tag, element)
        kids = Kids()
        node = node.first_child
    while stack:  # only when the page was cut at MAX_BLOCKS
        node, tag, around, first, cut_at, siblings = stack.pop()
        inside = walk.close(tag, element, cut_at)
        siblings += (node, first, walk.pending(), kids if inside else None)
        element, walk.owner, kids = around, around, siblings
    walk.flush()
    walk.elements[0].end = len(walk.blocks)
    return Page(walk.blocks, walk.elements, top)


def prune(page: Page, kept: Sequence[bool]) -> None:
    """Removes from the tree, in place, every node whose blocks are all dropped."""
    before = [0]
    for keep in kept:
        before.append(before[-1] + bool(keep))
    waiting = [page.kids]
    while waiting:
        kids = waiting.pop()
        for node, first, end, inside in zip(kids[::4], kids[1::4], kids[2::4], kids[3::4], strict=True):
            if end == first:
                continue
            count = before[end] - before[first]
            if count == 0:
                node.decompose()
            elif inside is not None and count < end - first:
                waiting.append(inside)
