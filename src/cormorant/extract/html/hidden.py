"""What a person can't see on a page is left out before anything is read, and listed. Pure: works on the parsed tree.

Hidden text is the cheapest way to talk to a model behind its user's back. `strip` removes it in place and says what went:
one finding for each hidden passage, with the sha256 of its text, never the text itself. What a person can bring to light
with a control of the page (a tab, an accordion, a slide) is no hidden text; nor is a page that a script was going to
reveal, or one that lies behind a consent dialog. `suspicious` finds visible text that speaks to a model; it stays.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from typing import NamedTuple

from selectolax.lexbor import LexborNode

from cormorant.document import Finding
from cormorant.extract.html import reveals, styles
from cormorant.extract.html.cascade import Sheet
from cormorant.extract.html.inks import unreadable
from cormorant.extract.html.reveals import FORMULA, Page, words_of
from cormorant.extract.instructions import finding, instructs
from cormorant.extract.instructions import suspicious as suspicious
from cormorant.extract.invisible import has_unseen, visible

FINDINGS_MAX = 60  # a page with more hides by habit, not by intent; the rest goes unlisted
INSTRUCTION_MIN_CHARS = 12
_SPOKEN = ("alt", "title")
WORDS_MIN = 3  # fewer words are a label, and no finding unless they instruct

_SKIPPED = frozenset({"script", "style", "noscript", "head", "title", "meta", "link", "base", "-text", "-comment"})
_ICONS = frozenset({"i", "span", "svg", "div"})  # with nothing in them: the commonest of what is hidden
_VISIBLE_TWIN = (
    ".katex-html, img.mwe-math-fallback-image-inline, img.mwe-math-fallback-image-display, mjx-container, .MathJax, .MathJax_SVG"
)


def strip(root: LexborNode) -> list[Finding]:
    """Removes from the tree below `root` what a person can't see, and says what that was.

    Runs before any other cleaning: the page's `<style>` elements must still be there.
    """
    found: list[Finding] = []
    _open_shadow_roots(root)
    found += _drop_comments(root)
    found += _drop_elements(root)
    found += _drop_templates(root)
    found += _clean_alternatives(root)
    if has_unseen(root.text()):
        found += _clean_texts(root)
    return found[:FINDINGS_MAX]


# --- comments, templates ------------------------------------------------------------------------------------------


def _drop_comments(root: LexborNode) -> list[Finding]:
    """Comments never reach the text. Listed only when they read like a message: every page has comments."""
    comments = [node for node in root.traverse(include_text=True) if node.is_comment_node]
    texts = [" ".join((node.comment_content or "").split()) for node in comments]
    for node in comments:
        node.decompose()
    speaking = instructs("\n".join(texts), whole=True)
    return [finding("comment", text) for text in texts if len(text) >= INSTRUCTION_MIN_CHARS and _reads_as_prose(text, speaking=speaking)]


def _reads_as_prose(text: str, *, speaking: bool) -> bool:
    if speaking and instructs(text):
        return True
    if "<" in text or "[if " in text or "[endif" in text:
        return False
    words = re.findall(r"[^\W\d_]{2,}", text[:2_000])
    return len(words) >= 6 and sum(map(len, words)) > 0.6 * len(text[:2_000])


def _open_shadow_roots(root: LexborNode) -> None:
    """A declarative shadow root is shown by every browser; other templates are not, and the tree skips them."""
    for template in root.css("template[shadowrootmode], template[shadowroot]"):
        for fragment in template.template_fragments():
            for child in list(fragment.iter(include_text=True)):
                template.insert_before(child)
        template.decompose()


# --- elements -----------------------------------------------------------------------------------------------------


def _drop_elements(root: LexborNode) -> list[Finding]:
    sheet = Sheet(root)
    page = Page(root)
    hidden = _outermost_hidden(root, sheet, page, frozenset())
    going, revealed = _without_reveals(hidden, page)
    if revealed:  # what a script shows stays, but not what is hidden in another way inside of it: look again
        going = _outermost_hidden(root, sheet, page, revealed)
    found: list[Finding] = []
    for one in going:
        if one.seen:
            found += _listed(one.kind, " ".join(_emptied(one.node, one.seen, {each.node.mem_id for each in going if not each.seen})))
    for one in going:
        if not one.seen:
            found += _listed(one.kind, one.node.text(separator=" "))
            one.node.decompose()
    return found


def _listed(kind: str, text: str) -> list[Finding]:
    text = " ".join(text.split())
    return [finding(kind, text)] if len(text.split()) >= WORDS_MIN or instructs(text) else []


def _emptied(node: LexborNode, seen: list[LexborNode], going: set[int]) -> list[str]:
    """Takes the text out of an element save that of the parts in it that can be seen after all; what goes by itself is left to go."""
    kept = {each.mem_id for inner in seen for each in inner.traverse(include_text=True)}
    texts = [
        each
        for each in node.traverse(include_text=True)
        if each.is_text_node and each.mem_id not in kept and not _is_inside(each, going) and not each.is_empty_text_node
    ]
    said = [text.text_content or "" for text in texts]
    for text in texts:
        text.replace_with(" ")
    return said


class _Hidden(NamedTuple):
    """An element that is hidden, how, and the parts of it that are not: they set anew by what it is hidden."""

    node: LexborNode
    kind: str
    seen: list[LexborNode]


def _outermost_hidden(root: LexborNode, sheet: Sheet, page: Page, revealed: frozenset[str]) -> list[_Hidden]:
    """What goes, none inside another, save what is hidden in a way that a script reveals.

    Judged while the tree is whole: a removed node takes its descendants with it.
    """
    going: dict[int, _Hidden] = {}
    emptied: dict[int, _Hidden] = {}
    for node, kind in _hidden_elements(root, sheet):
        key = node.mem_id
        if node.tag in _SKIPPED or (key not in going and _is_inside(node, going)):
            continue
        if kind in revealed and not instructs(node.text()):
            continue
        if _goes(node, kind, page):
            seen = _seen_inside(node, kind, sheet)
            (emptied if seen else going)[key] = _Hidden(node, kind, seen)
    return [one for one in (*emptied.values(), *going.values()) if not _is_inside(one.node, going)]


_SET_ANEW = {"visibility": ("visibility", "[style*='visib' i]"), "zero_size": ("font-size", "[style*='font' i]")}


def _seen_inside(node: LexborNode, kind: str, sheet: Sheet) -> list[LexborNode]:
    """The parts of a hidden element that undo what it hides by: visibility and the size of letters are only handed down."""
    if kind not in _SET_ANEW or node.first_child is None or sheet.is_exhausted:
        return []
    name, styled = _SET_ANEW[kind]
    given = sheet.of(node, styles.RELEVANT)
    if "hidden" in node.attributes or styles.hides({one: value for one, value in given.items() if one not in (name, "font")}):
        return []
    ruled = sheet.showing(name)
    shown = [inner for inner in node.css(styled) if styles.is_seen(name, styles.declarations(inner.attributes.get("style") or "")[0])]
    return [one for one in [*shown, *(inner for inner in node.css("*") if inner.mem_id in ruled)] if one.mem_id != node.mem_id]


def _without_reveals(going: list[_Hidden], page: Page) -> tuple[list[_Hidden], frozenset[str]]:
    """Leaves out what a script reveals piece by piece: see-through parts that are many, or together most of the page. And says
    of which kinds that was."""
    revealed = set()
    for kind in ("opacity", "visibility"):
        parts = [one.node for one in going if one.kind == kind and not one.seen]
        words = sum(map(words_of, parts))
        if (len(parts) >= 2 and words > max(reveals.BULK * page.words, 60)) or (kind == "opacity" and len(parts) >= 4 and words > 60):
            for node in parts:
                if not instructs(node.text()):
                    _show(node)
                    revealed.add(kind)
    return [one for one in going if one.kind not in revealed or instructs(one.node.text())], frozenset(revealed)


def _drop_templates(root: LexborNode) -> list[Finding]:
    found = []
    for template in root.css("template"):
        text = " ".join(" ".join(fragment.text(separator=" ") for fragment in template.template_fragments()).split())
        if instructs(text):
            found.append(finding("template", text))
        template.decompose()
    return found


def _hidden_elements(root: LexborNode, sheet: Sheet) -> Iterator[tuple[LexborNode, str]]:
    for node, names, alone in sheet.hiding():
        if kind := sheet.hides(node, names, alone):
            yield node, kind
    yield from ((node, "same_colour") for node in unreadable(root, sheet))
    styled: dict[str, str] = {}
    for node in root.css("[hidden], [style], [aria-hidden], [popover], dialog:not([open])"):
        if kind := _kind_by_attributes(node, styled, sheet):
            yield node, kind


def _kind_by_attributes(node: LexborNode, styled: dict[str, str], sheet: Sheet) -> str:
    """How an element's own attributes hide it; `styled` holds what is known of styles, since a page repeats the same few."""
    attributes = node.attributes
    if "hidden" in attributes and (attributes["hidden"] or "").lower() != "until-found":
        return "hidden_attribute"
    style = attributes.get("style") or ""
    if style not in styled:
        styled[style] = styles.hides({name: sheet.resolved(value) for name, value in styles.declarations(style)[0].items()})
    if kind := styled[style]:
        return kind
    if (node.tag == "dialog" and "open" not in attributes) or "popover" in attributes:
        return "display"
    return "aria_hidden" if (attributes.get("aria-hidden") or "").lower() == "true" else ""


def _is_inside(node: LexborNode, going: Container[int]) -> bool:
    """Whether an element above goes as well: its text is listed there."""
    at = node.parent
    while at is not None:
        if at.mem_id in going:
            return True
        at = at.parent
    return False


def _goes(node: LexborNode, kind: str, page: Page) -> bool:
    if node.tag in ("html", "body"):
        _show(node)
        return False
    if _is_math_twin(node, kind, page) or _is_spoken_twin(node, kind):
        return False
    if kind == "aria_hidden" and node.tag in _ICONS and node.first_child is None:
        return True
    if reveals.comes_to_light(node, kind, page):
        _show(node)
        return False
    return True


def _show(node: LexborNode) -> None:
    """Takes the marks away, so that later passes don't judge the element again."""
    for name in ("hidden", "aria-hidden", "style"):
        if name in node.attributes:
            del node.attrs[name]


def _is_math_twin(node: LexborNode, kind: str, page: Page) -> bool:
    """MathML kept for machines beside a drawn formula, or the drawing itself: the renderer settles which one is read."""
    alone = node.tag == "math" and kind != "aria_hidden"
    if not alone and ((node.tag or "").startswith(("math", "mjx-")) or "katex" in (node.attributes.get("class") or "").lower()):
        return not instructs(node.text())
    if not page.has_formulas or not (alone or node.css_first(FORMULA) is not None):
        return False
    beside = node.parent
    return beside is not None and beside.css_first(_VISIBLE_TWIN) is not None and not instructs(node.text())


def _is_spoken_twin(node: LexborNode, kind: str) -> bool:
    """Text for screen readers that repeats what stands beside it in pieces (a price cut into spans)."""
    if kind not in ("clip", "off_screen", "zero_size"):
        return False
    said = "".join(node.text().split())
    beside = node.next
    while beside is not None and not beside.is_element_node:
        beside = beside.next
    shown = beside is not None and (beside.attributes.get("aria-hidden") or "").lower() == "true"
    return bool(said) and beside is not None and shown and "".join(beside.text().split()) == said


# --- characters and alternative texts --------------------------------------------------------------------------


def _clean_texts(root: LexborNode) -> list[Finding]:
    """Invisible characters out of every text node; one finding a kind, since one page can hold thousands."""
    gone: dict[str, str] = {}
    for node in [node for node in root.traverse(include_text=True) if node.is_text_node]:
        before = node.text_content or ""
        if before.isascii() or node.parent is None or node.parent.tag in ("script", "style"):
            continue
        after, taken = visible(before)
        if after != before:
            node.replace_with(after)
        for kind, chars in taken.items():
            gone[kind] = gone.get(kind, "") + chars
    return [finding(kind, chars, note=f"{len(chars)} characters") for kind, chars in sorted(gone.items())]


def _clean_alternatives(root: LexborNode) -> list[Finding]:
    """Alternative texts reach the Markdown: invisible characters leave them, and so does a text that instructs."""
    found: list[Finding] = []
    nodes = root.css("[alt], [title]")
    given = [node.attributes for node in nodes]
    texts = [value for each in given for name in _SPOKEN if (value := each.get(name))]
    speaking = instructs("\n".join(text for text in texts if len(text) >= INSTRUCTION_MIN_CHARS), whole=True)
    if not speaking and not has_unseen("\n".join(texts)):
        return found
    for node in nodes:
        for name in _SPOKEN:
            before = node.attributes.get(name) or ""
            after, gone = visible(before)
            if speaking and instructs(after):
                found.append(finding("alternative_text", after))
                after = ""
            elif gone:
                found += [finding(kind, chars, note=f"in {name}") for kind, chars in sorted(gone.items())]
            if after != before:
                node.attrs[name] = after
    return found
