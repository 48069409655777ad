"""The research agent: plan, search, read, until answered or out of bounds. It has the public tools and no others.

Without a model the plan is made by rules: the question, its clauses, its telling words, then what the best pages
brought up. Everything read is kept as evidence, and one cited, checked answer is made of it at the end, also when a bound
is hit: then the report says which.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

from cormorant.answer import Answer
from cormorant.answer.evidence import hole
from cormorant.document import Document
from cormorant.errors import BudgetSpent, CormorantError
from cormorant.events import Emit, Event, nowhere
from cormorant.search import Found, Hit, ranked
from cormorant.words import folded, terms, weight, words

PAGE_TOKENS = 8_000  # of one page at most
READ_PER_STEP = 3
COVERED = 0.85  # share of the question's telling words that the pages read must hold
SOURCES_ENOUGH = 3

Search = Callable[[str], Awaitable[Found]]
Read = Callable[[str, str, int], Awaitable[tuple[Document, int]]]  # address, question, budget -> the part read, tokens
Conclude = Callable[[Found, dict[str, Document]], Awaitable[Answer]]


@dataclass(frozen=True)
class Bounds:
    """Where a run stops, answered or not."""

    steps: int = 20
    searches: int = 8
    fetches: int = 20
    tokens: int = 60_000
    seconds: float = 300.0


@dataclass(frozen=True)
class Report:
    """What was found out. `stopped` names the bound that ended the search, or is None."""

    answer: str
    sources: tuple[dict[str, str], ...] = ()
    not_reached: tuple[dict[str, Any], ...] = ()
    stopped: str | None = None
    usage: dict[str, Any] = field(default_factory=dict)
    verdicts: tuple[dict[str, Any], ...] = ()
    response_id: str = ""
    notes: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        return {
            "answer": self.answer,
            "sources": list(self.sources),
            "not_reached": list(self.not_reached),
            "stopped": self.stopped,
            "usage": self.usage,
            "verdicts": list(self.verdicts),
            "response_id": self.response_id,
            "notes": list(self.notes),
        }

    def as_text(self) -> str:
        lines = [f"response_id: {self.response_id}"] if self.response_id else []
        lines += ["## Answer", "", self.answer, "", "## Sources", ""]
        lines += [f"{n}. {source['title'] or source['url']}\n   {source['url']}" for n, source in enumerate(self.sources, 1)] or ["(none)"]
        if self.not_reached:
            lines += ["", "## Not reached", ""]
            for gap in self.not_reached:
                lines.append(f"- {gap['url']}: {gap['code']}: {gap['reason']}" + (f" -- {gap['command']}" if gap["command"] else ""))
        lines += [f"\n[stopped by the limit of {self.stopped}]"] if self.stopped else []
        return "\n".join(lines)


@dataclass(frozen=True)
class Step(Event):
    """One step of the agent, by the names its clients know."""

    event: ClassVar[str] = "agent_step_started"
    number: int
    action: str
    detail: str

    @property
    def data(self) -> dict[str, Any]:
        return {"step": self.number, "action": self.action, "detail": self.detail}


@dataclass(frozen=True)
class StepDone(Step):
    event: ClassVar[str] = "agent_step_completed"


@dataclass(frozen=True)
class Started(Event):
    event: ClassVar[str] = "agent_processing_started"
    question: str

    @property
    def data(self) -> dict[str, Any]:
        return {"query": self.question}


@dataclass(frozen=True)
class Chunk(Event):
    event: ClassVar[str] = "response_chunk"
    text: str

    @property
    def data(self) -> dict[str, Any]:
        return {"content": self.text}


@dataclass(frozen=True)
class Complete(Event):
    event: ClassVar[str] = "agent_processing_complete"
    result: dict[str, Any]

    @property
    def data(self) -> dict[str, Any]:
        return self.result


@dataclass(frozen=True)
class Broke(Event):
    event: ClassVar[str] = "agent_processing_error"
    message: str
    code: str

    @property
    def data(self) -> dict[str, Any]:
        return {"message": self.message, "code": self.code}


class Stopped(Exception):
    """A bound was hit; its text is the bound's name."""


async def research(
    question: str,
    *,
    search: Search,
    read: Read,
    conclude: Conclude,
    bounds: Bounds | None = None,
    emit: Emit = nowhere,
    clock: Callable[[], float] = time.monotonic,
) -> Report:
    """Find out, with sources. `conclude` makes the cited answer of what was gathered. Raises: what `conclude` raises."""
    run = _Run(question, search, read, bounds or Bounds(), emit, clock)
    await emit(Started(question))
    try:
        try:
            await run.gather()
        except Stopped as bound:
            run.stopped = str(bound)
        made = await conclude(run.found(), run.pages)
        report = run.report(made)
    except CormorantError as error:
        await emit(Broke(error.message, error.code))
        raise
    await emit(Chunk(report.answer))
    await emit(Complete(report.as_dict()))
    return report


class _Run:
    """What one run has read so far, and what it has spent."""

    def __init__(self, question: str, search: Search, read: Read, bounds: Bounds, emit: Emit, clock: Callable[[], float]) -> None:
        self.question = question
        self.bounds = bounds
        self.stopped: str | None = None
        self.pages: dict[str, Document] = {}
        self.not_reached: list[dict[str, Any]] = []
        self._search, self._read, self._emit, self._clock = search, read, emit, clock
        self._hits: dict[str, Hit] = {}
        self._provider = ""
        self._tried: set[str] = set()
        self._spent = Counter({"steps": 0, "searches": 0, "fetches": 0, "tokens": 0})
        self._began = clock()

    async def gather(self) -> None:
        """Search and read by the plan until the pages hold what the question asks for. Raises: Stopped."""
        asked: set[str] = set()
        last_error: CormorantError | None = None
        async for query in self._plan():
            if folded(query) in asked:
                continue
            asked.add(folded(query))
            try:
                hits = await self._look(query)
            except CormorantError as error:
                last_error = error
                continue
            for hit in hits[:READ_PER_STEP]:
                await self._visit(hit)
            if self._answered():
                return
        if not self._hits and last_error is not None:
            raise last_error

    async def _plan(self) -> AsyncIterator[str]:
        """Queries from the plainest to the most far-fetched; the last ones come of what was read."""
        yield self.question
        clauses = [part.strip(" ,") for part in re.split(r"[?;]|\band\b|,(?=\s+(?:who|what|when|where|why|how)\b)", self.question)]
        for clause in clauses:
            if len(words(clause)) >= 3 and clause != self.question.rstrip("?"):
                yield clause
        telling = _telling(self.question)
        if telling:
            yield " ".join(telling)
        names = re.findall(r"\b[A-Z][\w'-]+(?:\s+[A-Z][\w'-]+)+", self.question[1:])
        for name in dict.fromkeys(names):
            yield name
        for extra in self._brought_up()[:3]:
            yield f"{' '.join(telling[:4])} {extra}"

    def _brought_up(self) -> list[str]:
        """Words that several pages read have in common and the question does not say."""
        known = {folded(word) for word in words(self.question)}
        seen: Counter[str] = Counter()
        for page in self.pages.values():
            seen.update({folded(word) for word in words(page.markdown) if len(word) > 4} - known)
        return [word for word, pages in seen.most_common(40) if pages > 1]

    async def _look(self, query: str) -> list[Hit]:
        self._count("searches")
        number = await self._begin("web_search", query)
        found = await self._search(query)
        self._provider = self._provider or found.provider
        fresh = [hit for hit in found.results if hit.url not in self._hits]
        for hit in fresh:
            self._hits[hit.url] = hit
        await self._emit(StepDone(number, "web_search", f"{len(found.results)} results, {len(fresh)} new"))
        return fresh

    async def _visit(self, hit: Hit) -> None:
        if hit.url in self._tried:
            return
        self._tried.add(hit.url)
        self._count("fetches")
        number = await self._begin("web_fetch", hit.url)
        budget = min(PAGE_TOKENS, self.bounds.tokens - self._spent["tokens"])
        if budget < 100:
            raise Stopped("tokens")
        try:
            page, tokens = await self._read(hit.url, self.question, budget)
        except BudgetSpent:
            raise Stopped("ledger") from None
        except CormorantError as error:
            self.not_reached.append(hole(hit.url, error))
            await self._emit(StepDone(number, "web_fetch", f"{error.code}: {error.message}"))
            return
        self._spent["tokens"] += tokens
        self.pages[hit.url] = page
        await self._emit(StepDone(number, "web_fetch", f"{tokens} tokens of {page.title or hit.url}"))

    async def _begin(self, action: str, detail: str) -> int:
        self._count("steps")
        if self._clock() - self._began > self.bounds.seconds:
            raise Stopped("seconds")
        await self._emit(Step(self._spent["steps"], action, detail))
        return self._spent["steps"]

    def _count(self, what: str) -> None:
        if self._spent[what] >= getattr(self.bounds, what):
            raise Stopped(what)
        self._spent[what] += 1

    def _answered(self) -> bool:
        """Whether enough pages hold the question's telling words."""
        wanted = set(terms(" ".join(_telling(self.question))))
        holding = [page for page in self.pages.values() if wanted and len(wanted & set(terms(page.markdown))) >= COVERED * len(wanted)]
        return len(holding) >= SOURCES_ENOUGH

    def found(self) -> Found:
        """Everything the searches brought, pages that were read first."""
        read = [hit for url, hit in self._hits.items() if url in self.pages]
        rest = [hit for url, hit in self._hits.items() if url not in self._tried]
        return Found(self.question, self._provider, ranked([*read, *rest[: max(0, 5 - len(read))]]))

    def report(self, made: Answer) -> Report:
        used = [entry for entry in made.sources if entry.number in made.sources_used]
        usage = {**self._spent, "seconds": round(self._clock() - self._began, 3)}
        return Report(
            answer=made.response,
            sources=tuple({"url": entry.url, "title": entry.title} for entry in used),
            not_reached=(*self.not_reached, *made.not_reached),
            stopped=self.stopped,
            usage=usage,
            verdicts=made.verdicts,
        )


def _telling(question: str) -> list[str]:
    """The words of a question that say what it is about, in their order."""
    return [word for word in words(question) if weight(folded(word)) == 1]
