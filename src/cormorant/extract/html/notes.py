"""Footnotes: each said once, `[^1]` where it is referred to and `[^1]: ...` where the notes stand. Pure: works on the tree.

A reference is a short link (a number, a mark) to a place further down the page whose block holds text and no heading. The
link back from there and the repeated number are dropped. Notes that stand inside the sentence (side notes) move to the end.
"""

from __future__ import annotations

import re

from selectolax.lexbor import LexborHTMLParser, LexborNode

MAX_NOTES = 2_000
MAX_NOTE_CHARS = 6_000

_LABEL = re.compile(r"\W{0,2}(\d{1,4}|[a-z]|[ivxl]{1,5}|[*†‡§¶#]{1,3}|n?\.?\s?\d{1,3}|note \d+|fn\.? ?\d+)\W{0,2}", re.I)
_NUMBER = re.compile(r"\d{1,4}")
_BACK = re.compile(r"\s*(?:[↩↑⤴⇑^←⏎🔙\ufe0e\ufe0f]+|\[?(?:back|return|jump(?: up)?|jump back).{0,40}|↵)\s*", re.I)
_REF_NAMES = re.compile(r"footnote|noteref|fnref|reference|citation|endnote|cite|sidenote|\bfn\b", re.I)
_LEADING = re.compile(r"^\s*(?:[\[(^]*\s*(\d{1,4}|[a-z*†‡§¶]{1,3})\s*[\])]?\s*[.:)\]]*)\s*", re.I)
_BLOCKS = frozenset("li p div dd td aside section blockquote tr".split())
_HEADINGS = "h1,h2,h3,h4,h5,h6"
_ASIDE = ".sidenote,.marginnote,.side-note,.margin-note,.ltx_role_footnote>.ltx_note_outer,span.footnote,span.inline-footnote,[role=doc-footnote]"
_COPIES = "[class*=sidenote],[class*=marginnote],[class*=tooltip],[class*=popover],[class*=popup],[class*=footnote],[role=note],[role=tooltip],[role=doc-footnote]"

Notes = dict[int, tuple[str, str]]


def find(tree: LexborHTMLParser, root: LexborNode, page: str) -> Notes:
    """Which nodes refer to a note (`ref`), hold one (`note`), or repeat one (`skip`), by `mem_id`, with its label."""
    for node in root.css(".ltx_role_footnotemark .ltx_note_outer"):
        node.decompose()
    notes: Notes = {}
    anchors = [node for node in root.css("a[href*='#']") if _fragment(node, page)]
    if anchors and len(anchors) <= MAX_NOTES * 3:
        _linked(root, anchors, page, notes)
    _inside_sentences(tree, root, notes)
    return notes


def _fragment(anchor: LexborNode, page: str) -> str:
    """The place on this page a link leads to; "" for a link elsewhere."""
    href = (anchor.attributes.get("href") or "").strip()
    before, _, fragment = href.partition("#")
    return fragment if not before or before == page.partition("#")[0] else ""


def _linked(root: LexborNode, anchors: list[LexborNode], page: str, notes: Notes) -> None:
    order: dict[int, int] = {}
    places: dict[str, LexborNode] = {}
    wanted = {_fragment(anchor, page) for anchor in anchors}
    for position, node in enumerate(root.traverse()):
        order[node.mem_id] = position
        attributes = node.attributes
        for name in (attributes.get("id"), attributes.get("name")):
            if name and name in wanted:
                places.setdefault(name, node)
    held: dict[int, list[tuple[LexborNode, str]]] = {}
    holders: dict[int, LexborNode] = {}
    for anchor in anchors:
        place = places.get(_fragment(anchor, page))
        text = anchor.text(strip=True)
        if place is None or not _refers(anchor, text) or order[place.mem_id] <= order[anchor.mem_id]:
            continue
        holder = _holder(place, root)
        if holder is None or order[holder.mem_id] <= order[anchor.mem_id] or not _is_note(holder):
            continue
        held.setdefault(holder.mem_id, []).append((anchor, text))
        holders[holder.mem_id] = holder
    # A block that several different notes lead to holds them all, and can't be one of them.
    used: set[str] = set()
    for key, refs in held.items():
        if len({_fragment(anchor, page) for anchor, _ in refs}) > 1 or any(_inside(holders[key], other) for other in held if other != key):
            continue
        label = _label(refs[0][1], used)
        used.add(label)
        for anchor, _ in refs:
            notes[_wrapper(anchor).mem_id] = ("ref", label)
        notes[key] = ("note", label)
        _without_label(holders[key], refs, page)
    _copies(root, [holders[key] for key in held if notes.get(key, ("", ""))[0] == "note"], notes)


def _refers(anchor: LexborNode, text: str) -> bool:
    if _BACK.fullmatch(text):
        return False
    if _LABEL.fullmatch(text):
        return True
    attributes = anchor.attributes
    kinds = " ".join(attributes.get(name) or "" for name in ("role", "rel", "data-type", "epub:type", "class"))
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


def _inside(holder: LexborNode, other: int) -> bool:
    parent = holder.parent
    for _ in range(8):
        if parent is None:
            return False
        if parent.mem_id == other:
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
        if parent is None or parent.tag not in ("sup", "span", "small", "b", "strong", "em") or parent.text(strip=True) != anchor.text(strip=True):
            break
        node = parent
    return node


def _without_label(holder: LexborNode, refs: list[tuple[LexborNode, str]], page: str) -> None:
    """Drops the links back and the number a note begins with."""
    targets = {anchor.attributes.get("id") or anchor.attributes.get("name") or "" for anchor, _ in refs}
    for anchor, _ in refs:
        wrapper = _wrapper(anchor)
        targets |= {wrapper.attributes.get("id") or "", (wrapper.parent.attributes.get("id") or "") if wrapper.parent is not None else ""}
    for anchor in holder.css("a"):
        text = anchor.text(strip=True)
        fragment = _fragment(anchor, page)
        names = " ".join(anchor.attributes.get(name) or "" for name in ("class", "role", "rev"))
        back = fragment and (fragment in targets - {""} or re.search(r"ref|back|return", fragment, re.I))
        if back and (len(text) <= 6 or _BACK.fullmatch(text) or _LABEL.fullmatch(text)) or _BACK.fullmatch(text) or "backref" in names or "backlink" in names:
            wrapper = _wrapper(anchor)
            (wrapper if wrapper.mem_id != holder.mem_id else anchor).decompose()
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


def _copies(root: LexborNode, holders: list[LexborNode], notes: Notes) -> None:
    """The same note again, in a side note or a tooltip: left out."""
    if not holders:
        return
    texts = {" ".join(holder.text(separator=" ").split()) for holder in holders}
    own = {holder.mem_id for holder in holders}
    for node in root.css(_COPIES):
        if node.mem_id in own or node.mem_id in notes or any(_inside(node, key) for key in own):
            continue
        text = " ".join(node.text(separator=" ").split())
        bare = _LEADING.sub("", text).strip()
        if len(text) > 8 and (text in texts or bare in texts):
            notes[node.mem_id] = ("skip", "")


def _inside_sentences(tree: LexborHTMLParser, root: LexborNode, notes: Notes) -> None:
    """Notes printed within the running text: a reference there, the note at the end."""
    used = {label for _, label in notes.values()}
    for node in root.css(_ASIDE)[:MAX_NOTES]:
        parent = node.parent
        if node.mem_id in notes or parent is None or node.css_first("h1,h2,h3,p,table") is not None or len(node.text(strip=True)) < 12:
            continue
        if not _runs_on(node):
            continue
        text = node.text(strip=True)
        found = _LEADING.match(text)
        label = _label(found[1] if found and found[1].isdigit() else "", used)
        used.add(label)
        for mark in node.css(".ltx_note_mark,.ltx_tag_note,.ltx_note_type,.sidenote-number"):
            mark.decompose()
        reference = tree.create_node("sup")
        reference.insert_child(label)
        node.insert_before(reference)
        placed = node.prev
        for mark in [one for one in parent.css(".ltx_note_mark,label.margin-toggle,.sidenote-number") if not one.mem_id == node.mem_id]:
            mark.decompose()
        holder = tree.create_node("p")
        root.insert_child(holder)
        holder = root.last_child
        holder.insert_child(node)  # a copy: the tree library does not move nodes
        node.decompose()
        if placed is not None:
            notes[placed.mem_id] = ("ref", label)
        notes[holder.mem_id] = ("note", label)


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
