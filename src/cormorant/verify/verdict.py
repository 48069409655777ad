"""What a source says to a claim. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Ruling = Literal["exact", "close", "mismatch", "unsupported"]


@dataclass(frozen=True)
class Verdict:
    """One claim held against one source.

    `span` is the character range in the source that speaks to the claim best, `quote` its text; both are empty when nothing
    does. `score` is in 0..1, higher is better supported. `reason` says what differs, for a person. `objections` are the sorts
    of difference that a fence found (number, date, unit, name, negation, direction); `judged` is what a judge said, if any.
    """

    claim: str
    source: int
    verdict: Ruling
    score: float
    span: tuple[int, int] | None
    quote: str
    reason: str = ""
    objections: tuple[str, ...] = ()
    judged: str = ""

    @property
    def holds(self) -> bool:
        return self.verdict in ("exact", "close")

    def as_dict(self) -> dict[str, Any]:
        return {
            "claim": self.claim,
            "source": self.source,
            "verdict": self.verdict,
            "score": round(self.score, 4),
            "span": list(self.span) if self.span else None,
            "quote": self.quote,
            "reason": self.reason,
        }
