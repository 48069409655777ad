"""Every error a caller can meet: one tree, one shape, the same code on every surface. Pure.

CormorantError
  InvalidArguments   the call can't be read
  Refused            a rule said no; `remedy` names what would allow it
    NotAllowed · PrivateAddress · Robots · Provenance · Vetoed
  Unreachable        the network said no
    Network · Dns · Tls · Timeout · Redirect · HttpError · RateLimited
  NotContent         the page answered 200 and is not what was asked for
    Challenge · LoginRequired · Paywall · Consent · Soft404 · NeedsJavascript · Parked · EmptyPage
  Unreadable         bytes came, no document could be made of them
    UnsupportedType · TooLarge · ExtractionFailed
  NotHeld            nothing is stored under that id or selector
    UnknownResponse · UnknownSelector
  BackendFailed      a search or model backend answered badly, or none is there
    NoProvider · ProviderError · ProviderMisconfigured · NotConfigured
  BudgetSpent · ReplayMiss · Cancelled · Internal
"""

from __future__ import annotations

import re
from typing import Any, ClassVar

MESSAGE_MAX_CHARS = 2_000  # one error must never flood the context it is read in


class CormorantError(Exception):
    """Base of the tree. `str(error)` is one line fit for a model to read: what was asked, why not.

    `remedy` is what would allow it (a command, a setting, another argument); `hop` counts redirects from 0.
    """

    http: ClassVar[int] = 500
    exit_code: ClassVar[int] = 6
    keeps_lines: ClassVar[bool] = False  # a list of selectors reads better one a line

    def __init__(
        self,
        message: str,
        *,
        remedy: str = "",
        url: str = "",
        hop: int | None = None,
        status: int | None = None,
        retryable: bool = False,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(_clip(message if self.keeps_lines else " ".join(message.split())))
        self.message = str(self)
        self.remedy = _clip(" ".join(remedy.split()))
        self.url = url
        self.hop = hop
        self.status = status
        self.retryable = retryable
        self.retry_after = retry_after

    @property
    def code(self) -> str:
        """The class name in snake case, e.g. `private_address`: stable, the same on every surface."""
        return re.sub(r"(?<=[a-z])(?=[A-Z0-9])", "_", type(self).__name__).lower()

    def as_dict(self) -> dict[str, Any]:
        """The one JSON shape of an error, on every surface."""
        return {
            "code": self.code,
            "message": self.message,
            "hint": self.remedy,
            "url": self.url or None,
            "hop": self.hop,
            "status": self.status,
            "retryable": self.retryable,
            "retry_after": self.retry_after,
        }


def _clip(text: str) -> str:
    return text if len(text) <= MESSAGE_MAX_CHARS else text[: MESSAGE_MAX_CHARS - 1] + "…"


class InvalidArguments(CormorantError):
    """A required argument is missing, a value can't be read, or an address is not http(s)."""

    http = 422
    exit_code = 2


class Refused(CormorantError):
    """A rule said no."""

    http = 403
    exit_code = 3


class NotAllowed(Refused):
    """The egress lists say no; the message names the rule."""


class PrivateAddress(Refused):
    """A name resolves to, or the URL names, an address that is not public."""


class Robots(Refused):
    """robots.txt disallows it; the message names the path and the robots URL."""


class Provenance(Refused):
    """Strict provenance is on and the URL was never seen."""


class Vetoed(Refused):
    """A gate said no; the message names gate and reason."""


class Unreachable(CormorantError):
    """The network, or the server at the other end, said no."""

    http = 502
    exit_code = 4


class Network(Unreachable):
    """The connection could not be made or broke; the message names the phase."""


class Dns(Unreachable):
    """The name has no address."""


class Tls(Unreachable):
    """The certificate or the handshake was not acceptable."""


class Timeout(Unreachable):
    """The total deadline passed; the message names what was waited for."""

    http = 504


class Redirect(Unreachable):
    """Too many redirects, a loop, or a hop that can't be followed; the message lists the chain."""


class HttpError(Unreachable):
    """The final status is not 2xx."""


class RateLimited(Unreachable):
    """429 or a spent quota; `retry_after` in seconds when the server said so."""

    http = 503


class NotContent(CormorantError):
    """The server said 200, and the page is not the content that was asked for."""

    http = 502
    exit_code = 5


class Challenge(NotContent):
    """A bot check."""


class LoginRequired(NotContent):
    """A sign-in page."""


class Paywall(NotContent):
    """The text stops at a paywall."""


class Consent(NotContent):
    """A consent sheet and nothing else."""


class Soft404(NotContent):
    """A missing page, answered with 200."""


class NeedsJavascript(NotContent):
    """A shell whose content only a script would bring."""


class Parked(NotContent):
    """A parked domain."""


class EmptyPage(NotContent):
    """No text at all."""


class Unreadable(CormorantError):
    """Bytes came, and no document could be made of them."""

    http = 422
    exit_code = 5


class UnsupportedType(Unreadable):
    """Neither text nor a known document; the message names the type."""

    http = 415


class TooLarge(Unreadable):
    """Over its limit."""

    http = 413


class ExtractionFailed(Unreadable):
    """No article in it, an encrypted or broken document; the message says what to try."""


class NotHeld(CormorantError):
    """Nothing is stored under that id or selector."""

    http = 404
    exit_code = 1


class UnknownResponse(NotHeld):
    """No result is stored under this response_id."""


class UnknownSelector(NotHeld):
    """The stored result has no such item; the message lists those it has, one a line."""

    keeps_lines = True


class BackendFailed(CormorantError):
    """A search or model backend answered badly, or none is there."""

    http = 502
    exit_code = 6


class NoProvider(BackendFailed):
    """Nothing can search; the message says which settings to set."""

    http = 503


class ProviderError(BackendFailed):
    """The backend failed: status, first 300 characters (key redacted), the variable looked at."""


class ProviderMisconfigured(BackendFailed):
    """The backend answers, and its configuration has to change; the message says how."""


class NotConfigured(BackendFailed):
    """A part lacks a setting or an optional package; `remedy` says which."""

    http = 503


class BudgetSpent(CormorantError):
    """A limit of the run's ledger is reached; the message names it."""

    http = 429
    exit_code = 3


class ReplayMiss(CormorantError):
    """The tape does not hold that exchange."""

    http = 404


class Cancelled(CormorantError):
    """The caller went away."""

    http = 499


class Internal(CormorantError):
    """A bug of ours. Nothing of the stack reaches the model."""


def family(code: str) -> type[CormorantError]:
    """The class behind a code, e.g. to rebuild an error that came over a wire. Raises: KeyError."""
    return _BY_CODE[code]


def _tree(of: type[CormorantError]) -> list[type[CormorantError]]:
    return [of, *(leaf for sub in of.__subclasses__() for leaf in _tree(sub))]


_BY_CODE = {kind("").code: kind for kind in _tree(CormorantError)}
