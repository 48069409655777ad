"""Judges: a second opinion on a cited claim, asked only where the fences of `verify` have no objection.

Numbers decide: what a fence contradicts stays contradicted whatever a judge says, and what the page has word by word stays
exact. Between those a judge may lift a claim that the page says in other words, or lower one that only sounds like the page.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from cormorant.passages import pick
from cormorant.verify import HOLDS, Verdict

PASSAGE_TOKENS = 320  # of the page around a claim: most self-hosted judges read 512 tokens, the claim among them
MOST = 64  # claims of one answer that are judged; the others keep the verdict they have


class Judge(Protocol):
    """Says how surely a passage bears a claim out. `label` is shown as `kind::model`."""

    label: str

    async def judged(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """One share in 0..1 per (claim, passage): the chance that the passage supports all of the claim."""
        ...


async def second_opinion(judge: Judge, verdicts: Sequence[Verdict], sources: Sequence[str]) -> list[Verdict]:
    """The verdicts, with those that are open settled by the judge. Raises: ProviderError, RateLimited, Timeout.

    `sources` are the texts that the verdicts' `source` counts, as `verify` was given them.
    """
    settled = list(verdicts)
    read = {n: _passage(verdict, sources[verdict.source]) for n, verdict in enumerate(verdicts) if is_open(verdict)}
    asked = [n for n, passage in read.items() if passage][:MOST]
    if not asked:
        return settled
    shares = await judge.judged([(verdicts[n].claim, read[n]) for n in asked])
    for n, share in zip(asked, shares, strict=True):
        settled[n] = _settled(verdicts[n], share, sources[verdicts[n].source], judge.label)
    return settled


def is_open(verdict: Verdict) -> bool:
    """Whether a judge is asked at all: neither proved nor contradicted."""
    return verdict.verdict in ("close", "unsupported") and not verdict.objections


def _passage(verdict: Verdict, source: str) -> str:
    found = pick(source, verdict.claim, budget=PASSAGE_TOKENS)
    texts = [passage.text for passage in found]
    if verdict.quote and not any(verdict.quote in text for text in texts):
        texts.append(verdict.quote)
    return "\n".join(texts)


def _settled(verdict: Verdict, share: float, source: str, label: str) -> Verdict:
    """The verdict as the judge leaves it. A lifted claim needs a place on the page that can be quoted."""
    said = f"{label}: {share:.0%}"
    if share < HOLDS:
        reason = verdict.reason if verdict.verdict == "unsupported" else f"{said} supported"
        return replace(verdict, verdict="unsupported", score=round(min(verdict.score, share), 6), reason=reason, judged=said)
    if verdict.span is None:
        best = max(pick(source, verdict.claim, budget=PASSAGE_TOKENS // 4), key=lambda p: p.score, default=None)
        if best is None:
            return verdict
        verdict = replace(verdict, span=(best.start, best.end), quote=source[best.start : best.end])
    return replace(verdict, verdict="close", score=round(min(0.99, max(verdict.score, share)), 6), reason="", judged=said)
