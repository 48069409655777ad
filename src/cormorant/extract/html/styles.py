"""What declarations of CSS hide from a person. Pure: properties and values in, the kind of hiding out.

No layout is done. A declaration hides when a browser would show nothing for it on any screen: `display: none`, no
opacity, no size, a place far off the screen, a clip or a mask to nothing, a colour without a difference to what is behind it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from colorsys import hls_to_rgb

OFF_SCREEN_PX = 500
FAINT = 0.02  # of an opacity or a scale: less is nothing

_ESCAPE = re.compile(r"\\([0-9a-fA-F]{1,6})\s?|\\(.)")
_DECLARATION = re.compile(r"""([\w-]+)\s*:\s*((?:[^;"'()]|"[^"]*"|'[^']*'|\((?:[^()]|\([^()]*\))*\)|["'()])*)""")
_LENGTH = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)\s*(%|(?:px|pt|em|rem|ex|ch|vw|vh|vmin|vmax|cm|mm|in|pc)?\b)", re.I)
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
    "aliceblue": (240, 248, 255),
    "seashell": (255, 245, 238),
    "beige": (245, 245, 220),
    "linen": (250, 240, 230),
    "lavender": (230, 230, 250),
    "lavenderblush": (255, 240, 245),
    "honeydew": (240, 255, 240),
    "cornsilk": (255, 248, 220),
    "oldlace": (253, 245, 230),
    "lightyellow": (255, 255, 224),
    "pink": (255, 192, 203),
    "aqua": (0, 255, 255),
    "cyan": (0, 255, 255),
    "magenta": (255, 0, 255),
    "fuchsia": (255, 0, 255),
    "maroon": (128, 0, 0),
    "teal": (0, 128, 128),
    "olive": (128, 128, 0),
    "darkgray": (169, 169, 169),
    "dimgray": (105, 105, 105),
    "canvas": (255, 255, 255),
    "canvastext": (0, 0, 0),
}
Colour = tuple[int, int, int]
SAME_COLOUR_STEPS = 12  # of 255; what is closer than this nobody can read

RELEVANT = frozenset(
    {"display", "visibility", "content-visibility", "opacity", "filter", "font-size", "font", "height", "width", "max-height", "max-width"}
    | {"overflow", "overflow-x", "overflow-y", "contain", "transform", "translate", "scale", "zoom", "text-indent", "white-space"}
    | {"position", "left", "right", "top", "bottom", "inset", "margin", "margin-left", "margin-top", "clip", "clip-path"}
    | {"mask", "mask-image", "mask-size", "color", "background", "background-color", "background-image", "background-clip"}
    | {"-webkit-background-clip", "-webkit-text-fill-color", "line-height", "letter-spacing", "grid-template-rows", "rotate"}
    | {"font-size-adjust", "text-shadow"}
)
ALIASES = {  # other names for the same: logical ones as in a text from left to right, and those with a vendor's mark
    "block-size": "height",
    "inline-size": "width",
    "max-block-size": "max-height",
    "max-inline-size": "max-width",
    "inset-inline-start": "left",
    "inset-inline": "left",
    "inset-inline-end": "right",
    "inset-block-start": "top",
    "inset-block": "top",
    "inset-block-end": "bottom",
    "margin-inline-start": "margin-left",
    "margin-inline": "margin-left",
    "margin-block-start": "margin-top",
    "margin-block": "margin-top",
    "overflow-inline": "overflow-x",
    "overflow-block": "overflow-y",
    **{f"-webkit-{name}": name for name in ("clip-path", "mask", "mask-image", "mask-size", "transform", "filter")},
    "-ms-transform": "transform",
}
CUSTOM = re.compile(r"(?<![\w-])(--[\w-]{1,100})\s*:\s*([^;}]+)")
VAR = re.compile(r"var\(\s*(--[\w-]+)\s*(?:,\s*([^()]*))?\)")
_CALC = re.compile(r"calc\(\s*([+-]?[\d.]+[a-z%]*)\s*\)")
_VALID = {
    "display": re.compile(
        r"(?:none|block|inline|flex|grid|contents|table|list-item|flow|ruby|math|run-in|inherit|initial|unset|revert|var|-)|$"
    ),
    "visibility": re.compile(r"(?:visible|hidden|collapse|inherit|initial|unset|revert|var)|$"),
    "opacity": re.compile(r"[+-]?[\d.]|(?:inherit|initial|unset|revert|var|calc|min|max|clamp)|$"),
}
_CHOICE = re.compile(r"(min|max|clamp)\(([^()]{1,200})\)")


def declarations(css: str) -> tuple[dict[str, str], frozenset[str]]:
    """Properties and values in lower case, escapes and comments undone, and which are `!important`."""
    if "\\" in css:
        css = _ESCAPE.sub(_unescaped, css)
    css = without_comments(css)
    if "var(" in css:
        css = resolved(css, {name: value.strip() for name, value in CUSTOM.findall(css)})
    if "calc(" in css:
        css = _CALC.sub(r"\1", css)
    if "min(" in css or "max(" in css or "clamp(" in css:
        css = _CHOICE.sub(_chosen, css)
    found: dict[str, str] = {}
    important = set()
    for one in _DECLARATION.finditer(css):
        name, value = one[1].lower(), one[2].strip().lower()
        name = ALIASES.get(name, name)
        if name not in RELEVANT:
            continue
        if "!" in value:
            value, _, mark = value.partition("!")
            value = value.strip()
        else:
            mark = ""
        if name in _VALID and not _VALID[name].match(value):
            continue  # what a browser does not understand it drops: the declaration before it holds
        if mark.strip() == "important":
            important.add(name)
        found[name] = value
    return found, frozenset(important)


def resolved(value: str, custom: Mapping[str, str]) -> str:
    """A value with the custom properties that are known filled in."""
    for _ in range(3):
        if "var(" not in value:
            break
        value = VAR.sub(lambda found: custom.get(found[1], found[0]), value)
    return value.strip()


def without_comments(css: str) -> str:
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


def _chosen(match: re.Match[str]) -> str:
    """The part of a `min`, `max` or `clamp` that wins, where all of them are plain lengths."""
    parts = [part.strip() for part in match[2].split(",")]
    sizes = [size for part in parts if _LENGTH.fullmatch(part) and (size := px(part)) is not None]
    if len(sizes) != len(parts) or (match[1] == "clamp" and len(parts) != 3):
        return match[0]
    wanted = max(sizes[0], min(sizes[1], sizes[2])) if match[1] == "clamp" else min(sizes) if match[1] == "min" else max(sizes)
    return parts[sizes.index(wanted)]


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
    if ("opacity" in d and _number(d["opacity"]) <= FAINT) or ("filter" in d and _FILTERED_OUT.search(d["filter"])):
        return "opacity"
    if any(name in d and _masked_out(d[name]) for name in ("mask", "mask-image")) or _NO_SIZE.match(d.get("mask-size", "")):
        return "clip"
    for names, judge in _JUDGES:
        if not names.isdisjoint(d) and (kind := judge(d)):
            return kind
    return ""


_LETTERS = frozenset({"xx-small", "x-small", "small", "medium", "large", "x-large", "xx-large", "xxx-large"})


def is_seen(name: str, d: Mapping[str, str]) -> bool:
    """Whether a part of a hidden element can be seen, since it sets anew what is handed down: how visible, how large letters are."""
    if name == "visibility":
        return d.get("visibility") == "visible"
    value = d.get("font-size", "")
    if value in _LETTERS:
        return True
    size = px(value)  # a share of nothing is nothing
    return size is not None and size > 1.5 and not re.search(r"(?<!r)em|%|ex|ch", value)


def _number(value: str) -> float:
    found = _LENGTH.match(value)
    return 1.0 if not found else float(found[1]) / (100 if found[2] == "%" else 1)


def px(value: str) -> float | None:
    """A length in pixels, roughly; None where it can't be told (`auto`, `calc(...)` without a far number)."""
    if value.startswith("calc"):
        if "/" in value or "*" in value:
            return None
        far = [(one, float(one[1]) * _PX.get((one[2] or "px").lower(), 1.0)) for one in _LENGTH.finditer(value.replace("- ", "-"))]
        far = [(one, length) for one, length in far if abs(length) >= OFF_SCREEN_PX and (one[2] or "") != "%"]
        if len(far) != 1 or (_is_of_screen(value) and ("%" in value or abs(far[0][1]) < _SCREEN_PX)):
            return None  # `calc(50% - 50vw)` lets a part reach from edge to edge
        return far[0][1]
    found = _LENGTH.match(value)
    if not found:
        return None
    return float(found[1]) * _PX.get((found[2] or "px").lower(), 1.0)


_SCREEN_PX = 800  # what `_PX` makes of a whole screen, counted by its shorter side


def _is_of_screen(value: str) -> bool:
    """Whether a length is a share of the screen."""
    return "vw" in value or "vh" in value or "vm" in value


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
    if d.get("font-size-adjust") in ("0", "0.0") or _set_into_one_another(d.get("letter-spacing", "")):
        return "zero_size"
    flowing = [d[name] for name in ("overflow", "overflow-x", "overflow-y") if name in d]
    cut = any(word in ("hidden", "clip") for value in flowing for word in value.split())
    cut = cut or any(word in d.get("contain", "") for word in ("paint", "strict", "content"))
    sides = {name: length for name in ("height", "max-height", "width", "max-width") if (length := px(d.get(name, ""))) is not None}
    small = [name for name, length in sides.items() if length <= 1]
    scrolled = any(word in ("auto", "scroll") for value in flowing for word in value.split()) and any(sides[name] == 0 for name in small)
    flat = (cut and (px(d["line-height"]) == 0 if "line-height" in d else False) and sides.get("height", 0) <= 1) or (
        cut and _NO_ROWS.fullmatch(d.get("grid-template-rows", "")) is not None
    )
    if (cut and small) or scrolled or flat or _flattened(d.get("transform", "")) or _TURNED_AWAY.fullmatch(d.get("rotate", "")):
        return "zero_size"
    if "zoom" in d and abs(_number(d["zoom"])) <= FAINT:
        return "zero_size"
    return "zero_size" if "scale" in d and any(abs(_number(part)) <= FAINT for part in d["scale"].split()[:2]) else ""


def _set_into_one_another(spacing: str) -> bool:
    """Whether letters stand on top of one another: each goes back by half its height or more."""
    found = _LENGTH.fullmatch(spacing)
    if found is None:
        return False
    unit = (found[2] or "px").lower()
    return float(found[1]) <= {"px": -12.0, "pt": -9.0, "em": -0.6, "rem": -0.8, "ch": -1.0, "ex": -1.2}.get(unit, float("-inf"))


def _flattened(transform: str) -> bool:
    """Whether nothing is left of an element: scaled to a line or a point, or seen from its edge."""
    for name, given in _FUNCTION.findall(transform):
        try:
            numbers = [float(part) for part in re.split(r"[,\s]+", given.strip()) if part] if name.startswith(("scale", "matrix")) else []
        except ValueError:
            continue
        if name.startswith("scale") and any(abs(number) <= FAINT for number in numbers[:2]):
            return True
        across = 4 if name == "matrix3d" else 2
        matrix = name.startswith("matrix") and len(numbers) >= 6
        if matrix and abs(numbers[0] * numbers[across + 1] - numbers[1] * numbers[across]) <= FAINT**2:
            return True
        if name in ("rotatex", "rotatey") and _EDGE_ON.fullmatch(given.strip()):
            return True
        if name == "rotate3d" and (turned := re.fullmatch(r"(?:1\s*,\s*0|0\s*,\s*1)\s*,\s*0\s*,\s*(\S+)", given.strip())):
            return _EDGE_ON.fullmatch(turned[1]) is not None
        if name.startswith("skew") and any(_EDGE_ON.fullmatch(part.strip()) for part in given.split(",")):
            return True
    return False


def _masked_out(mask: str) -> bool:
    """Whether a mask is a gradient from nothing to nothing, or has no size."""
    if _MASK_OF_NOTHING.search(mask):
        return True
    found = _GRADIENT.fullmatch(mask)
    stops = re.split(r",(?![^(]*\))", found[1]) if found else []
    colours = [stop.strip() for stop in stops if not _DIRECTION.match(stop)]
    return bool(colours) and all(stop.startswith("transparent") or _alpha(stop.partition(")")[0] + ")") <= FAINT for stop in colours)


def _clipped(d: Mapping[str, str]) -> str:
    placed = d.get("position") in ("absolute", "fixed")
    edges = [px(edge) for edge in re.split(r"[,\s]+", d.get("clip", "").removeprefix("rect(").rstrip(")")) if edge]
    if placed and d.get("clip", "").startswith("rect") and len(edges) == 4:
        top, right, bottom, left = (edge or 0.0 for edge in edges)
        if right - left <= 1 or bottom - top <= 1:
            return "clip"
    return "clip" if _clipped_away(d.get("clip-path", "")) else ""


def _clipped_away(path: str) -> bool:
    """Whether a shape has no area."""
    name, _, given = path.partition("(")
    given = given.rpartition(")")[0]
    if name == "inset":
        sides = [float(found[1]) if (found := _SHARE.fullmatch(part)) else 0.0 for part in given.partition("round")[0].split()[:4]] or [0.0]
        top, right = sides[0], sides[min(1, len(sides) - 1)]
        bottom, left = sides[2] if len(sides) > 2 else top, sides[3] if len(sides) > 3 else right
        return top + bottom >= 100 or left + right >= 100
    if name in ("circle", "ellipse"):
        return any(_NO_RADIUS.fullmatch(radius) for radius in given.partition(" at ")[0].split()[:2])
    if name == "xywh":
        return any(_NO_RADIUS.fullmatch(side) for side in given.split()[2:4])
    if name == "polygon":
        points = [_ZERO.sub("0", point).split()[:2] for point in given.split(",") if re.search(r"\d", point)]
        return any(len({point[side] for point in points if len(point) > side}) <= 1 for side in (0, 1))
    if name == "rect":
        edges = [px(edge) for edge in given.split()[:4]]
        return len(edges) == 4 and None not in edges and (edges[0] == edges[2] or edges[1] == edges[3])
    return name == "path" and not re.search(r"[lhvcsqta]", given.lower())


def _off_screen(d: Mapping[str, str]) -> str:
    placed = d.get("position")
    if placed in ("absolute", "fixed", "relative"):
        for name in ("left", "top", "right", "bottom", "inset"):
            for value in d.get(name, "").split() if name == "inset" else [d.get(name, "")]:
                length = px(value)
                if length is not None and (length <= (-1_000 if value.endswith("%") else -OFF_SCREEN_PX) or length >= 5_000):
                    return "off_screen"
                if placed != "relative" and _beyond(name, value):
                    return "off_screen"
    for name in ("text-indent", "margin-left", "margin-top", "margin"):
        # Columns are laid with shares of a width, and what reaches from edge to edge begins half a screen to the left.
        parts = [part for part in d.get(name, "").split() if not part.endswith("%")]
        lengths = [length for part in parts if (length := px(part)) is not None and (not _is_of_screen(part) or length <= -_SCREEN_PX)]
        if any(length <= -OFF_SCREEN_PX for length in lengths):
            return "off_screen"
    indent = d.get("text-indent", "")
    if indent.endswith("%") and (px(indent) or 0) >= 1_000 and "nowrap" in d.get("white-space", "") and "hidden" in d.get("overflow", ""):
        return "off_screen"
    moved = re.search(r"translate[xy3d]*\(([^)]*)\)", d.get("transform", ""))
    shifts = re.split(r"[,\s]+", (moved[1] if moved else d.get("translate", "")).strip())
    if any((length := px(shift)) is not None and not shift.endswith("%") and abs(length) >= 2 * OFF_SCREEN_PX for shift in shifts if shift):
        return "off_screen"
    return "off_screen" if any(_SCREENFUL.fullmatch(shift) for shift in shifts) else ""


def _beyond(name: str, value: str) -> bool:
    """Whether what is placed so begins where its box, or the screen, has ended: to the right (`right: 110%`) or above."""
    found = _LENGTH.fullmatch(value)
    if found is None or name == "inset":
        return False
    size, unit = float(found[1]), (found[2] or "px").lower()
    return (unit == "%" and size >= 105 and name in ("right", "bottom")) or (size >= 100 and unit == "vw" and name in ("left", "right"))


def _see_through(d: Mapping[str, str]) -> str:
    clipped = "text" in d.get("background-clip", "") or "text" in d.get("-webkit-background-clip", "")
    if clipped or _SHADOW.search(d.get("text-shadow", "")):
        return ""  # a heading filled with a gradient, or drawn by its shadow
    ink = d.get("-webkit-text-fill-color", d.get("color", ""))
    if _alpha(ink) <= 0.05:
        return "same_colour"
    return "same_colour" if same(colour(ink), background(d)) else ""


_SHADOW = re.compile(r"\d")
_FILTERED_OUT = re.compile(
    r"opacity\(\s*(?:0?\.0[012]?|[012]?%|0(?:\.0*)?)\s*\)|contrast\(\s*0%?\s*\)|blur\(\s*(?:[3-9]\d|\d{3,})(?:\.\d+)?px\s*\)"
)
_FUNCTION = re.compile(r"([a-z0-9]+)\(([^()]*)\)")
_GRADIENT = re.compile(r"(?:repeating-)?(?:linear|radial|conic)-gradient\(((?:[^()]|\([^()]*\))*)\)[^()]*")
_EDGE_ON = re.compile(r"[+-]?(?:90|270)deg|[+-]?0?\.[27]5turn|[+-]?(?:100|300)grad")
_TURNED_AWAY = re.compile(r"(?:[xy]|1 0 0|0 1 0) +(?:" + _EDGE_ON.pattern + r")|(?:" + _EDGE_ON.pattern + r") +[xy]")
_NO_RADIUS = re.compile(r"0(?:\.0*)?(?:[a-z]+|%)?")
_SCREENFUL = re.compile(r"-(?:1\d\d|[2-9]\d\d|\d{4,})(?:\.\d+)?(?:vh|vw|vmax)")
_NO_ROWS = re.compile(r"0(?:fr|px|%|r?em)?")
_DIRECTION = re.compile(r"\s*(?:to |from |at |circle|ellipse|[+-]?[\d.]+(?:deg|turn|rad|grad))")
_NO_SIZE = re.compile(r"0(?:\.0*)?(?:px|%|r?em)?(?:\s|,|$)")
_MASK_OF_NOTHING = re.compile(r"/\s*0(?:\.0*)?(?:px|%|r?em)?(?:\s|,|$)")
_SHARE = re.compile(r"(\d*\.?\d+)%")
_ZERO = re.compile(r"(?<![\d.])0(?:\.0*)?(?:px|%|r?em|v[wh])?(?![\d.])")
_JUDGES = (
    (
        frozenset({"font-size", "font", "overflow", "overflow-x", "overflow-y", "contain", "transform", "scale", "zoom", "rotate"})
        | {"letter-spacing", "font-size-adjust"},
        _tiny,
    ),
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
    if value.startswith("color-mix("):
        return _mixed(value)
    if _alpha(value) <= 0.95:
        return None
    if found := _HSL.match(value):
        mixed = hls_to_rgb(float(found[1]) % 360 / 360, min(1.0, float(found[3]) / 100), min(1.0, float(found[2]) / 100))
        return _of_parts(mixed)
    if found := re.match(r"hwb\(\s*[\d.]+(?:deg)?\s+(\d*\.?\d+)%\s+(\d*\.?\d+)%", value):
        white, black = float(found[1]), float(found[2])
        if white + black >= 100:
            grey = round(255 * white / (white + black))
            return (grey, grey, grey)
    if found := _RGB_SPACE.match(value):
        return _of_parts([float(part[:-1]) / 100 if part.endswith("%") else float(part) for part in found.groups()])
    if found := re.match(r"(?:ok)?(?:lab|lch)\(\s*(\d*\.?\d+)(%?)", value):
        light = float(found[1]) / (100 if found[2] or not value.startswith("ok") else 1)
        return (0, 0, 0) if light <= 0.02 else (255, 255, 255) if light >= 0.98 else None
    return None


def _of_parts(parts: Sequence[float]) -> Colour:
    """Red, green and blue from nothing to 1 as a colour."""
    red, green, blue = (round(255 * min(1.0, part)) for part in parts)
    return (red, green, blue)


_HSL = re.compile(r"hsla?\(\s*(\d*\.?\d+)(?:deg)?[,\s]+(\d*\.?\d+)%[,\s]+(\d*\.?\d+)%")
_RGB_SPACE = re.compile(r"color\(\s*(?:srgb|display-p3)\s+(\d*\.?\d+%?)\s+(\d*\.?\d+%?)\s+(\d*\.?\d+%?)")
_MIXED = re.compile(r"color-mix\(\s*in [\w -]+,(.*)\)")
_PART = re.compile(r"\s*(.+?)(?:\s+(\d*\.?\d+)%)?\s*")


def _mixed_parts(value: str) -> list[tuple[str, float]]:
    """The two colours of a `color-mix` with their shares (CSS Color 5, 2.1); none where it is another thing."""
    found = _MIXED.fullmatch(value)
    parts = [one for part in re.split(r",(?![^(]*\))", found[1]) if (one := _PART.fullmatch(part))] if found else []
    if len(parts) != 2:
        return []
    first, second = (float(part[2]) if part[2] else None for part in parts)
    if first is None:
        first = 50.0 if second is None else 100 - second
    second = 100 - first if second is None else second
    total = first + second
    return [(parts[0][1], first / total), (parts[1][1], second / total)] if total > 0 else []


def _mixed(value: str) -> Colour | None:
    weighed = [(colour(part), share) for part, share in _mixed_parts(value) if share > 0.02]
    known = [(one, share) for one, share in weighed if one is not None]
    if not known or len(known) != len(weighed):
        return None
    whole = sum(share for _, share in known)
    red, green, blue = (round(sum(one[place] * share for one, share in known) / whole) for place in range(3))
    return (red, green, blue)


def _alpha(value: str) -> float:
    if value == "transparent":
        return 0.0
    if value.startswith("color-mix("):
        return sum(share * _alpha(part) for part, share in _mixed_parts(value)) if "color-mix(" not in value[10:] else 1.0
    if found := re.search(r"/\s*(\d*\.?\d+)(%?)\s*\)", value):
        return float(found[1]) / (100 if found[2] else 1)
    if value.startswith("#") and len(value) in (5, 9):
        digits = value[4:5] * 2 if len(value) == 5 else value[7:9]
        return int(digits, 16) / 255 if re.fullmatch(r"[0-9a-f]{2}", digits) else 1.0
    if value.startswith(("rgba(", "hsla(", "rgb(", "hsl(")):
        parts = re.findall(r"(?:\d+(?:\.\d+)?|\.\d+)%?", value)
        if len(parts) == 4:
            return float(parts[3][:-1]) / 100 if parts[3].endswith("%") else float(parts[3])
    return 1.0
