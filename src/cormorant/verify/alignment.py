"""A claim laid against one sentence, token by token, and what it can differ in. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property

from cormorant.verify.coverage import Claim, Coverage
from cormorant.verify.lexicon import RUN_FUNCTION, STOPWORDS
from cormorant.verify.reading import Sentence, Token
from cormorant.words import folded

SWAPPED = 0.5  # a claim with one stretch exchanged has at least this share of the page's own words


@dataclass(frozen=True)
class Difference:
    """One thing in which claim and page differ. `missing`: the page has nothing in its place, it just is not there."""

    kind: str  # number, date, unit, name, negation, direction, word
    claimed: str
    stated: str = ""
    missing: bool = False

    @property
    def reason(self) -> str:
        if self.missing:
            return f"{self.kind}: the page never says {self.claimed!r}"
        return (
            f"{self.kind}: the claim says {self.claimed!r}, the page {self.stated!r}" if self.stated else f"{self.kind}: {self.claimed!r}"
        )


@dataclass(frozen=True)
class Alignment:
    """The claim laid against one sentence, token by token."""

    claim: Claim
    sentence: Sentence

    @cached_property
    def blocks(self) -> Sequence[tuple[str, int, int, int, int]]:
        left = [token.norm for token in self.claim.tokens]
        right = [token.norm for token in self.sentence.tokens]
        codes = SequenceMatcher(None, left, right, autojunk=False).get_opcodes()
        return _without_chance(codes, self.claim.tokens) if any(t.kind == "run" for t in self.claim.tokens) else codes

    @cached_property
    def matched(self) -> float:
        """The share of the claim's tokens that stand in the sentence in the same order."""
        return sum(b - a for tag, a, b, _, _ in self.blocks if tag == "equal") / (len(self.claim.tokens) or 1)

    @cached_property
    def one_swap(self) -> bool:
        """Whether a single stretch of the claim differs, between words that are the page's own."""
        inner = [code for code in self.blocks if code[0] != "equal" and code[1] != code[2]]
        return len(inner) == 1 and inner[0][0] == "replace" and self.matched >= SWAPPED

    @cached_property
    def reach(self) -> tuple[int, int]:
        """The first and last token of the sentence that are aligned."""
        equal = [(c, d) for tag, _, _, c, d in self.blocks if tag == "equal"]
        return (equal[0][0], equal[-1][1]) if equal else (0, 0)


def _without_chance(codes: Sequence[tuple[str, int, int, int, int]], tokens: Sequence[Token]) -> list[tuple[str, int, int, int, int]]:
    """The blocks without single characters that two names happen to share; what they parted is one replacement."""
    joined: list[tuple[str, int, int, int, int]] = []
    for n, (tag, a, b, c, d) in enumerate(codes):
        inside = 0 < n < len(codes) - 1 and codes[n - 1][0] != "equal" and codes[n + 1][0] != "equal"
        if tag == "equal" and b - a == 1 and inside and tokens[a].kind == "run":
            tag = "replace"
        if joined and tag != "equal" and joined[-1][0] != "equal":
            _, first, _, second, _ = joined.pop()
            joined.append(("replace" if b > first and d > second else "delete" if b > first else "insert", first, b, second, d))
        else:
            joined.append((tag, a, b, c, d))
    return joined


def laid_against(coverage: Coverage) -> Alignment:
    """The claim against the sentence it follows most closely, among those that carry it best."""
    best = sorted(coverage.scores, key=lambda n: -coverage.scores[n])[:3]
    options = [Alignment(coverage.claim, coverage.page.sentences[n]) for n in best]
    return max(options, key=lambda a: a.matched)


def content(found: Sequence[Token]) -> list[Token]:
    """The tokens that are no function words."""
    return [t for t in found if (t.norm not in RUN_FUNCTION if t.kind == "run" else t.kind != "word" or folded(t.raw) not in STOPWORDS)]
