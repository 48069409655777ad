"""The views a page can be shown in, from the biggest down, each as large as a room allows. Pure.

Nothing here knows of budgets and notes: `view` asks for one candidate after the other and keeps the first that fits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from cormorant.document import VIEWS
from cormorant.passages import Passage, Ranked
from cormorant.view.cut import Room, piece
from cormorant.view.growth import grown
from cormorant.view.outline import Page, Part
from cormorant.view.render import joined
from cormorant.view.summary import stubs

NAMES = 6  # parts left out that are named
NAME_CHARS = 60
CALL = "web_get response_id=..."


@dataclass(frozen=True)
class Candidate:
    """A view before it is known whether it fits. `names` are the parts left out, in the order they are named."""

    kind: str
    text: str
    what: str = ""  # left out, in words
    names: tuple[str, ...] = ()
    hint: str = ""
    truncated: bool = False
    next_offset: int | None = None
    passages: tuple[Passage, ...] = ()

    def notes(self) -> Iterator[tuple[str, str]]:
        """What is said of the rest, ever shorter: with names, without, the call alone, nothing."""
        if self.names:
            shown = ", ".join(name if len(name) <= NAME_CHARS else name[: NAME_CHARS - 1] + "…" for name in self.names[:NAMES])
            yield f"{self.what}: {shown}{', …' if len(self.names) > NAMES else ''}", self.hint
        if self.what:
            yield self.what, self.hint
        if self.hint:
            yield "", self.hint
            if self.what:
                yield self.what, ""
        yield "", ""


@dataclass(frozen=True)
class Asked:
    """What the caller wants to see."""

    kind: str = ""  # the biggest view allowed; empty: any
    section: str = ""
    query: str = ""
    question_tokens: int | None = None  # the most that passages may take

    def allows(self, kind: str) -> bool:
        return not self.kind or VIEWS.index(kind) >= VIEWS.index(self.kind)


def candidates(page: Page, asked: Asked, room: Room, page_tokens: int) -> Iterator[Candidate]:
    """The views to try, the biggest first. The last one is empty and fits everywhere."""
    part = page.find(asked.section) if asked.section else None
    if part is None and not asked.section and asked.query and asked.allows("section"):
        part = page.find(asked.query, loosely=False)
    if part and asked.allows("section"):
        yield from _section(page, part, asked, room)
    elif asked.query and not asked.section:
        question = room.at_most(asked.question_tokens)
        if asked.allows("full") and question.holds(page.text):
            yield Candidate("full", page.text)
        if asked.allows("passages"):
            yield from _passages(page, asked.query, question)
    elif not asked.section and asked.allows("full"):
        yield Candidate("full", page.text)
    missing = f"no heading or line range matches {asked.section!r}; " if asked.section and part is None else ""
    yield from _short(page, asked, room, page_tokens, missing)


def _short(page: Page, asked: Asked, room: Room, page_tokens: int, missing: str) -> Iterator[Candidate]:
    parts = page.parts
    names, hint = _named(parts), f"{CALL} {page.call(parts[0])}" if parts else ""
    if asked.allows("summary") and parts:
        deep = asked.kind in ("", "full") and not asked.section
        if found := grown(page, page_tokens, room, deep=deep):
            what, left, call = f"all but the first sentences of {_count(parts)}", names, hint
            if deep or not found.complete:
                what, left = f"the rest of {len(found.short_of)} of {_count(parts)}", _named(found.short_of)
                call = f"{CALL} {page.call(found.short_of[0], own=True)}" if found.short_of else ""
            yield Candidate("summary", found.text, missing + what, left, call, truncated=deep or bool(asked.section) or not found.complete)
    for text in stubs(page, page_tokens, room):
        yield Candidate(
            "stub", text, f"{missing}the text of {_count(parts)}" if parts else missing, names, hint, truncated=asked.kind != "stub"
        )


def _section(page: Page, part: Part, asked: Asked, room: Room) -> Iterator[Candidate]:
    start, end = page.span(part.start, part.end)
    whole = piece(page.text, page.blocks, start, end, Room(room.counter, None, room.chars))
    others = [
        other
        for other in page.parts
        if not part.start <= other.start < part.end and not other.start <= part.start < part.end <= other.own_end
    ]
    if whole.next == end:
        yield Candidate("section", whole.text.rstrip("\n"), *_left_out(page, part, others))
    if asked.query and asked.section:
        yield from _passages(page, asked.query, room, (start, end))
        return
    # The notice is part of the text: a cut section must not pass for the whole of it.
    last = part.end
    room = room.less(_cut_notice(page, part, start, end, ("offset", end)))
    cut = piece(page.text, page.blocks, start, end, room)
    if cut.next == start:
        return
    line = page.lines.at(cut.next)
    going_on = ("section", f"{line + 1}-{last}") if page.lines.starts[line] == cut.next else ("offset", cut.next)
    text = cut.text.rstrip("\n") + _cut_notice(page, part, start, cut.next, going_on)
    what, names, _ = _left_out(page, part, others)
    rest = f"lines {line + 1}-{last} of this section" + (f"; {what}" if what else "")
    yield Candidate("section", text, rest, names, f"{CALL} {_argument(going_on)}", truncated=True, next_offset=cut.next)


def _argument(going_on: tuple[str, object]) -> str:
    name, value = going_on
    return f'{name}="{value}"' if isinstance(value, str) else f"{name}={value}"


def _cut_notice(page: Page, part: Part, start: int, at: int, going_on: tuple[str, object]) -> str:
    first, last = part.start + 1, max(part.end, part.start + 1)
    there = page.lines.at(max(start, at - 1)) + 1
    return f"\n\n[Cut: lines {first}-{there} of {first}-{last}. More: {CALL} {_argument(going_on)}]"


def _left_out(page: Page, part: Part, others: Sequence[Part]) -> tuple[str, tuple[str, ...], str]:
    if not others:
        return "", (), ""
    after = [other for other in others if other.start >= part.end] or list(others)
    return f"{len(others)} of {_count(page.parts)}", _named(others), f"{CALL} {page.call(after[0])}"


def _named(parts: Sequence[Part]) -> tuple[str, ...]:
    return tuple(part.name or f"lines {part.own_lines}" for part in parts)


def _count(parts: Sequence[Part]) -> str:
    kind = "section" if any(part.level for part in parts) else "range"
    return f"{len(parts)} {kind}{'' if len(parts) == 1 else 's'}"


def _passages(page: Page, question: str, room: Room, span: tuple[int, int] | None = None) -> Iterator[Candidate]:
    start, end = span or (0, len(page.text))
    ranked = Ranked(page.text[start:end], question)
    most = room.tokens or 0
    for _ in range(6):
        found = [passage.moved(start, page.document.url) for passage in ranked.fill(most, room.counter)]
        text = joined(page, found)
        if not found:
            return
        if room.holds(text):
            break
        # What joins and completes the passages (gaps, table headers, fences) costs too: ask for that much less.
        over = max(room.counter.count(text) - (room.tokens or 0), (len(text) - room.chars) // 4, 1)
        most = min(most, sum(room.counter.count(passage.text) for passage in found)) - over
        if most < 1:
            return
    else:
        return
    yield Candidate("passages", text, *_unread(page, found), passages=tuple(found))


def _unread(page: Page, found: Sequence[Passage]) -> tuple[str, tuple[str, ...], str]:
    """What the passages leave out: the parts without any, else the rest; the call brings what stands around the best."""
    if len(found) == 1 and not page.text[: found[0].start].strip() and not page.text[found[0].end :].strip():
        return "", (), ""
    spans = [(part, *page.span(part.start, part.own_end)) for part in page.parts]
    without = [part for part, start, end in spans if not any(passage.start < end and passage.end > start for passage in found)]
    best = max(found, key=lambda passage: passage.score)
    around = next((part for part, start, end in reversed(spans) if start <= best.start < end), page.parts[0])
    what = f"{len(without)} of {_count(page.parts)} whole, parts of the others" if without else f"parts of {_count(page.parts)}"
    return what, _named(without), f"{CALL} {page.call(around, own=True)}"


def paged(page: Page, offset: int, room: Room, max_chars: int | None) -> Candidate:
    """The text from `offset` on, as much as the room holds; when it goes on, a last line says where."""
    size = len(page.text)
    offset = min(offset, size)
    rest = piece(page.text, page.blocks if offset or not room.holds(page.text) else [], offset, size, room)
    if rest.next == size:
        return Candidate("full", rest.text)
    for notice in (_page_notice(size, max_chars), _short_notice(size)):
        left = room.less(notice(offset, size))
        if left.chars >= room.chars // 2:
            cut = piece(page.text, page.blocks, offset, size, left, must=True)
            text = cut.text.rstrip("\n") + notice(offset, cut.next)
            return _more(page, text, offset, cut.next, max_chars)
    cut = piece(page.text, page.blocks, offset, size, room, must=True)
    return _more(page, cut.text, offset, cut.next, max_chars)


def _page_notice(size: int, max_chars: int | None) -> Callable[[int, int], str]:
    again = f" max_chars={max_chars}" if max_chars else ""
    return lambda start, stop: f"\n\n[Cut: characters {start} to {stop} of {size}. More: {CALL} offset={stop}{again}]"


def _short_notice(size: int) -> Callable[[int, int], str]:
    return lambda start, stop: f"\n\n[Cut at {stop} of {size}. More: offset={stop}]"


def _more(page: Page, text: str, start: int, stop: int, max_chars: int | None) -> Candidate:
    size = len(page.text)
    if not page.text[stop:].strip():  # only line ends are left: nothing to read on for
        return Candidate("full", text)
    what = f"characters {stop} to {size} of {size}" if not start else f"all but characters {start} to {stop} of {size}"
    again = f" max_chars={max_chars}" if max_chars else ""
    return Candidate("full", text, what, (), f"{CALL} offset={stop}{again}", truncated=True, next_offset=stop)
