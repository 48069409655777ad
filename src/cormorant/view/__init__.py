"""The biggest view of a page that fits a budget, and what it left out. Pure.

Views from big to small: `full`, `section`, `passages`, `summary`, `stub`. A budget holds for everything that is handed
over: the view's text, the fit note and whatever envelope the caller announces, by the counter that the note names. The
text carries no ids and no times, so the same page and arguments give the same bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from cormorant import tokens
from cormorant.document import VIEWS, Document
from cormorant.errors import InvalidArguments
from cormorant.passages import Passage
from cormorant.view.cut import Room
from cormorant.view.outline import Page
from cormorant.view.shown import Asked, Candidate, candidates, paged

MAX_TOKENS = 50_000  # of a fitted answer, whatever budget is asked
MAX_CHARS = 200_000
CHARS_PER_TOKEN = 8  # a counter that finds more in a token is not believed
PASSAGES_TOKENS = 2_000  # for a question without a budget
NOTE_TOKENS = 96  # put aside for the fit note, at most a quarter of the budget
ID_TOKENS = 32  # what 32 hexadecimal digits take at worst; the note says `...` until the id is known
SEAM_TOKENS = 2  # the line ends between text, note and envelope
_NO_LIMIT = 10**12


@dataclass(frozen=True)
class View:
    """What is handed over of a page. `tokens` is the size of `text`, `cost` that of text, `note` and envelope together.

    `left_out` names what is missing and `hint` the call that brings it; both are empty where nothing is missing, and
    shortened where the budget has no room for them. `next_offset` is set where the text can be read on.
    """

    kind: str
    text: str
    tokens: int
    page_tokens: int
    budget: int | None
    counter: str
    left_out: str = ""
    hint: str = ""
    truncated: bool = False
    next_offset: int | None = None
    note: str = ""
    cost: int = 0
    passages: tuple[Passage, ...] = ()

    @property
    def fit(self) -> dict[str, Any]:
        """The fit note, in the shape every surface shows."""
        return {
            "view": self.kind,
            "budget": self.budget,
            "counter": self.counter,
            "page_tokens": self.page_tokens,
            "tokens": self.tokens,
            "left_out": self.left_out,
            "hint": self.hint,
        }

    def with_id(self, response_id: str) -> View:
        """The same view, the id under which the page is held in its hint and note. The budget has room for it."""
        named = self.hint.replace("response_id=...", f"response_id={response_id}", 1)
        return replace(self, hint=named, note=self.note.removesuffix(self.hint) + named if self.hint and self.note else self.note)


def fit(
    document: Document,
    *,
    budget: int | None = None,
    view: str | None = None,
    section: str | None = None,
    query: str | None = None,
    max_chars: int | None = None,
    counter: str | tokens.Counter = tokens.DEFAULT,
    envelope: int = 0,
    offset: int = 0,
) -> View:
    """The biggest view of `document` that fits `budget` tokens and `max_chars` characters.

    `section` is a heading or lines (`40-90`); `query` first the heading or lines it names, else a question whose best
    passages fill the budget; `view` the biggest kind allowed. With none of these, the text from `offset` on, cut at
    `max_chars`. `envelope` is what the caller adds around the text, in tokens; the budget has to hold it too.

    Raises: InvalidArguments for an unknown view or counter, or a size below one.
    """
    asked = _asked(view, section, query, budget)
    _check(budget, max_chars, offset)
    made = tokens.counter(counter)
    page = Page(document)
    page_tokens = made.count(page.text)
    fitted = budget is not None or bool(asked.kind or asked.section or asked.query)
    limit = min(budget or MAX_TOKENS, MAX_TOKENS)
    if not fitted:
        room = Room(made, None, max_chars or _NO_LIMIT)
        return _viewed(paged(page, offset, room, max_chars), room, 0, page_tokens, None)
    whole = Room(made, limit, min(max_chars or MAX_CHARS, MAX_CHARS, CHARS_PER_TOKEN * limit))
    inside = Room(made, max(0, limit - envelope - min(NOTE_TOKENS + ID_TOKENS, limit // 4)), whole.chars)
    tries = [paged(page, offset, inside, max_chars)] if offset else candidates(page, asked, inside, page_tokens)
    for candidate in tries:
        if shown := _fitting(candidate, whole, envelope, page_tokens, budget):
            return shown
    return _viewed(Candidate("stub", "", truncated=True), whole, envelope, page_tokens, budget)


def _asked(view: str | None, section: str | None, query: str | None, budget: int | None) -> Asked:
    kind = "" if view in (None, "auto") else view or ""
    if kind and kind not in VIEWS:
        raise InvalidArguments(f"there is no view {view!r}", remedy=f"there are: auto, {', '.join(VIEWS)}")
    return Asked(kind, (section or "").strip(), (query or "").strip(), PASSAGES_TOKENS if budget is None else None)


def _check(budget: int | None, max_chars: int | None, offset: int) -> None:
    for name, value, least in (("budget", budget, 1), ("max_chars", max_chars, 1), ("offset", offset, 0)):
        if value is not None and value < least:
            raise InvalidArguments(f"{name} is {value}, and at least {least} is needed", remedy=f"leave {name} out for the default")


def _fitting(candidate: Candidate, room: Room, envelope: int, page_tokens: int, budget: int | None) -> View | None:
    """The candidate with the longest note that fits, or None."""
    if len(candidate.text) > room.chars:
        return None
    said = room.counter.count(candidate.text)
    free = (room.tokens or 0) - envelope - said
    if free < 0:
        return None
    for left_out, hint in candidate.notes():
        note = _note(candidate.kind, said, page_tokens, left_out, hint)
        cost = room.counter.count(note) + SEAM_TOKENS + (ID_TOKENS if hint else 0)
        if cost <= free:
            return _made(candidate, left_out, hint, note, said, said + envelope + cost, room, page_tokens, budget)
    return _made(candidate, "", "", "", said, said + envelope, room, page_tokens, budget)


def _viewed(candidate: Candidate, room: Room, envelope: int, page_tokens: int, budget: int | None) -> View:
    """The candidate with all there is to say of it, whatever it takes."""
    left_out, hint = next(candidate.notes())
    said = page_tokens if candidate.kind == "full" and not candidate.truncated else room.counter.count(candidate.text)
    note = _note(candidate.kind, said, page_tokens, left_out, hint) if candidate.text else ""
    return _made(candidate, left_out, hint, note, said, said + envelope, room, page_tokens, budget)


def _note(kind: str, said: int, page: int, left_out: str, hint: str) -> str:
    pieces = [f"{kind}, {said} of {page} tokens", left_out and f"left out: {left_out}", hint and f"more: {hint}"]
    return "; ".join(filter(None, pieces))


def _made(
    candidate: Candidate,
    left_out: str,
    hint: str,
    note: str,
    said: int,
    cost: int,
    room: Room,
    page_tokens: int,
    budget: int | None,
) -> View:
    return View(
        kind=candidate.kind,
        text=candidate.text,
        tokens=said,
        page_tokens=page_tokens,
        budget=budget,
        counter=room.counter.name,
        left_out=left_out,
        hint=hint,
        truncated=candidate.truncated,
        next_offset=candidate.next_offset,
        note=note,
        cost=cost,
        passages=candidate.passages,
    )


def share(budget: int, relevances: Sequence[float], needs: Sequence[int]) -> list[int]:
    """One budget over several pages: each gets by its relevance, none more than it needs, the rest goes to the others.

    `needs` are the pages' sizes in tokens. A relevance below zero counts as zero; when all are zero the pages share
    alike. The shares together never exceed `budget`, and use all of it while a page needs more.
    """
    if len(relevances) != len(needs):
        raise InvalidArguments("one relevance and one need for each page", remedy="give lists of the same length")
    shares = [0] * len(needs)
    left = max(0, budget)
    open_pages = [n for n, need in enumerate(needs) if need > 0]
    while open_pages and left:
        weights = [max(0.0, relevances[n]) for n in open_pages]
        total = sum(weights)
        weights = weights if total > 0 else [1.0] * len(open_pages)
        total = sum(weights)
        gives = [min(needs[n] - shares[n], int(left * weight / total)) for n, weight in zip(open_pages, weights, strict=True)]
        if not any(gives):  # less than one token each: the most relevant first
            for n, _ in sorted(zip(open_pages, weights, strict=True), key=lambda pair: (-pair[1], pair[0]))[:left]:
                shares[n] += 1
            break
        for n, give in zip(open_pages, gives, strict=True):
            shares[n] += give
            left -= give
        open_pages = [n for n in open_pages if shares[n] < needs[n]]
    return shares
