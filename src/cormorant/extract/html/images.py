"""Pictures: the address a browser would load, whatever a lazy loader put in its place, and the text that stands for it. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping

_LAZY = (
    *("data-src", "data-original", "data-lazy-src", "data-lazy", "data-original-src", "data-actualsrc", "data-hi-res-src", "data-url"),
    *("data-image", "data-img-src", "data-full-src", "data-large-src", "data-echo", "data-runner-src", "data-orig-file", "data-cfsrc"),
    *("data-ks-lazyload", "data-flickity-lazyload", "data-lazyload", "data-original-image", "data-delayed-url", "data-td-src-property"),
)
_LAZY_SETS = ("data-srcset", "data-lazy-srcset", "data-original-set", "data-sizes-srcset", "srcset", "srcSet")
_PLACEHOLDER = re.compile(
    r"^(?:data:|about:|blob:|#|$)|(?:^|[/_.-])(?:placeholder|spacer|blank|lazy|loading|transparent|pixel|1x1|grey|clear|empty|dummy)[\w-]*\.(?:gif|png|svg|jpe?g|webp)",
    re.I,
)
_CANDIDATE = re.compile(r"\s*([^\s,]\S*[^\s,]|[^\s,])(?:\s+([\d.]+)([wxh]))?\s*(?:,|$)")
_EMOJI = re.compile("[\u2190-\u2bff\u3000-\u303f\U0001f000-\U0001faff\ufe0f\u200d\U0001f1e6-\U0001f1ff\u00a9\u00ae]+")
_EMOJI_NAMES = re.compile(r"(?:^|[\s_-])(?:emoji|wp-smiley|smiley|emoticon|joypixels|twemoji)", re.I)
_TRACKER = re.compile(
    r"(?:^|[/.])(?:doubleclick|facebook\.com/tr|pixel|beacon|scorecardresearch|quantserve|statcounter|google-analytics)\b", re.I
)
_ICON_PIXELS = 24  # at most this wide and high: an icon, never a picture of something
_WANTED_WIDTH = 1600  # the smallest candidate at least this wide, else the widest


def source_of(attributes: Mapping[str, str | None]) -> str:
    """The best address among `src`, the lazy attributes and the sets; "" when only a placeholder is there."""
    src = (attributes.get("src") or "").strip()
    real = src if src and not _PLACEHOLDER.search(src) else ""
    for name in _LAZY:
        value = (attributes.get(name) or "").strip()
        if value and not _PLACEHOLDER.search(value) and not value.startswith("{"):
            return value
    if real:
        return real
    for name in _LAZY_SETS:
        if found := best_of(attributes.get(name) or ""):
            return found
    return "" if src.startswith(("data:", "about:", "blob:")) else src


def best_of(srcset: str) -> str:
    """The candidate of a `srcset` that shows enough: the smallest over the wanted width, or the largest."""
    found: list[tuple[float, str]] = []
    for match in _CANDIDATE.finditer(srcset[:20_000]):
        address, number, unit = match[1], match[2], match[3]
        if _PLACEHOLDER.search(address):
            continue
        size = float(number) if number and number.count(".") < 2 and number != "." else 1.0
        found.append((size if unit == "w" else size * 800, address))
    if not found:
        return ""
    enough = [one for one in found if one[0] >= _WANTED_WIDTH]
    return min(enough)[1] if enough else max(found)[1]


def emoji_of(attributes: Mapping[str, str | None]) -> str:
    """The character an emoji picture stands for."""
    alt = (attributes.get("alt") or "").strip()
    if not alt or len(alt) > 16:
        return ""
    names = f"{attributes.get('class') or ''} {attributes.get('src') or ''}"
    return alt if _EMOJI.fullmatch(alt) or (_EMOJI_NAMES.search(names) and (len(alt) <= 3 or alt.startswith(":"))) else ""


def is_decoration(attributes: Mapping[str, str | None], source: str) -> bool:
    """A tracking pixel, or an icon without a word of text."""
    width, height = _pixels(attributes.get("width")), _pixels(attributes.get("height"))
    if (width is not None and width <= 2) or (height is not None and height <= 2) or _TRACKER.search(source):
        return True
    small = width is not None and height is not None and max(width, height) <= _ICON_PIXELS
    return small or (
        not (attributes.get("alt") or "").strip() and attributes.get("role") == "presentation" and width is not None and width < 60
    )


def _pixels(value: str | None) -> int | None:
    found = re.match(r"\s*(\d{1,6})(?:px)?\s*$", value or "")
    return int(found[1]) if found else None
