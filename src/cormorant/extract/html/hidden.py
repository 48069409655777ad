"""What a person can't see on a page is left out before anything is read, and listed. Pure: works on the parsed tree.

Hidden text is the cheapest way to talk to a model behind its user's back. `strip` removes it in place and says what went:
one finding for each hidden passage, with the sha256 of its text, never the text itself. What a person can bring to light
with a control of the page (a tab, an accordion, a slide) is no hidden text; nor is a page that a script was going to
reveal, or one that lies behind a consent dialog. `suspicious` finds visible text that speaks to a model; it stays.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from functools import cached_property
from typing import NamedTuple

from selectolax.lexbor import LexborNode

from cormorant.document import Finding
from cormorant.extract.html import styles
from cormorant.extract.html.cascade import Sheet
from cormorant.extract.instructions import finding, instructs
from cormorant.extract.instructions import suspicious as suspicious
from cormorant.extract.invisible import has_unseen, visible

FINDINGS_MAX = 60  # a page with more hides by habit, not by intent; the rest goes unlisted
COLOURED_MAX = 500
BULK = 0.5  # share of a page's words above which "hidden" means "a script will show it"
INSTRUCTION_MIN_CHARS = 12
_SPOKEN = ("alt", "title")
WORDS_MIN = 3  # fewer words are a label, and no finding unless they instruct

_SKIPPED = frozenset({"script", "style", "noscript", "head", "title", "meta", "link", "base", "-text", "-comment"})
_ICONS = frozenset({"i", "span", "svg", "div"})  # with nothing in them: the commonest of what is hidden
# Class words of what opens, and of what is opened. Whole words: "table" is no tab, "unexpanded" no expander.
_OPENER = re.compile(
    r"(?:^|[\s_-])(?:tabs?|accordions?|collaps(?:e|ed|ible)|expand(?:er|able|ed)?|toggler?|toggles|disclosure|faqs?|question|trigger|reveal|readmore|more)(?:$|[\s_-])",
    re.I,
)
_PANEL = re.compile(
    r"(?:^|[\s_-])(?:tab-?(?:pane|panel|content|item)|tabs?|panel|pane|accordions?|collaps(?:e|ed|ible)|expand(?:ed|able)?|answer|faqs?|slide|swiper|slick|carousel|readmore|more)"
    r"(?:$|[\s_-])",
    re.I,
)
_TRACK = re.compile(r"(?:^|[\s_-])(?:track|wrapper|slides|slider|carousel|swiper|slick|owl|flickity|glide|splide)(?:$|[\s_-])", re.I)
_ANIMATED = re.compile(
    r"(?:^|[\s_-])(?:animate|animated|animation|wow|aos|reveal|fade-?in\w*|scroll-?\w*|lazy\w*|elementor-invisible)(?:$|[\s_-])", re.I
)
_ANIMATORS = ("data-framer-", "data-aos", "gsap.", "ScrollTrigger", "ScrollReveal", "wow.min.js", "data-w-id")
_GENERIC_CONTROL = "button, [role=button], [onclick], [tabindex], label, summary"
_FORMULA = "math, mjx-container, .katex-mathml"
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
    page = _Page(root)
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


def _outermost_hidden(root: LexborNode, sheet: Sheet, page: _Page, revealed: frozenset[str]) -> list[_Hidden]:
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


def _without_reveals(going: list[_Hidden], page: _Page) -> tuple[list[_Hidden], frozenset[str]]:
    """Leaves out what a script reveals piece by piece: see-through parts that are many, or together most of the page. And says
    of which kinds that was."""
    revealed = set()
    for kind in ("opacity", "visibility"):
        parts = [one.node for one in going if one.kind == kind and not one.seen]
        words = sum(map(_words, parts))
        if (len(parts) >= 2 and words > max(BULK * page.words, 60)) or (kind == "opacity" and len(parts) >= 4 and words > 60):
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
    yield from ((node, "same_colour") for node in _unreadable(root, sheet))
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


class _Page:
    """What has to be known of the whole page to judge one element."""

    def __init__(self, root: LexborNode) -> None:
        self.root = root
        self._words = 0
        self._opened: frozenset[str] | None = None

    @cached_property
    def _markup(self) -> str:
        return self.root.html or ""

    @cached_property
    def streams(self) -> bool:
        """Whether parts of the page arrive late: the script stands beside the parts it moves."""
        return "$RC(" in self._markup

    @cached_property
    def has_formulas(self) -> bool:
        """Whether anything on the page holds mathematics."""
        return self.root.css_first(_FORMULA) is not None

    @cached_property
    def animates(self) -> bool:
        """Whether a script lets parts of the page fade in."""
        top = self.root.parser.root
        return any(mark in self._markup for mark in _ANIMATORS) or (top is not None and "data-wf-page" in top.attributes)

    @property
    def words(self) -> int:
        """Words of the whole page."""
        if not self._words:
            body = self.root.css_first("body")
            self._words = max(1, _words(body if body is not None else self.root))
        return self._words

    @property
    def opened(self) -> frozenset[str]:
        """The ids that a control of the page shows: what tabs and expanders point at."""
        if self._opened is None:
            self._opened = frozenset(_opened_ids(self.root))
        return self._opened


def _words(node: LexborNode) -> int:
    dead = sum(len(each.text().split()) for each in node.css("script, style, noscript"))
    return len(node.text(separator=" ").split()) - dead


def _is_inside(node: LexborNode, going: Container[int]) -> bool:
    """Whether an element above goes as well: its text is listed there."""
    at = node.parent
    while at is not None:
        if at.mem_id in going:
            return True
        at = at.parent
    return False


def _goes(node: LexborNode, kind: str, page: _Page) -> bool:
    if node.tag in ("html", "body"):
        _show(node)
        return False
    if _is_math_twin(node, kind, page) or _is_spoken_twin(node, kind):
        return False
    if kind == "aria_hidden" and node.tag in _ICONS and node.first_child is None:
        return True
    if (kind == "off_screen" and _is_track(node)) or (kind == "aria_hidden" and _is_laid_out(node)) or _is_animated(node, kind, page):
        _show(node)
        return False
    if _is_alternative(node, page) or _is_streamed(node, page) or _is_page_itself(node, kind, page):
        _show(node)
        return False
    return True


def _show(node: LexborNode) -> None:
    """Takes the marks away, so that later passes don't judge the element again."""
    for name in ("hidden", "aria-hidden", "style"):
        if name in node.attributes:
            del node.attrs[name]


def _is_streamed(node: LexborNode, page: _Page) -> bool:
    """A part that arrived late and that a script moves to its place (React's `$RC("B:0", "S:0")`)."""
    return node.tag == "div" and bool(re.fullmatch(r"S:[0-9a-f]+", node.id or "")) and page.streams


def _is_page_itself(node: LexborNode, kind: str, page: _Page) -> bool:
    """The page behind a dialog, behind an animation or a loading mark: most of its words and its frame are in there."""
    if len(node.text()) < 150:
        return False
    words = _words(node)
    framed = node.css_first("main, article, h1, [role=main]") is not None or node.tag in ("main", "article")
    if kind == "aria_hidden" and framed and words >= 20:
        return True
    return words > BULK * page.words and words >= 30 and (framed or len(node.css("p")) >= 3)


def _is_math_twin(node: LexborNode, kind: str, page: _Page) -> bool:
    """MathML kept for machines beside a drawn formula, or the drawing itself: the renderer settles which one is read."""
    alone = node.tag == "math" and kind != "aria_hidden"
    if not alone and ((node.tag or "").startswith(("math", "mjx-")) or "katex" in (node.attributes.get("class") or "").lower()):
        return not instructs(node.text())
    if not page.has_formulas or not (alone or node.css_first(_FORMULA) is not None):
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


# --- alternatives: what a control brings to light -----------------------------------------------------------------


def _opened_ids(root: LexborNode) -> Iterator[str]:
    for control in root.css(
        "[aria-controls], [data-target], [data-bs-target], [role=tab], [data-toggle], [data-bs-toggle], [aria-expanded], [popovertarget]"
    ):
        if _in_chrome(control) or not _has_label(control):
            continue
        attributes = control.attributes
        yield from (attributes.get("aria-controls") or "").split()
        yield from (attributes.get("popovertarget") or "").split()
        for name in ("href", "data-target", "data-bs-target"):
            if (attributes.get(name) or "").startswith("#"):
                yield (attributes.get(name) or "")[1:]
    for link in root.css("[class*=tab] a[href^='#'], [class*=Tab] a[href^='#']"):
        if _has_label(link):
            yield (link.attributes.get("href") or "")[1:]


def _has_label(control: LexborNode) -> bool:
    return bool(control.text().strip() or control.attributes.get("aria-label"))


def _in_chrome(node: LexborNode) -> bool:
    """Menus and dialogs open too, but what they hold was never part of the text."""
    at: LexborNode | None = node
    while at is not None:
        role = (at.attributes.get("role") or "").lower() if at.is_element_node else ""
        if at.tag in ("nav", "dialog") or role in ("navigation", "dialog", "alertdialog", "menu", "menubar", "banner"):
            return True
        at = at.parent
    return False


def _is_alternative(node: LexborNode, page: _Page) -> bool:
    role = (node.attributes.get("role") or "").lower()
    if role in ("dialog", "alertdialog", "menu", "navigation", "tooltip", "status", "alert") or node.tag in ("nav", "dialog"):
        return False
    if node.id and node.id in page.opened and not _in_chrome(node):
        return True
    grouped = role == "tabpanel" or _PANEL.search(node.attributes.get("class") or "")
    if grouped and _has_open_sibling(node) and not _in_chrome(node):
        return True
    return _opens_by_neighbour(node)


def _is_laid_out(node: LexborNode) -> bool:
    """`aria-hidden` hides from screen readers alone. What has a heading or a link in it was laid out for people's eyes."""
    return node.css_first("h1, h2, h3, h4, h5, h6, a[href]") is not None and len(node.text().split()) >= 6 and not instructs(node.text())


def _is_animated(node: LexborNode, kind: str, page: _Page) -> bool:
    """Text that fades or slides in as one scrolls: see-through until a script runs, and marked for that script."""
    if kind not in ("opacity", "visibility") or instructs(node.text()):
        return False
    attributes = node.attributes
    marked = any(
        name.startswith(("data-w-id", "data-aos", "data-framer", "data-animat", "data-sal", "data-scroll", "data-reveal"))
        for name in attributes
    )
    style = (attributes.get("style") or "").lower()
    moving = kind == "opacity" and any(word in style for word in ("transform:", "transform :", "will-change", "transition", "animation"))
    return marked or moving or (kind == "opacity" and page.animates) or bool(_ANIMATED.search(attributes.get("class") or ""))


def _is_track(node: LexborNode) -> bool:
    """The strip of a slider, moved so that its current slide is seen: the others come in turn."""
    return bool(_TRACK.search(node.attributes.get("class") or "")) and sum(1 for _ in node.iter()) >= 2


def _has_open_sibling(node: LexborNode) -> bool:
    """Another panel of the same group that is shown: then this one is its alternative."""
    names = set((node.attributes.get("class") or "").split())
    role = node.attributes.get("role")
    parent = node.parent
    if parent is None or "slick-cloned" in names:
        return False
    for other in parent.iter():
        if other.mem_id == node.mem_id or other.tag != node.tag or not other.text().strip():
            continue
        kin = (role and other.attributes.get("role") == role) or names & set((other.attributes.get("class") or "").split())
        shut = "hidden" in other.attributes or styles.hides(styles.declarations(other.attributes.get("style") or "")[0])
        if kin and not shut and other.attributes.get("aria-hidden") != "true":
            return True
    return False


def _opens_by_neighbour(node: LexborNode) -> bool:
    """The answer below a question that expands: something to press, and then what it brings to light."""
    before = node.prev
    while before is not None and not before.is_element_node:
        before = before.prev
    if before is None or not before.text().strip() or _in_chrome(node):
        return False
    expander = before if "aria-expanded" in before.attributes else before.css_first("[aria-expanded]")
    if expander is not None:
        return not expander.attributes.get("aria-controls")
    if _OPENER.search(before.attributes.get("class") or ""):
        return True
    pressed = before.css_matches(_GENERIC_CONTROL) or before.css_first(_GENERIC_CONTROL) is not None
    return pressed and bool(_PANEL.search(node.attributes.get("class") or ""))


# --- colours ------------------------------------------------------------------------------------------------------

_WHITE = (255, 255, 255)
_UNSAID = (-999, -999, -999)  # of no colour at all: nothing on the page says what is behind a text
_INKS = frozenset({"color", "background", "background-color", "background-image", "background-clip", "-webkit-background-clip"})
_OWN_COLOUR = "[style*='color' i], font[color], [class*='color' i]"
_TEXT_COLOUR = "[style*='color' i], font[color], body[text]"


def _unreadable(root: LexborNode, sheet: Sheet) -> Iterator[LexborNode]:
    """Elements whose text has the colour of what is behind it, as far as the page itself says."""
    inked = root.css(_TEXT_COLOUR)
    ruled = sheet.coloured(sheet.backgrounds() | {_WHITE}) if sheet.is_small else []
    plain = bool(inked or ruled) and sheet.is_small and root.parser.css_first("link[rel~='stylesheet' i]") is None
    inks = _Inks(sheet)
    for node in [*inked[:COLOURED_MAX], *ruled]:
        given = inks.of(node)
        ink = styles.colour(given.get("color") or (node.attributes.get("color") or "").lower())
        if (
            ink is None
            or node.tag in ("html", "body")
            or "text" in given.get("background-clip", "") + given.get("-webkit-background-clip", "")
        ):
            continue
        paper = inks.behind(node)
        if not styles.same(ink, _WHITE if paper == _UNSAID else paper):
            continue
        if paper == _UNSAID and not plain and not instructs(node.text()):
            continue  # a sheet that was not fetched may say what is behind it
        if all(inner.mem_id == node.mem_id for inner in node.css(_OWN_COLOUR)):
            yield node  # else what stands inside has a colour of its own, known here or not


class _Inks:
    """What is declared of an element's colours, asked once for each: text after text stands on the same paper."""

    def __init__(self, sheet: Sheet) -> None:
        self._sheet = sheet
        self._known: dict[int, dict[str, str]] = {}
        self._papers: dict[int, styles.Colour | None] = {}

    def of(self, node: LexborNode) -> dict[str, str]:
        if (given := self._known.get(node.mem_id)) is None:
            given = self._sheet.of(node, _INKS) if self._sheet.is_small else styles.declarations(node.attributes.get("style") or "")[0]
            self._known[node.mem_id] = given
        return given

    def behind(self, node: LexborNode) -> styles.Colour | None:
        """The colour behind an element, of the nearest that declares one; None for a picture, `_UNSAID` where nothing does."""
        above: list[int] = []
        found: styles.Colour | None = _UNSAID
        at: LexborNode | None = node
        while at is not None and at.is_element_node:
            key = at.mem_id
            found = self._papers[key] if key in self._papers else self._own_paper(at)
            above.append(key)
            if key in self._papers or found != _UNSAID:
                break
            at = at.parent
        self._papers.update(dict.fromkeys(above, found))
        return found

    def _own_paper(self, node: LexborNode) -> styles.Colour | None:
        given = self.of(node)
        if any(name.startswith("background") for name in given):
            found = styles.background(given)
            transparent = given.get("background-color", given.get("background")) in ("transparent", "none", "inherit", "initial")
            if found is not None or not transparent:
                return found
        attributes = node.attributes
        if attributes.get("background"):
            return None
        if bg := (attributes.get("bgcolor") or "").lower():
            return styles.colour(bg if bg.startswith("#") or not re.fullmatch(r"[0-9a-f]{6}", bg) else f"#{bg}")
        return _UNSAID


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
