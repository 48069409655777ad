"""Which search backend answers: the call's, the configured, the inferred, the first ready one, the embedded.

A pinned backend is never silently replaced. A chain (`auto`, or several names) goes on to the next one and says in
`tried` why. Backends that keep failing rest for a while, also for later processes.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio

from cormorant import hits, parts
from cormorant.errors import CormorantError, Dns, InvalidArguments, Network, NoProvider, NotConfigured, RateLimited, Timeout
from cormorant.hosted import attached, hosted_activity, hosted_tools, streamed_activity
from cormorant.library import Library
from cormorant.providers.api import chain_of
from cormorant.providers.health import Health
from cormorant.providers.race import Ran, hedged
from cormorant.search import Found, Query, Request, SearchProvider, Tried, ranked
from cormorant.settings import Settings
from cormorant.settings.files import data_folder

__all__ = ["Finder", "Readiness", "attached", "hosted_activity", "hosted_tools", "streamed_activity"]
log = logging.getLogger("cormorant.search")

# `auto` asks in this order. A vendor's own search costs a model call, so it joins only when search.model is set.
ORDER = ("searxng", "brave", "exa", "tavily", "serper", "kagi", "perplexity", "firecrawl", "jina", "parallel", "google")
VENDORS = ("anthropic", "openai", "gemini", "xai")
KEYLESS = ("duckduckgo", "exa_keyless", "tavily_keyless", "wikipedia")
NAMED_ONLY = ("library", "browser", "ddgs", "brave_context", "mediawiki")  # by name, or in a place of its own
WEAK = "weak_match"  # the library holds little of what was asked


@dataclass(frozen=True)
class Readiness:
    """One backend as `doctor` shows it; never a key, only the names of variables."""

    name: str
    ready: bool
    why_not: str = ""
    variables: tuple[str, ...] = ()
    role: str = ""  # pinned, configured, embedded, keyless or available
    last_error: str = ""
    cooling_until: str = ""

    @property
    def state(self) -> str:
        """One line: ready, resting, or what is missing."""
        if not self.ready:
            return self.why_not
        if self.cooling_until:
            return f"resting until {self.cooling_until} after {self.last_error or 'suspicious empty answers'}"
        return f"ready (last error: {self.last_error})" if self.last_error else "ready"

    def as_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "ready": self.ready,
            "why_not": self.why_not or None,
            "variables": list(self.variables),
            "role": self.role,
            "last_error": self.last_error or None,
            "cooling_until": self.cooling_until or None,
        }


class Finder:
    """The search backends of one `Web`: which are ready, which answers, and what is done to every answer."""

    def __init__(
        self,
        settings: Settings,
        *,
        request: Request,
        library: Library | None = None,
        state: Path | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.settings = settings
        self._request = request
        self._library = library
        self._now = now
        self.health = Health(state or data_folder(os.environ) / "search-health.json", now)
        self._made: dict[str, SearchProvider] = {}
        self._warned = False

    def renew(self, settings: Settings) -> None:
        """Follow other settings from the next search on; who rests goes on resting."""
        self.settings = settings
        self._made.clear()
        self._warned = False

    async def search(self, query: Query | Sequence[Query], provider: str = "auto") -> Found:
        """The results, cleaned, filtered and numbered. Several queries run at once and one failing does not fail the others.

        Raises: InvalidArguments, NotConfigured, NoProvider, ProviderError, ProviderMisconfigured, RateLimited, Unreachable.
        """
        if self.settings.search.disabled:
            raise NoProvider("search is disabled (search.provider = disabled)", remedy="cormorant settings set search.provider auto")
        if isinstance(query, Query):
            return await self._one(query, provider)
        return await self._many(list(query), provider)

    async def _many(self, queries: list[Query], provider: str) -> Found:
        if not queries:
            raise InvalidArguments("no query was given", remedy='give query="..." or queries=["...", "..."]')
        answers: list[Found | CormorantError] = [NoProvider("not asked")] * len(queries)

        async def ask(n: int) -> None:
            try:
                answers[n] = await self._one(queries[n], provider)
            except CormorantError as error:
                answers[n] = error

        async with anyio.create_task_group() as group:
            for n in range(len(queries)):
                group.start_soon(ask, n)
        return _joined(queries, answers)

    async def _one(self, query: Query, provider: str) -> Found:
        if not query.text.strip():
            raise InvalidArguments("the query is empty", remedy="give words to look for")
        hits.domains_of(query.domains)  # refused before anybody is asked
        given = provider.strip() or "auto"
        names = self._named(given) if given != "auto" else chain_of(self.settings)
        if names:
            fuse = any("+" in name for name in names)
            if len(names) == 1 and not fuse:
                return await self._pinned(names[0], query)
            if fuse:
                return await self._fused(names[0].split("+"), query)
            if self.settings.search.fuse > 1:
                return await self._fused(names[: self.settings.search.fuse], query)
            return await self._chain(names, query)
        chosen = self._auto()
        if chosen and self.settings.search.fuse > 1 and len(chosen) > 1:
            return await self._fused(chosen[: self.settings.search.fuse], query)
        return await self._chain([*chosen, *self._embedded()], query)

    def _named(self, given: str) -> list[str]:
        names = [name.strip().lower() for name in given.split(",") if name.strip()]
        known = parts.names("search")
        for name in (one for chain in names for one in chain.split("+")):
            if name not in known:
                ready = ", ".join(r.name for r in self.providers() if r.ready) or "none"
                raise InvalidArguments(f"no search provider is called {name!r}", remedy=f"ready are: {ready}")
        return names

    async def _pinned(self, name: str, query: Query) -> Found:
        try:
            backend = self._provider(name)
        except NotConfigured as error:
            ready = ", ".join(r.name for r in self.providers() if r.ready) or "none"
            raise NotConfigured(f"{error.message}; ready are: {ready}", remedy=error.remedy) from error
        return self._finished(await self._ask(backend, query), query)

    async def _chain(self, names: list[str], query: Query) -> Found:
        """The first that answers; a weak answer of the library only when nobody has a better one."""
        tried: list[Tried] = []
        failures: list[CormorantError] = []
        weak: Found | None = None
        resting: list[SearchProvider] = []
        until = 0.0  # for the public backends together, from when the first of them is asked
        asked: set[str] = set()  # already, beside a slow one
        for n, name in enumerate(names):  # each is made when its turn comes: most searches end at the first
            backend = self._ready(name, tried) if name not in asked else None
            if backend is None:
                continue
            if not self.health.may_ask(name):
                resting.append(backend)
                tried.append(Tried(name, "cooling_down", self.health.why(name)))
                continue
            spare = self._spare(name, names[n + 1 :]) if self.settings.search.hedge else None
            if spare is not None:
                ran = await self._race(backend, spare, query, tried, failures)
                found = ran.answer
                asked |= {spare.name} if ran.started == 2 else set()
            else:
                patience_s = None
                if name in KEYLESS:
                    until = until or anyio.current_time() + self.settings.search.keyless_timeout
                    patience_s = _share(until, len([other for other in names[n:] if other in KEYLESS]))
                found = await self._attempt(backend, query, tried, failures, patience_s)
            if found is not None and not (name == "library" and _says_little(found)):
                return self._finished(found, query, tried)
            if found is not None:
                weak = found
                tried.append(Tried("library", "no_results", "the library has nothing, or little, to say to this"))
        if len(failures) > 1 and _offline(failures):
            self.health.forgive(t.provider for t in tried if t.code not in ("no_results", "cooling_down", "not_configured"))
        if weak is not None:
            return self._finished(weak, query, [t for t in tried if t.provider != "library"], _offline(failures))
        if resting and not failures:  # everybody rests: the first is asked all the same
            tried = [t for t in tried if t.provider != resting[0].name]
            if found := await self._attempt(resting[0], query, tried, failures, None):
                return self._finished(found, query, tried)
        raise self._nobody(tried, failures)

    async def _attempt(
        self, backend: SearchProvider, query: Query, tried: list[Tried], failures: list[CormorantError], within_s: float | None
    ) -> Found | None:
        """The answer, or nothing and a line in `tried`. Raises: InvalidArguments, which no other backend would read otherwise."""
        try:
            return await self._ask(backend, query, within_s)
        except InvalidArguments:
            raise
        except CormorantError as error:
            failures.append(error)
            tried.append(Tried(backend.name, error.code, error.message))
            return None

    def _spare(self, name: str, others: Sequence[str]) -> SearchProvider | None:
        """Who is asked too when `name` is slower than it usually is: the next ready one that is no public service."""
        if name == "library" or self.health.slow_after_s(name) is None:
            return None
        for other in others:
            backend = self._ready(other, [])
            if backend is None or other == "library" or getattr(backend, "keyless_public", False) or self.health.rests(other):
                continue
            return backend
        return None

    async def _race(
        self, first: SearchProvider, second: SearchProvider, query: Query, tried: list[Tried], failures: list[CormorantError]
    ) -> Ran:
        """Both, the second once the first is slower than usual; who lost is in `tried`. Raises: InvalidArguments."""
        slow_s = self.health.slow_after_s(first.name) or 0.0
        began = anyio.current_time()
        ran = await hedged(lambda: self._ask(first, query), lambda: self._ask(second, query), slow_s)
        for n, error in ran.errors.items():
            if isinstance(error, InvalidArguments):
                raise error
            failures.append(error)
            tried.append(Tried((first, second)[n].name, error.code, error.message))
        if ran.answer is not None and ran.started == 2 and not ran.errors:
            loser, why = (first, "was slower than it usually is") if ran.winner else (second, f"was asked too, as {first.name} was slow")
            self.health.took(loser.name, anyio.current_time() - began - (0.0 if ran.winner else slow_s))
            tried.append(Tried(loser.name, "hedged", f"{loser.name} {why} ({slow_s:.3g} s); {ran.answer.provider} answered first"))
        return ran

    async def _fused(self, names: list[str], query: Query) -> Found:
        """Several backends at once, one list by reciprocal rank; who failed is named."""
        tried: list[Tried] = []
        ready = [backend for name in names if (backend := self._ready(name, tried)) is not None]
        backends = [backend for backend in ready if self.health.may_ask(backend.name)] or ready  # when all rest, all are asked
        tried += [Tried(b.name, "cooling_down", self.health.why(b.name)) for b in ready if b not in backends]
        answers: dict[str, Found] = {}
        errors: dict[str, CormorantError] = {}

        async def ask(backend: SearchProvider) -> None:
            try:
                answers[backend.name] = await self._ask(backend, query)
            except CormorantError as error:
                errors[backend.name] = error

        async with anyio.create_task_group() as group:
            for backend in backends:
                group.start_soon(ask, backend)
        for error in errors.values():
            if isinstance(error, InvalidArguments):
                raise error
        tried += [Tried(name, error.code, error.message) for name, error in errors.items()]
        if not answers:
            raise self._nobody(tried, list(errors.values()))
        came = [answers[name] for name in names if name in answers]
        cleaned = [hits.tidied(found, replace(query, count=100), now=self._now()).results for found in came]
        notes = [note for found in came for note in found.notes]
        notes += [f"partial_provider_failure: {t.provider}: {t.message}" for t in tried]
        failed = tuple({"query": query.text, "provider": t.provider, "code": t.code, "message": t.message} for t in tried)
        applied = "provider" if all(f.freshness_applied == "provider" for f in came) else "none"
        found = replace(
            came[0], provider="+".join(f.provider for f in came), results=tuple(hits.fused(cleaned)), notes=tuple(notes), errors=failed
        )
        return self._finished(replace(found, freshness_applied=applied), query, tried)  # type: ignore[arg-type]

    async def _ask(self, backend: SearchProvider, query: Query, within_s: float | None = None) -> Found:
        """One backend's answer, noted in its health. Raises: every error of a backend."""
        began = anyio.current_time()
        try:
            with anyio.fail_after(within_s):
                found = await backend.search(query)
        except TimeoutError as error:
            failure = Timeout(f"{backend.name} did not answer within {within_s:.3g} seconds", retryable=True)
            self.health.failed(backend.name, failure)
            raise failure from error
        except InvalidArguments:
            raise
        except CormorantError as error:
            self.health.failed(backend.name, error)
            raise
        suspicious = not found.results and backend.name != "library" and query.page == 1 and not query.domains
        self.health.answered(backend.name, empty=suspicious)
        if self.settings.search.hedge and backend.name != "library":
            self.health.took(backend.name, anyio.current_time() - began)
        return found

    def _finished(self, found: Found, query: Query, tried: Sequence[Tried] = (), note: str = "") -> Found:
        search = self.settings.search
        found = hits.tidied(found, query, prefer=search.prefer_domains, block=search.block_domains, now=self._now())
        notes = (*found.notes, note) if note else found.notes
        return replace(found, tried=tuple(tried), notes=notes, query=query.text, queries=(query.text,))

    def _ready(self, name: str, tried: list[Tried]) -> SearchProvider | None:
        try:
            return self._provider(name)
        except NotConfigured as error:
            if name in chain_of(self.settings):  # the operator named it: say that it is missing
                tried.append(Tried(name, error.code, error.message))
            return None

    def _provider(self, name: str) -> SearchProvider:
        """The backend, made when it is first asked for. Raises: NotConfigured, InvalidArguments."""
        if name == "library":  # it may be filled at any moment
            made: SearchProvider = parts.part("search", name)(self.settings, self._request, library=self._library)
            return made
        if name not in self._made:
            self._made[name] = parts.part("search", name)(self.settings, self._request)
        return self._made[name]

    def _auto(self) -> list[str]:
        """The configured and inferred backends that are ready, in order; installed ones after our own."""
        vendors = VENDORS if self.settings.search.model else ()
        installed = [n for n in parts.names("search") if n not in (*ORDER, *VENDORS, *KEYLESS, *NAMED_ONLY)]
        ready = [name for name in (*ORDER, *installed, *vendors) if self._ready(name, []) is not None]
        if len(ready) > 1 and not self._warned:
            self._warned = True
            log.warning("several search providers are ready (%s); %s answers. Pin one with search.provider.", ", ".join(ready), ready[0])
        return ready

    def _embedded(self) -> list[str]:
        return ["library", *(KEYLESS if self.settings.search.keyless else ())]

    def _nobody(self, tried: list[Tried], failures: list[CormorantError]) -> CormorantError:
        if len(failures) == 1 and len(tried) == 1:
            return failures[0]
        said = "; ".join(f"{t.provider}: {t.message}" for t in tried)
        why = _offline(failures) or said or "none is configured"
        waits = [f.retry_after for f in failures if isinstance(f, RateLimited) and f.retry_after]
        return NoProvider(
            f"no search provider answered: {why}",
            remedy="set WEB_SEARCH_URL (a SearXNG), or a key such as BRAVE_API_KEY, or fill the library: cormorant index add FOLDER-OR-URL",
            retryable=any(f.retryable for f in failures),
            retry_after=min(waits, default=None),
        )

    def answers(self) -> list[str]:
        """Who would be asked now, in order: pinned or in a chain, else who is ready, then the embedded ones."""
        if self.settings.search.disabled:
            return []
        names = chain_of(self.settings) or [*self._auto(), *self._embedded()]
        return [name for name in names if self._ready_now(name)]

    def _ready_now(self, name: str) -> bool:
        try:
            return all(self._ready(one, []) is not None for one in name.split("+"))
        except InvalidArguments:  # a name nobody has: `providers` and every search say so
            return False

    async def probe(self) -> list[Readiness]:
        """As `providers`, after each ready backend was asked one small question; a vendor's model is not, as it costs a call."""
        query = Query("weather", count=1)

        failures: dict[str, CormorantError] = {}
        asked = [row.name for row in self.providers() if row.ready and row.name not in (*VENDORS, "library")]

        async def ask(name: str) -> None:
            try:
                await self._ask(self._provider(name), query)
            except CormorantError as error:
                failures[name] = error  # kept in the health file too, which `providers` shows

        async with anyio.create_task_group() as group:
            for name in asked:
                group.start_soon(ask, name)
        if len(failures) == len(asked) > 1 and _offline(list(failures.values())):
            self.health.forgive(failures)
        return self.providers()

    def providers(self) -> list[Readiness]:
        """Every backend with whether it is ready and why not."""
        chain = chain_of(self.settings)
        rows = []
        for name in parts.names("search"):
            why = ""
            try:
                self._provider(name)
            except CormorantError as error:
                why = f"{error.message}: {error.remedy}" if error.remedy else error.message
            variables = tuple(getattr(parts.part("search", name), "variables", ()))
            embedded = "embedded" if name == "library" else "keyless" if name in KEYLESS else "available"
            role = "pinned" if chain == [name] else "configured" if name in chain else embedded
            last, until = self.health.shown(name)
            rows.append(Readiness(name, not why, why, variables, role, last, until))
        return rows


def _joined(queries: list[Query], answers: Sequence[Found | CormorantError]) -> Found:
    """Several queries' answers as one, in the order of the queries."""
    came = [a for a in answers if isinstance(a, Found)]
    if not came:
        raise next(a for a in answers if isinstance(a, CormorantError))
    errors = [
        {"query": q.text, "code": a.code, "message": a.message, "hint": a.remedy}
        for q, a in zip(queries, answers, strict=True)
        if isinstance(a, CormorantError)
    ]
    applied = {found.freshness_applied for found in came}
    return Found(
        query=queries[0].text if len(queries) == 1 else "",
        provider=", ".join(dict.fromkeys(found.provider for found in came)),
        results=ranked(hit for found in came for hit in found.results),
        queries=tuple(q.text for q in queries),
        page=queries[0].page,
        freshness_applied=applied.pop() if len(applied) == 1 else "client" if "client" in applied else "none",
        tried=tuple(dict.fromkeys(t for found in came for t in found.tried)),
        errors=(*(e for found in came for e in found.errors), *errors),
        notes=tuple(dict.fromkeys(note for found in came for note in found.notes)),
    )


def _share(until: float, waiting: int) -> float:
    """Seconds for the first of the public backends still to be asked: half of what is left, and all of it for the last.

    A network that swallows everything is known in time, and one that swallows the first few leaves some to the others.
    """
    left_s = max(0.0, until - anyio.current_time())
    return left_s / 2 if waiting > 1 else left_s


def _says_little(found: Found) -> bool:
    return not found.results or any(note.startswith(WEAK) for note in found.notes)


def _offline(failures: Sequence[CormorantError]) -> str:
    """One line when nothing of the network was reached, or nothing."""
    if failures and all(isinstance(f, Dns | Network | Timeout) for f in failures):
        return f"offline: no search service could be reached ({failures[0].message})"
    return ""
