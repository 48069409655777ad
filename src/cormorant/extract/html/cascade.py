"""The rules of a page's own style sheets, asked about its elements. Pure: parses of a sheet what a question needs.

`<style>` elements and sheets that stand in a `data:` address. External ones are not fetched, so what they hide is not known.
"""

from __future__ import annotations

import base64
import binascii
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from urllib.parse import unquote

from selectolax.lexbor import LexborNode, SelectolaxError

from cormorant.extract.html import rules, styles
from cormorant.extract.html.styles import ALIASES, CUSTOM, RELEVANT, VAR, Colour, background, colour, declarations, same

CSS_MAX_CHARS = 1_000_000  # read of all sheets together
RULES_MAX = 600  # of those that can hide something and match the page's own names
MATCHES_MAX = 20_000  # rules held against elements; a page that needs more is made to cost time
COLOUR_RULES_MAX = 120
COLOUR_SHEET_MAX = 300  # a sheet with more rules is a design system: its colours are not followed

_STATE = re.compile(
    r":(?:hover|focus|active|target|checked|visited|focus-within|focus-visible|open|popover-open|fullscreen|lang)\b|::|:(?:before|after)\b",
    re.I,
)
_NAMES_USED = re.compile(r"[.#]((?:[\w\x80-\U0010ffff-]+|\\.)+)")
# What a body must hold before it is worth parsing (spaces around colons are gone). Rough: `styles.hides` has the last word.
_HIDING_HINTS = (
    *("display:none", "display:var(", "visibility:hidden", "visibility:collapse", "visibility:var("),
    *(
        "opacity:0",
        "opacity:.0",
        "opacity:-",
        "opacity:1e",
        "opacity:calc",
        "opacity:var(",
        "opacity(0",
        "opacity(.0",
        "contrast(0",
        "blur(",
    ),
    *("font-size:0", "font-size:1px", "font-size:.", "font-size:calc", "font-size:var(", "font:0"),
    *("height:0", "width:0", "height:1px", "width:1px", "block-size:0", "inline-size:0", "clip:rect", "clip-path", "mask"),
    *("scale(", "scalex(", "scaley(", "scale3d(0", "scale:", "matrix", "rotatex(", "rotatey(", "zoom:0"),
    *("color:transparent", "color:#0000", "color:rgba", "color:hsla", "/ 0", "/0", "-999", "-1000", "-2000", "-3000", "-5000", "00000px"),
    *("line-height:0", "letter-spacing:-", "grid-template-rows:0", "rotate:", "rotate3d(", "skew", "zoom:.0", "font-size-adjust:0"),
    *("opacity(1%", "opacity(2%", "opacity:min(", "text-fill-color:", "color:color-mix("),
    *("-100v", "-200v", ":100vw", "right:1", "bottom:1", "left:calc(", "max(-", "font-size:min(", "font-size:max(", "font-size:clamp("),
    *("font:normal 0", "text-indent:200%"),
    *("text-indent:-", "text-indent:100%", "left:-", "top:-", "right:-", "bottom:-", "inset:-", "inline-start:-", "block-start:-"),
)
_WRITTEN = {name: (f"{name}:", *(f"{other}:" for other, meant in ALIASES.items() if meant == name)) for name in RELEVANT}
_BODY = re.compile(r"\{([^{}]*)\}")
_BRACKETS = re.compile(r"\([^()]*\)|\[[^\]]{0,500}\]")
_COMBINATOR = re.compile(r"[\s>+~]+")
_TAG_NAME = re.compile(r"[a-zA-Z][\w-]*")
_ATTRIBUTE_TEST = re.compile(r"\[[^\]]{0,500}\]")
_WEIGHTLESS = re.compile(r":where\([^()]*\)", re.I)
_IDS = re.compile(r"#[\w-]")
_CLASSES = re.compile(r"[.\[]|(?<!:):(?!:|not|is|where)")
_TAGS = re.compile(r"(?:^|[\s>+~(])[a-z]", re.I)
_ICON = re.compile(r"""content:["']\\[0-9a-fA-F]{1,6}["']""")
_ROOT_RULE = re.compile(r"(?::root|html|body)\b[^{}]{0,200}\{([^{}]*)\}")
_DATA_SHEET = re.compile(r"data:text/css(;[^,]*)?,(.*)", re.I | re.S)
_NOTHING: dict[str, str] = {}


@dataclass(frozen=True, slots=True)
class Rule:
    """One selector with the declarations that matter here; `weight` orders it in the cascade, `screens` says where it holds."""

    selector: str
    weight: tuple[int, int]
    declared: Mapping[str, str]
    important: frozenset[str]
    screens: int
    layer: int

    @property
    def subject(self) -> tuple[str, frozenset[str]]:
        """What the element itself must be: its tag ("" for any) and its classes and id."""
        last = _COMBINATOR.split(_BRACKETS.sub("", self.selector).strip())[-1]
        tag = _TAG_NAME.match(last)
        return tag[0].lower() if tag else "", frozenset(name.replace("\\", "") for name in _NAMES_USED.findall(last))


def _is_state(selector: str) -> bool:
    """Whether a selector holds only for a while (`:hover`), or for what is no element (`::before`)."""
    return ":" in selector and _STATE.search(selector) is not None


def _specificity(selector: str) -> int:
    if ":w" in selector:
        selector = _WEIGHTLESS.sub("", selector)
    return len(_IDS.findall(selector)) * 10_000 + len(_CLASSES.findall(selector)) * 100 + len(_TAGS.findall(selector))


class Sheet:
    """The `<style>` elements of one page, asked about its elements. Rules are parsed when a question needs them."""

    def __init__(self, root: LexborNode) -> None:
        # The sheets stand in the head, also when only the body is looked at.
        self._root = root
        self._held: frozenset[str] | None = None
        self._css, self._stretches = rules.laid_flat("\n".join(_sheets(root))[:CSS_MAX_CHARS])
        self._bounds = [stretch.start for stretch in self._stretches]
        self._lower = self._css.lower()
        if len(self._lower) != len(self._css):  # a letter whose small form is longer: places would shift
            self._lower = self._css
        self._spans = [match.span(1) for match in _BODY.finditer(self._css)]
        self._starts = [start for start, _ in self._spans]
        parted = any(stretch.screens != rules.EVERYWHERE for stretch in self._stretches)
        self._screens = (0b01, 0b10) if parted else (rules.EVERYWHERE,)
        self._custom = dict(_custom_properties(self._css)) if "--" in self._css else {}
        self._parsed: dict[int, list[Rule]] = {}
        self._nodes: dict[tuple[int, str], list[LexborNode]] = {}
        self._setting: dict[str, dict[str, list[tuple[frozenset[str], Rule]]]] = {}
        self._left = MATCHES_MAX
        self._showing: dict[str, set[int]] = {}
        self._alike: dict[tuple[str, str, str, frozenset[str]], list[Rule]] = {}
        self._standing: dict[str, list[int]] = {}

    @property
    def is_small(self) -> bool:
        """Whether the sheet is short enough to follow its colours, as that of a page that hides by hand is."""
        return len(self._spans) <= COLOUR_SHEET_MAX

    @property
    def is_exhausted(self) -> bool:
        """Whether so much was asked that no more is looked up."""
        return self._left <= 0

    def hiding(self) -> list[tuple[LexborNode, frozenset[str], str]]:
        """Every element that some rule would hide, taken alone, with the properties that rules hide it by, and one kind of hiding."""
        found: dict[int, tuple[LexborNode, frozenset[str], str]] = {}
        done: set[tuple[str, frozenset[str]]] = set()
        for rule in islice((rule for rule in self._where(_HIDING_HINTS) if styles.hides(rule.declared)), RULES_MAX):
            names = _essential(rule.declared)
            if (rule.selector, names) in done:
                continue
            done.add((rule.selector, names))
            kind = styles.hides(rule.declared)
            for node in self._matched(rule):
                key = node.mem_id
                if key not in found:
                    found[key] = (node, names, kind)
                elif not names <= found[key][1]:
                    found[key] = (node, names | found[key][1], kind)
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

    def hides(self, node: LexborNode, names: frozenset[str], kind: str) -> str:
        """How an element is hidden on every screen; "" when one shows it. After much asking, what one rule says is believed."""
        if self.is_exhausted:
            return kind
        for screen in self._screens:
            if not (kind := styles.hides(self.of(node, names, screen))):
                break
        return kind

    def showing(self, name: str) -> set[int]:
        """The elements to which a rule gives a property a value by which they can be seen inside of what is hidden."""
        if name not in self._showing:
            shown = (rule for rule in self._where(_WRITTEN[name]) if styles.is_seen(name, rule.declared))
            self._showing[name] = {node.mem_id for rule in islice(shown, 4 * RULES_MAX) for node in self._matched(rule)}
        return self._showing[name]

    def of(self, node: LexborNode, names: frozenset[str], screen: int = rules.EVERYWHERE) -> dict[str, str]:
        """What rules and the element's own style declare for it of these properties, the stronger over the weaker."""
        style = node.attributes.get("style") or ""
        own, own_important = declarations(style) if style else (_NOTHING, frozenset())
        if not self._spans:
            return dict(own)
        won = {name: ((3 if name in own_important else 1, 0, 0, 0), value) for name, value in own.items()}
        for rule in self._rules_for(node, names):
            if not rule.screens & screen:
                continue
            for name, value in rule.declared.items():
                # What is important turns the order of layers around (CSS Cascade 5, 6.4.4).
                weight = (2, -rule.layer, *rule.weight) if name in rule.important else (0, rule.layer, *rule.weight)
                if name in names and (name not in won or weight >= won[name][0]):
                    won[name] = (weight, value)
        return {name: self.resolved(value) for name, (_, value) in won.items()}

    def resolved(self, value: str) -> str:
        """A value with the custom properties of `:root` filled in, or with what stands for those that are not set there."""
        if "var(" not in value:
            return value
        return VAR.sub(lambda found: found[2] or "", styles.resolved(value, self._custom)).strip()

    def _rules_for(self, node: LexborNode, names: frozenset[str]) -> Iterator[Rule]:
        """The rules that set one of these properties and match the element."""
        key = (node.tag or "", node.attributes.get("class") or "", node.id or "", names)
        if (rules := self._alike.get(key)) is None:
            rules = self._alike[key] = self._rules_about(*key)
        self._left -= len(rules)
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
            for rule in islice((rule for rule in self._where(_WRITTEN[name]) if name in rule.declared), 4 * RULES_MAX):
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
        before = self._css[self._spans[order - 1][1] if order else 0 : self._starts[order] - 1]
        return before[max(before.rfind(mark) for mark in "{};") + 1 :]

    def _rules(self, order: int) -> list[Rule]:
        if order not in self._parsed:
            start, end = self._spans[order]
            wanted = [one for one in rules.selectors_of(self._prelude(order)) if one and not _is_state(one) and self._could_match(one)]
            declared, important = declarations(self._css[start:end]) if wanted else (_NOTHING, frozenset())
            declared = {name: self.resolved(value) for name, value in declared.items()}
            at = self._stretches[bisect_right(self._bounds, start) - 1]
            self._parsed[order] = (
                [Rule(one, (_specificity(one), order), declared, important, at.screens, at.layer) for one in wanted] if declared else []
            )
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


def _sheets(root: LexborNode) -> Iterator[str]:
    for style in root.parser.css("style"):
        media = style.attributes.get("media") or ""
        screens = rules.media(media)
        if screens:
            yield style.text() if screens == rules.EVERYWHERE else f"@media {media}{{{style.text()}}}"
    for link in root.parser.css("link[rel~='stylesheet' i][href^='data:text/css' i]"):
        found = _DATA_SHEET.match((link.attributes.get("href") or "").strip()[:CSS_MAX_CHARS])
        if found is not None:
            yield _unpacked(found[2]) if (found[1] or "").lower().endswith(";base64") else unquote(found[2])


def _unpacked(packed: str) -> str:
    try:
        return base64.b64decode(unquote(packed)).decode("utf-8", "replace")
    except binascii.Error:
        return ""


def _essential(declared: Mapping[str, str]) -> frozenset[str]:
    """The properties by which a hiding rule hides: those another rule would have to overrule."""
    kind = styles.hides(declared)
    return _BY_KIND.get(kind) or RELEVANT.intersection(declared)


_BY_KIND = {
    "display": frozenset({"display"}),
    "visibility": frozenset({"visibility", "content-visibility"}),
    "opacity": frozenset({"opacity", "filter"}),
}


def _custom_properties(css: str) -> Iterator[tuple[str, str]]:
    for match in _ROOT_RULE.finditer(css):
        yield from ((name, value.strip().lower()) for name, value in CUSTOM.findall(match[1]))
