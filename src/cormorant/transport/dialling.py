"""The one place where a socket opens: resolve once, check every answer, dial the literal, compare the peer.

Between the check and the connection no name is looked up again, so an answer that changes (DNS rebinding) can't matter.
SNI and certificate stay on the name. Nothing here reads the environment: no proxy variables, no netrc.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
import threading
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue

from cormorant.errors import CormorantError, Dns, InvalidArguments, Network, Timeout, Tls
from cormorant.policy import Policy, networks
from cormorant.transport.wire import SHUTDOWN_S, Wire

Resolve = Callable[[str, int], Awaitable[list[str]]]
Connect = Callable[[str, int], Awaitable[socket.socket]]

RESOLVER_THREADS = 64  # the default executor has 6 on two cores: 256 look-ups of 50 ms would take over two seconds
ATTEMPT_DELAY_S = 0.25  # RFC 8305 5
ATTEMPTS_MAX = 8  # addresses tried of one name


_Job = tuple[asyncio.AbstractEventLoop, "asyncio.Future[list[str]]", str, int]


class SystemResolver:
    """getaddrinfo in threads of its own. Answers are used for one connection and forgotten.

    The threads are daemons: a look-up that hangs must not hold up the end of the program, as the threads of an executor
    would.
    """

    def __init__(self) -> None:
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._threads = 0
        self._open = 0  # look-ups waiting or going on

    async def __call__(self, host: str, port: int) -> list[str]:
        loop = asyncio.get_running_loop()
        found: asyncio.Future[list[str]] = loop.create_future()
        with self._lock:
            self._open += 1
            grow = self._open > self._threads and self._threads < RESOLVER_THREADS
            self._threads += grow
        self._jobs.put((loop, found, host, port))
        if grow:
            threading.Thread(target=self._work, name="cormorant-dns", daemon=True).start()
        return list(dict.fromkeys(await found))

    def _work(self) -> None:
        while job := self._jobs.get():
            loop, found, host, port = job
            answer: list[str] | OSError | UnicodeError
            try:
                answer = _look_up(host, port)
            except (OSError, UnicodeError) as error:
                answer = error
            with self._lock:
                self._open -= 1
            with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                loop.call_soon_threadsafe(_settle, found, answer)

    def close(self) -> None:
        """Let the threads end. Look-ups that hang end with the program at the latest."""
        with self._lock:
            threads, self._threads = self._threads, 0
        for _ in range(threads):
            self._jobs.put(None)


def _settle(found: asyncio.Future[list[str]], answer: list[str] | OSError | UnicodeError) -> None:
    if found.done():
        return
    if isinstance(answer, list):
        found.set_result(answer)
    else:
        found.set_exception(answer)


def _look_up(host: str, port: int) -> list[str]:
    return [str(entry[4][0]) for entry in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]


async def addresses_of(host: str, port: int, resolve: Resolve) -> list[str]:
    """What the resolver says, or the literal itself. Raises: Dns."""
    try:
        networks.read(host)
    except ValueError:
        pass
    else:
        return [host]
    try:
        found = await resolve(host, port)
    except CormorantError:
        raise
    except (OSError, UnicodeError) as error:
        raise Dns(f"{host} has no address: {_reason(error)}", remedy="check the spelling of the host", retryable=_passing(error)) from error
    if not found:
        raise Dns(f"{host} has no address", remedy="check the spelling of the host")
    for address in found:
        if not _is_address(address):
            raise Dns(f"the resolver says that {host} is at {str(address)[:60]!r}, which is not an address", remedy="look at the resolver")
    return list(found)


def _is_address(text: object) -> bool:
    try:
        networks.read(str(text))
    except ValueError:
        return False
    return isinstance(text, str)


def _passing(error: Exception) -> bool:
    return isinstance(error, socket.gaierror) and error.errno == socket.EAI_AGAIN


def vet(policy: Policy, host: str, port: int, addresses: Sequence[str]) -> list[str]:
    """The addresses to dial, once every one was checked: one bad answer refuses the name. Raises: Refused."""
    for address in addresses:
        policy.check_address(host, address, port)
    return [_plain(address) for address in dict.fromkeys(addresses)]


def _plain(address: str) -> str:
    """The form that is dialled: an IPv4 address in IPv6 clothes (::ffff:8.8.8.8) as IPv4, no second reading possible."""
    ip = networks.read(address)
    inner = networks.embedded(ip)
    return str(inner[0]) if ip.version == 6 and ip in networks.MAPPED else str(ip)


def in_order(addresses: Sequence[str]) -> list[str]:
    """Families in turn, beginning with the one the resolver put first (RFC 8305 4)."""
    first = [one for one in addresses if (":" in one) == (":" in addresses[0])]
    second = [one for one in addresses if (":" in one) != (":" in addresses[0])]
    ordered: list[str] = []
    for n in range(max(len(first), len(second))):
        ordered += first[n : n + 1] + second[n : n + 1]
    return ordered


async def connect(address: str, port: int) -> socket.socket:
    """A connected socket to a literal address; asyncio looks nothing up for a literal."""
    opened = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM)
    try:
        opened.setblocking(False)
        opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        await asyncio.get_running_loop().sock_connect(opened, (address, port))
    except BaseException:
        opened.close()
        raise
    return opened


async def dial(host: str, port: int, addresses: Sequence[str], *, timeout_s: float, connect: Connect = connect) -> socket.socket:
    """A socket to the first address that answers, a new attempt every quarter of a second (RFC 8305 5).

    The peer is compared before the socket is handed on, so nothing is ever sent to another address.
    Raises: Network, Timeout.
    """
    waiting = in_order(addresses)[:ATTEMPTS_MAX]
    running: set[asyncio.Task[socket.socket]] = set()
    failures: list[str] = []
    try:
        async with asyncio.timeout(timeout_s):
            while waiting or running:
                if waiting:
                    running.add(asyncio.create_task(_attempt(waiting.pop(0), port, connect)))
                done, running = await asyncio.wait(
                    running, timeout=ATTEMPT_DELAY_S if waiting else None, return_when=asyncio.FIRST_COMPLETED
                )
                won = _winner(done, failures)
                if won:
                    return won
    except TimeoutError:
        raise Timeout(
            f"connecting to {host} took more than {timeout_s:g} s", remedy="raise fetch.connect_timeout", retryable=True
        ) from None
    finally:
        await _drop(running)
    raise Network(f"could not connect to {host} port {port}: {'; '.join(failures)}", retryable=True)


async def _attempt(address: str, port: int, connect: Connect) -> socket.socket:
    opened = await connect(address, port)
    try:
        peer = str(opened.getpeername()[0])
        if networks.read(peer) != networks.read(address):
            raise OSError(f"{address} was dialled and {peer} answered; dropped before anything was sent")
    except BaseException:
        opened.close()
        raise
    return opened


def _winner(done: set[asyncio.Task[socket.socket]], failures: list[str]) -> socket.socket | None:
    """One connected socket; others that connected in the same moment are closed."""
    won: socket.socket | None = None
    for task in done:
        error = task.exception()
        if error is None and won is None:
            won = task.result()
        elif error is None:
            task.result().close()
        elif isinstance(error, OSError):
            failures.append(_reason(error))
        else:
            raise error
    return won


async def _drop(running: set[asyncio.Task[socket.socket]]) -> None:
    for task in running:
        task.cancel()
    for result in await asyncio.gather(*running, return_exceptions=True):
        if isinstance(result, socket.socket):
            result.close()


async def start(opened: socket.socket, host: str, tls: ssl.SSLContext | None, *, timeout_s: float) -> Wire:
    """HTTP over the socket, which asyncio owns from here on; with TLS the certificate must be for `host`.

    Raises: Tls, Timeout.
    """
    loop = asyncio.get_running_loop()
    # asyncio's own limit of the handshake stands behind ours, so that ours speaks.
    handshake_s, shutdown_s = (timeout_s + 1, SHUTDOWN_S) if tls else (None, None)
    try:
        async with asyncio.timeout(timeout_s):
            _, wire = await loop.create_connection(
                Wire,
                sock=opened,
                ssl=tls,
                server_hostname=host if tls else None,
                ssl_handshake_timeout=handshake_s,
                ssl_shutdown_timeout=shutdown_s,
            )
    except TimeoutError:
        raise Timeout(f"the TLS handshake with {host} took more than {timeout_s:g} s", retryable=True) from None
    except OSError as error:
        raise handshake_error(host, error) from error
    return wire


def handshake_error(host: str, error: OSError) -> CormorantError:
    """What a failed handshake means. A certificate problem is never waved through."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return Tls(
            f"the certificate of {host} is not acceptable: {error.verify_message}",
            remedy="if a corporate authority signs here, set egress.ca_bundle to its PEM file",
        )
    if isinstance(error, ssl.SSLError):
        return Tls(f"the TLS handshake with {host} failed: {error.reason or error}")
    return Tls(f"{host} ended the connection during the TLS handshake: {_reason(error)}", retryable=True)


def trust(ca_bundle: str = "") -> ssl.SSLContext:
    """TLS as a browser would: 1.2 or later, certificate and name checked, HTTP/1.1 only. Raises: InvalidArguments."""
    try:
        context = ssl.create_default_context(cafile=ca_bundle or None)
    except (OSError, ssl.SSLError) as error:
        raise InvalidArguments(
            f"egress.ca_bundle can't be read: {ca_bundle} ({error})", remedy="give a PEM file of certificates"
        ) from error
    if not ca_bundle and not _has_system_store():
        context.load_verify_locations(_packaged_store())
    context.set_alpn_protocols(["http/1.1"])
    return context


def _has_system_store() -> bool:
    paths = ssl.get_default_verify_paths()
    folder = Path(paths.capath) if paths.capath else None
    return bool(paths.cafile) or bool(folder and folder.is_dir() and any(folder.iterdir()))


def _packaged_store() -> str:
    """Slim containers have no certificates of their own."""
    try:
        import certifi
    except ImportError:
        raise InvalidArguments(
            "no certificate authorities on this machine", remedy="install ca-certificates, or set egress.ca_bundle"
        ) from None
    return certifi.where()


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else "") or str(error) or type(error).__name__
