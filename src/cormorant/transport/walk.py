"""One fetch on its way, hop by hop: judge the address, ask the gates, send, follow or arrive.

Every hop starts from the parse and the policy again. What another origin may not see stays behind at the hop that leaves.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from functools import lru_cache

from cormorant.address import Url, parse
from cormorant.errors import (
    CormorantError,
    HttpError,
    InvalidArguments,
    Network,
    NotAllowed,
    RateLimited,
    Redirect,
    Refused,
    Timeout,
    TooLarge,
)
from cormorant.gates import Leaving
from cormorant.policy import Policy
from cormorant.transport.cookies import Jar
from cormorant.transport.decoding import ACCEPTED
from cormorant.transport.exchange import Answered, Content, Exchange, Pool
from cormorant.transport.resource import USER_AGENT, Hop, Options, Resource, media_type
from cormorant.transport.routes import Dialler
from cormorant.transport.wire import Broken, Head, write_head

MAX_BYTES = 2 * 1024**2
REDIRECTS_MAX = 5
FOLLOWED = frozenset({301, 302, 303, 307, 308})  # never 300 (a choice), 304, 305 (use proxy) or 306
WAITS_MAX = 2  # times a short Retry-After is waited for
WAIT_MAX_S = 10.0
NO_LIMIT_S = 86_400.0  # the total deadline of the call ends it long before
_OURS = frozenset(  # fields that frame or route a message: never a caller's
    {"host", "content-length", "transfer-encoding", "connection", "upgrade", "te", "trailer", "keep-alive", "expect", "accept-encoding"}
    | {"proxy-authorization", "proxy-connection", "cookie2"}
)
_KEPT = frozenset({"accept", "accept-language", "user-agent"})  # the caller's fields that may cross to another origin
_TEXT = ("text/", "application/json", "application/xml", "application/xhtml", "application/javascript", "application/x-ndjson")
_UNTOLD = ("", "application/octet-stream", "binary/octet-stream")  # types that say nothing
_DOCUMENT_MAGIC = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")

Before = Callable[[Leaving], Awaitable[Leaving]]
Through = Callable[[Leaving, Callable[[], Awaitable[Answered]]], Awaitable[Answered]]  # a tape's `exchange`


@dataclass(frozen=True)
class Ask:
    """One request as a caller wants it, the same for every hop of its fetch."""

    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: bytes = field(default=b"", repr=False)
    credentials: Mapping[str, str] = field(default_factory=dict, repr=False)  # sent, and shown to no gate
    purpose: str = "fetch"
    trusted: bool = False
    max_bytes: int = MAX_BYTES
    document_max_bytes: int | None = None
    any_status: bool = False
    follow_redirects: bool = True


@dataclass(frozen=True)
class Ground:
    """What every fetch of one Transport shares."""

    policy: Policy
    options: Options
    dialler: Dialler
    pool: Pool
    before: Before | None = None
    through: Through | None = None
    defaults: Mapping[str, str] = field(init=False)  # the fields every request has

    def __post_init__(self) -> None:
        options = self.options
        defaults = {"user-agent": options.user_agent or USER_AGENT, "accept": options.accept, "accept-language": options.accept_language}
        object.__setattr__(self, "defaults", defaults)


class Walk:
    """One fetch on its way: the current address, the cookies, the hops behind it."""

    def __init__(self, ground: Ground, ask: Ask, url: str | Url, after: Resource | None) -> None:
        self.ask = ask
        self.ends_at = 0.0
        self._ground = ground
        self._given = url
        self._asked = after.asked if after else ""
        self._hops: list[Hop] = list(after.hops) if after else []
        self._jar = after.jar if after else Jar()
        self._method = ask.method
        self._body = ask.body
        self._headers = _checked(ask.headers)
        self._credentials = _checked(ask.credentials)
        self._seen: set[tuple[str, str, Jar]] = set()
        self._private = after.private if after else False
        self._waits = 0
        self._stage = "starting"
        self.url = Url("http", "", 0, "", "", "")

    async def run(self) -> Resource:
        self.url = self._enter(self._given)
        while True:
            self._seen.add((self._method, self.url.without_fragment, self._jar))
            exchange = await self._leave()
            try:
                if cookies := exchange.head.all("set-cookie"):
                    self._jar = self._jar.after(self.url, cookies)
                target = self._redirect(exchange.head)
                if target is None and not self._waits_for(exchange.head):
                    return await self._arrive(exchange)
            finally:
                exchange.finish()
            if target is None:
                await self._wait(exchange.head)
            else:
                self._follow(target, exchange.head.status)

    async def open(self) -> Answered:
        """The first answer, whatever it is; the caller reads and finishes it."""
        self.url = self._enter(self._given)
        return await self._leave()

    def _enter(self, url: str | Url) -> Url:
        """The address as it will be asked for, judged. Every hop begins here."""
        found = url if isinstance(url, Url) else parse(url, base=None)
        if not self.ask.trusted:
            self._ground.policy.check_url(found)
        self._asked = self._asked or found.href
        return found

    async def _leave(self) -> Answered:
        """Send the request of this hop, past `before`. Raises: whatever that raises, and the network's errors."""
        options = self._ground.options
        fields = {**self._ground.defaults, **self._headers}
        if cookies := self._jar.header_for(self.url):
            fields["cookie"] = f"{fields['cookie']}; {cookies}" if "cookie" in fields else cookies
        leaving = Leaving(self._method, self.url.href, fields, self._body, self.ask.purpose)
        if self._ground.before:
            self._stage = "waiting for a gate"
            leaving = await self._ground.before(leaving)
            fields = _checked(leaving.headers)
            self._method, self._body = leaving.method, leaving.body
            if leaving.url != self.url.href:
                self._moved_by_a_gate(leaving.url)
        profile = options.profiles.get(self.url.host) if self.url.scheme == "https" and not self.ask.trusted else None
        self._private = self._private or profile is not None
        if options.signer and not self.ask.trusted:
            fields |= options.signer(self.url)
        if profile or self._credentials:
            known = fields.get("cookie", "")
            fields |= _checked(profile or {}) | self._credentials
            if known and fields["cookie"] != known:  # a login and what the site has set on the way belong together
                fields["cookie"] = f"{fields['cookie']}; {known}"
        if self._ground.through:
            return await self._ground.through(leaving, lambda: self._exchange(fields))
        return await self._exchange(fields)

    def _moved_by_a_gate(self, text: str) -> None:
        """A gate changed the address: it is judged like any other, and credentials do not follow it to another origin."""
        moved = self._enter(text)
        if moved.origin != self.url.origin:
            if self.ask.trusted:
                raise NotAllowed(f"a gate leads a backend's request from {self.url.origin} to {moved.origin}", remedy="change the setting")
            self._credentials = {}
        self.url = moved

    async def _exchange(self, fields: Mapping[str, str]) -> Exchange:
        """One request on a kept or a new connection. A kept one that turns out dead is replaced once."""
        ground, url, trusted = self._ground, self.url, self.ask.trusted
        message = self._message(fields)
        key = (ground.policy, url.scheme, url.host, url.port, trusted)
        wire = ground.pool.take(key)
        while True:
            kept = wire is not None
            if wire is None:
                self._stage = f"connecting to {url.host}"
                wire = await ground.dialler.open(url, trusted=trusted)
            self._stage = "waiting for an answer"
            try:
                return await Exchange.begin(ground.pool, key, wire, self._method, message, first_byte_s=self._patience())
            except Broken as error:
                if not kept or self._method not in ("GET", "HEAD"):  # RFC 9110 9.2.2: only these may be sent twice
                    raise Network(f"{url.host}: {error}", retryable=True) from error
                wire = None

    def _patience(self) -> float:
        """How long a server may think. A model or a search backend may take its whole deadline, a web page may not."""
        return self._ground.options.first_byte_timeout_s if self.ask.purpose in ("fetch", "robots") else NO_LIMIT_S

    def _message(self, fields: Mapping[str, str]) -> bytes:
        url, dialler = self.url, self._ground.dialler
        sent = [("Host", url.authority), *[(_titled(name), value) for name, value in fields.items()]]
        sent.append(("Accept-Encoding", ACCEPTED if self.ask.purpose != "write" else "identity"))
        if self._body or self._method in ("POST", "PUT", "PATCH"):
            sent.append(("Content-Length", str(len(self._body))))
        sent += dialler.proxy_headers(url, trusted=self.ask.trusted)
        try:
            return write_head(self._method, dialler.target(url), sent) + self._body
        except (ValueError, UnicodeEncodeError) as error:
            raise InvalidArguments(f"a request header can't be sent: {error}", remedy="use visible ASCII characters only") from error

    def _redirect(self, head: Head) -> str | None:
        """Where the answer points to, if it is a redirect to follow."""
        if head.status not in FOLLOWED:
            return None
        found = list(dict.fromkeys(head.all("location")))
        if not found or not found[0].strip():
            return None
        if len(found) > 1:
            raise Redirect(f"two different Location fields: {' and '.join(found)}"[:500])
        if not self.ask.follow_redirects:
            if self.ask.any_status:
                return None
            raise Redirect(f"{self.url.href} redirects to {_utf8(found[0])[:500]}, and redirects are off", status=head.status)
        return _utf8(found[0])

    def _follow(self, location: str, status: int) -> None:
        """Take the next hop. Raises: Redirect for a loop, a sixth one, or a place that is no web address."""
        before = self.url
        self._hops.append(Hop(before.href, status))
        try:
            target = parse(location, base=before.href)
        except InvalidArguments as error:
            raise Redirect(f"{before.href} redirects to {location[:300]!r}: {error}") from error
        if not target.fragment and before.fragment:
            target = parse(f"{target.href.partition('#')[0]}#{before.fragment}")
        if len(self._hops) > REDIRECTS_MAX:
            raise Redirect(f"stopped after {REDIRECTS_MAX} redirects: {self._chain()} -> {target.href}")
        if target.origin != before.origin:
            self._cross(before, target)
        if status == 303 or (status in (301, 302) and self._method == "POST"):
            self._method, self._body = ("HEAD" if self._method == "HEAD" else "GET"), b""
            self._headers = {name: value for name, value in self._headers.items() if not name.startswith("content-")}
        if (self._method, target.without_fragment, self._jar) in self._seen:
            raise Redirect(f"the redirects go round in a circle: {self._chain()} -> {target.href}")
        if not self.ask.trusted:
            self._ground.policy.check_url(target)
        self.url = target

    def _cross(self, before: Url, target: Url) -> None:
        """What another origin may not see stays behind, and is not sent again should the way lead back."""
        if self.ask.trusted:
            raise Redirect(f"{before.origin} redirects to {target.origin}", remedy=f"set the address of this backend to {target.origin}")
        if self._body:
            raise Redirect(f"{before.origin} redirects a request with a body to {target.origin}; it is not sent there")
        self._headers = {name: value for name, value in self._headers.items() if name in _KEPT}
        self._credentials = {}

    def _waits_for(self, head: Head) -> bool:
        """Whether a busy server named a wait short enough to sit out."""
        if head.status not in (429, 503) or self.ask.purpose != "fetch" or self._method != "GET" or self._waits >= WAITS_MAX:
            return False
        wait = retry_after(head.get("retry-after"))
        left = self.ends_at - asyncio.get_running_loop().time()
        return wait is not None and wait <= WAIT_MAX_S and wait < left / 2

    async def _wait(self, head: Head) -> None:
        wait = retry_after(head.get("retry-after")) or 0.0
        self._waits += 1
        self._stage = f"waiting {wait:g} s, as the server asked"
        await asyncio.sleep(wait)

    async def _arrive(self, exchange: Answered) -> Resource:
        head, url = exchange.head, self.url
        conditional = head.status == 304 and ("if-none-match" in self._headers or "if-modified-since" in self._headers)
        if not (200 <= head.status < 300 or conditional or self.ask.any_status):
            raise self._status_error(head)
        self._stage = "reading the body"
        content = await self._content(exchange)
        self._hops.append(Hop(url.href, head.status))
        return Resource(
            url=url.href,
            asked=self._asked,
            status=head.status,
            headers=head.joined(),
            body=content.body,
            hops=tuple(self._hops),
            truncated=content.truncated,
            retrieved_at=exchange.at or time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            sha256=content.sha256,
            wire_bytes=content.wire_bytes,
            private=self._private,
            jar=self._jar,
        )

    async def _content(self, exchange: Answered) -> Content:
        """The body. Text past its limit is cut; of a document more is read, and past its own limit it is an error, since
        half of one is worth nothing. The first bytes tell, since PDFs come labelled as text and text as anything."""
        texts, documents = self.ask.max_bytes, self.ask.document_max_bytes
        if documents is None:
            return await exchange.content(texts)
        kind = media_type(exchange.head.get("content-type"))
        if exchange.promised is not None and exchange.promised > documents and kind not in _UNTOLD and not _is_text(kind):
            raise self._too_large(exchange.promised)
        content = await exchange.content(max(texts, documents), lambda first: documents if _is_document(kind, first) else texts)
        if content.truncated and _is_document(kind, content.body):
            raise self._too_large()
        return content

    def _too_large(self, size: int | None = None) -> TooLarge:
        limit = self.ask.document_max_bytes
        return TooLarge(
            f"{self.url.href} is larger than {limit} bytes{f' ({size})' if size else ''}", remedy="raise fetch.document_max_bytes"
        )

    def _status_error(self, head: Head) -> CormorantError:
        """What a final status that is not 2xx means."""
        wait = retry_after(head.get("retry-after"))
        shown = f"HTTP {head.status} from {self.url.href}"
        if head.status == 429 or (head.status == 503 and wait is not None):
            hint = f"try again after {wait:g} s" if wait is not None else "try again later, with fewer requests"
            return RateLimited(shown, status=head.status, retryable=True, retry_after=wait, remedy=hint)
        if 520 <= head.status <= 530:
            shown += ": the site's own server is down behind its CDN"
        return HttpError(
            shown, status=head.status, retryable=head.status in (408, 425, 500, 502, 503, 504, *range(520, 531)), retry_after=wait
        )

    def timed_out(self, timeout_s: float) -> Timeout:
        """The total deadline passed."""
        return Timeout(
            f"{self.url.href or self._given}: {timeout_s:g} s passed while {self._stage}",
            url=self.url.href,
            hop=len(self._hops),
            retryable=True,
            remedy="raise fetch.timeout",
        )

    def placed(self, error: CormorantError) -> CormorantError:
        """The error with its place: address, hop, and for a later hop the way there."""
        if error.hop is None:
            error.hop = len(self._hops)
            if error.hop and isinstance(error, Refused):
                error.message = f"{error.message} (redirect {error.hop} of {self._chain()})"[:2000]
                error.args = (error.message,)
        error.url = error.url or self.url.href
        return error

    def _chain(self) -> str:
        return " -> ".join(hop.url for hop in self._hops)


@lru_cache(maxsize=256)
def _titled(name: str) -> str:
    """`user-agent` as `User-Agent`: names have no case, and some servers look at it all the same."""
    return name.title()


def _checked(headers: Mapping[str, str]) -> dict[str, str]:
    """A caller's fields, names in lower case. Raises: InvalidArguments for those that are ours to set."""
    if not headers:
        return {}
    found = {name.lower(): str(value) for name, value in headers.items()}
    if taken := _OURS & found.keys():
        raise InvalidArguments(f"the header {min(taken)} is set by the transport", remedy="leave it out")
    return found


def _utf8(value: str) -> str:
    """A field value as text: browsers read a Location's bytes as UTF-8 where they are."""
    try:
        return value.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return value


def _is_document(kind: str, first: bytes) -> bool:
    """Whether a body is one of those that are of use only whole."""
    head = first[:1024]
    if b"%PDF-" in head or head.startswith(_DOCUMENT_MAGIC):
        return True
    if kind in _UNTOLD:
        return b"\0" in head
    return not _is_text(kind)


def _is_text(kind: str) -> bool:
    return kind.startswith(_TEXT) or kind.endswith(("+xml", "+json"))


def retry_after(value: str) -> float | None:
    """Seconds to wait (RFC 9110 10.2.3: a number or a date), or None."""
    text = value.strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        when = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError):
        return None
    return max(0.0, when.timestamp() - time.time())
