"""What is never text leaves the tree: scripts, styles, controls, drawings, and the small marks beside a heading. Pure."""

from __future__ import annotations

import re

from selectolax.lexbor import LexborHTMLParser, LexborNode

from cormorant.extract.html import images, walls
from cormorant.extract.html.nodes import is_inside, outermost, remove, unique

_GONE = (
    "script,style,template,base,link,meta,applet,canvas,frame,frameset,noframes,noembed,svg,select,option,datalist,textarea"
    ",dialog,progress,meter,rp"
)
_HEADINGS = "h1 a,h2 a,h3 a,h4 a,h5 a,h6 a,a.headerlink"
_MARK_TEXT = re.compile(r"[\s#¶§⚓🔗∞†\u200b\u00a0]*")
_PERMALINK = re.compile(
    r"(?:^|[\s_-])(?:headerlink|header-anchor|heading-anchor|anchor-?link|anchorjs-link|permalink|hash-link|heading-link|anchor|direct-link|mw-editsection)(?:$|[\s_-])",
    re.I,
)
_PERMALINK_TEXT = re.compile(r"(?:copy |direct |permanent )?(?:link|permalink|anchor)(?: (?:to|for) .{1,80})?", re.I)
_RICH = "ul,ol,pre,table,h1,h2,h3,h4,h5,h6,blockquote,div > div,div > p"
SHORT_CHARS = 200
_EDIT = (
    ".mw-editsection,.mw-cite-backlink,.jp-InputPrompt,.jp-OutputPrompt,.input_prompt,.output_prompt"
    ",.code-toolbar > .toolbar,.lightbox-wrapper .meta,summary.hideme,.tree-entry .sr-only,.crayon-toolbar"
)
_TASKS = "li > .checkbox-on,li > .checkbox-off,ul.inline-task-list > li"  # Notion, Confluence
_PANEL = re.compile(r"(?:^|[\s_-])(?:accordion|collapse|faq|disclosure|toggle|expand|tab)", re.I)
_IMAGE_IN_TEXT = re.compile(r"<img\b([^>]*)>", re.I)
_ATTRIBUTE = re.compile(r"""([\w-]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""")


def clean(tree: LexborHTMLParser) -> None:
    """Remove in place what is not text. Nothing that carries a class or id above text is rewritten."""
    body = tree.body
    if body is None:
        return
    _real_images(body)
    remove(body, f"{_GONE},noscript")
    remove(body, _EDIT)
    _checkboxes(body)
    _signatures(tree, body)
    _cells(body)
    _sheets(body)
    _heading_marks(body)
    _buttons(tree, body)


def _checkboxes(body: LexborNode) -> None:
    """The box of a task is what says whether it is done; as a control it would go."""
    for box in body.css("li input[type='checkbox' i]"):
        box.replace_with("[x] " if "checked" in box.attributes else "[ ] ")
    for task in unique(body, _TASKS):
        names = (task.attributes.get("class") or "").split()
        mark = "[x] " if "checked" in names or "checkbox-on" in names else "[ ] "
        if task.tag != "li":
            task.replace_with(mark)
        elif (first := task.first_child) is not None:
            first.insert_before(mark)


def _signatures(tree: LexborHTMLParser, body: LexborNode) -> None:
    """Doxygen sets the signature of a function as a table, each parameter in a row of its own."""
    for table in unique(body, ".memproto table.memname"):
        words = " ".join(table.text(separator=" ").split())
        line, signature = tree.create_node("p"), tree.create_node("code")
        signature.insert_child(re.sub(r" (?=[,)(])|(?<=\() ", "", words))
        line.insert_child(signature)
        table.replace_with(line)


def _cells(body: LexborNode) -> None:
    """Short blocks in a headed table's cell are one thing to say: nobody may keep the half of it."""
    for table in body.css("table"):
        if table.css_first("th") is None:
            continue
        for block in [block for block in unique(table, "td > div,td > p,th > div,th > p") if block.css_first(_RICH) is None]:
            if len(block.text()) <= SHORT_CHARS:
                block.insert_before(" ")
                block.insert_after(" ")
                block.unwrap()


def _sheets(body: LexborNode) -> None:
    """A consent sheet is never what a page says, unless the page is about nothing else."""
    sheets = [node for node in unique(body, walls.CONSENT_SHEETS) if node.tag not in ("body", "main", "article")]
    kept: dict[int, LexborNode] = {}
    for node in sheets:
        if is_inside(node, kept) or node.css_first("main,article,h1") is not None:
            continue
        if walls.CONSENT_WORDS.search(node.text(separator=" ")[:4_000]):
            kept[node.mem_id] = node
    if not kept:
        return
    total = len(body.text(separator=" ").split())
    inside = sum(len(node.text(separator=" ").split()) for node in kept.values())
    if total - inside >= 15:
        for node in [node for node in kept.values() if not is_inside(node, kept)]:
            node.decompose()


def _real_images(body: LexborNode) -> None:
    """A lazy picture's own fallback stands in a `<noscript>` beside it; scripting is on, so it was read as text."""
    for node in body.css("noscript"):
        found = _IMAGE_IN_TEXT.search(node.text() or "")
        if not found:
            continue
        attributes = {match[1].lower(): match[2] or match[3] or match[4] or "" for match in _ATTRIBUTE.finditer(found[1])}
        source = images.source_of(attributes)
        if not source:
            continue
        beside = node.prev
        while beside is not None and beside.is_text_node:
            beside = beside.prev
        picture = (beside if beside.tag == "img" else beside.css_first("img")) if beside is not None else None
        if picture is not None:
            if not images.source_of(picture.attributes):
                picture.attrs["src"] = source
            continue


def _heading_marks(body: LexborNode) -> None:
    """A heading's permalink is no part of what it says."""
    for anchor in unique(body, _HEADINGS):
        attributes = anchor.attributes
        text = anchor.text(strip=True)
        mark = bool(_MARK_TEXT.fullmatch(text)) and anchor.css_first("img") is None and "#" in (attributes.get("href") or "#")
        label = (attributes.get("aria-label") or attributes.get("title") or "").strip()
        named = _PERMALINK_TEXT.fullmatch(label) is not None and len(text) < 10
        classed = _PERMALINK.search(attributes.get("class") or "") is not None
        if mark or named or (classed and (_PERMALINK_TEXT.fullmatch(text) or len(text) < 2)):
            anchor.decompose()


def _buttons(tree: LexborHTMLParser, body: LexborNode) -> None:
    """Buttons are controls, except where one is the heading, or the title of what it opens."""
    for button in body.css("button"):
        if "data-title" in button.attributes:
            _retitled(tree, button)
        elif _holds_text(button):
            button.unwrap()
        else:
            button.decompose()


def _retitled(tree: LexborHTMLParser, button: LexborNode) -> None:
    """The title of an accordion that is no heading: a line in bold."""
    line, strong = tree.create_node("p"), tree.create_node("strong")
    strong.insert_child(" ".join(button.text(separator=" ").split()))
    line.insert_child(strong)
    button.replace_with(line)


def _holds_text(button: LexborNode) -> bool:
    if button.css_first("h1,h2,h3,h4,h5,h6,p,img") is not None:
        return True
    parent = button.parent
    for _ in range(3):
        if parent is None:
            return False
        if parent.tag in ("h1", "h2", "h3", "h4", "h5", "h6", "summary", "dt"):
            return bool(button.text(strip=True)) and not re.fullmatch(
                r"(?i)(copy|edit|share|expand|close|link|menu).{0,12}", button.text(strip=True)
            )
        if parent.tag in ("p", "li") and parent.tag == "p":
            return True
        parent = parent.parent
    return len(button.text(strip=True).split()) > 8


def furniture(root: LexborNode) -> None:
    """What surrounds every page of a site goes: navigation, and the header and footer of the page itself."""
    words = len(root.text(separator=" ").split())
    for node in outermost(root, "nav,[role=navigation],header,[role=banner],footer,[role=contentinfo],[role=search]"):
        if node.tag in ("header", "footer") and _is_within(node, ("article", "main", "section", "li", "blockquote")):
            continue
        if len(node.text(separator=" ").split()) * 2 < words:
            node.decompose()


def _is_within(node: LexborNode, tags: tuple[str, ...]) -> bool:
    parent = node.parent
    while parent is not None and parent.tag != "body":
        if parent.tag in tags:
            return True
        parent = parent.parent
    return False
