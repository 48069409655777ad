"""A question to a cited, checked answer: search, read, rank, write, verify, five functions in a row.

What touches the world is handed in (`search`, `read`, the reranker, the writer), so this room knows nothing of networks,
stores or models. Each stage has a deadline. A page that can't be read becomes an entry of `not_reached`, and its snippet
stands in for it, marked. Only what was read can be cited, and every cited sentence is held against its source.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol, TypeVar
from uuid import uuid4

import anyio
from anyio.to_thread import run_sync as in_thread  # cutting and checking long pages must not hold up other answers

from cormorant import citations
from cormorant.answer.evidence import Evidence, evidence_of, fused, hole, to_rank, with_passages
from cormorant.answer.mending import mended
from cormorant.answer.standing import Standing, known, marked, standings
from cormorant.citations import Markers, Source, Style
from cormorant.document import Document
from cormorant.errors import CormorantError, EmptyPage, Timeout
from cormorant.events import (
    GENERATION,
    RERANKING,
    SCRAPING_URLS,
    WEB_SEARCH,
    Emit,
    Event,
    Failed,
    Finished,
    PhaseCompleted,
    PhaseStarted,
    TextAdded,
    Updated,
    nowhere,
)
from cormorant.judges import Judge, second_opinion
from cormorant.passages import Ranked
from cormorant.search import Found, Hit, Query
from cormorant.verify import Verdict, verify
from cormorant.writers import Reflection as Reflection

NO_RESULTS = "The search found nothing for this question, so there is no answer."
NO_EVIDENCE = "None of the results could be read, and none came with a text of its own, so there is no answer."
NO_ANSWER = "The sources that were read do not answer this question."

Search = Callable[[Query], Awaitable[Found]]
T = TypeVar("T")
Read = Callable[[str, int], Awaitable[Document]]


class Reranker(Protocol):
    """Scores texts against a question: 0..1, higher is better. `label` is shown as `kind::model`.

    One with a true `sees` is also given `pictures`, an address per text, empty where its page has none.
    """

    label: str

    async def score(self, question: str, texts: list[str]) -> list[float]: ...


class Writer(Protocol):
    """Writes an answer from sources and cites them as `<source_N>`. `label` is shown as `model`.

    One that can't be told how to cite has `spelling = "any"`: then `[1]` and its kin are read as citations too. One that has
    `async rewrite(sentence, passages) -> str` is asked to mend what its sources do not support.
    """

    label: str

    def write(self, question: str, sources: Sequence[Source]) -> AsyncIterator[str | Event]: ...


@dataclass(frozen=True)
class Options:
    """How one answer is made; the defaults are those of the settings."""

    keep: int = 5
    scrape: Literal["auto", "on", "off"] = "auto"
    budget: int = 8_000  # tokens of evidence the writer sees
    counter: str = "o200k_base"
    unsupported: Literal["mark", "drop", "rewrite"] = "mark"
    include_reflection: bool = False
    style: Style = "web_citation"
    concurrency: int = 8
    search_s: float = 30.0
    read_s: float = 45.0
    rank_s: float = 30.0
    write_s: float = 180.0
    judge_s: float = 60.0
    mend_s: float = 60.0
    page_budget: int = 50_000  # tokens of one page that reading may bring


@dataclass(frozen=True)
class Answer:
    """A cited, checked answer. `as_dict()` is the result of `web_answer`.

    `text` is what was streamed, markers and all; `checked` the same with what the check made of it, which `response` and
    `cited` show.
    """

    query: str
    response: str
    text: str = ""
    checked: str = ""
    style: Style = "web_citation"
    sources: tuple[Evidence, ...] = ()
    sources_used: tuple[int, ...] = ()
    standings: tuple[Standing, ...] = ()
    not_reached: tuple[dict[str, Any], ...] = ()
    model: str = ""
    reranker: str = ""
    judge: str = ""
    total_results: int = 0
    execution_id: str = ""
    reflection: str | None = None
    response_id: str = ""
    ledger: Mapping[str, Any] = field(default_factory=dict)
    provider: str = ""
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()  # which stage was skipped, and why

    @property
    def reranked_results(self) -> int:
        return len(self.sources)

    @property
    def verdicts(self) -> tuple[dict[str, Any], ...]:
        """One entry per cited claim and source, in the order of the text."""
        urls = {entry.number: entry.url for entry in self.sources}
        return tuple(
            {
                "claim": standing.claim.text,
                "source": number,
                "verdict": verdict.verdict,
                "score": round(verdict.score, 4),
                "span": list(verdict.span) if verdict.span else None,
                "quote": verdict.quote,
                "reason": verdict.reason,
                "link": citations.fragment_link(urls[number], verdict.quote),
            }
            | ({"judged": verdict.judged} if verdict.judged else {})
            for standing in self.standings
            for number, verdict in standing.verdicts
        )

    def cited(self, style: Style) -> str:
        """The checked text with its citations in another style: footnotes, links, plain numbers or none."""
        return citations.linked(self.checked, [entry.source for entry in self.sources], style)

    def shown_as(self, response: str) -> Answer:
        """The answer with another response, as a gate hands it over: every style shows that."""
        return (
            self
            if response == self.response
            else replace(self, response=response, checked=citations.unlinked(response), style="web_citation")
        )

    def as_dict(self) -> dict[str, Any]:
        """The JSON shape of `web_answer`."""
        return {
            "query": self.query,
            "response": self.response,
            "sources": [entry.as_dict(used=entry.number in self.sources_used) for entry in self.sources],
            "sources_used": list(self.sources_used),
            "verdicts": list(self.verdicts),
            "not_reached": list(self.not_reached),
            "model": self.model,
            "reranker": self.reranker,
            "judge": self.judge or None,
            "total_results": self.total_results,
            "reranked_results": self.reranked_results,
            "execution_id": self.execution_id,
            "reflection": self.reflection,
            "response_id": self.response_id,
            "ledger": dict(self.ledger),
            "provider": self.provider,
            "warnings": list(self.warnings),
            "notes": list(self.notes),
        }

    def as_text(self) -> str:
        """Answer, Sources (each with its quoted spans and verdicts) and Not reached, for a person or a model."""
        lines = [f"response_id: {self.response_id}"] if self.response_id else []
        style: Style = "plain" if self.style == "web_citation" else self.style
        lines += ["## Answer", "", self.cited(style).strip(), "", "## Sources", ""]
        shown = [entry for entry in self.sources if entry.number in self.sources_used] or list(self.sources)
        for entry in shown:
            lines.append(f"[{entry.number}] {entry.title or entry.url}")
            lines.append(f"    {entry.url}{'' if entry.read else ' (snippet only)'}")
            for verdict in self.verdicts:
                if verdict["source"] == entry.number:
                    quote = " ".join(str(verdict["quote"]).split())
                    lines.append(f'    {verdict["verdict"]}: "{quote}"' if quote else f"    {verdict['verdict']}: {verdict['claim']}")
        lines += [] if shown else ["(none)"]
        lines += ["", "## Not reached", ""]
        for gap in self.not_reached:
            lines.append(f"- {gap['url']}: {gap['code']}: {gap['reason']}" + (f" -- {gap['command']}" if gap["command"] else ""))
        lines += [] if self.not_reached else ["(nothing)"]
        lines += [f"[{note}]" for note in (*self.notes, *self.warnings)]
        return "\n".join(lines)


Finish = Callable[[Answer], Awaitable[Answer]]


async def as_it_is(made: Answer) -> Answer:
    """The `Finish` of a caller who adds nothing."""
    return made


async def answer(
    question: str,
    *,
    search: Search,
    read: Read | None,
    reranker: Reranker,
    writer: Writer,
    judge: Judge | None = None,
    emit: Emit = nowhere,
    query: Query | None = None,
    allowed: Callable[[str], CormorantError | None] = lambda url: None,
    options: Options | None = None,
    finish: Finish = as_it_is,
) -> Answer:
    """Search, read, rank, write and verify; every step is told to `emit`, ending in exactly one `Finished` or `Failed`.

    `query` says how to search where that is more than the question. `allowed` names the refusal of an address that need not
    be tried (`scrape` "auto"). `finish` sees the answer before it is handed over (to store it, to add the ledger). Raises:
    the error that ended it, after telling `emit`; a single page that can't be read never does.
    """
    how = options or Options()
    run = _Run(question, emit, how)
    run.judge = judge
    try:
        found = await run.search(search, query or Query(question))
        pages = await run.read(read, found.results, allowed)
        kept = await run.rank(reranker, evidence_of(found.results, pages))
        text = await run.write(writer, kept, searched=bool(found.results))
        checked = await run.verify(text, kept, writer)
        made = await finish(run.finished(checked, kept, found, writer, reranker.label))
    except CormorantError as error:
        await emit(Failed(error.message, error.code))
        raise
    await emit(Finished(made.as_dict()))
    return made


async def verified(question: str, text: str, kept: Sequence[Evidence], *, writer: Writer, judge: Judge | None, options: Options) -> Answer:
    """A text that was written elsewhere as an answer: its claims are held against `kept` as those of any answer are."""
    run = _Run(question, nowhere, options)
    run.judge = judge
    return run.finished(await run.verify(text, kept, writer), kept, Found(question, "", ()), writer, "")


class _Run:
    """One answer in the making: what its stages leave for the result besides what they return."""

    def __init__(self, question: str, emit: Emit, options: Options) -> None:
        self.question = question
        self.emit = emit
        self.options = options
        self.not_reached: list[dict[str, Any]] = []
        self.warnings: list[str] = []
        self.notes: list[str] = []
        self.reflection = ""
        self.text = ""
        self.standings: list[Standing] = []
        self.judge: Judge | None = None

    async def search(self, search: Search, query: Query) -> Found:
        await self.emit(PhaseStarted(WEB_SEARCH, {"query": query.text}))
        found = await _within(self.options.search_s, "the search", search(query))
        shown = [
            {"rank": n, "title": h.title, "url": h.url, "snippet": h.snippet, "engine": h.engine, "score": h.score}
            for n, h in enumerate(found.results, 1)
        ]
        data = {"data": {"results_count": len(shown), "sources": shown}, "output_key": "sources"}
        await self.emit(PhaseCompleted(WEB_SEARCH, data))
        return found

    async def read(self, read: Read | None, hits: Sequence[Hit], allowed: Callable[[str], CormorantError | None]) -> dict[str, Document]:
        if read is None or self.options.scrape == "off":
            if hits:
                self.notes.append("pages were not read: scrape is off")
            return {}
        wanted = list(dict.fromkeys(hit.url for hit in hits))
        if self.options.scrape == "auto":
            wanted = [url for url in wanted if self._may_try(url, allowed(url))]
        if not wanted:
            return {}
        await self.emit(PhaseStarted(SCRAPING_URLS, {"data": {"url_count": len(wanted)}}))
        pages = await self._pages(read, wanted)
        await self.emit(PhaseCompleted(SCRAPING_URLS, {"data": {"scraped_count": len(pages)}}))
        return pages

    def _may_try(self, url: str, refusal: CormorantError | None) -> bool:
        if refusal is not None:
            self.not_reached.append(hole(url, refusal))
        return refusal is None

    async def _pages(self, read: Read, urls: Sequence[str]) -> dict[str, Document]:
        """Each page that can be read before the deadline; the others go to `not_reached`, in the order of the hits."""
        pages: dict[str, Document] = {}
        missed: dict[str, CormorantError] = {}
        slots = anyio.Semaphore(self.options.concurrency)

        async def one(url: str) -> None:
            async with slots:
                try:
                    page = await read(url, self.options.page_budget)
                    if not page.markdown.strip():
                        raise EmptyPage("the page has no text", url=url)
                    pages[url] = page
                except CormorantError as error:
                    missed[url] = error

        with anyio.move_on_after(self.options.read_s):
            async with anyio.create_task_group() as tasks:
                for url in urls:
                    tasks.start_soon(one, url)
        late = Timeout(f"the page was not read within {self.options.read_s:g} s", remedy="raise the deadline, or ask again")
        self.not_reached += [hole(url, missed.get(url, late)) for url in urls if url not in pages]
        return {url: pages[url] for url in urls if url in pages}

    async def rank(self, reranker: Reranker, evidence: Sequence[Evidence]) -> list[Evidence]:
        if not evidence:
            return []
        await self.emit(PhaseStarted(RERANKING))
        ranked = await in_thread(lambda: {entry.url: Ranked(entry.text, self.question) for entry in evidence})
        texts = await in_thread(lambda: [to_rank(entry, ranked[entry.url], self.options.counter) for entry in evidence])
        scores: list[float] | None = None
        try:
            seen = {"pictures": [entry.picture for entry in evidence]} if getattr(reranker, "sees", False) else {}
            scores = await _within(self.options.rank_s, "the reranker", reranker.score(self.question, texts, **seen))
        except CormorantError as error:
            self.notes.append(f"reranking was skipped, the engine's order stands: {error.message}")
        kept = fused(evidence, scores, keep=self.options.keep)
        await self.emit(PhaseCompleted(RERANKING, {"data": {"reranked_count": len(evidence)}}))
        await self.emit(Updated({"reranked_results": len(kept), "output_key": "reranked_results"}))
        await self.emit(Updated({"sources": [entry.short(used=False) for entry in kept], "output_key": "sources"}))
        return await in_thread(lambda: with_passages(kept, ranked, budget=self.options.budget, counter=self.options.counter))

    async def write(self, writer: Writer, kept: Sequence[Evidence], *, searched: bool) -> str:
        """The answer as it was streamed. Without evidence nobody writes: the answer says so."""
        if not kept:
            said = NO_EVIDENCE if searched else NO_RESULTS
            await self.emit(TextAdded(said))
            return said
        await self.emit(PhaseStarted(GENERATION))
        sources = [entry.source for entry in kept]
        markers = Markers(sources, spelling=getattr(writer, "spelling", "tags"))
        sent: list[str] = []
        with anyio.move_on_after(self.options.write_s) as deadline:
            async for piece in writer.write(self.question, sources):
                await self._piece(piece, markers, sent)
        if deadline.cancelled_caught:
            late = f"the writer did not finish within {self.options.write_s:g} s"
            if not sent:
                raise Timeout(late, remedy="raise the writer's deadline, or use a faster model")
            self.notes.append(f"{late}; the answer stops where it was")
        await self._send(markers.flush(), sent)
        if not "".join(sent).strip():
            await self._send(NO_ANSWER, sent)
        self.warnings += markers.warnings
        await self.emit(PhaseCompleted(GENERATION))
        return "".join(sent)

    async def _piece(self, piece: str | Event, markers: Markers, sent: list[str]) -> None:
        if isinstance(piece, Event):
            await self.emit(piece)
        elif isinstance(piece, Reflection):
            self.reflection += piece
        else:
            await self._send(markers.feed(piece), sent)

    async def _send(self, text: str, sent: list[str]) -> None:
        if text:
            sent.append(text)
            await self.emit(TextAdded(text))

    async def verify(self, text: str, kept: Sequence[Evidence], writer: Writer) -> str:
        """The text with every cited claim held against its sources, and what falls marked, dropped or rewritten."""
        pages = {entry.number: entry.text for entry in kept}
        self.text = text
        self.standings = await self._judged(await in_thread(lambda: standings(text, pages)), pages)
        how = self.options.unsupported
        if how != "rewrite":
            return marked(text, self.standings, how) or NO_ANSWER  # when nothing was left to say
        checked = await self._mended(text, pages, getattr(writer, "rewrite", None))
        told = {(s.claim.text, n): verdict for s in self.standings for n, verdict in s.verdicts}
        self.standings = known(await in_thread(lambda: standings(checked, pages)), told)
        return checked or NO_ANSWER

    async def _judged(self, found: list[Standing], pages: Mapping[int, str]) -> list[Standing]:
        """The standings with a second opinion where a judge is set; a judge in trouble is a note."""
        rows = [(standing.claim.text, number, verdict) for standing in found for number, verdict in standing.verdicts]
        settled = await self._second(self.judge, [verdict for _, _, verdict in rows], [pages[n] for n in sorted(pages)])
        told = {(claim, number): verdict for (claim, number, _), verdict in zip(rows, settled, strict=True)}
        return known(found, told)

    async def _second(self, judge: Judge | None, verdicts: list[Verdict], sources: Sequence[str]) -> list[Verdict]:
        if judge is None or not verdicts:
            return verdicts
        try:
            return await _within(self.options.judge_s, "the judge", second_opinion(judge, verdicts, sources))
        except CormorantError as error:
            self.notes.append(f"judging was skipped, the rules' verdicts stand: {error.message}")
            self.judge = None
            return verdicts

    async def _mended(self, text: str, pages: Mapping[int, str], rewrite: Callable[[str, str], Awaitable[str]] | None) -> str:
        numbers = sorted(pages)

        async def check(said: str, number: int) -> Verdict:
            verdicts = await in_thread(lambda: verify([(said, numbers.index(number))], [pages[n] for n in numbers]))
            return (await self._second(self.judge, verdicts, [pages[n] for n in numbers]))[0]

        try:
            work = mended(text, self.standings, pages, check=check, rewrite=rewrite, warnings=self.warnings)
            made = await _within(self.options.mend_s, "rewriting", work)
        except CormorantError as error:
            self.notes.append(f"no sentence was rewritten by the model: {error.message}")
            made = await mended(text, self.standings, pages, check=check, rewrite=None, warnings=self.warnings)
        self.notes += made.notes
        return made.text

    def finished(self, checked: str, kept: Sequence[Evidence], found: Found, writer: Writer, reranker: str) -> Answer:
        """The finished answer, its citations in their final form."""
        response = citations.linked(checked, [entry.source for entry in kept], self.options.style)
        if self.options.include_reflection and self.reflection:
            response = f"{self.reflection.strip()}\n\n{response}"
        return Answer(
            query=self.question,
            response=response,
            text=self.text,
            checked=checked,
            style=self.options.style,
            sources=tuple(kept),
            sources_used=tuple(citations.cited(checked)),
            standings=tuple(self.standings),
            not_reached=tuple(self.not_reached),
            model=writer.label,
            reranker=reranker,
            judge=self.judge.label if self.judge else "",
            total_results=len(found.results),
            execution_id=f"call_{uuid4().hex}",
            reflection=self.reflection.strip() or None,
            response_id="",
            provider=found.provider,
            warnings=tuple(self.warnings),
            notes=tuple(self.notes),
        )


async def _within(seconds: float, what: str, work: Awaitable[T]) -> T:
    with anyio.move_on_after(seconds):
        return await work
    raise Timeout(f"{what} did not finish within {seconds:g} s", remedy="raise the deadline, or ask again")
