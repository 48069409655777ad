"""One reference in, one `Item` out: the walk of a fetch, and all that stands in its way.

Transport asks the policy on every hop; `Fetcher` adds what comes after it, in this order: a secret that would leave, the
gates, provenance, robots.txt. Then bytes to a document, off the event loop, and the outcome: a page that is no content
is an error, never text.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections import OrderedDict
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

from cormorant import errors, extract
from cormorant.address import Url, parse
from cormorant.alternates import markdown_version, site_guide
from cormorant.audit import Audit
from cormorant.cache import HttpCache, SessionCache, reuse
from cormorant.cache.freshness import Wish
from cormorant.document import Document
from cormorant.errors import CormorantError, HttpError, InvalidArguments, NotAllowed, Provenance, Redirect, Refused, TooLarge
from cormorant.gates import Gate, Leaving, through
from cormorant.github.api import Api
from cormorant.github.place import Place, place_of
from cormorant.ledger import Ledger
from cormorant.pictures import Shown
from cormorant.policy import Check, Policy
from cormorant.robots import Keep
from cormorant.secrets import Guard
from cormorant.settings import Settings
from cormorant.store.held import Item
from cormorant.tape import ITEM, NoTape, Tape
from cormorant.transport import REDIRECTS_MAX, Transport, retry_after
from cormorant.transport.identity import options_of
from cormorant.transport.resource import Resource

ROBOTS_BYTES = 512_000  # RFC 9309 2.5
ROBOTS_TIMEOUT_S = 10.0
HOSTS_KEPT = 256  # per-host turnstiles remembered
SMALL_BYTES = 20_000  # below it a page is read in under a few milliseconds, and a thread would cost more than it gives
_URL_IN_TEXT = re.compile(r"https?://[^\s<>\"'`\])}]+")


@dataclass(frozen=True)
class Wanted:
    """How one target is to be read."""

    output: str = "markdown"
    extract: str = "auto"
    max_bytes: int = 0  # 0: the operator's default
    timeout_s: float = 0.0
    refresh: bool = False
    max_age_s: float | None = None  # of a response kept from an earlier session
    images: bool = False  # an image is a result too; for whoever reads text it is an error


class Fetcher:
    """Reads addresses for one session: one policy, one transport, one cache, one ledger."""

    def __init__(
        self,
        settings: Settings,
        policy: Policy,
        ledger: Ledger,
        *,
        gates: Sequence[Gate] = (),
        resolve: object = None,
        workspace: Path | None = None,
        tape: Tape | None = None,
    ) -> None:
        self.settings = settings
        self.policy = policy
        # The account of the call that is going on: work that a call starts inherits it, calls side by side have their own.
        self.account: ContextVar[Ledger] = ContextVar("account", default=ledger)
        self.gates = tuple(gates)
        self.workspace = workspace.resolve() if workspace else None
        self.guard = Guard(settings.secrets())
        self.audit = Audit(settings.egress.audit, self.guard.redact)
        egress, options = settings.egress, options_of(settings)
        self._tape = tape or NoTape()
        self.transport = Transport(
            policy,
            resolve=resolve,  # type: ignore[arg-type]
            proxy=egress.proxy or None,
            before=self._before,
            options=options,
            through=self._tape.exchange if self._tape.kept else None,
        )
        self.robots = Keep(self._robots_txt)
        self.cache: SessionCache[Item] = SessionCache(final_url=lambda item: item.final_url, size=_kept_chars)
        kept = settings.fetch.http_cache and settings.store.path != "memory" and not self._tape.kept  # a tape holds what was sent
        self._http_cache = HttpCache() if kept else None
        self.shown = Shown()
        self.seen: set[str] = set()  # provenance: addresses a user, a result or a page has named
        self._overall = asyncio.Semaphore(settings.fetch.concurrency)
        # More threads than cores read no page sooner, and keep the event loop waiting for its turn (bench/extraction_event_loop.py).
        self._readers = asyncio.Semaphore(os.cpu_count() or 1)
        self._hosts: OrderedDict[str, asyncio.Semaphore] = OrderedDict()

    def renew(self, settings: Settings, policy: Policy) -> None:
        """Follow other settings from the next request on; what was read, and which addresses were seen, stays.

        Raises: InvalidArguments, NotConfigured, and then nothing has changed.
        """
        guard = Guard(settings.secrets())
        audit, before = Audit(settings.egress.audit, guard.redact), self.audit
        try:
            self.transport.renew(policy, proxy=settings.egress.proxy or None, options=options_of(settings))
        except CormorantError:
            audit.close()
            raise
        was, self.settings, self.policy, self.guard, self.audit = self.settings.fetch, settings, policy, guard, audit
        before.close()
        if self._http_cache is None and settings.fetch.http_cache and settings.store.path != "memory" and not self._tape.kept:
            self._http_cache = HttpCache()
        if was.concurrency != settings.fetch.concurrency:
            self._overall = asyncio.Semaphore(settings.fetch.concurrency)
        if was.per_host != settings.fetch.per_host:
            self._hosts.clear()

    async def aclose(self) -> None:
        self.cache.clear()
        await self.transport.aclose()
        self.audit.close()
        if self._http_cache is not None:
            await self._http_cache.aclose()

    async def read(self, reference: str, wanted: Wanted) -> tuple[Item, bool]:
        """The item behind a reference, and whether this session had it already.

        Raises: InvalidArguments, Refused, Unreachable, NotContent, Unreadable, BudgetSpent.
        """
        if self._is_path(reference):
            item = await self._tape.fact("file", [reference, wanted], partial(self._file, reference, wanted), ITEM)
            return _of_a_kind(item, wanted), False
        try:
            item, cached = await self._cached(self.policy.check_url(parse(reference)), wanted)
        except Refused as error:
            self.audit.refused(reference, error)
            raise
        return _of_a_kind(item, wanted), cached

    async def _cached(self, url: Url, wanted: Wanted) -> tuple[Item, bool]:
        if not self.settings.fetch.cache:
            return await self._load(url, wanted), False
        return await self.cache.fetch(
            url,
            lambda: self._load(url, wanted),
            extract=wanted.extract,
            output=wanted.output,
            options=(wanted.max_bytes,),
            refresh=wanted.refresh,
        )

    def remember(self, text: str) -> None:
        """Note every address in a text a user wrote, for strict provenance."""
        if self.settings.egress.provenance == "strict":
            for found in _URL_IN_TEXT.findall(text):
                self._seen(found.rstrip(".,;:!?"))

    def _seen(self, href: str) -> None:
        try:
            self.seen.add(parse(href).without_fragment)
        except InvalidArguments:
            return  # not an address: nothing could be fetched by it anyway

    async def _load(self, url: Url, wanted: Wanted) -> Item:
        """What is at an address: a place on GitHub through its API, everything else as a page. Raises: Timeout."""
        place = place_of(url) if self.settings.fetch.github else None
        timeout_s = wanted.timeout_s or self.settings.fetch.timeout
        async with self._turn(url.host), asyncio.timeout(timeout_s) as deadline:
            try:
                return await (self._github(url, place, wanted) if place else self._read_page(url, wanted, timeout_s))
            except TimeoutError:
                if not deadline.expired():
                    raise
        raise errors.Timeout(
            f"{url.href} was not read within {timeout_s:g} s", remedy="give a longer timeout, or fetch less", url=url.href, retryable=True
        )

    async def _github(self, url: Url, place: Place, wanted: Wanted) -> Item:
        """A place on GitHub. robots.txt is for readers of pages; who asks an API keeps to its limits instead."""
        extract.page_reader()  # a part of it renders what GitHub says
        from cormorant.github import reading

        self._check_provenance(url)
        keys = self.settings.keys
        api = Api(self._api_request, token=keys.get("GITHUB_TOKEN") or keys.get("GH_TOKEN") or "")
        found = await reading.read(place, api, output=wanted.output)
        self._note_links(found.document)
        return Item(
            url=url.href,
            final_url=found.url or url.href,
            document=found.document,
            status=200,
            bytes=api.wire_bytes,
            sha256=sha256(found.document.markdown.encode("utf-8", "surrogatepass")).hexdigest(),
            retrieved_at=api.at,
            output=wanted.output,
            extract=found.document.extractor,
            warnings=found.document.warnings,
        )

    async def _api_request(
        self, method: str, url: str, *, headers: Mapping[str, str], credentials: Mapping[str, str], body: bytes = b""
    ) -> Resource:
        with self.account.get().reserve(requests=1) as spent:
            found = await self.transport.request(
                method, url, headers=headers, credentials=credentials, body=body, purpose="api", any_status=True
            )
            spent.settle(bytes=found.wire_bytes)
        return found

    async def _read_page(self, url: Url, wanted: Wanted, timeout_s: float) -> Item:
        resource: Resource | None = None
        asked = url
        ledger = self.account.get()
        while True:
            most = int(max(1, min(wanted.max_bytes or self.settings.fetch.max_bytes, ledger.left("bytes"))))
            with ledger.reserve(requests=1, bytes=most) as spent:
                resource = await self._get(
                    asked,
                    wanted,
                    max_bytes=most,
                    document_max_bytes=self.settings.fetch.document_max_bytes,
                    timeout_s=timeout_s,
                    any_status=True,
                    follow_redirects=self.settings.fetch.follow_redirects,
                    after=resource,
                )
                spent.settle(requests=max(1, len(resource.hops)), bytes=resource.wire_bytes)
            _require_success(resource)
            document = await self._document(resource, wanted)
            if not document.refresh or parse(document.refresh).without_fragment == parse(resource.url).without_fragment:
                break
            if len(resource.hops) > REDIRECTS_MAX:
                chain = " -> ".join(hop.url for hop in resource.hops)
                raise Redirect(f"stopped after {REDIRECTS_MAX} redirects: {chain}", url=resource.url, hop=REDIRECTS_MAX)
            asked = self.policy.check_url(document.refresh)
        _require_content(document, resource)
        self._note_links(document)
        if document.picture is None:
            self.shown.note(resource.url, document.markdown)
        elif said := self.shown.of(url.href, resource.url):
            document = replace(document, markdown=f"{document.markdown}\n\n{said}")
        item = _item(url, resource, document, wanted)
        if self.settings.egress.robots == "obey":  # the file is at hand: it was just asked for
            signals = (await self.robots.rules(parse(resource.url))).content_signals(self.robots.agent)
            item = replace(item, extra={**item.extra, "content_signals": signals}) if signals else item
        return item

    async def _get(self, url: Url, wanted: Wanted, *, after: Resource | None, **options: Any) -> Resource:
        """One address over the transport; the first of a fetch may come from the cache across sessions."""
        if self._http_cache is None or not self.settings.fetch.http_cache or after is not None:
            return await self.transport.get(url, after=after, **options)
        age = 0.0 if wanted.refresh else wanted.max_age_s
        # What one policy was allowed to read another may not, and two stores are two owners: kept responses are their own.
        partition = sha256(f"{self.policy!r}\0{self.settings.store.path}".encode()).hexdigest()[:16]
        resource, _ = await reuse.get(self._http_cache, self.transport, url, wish=Wish(max_age_s=age), partition=partition, **options)
        return resource

    async def _document(self, resource: Resource, wanted: Wanted) -> Document:
        """Bytes to a document; in a thread what takes its time, so that other fetches go on: a large body, and the first of all."""

        def read() -> Document:
            return extract.document(
                resource.body, url=resource.url, content_type=resource.content_type, extract=wanted.extract, output=wanted.output
            )

        if len(resource.body) <= SMALL_BYTES and extract.at_hand() and not _is_document(resource.body):
            return read()
        async with self._readers:
            return await asyncio.to_thread(read)

    def _note_links(self, document: Document) -> None:
        if self.settings.egress.provenance == "strict":
            for link in document.links:
                self._seen(link.href)

    @asynccontextmanager
    async def _turn(self, host: str) -> AsyncIterator[None]:
        """One of the places there are, overall and for this host."""
        gate = self._hosts.setdefault(host, asyncio.Semaphore(self.settings.fetch.per_host))
        self._hosts.move_to_end(host)
        if len(self._hosts) > HOSTS_KEPT:
            idle = next((name for name, held in self._hosts.items() if not held.locked() and name != host), None)
            if idle is not None:
                del self._hosts[idle]
        async with gate, self._overall:
            yield

    async def _before(self, leaving: Leaving) -> Leaving:
        """What every request meets after the policy, in order. It may refuse or tighten; it can't widen."""
        if leaving.purpose in ("fetch", "robots", "api"):  # a backend's own call has to carry its key
            self.guard.check(leaving.url, leaving.headers, leaving.body)
        leaving = await through(self.gates, leaving)
        if leaving.purpose == "fetch":
            url = parse(leaving.url)
            self._check_provenance(url)
            if self.settings.egress.robots == "obey":
                await self.robots.check(url)
                await self.robots.wait_turn(url, self.settings.fetch.timeout)
        self.audit.allowed(leaving.url, purpose=leaving.purpose, method=leaving.method)
        return leaving

    def _check_provenance(self, url: Url) -> None:
        if self.settings.egress.provenance == "strict" and url.without_fragment not in self.seen:
            raise Provenance(
                f"{url.href} was never seen in a user's text, a search result or a fetched page",
                remedy="search for it, fetch a page that links to it, or name it in the question",
                url=url.href,
            )

    async def _robots_txt(self, url: str) -> tuple[int | None, bytes]:
        found = await self.transport.get(url, max_bytes=ROBOTS_BYTES, timeout_s=ROBOTS_TIMEOUT_S, any_status=True, purpose="robots")
        return found.status, found.body

    async def explain(self, text: str) -> list[Check]:
        """Each check an address would meet, in order, up to the first that says no."""
        checks = self.policy.explain(text)
        if not all(check.ok for check in checks):
            return checks
        url = parse(text)
        try:
            checks += [self.policy.explain_address(url.host, ip, url.port) for ip in await self.transport.addresses(url)]
        except CormorantError as error:
            return [*checks, Check(error.code, False, error.message)]
        if all(check.ok for check in checks) and self.settings.egress.robots == "obey":
            try:
                await self.robots.check(url)
            except CormorantError as error:
                return [*checks, Check(error.code, False, f"{error.message}; {error.remedy}")]
            checks.append(Check("robots", True, f"robots.txt of {url.origin} allows {url.target}"))
        return checks

    def _is_path(self, reference: str) -> bool:
        return (
            self.workspace is not None and "://" not in reference and (reference.startswith((".", "/", "~")) or Path(reference).is_file())
        )

    async def _file(self, reference: str, wanted: Wanted) -> Item:
        """A file below the workspace; the check and the reading are of one opened file, so nothing can change between them."""
        assert self.workspace is not None
        body, path = await asyncio.to_thread(_read_below, self.workspace, reference, self.settings.fetch.document_max_bytes)
        url = path.as_uri()
        document = await asyncio.to_thread(lambda: extract.document(body, url=url, extract=wanted.extract, output=wanted.output))
        resource = Resource(url=url, asked=reference, status=200, headers={}, body=body)
        return replace(_item(None, resource, document, wanted), url=reference)


def _read_below(workspace: Path, reference: str, most: int) -> tuple[bytes, Path]:
    path = (workspace / Path(reference).expanduser()).resolve()
    if not path.is_relative_to(workspace):
        raise NotAllowed(f"{reference} is outside the folder that may be read", remedy="run cormorant in that folder")
    try:
        with path.open("rb") as file:
            opened = Path(f"/proc/self/fd/{file.fileno()}")
            if opened.exists() and not opened.resolve().is_relative_to(workspace):
                raise NotAllowed(f"{reference} leads outside the folder that may be read", remedy="run cormorant in that folder")
            body = file.read(most + 1)
    except OSError as error:
        raise InvalidArguments(f"{reference} can't be read: {error.strerror}", remedy="give the path of a file that is there") from error
    if len(body) > most:
        raise TooLarge(f"{reference} is over {most:,} bytes", remedy="raise fetch.document_max_bytes")
    return body, path


def _require_success(resource: Resource) -> None:
    """A final status that is not 2xx is an error, named by what the page itself says where it says more."""
    if 200 <= resource.status < 300 and resource.status != 204:
        return
    code = extract.page_reader().outcome.of_error(resource.status, dict(resource.headers), resource.body)
    why = f"{resource.url} answered {resource.status}"
    wait = retry_after(resource.headers.get("retry-after", ""))
    if code == "origin_down":
        why, code = f"{why}: the site's own server is down behind its CDN", ""
    if resource.status in (429, 503) and wait is not None and code in ("", "http_error"):
        code = "rate_limited"
    if code and code != "http_error":
        raise errors.family(code)(
            f"{why}: {code.replace('_', ' ')}",
            remedy=REMEDIES.get(code, "try another source"),
            url=resource.url,
            status=resource.status,
            retryable=code == "rate_limited",
            retry_after=wait,
        )
    raise HttpError(
        why, url=resource.url, status=resource.status, retryable=resource.status >= 500, remedy="check the address, or search for the page"
    )


REMEDIES = {
    "challenge": "try another source, the site's API or its feed",
    "login_required": "an operator may give a cookie or header profile for this host",
    "paywall": "try another source",
    "consent": "try another page of the site, or another source",
    "soft_404": "search for the page's title",
    "needs_javascript": "try another source, the site's API or its feed",
    "parked": "the domain is parked: search for the site",
    "empty_page": "try extract='full', or another page",
    "rate_limited": "wait, then try again",
}


def _require_content(document: Document, resource: Resource) -> None:
    """A 200 that is not content is an error with the signs that said so. Raises: NotContent."""
    if document.outcome != "content":
        signs = f" ({'; '.join(document.signs)})" if document.signs else ""
        what = document.outcome.replace("_", " ")
        raise errors.family(document.outcome)(
            f"{resource.url} is not content: {what}{signs}",
            remedy=REMEDIES.get(document.outcome, ""),
            url=resource.url,
            status=resource.status,
        )


def _item(asked: Url | None, resource: Resource, document: Document, wanted: Wanted) -> Item:
    elsewhere = extract.page_reader().outcome.moved(asked, parse(resource.url)) if asked else ""
    hints = {"redirected_to": elsewhere}
    if asked and document.media_type == "text/html":
        seen = (resource.url, resource.headers, resource.body)
        hints |= {"markdown_version": markdown_version(*seen), "site_guide": site_guide(*seen)}
    return Item(
        url=resource.asked,
        final_url=resource.url,
        document=document,
        status=resource.status,
        bytes=len(resource.body),
        sha256=resource.sha256,
        retrieved_at=resource.retrieved_at,
        hops=tuple(hop.url for hop in resource.hops),
        output=wanted.output,
        extract=document.extractor,
        truncated=resource.truncated,
        warnings=document.warnings,
        extra={name: value for name, value in hints.items() if value},
    )


def _of_a_kind(item: Item, wanted: Wanted) -> Item:
    """The item itself. Raises: UnsupportedType for an image where text is wanted."""
    if item.document is not None and item.document.picture is not None and not wanted.images:
        raise errors.UnsupportedType(f"{item.type} is an image, not text", url=item.final_url, remedy="fetch it by itself")
    return item


def _kept_chars(item: Item) -> int:
    picture = item.document.picture if item.document else None
    return len(item.body) + (len(picture.base64) if picture else 0)


def _is_document(body: bytes) -> bool:
    """A PDF, an Office file, an image: read by a child process, so in a thread however small it is."""
    return body.startswith(b"%PDF-") or b"\0" in body[:1024]


def errors_of(reference: str, error: CormorantError) -> Item:
    """The item of a target that could not be read."""
    return Item(url=reference, error=error.as_dict())
