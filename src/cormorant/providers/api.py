"""What all HTTP backends share: base address, key, deadline, retries, and one reading of failures.

A backend says what it sends (`ask`), how an answer reads (`read`) and what it takes natively (`native`); everything
else happens here, once. A backend's base address is an operator's setting: it may be private, and must be plain.
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar

import ada_url
import anyio

from cormorant import hits
from cormorant.errors import CormorantError, NotConfigured, ProviderError, ProviderMisconfigured, RateLimited
from cormorant.search import Found, Hit, Query, Reply, Request
from cormorant.settings import Settings

EXCERPT_CHARS = 300
RETRIES = 2
ROOM_WORDS, ROOM_CHARS = 12, 100  # left to the question beside site: operators, or they are left out
PATIENCE_S = 5.0  # a longer Retry-After is the caller's to decide


@dataclass(frozen=True)
class Ask:
    """One request to a backend, without its base address and key."""

    path: str
    params: Mapping[str, str] = field(default_factory=dict)
    json: Any = None
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict)


class Backend:
    """A search backend over HTTP. Raises NotConfigured when it lacks what it needs."""

    name: ClassVar[str] = ""
    family: ClassVar[str] = ""  # whose address and key it shares, where not its own
    base: ClassVar[str] = ""  # empty: an operator has to name it
    variables: ClassVar[tuple[str, ...]] = ()  # where the key is looked for
    key_needed: ClassVar[bool] = True
    keyless_public: ClassVar[bool] = False  # answers without key, from the public network
    native: ClassVar[frozenset[str]] = frozenset()  # of page, freshness, language, safe_search, domains
    max_count: ClassVar[int] = 20
    max_chars: ClassVar[int] = 0  # of the query; 0 is no limit
    max_words: ClassVar[int] = 0
    sites_max: ClassVar[int] = 0  # site: operators it reads in the query; 0 where it has a filter of its own, or none
    last_page: ClassVar[int] = 0  # of those it pages itself; 0 is no limit
    retry_s: ClassVar[float] = 0.0  # pause after a 429 that names none; 0 is no retry

    def __init__(self, settings: Settings, request: Request, *, sleep: Callable[[float], Awaitable[None]] = anyio.sleep) -> None:
        self.settings = settings
        self.request = request
        self.sleep = sleep
        self.key, self.key_from = key_of(settings, self.family or self.name, self.variables)
        if self.key_needed and not self.key:
            looked = " or ".join(self.variables)
            raise NotConfigured(f"{self.name} needs a key, and {looked} is not set", remedy=f"cormorant secret set {self.variables[0]}")
        self.url = base_of(settings, self.name) or base_of(settings, self.family) or self.base
        if not self.url:
            raise NotConfigured(f"{self.name} needs its address", remedy=f"cormorant settings set search.urls.{self.name} https://...")

    def ask(self, query: Query) -> Ask:
        raise NotImplementedError

    def read(self, payload: Any) -> Iterable[Hit]:
        raise NotImplementedError

    def authorized(self) -> dict[str, str]:
        """Headers that carry the key."""
        return {"Authorization": f"Bearer {self.key}"} if self.key else {}

    def pages(self, query: Query) -> int:
        """How many pages it gives for this query; 0 is no limit."""
        return self.last_page

    def remarks(self, payload: Any) -> list[str]:
        return []

    def complaint(self, reply: Reply, payload: Any) -> CormorantError | None:
        """A backend's own way of saying no, where it differs from everybody's."""
        return None

    async def search(self, query: Query) -> Found:
        """What the backend found. Raises: ProviderError, ProviderMisconfigured, RateLimited, Unreachable."""
        if "page" in self.native and 0 < (last := self.pages(query)) < query.page:  # asked all the same, it gives its last page again
            note = f"page_limit: {self.name} gives at most {last} pages"
            return Found(query.text, self.name, (), (query.text,), query.page, notes=(note,))
        sent, was_cut = self._within_limits(query)
        payload = await self._payload(self.ask(sent))
        try:
            found = list(self.read(payload))
        except (AttributeError, KeyError, TypeError, ValueError, IndexError) as error:
            raise ProviderError(
                f"{self.name} answered in a shape that is not documented: {type(error).__name__}", remedy="cormorant doctor"
            ) from error
        if "page" not in self.native and query.page > 1:
            whole, found = len(found), found[(query.page - 1) * query.count :]
        applied = "provider" if query.freshness != "none" and "freshness" in self.native else "none"
        notes = [*self._ignored(query), *self.remarks(payload)]
        if "page" not in self.native and query.page > 1 and not found:
            notes.append(f"page_limit: {self.name} gave {whole} results in all and has no pages")
        if was_cut:
            notes.append(
                f"query_cut: {self.name} takes at most {self.max_chars or self.max_words} {'characters' if self.max_chars else 'words'}"
            )
        return Found(query.text, self.name, tuple(found), (query.text,), query.page, applied, notes=tuple(notes))  # type: ignore[arg-type]

    def _within_limits(self, query: Query) -> tuple[Query, bool]:
        """The query as it goes out, site: operators included, and whether words of it had to go."""
        sites = site_operators(query, self.sites_max) if self.sites_max else ""
        words, chars = self.max_words - len(sites.split()), self.max_chars - len(sites)
        if (self.max_words and words < ROOM_WORDS) or (self.max_chars and chars < ROOM_CHARS):
            sites, words, chars = "", self.max_words, self.max_chars  # left to our own filter
        text = query.text
        if self.max_words and len(text.split()) > words:
            text = " ".join(text.split()[:words])
        if self.max_chars and len(text) > chars:
            text = text[:chars].rsplit(" ", 1)[0] or text[:chars]
        count = query.count if "page" in self.native else query.count * query.page
        if (query.domains or self.settings.search.block_domains) and (query.page == 1 or "page" not in self.native):
            count = max(count, self.max_count)  # some of it will be filtered out; on a later page more would leave a gap before it
        return replace(query, text=text + sites, count=min(count, self.max_count)), text != query.text

    def _ignored(self, query: Query) -> list[str]:
        ignored = []
        if query.language and "language" not in self.native:
            ignored.append(f"option_ignored:language: {self.name} does not take it")
        if query.safe_search == "strict" and "safe_search" not in self.native:
            ignored.append(f"option_ignored:safe_search: {self.name} does not take it")
        return ignored

    async def _payload(self, ask: Ask) -> Any:
        left, waited = RETRIES, 0.0
        while True:
            reply = await self.send(ask)
            try:
                return self._checked(reply)
            except RateLimited as error:
                pause = error.retry_after or self.retry_s
                if not (error.retryable and left and 0 < pause <= PATIENCE_S and waited + pause < self.timeout_s):
                    raise
                left, waited = left - 1, waited + pause
                await self.sleep(pause)

    async def send(self, ask: Ask) -> Reply:
        """One request as it goes out."""
        headers = {"Accept": "application/json", **self.authorized(), **ask.headers}
        url = self.url.rstrip("/") + ask.path
        return await self.request(ask.method, url, headers=headers, params=ask.params, json=ask.json, timeout_s=self.timeout_s)

    @property
    def timeout_s(self) -> float:
        """The deadline of one request."""
        return self.settings.search.timeout

    def _checked(self, reply: Reply) -> Any:
        payload = self.parsed(reply)
        if error := self.complaint(reply, payload):
            raise error
        if not 200 <= reply.status < 300:
            raise self.failure(reply)
        if isinstance(payload, dict) and payload.get("error"):  # a failure that calls itself 200 is no empty list
            raise ProviderError(f"{self.name} failed: {self.excerpt(reply)}", status=reply.status, remedy="cormorant doctor")
        if payload is None:
            raise ProviderMisconfigured(
                f"{self.name} answered no JSON: {self.excerpt(reply)}",
                remedy=f"check the address {self.url} (search.urls.{self.name})",
                status=reply.status,
            )
        return payload

    def parsed(self, reply: Reply) -> Any:
        """The body as JSON, or None."""
        try:
            return json.loads(reply.body)
        except ValueError:
            return None

    def failure(self, reply: Reply) -> CormorantError:
        """What a status means, the same for every backend."""
        said = self.excerpt(reply)
        status = reply.status
        if status in (401, 403):
            looked = self.key_from or " or ".join(self.variables)
            hint = f"looked at {looked}; cormorant secret set {(self.variables or ('NAME',))[0]}" if looked else "the backend wants a key"
            return ProviderError(f"{self.name} refused the key (HTTP {status}): {said}", remedy=hint, status=status)
        if status == 402:
            return RateLimited(
                f"{self.name}: the quota is spent (HTTP 402): {said}",
                remedy="raise the plan, or set search.provider to another one",
                status=status,
            )
        if status == 429:
            return self.limited(reply, said)
        return ProviderError(
            f"{self.name} failed (HTTP {status}): {said}",
            status=status,
            retryable=status >= 500,
            retry_after=retry_after(reply) if status == 503 else None,
            remedy="cormorant doctor",
        )

    def limited(self, reply: Reply, said: str = "", *, spent: bool = False) -> RateLimited:
        """429, or whatever a backend uses for it. `spent`: waiting will not help."""
        after = retry_after(reply)
        if spent:
            hint = "raise the plan, or set search.provider to another one"
            return RateLimited(f"{self.name}: the quota is spent (HTTP {reply.status}): {said}", remedy=hint, status=reply.status)
        wait = f"wait {after:g} seconds" if after else "wait a little"
        return RateLimited(
            f"{self.name} answers too many requests (HTTP {reply.status}): {said}",
            remedy=wait,
            status=reply.status,
            retryable=True,
            retry_after=after,
        )

    def excerpt(self, reply: Reply) -> str:
        """The first characters of a body as plain text, the key redacted."""
        text = reply.body[:20_000].decode("utf-8", "replace")
        if "<" in text and re.search(r"<(?:!doctype|html|head|body|h1|p|div|title)\b", text, re.IGNORECASE):
            text = re.sub(r"<(script|style|title)\b.*?</\1>|<[^>]*>", " ", text, flags=re.DOTALL | re.IGNORECASE)
        text = hits.cleaned(self.redacted(text), EXCERPT_CHARS)
        return text or "(no text)"

    def redacted(self, text: str) -> str:
        return text.replace(self.key, "[key]") if len(self.key) >= 4 else text


def key_of(settings: Settings, name: str, variables: Iterable[str]) -> tuple[str, str]:
    """A backend's key and the variable it came from. `search.key` belongs to the backend that is configured."""
    search = settings.search
    mine = name in chain_of(settings) or (not chain_of(settings) and name == ("searxng" if search.url else "brave"))
    if mine and search.api_key_env and settings.keys.get(search.api_key_env):
        return settings.keys[search.api_key_env], search.api_key_env
    if mine and search.key and len(chain_of(settings)) <= 1:
        return search.key, "search.key (WEB_SEARCH_KEY)"
    return next(((settings.keys[v], v) for v in variables if settings.keys.get(v)), ("", ""))


def base_of(settings: Settings, name: str) -> str:
    """The address an operator gave a backend, or nothing. Raises: NotConfigured for one that can't be one."""
    search = settings.search
    mine = chain_of(settings) == [name] or (not chain_of(settings) and name == "searxng")
    given = search.urls.get(name) or (search.url if mine else "")
    if not given:
        return ""
    try:
        url = ada_url.URL(given)
    except (ValueError, UnicodeError):
        url = None
    if url is None or url.protocol not in ("http:", "https:") or url.username or url.password or url.search or url.hash:
        raise NotConfigured(
            f"the address of {name} has to be plain http(s), without user, query or fragment", remedy=f"correct search.urls.{name}"
        )
    return given.rstrip("/")


def chain_of(settings: Settings) -> list[str]:
    """The backends an operator named, in order; empty for `auto` and `disabled`."""
    names = [name.strip().lower() for name in settings.search.provider.split(",") if name.strip()]
    return [] if names in (["auto"], ["disabled"]) else names


def retry_after(reply: Reply) -> float | None:
    """Seconds a backend asks to wait, from Retry-After (seconds or a date, RFC 9110 10.2.3)."""
    given = reply.headers.get("retry-after", "").strip()
    if re.fullmatch(r"\d+(?:\.\d+)?", given):
        return min(float(given), 86_400.0)
    if given:
        from email.utils import parsedate_to_datetime

        try:
            until = parsedate_to_datetime(given)
            since = parsedate_to_datetime(reply.headers.get("date", ""))
        except (TypeError, ValueError):
            return None
        return min(max(0.0, (until - since).total_seconds()), 86_400.0)
    return None


def hit(
    row: Mapping[str, Any], engine: str, *, url: str = "url", snippet: tuple[str, ...] = ("snippet",), date: tuple[str, ...] = ("date",)
) -> Hit:
    """One row of an answer, by the names its fields have there; of several names the first that is filled counts."""
    return Hit(row.get("title") or "", row[url], _first(row, snippet), _first(row, date), engine=engine, score=row.get("score"))


def _first(row: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    value = next((row[name] for name in names if row.get(name)), "")
    return " … ".join(value) if isinstance(value, list) else value


def site_operators(query: Query, limit: int) -> str:
    """What is added to a question for backends that read site: operators in it; too many are left to our own filter."""
    wanted, excluded = hits.domains_of(query.domains)
    sites, added = hits.hosts_of(wanted), ""
    if sites and len(sites) <= limit:
        joined = " OR ".join(f"site:{site}" for site in sites)
        added = f" ({joined})" if len(sites) > 1 else f" {joined}"
    return added + "".join(f" -site:{site}" for site in hits.hosts_of(excluded)[:limit])


def since(freshness: str) -> str:
    """The first day of a freshness, for backends that take a date. A day of slack for time zones."""
    return (datetime.now(UTC) - timedelta(days=hits.FRESH_DAYS[freshness] + 1)).date().isoformat()
