"""What every call of a session stands on: the policy, the fetcher, the store, the tape, the gates, the ledger, the parts.

`Web` is this with the tools on top. The parts that cost time to make are made when they are first asked for.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from cormorant import settings as settings_room
from cormorant import sse
from cormorant.backends import Backends
from cormorant.document import Picture
from cormorant.errors import CormorantError, Refused
from cormorant.events import Emit, Event
from cormorant.fetching import Fetcher, Wanted
from cormorant.gates import Called, Gate, HandedOver, through
from cormorant.ledger import Ledger
from cormorant.parts import part
from cormorant.policy import Check, Policy
from cormorant.results import Page
from cormorant.search import Found, Query
from cormorant.settings import Follower, Settings, at_once
from cormorant.store import Store, open_store
from cormorant.store.held import Held, Item, new_id
from cormorant.tape import FOUND, ITEM, PLAIN, open_tape

if TYPE_CHECKING:
    from cormorant.choice import Finder
    from cormorant.library import Library
    from cormorant.research import Agent, Definition

QUEUED_EVENTS = 64  # a slow reader of a stream slows the work instead of filling memory
LEAST_TOKENS = 64  # a header with its id and a word of the page
PROBE_S, PROBE_BYTES = 5.0, 10_000
Notes = tuple[str, ...]


class Session:
    """One run under one policy. `Web` says what it takes."""

    def __init__(
        self,
        settings: Settings | Mapping[str, Any] | Follower | None = None,
        *,
        policy: Policy | None = None,
        session: str | Path | None = None,
        gates: Sequence[Gate] = (),
        resolve: Callable[[str, int], Any] | None = None,
        record: str | Path | None = None,
        replay: str | Path | None = None,
        workspace: str | Path | None = None,
        store: Store | None = None,
    ) -> None:
        self._followed = settings if isinstance(settings, Follower) else None
        self.settings = settings.settings if isinstance(settings, Follower) else settings_room.of(settings)
        self._own_policy = policy
        self.policy = policy or _policy_of(self.settings)
        self.gates = tuple(gates)
        self.ledger = Ledger(self.settings.limits)
        self.store = store or open_store(self.settings.store, session)
        folder = Path(workspace) if workspace else None
        self._tape = open_tape(record, replay, lambda text: self.fetcher.guard.redact(text))
        self.fetcher = Fetcher(
            self.settings, self.policy, self.ledger, gates=self.gates, resolve=resolve, workspace=folder, tape=self._tape
        )
        self._backends = Backends(self.fetcher)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Ends the session: connections close, this session's page cache goes, stored results stay."""
        await self.fetcher.aclose()
        await self.store.aclose()
        self._tape.close()
        if "library" in self.__dict__:
            await asyncio.to_thread(self.library.close)

    # -- what the operator changes meanwhile -------------------------------------------------------------------------

    def renew(self, settings: Settings) -> Notes:
        """Follow other settings from the next request on; results, caches, the ledger and who rests stay as they are.

        Returns the names of the settings that wait for the next start. Raises: InvalidArguments, NotConfigured, and then
        nothing has changed.
        """
        found, waiting = at_once(self.settings, settings)
        policy = self._own_policy or _policy_of(found)
        self.fetcher.renew(found, policy)
        self.settings, self.policy, self.ledger.limits = found, policy, found.limits
        if "finder" in self.__dict__:
            self.finder.renew(found)
        return waiting

    def _look(self) -> None:
        if self._followed:
            self._followed.look(self.renew)

    async def _renewed(self) -> Notes:
        """Takes in what the operator has changed since the last call; returns what the result has to say of that."""
        if self._followed is None:
            return ()
        if pause_s := self._followed.pause_s():
            await asyncio.sleep(pause_s)
        self._look()
        return self._followed.notes()

    # -- what this install can do ------------------------------------------------------------------------------------

    def offers(self, tool: str) -> bool:
        """Whether this install offers a tool: search and answer go when search is disabled."""
        self._look()
        return tool not in ("web_search", "web_answer", "research") or not self.settings.search.disabled

    async def probe(self) -> dict[str, Any]:
        """`capabilities`, after each ready search backend was asked one small question and the network was tried."""
        from cormorant.capabilities import reached

        async def asked(url: str) -> None:
            await self.fetcher.transport.get(url, timeout_s=PROBE_S, max_bytes=PROBE_BYTES, any_status=True)

        with self._accounted():
            network, _ = await asyncio.gather(reached(asked), self.finder.probe())
        return self.capabilities() | {"network": network}

    def capabilities(self) -> dict[str, Any]:
        """What this install can do, and why not the rest."""
        from cormorant.capabilities import capabilities

        self._look()
        return capabilities(self.settings, self.finder.providers(), self.finder.answers(), self.library, self._followed)

    async def explain(self, url: str) -> list[Check]:
        """Each check `url` would pass or fail, in order, with the rule that spoke; nothing of it is fetched but robots.txt."""
        return await self.fetcher.explain(url)

    def saw(self, text: str) -> None:
        """Tell strict provenance of a text the user wrote: the addresses in it may be fetched."""
        self.fetcher.remember(text)

    # -- the account, gates and the store ----------------------------------------------------------------------------

    @contextmanager
    def _accounted(self) -> Iterator[Ledger]:
        """The account of one call, for everything that is done in it. Raises: BudgetSpent when a limit is passed already."""
        with self.fetcher.account.get().call() as ledger:
            ledger.check()
            token = self.fetcher.account.set(ledger)
            try:
                yield ledger
            finally:
                self.fetcher.account.reset(token)

    def _within(self, ledger: Ledger, budget: int | None) -> int | None:
        """The budget, or what the run's limit of tokens leaves of it."""
        left = ledger.left("tokens")
        if left == math.inf:
            return budget
        ledger.reserve(tokens=LEAST_TOKENS).settle()  # BudgetSpent, when too little is left to hand anything over
        return int(min(budget or left, left))

    async def _called(self, tool: str, **arguments: Any) -> Mapping[str, Any]:
        texts = [text for value in arguments.values() for text in (value if isinstance(value, list) else [value]) if isinstance(text, str)]
        try:  # a question goes to a backend: a page must not talk a model into asking with a key
            self.fetcher.guard.check("", body="\n".join(texts))
        except Refused as error:
            self.fetcher.audit.refused(tool, error)
            raise
        return (await through(self.gates, Called(tool, arguments))).arguments

    async def _handed_page(self, page: Page) -> Page:
        gated = await through(self.gates, HandedOver("web_fetch", page.content))
        return page if gated.text == page.content else replace(page, content=gated.text, filled=None)  # data is content too

    async def _screened(self, found: Found) -> Found:
        """The gates see titles and snippets before anybody reads them."""
        if not self.gates:
            return found
        hits = []
        for hit in found.results:
            gated = await through(self.gates, HandedOver("web_search", f"{hit.title}\n{hit.snippet}"))
            title, _, snippet = gated.text.partition("\n")
            hits.append(replace(hit, title=title, snippet=snippet))
        return replace(found, results=tuple(hits))

    async def _keep(self, held: Held) -> tuple[str, Notes]:
        """The id a result is kept under. A store in trouble costs the id, never the result."""
        response_id = await self._tape.fact("response_id", [held.kind, held.arguments], _fresh_id, PLAIN)
        try:
            return await self.store.put(replace(held, response_id=response_id)), ()
        except CormorantError as error:
            return "", (f"the result could not be stored: {error.message}",)

    # -- where results and pages come from ---------------------------------------------------------------------------

    @cached_property
    def library(self) -> Library:
        """The local index."""
        from cormorant.library import Library

        return Library(self.settings.library.path)

    @cached_property
    def finder(self) -> Finder:
        """The search backends, and which of them answers."""
        from cormorant.choice import Finder

        return Finder(self.settings, request=self._backends.api, library=self.library)

    async def _find(self, query: Query | Sequence[Query], provider: str = "auto") -> Found:
        """What the backends say, or the tape; the addresses may be fetched from now on."""
        found = await self._tape.fact("search", [repr(query), provider], lambda: self.finder.search(query, provider=provider), FOUND)
        for hit in found.results:
            self.fetcher.remember(hit.url)
        return found

    async def _read(self, reference: str, wanted: Wanted) -> tuple[Item, bool]:
        """A page: from the library when only the library has it, else from where it is."""
        if reference.startswith("file:"):
            item = await self._tape.fact("page", reference, lambda: self._of_library(reference), ITEM)
            if item.document is not None:
                return item, True
        return await self.fetcher.read(reference, wanted)

    async def _of_library(self, reference: str) -> Item:
        document = await asyncio.to_thread(self.library.document, reference)
        found = Item(url=reference, final_url=reference)
        return replace(found, document=document, status=200, extract=document.extractor) if document else found

    def _refusal(self, url: str) -> CormorantError | None:
        """What the lists say to an address before it is tried; pages of the library need no request."""
        if url.startswith("file:"):
            return None
        try:
            self.policy.check_url(url)
        except CormorantError as error:
            return error
        return None

    # -- events ----------------------------------------------------------------------------------------------------------

    async def _streamed(self, call: Callable[[Emit], Awaitable[Any]]) -> AsyncGenerator[Event, None]:
        """The events of a call while it works. Leaving early cancels the work; a slow reader slows it down."""
        queue: asyncio.Queue[Event | None] = asyncio.Queue(QUEUED_EVENTS)

        async def work() -> None:
            try:
                await call(queue.put)
            finally:
                await queue.put(None)

        working = asyncio.create_task(work())
        told = False
        try:
            while (event := await queue.get()) is not None:
                told = told or event.event in sse.TERMINAL
                yield event
            try:
                await working
            except CormorantError:
                if not told:  # refused before the walk began
                    raise
        finally:
            working.cancel()
            await asyncio.wait([working])

    # -- parts -------------------------------------------------------------------------------------------------------

    @property
    def _modelled(self) -> bool:
        """Whether a language model is configured."""
        return bool(self.settings.answer.model or self.settings.models.get("default"))

    def _reranker(self) -> Any:
        kind, _, _model = self.settings.answer.reranker.partition("::")
        made = part("rank", kind)
        if kind != "llm":
            return made(self.settings, self._backends.api)
        return made(self.settings, stream=self._backends.stream, look=self._picture if self.settings.answer.rerank_images else None)

    async def _picture(self, url: str) -> Picture | None:
        """The picture at an address, fetched as any page is; None where it can't be had."""
        try:
            item, _ = await self._read(url, Wanted(images=True))
        except CormorantError:
            return None
        return item.document.picture if item.document else None

    def _judge(self) -> Any:
        kind = self.settings.answer.judge.partition("::")[0]
        if not kind:
            return None
        made = part("judge", kind)
        return made(self.settings, stream=self._backends.stream) if kind == "llm" else made(self.settings, self._backends.api)

    def _writer(self, name: str) -> Any:
        how = self.settings.answer
        name = name if name != "auto" else "llm" if self._modelled else "quote"
        made = part("write", name)
        return made(sentences=how.sentences) if name == "quote" else made(self.settings, stream=self._backends.stream)

    def _agent(self, who: Definition) -> Agent | None:
        """The model that plans, where one is configured or the agent's file names one. Raises: NotConfigured."""
        from cormorant.research import Agent

        how = self.settings.answer
        if not who.model and (how.writer not in ("auto", "llm") or (not self._modelled and how.writer != "llm")):
            return None
        # The vendor's own search goes where our lists do not hold, so it is only used where there are none.
        own_api = not how.model_url and self.policy.allow is None and not self.policy.block
        hosted = how.hosted_search == "on" or (how.hosted_search == "auto" and own_api)
        return Agent(self.settings, who, stream=self._backends.stream, hosted=hosted)


async def _fresh_id() -> str:
    return new_id()


def _policy_of(settings: Settings) -> Policy:
    egress = settings.egress
    return Policy(allow=egress.allow, block=egress.block, prefer=settings.search.prefer_domains, allow_ranges=egress.allow_ranges)
