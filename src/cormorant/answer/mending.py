"""Sentences that fell, said again as their sources say them. Asks what it is handed; everything else is pure.

A model rewrites the sentence from the passages of its own source, and the rewriting is held against that source as any
sentence is. Where there is no model, or it fails too, the page's own words stand in for a sentence they contradict; a sentence
that the page does not speak of goes. What was done is told.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field

from cormorant.answer.standing import Claim, Standing, joined
from cormorant.citations import MARKER, Markers, Source
from cormorant.passages import pick
from cormorant.verify import Verdict

Rewrite = Callable[[str, str], Awaitable[str]]  # a sentence and the passages it may rest on -> the sentence as they have it
Check = Callable[[str, int], Awaitable[Verdict]]  # a sentence and the number of a source -> what the source says to it

PASSAGE_TOKENS = 600
MOST = 8  # sentences a model rewrites in one answer
QUOTE_MAX_CHARS = 300
TOLD_CHARS = 120
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*(?:\s+\"[^\"]*\")?\)")
_MARKS = re.compile(r"^\s*(?:[-*+>#]+|\d+[.)])\s+|\*\*|__|`")
_STOPS = ".。!?！？ \t\n"


@dataclass
class Mended:
    """The text with its fallen sentences mended, and a note for each of them."""

    text: str
    notes: list[str] = field(default_factory=list)


async def mended(
    text: str, found: Sequence[Standing], pages: Mapping[int, str], *, check: Check, rewrite: Rewrite | None, warnings: list[str]
) -> Mended:
    """Every fallen sentence rewritten, quoted or dropped. Raises what `rewrite` raises."""
    made = Mended(text)
    fallen = [standing for standing in found if standing.verdicts and not standing.holds]
    put: dict[int, tuple[str, int]] = {}
    for n, standing in enumerate(fallen):
        instead = await _rewritten(standing, pages, check, rewrite, warnings) if rewrite and n < MOST else None
        how = "rewritten as its source has it"
        if instead is None:
            instead, how = _quoted(standing), "replaced by the words of its source"
        if instead is not None:
            put[n] = instead
        made.notes.append(f"a sentence was {how if instead else 'dropped, its source does not say it'}: {_told(standing.claim)}")
    for n, standing in sorted(enumerate(fallen), key=lambda row: -row[1].claim.start):
        made.text = _with(made.text, standing.claim, put.get(n))
    made.text = made.text.strip()
    return made


async def _rewritten(
    standing: Standing, pages: Mapping[int, str], check: Check, rewrite: Rewrite, warnings: list[str]
) -> tuple[str, int] | None:
    """What the model makes of it, where a source of the sentence bears that out."""
    number = max(standing.verdicts, key=lambda row: row[1].score)[0]
    passages = pick(pages[number], standing.claim.text, budget=PASSAGE_TOKENS)
    shown = "\n\n".join(passage.text for passage in passages)
    markers = Markers([Source(number, "", text=pages[number])])
    said = markers.feed(await rewrite(standing.claim.text, shown)) + markers.flush()
    warnings += [warning for warning in markers.warnings if warning not in warnings]
    said = " ".join(MARKER.sub("", said).split())
    if not said or not (await check(said, number)).holds:
        return None
    return said, number


def _quoted(standing: Standing) -> tuple[str, int] | None:
    """The page's own words, where they speak of the same thing and say otherwise."""
    against = [(number, verdict) for number, verdict in standing.verdicts if verdict.verdict == "mismatch" and verdict.quote]
    if not against:
        return None
    number, verdict = max(against, key=lambda row: row[1].score)
    words = " ".join(_MARKS.sub("", _LINK.sub(r"\1", MARKER.sub("", verdict.quote))).split())
    return (f"“{words}”", number) if words and "|" not in words and len(words) <= QUOTE_MAX_CHARS else None


def _with(text: str, claim: Claim, instead: tuple[str, int] | None) -> str:
    before, behind = text[: claim.start], text[claim.end :]
    if instead is None:
        return joined(before, behind.lstrip(".。!?！？;,"))
    said, number = instead
    if behind[:1] and behind[0] in ".。!?！？;,":
        said = said[:-1].rstrip(_STOPS) + "”" if said.endswith("”") else said.rstrip(_STOPS)
    return f"{before}{said} <source_{number}>{behind}"


def _told(claim: Claim) -> str:
    return claim.text if len(claim.text) <= TOLD_CHARS else claim.text[: TOLD_CHARS - 1] + "…"
