"""`claude_estimate`: an upper estimate of Claude's tokens, whose tokenizer is not public. Pure, offline, linear.

Each word that `o200k_base` would see gets a price by its script: so much a token, so much a character, so much a capital.
The prices come from a linear programme over 900 texts in 40 languages, code, tables, addresses and emoji: the cheapest
prices by which no text is under the larger of two counts, those of the Claude 3 to 4.6 and of the 4.8 generation as an
independent open reconstruction of them (ctok 1.3) gives them, and then 5 % on top. With prices from one half of the
texts and nothing on top, 3 % of the other half came out under, by 3.4 % at most. It counts the text, not the few tokens
that frame a message. docs/views.md has the over-count by language.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass

SLACK = 1.02  # the programme asked for 1.03 already


@dataclass(frozen=True, slots=True)
class Price:
    """In thousandths of a token: for each o200k token, each character (or byte), each capital."""

    token: int
    unit: int = 0
    capital: int = 0
    bytes: bool = False


PRICES = {
    "latin": Price(926, 228, 532),
    "accented": Price(300, 946),
    "alphabet": Price(1587, 30),  # Cyrillic, Greek, Armenian, Georgian, Hebrew
    "arabic": Price(300, 738),
    "han": Price(1045, 413),
    "kana": Price(1301),  # and Hangul
    "thai": Price(300, 890),
    "indic": Price(1493, 1289),
    "other": Price(359, 327, bytes=True),
    "digit": Price(534, 154),
    "punctuation": Price(1729, 73),
    "space": Price(1278),
    "symbol": Price(300, 744, bytes=True),
}
_SCRIPTS = (  # first and last code point, script; whatever letter is in none of them is `other`
    (0x80, 0x24F, "accented"),
    (0x300, 0x36F, "accented"),
    (0x1E00, 0x1EFF, "accented"),
    (0x250, 0x5FF, "alphabet"),
    (0x10A0, 0x10FF, "alphabet"),
    (0x1F00, 0x1FFF, "alphabet"),
    (0x600, 0x77F, "arabic"),
    (0xFB50, 0xFDFF, "arabic"),
    (0xFE70, 0xFEFF, "arabic"),
    (0x900, 0xDFF, "indic"),
    (0xE00, 0xE7F, "thai"),
    (0x3040, 0x30FF, "kana"),
    (0x1100, 0x11FF, "kana"),
    (0xAC00, 0xD7AF, "kana"),
    (0x3400, 0x9FFF, "han"),
    (0xF900, 0xFAFF, "han"),
    (0x20000, 0x3FFFF, "han"),
)


def price(word: str, tokens: int) -> int:
    """What one word costs, in thousandths of a token; `tokens` is its size in `o200k_base`."""
    bare = word.strip()
    asked = PRICES[script(bare)]
    units = len(word.encode("utf-8", "surrogatepass")) if asked.bytes else len(bare)
    capitals = sum(map(str.isupper, bare)) if asked.capital else 0
    return asked.token * tokens + asked.unit * units + asked.capital * capitals


def script(word: str) -> str:
    """Which price a word has: that of its first letter beyond ASCII, else what it is made of."""
    if not word:
        return "space"
    if not word.isascii():
        for char in word:
            if char > "\x7f" and (char.isalpha() or unicodedata.category(char)[0] == "M"):
                return next((name for first, last, name in _SCRIPTS if first <= ord(char) <= last), "other")
    if any(map(str.isalpha, word)):
        return "latin"
    if any(map(str.isnumeric, word)):
        return "digit"
    return "punctuation" if word.isascii() else "symbol"


class PricedWords(dict[str, int]):
    """Word -> price, filled as words are met."""

    def __init__(self, tokens_of: Callable[[str], int]) -> None:
        super().__init__()
        self._tokens_of = tokens_of

    def __missing__(self, word: str) -> int:
        priced = price(word, self._tokens_of(word))
        if len(word) <= 32:
            self[word] = priced
        return priced


class ClaudeEstimate:
    """Counts a little more than Claude would: 1.27 times on average, see docs/views.md."""

    name = "claude_estimate"

    def __init__(self, split: Callable[[str], list[str]], tokens_of: Callable[[str], int], *, keep: int = 200_000) -> None:
        self._split = split
        self._keep = keep
        self._words = PricedWords(tokens_of)

    def count(self, text: str) -> int:
        """The estimate for `text`, rounded up."""
        if len(self._words) > self._keep:
            self._words.clear()
        return -(-int(sum(map(self._words.__getitem__, self._split(text))) * SLACK) // 1000)
