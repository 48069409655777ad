"""Claims against spans: does the page say what the sentence says? Pure, deterministic, any script, no model.

`verify` gives each claim a ruling and the span that speaks to it; `support` gives one number. A claim is `exact` when the
page has it word by word, `close` when the page carries it in other words, `mismatch` when the page speaks of the same thing
and says another number, date, unit, name, or the contrary, and `unsupported` otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence

from cormorant.verify.judging import HOLDS, judge
from cormorant.verify.verdict import Ruling, Verdict

__all__ = ["HOLDS", "Ruling", "Verdict", "support", "verify"]


def verify(claims: Sequence[tuple[str, int]], sources: Sequence[str]) -> list[Verdict]:
    """A verdict for each claim (its text, the index of its source), in their order. Raises: IndexError for no such source."""
    return [judge(text, index, sources[index]) for text, index in claims]


def support(claim: str, source: str) -> float:
    """How well the source supports the claim, 0..1: from about a half on it says the same."""
    return judge(claim, 0, source).score
