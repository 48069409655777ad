"""The surviving tree to Markdown: one walk without recursion, so that no nesting can break it. Pure.

Only elements that hold blocks of their own (lists, items, quotes, cells, notes) get a box; every other element writes into
the box it stands in, and a block element just ends the run of text before and after it. So the cost is that of the page,
however deep it nests, and the border of a block is always the border of a word.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from selectolax.lexbor import LexborNode

from cormorant.extract.html import admonitions, code, images, inline, media, notes, tables
from cormorant.extract.html.assemble import Block, definition_blocks, item, joined, one_list, quoted
from cormorant.extract.html.links import Addresses
from cormorant.extract.html.metadata import words_of
from cormorant.extract.html.tables import Cell, Table

MAX_LISTS = 12  # deeper lists go on at this depth: no reader follows, and indentation would grow with the square
MAX_QUOTES = 8
MAX_TABLES = 6
MAX_LINK_CHARS = 20_000

Leave = Callable[[], None]
_SKIP = frozenset(
    (
        "script style noscript template head title meta link base svg canvas object embed iframe select option datalist textarea "
        "button input area map param source track frame frameset dialog audio video progress meter rp"
    ).split()
)
_BLOCK = frozenset(
    (
        "div p section article main header footer nav aside figure figcaption address form fieldset legend center hgroup details "
        "summary body html dir search picture-block tbody thead tfoot colgroup"
    ).split()
)
_SUPERSCRIPT = re.compile(r"[+\-−–]?[\d.,]{1,6}|[+\-−–]|n|[a-z]|[+\-−–]?\d*[nxki]|[a-z\d][+\-−–][a-z\d]")
_PLAIN_NAME = re.compile(r"[\w+#.*†‡§¶-]{0,40}")  # what our own passes write into attributes; a page may write anything
_NOTE_MARK = re.compile(r"[\[(]?(?:\d{1,3}|[*†‡§¶↩↑^])[\])]?|\[[a-z]\]", re.I)
_TYPED = re.compile(r"\\\((.{1,2000}?)\\\)|\\\[(.{1,4000}?)\\\]|\$\$(.{1,4000}?)\$\$", re.S)


@dataclass(slots=True, eq=False)
class Box:
    """Where blocks collect: the page, an item, a cell, a quote, a list."""

    kind: str = "page"
    blocks: list[Block] = field(default_factory=list)
    counter: int = 1
    step: int = 1
    ordered: bool = False


@dataclass(slots=True, eq=False)
class Mark:
    """An inline element that is open: how it begins, how it ends, and whether a link has been spent on a block."""

    start: str
    end: str
    href: str = ""
    spent: bool = False


class Renderer:
    """One page. `title` is the page's own: the heading that says it is the only one of level 1."""

    def __init__(self, addresses: Addresses, *, title: str = "", plain: bool = False) -> None:
        self.addresses = addresses
        self.title = title
        self.titled = False
        self.plain = plain
        self.store = inline.Store()
        self.boxes = [Box()]
        self.run: list[str] = []
        self.marks: list[Mark] = []
        self.tables: list[Table] = []
        self.heading = 0
        self.lists = 0
        self.quotes = 0
        self.last_image = ""

    def render(self, root: LexborNode) -> str:
        """The Markdown of everything below `root`."""
        stack: list[tuple[Iterator[LexborNode], Leave | None]] = [(root.iter(include_text=True), None)]
        while stack:
            children, leave = stack[-1]
            for node in children:
                tag = node.tag
                if tag == "-text":
                    self._text(node.text_content or "")
                    continue
                if tag in _SKIP and tag not in _SPECIAL:
                    continue
                entered = self._enter(node, tag or "")
                if entered is not None:
                    stack.append((node.iter(include_text=True), entered))
                    break
            else:
                stack.pop()
                if leave is not None:
                    leave()
        self._end_run()
        blocks = self.boxes[0].blocks
        followers = [*blocks[1:], None]
        return joined([block for block, after in zip(blocks, followers, strict=False) if block.kind != "rule" or _parts(after)])

    # Entering: a function to call on leaving, or None where the element is done with.

    def _enter(self, node: LexborNode, tag: str) -> Leave | None:
        if enter := _ENTER.get(tag):
            return enter(self, node)
        if tag in _BLOCK:
            return self._block(node, tag)
        return _nothing if tag[:1] != "-" and tag[:1] != "!" else None

    def _block(self, node: LexborNode, tag: str) -> Leave | None:
        self._end_run()
        if tag in ("div", "section", "aside", "details", "p"):
            attributes = node.attributes
            if attributes.get("role") == "heading":
                return self._titled(min(6, max(2, _number(attributes.get("aria-level"), 2))))
            if (kind := admonitions.kind_of(node)) is not None:
                return self._admonition(node, kind)
        return self._end_run

    def _text(self, text: str) -> None:
        if not text.isascii() and inline.RESERVED.search(text):
            text = inline.RESERVED.sub("", text)
        if not self.run:
            if text.isspace():
                return
            self._open_marks()
        if "\\(" in text or "\\[" in text or "$$" in text:
            text = _TYPED.sub(self._typed, text)
        self.run.append(text)

    def _typed(self, found: re.Match[str]) -> str:
        """A formula typed into the text between TeX delimiters, for a script to draw."""
        tex = " ".join((found[1] or found[2] or found[3]).split())
        if not tex:
            return found[0]
        return self.store.keep(f"${tex}$" if found[1] else f"$${tex}$$", tex)

    def _open_marks(self) -> None:
        """A new run inside elements that are still open: their marks are said again; a link only once."""
        for mark in self.marks:
            if not mark.spent:
                self.run.append(mark.start)

    def _write(self, piece: str) -> None:
        if not self.run:
            self._open_marks()
        self.run.append(piece)

    def _end_run(self) -> None:
        if not self.run:
            return
        run = self._closed_run()
        box = self.boxes[-1]
        if self.heading:
            if text := inline.one_line(run, self.store, plain=self.plain, strong=False):
                box.blocks.append(Block("p", text))
            return
        for text in inline.paragraphs(run, self.store, plain=self.plain):
            box.blocks.append(Block("p", text))

    def _closed_run(self) -> str:
        """The run with its open marks closed; a link that has had text by now is not written again."""
        run, self.run = "".join(self.run), []
        for mark in reversed(self.marks):
            if mark.spent:
                continue
            if mark.href:
                mark.spent = not inline.is_hollow(run[run.rfind(mark.start) :])
            run += mark.end
        return run

    def _add(self, block: Block) -> None:
        if block.text:
            self.boxes[-1].blocks.append(block)

    # Inline elements.

    def _inline(self, start: str, end: str) -> Leave:
        if (self.heading and start == inline.STRONG) or any(mark.start == start for mark in self.marks):
            return _nothing
        mark = Mark(start, end)
        return self._marked(mark)

    def _marked(self, mark: Mark) -> Leave:
        if self.run:
            self.run.append(mark.start)
        self.marks.append(mark)

        def leave() -> None:
            self.marks.remove(mark)
            if self.run and not mark.spent:
                self.run.append(mark.end)

        return leave

    def _strong(self, node: LexborNode) -> Leave:
        return self._inline(inline.STRONG, inline.STRONG_END)

    def _em(self, node: LexborNode) -> Leave:
        return self._inline(inline.EM, inline.EM_END)

    def _strike(self, node: LexborNode) -> Leave:
        return self._inline(inline.STRIKE, inline.STRIKE_END)

    def _link(self, node: LexborNode) -> Leave | None:
        attributes = node.attributes
        href = self.addresses.written(attributes.get("href") or "")
        if not href or any(mark.href for mark in self.marks):
            return _nothing
        if href.startswith(self.addresses.page + "#") and _NOTE_MARK.fullmatch(node.text(strip=True)):
            return _nothing  # it leads to a note that is not here
        return self._marked(Mark(inline.LINK, self.store.link(href), href))

    def _code(self, node: LexborNode) -> Leave | None:
        if (inner := node.first_child) is not None and inner.tag != "-text" and node.css_first("pre,table,ul,p") is not None:
            return _nothing
        text = node.text()
        if _is_block_code(node, text):
            self._listing(node)
            return None
        text = inline.RESERVED.sub("", text.replace("\u00a0", " "))
        if span := code.span(text):
            lead, tail = (" " if text[0].isspace() else ""), (" " if text[-1].isspace() else "")
            self._write(lead + self.store.keep(span, " ".join(text.split())) + tail)
        return None

    def _break(self, node: LexborNode) -> None:
        if self.run:
            self.run.append(inline.BREAK)

    def _superscript(self, node: LexborNode) -> Leave | None:
        label = node.attributes.get(notes.REF)
        if label and _PLAIN_NAME.fullmatch(label):
            while self.run and self.run[-1].isspace():
                self.run.pop()
            self._write(self.store.keep(f"[^{label}]", f"[{label}]"))
            return None
        text = node.text(strip=True)
        before = self.run[-1][-1:] if self.run else ""
        if (_SUPERSCRIPT.fullmatch(text) and before.isalnum()) or (before in (")", "]") and text.isdigit()):
            self.run.append("^")
        return _nothing

    def _quotation(self, node: LexborNode) -> Leave:
        self._write('"')
        return lambda: self._write('"')

    def _reading(self, node: LexborNode) -> Leave:
        """How a character is read stands in brackets behind it."""
        self._write("(")
        return lambda: self._write(")")

    def _image(self, node: LexborNode) -> None:
        attributes = node.attributes
        if emoji := images.emoji_of(attributes):
            self._write(emoji)
            return
        source = images.source_of(attributes)
        if not source and (picture := node.parent) is not None and picture.tag == "picture":
            sets = (one.attributes for one in picture.css("source"))
            source = next((found for one in sets if (found := images.best_of(one.get("srcset") or one.get("data-srcset") or ""))), "")
        alt = " ".join((attributes.get("alt") or "").split())
        if not source or images.is_decoration(attributes, source):
            return
        address = self.addresses.written(source)
        if not address or address == self.last_image:
            return
        self.last_image = address
        shown = inline.one_line(alt, self.store) if alt else ""
        if shown.count("[") != shown.count("]"):
            shown = re.sub(r"(?<!\\)([\[\]])", r"\\\1", shown)
        self._write(self.store.keep(f"![{shown}]({address})", alt))

    def _math(self, node: LexborNode) -> None:
        text = " ".join(inline.RESERVED.sub("", node.text()).split())
        if not text:
            return
        if node.attributes.get("display") == "block" and not self.heading:
            self._end_run()
            self._add(Block("math", text, text) if self.plain else Block("math", f"$$\n{text}\n$$", f"${text}$"))
        else:
            self._write(self.store.keep(f"${text}$", text))

    def _wbr(self, node: LexborNode) -> None:
        return None

    def _media(self, node: LexborNode) -> None:
        """A film, a recording, a player: where it can be had."""
        if found := media.of(node):
            self._reference(*found)

    def _reference(self, source: str, label: str) -> None:
        if address := self.addresses.written(source):
            self._end_run()
            label = inline.one_line(label, self.store)
            self._add(Block("p", label if self.plain else f"[{label}]({address})"))

    # Blocks.

    def _heading(self, node: LexborNode) -> Leave:
        level = int((node.tag or "h2")[1])
        if level == 1:
            # A document has one title. Pages that set every section, or the name of the site, as h1 are common.
            own = not self.title or words_of(node.text(separator=" ")) == words_of(self.title)
            level = 1 if own and not self.titled else 2
            self.titled = self.titled or own
        return self._titled(level)

    def _titled(self, level: int) -> Leave:
        self._end_run()
        if self.heading:
            return self._end_run
        self.heading = level
        self.boxes.append(Box("heading"))

        def leave() -> None:
            self._end_run()
            box = self.boxes.pop()
            self.heading = 0
            text = " ".join(" ".join(block.text.split()) for block in box.blocks)
            if text:
                self._add(Block("heading", text if self.plain else f"{'#' * level} {_closed(text)}"))

        return leave

    def _rule(self, node: LexborNode) -> None:
        self._end_run()
        if not self.tables and not self.plain and self.boxes[-1].blocks:
            self._add(Block("rule", "---"))

    def _pre(self, node: LexborNode) -> None:
        self._listing(node)

    def _listing(self, node: LexborNode) -> None:
        self._end_run()
        language = node.attributes.get(code.DONE)
        text = inline.RESERVED.sub("", code.text_of(node) if language is None else node.text())
        if node.tag == "code":
            text = textwrap.dedent(text).strip()
        if text.strip():
            language = code.language_of(node) if language is None or not _PLAIN_NAME.fullmatch(language) else language
            self._add(Block("code", text if self.plain else code.fenced(text, language), text))

    def _quote(self, node: LexborNode) -> Leave:
        self._end_run()
        kind = admonitions.kind_of(node)
        return self._quoted() if kind is None else self._admonition(node, kind)

    def _quoted(self) -> Leave:
        if self.quotes >= MAX_QUOTES:
            return self._end_run
        self.quotes += 1
        self.boxes.append(Box("quote"))

        def leave() -> None:
            self._end_run()
            self.quotes -= 1
            text = joined(self.boxes.pop().blocks)
            if text:
                self._add(Block("quote", text if self.plain else quoted(text)))

        return leave

    def _admonition(self, node: LexborNode, kind: str) -> Leave:
        """A box with a label: a quotation whose first line is the label, the page's own or the kind it is of."""
        leave = self._quoted()
        if leave == self._end_run:
            return leave
        box = self.boxes[-1]
        own = admonitions.is_titled(node)

        def labelled() -> None:
            self._end_run()
            first = box.blocks[0] if box.blocks else None
            if first is not None and first.kind == "p" and not first.text.startswith("**") and not self.plain:
                if own or first.text.lower() == kind.lower():
                    first.text = f"**{first.text}**"
                elif kind:
                    box.blocks.insert(0, Block("p", f"**{kind.capitalize()}**"))
            leave()

        return labelled

    def _list(self, node: LexborNode) -> Leave:
        self._end_run()
        if self.lists >= MAX_LISTS:
            return self._end_run
        self.lists += 1
        box = Box("list", ordered=node.tag == "ol")
        if box.ordered:
            attributes = node.attributes
            box.counter = _number(attributes.get("start"), 1)
            if "reversed" in attributes:
                box.step = -1
                box.counter = _number(attributes.get("start"), sum(1 for child in node.iter() if child.tag == "li"))
        self.boxes.append(box)

        def leave() -> None:
            self._end_run()
            self.lists -= 1
            self.boxes.pop()
            for block in one_list(box.blocks):
                self._add(block)

        return leave

    def _item(self, node: LexborNode) -> Leave:
        self._end_run()
        holder = self.boxes[-1]
        if holder.kind == "note":  # the item was the note
            return self._end_run
        box = Box("item")
        self.boxes.append(box)
        mark = "- "
        if holder.kind == "list" and holder.ordered:
            number = _number(node.attributes.get("value"), holder.counter)
            mark = f"{max(number, 0)}. "

        def leave() -> None:
            self._end_run()
            self.boxes.pop()
            if text := item(box.blocks, mark):
                self._add(Block("item", text))
                if mark != "- ":
                    holder.counter = number + holder.step

        return leave

    def _definitions(self, node: LexborNode) -> Leave:
        self._end_run()
        self.boxes.append(Box("definitions"))

        def leave() -> None:
            self._end_run()
            for block in definition_blocks(self.boxes.pop().blocks, plain=self.plain):
                self._add(block)

        return leave

    def _term(self, node: LexborNode) -> Leave | None:
        leave = self._collected("term")
        if "sig" in (node.attributes.get("class") or "").split() or node.css_first("code.descname") is not None:
            self._code(node)  # Sphinx writes a signature as a dozen pieces of markup
            leave()
            return None
        return leave

    def _definition(self, node: LexborNode) -> Leave:
        return self._collected("definition")

    def _collected(self, kind: str) -> Leave:
        """A box that becomes one block of that kind in a definition list, and just its blocks anywhere else."""
        self._end_run()
        holder = self.boxes[-1]
        if holder.kind != "definitions":
            return self._end_run
        box = Box(kind)
        self.boxes.append(box)

        def leave() -> None:
            self._end_run()
            self.boxes.pop()
            text = joined(box.blocks)
            if text:
                simple = len(box.blocks) == 1 and box.blocks[0].kind == "p"
                holder.blocks.append(Block(kind, text, "simple" if simple else ""))

        return leave

    def _note(self, node: LexborNode) -> Leave:
        label = node.attributes.get(notes.REF) or ""
        if not _PLAIN_NAME.fullmatch(label):
            return _nothing
        self._end_run()
        box = Box("note")
        self.boxes.append(box)

        def leave() -> None:
            self._end_run()
            self.boxes.pop()
            mark = f"[{label}] " if self.plain else f"[^{label}]: "
            if box.blocks:
                text = joined(box.blocks).replace("\n", "\n    ")
                self._add(Block("note", mark + re.sub(r"\n +\n", "\n\n", text)))

        return leave

    # Tables.

    def _table(self, node: LexborNode) -> Leave | None:
        self._end_run()
        if len(self.tables) >= MAX_TABLES:
            return self._end_run
        attributes = node.attributes
        equation = "ltx_eq" in (attributes.get("class") or "")  # LaTeXML sets a formula and its number in a table
        table = Table(layout=equation or (attributes.get("role") or "") in ("presentation", "none"))
        if self.tables:
            self.tables[-1].nested = True
        self.tables.append(table)
        mine = Box("table")
        self.boxes.append(mine)

        def leave() -> None:
            self._end_run()
            self.boxes.pop()
            self.tables.pop()
            for block in [*mine.blocks, *tables.blocks_of(table, plain=self.plain)]:
                self._add(block)

        return leave

    def _row(self, node: LexborNode) -> Leave:
        self._end_run()
        if self.tables:
            self.tables[-1].add_row()
        return self._end_run

    def _cell(self, node: LexborNode) -> Leave:
        self._end_run()
        if not self.tables or self.boxes[-1].kind != "table":
            return self._end_run
        table = self.tables[-1]
        attributes = node.attributes
        box = Box("cell")
        self.boxes.append(box)

        def leave() -> None:
            self._end_run()
            self.boxes.pop()
            columns, rows = _number(attributes.get("colspan"), 1), _number(attributes.get("rowspan"), 1)
            table.add(Cell(box.blocks, max(columns, 1), max(rows, 1), node.tag == "th" or _in_head(node)))

        return leave

    def _caption(self, node: LexborNode) -> Leave:
        self._end_run()
        if not self.tables:
            return self._end_run
        table = self.tables[-1]
        box = Box("caption")
        self.boxes.append(box)

        def leave() -> None:
            self._end_run()
            self.boxes.pop()
            table.caption = joined(box.blocks)

        return leave


def _parts(after: Block | None) -> bool:
    """Whether a rule before this block parts anything: at the end, and before notes, which have their own form, it doesn't."""
    return after is not None and after.kind not in ("note", "rule")


def _nothing() -> None:
    return None


def _closed(text: str) -> str:
    """A heading that ends in `#` would lose it: ATX headings may be closed by a run of them."""
    return re.sub(r" (#+)$", r" \\\1", text)


def _number(value: str | None, default: int) -> int:
    found = re.match(r"\s*(-?\d{1,9})", value or "")
    return int(found[1]) if found else default


def _in_head(cell: LexborNode) -> bool:
    row = cell.parent
    return row is not None and row.parent is not None and row.parent.tag == "thead"


def _is_block_code(node: LexborNode, text: str) -> bool:
    """`<code>` that stands alone and runs over lines is a listing without its `<pre>`."""
    if "block" in (node.attributes.get("class") or "").split():
        return True
    if "\n" not in text.strip() and not (node.css_first("br") or node.css_first("div")):
        return False
    parent = node.parent
    if parent is None or parent.tag not in ("div", "section", "article", "main", "body", "figure", "td", "li", "p"):
        return False
    return parent.text(strip=True) == text.strip() and ("\n " in text or node.css_first("br,div") is not None)


_ENTER: dict[str, Callable[[Renderer, LexborNode], Leave | None]] = {
    **dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), Renderer._heading),
    **dict.fromkeys(("b", "strong"), Renderer._strong),
    **dict.fromkeys(("i", "em", "dfn"), Renderer._em),
    **dict.fromkeys(("del", "s", "strike"), Renderer._strike),
    **dict.fromkeys(("code", "tt", "samp", "kbd"), Renderer._code),
    **dict.fromkeys(("ul", "ol", "menu", "dir"), Renderer._list),
    **dict.fromkeys(("td", "th"), Renderer._cell),
    **dict.fromkeys(("pre", "listing", "xmp", "plaintext"), Renderer._pre),
    **dict.fromkeys(("video", "audio", "iframe", "object", "embed", "lite-youtube", "lite-vimeo"), Renderer._media),
    "a": Renderer._link,
    "blockquote": Renderer._quote,
    "br": Renderer._break,
    "caption": Renderer._caption,
    "dd": Renderer._definition,
    "dl": Renderer._definitions,
    "dt": Renderer._term,
    "hr": Renderer._rule,
    "img": Renderer._image,
    "li": Renderer._item,
    "math": Renderer._math,
    "q": Renderer._quotation,
    "rt": Renderer._reading,
    "sup": Renderer._superscript,
    "table": Renderer._table,
    "tr": Renderer._row,
    "wbr": Renderer._wbr,
    notes.NOTE: Renderer._note,
}
_SPECIAL = frozenset(_ENTER) & _SKIP


def markdown(root: LexborNode, addresses: Addresses, *, title: str = "", plain: bool = False) -> str:
    """The Markdown (or plain text) of everything below `root`."""
    return Renderer(addresses, title=title, plain=plain).render(root)
