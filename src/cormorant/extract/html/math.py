"""Formulas as TeX: KaTeX, MathJax 2 to 4, MathML, picture services. Pure: rewrites the tree in place.

Whatever way a page shows a formula, it becomes one `<math>` element that holds its TeX as plain text, before hidden text is
looked for: the readable copy of a formula is as a rule the one that a style sheet hides.
"""

from __future__ import annotations

import re
from urllib.parse import parse_qs, unquote, urlsplit

from selectolax.lexbor import LexborHTMLParser, LexborNode

from cormorant.extract.html import katex
from cormorant.extract.html.mathml import tex_of
from cormorant.extract.html.nodes import mentions, outermost, unique

HINTS = ("katex", "mathjax", "mjx-", "<math", "math/tex", "latex", "data-math", "data-tex", "codecogs", "mimetex", "cht=tx", "%5c")
MAX_CHARS = 8_000

_HOLDERS = ".katex-display,.katex,mjx-container,.mwe-math-element,.MathJax_Display,.MathJax,.MathJax_SVG,.MathJax_CHTML,math"
_SCRIPTS = "script[type^='math/tex'],script[type^='math/mml']"
_FENCED = "code.math[data-math-style],pre.math[data-math-style]"  # GitLab keeps the source where a script will draw it
_ATTRIBUTES = ("data-math", "data-latex", "data-tex", "data-katex", "data-expr", "data-formula", "data-equation", "data-tex-source")
_PICTURES = ",".join(f"img[{name}*={word} i]" for name in ("src", "class") for word in ("tex", "math", "codecogs", "equation", "ql-img"))
_PICTURES += ",img[src*='cht=tx'],img[src*='%5C' i]"  # a backslash in an address is TeX, or a broken path
_ANY = ",".join([_HOLDERS, _SCRIPTS, _FENCED, *(f"[{name}]" for name in _ATTRIBUTES), _PICTURES])  # all that is looked at below
_SERVICES = re.compile(
    r"codecogs\.com|/latex\.php|wp\.com/latex|mathtex|mathurl|quicklatex|/mimetex|latex\.(?:artofproblemsolving|vimsky)|math\.now\.sh|[?&]cht=tx"
    r"|/%5C[a-z]+(?:%7B|%20|[^a-z%]|$)",
    re.I,
)
_LATEX_CLASS = re.compile(r"(?:^|[\s_-])(?:latex|tex|math|equation|ql-img)(?:$|[\s_-])", re.I)
_STYLE = re.compile(r"^\{?\\(?:displaystyle|textstyle)\s*")
_DELIMITERS = (("\\(", "\\)"), ("\\[", "\\]"), ("$$", "$$"), ("$", "$"))


def rewrite(tree: LexborHTMLParser, source: str) -> None:
    """Each formula becomes `<math display="block|inline">TeX</math>`; `source` is searched for any sign of one."""
    body = tree.body
    if body is None or body.css_first(_ANY) is None or not mentions(source, HINTS):
        return
    _scripts(tree, body)
    for node in outermost(body, _HOLDERS):
        if "data-done" not in node.attributes:
            _replace(tree, node, *_formula(node))
    for node in outermost(body, _FENCED):
        _replace(tree, node, node.text(), node.attributes.get("data-math-style") == "display")
    _attributed(tree, body)
    _pictures(tree, body)


def _scripts(tree: LexborHTMLParser, body: LexborNode) -> None:
    """MathJax 2 keeps the source in a script behind what it drew."""
    for script in unique(body, _SCRIPTS):
        kind = script.attributes.get("type") or ""
        text = script.text() or ""
        if "mml" in kind:
            found = LexborHTMLParser(text).css_first("math")
            text = tex_of(found) if found is not None else ""
        drawn = script.prev
        while drawn is not None and (drawn.is_text_node and not (drawn.text_content or "").strip()):
            drawn = drawn.prev
        for _ in range(2):
            if drawn is not None and re.search(r"\bMathJax", drawn.attributes.get("class") or "" if drawn.is_element_node else ""):
                before = drawn.prev
                drawn.decompose()
                drawn = before
        _replace(tree, script, text, "mode=display" in kind)


def _formula(node: LexborNode) -> tuple[str, bool]:
    names = node.attributes.get("class") or ""
    display = "katex-display" in names or "MathJax_Display" in names or node.attributes.get("display") in ("true", "block")
    display = (
        display or node.css_first(".katex-display,[display='true']:not(math),.mwe-math-mathml-display,math[display='block']") is not None
    )
    if node.tag == "math" and node.attributes.get("display") == "block":
        display = True
    return _source(node), display


def _source(node: LexborNode) -> str:
    """The TeX a formula carries with it; made from its MathML, or from what was drawn, where it carries none."""
    note = node.css_first("annotation[encoding='application/x-tex'],annotation[encoding='TeX'],annotation[encoding='LaTeX']")
    if note is not None and (text := note.text().strip()):
        return text
    for name in ("data-latex", "data-tex", "data-math", "alttext", "data-expr"):
        if value := (node.attributes.get(name) or "").strip():
            return value
    inner = node if node.tag == "math" else node.css_first("math")
    if inner is not None:
        return (inner.attributes.get("alttext") or "").strip() or tex_of(inner)
    if markup := node.attributes.get("data-mathml") or _inner_markup(node):
        found = LexborHTMLParser(markup).css_first("math")
        if found is not None:
            return tex_of(found)
    picture = node.css_first("img[alt]")
    if picture is not None:
        return (picture.attributes.get("alt") or "").strip()
    drawing = node.css_first(".katex-html")
    return tex_of(node) or (katex.tex_of(drawing) if drawing is not None else "")


def _inner_markup(node: LexborNode) -> str:
    inner = node.css_first("[data-mathml]")
    return (inner.attributes.get("data-mathml") or "") if inner is not None else ""


def _replace(tree: LexborHTMLParser, node: LexborNode, tex: str, display: bool) -> None:
    tex = tidy(tex)
    if not tex or len(tex) > MAX_CHARS:
        if not node.text(strip=True) or not tex:
            node.decompose()
        return
    made = tree.create_node("math")
    made.attrs["display"] = "block" if display else "inline"
    made.attrs["data-done"] = "1"
    for name in ("style", "hidden", "class") if node.tag == "math" else ():  # MathML that is hidden stays so until it is judged
        if name in node.attributes:
            made.attrs[name] = node.attributes[name] or ""
    made.insert_child(tex)
    node.replace_with(made)


def tidy(tex: str) -> str:
    """TeX without the wrappers a renderer puts round it."""
    tex = tex.strip()
    for start, end in _DELIMITERS:
        if tex.startswith(start) and tex.endswith(end) and len(tex) > len(start) + len(end):
            tex = tex[len(start) : -len(end)].strip()
            break
    style = _STYLE.match(tex)
    if style:
        braced = tex.startswith("{") and tex.endswith("}")
        tex = tex[style.end() : -1 if braced else None].strip()
    return tex


def _attributed(tree: LexborHTMLParser, body: LexborNode) -> None:
    """Elements that a script was going to fill, with the source in an attribute."""
    for name in _ATTRIBUTES:
        for node in outermost(body, f"[{name}]"):
            value = (node.attributes.get(name) or "").strip()
            names = node.attributes.get("class") or ""
            if node.tag == "math" or not value or (len(value) < 2 and not re.search(r"math|tex", names, re.I)):
                continue
            if name not in ("data-math", "data-latex", "data-tex", "data-katex", "data-tex-source") and not re.search(
                r"math|katex|tex", names, re.I
            ):
                continue
            block = node.tag == "div" or re.search(r"block|display", names, re.I) is not None
            _replace(tree, node, value, block)


def _pictures(tree: LexborHTMLParser, body: LexborNode) -> None:
    """Pictures of formulas: the source is in the address, or it is the alternative text."""
    for node in body.css("img"):
        attributes = node.attributes
        source = attributes.get("src") or ""
        service = _SERVICES.search(source)
        if not service and not _LATEX_CLASS.search(attributes.get("class") or ""):
            continue
        alt = (attributes.get("alt") or "").strip()
        tex = _in_address(source) if service else ""
        if not tex and re.search(r"[\\^_=+{}<>]|^\w$", alt):
            tex = alt
        if tex:
            _replace(tree, node, re.sub(r"^\\(?:inline|dpi\{\d+\}|large|bg_white|fn_\w+)\s*", "", tex), False)


def _in_address(source: str) -> str:
    parts = urlsplit(source) if len(source) < MAX_CHARS else urlsplit("")
    query = parse_qs(parts.query)
    for name in ("latex", "tex", "eq", "formula", "from", "chl"):
        if query.get(name):
            return query[name][0].strip()
    if parts.query and "=" not in parts.query.split("\\")[0]:
        return unquote(parts.query.replace("+", " ")).strip()
    if parts.query and "\\" in unquote(parts.query):
        return unquote(parts.query).strip()
    last = unquote(parts.path.rpartition("/")[2])
    return last if "\\" in last or "^" in last else ""
