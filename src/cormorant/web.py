"""`Web`: the one object a program needs: the tools, on top of a session.

Every method is a walk over the rooms below: gates see the call, the work is done, the result is stored, gates see what is
handed over. `BlockingWeb` is the same for code without an event loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cormorant.address import parse
from cormorant.changes import changes
from cormorant.citations import Style
from cormorant.document import Document
from cormorant.errors import CormorantError, InvalidArguments
from cormorant.events import Emit, Event, Updated, nowhere
from cormorant.fetching import Wanted, errors_of
from cormorant.find import find as find_in
from cormorant.fitting import Shape, fitted, fitted_data, fitted_stored, shares
from cormorant.gates import HandedOver, through
from cormorant.results import Item as Target
from cormorant.results import Page, Pages, Stored
from cormorant.search import Found, Hit, Query, Reply
from cormorant.session import Notes, Session
from cormorant.store.held import Held, Item, select
from cormorant.tape import PLAIN

if TYPE_CHECKING:  # what few calls need is imported by the call: a command that reads one page should start at once
    from cormorant import fields
    from cormorant.answer import Answer
    from cormorant.crawl import SiteMap
    from cormorant.library import Progress
    from cormorant.research import Definition, Report

TARGETS_MAX = 20
QUERIES_MAX = 10
OUTPUT_BYTES = 64_000  # of a page where the caller named no size at all


class Web(Session):
    """Search, fetch, read back and answer, under one policy.

    `settings` is a `Settings`, a mapping of its sections, None for the defaults, or `settings.follow()`, which takes in
    what the operator changes between two calls; `policy` overrides its egress lists.
    `session` is a folder that results go to. `resolve` answers names: async (host, port) -> addresses. `workspace` is a
    folder whose files may be read. `gates` see every call, request and result. `record` is a WARC file that everything
    which comes from outside is written to; with `replay` it comes from that file, and the network is left alone.
    """

    # -- search ------------------------------------------------------------------------------------------------------

    async def search(
        self,
        query: str | None = None,
        *,
        queries: Sequence[str] = (),
        count: int | None = None,
        page: int = 1,
        freshness: str = "none",
        language: str | None = None,
        safe_search: str | None = None,
        domains: Sequence[str] = (),
        provider: str = "auto",
        include_content: bool = False,
        notes: Notes = (),
    ) -> Found:
        """Find sources. Several `queries` run at once, and one that fails does not fail the others.

        Raises: InvalidArguments, NoProvider, ProviderError, ProviderMisconfigured, RateLimited, Vetoed.
        """
        asked = list(dict.fromkeys(text for text in ((query or "").strip(), *(q.strip() for q in queries)) if text))[:QUERIES_MAX]
        if not asked:
            raise InvalidArguments("a search needs a query", remedy='{"query": "what to look for"}')
        notes += await self._renewed()
        called = await self._called("web_search", query=asked[0], queries=asked, domains=list(domains), provider=provider)
        defaults = self.settings.search
        number = count if count is not None else defaults.count
        if not 1 <= number <= 20:
            notes = (*notes, f"count {number} is out of range, {min(max(number, 1), 20)} was used")
            number = min(max(number, 1), 20)
        made = [
            Query(
                text=text,
                count=number,
                page=max(page, 1),
                freshness=freshness,  # type: ignore[arg-type]
                language=language or defaults.language,
                safe_search=safe_search or defaults.safe_search,  # type: ignore[arg-type]
                domains=tuple(called["domains"]),
            )
            for text in called["queries"]
        ]
        for text in called["queries"]:
            self.fetcher.remember(text)
        with self._accounted():
            found = await self._find(made if len(made) > 1 else made[0], called["provider"])
            if include_content:
                found = replace(found, results=tuple(await asyncio.gather(*(self._with_page(hit) for hit in found.results))))
        found = await self._screened(replace(found, notes=(*found.notes, *notes)))
        held = Held("web_search", (Item(query=found.query, found=found),), arguments={"queries": called["queries"]})
        stored_as, warnings = await self._keep(held)
        return replace(found, response_id=stored_as, notes=(*found.notes, *warnings))

    async def _with_page(self, hit: Hit) -> Hit:
        try:
            item, _ = await self._read(hit.url, Wanted())
        except CormorantError as error:
            kind = "snippet_with_fetch_warning" if hit.snippet else "fetch_failed"
            return replace(hit, content_kind=kind, content=f"({error.code}: {error.message})")
        return replace(hit, content_kind="source_page", content=fitted(item, "", Shape(max_chars=self.settings.fetch.max_chars)).content)

    # -- fetch -------------------------------------------------------------------------------------------------------

    async def fetch(
        self,
        url: str | Sequence[str] | None = None,
        *,
        urls: Sequence[str] = (),
        output: str = "markdown",
        extract: str = "auto",
        view: str | None = None,
        section: str | None = None,
        query: str | None = None,
        budget: int | None = None,
        max_chars: int | None = None,
        max_bytes: int | None = None,
        offset: int = 0,
        prompt: str | None = None,
        links: bool = False,
        structured: bool = False,
        schema: Mapping[str, Any] | None = None,
        cite: str | None = None,
        refresh: bool = False,
        max_age: float | None = None,
        since: str | None = None,
        timeout: float | None = None,
        counter: str | None = None,
        emit: Emit = nowhere,
        notes: Notes = (),
    ) -> Page | Pages:
        """Read one address (a `Page`) or several (`Pages`, in the order asked; one that fails does not fail the others).

        Raises, for one address: InvalidArguments, Refused, Unreachable, NotContent, Unreadable, BudgetSpent.
        """
        several = not isinstance(url, str) and url is not None
        targets = [url] if isinstance(url, str) else list(url or ())
        targets = list(dict.fromkeys(target.strip() for target in (*targets, *urls) if target.strip()))
        if not targets:
            raise InvalidArguments("a fetch needs an address", remedy='{"url": "https://example.com/page"}')
        if len(targets) > TARGETS_MAX:
            raise InvalidArguments(f"{len(targets)} targets, at most {TARGETS_MAX} at once", remedy="fetch them in several calls")
        notes += await self._renewed()
        called = await self._called("web_fetch", urls=targets, budget=budget, query=query, section=section)
        budget, query, section = called["budget"], called["query"], called["section"]
        tree = _wanted(schema) if schema is not None else None
        wanted = Wanted("markdown" if tree else output, extract, max_bytes or 0, timeout or 0.0, refresh, max_age, images=tree is None)
        with self._accounted() as ledger:
            budget = self._within(ledger, budget)
            shape = self._shape(budget, view, section, query, max_chars, offset, counter)
            if len(called["urls"]) > 1 or several or urls:
                pages = await self._fetch_several(called["urls"], wanted, shape, prompt or "", emit, notes, tree, cite or "")
                ledger.spend(tokens=shape.count(pages.as_text()))
                return pages
            item, cached = await self._read(called["urls"][0], wanted)
            item = replace(item, url=called["urls"][0])  # another address may have brought it into the cache
            stored_as, warnings = await self._keep(Held("web_fetch", (replace(item, query=prompt or ""),), arguments=dict(called)))
            item = replace(item, warnings=(*item.warnings, *warnings, *notes))
            page = fitted(item, stored_as, shape, links=links, structured=structured)
            page = page.cited(cite) if cite else page
            page = fitted_data(page, await self._filled(tree, item), shape) if tree else page
            ledger.spend(tokens=shape.count(page.as_text()))
        page = replace(page, cached=cached, changes=await self._changed(item, since) if since else None)
        return await self._handed_page(page)

    def _shape(
        self,
        budget: int | None,
        view: str | None,
        section: str | None,
        query: str | None,
        max_chars: int | None,
        offset: int,
        counter: str | None,
    ) -> Shape:
        """What was asked for, with the operator's sizes where no size was named."""
        chars = max_chars or (None if budget else self.settings.fetch.max_chars)
        return Shape(budget, view, section, query, chars, offset, counter or "", None if budget or max_chars else OUTPUT_BYTES)

    async def _fetch_several(
        self,
        urls: Sequence[str],
        wanted: Wanted,
        shape: Shape,
        prompt: str,
        emit: Emit,
        notes: Notes,
        tree: fields.Wanted | None,
        cite: str,
    ) -> Pages:
        async def one(n: int, url: str) -> Item:
            item = await self._read_or_error(url, wanted)
            await emit(Updated({"url_index": n, "url": url, "ok": item.error is None, "output_key": "items"}))
            return item

        items = await asyncio.gather(*(one(n, url) for n, url in enumerate(urls)))
        held = Held("web_fetch", tuple(replace(item, query=prompt) for item in items), arguments={"urls": list(urls)})
        stored_as, warnings = await self._keep(held)
        targets = await self._targets(items, stored_as, shape, tree, cite)
        note = "; ".join((f"read more of one: web_get response_id={stored_as} url_index=N", *notes, *warnings))
        return Pages(stored_as, tuple(targets), note)

    async def _targets(
        self, items: Sequence[Item], stored_as: str, shape: Shape, tree: fields.Wanted | None = None, cite: str = ""
    ) -> list[Target]:
        """Several items as they are handed over, one budget over all."""
        targets = []
        for n, (item, own) in enumerate(zip(items, shares(shape, items), strict=True)):
            failed = item.failure()
            if failed is not None:
                targets.append(Target(n, item.url, error=failed))
                continue
            page = fitted(item, stored_as, own, url_index=n)
            page = page.cited(cite) if cite else page
            page = await self._handed_page(fitted_data(page, await self._filled(tree, item), own) if tree else page)
            targets.append(Target(n, item.url, page, tokens=page.fit["tokens"] if page.fit else 0))
        return targets

    async def _filled(self, tree: fields.Wanted, item: Item) -> fields.Filled:
        """The page by a schema; its text is read by the configured model, if there is one. Raises: NotConfigured."""
        from cormorant import fields
        from cormorant.models import LanguageModel

        how = self.settings
        model = LanguageModel(how, stream=self._backends.stream) if how.answer.model or how.models.get("default") else None
        return await fields.fill(tree, item.document or Document(url=item.final_url, markdown=item.text), model=model)

    async def _read_or_error(self, url: str, wanted: Wanted) -> Item:
        try:
            item, _ = await self._read(url, wanted)
        except CormorantError as error:
            return errors_of(url, error)
        return replace(item, url=url)

    async def _changed(self, item: Item, since: str) -> dict[str, Any]:
        before = select(await self.store.get(since), url=item.final_url if item.final_url != item.url else None).item
        return changes(before.body, item.body).as_dict()

    # -- get ---------------------------------------------------------------------------------------------------------

    async def get(
        self,
        response_id: str,
        *,
        url: str | None = None,
        url_index: int | None = None,
        query: str | None = None,
        query_index: int | None = None,
        view: str | None = None,
        section: str | None = None,
        find: str | Sequence[str] = (),
        budget: int | None = None,
        max_chars: int | None = None,
        offset: int = 0,
        counter: str | None = None,
        notes: Notes = (),
    ) -> Stored:
        """Read more of a stored result, without the network. Selectors are exact: url, url_index, query, query_index.

        Raises: InvalidArguments, UnknownResponse, UnknownSelector.
        """
        notes += await self._renewed()
        response_id = (await self._called("web_get", response_id=response_id))["response_id"]
        held = await self.store.get(response_id)
        picked = select(held, url=url, url_index=url_index, query=query, query_index=query_index)
        needles = [find] if isinstance(find, str) else list(find)
        if picked.item.failure() is not None:
            raise picked.item.failure() or InvalidArguments("failed")
        if needles:
            matches = find_in(picked.item.body, needles, start=offset).as_dict()
            shown = "\n".join(f"line {match['line']}: {match['context']}" for match in matches["matches"])
            stored = self._stored(held, picked.item, picked.url_index, shown or "(no matches)", matches=matches)
        elif picked.item.found is not None and picked.hit is None:
            stored = self._stored(held, picked.item, None, picked.item.found.as_text())
        else:
            shape = self._shape(budget, view, section, None, max_chars, offset, counter)
            stored = fitted_stored(picked.item, held.kind, response_id, shape, url_index=picked.url_index)
        gated = await through(self.gates, HandedOver("web_get", stored.content))
        said = stored.metadata | ({"notes": list(notes)} if notes else {})
        same = gated.text == stored.content  # matches repeat the text, and go when a gate has changed it
        return replace(stored, content=gated.text, matches=stored.matches if same else None, metadata=said)

    def _stored(self, held: Held, item: Item, index: int | None, content: str, *, matches: dict[str, Any] | None = None) -> Stored:
        return Stored(
            response_id=held.response_id,
            kind=held.kind,
            content=content,
            url_index=index,
            url=item.final_url or item.url,
            title=item.shown_title,
            query=item.query or None,
            metadata=item.metadata(),
            matches=matches,
        )

    # -- answer ------------------------------------------------------------------------------------------------------

    async def answer(
        self,
        query: str,
        *,
        freshness: str = "none",
        domains: Sequence[str] = (),
        scrape: str | None = None,
        budget: int | None = None,
        style: Style = "web_citation",
        emit: Emit = nowhere,
        notes: Notes = (),
    ) -> Answer:
        """Answer a question with citations that were checked against their pages.

        A page that can't be read is in `not_reached`, never an error of the whole. Raises: InvalidArguments, NoProvider,
        ProviderError, BudgetSpent, Vetoed.
        """
        from cormorant.answer import Options, answer

        question = query.strip()
        if not question:
            raise InvalidArguments("an answer needs a question", remedy='{"query": "what to find out"}')
        notes += await self._renewed()
        called = await self._called("web_answer", query=question, domains=list(domains), freshness=freshness)
        self.fetcher.remember(question)
        how = self.settings.answer
        options = Options(
            keep=how.keep,
            scrape=scrape or how.scrape,  # type: ignore[arg-type]
            budget=budget or how.budget,
            unsupported=how.unsupported,
            include_reflection=how.include_reflection,
            style=style,
            concurrency=self.settings.fetch.concurrency,
        )

        async def finish(made: Answer) -> Answer:
            gated = await through(self.gates, HandedOver("web_answer", made.response))

            async def account() -> dict[str, Any]:
                return {"ledger": ledger.as_dict(), "execution_id": made.execution_id}

            told = await self._tape.fact("account", dict(called), account, PLAIN)
            made = replace(made.shown_as(gated.text), notes=(*made.notes, *notes), **told)
            item = Item(query=question, text=made.as_text(), title=question)
            stored_as, warnings = await self._keep(Held("web_answer", (item,), arguments=dict(called), result=made.as_dict()))
            return replace(made, response_id=stored_as, warnings=(*made.warnings, *warnings))

        with self._accounted() as ledger:
            return await answer(
                called["query"],
                search=self._search_for_answer,
                read=self._read_for_answer,
                reranker=self._reranker(),
                writer=self._writer(self.settings.answer.writer),
                judge=self._judge(),
                emit=emit,
                query=Query(called["query"], count=10, freshness=called["freshness"], domains=tuple(called["domains"])),
                allowed=self._refusal,
                options=options,
                finish=finish,
            )

    def stream_answer(self, query: str, **options: Any) -> AsyncGenerator[Event, None]:
        """`answer`, event by event (`event.event`, `event.data`): the last is `tool_end` or `error`, and there is one."""
        return self._streamed(lambda emit: self.answer(query, emit=emit, **options))

    async def recheck(self, answer: Mapping[str, Any]) -> list[dict[str, Any]]:
        """What the sources of a `web_answer` result say today, one row per citation (see drift.py). Raises: InvalidArguments."""
        from cormorant.drift import recheck

        async def fresh(url: str, _: int) -> Document:
            item, _cached = await self._read(url, Wanted(refresh=True))
            assert item.document is not None
            return item.document

        with self._accounted():
            return await recheck(answer, read=fresh)

    # -- research ------------------------------------------------------------------------------------------------------

    async def research(
        self,
        question: str,
        *,
        agent: Definition | str | Path | None = None,
        emit: Emit = nowhere,
        notes: Notes = (),
        **bounds: float,
    ) -> Report:
        """Find out, with sources: search and read in steps until answered, then one cited, checked answer.

        A configured model plans and writes; without one rules plan, and the answer is quoted. `agent` is an agent file (see
        research/definition.py). `bounds` narrow the run: steps, searches, fetches, tokens, seconds; one that is hit is named
        in `stopped`, and the answer is what was found until then. Raises: InvalidArguments, NotConfigured, NoProvider,
        ProviderError, Vetoed.
        """
        from cormorant.answer import Options
        from cormorant.research import Definition, read_definition, research

        question = question.strip()
        if not question:
            raise InvalidArguments("research needs a question", remedy='web.research("what to find out")')
        read = agent if isinstance(agent, Definition) else read_definition(agent) if agent else Definition()
        who = read.within(bounds)
        notes += await self._renewed()
        called = await self._called("research", query=question)
        self.fetcher.remember(question)
        how = self.settings.answer

        async def finish(report: Report) -> Report:
            gated = await through(self.gates, HandedOver("research", report.answer))

            async def usage() -> dict[str, Any]:
                return {**report.usage, "ledger": ledger.as_dict()}

            told = await self._tape.fact("account", {"research": question}, usage, PLAIN)
            report = replace(report, answer=gated.text, notes=(*report.notes, *notes), usage=told)
            item = Item(query=question, text=report.as_text(), title=question)
            stored_as, warnings = await self._keep(Held("research", (item,), arguments={"query": question}, result=report.as_dict()))
            return replace(report, response_id=stored_as, notes=(*report.notes, *warnings))

        with self._accounted() as ledger:
            return await research(
                called["query"],
                who,
                tools=self,
                agent=self._agent(who),
                reranker=self._reranker(),
                quote=self._writer("quote" if how.writer in ("auto", "llm") else how.writer),
                judge=self._judge(),
                options=Options(keep=how.keep, budget=how.budget, unsupported=how.unsupported),
                emit=emit,
                finish=finish,
            )

    def stream_research(self, question: str, **options: Any) -> AsyncGenerator[Event, None]:
        """`research`, event by event: the last is `agent_processing_complete` or `agent_processing_error`, and there is one."""
        return self._streamed(lambda emit: self.research(question, emit=emit, **options))

    async def _search_for_answer(self, query: Query) -> Found:
        return await self._screened(await self._find(query))

    async def _read_for_answer(self, url: str, budget: int) -> Document:
        item, _ = await self._read(url, Wanted())
        assert item.document is not None
        return item.document

    # -- a whole site --------------------------------------------------------------------------------------------------

    async def map(self, url: str, *, search: str = "", limit: int = 10_000, emit: Emit = nowhere, notes: Notes = ()) -> SiteMap:
        """The pages of a site, from its sitemaps and the links of the page at `url`; `search` keeps those with these words.

        Raises: InvalidArguments, Refused, Unreachable, NotContent: what the page itself raises when no sitemap is there.
        """
        from cormorant.crawl import site_map

        notes += await self._renewed()
        called = await self._called("web_map", url=url)
        start = self.policy.check_url(parse(called["url"]))

        async def raw(href: str) -> Reply:
            return await self._backends.page("GET", href)

        async def read(href: str) -> Item:
            return (await self._read(href, Wanted()))[0]

        async def told(href: str, count: int) -> None:
            await emit(Updated({"url": href, "count": count, "output_key": "links"}))

        with self._accounted():
            sitemaps = (await self.fetcher.robots.rules(start)).sitemaps
            found = await site_map(start, sitemaps=sitemaps, raw=raw, read=read, search=search, limit=limit, told=told)
        for link in found.links:
            self.fetcher.remember(link["url"])
        return replace(found, notes=notes)

    async def crawl(
        self,
        url: str,
        *,
        pages: int = 20,
        depth: int = 2,
        seconds: float = 60.0,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        budget: int | None = None,
        emit: Emit = nowhere,
        notes: Notes = (),
    ) -> Pages:
        """Read a page and those it leads to on its site; all stand under one `response_id`, for `get`.

        With a `budget` their texts share it; without one the result lists the pages. `include` and `exclude` are patterns
        of paths (`/docs/*`). Raises: InvalidArguments, Refused, Unreachable, NotContent: what the page at `url` raises.
        """
        from cormorant.crawl import Reach, crawl

        notes += await self._renewed()
        called = await self._called("web_crawl", url=url)
        start = self.policy.check_url(parse(called["url"]))

        async def read(href: str) -> Item:
            return replace((await self._read(href, Wanted()))[0], url=href)

        async def came(n: int, item: Item) -> None:
            await emit(Updated({"url_index": n, "url": item.url, "ok": item.error is None, "output_key": "items"}))

        with self._accounted() as ledger:
            reach = Reach(pages, depth, seconds, tuple(include), tuple(exclude))
            items, left, bound = await crawl(start, reach, read=read, came=came)
            stored_as, warnings = await self._keep(Held("web_fetch", tuple(items), arguments=dict(called)))
            targets = await self._targets(items, stored_as, Shape(self._within(ledger, budget) if budget else None))
        if not budget:
            targets = [replace(one, page=replace(one.page, content="")) if one.page else one for one in targets]
        more = (f"{left} more pages are known, {bound} ended the crawl",) if left else ()
        note = "; ".join((f"read one: web_get response_id={stored_as} url_index=N", *more, *notes, *warnings))
        return Pages(stored_as, tuple(targets), note)

    # -- the library, and what this install can do ---------------------------------------------------------------------

    async def index(
        self, source: str, *, collection: str = "default", depth: int = 0, pages: int = 10_000
    ) -> AsyncGenerator[Progress, None]:
        """Add a folder, file, page, sitemap, feed or llms.txt to the library; yields progress. Raises: InvalidArguments."""
        from cormorant.library import Limits, gather

        limits = Limits(depth=depth, pages=pages)
        async for progress in gather(self.library, source, fetch=self._backends.page, collection=collection, limits=limits):
            yield progress


def _wanted(schema: Mapping[str, Any]) -> fields.Wanted:
    from cormorant import fields

    return fields.wanted(schema)
