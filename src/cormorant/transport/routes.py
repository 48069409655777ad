"""How a connection to an origin is made: straight to a checked address, or by name through the operator's proxy.

In proxy mode nothing is resolved here but the proxy's own name: the lists judge the name, the proxy judges the address.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from base64 import b64encode
from dataclasses import dataclass, field
from urllib.parse import unquote

import ada_url

from cormorant.address import Url
from cormorant.errors import InvalidArguments, Network, NotAllowed, PrivateAddress, Timeout
from cormorant.policy import HostPattern, Policy, matches, networks, pattern
from cormorant.transport.dialling import Connect, Resolve, SystemResolver, addresses_of, connect, dial, handshake_error, start, trust, vet
from cormorant.transport.resource import Options
from cormorant.transport.wire import Broken, Malformed, Wire, write_head


@dataclass(frozen=True)
class Proxy:
    """A forward proxy: the operator's, never an argument of a call."""

    scheme: str
    host: str
    port: int
    authorization: str = field(default="", repr=False)

    @classmethod
    def read(cls, text: str) -> Proxy:
        """`http://user:password@host:3128`. Raises: InvalidArguments."""
        hint = "write http://host:port or https://host:port"
        try:
            url = ada_url.URL(text if "://" in text else f"http://{text}")
        except (ValueError, UnicodeError) as error:
            raise InvalidArguments("egress.proxy is not an address", remedy=hint) from error
        scheme = url.protocol.removesuffix(":")
        if scheme not in ("http", "https") or not url.hostname or url.pathname not in ("", "/"):
            raise InvalidArguments("egress.proxy is not the address of an http or https proxy", remedy=hint)
        login = f"{unquote(url.username)}:{unquote(url.password)}"
        authorization = f"Basic {b64encode(login.encode()).decode()}" if url.username else ""
        return cls(scheme, url.hostname.strip("[]"), int(url.port or {"http": 80, "https": 443}[scheme]), authorization)


class Dialler:
    """Opens connections for one Transport. `trusted` origins are the operator's own settings: pinned, not judged."""

    def __init__(self, policy: Policy, resolve: Resolve | None, proxy: str | None, options: Options) -> None:
        self._policy = policy
        self._system = SystemResolver()
        self._resolve = resolve or self._system
        self._options = options
        self._proxy = Proxy.read(proxy) if proxy else None
        self._no_proxy: tuple[HostPattern, ...] = tuple(pattern(text) for text in options.no_proxy)
        self._tls: ssl.SSLContext | None = None
        self._connect: Connect = connect

    def renewed(self, policy: Policy, proxy: str | None, options: Options) -> Dialler:
        """One for other settings, over the same resolver. Raises: InvalidArguments."""
        made = Dialler(policy, self._resolve, proxy, options)
        made._system.close()
        made._system, made._connect = self._system, self._connect
        return made

    def proxied(self, url: Url) -> bool:
        """Whether this address goes through the proxy."""
        return self._proxy is not None and not matches(self._no_proxy, url.host, url.port, wide=True)

    def target(self, url: Url) -> str:
        """What stands on the request line: absolute-form only for plain http through a proxy (RFC 9112 3.2.2)."""
        return url.origin + url.target if url.scheme == "http" and self.proxied(url) else url.target

    def proxy_headers(self, url: Url, *, trusted: bool) -> list[tuple[str, str]]:
        """Fields for the proxy alone. On https they go with CONNECT, so the origin never sees them."""
        if url.scheme == "https" or not self.proxied(url):
            return []
        return self._for_the_proxy(trusted=trusted)

    def _for_the_proxy(self, *, trusted: bool) -> list[tuple[str, str]]:
        fields = [] if trusted else [(name, "1") for name in self._options.public_only_headers]
        if self._proxy and self._proxy.authorization:
            fields.append(("Proxy-Authorization", self._proxy.authorization))
        return fields

    async def open(self, url: Url, *, trusted: bool) -> Wire:
        """A connection to the origin of `url`. Raises: Dns, Refused, Network, Tls, Timeout."""
        if self._proxy and self.proxied(url):
            return await self._through(self._proxy, url, trusted=trusted)
        found = await self.look_up(url)
        addresses = _not_metadata(url, found) if trusted else vet(self._policy, url.host, url.port, found)
        opened = await self._dial(url.host, url.port, addresses)
        return await start(opened, url.host, self._context(url.scheme), timeout_s=self._options.connect_timeout_s)

    async def look_up(self, url: Url) -> list[str]:
        """The addresses of a host, judged by nobody yet. Raises: Dns."""
        return await addresses_of(url.host, url.port, self._resolve)

    async def _dial(self, host: str, port: int, addresses: list[str]) -> socket.socket:
        return await dial(host, port, addresses, timeout_s=self._options.connect_timeout_s, connect=self._connect)

    def _context(self, scheme: str) -> ssl.SSLContext | None:
        if scheme != "https":
            return None
        if self._tls is None:
            self._tls = trust(self._options.ca_bundle)
        return self._tls

    async def _through(self, proxy: Proxy, url: Url, *, trusted: bool) -> Wire:
        limit = self._options.connect_timeout_s
        found = await addresses_of(proxy.host, proxy.port, self._system)
        opened = await self._dial(proxy.host, proxy.port, found)
        wire = await start(opened, proxy.host, self._context(proxy.scheme), timeout_s=limit)
        if url.scheme == "http":
            return wire
        try:
            async with asyncio.timeout(limit):
                await self._tunnel(wire, url, self._for_the_proxy(trusted=trusted))
        except TimeoutError:
            wire.abort()
            raise Timeout(f"the tunnel through the proxy to {url.host} took more than {limit:g} s", retryable=True) from None
        except BaseException:
            wire.abort()
            raise
        return wire

    async def _tunnel(self, wire: Wire, url: Url, fields: list[tuple[str, str]]) -> None:
        """CONNECT by name, then TLS with the origin inside (RFC 9110 9.3.6)."""
        authority = f"{f'[{url.host}]' if ':' in url.host else url.host}:{url.port}"
        await wire.send(write_head("CONNECT", authority, [("Host", authority), *fields]))
        try:
            head = await wire.head("CONNECT")
        except (Malformed, Broken) as error:
            raise Network(f"the proxy did not answer CONNECT {authority}: {error}") from error
        if head.status == 403:
            raise NotAllowed(f"the proxy refuses {authority}", remedy="allow the host at the proxy")
        if head.status == 407:
            raise Network("the proxy wants credentials", status=407, remedy="set egress.proxy to http://user:password@host:port")
        if not 200 <= head.status < 300:
            raise Network(f"the proxy answered CONNECT {authority} with {head.status}", status=head.status)
        context = self._context("https")
        assert context is not None
        try:
            await wire.start_tls(context, url.host, self._options.connect_timeout_s)
        except Malformed as error:
            raise Network(str(error)) from error
        except OSError as error:
            raise handshake_error(url.host, error) from error

    def close(self) -> None:
        self._system.close()


def _not_metadata(url: Url, addresses: list[str]) -> list[str]:
    """A setting may name a private host, but no setting leads to a metadata service."""
    for address in addresses:
        if whose := networks.metadata(networks.read(address)):
            raise PrivateAddress(f"{url.host} is at {address}: {whose}, never reached", url=url.href, remedy="no setting allows this")
    return list(dict.fromkeys(addresses))
