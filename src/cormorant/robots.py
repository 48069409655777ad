"""robots.txt: may this agent read this address? The rules are pure; `Keep` asks for the file and remembers it.

Follows RFC 9309. Where the RFC is silent the most used public parser is followed (Google's): a line without a colon, a
mistyped `disallow`, `Allow: /x/index.html` that also lets `/x/` through, lines longer than any browser's address cut.
Percent-encoding is compared as 2.2.2 says and not byte for byte, so that no spelling of an address escapes a rule.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace

from cormorant import errors
from cormorant.address import Url
from cormorant.cache.flight import Flights

MAX_BYTES = 512_000  # RFC 9309 2.5 asks for at least 500 KiB
MAX_LINE_BYTES = 16_663  # eight addresses of the longest kind a browser takes (2,083 characters)
KEEP_S = 600.0  # ten minutes, well inside the 24 hours of RFC 9309 2.4
KEEP_FAILED_S = 60.0  # a server that did not answer forbids everything; it deserves another try sooner than that
KEEP_ORIGINS = 512
KEEP_BYTES = 4 * 1024**2  # of robots.txt: rules take some twenty times the room of their text

_BOM = b"\xef\xbb\xbf"
_LINE_END = re.compile(rb"\r\n|\r|\n")
_TOKEN = re.compile(rb"[A-Za-z0-9_-]*")  # RFC 9309 2.2.1 has no digits; real agents do, and "bot2" is not "bot"
_ESCAPE = re.compile(rb"%([0-9A-Fa-f]{2})")
_RAW = re.compile(rb"[^A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=%-]")  # neither reserved nor unreserved in RFC 3986
_AUTHORITY = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]*:)?//[^/?#]*")
_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
# Reserved, and never a delimiter inside an http path: both spellings mean one thing. `/ ? # & = +` mean another thing
# when they are escaped, and `*` and `$` are how a rule says "anything" and "the end".
_EITHER_WAY = frozenset(b":@!'(),;[]")
_NAMES = {
    b"user-agent": "agent", b"useragent": "agent", b"user agent": "agent",
    b"allow": "allow",
    b"disallow": "disallow", b"dissallow": "disallow", b"dissalow": "disallow", b"disalow": "disallow",
    b"diasllow": "disallow", b"disallaw": "disallow",
    b"sitemap": "sitemap", b"site-map": "sitemap",
    b"crawl-delay": "delay", b"content-signal": "signal",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Rule:
    """One allow or disallow line. `str(rule)` is the line as a person would write it."""

    allow: bool
    path: str
    line: int  # 1-based
    pieces: tuple[bytes, ...] = field(repr=False, default=())
    to_the_end: bool = field(repr=False, default=False)
    octets: int = field(repr=False, default=0)

    def __str__(self) -> str:
        return f"{'Allow' if self.allow else 'Disallow'}: {self.path}"

    def matches(self, path: bytes) -> bool:
        """Whether the pattern matches from the start of `path`. One pass: the leftmost place for each piece is best."""
        if not path.startswith(self.pieces[0]):
            return False
        at = len(self.pieces[0])
        later = list(self.pieces[1:])
        if not later:
            return not self.to_the_end or at == len(path)
        last = later.pop() if self.to_the_end else b""
        for piece in later:
            found = path.find(piece, at)
            if found < 0:
                return False
            at = found + len(piece)
        return len(path) - at >= len(last) and path.endswith(last)


@dataclass(eq=False)
class _Group:
    """A run of user-agent lines and what follows them. Shared by its agents: a copy each would be their product."""

    rules: list[Rule] = field(default_factory=list)
    delay_s: float | None = None
    signals: dict[str, bool] = field(default_factory=dict)


class Robots:
    """The rules of one robots.txt. Anything can be given: what is no rule is passed over."""

    def __init__(self, body: bytes | str) -> None:
        self.sitemaps: tuple[str, ...] = ()
        self._groups: dict[bytes, list[_Group]] = {}
        self._everywhere = _Group()  # signals above every group
        self._read(_octets(body))

    def allows(self, agent: str, url: str) -> bool:
        """Whether `agent` (a product token, any case) may read `url`."""
        rule = self.rule_for(agent, url)
        return rule is None or rule.allow

    def rule_for(self, agent: str, url: str) -> Rule | None:
        """The line that decides: the longest match in octets, `Allow` before `Disallow`. None: nothing is said."""
        paths = _paths(url)
        best: Rule | None = None
        for group in self._groups_of(agent):
            for rule in group.rules:
                longer = best is None or (rule.octets, rule.allow) > (best.octets, best.allow)
                if longer and any(rule.matches(path) for path in paths):
                    best = rule
        return best

    def crawl_delay(self, agent: str) -> float | None:
        """Seconds the site wants between two requests of `agent`, where it says so."""
        said = [group.delay_s for group in self._groups_of(agent) if group.delay_s is not None]
        return max(said, default=None)

    def content_signals(self, agent: str) -> dict[str, bool]:
        """What the site says about use, e.g. `{"search": True, "ai-train": False}`; a missing key is not said."""
        found: dict[str, bool] = {}
        for group in (self._everywhere, *self._groups_of(agent)):
            found |= group.signals
        return found

    def _groups_of(self, agent: str) -> list[_Group]:
        """Every group that names the agent, read as one (RFC 9309 2.2.1); those for `*` when none does."""
        token = agent.split("/")[0].strip().lower().encode("utf-8", "replace")
        return self._groups.get(token) or self._groups.get(b"*", [])

    def _read(self, body: bytes) -> None:
        group = self._everywhere
        naming = False  # in a run of user-agent lines, which only allow and disallow lines end (2.1)
        sitemaps: list[str] = []
        for number, line in enumerate(_LINE_END.split(body), 1):
            name, value = _parted(line[:MAX_LINE_BYTES])
            if name == "agent":
                group = group if naming else _Group()
                naming = True
                named = self._groups.setdefault(_product(value), [])
                if group not in named[-1:]:
                    named.append(group)
            elif name in ("allow", "disallow"):
                naming = False
                group.rules += _rules(name == "allow", value, number)
            elif name == "sitemap":
                sitemaps.append(value.decode("utf-8", "replace"))
            elif name == "delay":
                group.delay_s = _number(value)
            elif name == "signal":
                group.signals |= _signals(value)
        self.sitemaps = tuple(sitemaps)


def _octets(body: bytes | str) -> bytes:
    if isinstance(body, str):
        body = body.encode("utf-8", "surrogateescape" if not re.search("[\ud800-\udc7f\udd00-\udfff]", body) else "replace")
        body = body.removeprefix("ï»¿".encode())  # the mark again, read as Latin-1 by whoever made the text
    for length in (3, 2, 1):  # a mark cut short by a careless editor is still no part of the first line
        if body.startswith(_BOM[:length]):
            body = body[length:]
            break
    if len(body) > MAX_BYTES:  # the line that is cut in two would say something nobody wrote
        head = body[:MAX_BYTES]
        body = head if body[MAX_BYTES : MAX_BYTES + 1] in (b"\r", b"\n") else head[: max(head.rfind(b"\n"), head.rfind(b"\r")) + 1]
    return body


def _parted(line: bytes) -> tuple[str, bytes]:
    """What kind of line it is, and its value; ("", b"") for anything else."""
    text = line.split(b"#")[0].strip(b" \t\f\v\0")
    name, colon, value = text.partition(b":")
    if not colon:
        words = text.split()
        if len(words) != 2:
            return "", b""
        name, value = words
    return _NAMES.get(name.strip().lower(), ""), value.strip(b" \t\f\v\0")


def _product(value: bytes) -> bytes:
    """The product token of a user-agent line; `*` for everybody; empty where there is none."""
    if value[:1] == b"*" and not value[1:2].strip():
        return b"*"
    found = _TOKEN.match(value)
    return found[0].lower() if found else b""


def _rules(allow: bool, value: bytes, line: int) -> list[Rule]:
    if not value:  # an empty value matches nothing (2.2.2: it is how everything is allowed)
        return []
    shown = value.decode("utf-8", "replace")
    made = [_rule(allow, value, line, shown)]
    folder, slash, name = value.rpartition(b"/")
    if allow and slash and name.startswith(b"index.htm"):
        made.append(_rule(True, folder + b"/$", line, shown))
    return made


def _rule(allow: bool, value: bytes, line: int, shown: str) -> Rule:
    to_the_end = value.endswith(b"$")
    pattern = _same(value.removesuffix(b"$"), keep=b"*")
    if b"?" in pattern:  # behind its question mark a slash is a letter like any other, in either spelling
        path, mark, query = pattern.partition(b"?")
        pattern = path + mark + _raw_query(query)
    octets = len(pattern) + to_the_end
    return Rule(allow, shown, line, tuple(pattern.split(b"*")), to_the_end, octets)


def _same(text: bytes, keep: bytes = b"") -> bytes:
    """One spelling for all spellings of an address (RFC 9309 2.2.2): `*` and `$` come out escaped unless kept."""

    def escape(found: re.Match[bytes]) -> bytes:
        return b"%%%02X" % found[0][0]

    def settle(found: re.Match[bytes]) -> bytes:
        octet = int(found[1], 16)
        return bytes((octet,)) if octet in _UNRESERVED or octet in _EITHER_WAY else found[0].upper()

    text = _ESCAPE.sub(settle, _RAW.sub(escape, text))
    for special in b"*$":
        if special not in keep:
            text = text.replace(bytes((special,)), b"%%%02X" % special)
    return text


def _paths(url: str) -> list[bytes]:
    """Path and query of `url` in the spellings a rule may have been written for.

    A rule with wildcards does not say whether it means path or query, and the RFC's own table reads
    `?u=http://x` and `?u=http%3A%2F%2Fx` as one: so an address with such a query is matched in both spellings.
    """
    authority = _AUTHORITY.match(url)
    text = (url[authority.end() :] if authority else url).partition("#")[0]
    if not text.startswith("/"):
        text = "/" + text
    plain = _same(text.encode("utf-8", "replace"))
    path, mark, query = plain.partition(b"?")
    spellings = [plain]
    for other in (_raw_query(query), query.replace(b"/", b"%2F").replace(b"?", b"%3F")):
        if (spelt := path + mark + other) not in spellings:
            spellings.append(spelt)
    return spellings


def _raw_query(query: bytes) -> bytes:
    return query.replace(b"%2F", b"/").replace(b"%3F", b"?")


def _number(value: bytes) -> float | None:
    try:
        found = float(value)
    except ValueError:
        return None
    return found if 0 <= found < float("inf") else None


def _signals(value: bytes) -> dict[str, bool]:
    said = {}
    for part in re.split(r"[,;\s]+", value.decode("utf-8", "replace").lower()):
        name, _, answer = part.partition("=")
        if answer in ("yes", "no", "y", "n"):
            said[name] = answer.startswith("y")
    return said


Fetch = Callable[[str], Awaitable[tuple[int | None, bytes]]]


@dataclass(frozen=True)
class Kept:
    """A robots.txt as it was found. `failed` says why nothing may be read where it could not be had.

    `absent` is the error of a host that is not there at all: its pages can't be had either, and that is what to say.
    """

    url: str
    rules: Robots
    until: float
    failed: str = ""
    size: int = 0
    absent: errors.Unreachable | None = None


class Keep:
    """The robots.txt of every origin that was asked about, for ten minutes each, with one request in flight per origin.

    `fetch(robots_url)` answers `(status, body)` after following up to five redirects, or `(None, b"")` where nothing
    came; it may also raise the tree's `Unreachable`. A `Refused` it raises (policy, gate) reaches whoever asked.

        await keep.check(url)                  # raises errors.Robots
        await keep.wait_turn(url, deadline_s)  # Crawl-delay: waits, or raises errors.RateLimited
        (await keep.rules(url)).content_signals("cormorant")
    """

    def __init__(
        self,
        fetch: Fetch,
        agent: str = "cormorant",
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.agent = agent
        self._fetch = fetch
        self._clock = clock
        self._sleep = sleep
        self._kept: OrderedDict[str, Kept] = OrderedDict()
        self._bytes = 0
        self._flights: Flights[str, Kept] = Flights()
        self._turns: OrderedDict[str, float] = OrderedDict()

    async def check(self, url: Url) -> None:
        """Nothing, when `url` may be read. robots.txt itself always may.

        Raises: errors.Robots naming path, rule and robots URL; errors.Refused when robots.txt may not be asked for;
        errors.Dns, errors.Tls where the host itself can't be reached.
        """
        if url.target.partition("?")[0] == "/robots.txt":
            return
        kept = await self._at(url)
        if kept.absent:
            raise type(kept.absent)(kept.absent.message, remedy=kept.absent.remedy, url=url.href, retryable=kept.absent.retryable)
        if kept.failed:
            raise errors.Robots(
                f"robots.txt forbids {url.target}: {kept.url} {kept.failed}, and an unknown rule is read as no (RFC 9309)",
                remedy="try again later; an operator may set egress.robots = ignore",
                url=url.href,
                retryable=True,
            )
        rule = kept.rules.rule_for(self.agent, url.without_fragment)
        if rule is not None and not rule.allow:
            raise errors.Robots(
                f'robots.txt disallows {url.target}: "{rule}" (line {rule.line} of {kept.url})',
                remedy="ask the site, or use another page; an operator may set egress.robots = ignore",
                url=url.href,
            )

    async def rules(self, url: Url) -> Robots:
        """The rules of `url`'s origin (empty ones where there are none), e.g. for `content_signals`."""
        return (await self._at(url)).rules

    async def wait_turn(self, url: Url, deadline_s: float) -> float:
        """Waits until the site's Crawl-delay lets the next request go; seconds waited.

        Raises: errors.RateLimited at once, with `retry_after`, when that would take longer than `deadline_s`.
        """
        delay = (await self._at(url)).rules.crawl_delay(self.agent)
        if not delay:
            return 0.0
        now = self._clock()
        turn = max(now, self._turns.get(url.origin, now))
        if turn - now > deadline_s:
            raise errors.RateLimited(
                f"{url.origin} asks for {delay:g} s between requests (Crawl-delay), the next may go in {turn - now:.1f} s",
                remedy="wait, or give the call a longer timeout",
                url=url.href,
                retryable=True,
                retry_after=turn - now,
            )
        self._turns[url.origin] = turn + delay
        self._turns.move_to_end(url.origin)
        while len(self._turns) > KEEP_ORIGINS:
            self._turns.popitem(last=False)
        if turn > now:
            await self._sleep(turn - now)
        return turn - now

    async def _at(self, url: Url) -> Kept:
        kept = self._kept.get(url.origin)
        if kept is None or kept.until <= self._clock():
            kept = await self._flights.join(url.origin, lambda: self._ask(url))
        else:
            self._kept.move_to_end(url.origin)
        return kept

    async def _ask(self, url: Url) -> Kept:
        where = f"{url.origin}/robots.txt"
        why, absent = "did not answer", None
        try:
            status, body = await self._fetch(where)
        except errors.Unreachable as error:
            status = error.status if isinstance(error, errors.HttpError | errors.RateLimited) else None
            body, why = b"", f"could not be read ({error.code})"
            absent = error if isinstance(error, errors.Dns | errors.Tls) else None
        kept = replace(_judged(where, status, body, why, self._clock()), absent=absent)
        self._keep(url.origin, kept)
        return kept

    def _keep(self, origin: str, kept: Kept) -> None:
        older = self._kept.pop(origin, None)
        self._kept[origin] = kept
        self._bytes += kept.size - (older.size if older else 0)
        while len(self._kept) > 1 and (len(self._kept) > KEEP_ORIGINS or self._bytes > KEEP_BYTES):
            self._bytes -= self._kept.popitem(last=False)[1].size


def _judged(where: str, status: int | None, body: bytes, why: str, now: float) -> Kept:
    """What a download means (RFC 9309 2.3.1): found, 4xx is no rules, anything else forbids everything."""
    if status is not None and 200 <= status < 300:
        return Kept(where, Robots(body), now + KEEP_S, size=len(body))
    if status is not None and 400 <= status < 500:
        return Kept(where, Robots(b""), now + KEEP_S)
    return Kept(where, Robots(b""), now + KEEP_FAILED_S, why if status is None else f"answered {status}")
