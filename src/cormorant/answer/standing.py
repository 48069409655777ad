"""What the sentences of an answer stand on: each cited claim with its verdicts, and marks for those that fall. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from cormorant.citations import code_spans
from cormorant.passages.sentences import sentences
from cormorant.verify import Verdict, verify

UNSUPPORTED_MARK = " [not supported by its source]"
MISMATCH_MARK = " [contradicts its source]"
_GROUP = re.compile(r"[ \t]*(?:<source_\d+>[ \t]*(?:(?:[,;、，،；]|and)[ \t]*(?=<source_))?)+")
_NUMBER = re.compile(r"<source_(\d+)>")
CLAUSE_MIN_CHARS = 12  # a shorter stretch between two markers is judged with what stands before it


@dataclass(frozen=True)
class Claim:
    """A cited stretch of the answer: `start` to `end` in the text with markers, `end` behind the markers."""

    text: str
    sources: tuple[int, ...]
    start: int
    end: int


@dataclass(frozen=True)
class Standing:
    """A claim and what each of its sources says to it. `holds` when at least one supports it."""

    claim: Claim
    verdicts: tuple[tuple[int, Verdict], ...]

    @property
    def holds(self) -> bool:
        return any(verdict.verdict in ("exact", "close") for _, verdict in self.verdicts)

    @property
    def contradicted(self) -> bool:
        return not self.holds and any(verdict.verdict == "mismatch" for _, verdict in self.verdicts)


def claims(text: str) -> list[Claim]:
    """Every cited claim: the sentence before a group of markers, or the part of it since the group before."""
    flat, groups = bare(text)
    spans = sentences(flat)
    code = code_spans(text)
    found: list[Claim] = []
    taken = 0
    for group, at in groups:
        if any(start <= group.start() < end for start, end in code):
            continue
        owner = next(((s, e) for s, e in reversed(spans) if s < at), None)
        if owner is None:
            continue
        start = max(owner[0], taken) if at - taken >= CLAUSE_MIN_CHARS else owner[0]
        said = flat[start:at].strip(" \t\n,;、，")
        if said:
            numbers = tuple(dict.fromkeys(int(n) for n in _NUMBER.findall(group[0])))
            found.append(Claim(plain(said), numbers, with_markers(start, groups), group.end()))
        taken = at
    return found


def bare(text: str) -> tuple[str, list[tuple[re.Match[str], int]]]:
    """The text without markers, and for each group of markers where it stood in that."""
    groups: list[tuple[re.Match[str], int]] = []
    removed = 0
    for group in _GROUP.finditer(text):
        groups.append((group, group.start() - removed))
        removed += len(group[0])
    return _GROUP.sub("", text), groups


def with_markers(at: int, groups: Sequence[tuple[re.Match[str], int]]) -> int:
    return at + sum(len(group[0]) for group, stood in groups if stood <= at)


def plain(claim: str) -> str:
    """The claim without list marks, quotation marks and emphasis around it."""
    return re.sub(r"^(?:[-*+>#]+|\d+[.)])\s+|\*\*|__", "", claim).strip()


def standings(text: str, pages: Mapping[int, str]) -> list[Standing]:
    """Every cited claim held against the pages it cites."""
    cited = claims(text)
    numbers = sorted(pages)
    index = {number: n for n, number in enumerate(numbers)}
    pairs = [(claim, number) for claim in cited for number in claim.sources if number in index]
    verdicts = verify([(claim.text, index[number]) for claim, number in pairs], [pages[n] for n in numbers])
    by_claim: dict[Claim, list[tuple[int, Verdict]]] = {claim: [] for claim in cited}
    for (claim, number), verdict in zip(pairs, verdicts, strict=True):
        by_claim[claim].append((number, verdict))
    return [Standing(claim, tuple(found)) for claim, found in by_claim.items()]


def known(found: Sequence[Standing], told: Mapping[tuple[str, int], Verdict]) -> list[Standing]:
    """The standings with the verdicts that are known already, by claim and number of the source."""
    return [replace(s, verdicts=tuple((n, told.get((s.claim.text, n), verdict)) for n, verdict in s.verdicts)) for s in found]


def marked(text: str, found: Sequence[Standing], how: Literal["mark", "drop"]) -> str:
    """The text with every fallen claim marked behind its markers, or taken out."""
    for standing in sorted(found, key=lambda s: -s.claim.start):
        if standing.holds or not standing.verdicts:
            continue
        before, behind = text[: standing.claim.end].rstrip(" \t"), text[standing.claim.end :]
        if how == "mark":
            gap = text[len(before) : standing.claim.end]
            text = before + (MISMATCH_MARK if standing.contradicted else UNSUPPORTED_MARK) + gap + behind
        else:
            text = joined(text[: standing.claim.start], behind.lstrip(".。!?！？;,"))
    return text.strip() if how == "drop" else text


def joined(before: str, behind: str) -> str:
    """Two stretches of text with what stood between them gone."""
    if not before.strip() or before.endswith("\n") or behind[:1] in ("\n", ""):
        return before.rstrip(" \t") + behind.lstrip(" \t")
    return before.rstrip(" \t") + " " + behind.lstrip(" \t")
