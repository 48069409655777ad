"""The little CSS that decides whether a person can see an element: inline styles and plain `<style>` rules. Pure.

No layout is done. A declaration hides when a browser would show nothing for it on any screen: `display: none`, no
opacity, no size, a place far off the screen, a clip to nothing, a colour without a difference to what is behind it.
External style sheets are not fetched, so what they hide is not known here.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from selectolax.lexbor import LexborNode, SelectolaxError

CSS_MAX_CHARS = 1_000_000  # read of all <style> elements together
RULES_MAX = 600  # of those that can hide something and match the page's own names
COLOUR_RULES_MAX = 120
COLOUR_SHEET_MAX = 300  # a sheet with more rules is a design system: its colours are not followed
OFF_SCREEN_PX = 500

_ESCAPE = re.compile(r"\\([0-9a-fA-F]{1,6})\s?|\\(.)")
_DECLARATION = re.compile(r"""([\w-]+)\s*:\s*((?:[^;"'()]|"[^"]*"|'[^']*'|\((?:[^()]|\([^()]*\))*\)|["'()])*)""")
_LENGTH = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+))\s*(px|pt|em|rem|ex|ch|%|vw|vh|vmin|vmax|cm|mm|in|pc)?\b", re.I)
_PX = {
    "px": 1.0,
    "pt": 1.33,
    "em": 16.0,
    "rem": 16.0,
    "ex": 8.0,
    "ch": 8.0,
    "%": 10.0,
    "vw": 12.0,
    "vh": 8.0,
    "cm": 38.0,
    "mm": 3.8,
    "in": 96.0,
    "pc": 16.0,
}
_AT_PLAIN = re.compile(r"@(?:layer|supports|media\s+(?:only\s+)?(?:all|screen)\s*$)", re.I)
_STATE = re.compile(
    r":(?:hover|focus|active|target|checked|visited|focus-within|focus-visible|open|popover-open|fullscreen|lang)\b|::|:(?:before|after)\b",
    re.I,
)
_NAMES_USED = re.compile(r"[.#]((?:[\w\x80-\U0010ffff-]+|\\.)+)")

_COLOURS = {
    "white": (255, 255, 255),
    "black": (0, 0, 0),
    "red": (255, 0, 0),
    "lime": (0, 255, 0),
    "green": (0, 128, 0),
    "blue": (0, 0, 255),
    "yellow": (255, 255, 0),
    "gray": (128, 128, 128),
    "grey": (128, 128, 128),
    "silver": (192, 192, 192),
    "navy": (0, 0, 128),
    "orange": (255, 165, 0),
    "purple": (128, 0, 128),
    "snow": (255, 250, 250),
    "ivory": (255, 255, 240),
    "whitesmoke": (245, 245, 245),
    "ghostwhite": (248, 248, 255),
    "gainsboro": (220, 220, 220),
    "lightgray": (211, 211, 211),
    "lightgrey": (211, 211, 211),
    "floralwhite": (255, 250, 240),
    "azure": (240, 255, 255),
    "mintcream": (245, 255, 250),
}
Colour = tuple[int, int, int]
SAME_COLOUR_STEPS = 12  # of 255; what is closer than this nobody can read

RELEVANT = frozenset(
    {"display", "visibility", "content-visibility", "opacity", "filter", "font-size", "font", "height", "width", "max-height", "max-width"}
    | {"overflow", "overflow-x", "overflow-y", "transform", "translate", "scale", "zoom", "text-indent", "position", "left", "right", "top"}
    | {"bottom", "inset", "margin", "margin-left", "margin-top", "clip", "clip-path", "color", "background", "background-color"}
    | {"background-image", "background-clip", "-webkit-background-clip", "-webkit-text-fill-color"}
)


# What a body must hold before it is worth parsing (spaces around colons are gone). Rough: `hides` has the last word.
_HIDING_HINTS = (
    *(
        "display:none",
        "visibility:hidden",
        "visibility:collapse",
        "opacity:0",
        "opacity:.0",
        "opacity(0",
        "font-size:0",
        "font-size:1px",
        "font-size:.",
    ),
    *("font:0", "height:0", "width:0", "height:1px", "width:1px", "clip:rect", "clip-path", "scale(0", "scale3d(0", "scale:0", "zoom:0"),
    *("color:transparent", "color:#0000", "color:rgba", "color:hsla", "-999", "-1000", "-2000", "-3000", "-5000", "00000px"),
    *("text-indent:-", "left:-", "top:-", "right:-", "bottom:-", "inset:-"),  # margin-left ends so too
)
_RULE = re.compile(r"([^{}]*)\{([^{}]*)\}")
_AT_RULE = re.compile(r"@[\w-]+[^{};]*[{;]")
_BRACE = re.compile(r"[{}]")
_BRACKETS = re.compile(r"\([^()]*\)|\[[^\]]*\]")
_COMBINATOR = re.compile(r"[\s>+~]+")
_TAG_NAME = re.compile(r"[a-zA-Z][\w-]*")
_COMMA = re.compile(r",(?![^(\[]*[)\]])")
_ATTRIBUTE_TEST = re.compile(r"\[[^\]]*\]")
_IDS = re.compile(r"#[\w-]")
_CLASSES = re.compile(r"[.\[]|(?<!:):(?!:|not|is|where)")
_TAGS = re.compile(r"(?:^|[\s>+~(])[a-z]", re.I)
_ICON = re.compile(r"""content:["']\\[0-9a-fA-F]{1,6}["']""")
_VAR = re.compile(r"var\(\s*(--[\w-]+)\s*(?:,\s*([^()]*))?\)")
_ROOT_RULE = re.compile(r"(?::root|html|body)\b[^{}]*\{([^{}]*)\}")
_CUSTOM = re.compile(r"(--[\w-]+)\s*:\s*([^;}]+)")
_NOTHING: dict[str, str] = {}


@dataclass(frozen=True, slots=True)
class Rule:
    """One selector with the declarations that matter here; `weight` orders it in the cascade."""

    selector: str
    weight: tuple[int, int]
    declared: Mapping[str, str]
    important: frozenset[str]

    @property
    def subject(self) -> tuple[str, frozenset[str]]:
        """What the element itself must be: its tag ("" for any) and its classes and id."""
        last = _COMBINATOR.split(_BRACKETS.sub("", self.selector).strip())[-1]
        tag = _TAG_NAME.match(last)
        return tag[0].lower() if tag else "", frozenset(name.replace("\\", "") for name in _NAMES_USED.findall(last))


def declarations(css: str) -> tuple[dict[str, str], frozenset[str]]:
    """Properties and values in lower case, escapes and comments undone, and which are `!important`."""
    if "\\" in css:
        css = _ESCAPE.sub(_unescaped, css)
    css = _without_comments(css)
    found: dict[str, str] = {}
    important = set()
    for one in _DECLARATION.finditer(css):
        name, value = one[1].lower(), one[2].strip().lower()
        if name not in RELEVANT:
            continue
        if "!" in value:
            value, _, mark = value.partition("!")
            value = value.strip()
            if mark.strip() == "important":
                important.add(name)
        found[name] = value
    return found, frozenset(important)


def _without_comments(css: str) -> str:
    """The style without `/* ... */`; what is not closed goes to the end."""
    start = css.find("/*")
    if start < 0:
        return css
    kept, at = [], 0
    while start >= 0:
        kept.append(css[at:start])
        end = css.find("*/", start + 2)
        at = end + 2 if end >= 0 else len(css)
        start = css.find("/*", at)
    kept.append(css[at:])
    return "".join(kept)


def _unescaped(match: re.Match[str]) -> str:
    if not match[1]:
        return match[2]
    point = int(match[1], 16)
    return chr(point) if 0 < point < 0x110000 and not 0xD800 <= point < 0xE000 else "\ufffd"


def hides(d: Mapping[str, str]) -> str:
    """The kind of hiding these declarations do; "" when the element can be seen."""
    if d.get("display", "").startswith("none"):
        return "display"
    if d.get("visibility") in ("hidden", "collapse") or d.get("content-visibility") == "hidden":
        return "visibility"
    if ("opacity" in d and _number(d["opacity"]) <= 0.02) or ("filter" in d and _FILTERED_OUT.search(d["filter"])):
        return "opacity"
    for names, judge in _JUDGES:
        if not names.isdisjoint(d) and (kind := judge(d)):
            return kind
    return ""


def _number(value: str) -> float:
    found = _LENGTH.match(value)
    return 1.0 if not found else float(found[1]) / (100 if found[2] == "%" else 1)


def px(value: str) -> float | None:
    """A length in pixels, roughly; None where it can't be told (`auto`, `calc(...)` without a far number)."""
    if value.startswith("calc"):
        far = [float(one[1]) for one in _LENGTH.finditer(value) if abs(float(one[1])) >= OFF_SCREEN_PX]
        return far[0] if far else None
    found = _LENGTH.match(value)
    if not found:
        return None
    return float(found[1]) * _PX.get((found[2] or "px").lower(), 1.0)


def font_px(d: Mapping[str, str]) -> float | None:
    """The font size a rule sets, if any."""
    if "font-size" in d:
        return px(d["font-size"])
    found = re.search(r"(?:^|\s)(\d*\.?\d+)(px|pt|em|rem|%)?(?:/|\s)", d.get("font", ""))
    return float(found[1]) * _PX.get(found[2] or "px", 1.0) if found else None


def _tiny(d: Mapping[str, str]) -> str:
    size = font_px(d)
    if size is not None and size <= 1.5:
        return "zero_size"
    cut = any(
        d.get(name, "").startswith(("hidden", "clip")) or " hidden" in d.get(name, "") for name in ("overflow", "overflow-x", "overflow-y")
    )
    small = [name for name in ("height", "max-height", "width", "max-width") if (length := px(d.get(name, ""))) is not None and length <= 1]
    if cut and small:
        return "zero_size"
    if re.search(r"scale[xy3d]*\(\s*0(?:\.0\d*)?\s*[,)]", d.get("transform", "")) or d.get("scale") == "0" or d.get("zoom") in ("0", "0%"):
        return "zero_size"
    return ""


def _clipped(d: Mapping[str, str]) -> str:
    placed = d.get("position") in ("absolute", "fixed")
    edges = [px(edge) for edge in re.split(r"[,\s]+", d.get("clip", "").removeprefix("rect(").rstrip(")")) if edge]
    if placed and d.get("clip", "").startswith("rect") and len(edges) == 4:
        top, right, bottom, left = (edge or 0.0 for edge in edges)
        if right - left <= 1 or bottom - top <= 1:
            return "clip"
    path = d.get("clip-path", "")
    if found := re.match(r"inset\(\s*(\d+(?:\.\d+)?|\.\d+)%", path):
        return "clip" if float(found[1]) >= 50 else ""
    if re.match(r"(?:circle|ellipse)\(\s*0", path) or re.match(r"polygon\(\s*0\S*\s+0\S*\s*(?:,\s*0\S*\s+0\S*\s*)*\)", path):
        return "clip"
    return ""


def _off_screen(d: Mapping[str, str]) -> str:
    if d.get("position") in ("absolute", "fixed", "relative"):
        for name in ("left", "top", "right", "bottom", "inset"):
            length = px(d.get(name, ""))
            if length is not None and (length <= -OFF_SCREEN_PX or length >= 5_000):
                return "off_screen"
    for name in ("text-indent", "margin-left", "margin-top", "margin"):
        lengths = [px(part) for part in d.get(name, "").split()] if name == "margin" else [px(d.get(name, ""))]
        if any(length is not None and length <= -OFF_SCREEN_PX for length in lengths):
            return "off_screen"
    moved = re.search(r"translate[xy3d]*\(([^)]*)\)", d.get("transform", ""))
    shifts = re.split(r"[,\s]+", (moved[1] if moved else d.get("translate", "")).strip())
    if any((length := px(shift)) is not None and not shift.endswith("%") and abs(length) >= 2 * OFF_SCREEN_PX for shift in shifts if shift):
        return "off_screen"
    return ""


def _see_through(d: Mapping[str, str]) -> str:
    if "text" in d.get("background-clip", "") or "text" in d.get("-webkit-background-clip", ""):
        return ""  # a heading filled with a gradient
    if d.get("-webkit-text-fill-color", d.get("color", "")) == "transparent" or _alpha(d.get("color", "")) <= 0.05:
        return "same_colour"
    return "same_colour" if same(colour(d.get("color", "")), background(d)) else ""


_FILTERED_OUT = re.compile(r"opacity\(\s*(?:0?\.0[012]?|[012]?%|0)\s*\)")
_JUDGES = (
    (frozenset({"font-size", "font", "overflow", "overflow-x", "overflow-y", "transform", "scale", "zoom"}), _tiny),
    (frozenset({"clip", "clip-path"}), _clipped),
    (frozenset({"position", "text-indent", "margin-left", "margin-top", "margin", "transform", "translate"}), _off_screen),
    (frozenset({"color", "-webkit-text-fill-color"}), _see_through),
)


def background(d: Mapping[str, str]) -> Colour | None:
    """The plain background colour a rule sets; None without one, or with a picture over it."""
    value = d.get("background-color") or d.get("background", "")
    if "url(" in d.get("background", "") or "gradient" in value or d.get("background-image", "none") not in ("none", ""):
        return None
    if "background-color" in d:
        return colour(value)
    return next((found for part in re.split(r"\s+(?![^(]*\))", value) if (found := colour(part))), None)


def same(one: Colour | None, other: Colour | None) -> bool:
    """Whether text of one colour can't be read on the other."""
    return one is not None and other is not None and max(abs(a - b) for a, b in zip(one, other, strict=True)) <= SAME_COLOUR_STEPS


def colour(value: str) -> Colour | None:
    """An RGB triple; None for what is no plain, opaque colour."""
    value = value.strip()
    if value in _COLOURS:
        return _COLOURS[value]
    if value.startswith("#"):
        digits = value[1:]
        if not re.fullmatch(r"[0-9a-f]{3,8}", digits):
            return None
        if len(digits) in (3, 4):
            digits = "".join(digit * 2 for digit in digits)
        return (int(digits[0:2], 16), int(digits[2:4], 16), int(digits[4:6], 16)) if len(digits) >= 6 else None
    if value.startswith("rgb") and _alpha(value) > 0.95:
        parts = re.findall(r"(?:\d+(?:\.\d+)?|\.\d+)%?", value)
        if len(parts) >= 3:
            red, green, blue = (round(float(part[:-1]) * 2.55) if part.endswith("%") else round(float(part)) for part in parts[:3])
            return (red, green, blue)
    if found := re.match(r"hsla?\(\s*[\d.]+(?:deg)?[,\s]+(\d+(?:\.\d+)?)%[,\s]+(\d+(?:\.\d+)?)%", value):
        saturation, light = float(found[1]), float(found[2])
        if saturation == 0 or light in (0.0, 100.0):
            grey = round(light * 2.55)
            return (grey, grey, grey)
    return None


def _alpha(value: str) -> float:
    if value == "transparent":
        return 0.0
    if value.startswith("#") and len(value) in (5, 9):
        digits = value[4:5] * 2 if len(value) == 5 else value[7:9]
        return int(digits, 16) / 255 if re.fullmatch(r"[0-9a-f]{2}", digits) else 1.0
    if value.startswith(("rgba(", "hsla(", "rgb(", "hsl(")):
        parts = re.findall(r"(?:\d+(?:\.\d+)?|\.\d+)%?", value)
        if len(parts) == 4:
            return float(parts[3][:-1]) / 100 if parts[3].endswith("%") else float(parts[3])
    return 1.0


def plain_rules(css: str) -> str:
    """A sheet with the rules that hold on every screen: without comments and conditional at-rules."""
    css = _without_comments(css)
    css = css.replace("\n", " ").replace("\t", " ").replace("\r", " ").replace("\f", " ")
    while "  " in css:
        css = css.replace("  ", " ")
    css = css.replace(" :", ":").replace(": ", ":")
    return _unconditional(css) if "@" in css else css


def _unconditional(css: str) -> str:
    """The sheet without at-rules, except those that always hold: these are entered."""
    kept, at = [], 0
    for found in _AT_RULE.finditer(css):
        if found.start() < at:
            continue
        kept.append(css[at : found.start()])
        at = found.end()
        if found[0].endswith("{") and not _AT_PLAIN.match(found[0][:-1]):
            at = _closing(css, at) + 1
    kept.append(css[at:])
    return "".join(kept)


def _closing(css: str, at: int) -> int:
    depth = 1
    for brace in _BRACE.finditer(css, at):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return brace.start()
    return len(css)


def _split_selectors(selectors: str) -> list[str]:
    if "(" not in selectors and "[" not in selectors:
        return [one.strip() for one in selectors.split(",")]
    return [one.strip() for one in _COMMA.split(selectors)]


def _is_state(selector: str) -> bool:
    """Whether a selector holds only for a while (`:hover`), or for what is no element (`::before`)."""
    return ":" in selector and _STATE.search(selector) is not None


def _specificity(selector: str) -> int:
    return len(_IDS.findall(selector)) * 10_000 + len(_CLASSES.findall(selector)) * 100 + len(_TAGS.findall(selector))


class Sheet:
    """The `<style>` elements of one page, asked about its elements. Rules are parsed when a question needs them."""

    def __init__(self, root: LexborNode) -> None:
        # The sheets stand in the head, also when only the body is looked at.
        sheets = [
            style.text() for style in root.parser.css("style") if (style.attributes.get("media") or "all").lower() in ("all", "screen")
        ]
        self._root = root
        self._held: frozenset[str] | None = None
        self._css = plain_rules("\n".join(sheets)[:CSS_MAX_CHARS])
        self._lower = self._css.lower()
        if len(self._lower) != len(self._css):  # a letter whose small form is longer: places would shift
            self._lower = self._css
        self._spans = [match.span(2) for match in _RULE.finditer(self._css)]
        self._starts = [start for start, _ in self._spans]
        self._custom = dict(_custom_properties(self._css)) if "--" in self._css else {}
        self._parsed: dict[int, list[Rule]] = {}
        self._nodes: dict[tuple[int, str], list[LexborNode]] = {}
        self._setting: dict[str, dict[str, list[tuple[frozenset[str], Rule]]]] = {}
        self._alike: dict[tuple[str, str, str, frozenset[str]], list[Rule]] = {}
        self._standing: dict[str, list[int]] = {}

    @property
    def is_small(self) -> bool:
        """Whether the sheet is short enough to follow its colours, as that of a page that hides by hand is."""
        return len(self._spans) <= COLOUR_SHEET_MAX

    def hiding(self) -> list[tuple[LexborNode, frozenset[str]]]:
        """Every element that some rule would hide, taken alone, with the properties that rule sets."""
        found: dict[int, tuple[LexborNode, frozenset[str]]] = {}
        for rule in islice((rule for rule in self._where(_HIDING_HINTS) if hides(rule.declared)), RULES_MAX):
            for node in self._matched(rule):
                names: frozenset[str] = found[node.mem_id][1] if node.mem_id in found else frozenset()
                found[node.mem_id] = (node, names | _essential(rule.declared))
        return list(found.values())

    def coloured(self, papers: frozenset[Colour]) -> list[LexborNode]:
        """Every element whose text a rule gives one of these colours."""
        found: dict[int, LexborNode] = {}
        inked = (rule for rule in self._where(("color:",)) if any(same(colour(rule.declared.get("color", "")), paper) for paper in papers))
        for rule in islice(inked, COLOUR_RULES_MAX):
            for node in self._matched(rule):
                found.setdefault(node.mem_id, node)
        return list(found.values())

    def backgrounds(self) -> frozenset[Colour]:
        """The plain background colours that rules set."""
        return frozenset(
            found for rule in islice(self._where(("background",)), COLOUR_RULES_MAX) if (found := background(rule.declared)) is not None
        )

    def of(self, node: LexborNode, names: frozenset[str]) -> dict[str, str]:
        """What rules and the element's own style declare for it of these properties, the stronger over the weaker."""
        style = node.attributes.get("style") or ""
        own, own_important = declarations(style) if style else (_NOTHING, frozenset())
        if not self._spans:
            return dict(own)
        won = {name: ((3 if name in own_important else 1, 0, 0), value) for name, value in own.items()}
        for rule in self._rules_for(node, names):
            for name, value in rule.declared.items():
                weight = (2 if name in rule.important else 0, *rule.weight)
                if name in names and (name not in won or weight >= won[name][0]):
                    won[name] = (weight, value)
        return {name: self.resolved(value) for name, (_, value) in won.items()}

    def resolved(self, value: str) -> str:
        """A value with the custom properties of `:root` filled in."""
        if "var(" not in value or not self._custom:
            return value
        return _VAR.sub(lambda found: self._custom.get(found[1], found[2] or ""), value).strip()

    def _rules_for(self, node: LexborNode, names: frozenset[str]) -> Iterator[Rule]:
        """The rules that set one of these properties and match the element."""
        key = (node.tag or "", node.attributes.get("class") or "", node.id or "", names)
        if (rules := self._alike.get(key)) is None:
            rules = self._alike[key] = self._rules_about(*key)
        return (rule for rule in rules if self._matches(node, rule.selector))

    def _rules_about(self, tag: str, classes: str, name: str, names: frozenset[str]) -> list[Rule]:
        """The rules that set one of these properties of elements with this tag, these classes and this id."""
        held = frozenset([*classes.split(), *([name] if name else [])])
        found = {
            id(rule): rule
            for setting in map(self._rules_setting, names)
            for key in (*held, f"<{tag}>", "<>")
            for needed, rule in setting.get(key, ())
            if needed <= held
        }
        return list(found.values())

    def _rules_setting(self, name: str) -> dict[str, list[tuple[frozenset[str], Rule]]]:
        """The rules that set a property, by one class or id they need, else by tag. Made once for each property."""
        if name not in self._setting:
            held: dict[str, list[tuple[frozenset[str], Rule]]] = {}
            for rule in islice((rule for rule in self._where((f"{name}:",)) if name in rule.declared), 4 * RULES_MAX):
                tag, needed = rule.subject
                held.setdefault(min(needed) if needed else f"<{tag}>", []).append((needed, rule))
            self._setting[name] = held
        return self._setting[name]

    @staticmethod
    def _matches(node: LexborNode, selector: str) -> bool:
        try:
            return bool(node.css_matches(selector))
        except SelectolaxError:  # a selector the parser does not know: no rule, as in a browser
            return False

    def _where(self, hints: Iterable[str]) -> Iterator[Rule]:
        """The rules whose text holds one of the hints and whose selector may match something on this page, in order."""
        for order in sorted(self._escaped.union(*map(self._holding, hints))):
            yield from self._rules(order)

    @cached_property
    def _escaped(self) -> set[int]:
        """The rules that may say something in escapes; icon fonts use them for their letters alone."""
        return {order for order in self._holding("\\") if "\\" in _ICON.sub("", self._css[slice(*self._spans[order])])}

    def _holding(self, hint: str) -> list[int]:
        """The places of the rules whose declarations hold a text."""
        if (found := self._standing.get(hint)) is None:
            found = self._standing[hint] = []
            at = self._lower.find(hint)
            while at >= 0:
                order = bisect_right(self._starts, at) - 1
                end = self._spans[order][1] if order >= 0 else at
                if order >= 0 and at < end:
                    found.append(order)
                at = self._lower.find(hint, max(end, at + 1))
        return found

    def _prelude(self, order: int) -> str:
        """The selectors of a rule."""
        return self._css[self._spans[order - 1][1] + 1 if order else 0 : self._spans[order][0] - 1].rpartition(";")[2]

    def _rules(self, order: int) -> list[Rule]:
        if order not in self._parsed:
            start, end = self._spans[order]
            wanted = [one for one in _split_selectors(self._prelude(order)) if one and not _is_state(one) and self._could_match(one)]
            declared, important = declarations(self._css[start:end]) if wanted else (_NOTHING, frozenset())
            if self._custom:
                declared = {name: self.resolved(value) for name, value in declared.items()}
            self._parsed[order] = [Rule(one, (_specificity(one), order), declared, important) for one in wanted] if declared else []
        return self._parsed[order]

    def _matched(self, rule: Rule) -> list[LexborNode]:
        key = (rule.weight[1], rule.selector)
        if key not in self._nodes:
            try:
                self._nodes[key] = self._root.css(rule.selector)
            except SelectolaxError:  # a selector the parser does not know: no rule, as in a browser
                self._nodes[key] = []
        return self._nodes[key]

    def _could_match(self, selector: str) -> bool:
        if self._held is None:
            above = self._root.parent  # the body may hang on a class of <html>
            named = [above.attributes.get("class"), above.id] if above is not None and above.is_element_node else []
            named += [node.attrs["class"] for node in self._root.css("[class]")]
            named += [node.id for node in self._root.css("[id]")]
            self._held = frozenset("\n".join(name or "" for name in named).split())
        if "(" in selector:
            return True
        if "[" in selector:
            selector = _ATTRIBUTE_TEST.sub("", selector)
        names = _NAMES_USED.findall(selector)
        return self._held.issuperset(names if "\\" not in selector else [name.replace("\\", "") for name in names])


def _essential(declared: Mapping[str, str]) -> frozenset[str]:
    """The properties by which a hiding rule hides: those another rule would have to overrule."""
    kind = hides(declared)
    return _BY_KIND.get(kind) or RELEVANT.intersection(declared)


_BY_KIND = {
    "display": frozenset({"display"}),
    "visibility": frozenset({"visibility", "content-visibility"}),
    "opacity": frozenset({"opacity", "filter"}),
}


def _custom_properties(css: str) -> Iterator[tuple[str, str]]:
    for match in _ROOT_RULE.finditer(css):
        yield from ((name, value.strip().lower()) for name, value in _CUSTOM.findall(match[1]))
