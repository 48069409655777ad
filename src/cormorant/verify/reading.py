"""A text as the checks see it: sentences, tokens with their places, names, figures, negators. Pure, cached by text.

A page is read in two steps. Tokens and where they stand are made for all of it, fast. Figures and names are looked at only
in the sentences that a claim leads to.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from cormorant.passages.sentences import sentences
from cormorant.verify.lexicon import STOPWORDS
from cormorant.verify.numerals import plain_digits
from cormorant.verify.quantities import _RUNS, LETTER, Quantity, quantities
from cormorant.words import folded, stem

PAGES_KEPT = 64
CLAIM_MAX_CHARS = 2_000
PREFIX = 4
_TOKEN = re.compile(rf"(?P<number>\d+(?:[.,'’\u00a0\u202f]\d+)*)|(?P<run>[{_RUNS}]+)|(?P<word>{LETTER}+)")
_TOKEN_FAST = re.compile(rf"(?P<number>\d+(?:[.,'’\u00a0\u202f]\d+)*)|(?P<run>[{_RUNS}]+)|(?P<word>[^\W\d_{_RUNS}]+)")
_SCAN = re.compile(_TOKEN.pattern.replace("?P<number>", "?:").replace("?P<run>", "?:").replace("?P<word>", "?:"))
_SCAN_FAST = re.compile(_TOKEN_FAST.pattern.replace("?P<number>", "?:").replace("?P<run>", "?:").replace("?P<word>", "?:"))
_IN_RUN = re.compile(f"[{_RUNS}]")
_SIGNS = re.compile("[\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0dff]")
_TARGET = re.compile(r"\]\([^()\s]*(?:\([^()]*\)[^()\s]*)*(?:\s+\"[^\"\n]*\")?\)")  # where a Markdown link leads
_HANGUL = re.compile("[\uac00-\ud7a3]")
_TABLE = re.compile(r"^(?P<head>\|.*)\n\|[ :|-]+\|?[ ]*\n(?:\|.*(?:\n|\Z))*", re.M)
_PARTICLE = re.compile(
    "(?<=..)(?:에서는|에서|에는|에게|으로는|으로|까지|부터|은|는|이|가|을|를|의|에|로|와|과|도)$"
)  # behind a Korean noun
_KATAKANA = re.compile("[\u30a1-\u30fa\u30fc]{2,}")
_ARABIC_PREFIX = re.compile("^(?:وال|بال|كال|فال|لل|ال|و|ب|ل|ف)(?=.{3})")


@dataclass(frozen=True, slots=True)
class Token:
    """One word, number or character of a run without spaces. `norm` is what it is compared by."""

    start: int
    end: int
    raw: str
    norm: str
    kind: str  # word, number, run
    capital: bool = False

    @property
    def is_function(self) -> bool:
        return self.kind == "word" and folded(self.raw) in STOPWORDS


@lru_cache(maxsize=131_072)
def norm_of(word: str) -> str:
    """The form words are compared by: folded, English endings off, Arabic articles off."""
    low = folded(word)
    if "\u0600" <= low[:1] <= "\u06ff":
        return _ARABIC_PREFIX.sub("", low).replace("ة", "ه").replace("ى", "ي")
    return stem(low) if len(low) > 4 else low.removesuffix("s") if len(low) == 4 and low.isascii() else low


def tokens(text: str) -> list[Token]:
    """The tokens of a text. Runs without spaces give one token a character, but Hangul and katakana stay whole."""
    plain = plain_digits(text)
    pattern = _TOKEN if _SIGNS.search(plain) else _TOKEN_FAST
    found: list[Token] = []
    for match in pattern.finditer(plain):
        start, end = match.span()
        raw = match[0]
        if match.lastgroup == "number":
            found.append(Token(start, end, raw, _number_norm(raw), "number"))
        elif match.lastgroup == "word":
            found.append(Token(start, end, raw, norm_of(raw), "word", raw[0].isupper()))
        else:
            found += _run(raw, start)
    return found


def _number_norm(raw: str) -> str:
    return re.sub(r"[,'’\u00a0\u202f](?=\d{3})", "", raw)


def _run(raw: str, at: int) -> list[Token]:
    if _HANGUL.match(raw):
        return [Token(at, at + len(raw), raw, _PARTICLE.sub("", raw), "hangul")]
    found: list[Token] = []
    done = 0
    for match in _KATAKANA.finditer(raw):
        found += [Token(at + n, at + n + 1, raw[n], raw[n], "run") for n in range(done, match.start())]
        found.append(Token(at + match.start(), at + match.end(), match[0], match[0], "katakana"))
        done = match.end()
    found += [Token(at + n, at + n + 1, raw[n], raw[n], "run") for n in range(done, len(raw))]
    return found


@dataclass(frozen=True)
class Sentence:
    """One sentence of a text, `start` to `end`."""

    text: str
    start: int
    end: int

    @cached_property
    def tokens(self) -> tuple[Token, ...]:
        return tuple(tokens(self.text))

    @cached_property
    def terms(self) -> frozenset[str]:
        """What the sentence can be found by."""
        return frozenset(quick_terms(self.text))

    @cached_property
    def quantities(self) -> tuple[Quantity, ...]:
        return tuple(quantities(self.text))


def terms(found: tuple[Token, ...] | list[Token]) -> list[str]:
    """Words and numbers as they are compared; in a run without spaces the pairs of neighbours, and each character marked `·`."""
    out: list[str] = []
    last = len(found) - 1
    for n, token in enumerate(found):
        if token.kind == "run":
            out.append("·" + token.norm)
        if token.kind != "run":
            out.append(token.norm)
        elif n < last and found[n + 1].kind == "run" and found[n + 1].start == token.end:
            out.append(token.norm + found[n + 1].norm)
        elif not (n and found[n - 1].kind == "run" and found[n - 1].end == token.start):
            out.append(token.norm)
    return out


def placed_terms(found: Sequence[Token]) -> dict[str, list[int]]:
    """Content terms and where in the text each begins; neighbours in a run as pairs."""
    out: dict[str, list[int]] = {}
    for n, token in enumerate(found):
        if token.kind == "run":
            if n + 1 < len(found) and found[n + 1].kind == "run" and found[n + 1].start == token.end:
                out.setdefault(token.norm + found[n + 1].norm, []).append(token.start)
        elif not token.is_function:
            out.setdefault(token.norm, []).append(token.start)
    return out


class _Norms(dict[str, str]):
    """Piece -> norm, remembered: the words of a page repeat."""

    def __missing__(self, piece: str) -> str:
        if len(self) > 200_000:
            self.clear()
        self[piece] = norm = _number_norm(piece) if piece[0].isdigit() else norm_of(piece)
        return norm


_NORMS = _Norms()
_SCAN_ASCII = re.compile(r"\d+(?:[.,']\d+)*|[a-z]+")


def quick_terms(text: str) -> set[str]:
    """What `terms(tokens(text))` holds, without making the tokens."""
    norms = _NORMS
    if text.isascii():
        return {norms[piece] for piece in _SCAN_ASCII.findall(text.lower())}
    plain = plain_digits(text)
    pieces = (_SCAN if _SIGNS.search(plain) else _SCAN_FAST).findall(plain)
    if not _IN_RUN.search(plain):
        return {norms[piece] for piece in pieces}
    out: set[str] = set()
    for piece in pieces:
        if _IN_RUN.match(piece):
            out.update(terms(_run(piece, 0)))
        else:
            out.add(norms[piece])
    return out


@dataclass(frozen=True)
class Page:
    """A source, indexed: which sentence carries which term."""

    text: str
    sentences: tuple[Sentence, ...]
    where: dict[str, list[int]] = field(default_factory=dict)
    by_prefix: dict[str, list[str]] = field(default_factory=dict)

    @cached_property
    def flat(self) -> str:
        """All terms in order between bars: to look for a claim word by word."""
        return "|" + "|".join(token.norm for sentence in self.sentences for token in sentence.tokens) + "|"

    @cached_property
    def capitals(self) -> frozenset[str]:
        """The words that stand with a capital somewhere inside a sentence."""
        return frozenset(t.norm for s in self.sentences for t in s.tokens[1:] if t.capital)

    def near(self, term: str) -> list[tuple[str, float]]:
        """Terms of the page that are another form of this one, with how alike they are."""
        if len(term) < PREFIX + 1 or term[:1].isdigit():
            return []
        found = []
        for other in self.by_prefix.get(term[:PREFIX], ()):
            if other != term and (alike := likeness(term, other)) > 0:
                found.append((other, alike))
        return found


@lru_cache(maxsize=65_536)
def likeness(a: str, b: str) -> float:
    """How surely two words are forms of one: the share of the longer that they begin with alike, 0 under two thirds."""
    if a == b:
        return 1.0
    shared = 0
    for left, right in zip(a, b, strict=False):
        if left != right:
            break
        shared += 1
    longest = max(len(a), len(b))
    return 0.5 + 0.5 * shared / longest if shared >= PREFIX and shared / longest >= 0.62 else 0.0


@lru_cache(maxsize=PAGES_KEPT)
def page(text: str) -> Page:
    """The source, read once and kept for the next claims."""
    read = _TARGET.sub(lambda m: "]" + " " * (len(m[0]) - 1), text)  # as long as before: places stay what they are
    found = tuple(Sentence(read[start:end], start, end) for start, end in sentences(text))
    where: dict[str, list[int]] = defaultdict(list)
    heads = [(table.start(), table.end(), quick_terms(table["head"])) for table in _TABLE.finditer(read)]
    for number, sentence in enumerate(found):
        above = next((terms for start, end, terms in heads if start <= sentence.start < end), None)
        for term in quick_terms(sentence.text) | (above or set()):  # a row says what stands under the heads of its columns
            where[term].append(number)
    by_prefix: dict[str, list[str]] = defaultdict(list)
    for term in where:
        if len(term) > PREFIX:
            by_prefix[term[:PREFIX]].append(term)
    return Page(text, found, dict(where), dict(by_prefix))


def clean(text: str) -> str:
    """A claim without what is not said: compatibility forms unified, soft hyphens and emphasis out. A very long one is cut."""
    text = text[:CLAIM_MAX_CHARS]
    return re.sub(r"[\u00ad\u200b*`]|(?<!\w)_+|_+(?!\w)", "", unicodedata.normalize("NFC", text)).strip()
