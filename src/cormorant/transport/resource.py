"""What a fetch brings, and how it may be made: values that other rooms hold. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import cormorant
from cormorant.address import Url
from cormorant.transport.cookies import Jar

CONTACT = "https://cormorant.example/agent"  # replaced by the project's own page once it has one; operators set egress.user_agent
USER_AGENT = f"Cormorant/{cormorant.__version__} (+{CONTACT})"
# Markdown first: sites that have it spare both sides the conversion; the rest is what this project reads.
ACCEPT = "text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, application/json;q=0.8, text/plain;q=0.8, */*;q=0.5"


@dataclass(frozen=True)
class Options:
    """How requests are made: an operator's settings, the same for every fetch of one Transport.

    `profiles` are header sets (a cookie, an Authorization) by host, for logged-in pages: https only, that host only.
    `public_only_headers` go to the proxy and never to an origin.
    """

    user_agent: str = ""
    accept: str = ACCEPT
    accept_language: str = "en, *;q=0.5"
    connect_timeout_s: float = 5.0
    first_byte_timeout_s: float = 15.0
    ca_bundle: str = ""
    no_proxy: tuple[str, ...] = ()
    public_only_headers: tuple[str, ...] = ("Cormorant-Egress-Public-Only",)
    profiles: Mapping[str, Mapping[str, str]] = field(default_factory=dict, repr=False)
    signer: Callable[[Url], Mapping[str, str]] | None = None  # `Signer.fields`: a signature for every request of a fetch


@dataclass(frozen=True, slots=True)
class Hop:
    """One answered request of a fetch."""

    url: str
    status: int


@dataclass(frozen=True)
class Resource:
    """What came back: the bytes, decoded from their content coding, and where they came from.

    `url` is the final address, `asked` the first one, `hops` every answered request including the last. `headers` have
    lower-case names. `private` says that a profile's credentials were sent, so the bytes belong to that operator alone.
    """

    url: str
    asked: str
    status: int
    headers: Mapping[str, str]
    body: bytes = field(repr=False)
    hops: tuple[Hop, ...] = ()
    truncated: bool = False
    retrieved_at: str = ""  # ISO 8601, UTC
    sha256: str = ""  # of `body`
    wire_bytes: int = 0
    private: bool = False
    jar: Jar = field(default_factory=Jar, repr=False)

    @property
    def content_type(self) -> str:
        """The Content-Type field as it was sent."""
        return self.headers.get("content-type", "")

    @property
    def media_type(self) -> str:
        """`text/html`, lower case, without parameters; empty where the server named none."""
        return media_type(self.content_type)

    @property
    def charset(self) -> str:
        """The charset parameter, lower case, or empty."""
        for parameter in self.content_type.split(";")[1:]:
            name, _, value = parameter.partition("=")
            if name.strip().lower() == "charset":
                return value.strip().strip("\"'").lower()
        return ""

    @property
    def redirected(self) -> bool:
        return len(self.hops) > 1


def media_type(content_type: str) -> str:
    """The type and subtype of a Content-Type field."""
    return content_type.partition(";")[0].partition(",")[0].strip().lower()
