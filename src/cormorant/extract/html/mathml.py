"""MathML to TeX, also as MathJax draws it (`<mjx-mi>`, `data-mml-node`): for formulas that carry no source. Pure."""

from __future__ import annotations

import re
import unicodedata

from selectolax.lexbor import LexborNode

MAX_DEPTH = 60

_ARGUMENTS = frozenset(
    (
        "math mrow mi mn mo mtext ms mspace msup msub msubsup mfrac msqrt mroot mover munder munderover mtable mtr mtd mlabeledtr "
        "mfenced menclose mstyle mpadded mphantom merror semantics mmultiscripts maction"
    ).split()
)
_IGNORED = frozenset(
    [
        "annotation",
        "annotation-xml",
        "mphantom",
        "mjx-assistive-mml",
        "defs",
        "mjx-surd",
        "mjx-line",
        "mjx-nstrut",
        "mjx-dstrut",
        "mjx-strut",
        "mjx-spacer",
    ]
)
_SYMBOLS = {
    **dict(
        zip(
            "αβγδεζηθικλμνξπρστυφχψω",
            ("alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon phi chi psi omega").split(),
            strict=True,
        )
    ),
    **dict(zip("ΓΔΘΛΞΠΣΥΦΨΩ", ["Gamma", "Delta", "Theta", "Lambda", "Xi", "Pi", "Sigma", "Upsilon", "Phi", "Psi", "Omega"], strict=True)),
    **{
        "ϕ": "varphi",
        "ϵ": "varepsilon",
        "ϑ": "vartheta",
        "ς": "varsigma",
        "ℓ": "ell",
        "ℏ": "hbar",
        "∂": "partial",
        "∇": "nabla",
        "∞": "infty",
    },
    **{"∑": "sum", "∏": "prod", "∫": "int", "∮": "oint", "∬": "iint", "⋃": "bigcup", "⋂": "bigcap", "∐": "coprod", "⨁": "bigoplus"},
    **{
        "≤": "leq",
        "≥": "geq",
        "≠": "neq",
        "≈": "approx",
        "≡": "equiv",
        "∼": "sim",
        "≃": "simeq",
        "≅": "cong",
        "∝": "propto",
        "≪": "ll",
        "≫": "gg",
    },
    **{
        "×": "times",
        "÷": "div",
        "⋅": "cdot",
        "·": "cdot",
        "±": "pm",
        "∓": "mp",
        "∗": "ast",
        "∘": "circ",
        "⊕": "oplus",
        "⊗": "otimes",
        "†": "dagger",
    },
    **{
        "∈": "in",
        "∉": "notin",
        "∋": "ni",
        "⊂": "subset",
        "⊆": "subseteq",
        "⊃": "supset",
        "⊇": "supseteq",
        "∪": "cup",
        "∩": "cap",
        "∅": "emptyset",
    },
    **{
        "∧": "wedge",
        "∨": "vee",
        "¬": "neg",
        "∀": "forall",
        "∃": "exists",
        "⊢": "vdash",
        "⊨": "models",
        "⊥": "perp",
        "∥": "parallel",
        "∣": "mid",
    },
    **{
        "→": "to",
        "←": "leftarrow",
        "↔": "leftrightarrow",
        "⇒": "Rightarrow",
        "⇐": "Leftarrow",
        "⇔": "Leftrightarrow",
        "↦": "mapsto",
        "⟶": "longrightarrow",
    },
    **{"⟹": "implies", "⟺": "iff", "↑": "uparrow", "↓": "downarrow", "…": "ldots", "⋯": "cdots", "⋮": "vdots", "⋱": "ddots", "′": "prime"},
    **{
        "⟨": "langle",
        "⟩": "rangle",
        "⌊": "lfloor",
        "⌋": "rfloor",
        "⌈": "lceil",
        "⌉": "rceil",
        "‖": "Vert",
        "ℝ": "mathbb{R}",
        "ℕ": "mathbb{N}",
    },
    **{"ℤ": "mathbb{Z}", "ℚ": "mathbb{Q}", "ℂ": "mathbb{C}", "√": "surd", "∖": "setminus", "∠": "angle", "△": "triangle", "⊤": "top"},
}
_ACCENTS = {
    "^": "hat",
    "ˆ": "hat",
    "~": "tilde",
    "˜": "tilde",
    "¯": "bar",
    "‾": "overline",
    "→": "vec",
    "⃗": "vec",
    "˙": "dot",
    "¨": "ddot",
    "ˇ": "check",
    "_": "underline",
}
_ACCENTS |= {"⏞": "overbrace", "⏟": "underbrace", "―": "overline"}
_FUNCTIONS = frozenset(
    (
        "sin cos tan cot sec csc sinh cosh tanh log ln lg exp lim max min sup inf arg det dim ker gcd deg Pr arcsin arccos arctan "
        "limsup liminf"
    ).split()
)
_DRAWN = re.compile(r"\bmjx-c([0-9A-F]{2,6})\b")


def tex_of(node: LexborNode) -> str:
    """TeX for a `<math>` element, or for what MathJax made of one."""
    return " ".join(_row(node, 0).split())


def _name(node: LexborNode) -> str:
    """The MathML name of a node: its tag, MathJax's tag for it, or the name an SVG group keeps."""
    tag = node.tag or ""
    if tag == "g" or tag == "svg":
        return node.attributes.get("data-mml-node") or ""
    return tag.removeprefix("mjx-")


def _parts(node: LexborNode, depth: int = 0) -> list[LexborNode]:
    """The arguments of a node: its children, wrappers of the drawing looked through."""
    found: list[LexborNode] = []
    for child in node.iter():
        tag = child.tag or ""
        if tag in _IGNORED:
            continue
        if _name(child) in _ARGUMENTS:
            found.append(child)
        elif depth < MAX_DEPTH:
            found += _parts(child, depth + 1)
    return found


def _row(node: LexborNode, depth: int) -> str:
    return " ".join(text for part in _parts(node) if (text := _tex(part, depth + 1)))


def _tex(node: LexborNode, depth: int) -> str:
    if depth > MAX_DEPTH:
        return node.text(strip=True)
    name = _name(node)
    if name in ("mi", "mn", "mo", "mtext", "ms", "mspace"):
        return _leaf(node, name)
    parts = _parts(node)
    if written := _WRITTEN.get(name):
        return str(written(node, parts, depth))
    if name == "semantics":
        return _tex(parts[0], depth + 1) if parts else ""
    return " ".join(text for part in parts if (text := _tex(part, depth + 1)))


def _leaf(node: LexborNode, name: str) -> str:
    text = node.text(strip=True) or _drawn(node)
    if name == "mspace":
        return ""
    if name in ("mtext", "ms"):
        return f"\\text{{{text}}}" if text else ""
    text = unicodedata.normalize("NFKC", text).translate({0x2062: None, 0x2061: None, 0x2063: None, 0x2064: None, 0x2212: "-", 0x2032: "'"})
    if text in _SYMBOLS:
        return "\\" + _SYMBOLS[text]
    if name == "mi" and text in _FUNCTIONS:
        return "\\" + text
    if name == "mi" and len(text) > 1 and text.isalpha():
        return f"\\mathrm{{{text}}}" if text.isascii() else text
    if text in ("{", "}", "%", "#", "&", "$"):
        return "\\" + text
    return letters(text).strip()


def letters(text: str) -> str:
    """Letters and signs, those with a name in TeX by that name."""
    return "".join(f"\\{_SYMBOLS[char]} " if char in _SYMBOLS else char for char in text)


def _drawn(node: LexborNode) -> str:
    """The characters of a leaf that has no text: named in classes (CHTML) or in `data-c` (SVG)."""
    out = []
    for glyph in node.css("mjx-c,use,path,mjx-utext,text"):
        code = glyph.attributes.get("data-c") or ""
        if not code and (found := _DRAWN.search(glyph.attributes.get("class") or "")):
            code = found[1]
        if re.fullmatch(r"[0-9A-Fa-f]{2,6}", code) and int(code, 16) < 0x110000:
            out.append(chr(int(code, 16)))
        elif text := glyph.text(strip=True):
            out.append(text)
    return "".join(out)


def _argument(node: LexborNode | None, depth: int) -> str:
    return "{" + (_tex(node, depth + 1) if node is not None else "") + "}"


def _base(node: LexborNode, depth: int) -> str:
    text = _tex(node, depth + 1)
    return text if len(text) <= 1 or re.fullmatch(r"\\\w+|\(|\)|\\mathrm\{\w+\}", text) else "{" + text + "}" if " " in text else text


def _at(parts: list[LexborNode], index: int) -> LexborNode | None:
    return parts[index] if index < len(parts) else None


def _inside(node: LexborNode, tag: str) -> LexborNode | None:
    """An argument by the name MathJax gives its place (`mjx-base`, `mjx-under`)."""
    place = node.css_first(f"mjx-{tag}")
    return place


def _scripts(node: LexborNode, parts: list[LexborNode], depth: int) -> str:
    name = _name(node)
    base = _base(parts[0], depth) if parts else ""
    if name == "msup":
        return f"{base}^{_argument(_at(parts, 1), depth)}"
    if name == "msub":
        return f"{base}_{_argument(_at(parts, 1), depth)}"
    below, above = _at(parts, 1), _at(parts, 2)
    if (node.tag or "").startswith("mjx-"):
        below, above = above, below  # MathJax draws the upper script first
    return f"{base}_{_argument(below, depth)}^{_argument(above, depth)}"


def _limits(node: LexborNode, parts: list[LexborNode], depth: int) -> str:
    name = _name(node)
    under, over = None, None
    if (node.tag or "").startswith("mjx-") and (base_place := _inside(node, "base")) is not None:
        base = " ".join(_row(base_place, depth).split())
        under, over = (_row(place, depth) if (place := _inside(node, tag)) is not None else None for tag in ("under", "over"))
    else:
        base = _base(parts[0], depth) if parts else ""
        texts = [_tex(part, depth + 1) for part in parts[1:3]]
        if name == "munderover":
            under, over = (*texts, None, None)[:2]
        elif name == "munder":
            under = texts[0] if texts else None
        else:
            over = texts[0] if texts else None
    for mark in (over, under):
        bare = (mark or "").strip()
        accent = _ACCENTS.get(bare) or ("vec" if bare == "\\to" else None)
        if accent and (under is None or over is None):
            return f"\\{accent}{{{base.strip('{}') if base.startswith('{') else base}}}"
    return base + (f"_{{{under}}}" if under else "") + (f"^{{{over}}}" if over else "")


def _fraction(node: LexborNode, parts: list[LexborNode], depth: int) -> str:
    if (node.attributes.get("linethickness") or "").startswith("0"):
        return f"\\binom{_argument(_at(parts, 0), depth)}{_argument(_at(parts, 1), depth)}"
    return f"\\frac{_argument(_at(parts, 0), depth)}{_argument(_at(parts, 1), depth)}"


def _root(node: LexborNode, parts: list[LexborNode], depth: int) -> str:
    if _name(node) == "mroot" and len(parts) > 1:
        return f"\\sqrt[{_tex(parts[1], depth + 1)}]{_argument(parts[0], depth)}"
    return "\\sqrt{" + " ".join(_tex(part, depth + 1) for part in parts) + "}"


def _table(node: LexborNode, parts: list[LexborNode], depth: int) -> str:
    rows = []
    for row in parts:
        cells = _parts(row) if _name(row) in ("mtr", "mlabeledtr") else [row]
        rows.append(" & ".join(_tex(cell, depth + 2) for cell in cells))
    return "\\begin{matrix} " + " \\\\ ".join(rows) + " \\end{matrix}"


def _fenced(node: LexborNode, parts: list[LexborNode], depth: int) -> str:
    opening, closing = node.attributes.get("open") or "(", node.attributes.get("close") or ")"
    return f"\\left{opening} " + ", ".join(_tex(part, depth + 1) for part in parts) + f" \\right{closing}"


_WRITTEN = {
    **dict.fromkeys(("msup", "msub", "msubsup"), _scripts),
    **dict.fromkeys(("munder", "mover", "munderover"), _limits),
    **dict.fromkeys(("msqrt", "mroot"), _root),
    "mfrac": _fraction,
    "mtable": _table,
    "mfenced": _fenced,
}
