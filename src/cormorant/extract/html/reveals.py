"""What a person can bring to light with a control of the page, or a script of it shows by itself: no hidden text. Pure.

Tabs, accordions and slides; text that fades in; parts that arrive late; the page behind a dialog or a loading mark.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property

from selectolax.lexbor import LexborNode

from cormorant.extract.html import styles
from cormorant.extract.instructions import instructs

BULK = 0.5  # share of a page's words above which "hidden" means "a script will show it"
FORMULA = "math, mjx-container, .katex-mathml"
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


def comes_to_light(node: LexborNode, kind: str, page: Page) -> bool:
    """Whether an element that is hidden now is shown by a control or a script of the page."""
    if (kind == "off_screen" and _is_track(node)) or (kind == "aria_hidden" and _is_laid_out(node)) or _is_animated(node, kind, page):
        return True
    return _is_alternative(node, page) or _is_streamed(node, page) or _is_page_itself(node, kind, page)


class Page:
    """What has to be known of the whole page to judge one element."""

    def __init__(self, root: LexborNode) -> None:
        self.root = root

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
        return self.root.css_first(FORMULA) is not None

    @cached_property
    def animates(self) -> bool:
        """Whether a script lets parts of the page fade in."""
        top = self.root.parser.root
        return any(mark in self._markup for mark in _ANIMATORS) or (top is not None and "data-wf-page" in top.attributes)

    @cached_property
    def words(self) -> int:
        """Words of the whole page."""
        body = self.root.css_first("body")
        return max(1, words_of(body if body is not None else self.root))

    @cached_property
    def opened(self) -> frozenset[str]:
        """The ids that a control of the page shows: what tabs and expanders point at."""
        return frozenset(_opened_ids(self.root))


def words_of(node: LexborNode) -> int:
    """Words of an element, without those of scripts and styles."""
    dead = sum(len(each.text().split()) for each in node.css("script, style, noscript"))
    return len(node.text(separator=" ").split()) - dead


def _is_streamed(node: LexborNode, page: Page) -> bool:
    """A part that arrived late and that a script moves to its place (React's `$RC("B:0", "S:0")`)."""
    return node.tag == "div" and bool(re.fullmatch(r"S:[0-9a-f]+", node.id or "")) and page.streams


def _is_page_itself(node: LexborNode, kind: str, page: Page) -> bool:
    """The page behind a dialog, behind an animation or a loading mark: most of its words and its frame are in there."""
    if len(node.text()) < 150:
        return False
    words = words_of(node)
    framed = node.css_first("main, article, h1, [role=main]") is not None or node.tag in ("main", "article")
    if kind == "aria_hidden" and framed and words >= 20:
        return True
    return words > BULK * page.words and words >= 30 and (framed or len(node.css("p")) >= 3)


# --- controls -----------------------------------------------------------------------------------------------------


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


def _is_alternative(node: LexborNode, page: Page) -> bool:
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


def _is_animated(node: LexborNode, kind: str, page: Page) -> bool:
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
