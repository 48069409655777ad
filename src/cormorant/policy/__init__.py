"""Where requests may go: host lists, address ranges, ports, and who said no. Pure: no sockets, no clock.

One pattern language everywhere (egress lists, search filters, ranking, no-proxy lists):

    x.org        narrow (allow lists): that host alone; wide (block lists, filters): the host and everything under it
    .x.org       the host and everything under it
    *.x.org      everything under it, not the host
    =x.org       exactly that host
    x.org:8080   any of these with one port; 10.0.0.7, 10.0.0.7:8080, [fd00::7]:8080 for addresses; * for every host

Case, a trailing dot and the IDNA form never matter: both sides go through the one URL parser.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from ipaddress import ip_network

from cormorant.address import DEFAULT_PORTS, Url, parse
from cormorant.errors import CormorantError, InvalidArguments, NotAllowed, PrivateAddress, Refused
from cormorant.policy import networks

# fetch.spec.whatwg.org, "bad port": services that can be made to act on an HTTP request.
BAD_PORTS = frozenset(
    {0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110}
    | {111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532}
    | {540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061}
    | {6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080}
)
NEVER_NAMES = {  # refused whatever the lists say
    "localhost": "this machine (RFC 6761)",
    "localhost.localdomain": "this machine",
    "localhost6": "this machine",
    "onion": "a Tor address, which must not be looked up in DNS (RFC 7686)",
    "metadata.google.internal": "instance metadata of Google",
    "metadata.goog": "instance metadata of Google",
    "metadata.tencentyun.com": "instance metadata of Tencent",
    "instance-data.ec2.internal": "instance metadata of AWS",
}
INSIDE_NAMES = {  # names no public server has; reached only when the allow list names them
    "local": "link-local names (RFC 6762)",
    "localdomain": "names of a local network",
    "internal": "private names (reserved by ICANN)",
    "intranet": "private names (RFC 6762, appendix G)",
    "private": "private names (RFC 6762, appendix G)",
    "corp": "private names (RFC 6762, appendix G)",
    "home": "private names (RFC 6762, appendix G)",
    "lan": "private names (RFC 6762, appendix G)",
    "home.arpa": "home networks (RFC 8375)",
    "svc": "names inside a cluster",
    "alt": "names outside DNS (RFC 9476)",
}
PASSED_MAX = 4096  # hosts whose "yes" is remembered; the lists of one policy never change
_LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")  # RFC 1123 2.1, and the underscore that real names have


@dataclass(frozen=True, slots=True)
class HostPattern:
    """One entry of a list, read once. `kind` is bare, tree, under, exact, address or any."""

    text: str
    kind: str
    host: str
    port: int | None = None

    def matches(self, host: str, port: int | None = None, *, wide: bool) -> bool:
        """Whether `host` (as `Url.host`) is meant. `wide` reads a bare name as the host and everything under it.

        `port` None stands for a place where ports do not matter, such as a search result: then a pattern's own port
        is not looked at.
        """
        if self.port is not None and port is not None and self.port != port:
            return False
        if self.kind == "any":
            return True
        if self.kind == "bare":
            return host == self.host or (wide and host.endswith("." + self.host))
        if self.kind == "tree":
            return host == self.host or host.endswith("." + self.host)
        if self.kind == "under":
            return host.endswith("." + self.host)
        return host == self.host

    def __str__(self) -> str:
        return self.text


@lru_cache(maxsize=4096)
def pattern(text: str) -> HostPattern:
    """Read one pattern; an address such as `https://x.org/` counts as its host. Raises: InvalidArguments."""
    wanted = text.strip()
    if wanted == "*":
        return HostPattern("*", "any", "")
    kind, rest = "bare", wanted
    for prefix, name in (("*.", "under"), (".", "tree"), ("=", "exact")):
        if wanted.startswith(prefix):
            kind, rest = name, wanted[len(prefix) :]
            break
    if rest.count(":") > 1 and "://" not in rest and "[" not in rest:
        rest = f"[{rest}]"
    try:
        url = parse(rest if "://" in rest else f"http://{rest}")
    except InvalidArguments as error:
        raise _bad_pattern(text) from error
    if url.target != "/" or url.fragment or "*" in url.host or not _is_name(dotless(url.host)):
        raise _bad_pattern(text)
    host = dotless(url.host)
    if is_literal(host):
        if kind not in ("bare", "exact"):
            raise _bad_pattern(text)
        kind = "address"
    given = re.search(r":(\d+)/?$", rest)
    port = int(given[1]) if given and not rest.endswith("]") and (rest.count(":") == 1 or "]" in rest or "://" in rest) else None
    return HostPattern(wanted, kind, host, port)


def _bad_pattern(text: str) -> InvalidArguments:
    return InvalidArguments(
        f"not a host pattern: {text.strip()[:200]!r}",
        remedy="write x.org, .x.org, *.x.org, =x.org, x.org:8080, 10.0.0.7 or 10.0.0.7:8080; networks go into egress.allow_ranges",
    )


def matches(patterns: Iterable[str | HostPattern], host: str, port: int | None = None, *, wide: bool) -> HostPattern | None:
    """The first pattern that means this host, if any; `host` may be spelled as people spell it."""
    name = host_of(host)
    for one in patterns:
        read = pattern(one) if isinstance(one, str) else one
        if read.matches(name, port, wide=wide):
            return read
    return None


@lru_cache(maxsize=4096)
def host_of(text: str) -> str:
    """A host as the parser spells it: lower case, A-labels, no brackets, no trailing dot; unreadable text stays itself."""
    try:
        return dotless(parse(f"http://{f'[{text}]' if text.count(':') > 1 and not text.startswith('[') else text}").host)
    except InvalidArguments:
        return text.lower()


def dotless(host: str) -> str:
    """The host without its root dot, so that `x.org.` is matched as `x.org`."""
    return host.rstrip(".")


def is_literal(host: str) -> bool:
    """Whether the host is an address and not a name. The parser has brought every IPv4 spelling into dotted form."""
    try:
        networks.read(host)
    except ValueError:
        return False
    return True


def _is_name(host: str) -> bool:
    return is_literal(host) or (len(host) <= 253 and all(_LABEL.fullmatch(label) for label in host.split(".")))


@dataclass(frozen=True, slots=True)
class Check:
    """One line of an explanation: what was looked at, whether it passed, and the rule that spoke."""

    name: str
    ok: bool
    rule: str


@dataclass(frozen=True)
class Policy:
    """Which hosts and addresses may be reached. Frozen, hashable: a pool of connections belongs to one policy.

    `allow` None means every public host, an empty list none. `block` wins over it. `allow_ranges` are CIDRs exempt
    from the private-address check; metadata addresses stay refused. `prefer` only orders search results.
    Raises: InvalidArguments for a pattern that can't be read. A bad range refuses every request instead.
    """

    allow: tuple[str, ...] | None = None
    block: tuple[str, ...] = ()
    prefer: tuple[str, ...] = ()
    allow_ranges: tuple[str, ...] = ()
    _allow: tuple[HostPattern, ...] | None = field(init=False, repr=False, compare=False)
    _block: tuple[HostPattern, ...] = field(init=False, repr=False, compare=False)
    _ranges: tuple[networks.Network, ...] = field(init=False, repr=False, compare=False)
    _bad_range: str = field(init=False, repr=False, compare=False)
    _hash: int = field(init=False, repr=False, compare=False)
    _passed: set[tuple[str, int, bool]] = field(init=False, repr=False, compare=False)  # what check_url has let through before

    def __post_init__(self) -> None:
        for name in ("block", "prefer", "allow_ranges"):
            object.__setattr__(self, name, _entries(getattr(self, name)))
        allow = None if self.allow is None else _entries(self.allow)
        object.__setattr__(self, "allow", allow)
        object.__setattr__(self, "_allow", None if allow is None else tuple(pattern(text) for text in allow))
        object.__setattr__(self, "_block", tuple(pattern(text) for text in self.block))
        for text in self.prefer:
            pattern(text)
        ranges, bad = _ranges(self.allow_ranges)
        object.__setattr__(self, "_ranges", ranges)
        object.__setattr__(self, "_bad_range", bad)
        object.__setattr__(self, "_hash", hash((self.allow, self.block, self.prefer, self.allow_ranges)))
        object.__setattr__(self, "_passed", set())

    def __hash__(self) -> int:
        return self._hash

    def check_url(self, url: str | Url) -> Url:
        """The parsed address, when everything that can be known without DNS allows it. Raises: InvalidArguments, Refused."""
        found = url if isinstance(url, Url) else parse(url)
        known = (found.host, found.port, found.ambiguous)  # all a decision depends on: parse has settled the scheme
        if known not in self._passed:
            for check in self._checks(found):
                if isinstance(check, CormorantError):
                    raise check
            if len(self._passed) >= PASSED_MAX:
                self._passed.clear()
            self._passed.add(known)
        return found

    def check_address(self, host: str, ip: str, port: int | None = None) -> None:
        """Whether `host` may be reached at `ip`. Raises: PrivateAddress, NotAllowed."""
        shown = f"host {host!r} is at {ip}" if host != ip else f"the address {ip}"
        try:
            address = networks.read(ip)
        except ValueError:
            raise PrivateAddress(f"{shown}, which is not an address", remedy="look at what the resolver answers") from None
        if self._bad_range:
            raise self._range_error()
        if "%" in ip:
            raise PrivateAddress(f"{shown}: an address with a zone is link-local", remedy="no setting allows this")
        if whose := networks.metadata(address):
            raise PrivateAddress(f"{shown}: {whose}, never reached", remedy="no setting allows this")
        literals = (str(address), *(str(inner) for inner in networks.embedded(address)))
        for one in self._block:
            if one.kind == "address" and one.host in literals and (port is None or one.port in (None, port)):
                raise NotAllowed(f"{shown}, which egress.block names ({one})", remedy=f"remove {one} from egress.block")
        why = networks.special(address)
        if not why or self._in_ranges(address) or (host in literals and self._names_literal(host, port)):
            return
        ranges = ",".join([*self.allow_ranges, f"{address}/{address.max_prefixlen}"])
        allowing = self._command(_with_port(ip, port)) if host == ip else f"cormorant setting set egress.allow_ranges {ranges}"
        raise PrivateAddress(f"{shown}, which is not public: {why}", remedy=allowing)

    def explain(self, url: str | Url) -> list[Check]:
        """Each check in order with the rule that spoke, up to the first refusal. Never raises an error of ours."""
        try:
            found = url if isinstance(url, Url) else parse(url)
        except InvalidArguments as error:
            return [Check("parse", False, str(error))]
        lines = [Check("parse", True, found.href)]
        for check in self._checks(found):
            if isinstance(check, CormorantError):
                return [*lines, Check(check.code, False, f"{check.message}; {check.remedy}" if check.remedy else check.message)]
            lines.append(check)
        return lines

    def explain_address(self, host: str, ip: str, port: int | None = None) -> Check:
        """The same for one answer of the resolver."""
        try:
            self.check_address(host, ip, port)
        except Refused as error:
            return Check(error.code, False, f"{error.message}; {error.remedy}" if error.remedy else error.message)
        why = networks.special(networks.read(ip))
        return Check("address", True, f"{ip} is public" if not why else f"{ip} is opened by the lists ({why})")

    def _checks(self, url: Url) -> Iterator[Check | CormorantError]:
        """Every check that needs no DNS, in order; an error ends the walk."""
        host, port = dotless(url.host), url.port
        if self._bad_range:
            yield self._range_error(url)
            return
        if url.ambiguous:
            yield NotAllowed(
                "a backslash in the host part reads as one host here and as another elsewhere", url=url.href, remedy=f"write {url.href}"
            )
            return
        if not _is_name(url.host):
            yield NotAllowed(f"{host!r} can't be the name of a public host", url=url.href, remedy="check the spelling of the host")
            return
        yield Check("scheme", True, url.scheme)
        if port in BAD_PORTS:
            yield NotAllowed(f"port {port} is on the bad-port list of the Fetch standard", url=url.href, remedy="no setting allows this")
            return
        yield Check("port", True, str(port))
        blocked = next((one for one in self._block if one.matches(host, port, wide=True)), None)
        if blocked:
            yield NotAllowed(
                f'host "{host}" is not allowed by policy: egress.block has {blocked}',
                url=url.href,
                remedy=f"remove {blocked} from egress.block",
            )
            return
        yield Check("block", True, "no pattern of egress.block matches")
        named = self._named(host, port)
        if self._allow is not None and not named:
            yield NotAllowed(
                f'host "{host}" is not allowed by policy: egress.allow does not name it',
                url=url.href,
                remedy=f"cormorant egress allow {_with_port(host, port if port not in DEFAULT_PORTS.values() else None)}",
            )
            return
        yield Check("allow", True, f"egress.allow has {named}" if named else "egress.allow is unset: every public host")
        yield self._judge_name(url, host, named) or Check("name", True, f"{host} is not a special name")
        if is_literal(host):
            yield self.explain_literal(url, host) or Check("address", True, f"{host} may be reached")

    def _judge_name(self, url: Url, host: str, named: HostPattern | None) -> CormorantError | None:
        """Names that never mean a public server; a literal address is none of them."""
        if is_literal(host):
            return None
        if suffix := _suffix(host, NEVER_NAMES):
            here = suffix.startswith("localhost")
            hint = f"name the address: {self._command(f'127.0.0.1:{url.port}')}" if here else "no setting allows this"
            return PrivateAddress(f"{host} is {NEVER_NAMES[suffix]}", url=url.href, remedy=hint)
        if named and named.kind != "any":
            return None
        allowing = self._command(host)
        if suffix := _suffix(host, INSIDE_NAMES):
            return PrivateAddress(f"{host} is no public name: .{suffix} is for {INSIDE_NAMES[suffix]}", url=url.href, remedy=allowing)
        if "." not in host:
            return PrivateAddress(f"{host} is no public name: it has a single label (RFC 7085)", url=url.href, remedy=allowing)
        return None

    def explain_literal(self, url: Url, host: str) -> CormorantError | None:
        """The refusal of a literal address, if it is refused."""
        try:
            self.check_address(host, host, url.port)
        except Refused as error:
            error.url = url.href
            return error
        return None

    def _command(self, entry: str) -> str:
        """What allows an entry. Where no list is set yet, a list of one would close every other host: `*` keeps them."""
        return f"cormorant egress allow {entry}" + (" '*'" if self._allow is None else "")

    def _named(self, host: str, port: int) -> HostPattern | None:
        return next((one for one in self._allow or () if one.matches(host, port, wide=False)), None)

    def _names_literal(self, host: str, port: int | None) -> bool:
        return any(one.kind == "address" and one.matches(host, port, wide=False) for one in self._allow or ())

    def _in_ranges(self, address: networks.Address) -> bool:
        """Whether the operator opened it; an address that carries others needs each of those to be public or opened too."""
        inner = networks.embedded(address)
        if inner and all(not networks.special(one) or self._in_ranges(one) for one in inner):
            return any(self._in_ranges(one) for one in inner) or self._covers(address)
        return not inner and self._covers(address)

    def _covers(self, address: networks.Address) -> bool:
        return any(address.version == network.version and address in network for network in self._ranges)

    def _range_error(self, url: Url | None = None) -> NotAllowed:
        return NotAllowed(
            f"egress.allow_ranges has a bad entry: {self._bad_range}",
            url=url.href if url else "",
            remedy="write CIDRs such as 10.0.0.0/8 and never /0; nothing is fetched until it is corrected",
        )


def _entries(values: object) -> tuple[str, ...]:
    """A list setting as a tuple; a single string counts as one entry."""
    if isinstance(values, str):
        return (values,)
    if not isinstance(values, Iterable) or not all(isinstance(one, str) for one in values):
        raise InvalidArguments(f"a list of host patterns is needed, not {values!r}"[:300], remedy='write ["x.org", ".y.org"]')
    return tuple(values)


def _ranges(texts: tuple[str, ...]) -> tuple[tuple[networks.Network, ...], str]:
    """The networks, and the first entry that is none (one bad entry closes everything: a typo must not go unseen)."""
    found: list[networks.Network] = []
    for text in texts:
        try:
            network = ip_network(text.strip(), strict=False)
        except ValueError:
            return (), repr(text)
        if network.prefixlen == 0:
            return (), f"{text!r} would open every address"
        found.append(network)
    return tuple(found), ""


def _suffix(host: str, names: dict[str, str]) -> str:
    """The longest entry of `names` that the host is, or is under."""
    labels = host.split(".")
    return next((name for n in range(len(labels)) if (name := ".".join(labels[n:])) in names), "")


def _with_port(host: str, port: int | None) -> str:
    shown = f"[{host}]" if ":" in host and port is not None else host
    return shown if port is None else f"{shown}:{port}"
