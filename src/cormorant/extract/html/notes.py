"""Footnotes: each said once, `[^1]` where it is referred to and `[^1]: ...` where the notes stand. Pure: works on the tree.

A reference is a short link (a number, a mark) to a place further down the page whose block holds text and no heading. The
link back from there and the repeated number are dropped. Notes that stand inside the sentence (side notes) move to the end.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from selectolax.lexbor import LexborHTMLParser, LexborNode

from cormorant.extract.html.nodes import is_inside, outermost, remove, unique

MAX_NOTES = 2_000
MAX_NOTE_CHARS = 6_000

_LABEL = re.compile(r"\W{0,2}(\d{1,4}|[a-z]|[ivxl]{1,5}|[*†‡§¶#]{1,3}|n?\.?\s?\d{1,3}|note \d+|fn\.? ?\d+)\W{0,2}", re.I)
_NUMBER = re.compile(r"\d{1,4}")
_BACK = re.compile(r"\s*(?:[↩↑⤴⇑^←⏎🔙\ufe0e\ufe0f]+|\[?(?:back|return|jump(?: up)?|jump back).{0,40}|↵)\s*", re.I)
_REF_NAMES = re.compile(r"footnote|noteref|fnref|reference|citation|endnote|cite|sidenote|\bfn\b", re.I)
_LEADING = re.compile(r"^\s*(?:[\[(^]*\s*(\d{1,4}|[a-z*†‡§¶]{1,3})\s*[\])]?\s*[.:)\]]*)\s*", re.I)
_BLOCKS = frozenset(["li", "p", "div", "dd", "td", "aside", "section", "blockquote", "tr"])
_HEADINGS = "h1,h2,h3,h4,h5,h6"
_ASIDE = (
    ".sidenote,.marginnote,.side-note,.margin-note,.ltx_role_footnote>.ltx_note_outer,span.footnote,span.inline-footnote"
    ",[role=doc-footnote]"
)
_COPIES = (
    "[class*=sidenote],[class*=marginnote],[class*=tooltip],[class*=popover],[class*=popup],[class*=footnote],[role=note]"
    ",[role=tooltip],[role=doc-footnote]"
)

REF = "data-note"  # on a <sup>: the label of the note it refers to
NOTE = "x-note"


class Notes:
    """The notes of a page, taken out of it: what stands here comes back only where something still refers to it."""

    def __init__(self, tree: LexborHTMLParser) -> None:
        self.tree = tree
        self.labels: dict[str, int] = {}
        self._shelf = tree.create_node("div")

    def refer(self, node: LexborNode, label: str) -> None:
        """A reference in place of `node`."""
        node.replace_with(self._reference(label))

    def refer_before(self, node: LexborNode, label: str) -> None:
        """A reference before `node`."""
        node.insert_before(self._reference(label))

    def _reference(self, label: str) -> LexborNode:
        made = self.tree.create_node("sup")
        made.attrs[REF] = label
        made.insert_child(label)
        return made

    def take(self, holder: LexborNode, label: str) -> None:
        """A note off the page."""
        self._shelf.insert_child(holder)  # a copy: the tree library does not move nodes
        holder.decompose()
        self.labels[label] = len(self.labels)

    def put_back(self, root: LexborNode) -> None:
        """Every note that what is left of the page refers to, at its end."""
        if not self.labels:
            return
        wanted = {node.attributes.get(REF) for node in root.css(f"sup[{REF}]")}
        holders = list(self._shelf.iter())
        for label, position in self.labels.items():
            if label not in wanted:
                continue
            made = self.tree.create_node(NOTE)
            made.attrs[REF] = label
            made.insert_child(holders[position])
            root.insert_child(made)


def take(tree: LexborHTMLParser, root: LexborNode) -> Notes:
    """The notes of a page off it, and a mark wherever one is referred to."""
    remove(root, ".ltx_role_footnotemark .ltx_note_outer")
    notes = Notes(tree)
    anchors = _anchors(root)
    if anchors and _part_lines(tree, root, {_fragment(anchor) for anchor in anchors}):
        anchors = _anchors(root)
    if anchors and len(anchors) <= MAX_NOTES * 3:
        _linked(root, anchors, notes)
    if not notes.labels:
        _loose(root, notes)
    _inside_sentences(root, notes)
    return notes


def _anchors(root: LexborNode) -> list[LexborNode]:
    return [node for node in root.css("a[href*='#']") if _fragment(node)]


def _part_lines(tree: LexborHTMLParser, root: LexborNode, wanted: set[str]) -> bool:
    """Notes that share a block, each on lines of its own: every note gets a paragraph. Says whether there were any."""
    starts: dict[int, list[int]] = {}
    blocks: dict[int, LexborNode] = {}
    for node in unique(root, "a[name],a[id],span[id],sup[id]"):
        block = node.parent
        if block is None or block.tag not in ("p", "div", "td", "dd", "section", "aside", "small") or not _starts_line(node):
            continue
        if {node.attributes.get("name"), node.attributes.get("id")} & wanted:
            starts.setdefault(block.mem_id, []).append(node.mem_id)
            blocks[block.mem_id] = block
    shared = {key: found for key, found in starts.items() if len(found) > 1 and not is_inside(blocks[key], set(starts))}
    for key, found in shared.items():
        block = blocks[key]
        lines = [tree.create_node("p")]
        for child in block.iter(include_text=True):
            if child.mem_id in found:
                lines.append(tree.create_node("p"))
            lines[-1].insert_child(child)  # a copy
        while (first := block.first_child) is not None:
            first.remove()
        for line in lines:
            block.insert_child(line)
    return bool(shared)


def _starts_line(node: LexborNode) -> bool:
    before = node.prev
    while before is not None and before.is_text_node and not (before.text_content or "").strip():
        before = before.prev
    return before is None or before.tag == "br"


def _fragment(anchor: LexborNode) -> str:
    """The place a link names; whether this page has it is seen later. Pages name themselves in many ways (`ch02.html#n1`)."""
    return (anchor.attributes.get("href") or "").strip().partition("#")[2]


def _linked(root: LexborNode, anchors: list[LexborNode], notes: Notes) -> None:
    wanted = {_fragment(anchor) for anchor in anchors}
    places = _places(root, wanted)
    for anchor in anchors:  # a word processor's notes have no id: the link back names the place it comes from
        back = _fragment(anchor)
        if "ref" in back and (forth := back.replace("ref", "", 1)) in wanted:
            places.setdefault(forth, anchor)
    held: dict[int, list[tuple[LexborNode, str]]] = {}
    holders: dict[int, LexborNode] = {}
    order: dict[int, int] = {}
    for anchor in anchors:
        place = places.get(_fragment(anchor))
        if place is None or not _refers(anchor, text := anchor.text(strip=True)):
            continue
        order = order or {node.mem_id: position for position, node in enumerate(root.traverse())}
        if order[place.mem_id] <= order[anchor.mem_id]:
            continue
        holder = _holder(place, root)
        if holder is None or order[holder.mem_id] <= order[anchor.mem_id] or not _is_note(holder):
            continue
        held.setdefault(holder.mem_id, []).append((anchor, text))
        holders[holder.mem_id] = holder
    # A block that several different notes lead to holds them all, and can't be one of them.
    alone = [key for key, refs in held.items() if len({_fragment(anchor) for anchor, _ in refs}) == 1]
    alone = [key for key in alone if not _inside(holders[key], held.keys())]
    _copies(root, [holders[key] for key in alone])
    labels: dict[int, str] = {}
    for key in alone:
        labels[key] = _label(held[key][0][1], set(labels.values()))
        _without_label(holders[key], held[key])
    for key, label in labels.items():
        for anchor, _ in held[key]:
            notes.refer(_wrapper(anchor), label)
    for key, label in labels.items():
        place = holders[key].parent
        notes.take(holders[key], label)
    if alone:
        _without_heading(place)


def _without_heading(place: LexborNode | None) -> None:
    """The heading of a list of notes goes with them: it is written for a screen reader, or says what the marks say."""
    while place is not None and not place.text(strip=True):
        place = place.parent
    if place is None or place.tag not in ("section", "div", "aside", "footer") or (heading := place.css_first(_HEADINGS)) is None:
        return
    alone = heading.text(strip=True) == place.text(strip=True)
    if alone and "footnote" in f"{heading.attributes.get('id')} {heading.text()}".lower():
        heading.decompose()


def _loose(root: LexborNode, notes: Notes) -> None:
    """Numbers raised above the line without a link, and blocks further down that begin with the same raised number."""
    raised: dict[str, list[LexborNode]] = {}
    holders: dict[str, LexborNode] = {}
    for node in root.css("sup"):
        text = node.text(strip=True).strip("[]()")
        if not (text.isdigit() and len(text) < 4) or node.css_first("a") is not None:
            continue
        block = _first_in_block(node)
        if block is None:
            raised.setdefault(text, []).append(node)
        elif text in raised and text not in holders and _is_note(block):
            holders[text] = block
    for place in root.css(".footnotes,.footnotes-list,.endnotes,[role=doc-endnotes]")[:1]:
        for number, item in enumerate(place.css("li"), start=1):
            if str(number) in raised and str(number) not in holders and _is_note(item):
                holders[str(number)] = item
    for label, holder in holders.items():
        for mark in holder.css("sup"):
            if mark.text(strip=True).strip("[]()") == label and _first_in_block(mark) is not None:
                mark.decompose()
                break
        for mark in raised[label]:
            if not _inside(mark, {holder.mem_id}):
                notes.refer(mark, label)
    for label, holder in holders.items():
        notes.take(holder, label)


def _first_in_block(node: LexborNode) -> LexborNode | None:
    """The block that a node is the very first text of."""
    at = node
    for _ in range(4):
        before = at.prev
        while before is not None and before.is_text_node and not (before.text_content or "").strip():
            before = before.prev
        if before is not None:
            return None
        parent = at.parent
        if parent is None:
            return None
        if parent.tag in ("p", "li", "div"):
            return parent if len(parent.text(strip=True)) > len(node.text(strip=True)) + 2 else None
        at = parent
    return None


def _refers(anchor: LexborNode, text: str) -> bool:
    if _BACK.fullmatch(text):
        return False
    if _LABEL.fullmatch(text):
        return True
    attributes = anchor.attributes
    kinds = " ".join(attributes.get(name) or "" for name in ("role", "rel", "data-type", "epub:type", "class"))
    if (parent := anchor.parent) is not None and parent.tag == "sup":
        kinds += " " + (parent.attributes.get("class") or "")
    return len(text) <= 12 and bool(_REF_NAMES.search(kinds))


def _holder(place: LexborNode, root: LexborNode) -> LexborNode | None:
    """The block a note stands in: the target itself, or the block around an inline target."""
    node: LexborNode | None = place
    for _ in range(6):
        if node is None or node.mem_id == root.mem_id or node.tag in ("body", "html", "main", "article"):
            return None
        if node.tag in _BLOCKS:
            if node.tag == "td":
                return node.parent
            parent = node.parent
            # <div id=ftn1><p>...</p></div> and the bare target inside <li> are the same note.
            if node.tag == "p" and parent is not None and parent.tag in ("li", "dd") and parent.css_first("p") is not None:
                return parent if len(parent.css("p")) <= 3 and node.mem_id == parent.css("p")[0].mem_id else node
            return node
        node = node.parent
    return None


def _is_note(holder: LexborNode) -> bool:
    text = holder.text(strip=True)
    if not text or len(text) > MAX_NOTE_CHARS or holder.css_first(_HEADINGS) is not None:
        return False
    return len(_LEADING.sub("", text).strip()) > 1


def _inside(holder: LexborNode, others: Collection[int]) -> bool:
    parent = holder.parent
    for _ in range(8):
        if parent is None:
            return False
        if parent.mem_id in others:
            return True
        parent = parent.parent
    return False


def _label(text: str, used: set[str]) -> str:
    found = _NUMBER.search(text)
    label = found[0].lstrip("0") or "0" if found else text.strip("[]() .") if re.fullmatch(r"\W?[a-z]{1,5}\W?", text, re.I) else ""
    if label and label not in used:
        return label
    number = len(used) + 1
    while str(number) in used:
        number += 1
    return str(number)


def _wrapper(anchor: LexborNode) -> LexborNode:
    """The reference with the `<sup>` or `<span>` that holds nothing else."""
    node = anchor
    for _ in range(3):
        parent = node.parent
        if (
            parent is None
            or parent.tag not in ("sup", "span", "small", "b", "strong", "em")
            or parent.text(strip=True) != anchor.text(strip=True)
        ):
            break
        node = parent
    return node


def _places(root: LexborNode, wanted: set[str]) -> dict[str, LexborNode]:
    """Where each of these names leads: to the first element that has it as its id, or else as its name."""
    places: dict[str, LexborNode] = {}
    for attribute in ("id", "name"):
        for node in root.css(f"[{attribute}]"):
            name = node.attributes.get(attribute)
            if name and name in wanted:
                places.setdefault(name, node)
    return places


def _without_label(holder: LexborNode, refs: list[tuple[LexborNode, str]]) -> None:
    """Drops the links back and the number a note begins with."""
    targets = {anchor.attributes.get("id") or anchor.attributes.get("name") or "" for anchor, _ in refs}
    for anchor, _ in refs:
        wrapper = _wrapper(anchor)
        targets |= {wrapper.attributes.get("id") or "", (wrapper.parent.attributes.get("id") or "") if wrapper.parent is not None else ""}
    for anchor in holder.css("a"):
        text = anchor.text(strip=True)
        fragment = _fragment(anchor)
        names = " ".join(anchor.attributes.get(name) or "" for name in ("class", "role", "rev"))
        back = fragment and (fragment in targets - {""} or re.search(r"ref|back|return", fragment, re.I))
        if (
            (back and (len(text) <= 6 or _BACK.fullmatch(text) or _LABEL.fullmatch(text)))
            or _BACK.fullmatch(text)
            or "backref" in names
            or "backlink" in names
        ):
            wrapper = _wrapper(anchor)
            (wrapper if wrapper.mem_id != holder.mem_id else anchor).decompose()
    for label in outermost(holder, ".label,.fn-bracket"):  # Sphinx sets the brackets apart from the number
        if not label.text(strip=True).strip("[]"):
            label.remove()
    labels = {match[1].lower() for _, text in refs if (match := _LABEL.fullmatch(text))}
    for node in holder.traverse(include_text=True):
        if not node.is_text_node or not (text := node.text_content or "").strip():
            continue
        found = _LEADING.match(text)
        if found and found[1].lower() in labels:
            rest = text[found.end() :]
            if rest.strip():
                node.replace_with(rest)
            else:
                parent = node.parent
                node.decompose()
                if parent is not None and parent.tag in ("sup", "span", "b", "strong", "a") and not parent.text(strip=True):
                    parent.decompose()
        break


def _copies(root: LexborNode, holders: list[LexborNode]) -> None:
    """The same note again, in a side note or a tooltip: left out."""
    if not holders:
        return
    texts = {_bare(holder) for holder in holders}
    own = {holder.mem_id for holder in holders}
    for node in outermost(root, _COPIES):
        if node.mem_id in own or _inside(node, own) or any(inner.mem_id in own for inner in node.css("li,p,div,aside,span")[:200]):
            continue
        if len(bare := _bare(node)) > 8 and bare in texts:
            node.decompose()


def _bare(node: LexborNode) -> str:
    """The words of a note, without its number and the arrow back."""
    text = " ".join(node.text(separator=" ").split())
    return re.sub(r"[\s↩↑⤴⇑^↵\ufe0e\ufe0f]+$", "", _LEADING.sub("", text)).strip()


def _inside_sentences(root: LexborNode, notes: Notes) -> None:
    """Notes printed within the running text: a reference there, the note at the end."""
    for node in outermost(root, _ASIDE)[:MAX_NOTES]:
        parent = node.parent
        if parent is None or node.css_first("h1,h2,h3,p,table") is not None or len(node.text(strip=True)) < 12 or not _runs_on(node):
            continue
        found = _LEADING.match(node.text(strip=True))
        label = _label(found[1] if found and found[1].isdigit() else "", set(notes.labels))
        remove(node, ".ltx_note_mark,.ltx_tag_note,.ltx_note_type,.sidenote-number")
        notes.refer_before(node, label)
        notes.take(node, label)
        for mark in outermost(parent, ".ltx_note_mark,label.margin-toggle,.sidenote-number"):
            if mark.mem_id != parent.mem_id:
                mark.decompose()


def _runs_on(node: LexborNode) -> bool:
    """Text beside it, in the same paragraph."""
    parent = node.parent
    for _ in range(3):
        if parent is None:
            return False
        if parent.tag in ("p", "li", "td", "dd"):
            return len(parent.text(strip=True)) > len(node.text(strip=True)) + 10
        parent = parent.parent
    return False
