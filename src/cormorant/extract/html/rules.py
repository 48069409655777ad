"""A style sheet laid flat: no comments, no nesting, no at-rules, each stretch with the screens and the layer it holds for. Pure.

What a sheet says of screens is asked for two, a phone and a desk: what neither shows nobody sees.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice

SCREENS = ((390, 844), (1440, 900))  # width and height in pixels, with a finger and with a mouse
EVERYWHERE = 0b11  # one bit for each of these
NO_LAYER = 1_000_000  # what stands outside of layers is stronger than any layer (CSS Cascade 5, 6.4.4)
MAX_DEPTH = 12
MAX_CHARS = 2_000_000  # of a sheet with its nested rules written out
MAX_SELECTORS = 64  # of one nested rule

_ASIDE = re.compile(r"""/\*.*?(?:\*/|\Z)|"[^"\\\n]*(?:\\.[^"\\\n]*)*"|'[^'\\\n]*(?:\\.[^'\\\n]*)*'""", re.S)
_SPACED_COLON = re.compile(r" +:(?=[^{}]{0,500}[;}])")
_NESTED = re.compile(r"(?:^|[{};])[^{}@;]*\{[^{}]*\{")
_AT_RULE = re.compile(r"@[\w-]{1,40}[^{};]{0,2000}[{;]")
_BRACE = re.compile(r"[{}]")
_MARK = re.compile(r"[{};]")
_LIST_MARK = re.compile(r"[,()\[\]]")
_TEST = re.compile(r"(not\s+)?\(([^()]*)\)")
_KIND = re.compile(r"^(?:only\s+|(not)\s+)?([a-z-]*)")
_BOUND = re.compile(r"(min-|max-)?(?:device-)?(width|height|inline-size|block-size)\s*:\s*([\d.]+)(px|r?em)?")
_RANGE = re.compile(r"(?:([\d.]+)(px|r?em)?\s*([<>]=?)\s*)?(width|height|inline-size)(?:\s*([<>]=?)\s*([\d.]+)(px|r?em)?)?")
_ALIKE = {
    "prefers-color-scheme:light": EVERYWHERE,
    "prefers-reduced-motion:no-preference": EVERYWHERE,
    "prefers-contrast:no-preference": EVERYWHERE,
    "scripting:enabled": EVERYWHERE,
    "update:fast": EVERYWHERE,
    "color": EVERYWHERE,
    "orientation:portrait": 0b01,
    "orientation:landscape": 0b10,
    "hover:none": 0b01,
    "any-hover:none": 0b01,
    "pointer:coarse": 0b01,
    "hover:hover": 0b10,
    "hover": 0b10,
    "any-hover:hover": 0b10,
    "pointer:fine": 0b10,
}


@dataclass(frozen=True, slots=True)
class Stretch:
    """Where a part of the flat sheet begins, on which screens it holds, and how strong its layer is."""

    start: int
    screens: int
    layer: int


def laid_flat(css: str) -> tuple[str, list[Stretch]]:
    """A sheet with nothing but rules."""
    if "/*" in css or '"' in css or "'" in css:
        css = _ASIDE.sub(_settled, css)
    css = css.replace("\n", " ").replace("\t", " ").replace("\r", " ").replace("\f", " ")
    while "  " in css:
        css = css.replace("  ", " ")
    if " :" in css:
        css = _SPACED_COLON.sub(":", css)
    css = css.replace(": ", ":")
    if _NESTED.search(css):
        css = _written_out(css)
    if "@" not in css:
        return css, [Stretch(0, EVERYWHERE, NO_LAYER)]
    sheet = _Flat()
    sheet.lay(css, EVERYWHERE, NO_LAYER, 0)
    return "".join(sheet.pieces), sheet.stretches


def _settled(found: re.Match[str]) -> str:
    """A comment is nothing; a string with braces in it must not look like a rule."""
    text = found[0]
    if text[0] == "/":
        return ""
    return '""' if "{" in text or "}" in text else text


class _Flat:
    """The pieces of a sheet that hold somewhere."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.stretches: list[Stretch] = []
        self._size = 0
        self._layers: dict[str, int] = {}

    def lay(self, css: str, screens: int, layer: int, depth: int) -> None:
        at = 0
        for found in _AT_RULE.finditer(css):
            if found.start() < at:
                continue
            self._put(css[at : found.start()], screens, layer)
            at = found.end()
            header = found[0]
            if header[-1] == ";":
                if header.startswith("@layer"):
                    for name in header[6:-1].split(","):
                        self._layer(name)
                continue
            end = _closing(css, at)
            inner = holds(header[:-1])
            if inner & screens and depth < MAX_DEPTH:
                layered = self._layer(header[6:-1]) if header.startswith("@layer") else layer
                self.lay(css[at:end], inner & screens, min(layer, layered), depth + 1)
            at = end + 1
        self._put(css[at:], screens, layer)

    def _layer(self, name: str) -> int:
        """How strong a layer is: the later it was named first, the stronger."""
        return self._layers.setdefault(name.strip() or f" {len(self._layers)}", len(self._layers))

    def _put(self, css: str, screens: int, layer: int) -> None:
        if css:
            self.pieces.append(css)
            self.stretches.append(Stretch(self._size, screens, layer))
            self._size += len(css)


def _closing(css: str, at: int) -> int:
    depth = 1
    for brace in _BRACE.finditer(css, at):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return brace.start()
    return len(css)


# --- nesting --------------------------------------------------------------------------------------------------------


def _written_out(css: str) -> str:
    """The sheet with each nested rule as a rule of its own (CSS Nesting 1)."""
    out: list[str] = []
    at = size = counted = 0
    while at < len(css) and size < MAX_CHARS:
        at = _block(css, at, "", out, 0)
        size += sum(map(len, out[counted:]))
        counted = len(out)
    return "".join(out)


def _block(css: str, at: int, parent: str, out: list[str], depth: int) -> int:
    """One block from behind its brace to behind the one that closes it, written to `out`; `parent` selects what it is about."""
    own: list[str] = []
    place = len(out)
    while (mark := _MARK.search(css, at)) is not None:
        said = css[at : mark.start()]
        at = mark.end()
        if mark[0] == "}":
            own.append(said)
            break
        if mark[0] == ";":
            (own if parent else out).append(f"{said};")
        elif depth > MAX_DEPTH:
            at = _closing(css, at) + 1
        elif said.lstrip().startswith("@"):
            inner: list[str] = []
            at = _block(css, at, parent, inner, depth + 1)
            out.append(f"{said.strip()}{{{''.join(inner)}}}")
        else:
            at = _block(css, at, _below(parent, said.strip()), out, depth + 1)
            if not depth:
                return at
    else:
        own.append(css[at:])
        at = len(css)
    if parent and any(own):
        out.insert(place, f"{parent}{{{''.join(own)}}}")
    return at


def _below(parent: str, selectors: str) -> str:
    """The selectors of a nested rule with what they are nested in."""
    if not parent:
        return selectors
    pairs = ((above, one) for above in selectors_of(parent) for one in selectors_of(selectors))
    return ",".join(one.replace("&", above) if "&" in one else f"{above} {one}" for above, one in islice(pairs, MAX_SELECTORS))


def selectors_of(listed: str) -> list[str]:
    """The selectors of a list, parted at the commas outside of brackets."""
    if "(" not in listed and "[" not in listed:
        return [one.strip() for one in listed.split(",")]
    found: list[str] = []
    depth = start = 0
    for mark in _LIST_MARK.finditer(listed):
        if mark[0] == ",":
            if not depth:
                found.append(listed[start : mark.start()].strip())
                start = mark.end()
        else:
            depth = max(0, depth + (1 if mark[0] in "([" else -1))
    return [*found, listed[start:].strip()]


# --- conditions -----------------------------------------------------------------------------------------------------


def holds(header: str) -> int:
    """On which screens the rules of an at-rule hold, as bits; none for what has no rules about elements in it."""
    name, _, query = header.strip().partition(" ")
    name, bracket, rest = name.partition("(")
    query = f"{bracket}{rest} {query}".strip().lower()
    if name == "@media":
        return media(query)
    if name in ("@layer", "@scope"):
        return EVERYWHERE
    if name == "@supports":
        return 0 if query.startswith("not") or "-ms-" in query else EVERYWHERE
    return _all_of(query[query.find("(") :]) if name == "@container" and "(" in query and "style(" not in query else 0


def media(query: str) -> int:
    """On which screens a media query holds, as bits."""
    query = query.strip().lower()
    found = 0
    for one in query.split(","):
        found |= _one_query(one.strip())
    return found if query else EVERYWHERE


def _one_query(query: str) -> int:
    inverted, kind = next(iter(_KIND.findall(query)), ("", ""))
    found = _all_of(query) if kind in ("", "all", "screen", "not") else 0
    return EVERYWHERE & ~found if inverted and kind else found


def _all_of(query: str) -> int:
    tests = [(EVERYWHERE & ~_feature(test)) if negated else _feature(test) for negated, test in _TEST.findall(query)]
    if " or " in query:
        found = 0
        for test in tests:
            found |= test
        return found
    found = EVERYWHERE
    for test in tests:
        found &= test
    return found


def _feature(test: str) -> int:
    test = test.strip()
    if (known := _ALIKE.get(test.replace(" ", ""))) is not None:
        return known
    if (bound := _BOUND.fullmatch(test)) is not None:
        end, limit = bound[1], _pixels(bound[3], bound[4])
        return _where(bound[2], lambda size: size >= limit if end == "min-" else size <= limit if end else size == limit)
    spread = _RANGE.fullmatch(test)
    if spread is None:
        return 0
    sign, side, other = spread[3], spread[4], spread[5]
    low, high = _pixels(spread[1] or "0", spread[2]), _pixels(spread[6] or "0", spread[7])
    return _where(side, lambda size: (not sign or _SIGNS[sign](low, size)) and (not other or _SIGNS[other](size, high)))


_SIGNS: dict[str, Callable[[float, float], bool]] = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


def _pixels(number: str, unit: str | None) -> float:
    try:
        return float(number) * (1 if unit in (None, "", "px") else 16)
    except ValueError:  # `1.2.3`
        return 0.0


def _where(side: str, fits: Callable[[float], bool]) -> int:
    """The screens one side of which is of the size that is asked for."""
    sizes = [screen[side in ("height", "block-size")] for screen in SCREENS]
    return sum(1 << bit for bit, size in enumerate(sizes) if fits(size))
