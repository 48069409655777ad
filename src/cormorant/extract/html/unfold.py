"""What a person opens with a click is part of the page: tabs and accordions, each with its label. Pure: in place.

Runs before hidden text is looked for, since the closed panels carry exactly the marks of hidden text.
"""

from __future__ import annotations

import re

from selectolax.lexbor import LexborHTMLParser, LexborNode

from cormorant.extract.html.nodes import mentions, outermost, unique

_HINTS = (
    "aria-expanded",
    'role="tab',
    "role=tab",
    "role='tab",
    "data-toggle",
    "data-bs-toggle",
    "tab-pane",
    "tabbed-set",
    "collaps",
    "accordion",
    "vp-code-group",
    "sd-tab",
    "admonitionblock",
    "colist",
)
_STRIPS = "[role=tablist],ul.nav-tabs,div.tab-nav"
_RADIO_SETS = ".tabbed-set,.vp-code-group,.sd-tab-set"
_ASCIIDOC = ".admonitionblock > table,.colist > table"
_TRIGGERS = "[aria-expanded][aria-controls],[data-toggle=collapse],[data-bs-toggle=collapse],[aria-expanded]"
_CLOSED = ".is-collapsed > *,.accordion-content,.accordion-body,.accordion-panel,.collapsible-content,.panel-collapse"
_ANY = f"{_STRIPS},{_RADIO_SETS},{_ASCIIDOC},{_TRIGGERS},{_CLOSED}"
_PANEL = re.compile(
    r"(?:^|[\s_-])(?:accordion|collapse|collapsible|panel|faq|tab|tabs|toggle|expand\w*|disclosure|answer|content|body)(?:$|[\s_-])", re.I
)
_MENU = frozenset({"menu", "listbox", "navigation", "dialog", "tree", "combobox", "grid"})
_HIDING = re.compile(r"^(?:hidden|is-hidden|collapsed?|d-none|hide|invisible|inactive|is-closed)$", re.I)
MAX_LABEL = 120


def unfold(tree: LexborHTMLParser, source: str) -> None:
    """Tab panels and accordion panels opened, tab strips turned into a label above each panel."""
    body = tree.body
    if body is None or body.css_first(_ANY) is None or not mentions(source, _HINTS):
        return
    places: Places = {}
    for node in body.css("[id]"):
        places.setdefault(node.attributes.get("id") or "", node)
    places.pop("", None)
    _tabs(tree, body, places)
    _radio_tabs(tree, body)
    _asciidoc(tree, body)
    _accordions(body, places)
    for panel in body.css(_CLOSED):
        if not _is_menu(panel):
            _open(panel)


Places = dict[str, LexborNode]


def _by_id(places: Places, name: str | None) -> LexborNode | None:
    return places.get((name or "").strip().removeprefix("#"))


def _open(panel: LexborNode) -> None:
    for name in ("hidden", "aria-hidden"):
        if name in panel.attributes:
            del panel.attrs[name]
    style = panel.attributes.get("style") or ""
    if re.search(r"display\s*:\s*none|visibility\s*:\s*hidden|(?:max-)?height\s*:\s*0|opacity\s*:\s*0", style, re.I):
        del panel.attrs["style"]
    names = (panel.attributes.get("class") or "").split()
    if kept := [name for name in names if not _HIDING.fullmatch(name)]:
        if kept != names:
            panel.attrs["class"] = " ".join(kept)
    elif names:
        del panel.attrs["class"]


def _label(tree: LexborHTMLParser, panel: LexborNode, text: str) -> None:
    """The name of a tab in bold above what it shows; not where the panel begins with that very name."""
    if not text or len(text) > MAX_LABEL or _first_words(panel).lower() == text.lower():
        return
    paragraph, strong = tree.create_node("p"), tree.create_node("strong")
    strong.insert_child(text)
    paragraph.insert_child(strong)
    first = panel.first_child
    if first is None:
        return
    first.insert_before(paragraph)


def _first_words(panel: LexborNode) -> str:
    """The first piece of text that isn't blank."""
    for node in panel.traverse(include_text=True):
        if node.is_text_node and (text := (node.text_content or "").strip()):
            return text
    return ""


def _tabs(tree: LexborHTMLParser, body: LexborNode, places: Places) -> None:
    labelled = {node.attributes.get("aria-labelledby") or "": node for node in body.css("[role=tabpanel][aria-labelledby]")}
    for strip in outermost(body, _STRIPS):
        tabs = strip.css("[role=tab]") or unique(strip, "a[href^='#'],[data-target^='#'],[data-bs-target^='#']")
        panels = _panels_of(strip, tabs, places, labelled)
        if not panels or len(panels) != len(tabs):
            continue
        shown = 0
        for tab, panel in zip(tabs, panels, strict=True):
            if panel is None:
                continue
            _open(panel)
            _label(tree, panel, " ".join(tab.text(separator=" ").split()))
            shown += 1
        if shown:
            strip.decompose()


def _panels_of(strip: LexborNode, tabs: list[LexborNode], places: Places, labelled: Places) -> list[LexborNode | None]:
    """The panel of each tab: by id, by the label it names, or by its place among the panels beside the strip."""
    named = [
        _by_id(places, tab.attributes.get("aria-controls"))
        or _by_id(places, tab.attributes.get("data-bs-target") or tab.attributes.get("data-target"))
        or (_by_id(places, tab.attributes.get("href")) if (tab.attributes.get("href") or "").startswith("#") else None)
        or labelled.get(tab.attributes.get("id") or "")
        for tab in tabs
    ]
    if any(panel is not None for panel in named):
        return named
    holder = strip.parent
    for _ in range(2):
        if holder is None:
            break
        panels = unique(holder, "[role=tabpanel],.tab-pane,.tab-content > *,.tabbed-content > *,.tabbed-block")
        if len(panels) == len(tabs):
            return list(panels)
        holder = holder.parent
    return []


def _radio_tabs(tree: LexborHTMLParser, body: LexborNode) -> None:
    """Tabs of MkDocs, Sphinx and VitePress: radio buttons, their labels, and the panels in the same order."""
    for group in body.css(_RADIO_SETS):
        labels = group.css(".tabbed-labels > label") or outermost(group, "label")
        panels = group.css(".tabbed-content > .tabbed-block,.blocks > *") or unique(group, ".tabbed-content,.sd-tab-content")
        if len(labels) != len(panels):
            continue
        for label, panel in zip(labels, panels, strict=True):
            _open(panel)
            _label(tree, panel, " ".join(label.text(separator=" ").split()))
        for label in labels:
            label.decompose()


def _asciidoc(tree: LexborHTMLParser, body: LexborNode) -> None:
    """Asciidoctor sets its boxes, and the notes to a listing's lines, as tables."""
    for table in outermost(body, _ASCIIDOC):
        rows = [cells for row in table.css("tr") if len(cells := row.css("td")) == 2]
        if not rows or table.css_first("table table") is not None:
            continue
        if table.css_first("td.icon") is not None:
            made, title = tree.create_node("div"), tree.create_node("p")
            icon = rows[0][0].css_first("i[title]")
            title.insert_child(icon.attributes.get("title") or "" if icon is not None else rows[0][0].text(strip=True))
            title.attrs["class"] = "admonition-title"
            made.insert_child(title)
            for child in rows[0][1].iter(include_text=True):
                made.insert_child(child)
        else:
            made = tree.create_node("ol")
            for _, said in rows:
                item = tree.create_node("li")
                for child in said.iter(include_text=True):
                    item.insert_child(child)
                made.insert_child(item)
        table.replace_with(made)


def _accordions(body: LexborNode, places: Places) -> None:
    for trigger in unique(body, _TRIGGERS):
        if trigger.attributes.get("role") in _MENU or (trigger.attributes.get("aria-haspopup") or "false") not in ("false", ""):
            continue
        name = (
            trigger.attributes.get("aria-controls")
            or trigger.attributes.get("data-bs-target")
            or trigger.attributes.get("data-target")
            or ""
        )
        panel = _by_id(places, name or _fragment(trigger)) or _beside(trigger)
        if panel is None or _is_menu(panel) or _is_menu(trigger):
            continue
        if panel.css_first("a") is not None and len(panel.text(strip=True)) < 3 * sum(len(a.text(strip=True)) for a in panel.css("a")) // 2:
            continue  # a list of links that drops down
        _open(panel)
        if trigger.tag == "button" and not _in_heading(trigger) and trigger.text(strip=True):
            trigger.attrs["data-title"] = "1"


def _fragment(trigger: LexborNode) -> str:
    href = trigger.attributes.get("href") or ""
    return href if href.startswith("#") else ""


def _beside(trigger: LexborNode) -> LexborNode | None:
    """The element after the trigger, or after the heading it stands in, if it looks like a panel."""
    node = trigger
    for _ in range(3):
        following = node.next
        while following is not None and not following.is_element_node:
            following = following.next
        if following is not None:
            attributes = following.attributes
            closed = "hidden" in attributes or attributes.get("aria-hidden") == "true" or "none" in (attributes.get("style") or "")
            return following if closed or _PANEL.search(attributes.get("class") or "") else None
        parent = node.parent
        if parent is None or parent.tag not in ("h1", "h2", "h3", "h4", "h5", "h6", "dt", "div", "span"):
            return None
        node = parent
    return None


def _is_menu(node: LexborNode | None) -> bool:
    for _ in range(12):
        if node is None:
            return False
        if node.tag in ("nav", "header") or (node.attributes.get("role") or "") in _MENU:
            return True
        node = node.parent
    return False


def _in_heading(node: LexborNode) -> bool:
    parent = node.parent
    for _ in range(3):
        if parent is None:
            return False
        if parent.tag in ("h1", "h2", "h3", "h4", "h5", "h6", "summary", "dt"):
            return True
        parent = parent.parent
    return False
