"""What one run of research works with: the public tools under its bounds, and what they brought.

Whoever plans (rules or a model) reads through here alone, so that every search and page is counted, told and kept as a
numbered source, and every refusal is remembered.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

from cormorant import tokens
from cormorant.answer.evidence import Evidence, hole
from cormorant.citations import Source, canonical
from cormorant.errors import BudgetSpent, CormorantError
from cormorant.events import AgentStepCompleted, AgentStepStarted, Emit
from cormorant.results import Page, Pages, Stored
from cormorant.search import Found, Hit

PAGE_TOKENS = 8_000  # of one page at most
LEAST_TOKENS = 100  # less of a page is not worth a request
T = TypeVar("T")


@dataclass(frozen=True)
class Bounds:
    """Where a run stops, answered or not. `tokens` are those of everything that was read."""

    steps: int = 20
    searches: int = 8
    fetches: int = 20
    tokens: int = 60_000
    seconds: float = 300.0


class PublicTools(Protocol):
    """What research may do: the three tools that everybody has, with their arguments. `Web` is one."""

    @property
    def search(self) -> Callable[..., Awaitable[Found]]: ...

    @property
    def fetch(self) -> Callable[..., Awaitable[Page | Pages]]: ...

    @property
    def get(self) -> Callable[..., Awaitable[Stored]]: ...


class Stopped(Exception):
    """A bound was hit; its text is the bound's name."""


class Desk:
    """One run's reading: the sources so far by number, what could not be reached, what was spent."""

    def __init__(self, tools: PublicTools, bounds: Bounds, emit: Emit, clock: Callable[[], float] = time.monotonic) -> None:
        self.bounds = bounds
        self.emit = emit
        self.stopped: str | None = None
        self.not_reached: list[dict[str, Any]] = []
        self.notes: list[str] = []
        self.provider = ""
        self.spent = Counter({"steps": 0, "searches": 0, "fetches": 0, "tokens": 0})
        self._tools, self._clock, self._began = tools, clock, clock()
        self._numbers: dict[str, int] = {}  # by address without its fragment: two that led to one page share one
        self._sources: dict[int, Evidence] = {}
        self._count_tokens = tokens.counter(tokens.DEFAULT).count

    # -- the three tools ---------------------------------------------------------------------------------------------

    async def search(self, query: str | None = None, **options: Any) -> Found:
        """Raises: Stopped, and what a search raises."""
        self._one_more("searches")
        shown = query or "; ".join(options.get("queries", ()))
        found = await self._step("web_search", shown, self._tools.search(query, **options), lambda f: f"{len(f.results)} results")
        self.provider = self.provider or found.provider
        for hit in found.results:
            self._numbered(hit)
        self._charge("\n".join(f"{hit.title}\n{hit.url}\n{hit.snippet}" for hit in found.results))
        return found

    async def fetch(self, url: str, *, budget: int | None = None, **options: Any) -> Page:
        """One page, within what the run may still read. Raises: Stopped, and what a fetch raises."""
        self._one_more("fetches")
        size = self.room(budget)
        try:
            page = await self._step("web_fetch", url, self._page(url, budget=size, **options), _page_told)
        except CormorantError as error:
            self.not_reached = [gap for gap in self.not_reached if gap["url"] != url] + [hole(url, error)]
            raise
        self.not_reached = [gap for gap in self.not_reached if gap["url"] != url]  # a second try got it
        self._keep(url, page)
        self._charge(page.content)
        return page

    async def get(self, response_id: str, *, budget: int | None = None, **options: Any) -> Stored:
        """More of a stored result. Raises: Stopped, and what a get raises."""
        stored = await self._step(
            "web_get", response_id, self._tools.get(response_id, budget=self.room(budget), **options), lambda s: s.title or s.url
        )
        number = self._numbers.get(canonical(stored.url))
        if stored.kind == "web_fetch" and number:
            self._sources[number] = _with_text(self._sources[number], stored.content)
        self._charge(stored.content)
        return stored

    async def _page(self, url: str, **options: Any) -> Page:
        page = await self._tools.fetch(url, **options)
        if not isinstance(page, Page):
            raise TypeError("one address was asked for")
        return page

    # -- bounds ------------------------------------------------------------------------------------------------------

    def room(self, asked: int | None = None) -> int:
        """Tokens that the next page may have. Raises: Stopped when that is too little to read anything."""
        left = self.bounds.tokens - self.spent["tokens"]
        if left < LEAST_TOKENS:
            raise Stopped("tokens")
        return min(PAGE_TOKENS, left, asked or PAGE_TOKENS)

    @property
    def seconds(self) -> float:
        return self._clock() - self._began

    @property
    def seconds_left(self) -> float:
        return max(0.0, self.bounds.seconds - self.seconds)

    async def _step(self, action: str, detail: str, work: Awaitable[T], said: Callable[[T], str]) -> T:
        """Counts and tells one use of a tool, whatever becomes of it."""
        try:
            if self.seconds > self.bounds.seconds:
                raise Stopped("seconds")
            self._one_more("steps")
        except Stopped:
            work.close()  # type: ignore[attr-defined]  # a coroutine that is not awaited says so loudly
            raise
        number = self.spent["steps"]
        await self.emit(AgentStepStarted(number, action, detail))
        try:
            found = await work
        except CormorantError as error:
            await self.emit(AgentStepCompleted(number, action, f"{error.code}: {error.message}"))
            if isinstance(error, BudgetSpent):
                raise Stopped("ledger") from error
            raise
        await self.emit(AgentStepCompleted(number, action, said(found)))
        return found

    def _one_more(self, what: str) -> None:
        if self.spent[what] >= getattr(self.bounds, what):
            raise Stopped(what)
        self.spent[what] += 1

    def _charge(self, text: str) -> None:
        self.spent["tokens"] += self._count_tokens(text)

    # -- sources -----------------------------------------------------------------------------------------------------

    @property
    def evidence(self) -> list[Evidence]:
        """Every source by its number: pages with what was read of them, hits with their snippet."""
        return [self._sources[number] for number in sorted(self._sources)]

    @property
    def sources(self) -> list[Source]:
        """What may be cited: everything that brought a text."""
        return [entry.source for entry in self.evidence if entry.text.strip()]

    def number(self, url: str) -> int:
        """The number a source is cited by."""
        return self._numbers[canonical(url)]

    def tried(self, url: str) -> bool:
        """Whether that page was asked for already, whatever came of it."""
        number = self._numbers.get(canonical(url))
        return (number is not None and self._sources[number].read) or any(gap["url"] == url for gap in self.not_reached)

    def _numbered(self, hit: Hit) -> int:
        key = canonical(hit.url)
        if key not in self._numbers:
            number = self._numbers[key] = len(self._sources) + 1
            text = hit.content or hit.snippet
            self._sources[number] = Evidence(hit, hit.url, hit.title or hit.url, text, read=False, number=number)
        return self._numbers[key]

    def _keep(self, url: str, page: Page) -> None:
        number = self._numbers.get(canonical(url)) or self._numbers.get(canonical(page.final_url))
        number = number or self._numbered(Hit(page.title or url, url, published_at=page.published_at))
        self._numbers.setdefault(canonical(url), number)
        self._numbers.setdefault(canonical(page.final_url), number)
        known = self._sources[number]
        entry = known if known.read else replace(known, url=page.final_url, title=page.title or known.title, text="", read=True)
        self._sources[number] = _with_text(entry, page.content)


def _with_text(entry: Evidence, text: str) -> Evidence:
    """The source with more of its page; what was read before is not said twice."""
    return entry if text in entry.text else replace(entry, text=f"{entry.text}\n\n{text}".strip())


def _page_told(page: Page) -> str:
    size = f"{page.fit['tokens']} tokens" if page.fit else f"{len(page.content)} characters"
    return f"{size} of {page.title or page.final_url}"
