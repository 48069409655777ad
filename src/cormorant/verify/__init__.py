"""Claims against spans: does the page say what the sentence says? Pure, deterministic, any script, no model.

`verify` gives each claim a ruling and the span that speaks to it; `support` gives one number.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from cormorant import words
from cormorant.passages import sentences
from cormorant.verify.verdict import Ruling, Verdict

__all__ = ["Ruling", "Verdict", "support", "verify"]


def verify(claims: Sequence[tuple[str, int]], sources: Sequence[str]) -> list[Verdict]:
    """A verdict for each claim (its text, the index of its source), in their order."""
    return [_judge(text, index, sources[index]) for text, index in claims]


def support(claim: str, source: str) -> float:
    """How well the source supports the claim, 0..1."""
    return _judge(claim, 0, source).score


def _judge(claim: str, index: int, source: str) -> Verdict:
    asked = set(words.terms(claim))
    best, span = 0.0, None
    for start, end in sentences(source):
        share = len(asked & set(words.terms(source[start:end]))) / (len(asked) or 1)
        if share > best:
            best, span = share, (start, end)
    quote = source[span[0] : span[1]] if span else ""
    missing = set(re.findall(r"\d+", claim)) - set(re.findall(r"\d+", source))
    ruling: Ruling = "unsupported" if best < 0.4 else "mismatch" if missing else "exact" if best > 0.98 else "close"
    return Verdict(claim, index, ruling, best * (0.4 if missing else 1.0), span, quote)
