"""A summary as large as a room: the headings, then a first sentence for each, then more of each in turn. Pure.

What comes next never depends on the room, and a step that does not fit closes its part. So a larger room takes what a
smaller one took, up to a step that only the larger one holds, and never says less.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, pairwise

from cormorant.blocks import Block, closing, places
from cormorant.view.cut import Room
from cormorant.view.outline import Page, Part
from cormorant.view.summary import FEWEST, about, first_sentence, heading

SENTENCE_CHARS = 120  # of a first sentence where more of the part may follow
WHOLE_SENTENCE_CHARS = 300  # where nothing follows it
GAP = "[…]"
STEP_CHARS = 100  # a part grows by at least so much at a time
LONG_CHARS = 400  # what is longer between two good places is cut at others
STEP_NAMES = 8  # of parts without a heading of their own, at a time
LEAD_STEPS = 3  # in a round, of what stands under the page's title; other parts take one


@dataclass(frozen=True)
class Summary:
    """A summary, the parts that are not there in full, and whether it has a sentence of each part that has any."""

    text: str
    short_of: list[Part]
    complete: bool


@dataclass(frozen=True, slots=True)
class Said:
    """How much of a part is shown: so many characters of its first sentence, or its text up to `at`, and names below it."""

    first: int = 0
    at: int = 0
    block: Block | None = None  # that `at` stands in
    names: int = 0


@dataclass(eq=False)
class Growing:
    """A part in the summary, with those below it that have no heading of their own there."""

    page: Page
    part: Part
    hidden: list[Part] = field(default_factory=list)
    said: Said = field(default_factory=Said)

    def __post_init__(self) -> None:
        self.blocks = self.page.own_blocks(self.part)
        self.heading = heading(self.page, self.part)

    @property
    def whole(self) -> bool:
        return not self.hidden and (not self.blocks or self.said.at >= self.blocks[-1].end)

    def steps(self, most_chars: int, *, deep: bool) -> Iterator[tuple[Said, str]]:
        """What may be shown next, and what that adds to the text. Not `deep`: the first sentence only."""
        said = self.said
        short = ""
        for most in [SENTENCE_CHARS] if deep else [SENTENCE_CHARS, WHOLE_SENTENCE_CHARS]:
            longer = first_sentence(self.page, self.part, most)
            if len(longer) > len(short):
                said = replace(said, first=most)
                yield said, longer[len(short) :] + (GAP if deep else "")
                short = longer
        for n in range(0, len(self.hidden), STEP_NAMES):
            more = self.hidden[n : n + STEP_NAMES]
            said = replace(said, names=n + len(more))
            yield said, ", ".join(["", *(part.name for part in more)])
        last = 0
        for block, at in self._stops(most_chars) if deep else ():
            added = self.page.text[last or self.blocks[0].start : at]
            yield replace(said, at=at, block=block), (added if last else added[len(short) :]) + block.closer
            last = at

    def _stops(self, most_chars: int) -> Iterator[tuple[Block, int]]:
        """Where its text may end."""
        last = self.blocks[0].start if self.blocks else 0
        for block in self.blocks:
            for at in [*_good_places(self.page.text, block, block.start + most_chars), block.end]:
                if at - last >= STEP_CHARS or at == self.blocks[-1].end:
                    yield block, at
                    last = at

    def text(self, *, marked: bool) -> str:
        """The heading and what is shown under it; `marked`: with a sign where it goes on."""
        body = self._body()
        joint = "\n\n" if self.said.at else "\n" if self.part.level else " "
        if marked and body and not self.said.at >= self.blocks[-1].end:
            inside = not self.said.block or (self.said.block.kind == "paragraph" and self.said.at < self.said.block.end)
            body += "" if body.endswith("…") else f" {GAP}" if inside else f"\n\n{GAP}"
        pieces = [joint.join(filter(None, [self.heading, body]))]
        if self.hidden:
            many = len(self.hidden)
            names = [part.name for part in self.hidden[: self.said.names]] + ["…"] * (0 < self.said.names < many)
            pieces.append(f"[{many} section{'s'[: many != 1]} below{': '[: 2 * bool(names)]}{', '.join(names)}]")
        return "\n\n".join(pieces)

    def _body(self) -> str:
        block, at = self.said.block, self.said.at
        if block is None:
            return first_sentence(self.page, self.part, self.said.first) if self.said.first else ""
        shown = self.page.text[self.blocks[0].start : at].rstrip()
        return f"{shown}\n{closing(block, at)}".rstrip()


def _good_places(text: str, block: Block, until: int) -> list[int]:
    """Where a block may be cut: between rows, lines, items or sentences; where those are far apart, at finer places too."""
    cuts: list[int] = []
    for n, kind in enumerate(places(text, block, block.start, until)):
        borders = [block.start, *cuts, block.end]
        cuts += [at for at in kind if block.start < at < block.end and (not n or _gap(borders, at) > LONG_CHARS)]
        cuts = sorted(set(cuts))
        if all(right - left <= LONG_CHARS for left, right in pairwise([block.start, *cuts, block.end])):
            break
    return cuts


def _gap(borders: Sequence[int], at: int) -> int:
    """How far the borders before and after a place are from each other."""
    n = bisect_right(borders, at)
    return borders[n] - borders[n - 1]


def grown(page: Page, page_tokens: int, room: Room, *, deep: bool) -> Summary | None:
    """The summary that fills the room; `deep`: with more than first sentences. None when there is no room for the headings."""
    parts = _headed(page, page_tokens, room)
    if not parts:
        return None
    taken = _taken(parts, room.less(_joined(page, page_tokens, parts, marked=deep)), deep=deep)
    while not room.holds(text := _joined(page, page_tokens, parts, marked=deep)):
        if not taken:
            return None
        part, before = taken.pop()  # what joins the steps costs a little too
        part.said = before
    short_of = [part for growing in parts for part in [*([] if growing.whole else [growing.part]), *growing.hidden]]
    return Summary(text, short_of, not any(part.said == Said() and part.blocks for part in parts))


def _headed(page: Page, page_tokens: int, room: Room) -> list[Growing]:
    """The headings that the room holds, without the deepest levels where it does not hold all."""
    levels = sorted({part.level for part in page.parts}, reverse=True)
    for deepest in levels:
        many = sum(part.level <= deepest for part in page.parts)
        if deepest < levels[0] and many < FEWEST:
            return []
        if 2 * many > (room.tokens or 0):  # no heading takes less than two tokens
            continue
        parts: list[Growing] = []
        for part in page.parts:
            if part.level <= deepest or not parts:
                parts.append(Growing(page, part))
            else:
                parts[-1].hidden.append(part)
        if room.holds(_joined(page, page_tokens, parts, marked=False)):
            return parts
    return []


def _joined(page: Page, page_tokens: int, parts: Sequence[Growing], *, marked: bool) -> str:
    return "\n\n".join(filter(None, [about(page, page_tokens), *(part.text(marked=marked) for part in parts)]))


def _taken(parts: Sequence[Growing], left: Room, *, deep: bool) -> list[tuple[Growing, Said]]:
    """Let the parts grow in turn, those of a higher level first; gives what grew, in order, and what was said of it before."""
    tokens, chars = left.tokens or 0, left.chars
    growing = [(part, part.steps(left.chars, deep=deep)) for part in sorted(parts, key=lambda part: part.part.level)]
    taken: list[tuple[Growing, Said]] = []
    steps_of_lead = 1  # a first sentence of each before a second of any
    while growing:
        still = []
        for part, steps in growing:
            went_on = False
            for said, added in islice(steps, steps_of_lead if part.part.level <= 1 else 1):
                tokens_after, chars_after = tokens - left.counter.count(added), chars - len(added)
                if went_on := min(tokens_after, chars_after) >= 0:
                    taken.append((part, part.said))
                    part.said, tokens, chars = said, tokens_after, chars_after
                else:
                    break
            if went_on:
                still.append((part, steps))
        growing = still
        steps_of_lead = LEAD_STEPS
    return taken
