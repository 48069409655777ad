"""Characters nobody sees: zero-width, bidirectional controls, the tag block, variation selectors. Pure.

They carry text past a reader's eyes or break words for search. Emoji sequences, flags of regions, and scripts that need
joiners (Arabic, the Indic ones, Mongolian) keep what they are written with.
"""

from __future__ import annotations

import re

_TAGS = "\U000e0000-\U000e007f"
ODD = re.compile(
    f"[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb{_TAGS}\U000e0100-\U000e01ef]"
)
_ASCII = bytes(range(128))
_BIDI = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_ORDINARY = frozenset("\u00ad\u200e\u200f\u061c\ufeff")  # hyphenation and direction marks of honest pages: dropped, not listed
_FLAG = re.compile("\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{2,6}\U000e007f")
_EMOJI = "\u00a9\u00ae\u203c-\u3299\U0001f000-\U0001faff"
_JOINED = re.compile(
    f"(?<=[{_EMOJI}\ufe0f\U0001f3fb-\U0001f3ff])\u200d(?=[{_EMOJI}])"  # emoji made of emoji
    # Arabic, Indic, Mongolian
    "|(?<=[\u0600-\u08ff\u0900-\u0dff\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u1800-\u18af\ufb50-\ufdff\ufe70-\ufefc])[\u200c\u200d]"
    f"|(?<=[{_EMOJI}#*0-9])\ufe0f|(?<=[{_EMOJI}])\ufe0e"
    # ideographic variants
    "|(?<=[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff])[\ufe00-\ufe0f\U000e0100-\U000e01ef]"
    "|(?<=[\u1800-\u18af])[\u180b-\u180f]"
)


def has_unseen(text: str) -> bool:
    """Whether a text holds any such character. Cheap for the usual text: its few letters beyond ASCII are looked at alone."""
    if text.isascii():
        return False
    beyond = text.encode("utf-8", "surrogatepass").translate(None, _ASCII)  # many times faster than a search over all of it
    return ODD.search(beyond.decode("utf-8", "surrogatepass")) is not None


def visible(text: str) -> tuple[str, dict[str, str]]:
    """The text without characters nobody sees, and those taken out by kind. Emoji and scripts that need joiners keep them."""
    if text.isascii() or not ODD.search(text):
        return text, {}
    kept = {at for match in _FLAG.finditer(text) for at in range(*match.span())}
    kept |= {match.start() for match in _JOINED.finditer(text)}
    gone: dict[str, str] = {}

    def without(match: re.Match[str]) -> str:
        char = match[0]
        if match.start() in kept:
            return char
        if char not in _ORDINARY:
            kind = "bidi" if char in _BIDI else "tag_characters" if "\U000e0000" <= char <= "\U000e007f" else "zero_width"
            gone[kind] = gone.get(kind, "") + char
        return ""

    return ODD.sub(without, text), gone
