"""What an operator may set: file and environment in, one frozen value out. Read once, by a surface.

Precedence: environment over project file (`cormorant.toml`) over user file over default. Every setting is
`CORMORANT_SECTION__NAME` in the environment; the names people already have (BRAVE_API_KEY, SEARXNG_URL, ...) work too,
each also as `NAME_FILE`. Durations are `20s`, `5m` or seconds; sizes `5MB` (1024) or bytes.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

_UNITS_S = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_UNITS_B = {"b": 1, "kb": 1024, "mb": 1024**2, "gb": 1024**3, "k": 1024, "m": 1024**2, "g": 1024**3}


def seconds(value: object) -> object:
    """`20s`, `1.5m`, `500ms` as seconds; a number stays itself."""
    return _scaled(value, _UNITS_S)


def size(value: object) -> object:
    """`5MB`, `64k` as bytes (1024); a number stays itself."""
    scaled = _scaled(value, _UNITS_B)
    return int(scaled) if isinstance(scaled, float) else scaled


def _scaled(value: object, units: dict[str, float] | dict[str, int]) -> object:
    if not isinstance(value, str):
        return value
    text = value.strip().lower().replace(" ", "")
    number = text.rstrip("abcdefghijklmnopqrstuvwxyz")
    unit = text[len(number) :]
    try:
        return float(number) * units[unit] if unit else float(number)
    except (KeyError, ValueError):
        raise ValueError(f"{value!r} is not a number with one of the units {', '.join(units)}") from None


Seconds = Annotated[float, BeforeValidator(seconds)]
Bytes = Annotated[int, BeforeValidator(size)]


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Egress(_Section):
    """Where requests may go."""

    allow: tuple[str, ...] | None = Field(None, description="Host patterns that may be reached; unset means every public host, [] means none.")
    block: tuple[str, ...] = Field((), description="Host patterns that are never reached; wins over allow.")
    allow_ranges: tuple[str, ...] = Field((), description="CIDRs exempt from the private-address check; metadata addresses stay refused.")
    robots: Literal["obey", "ignore"] = Field("obey", description="Whether robots.txt is obeyed.")
    user_agent: str = Field("", description="The User-Agent sent; empty means Cormorant/VERSION with a contact address.")
    accept_language: str = Field("en, *;q=0.5", description="The Accept-Language sent.")
    proxy: str = Field("", description="A forward proxy for every request; names are then resolved there, not here.")
    no_proxy: tuple[str, ...] = Field((), description="Host patterns that are reached without the proxy.")
    ca_bundle: str = Field("", description="A PEM file of certificate authorities to trust instead of the built-in list.")
    public_only_headers: tuple[str, ...] = Field(("Cormorant-Egress-Public-Only",), description="Headers that tell an egress proxy to refuse private addresses.")
    provenance: Literal["off", "strict"] = Field("off", description="strict: only URLs seen in user text, a result or a page are fetched.")


class Fetch(_Section):
    """How a page is fetched."""

    timeout: Seconds = Field(20.0, description="Total deadline of one fetch.", gt=0)
    connect_timeout: Seconds = Field(5.0, description="Deadline of one connection.", gt=0)
    max_bytes: Bytes = Field(2 * 1024**2, description="Decoded bytes read of a text page; more is cut and marked.", gt=0, le=10 * 1024**2)
    document_max_bytes: Bytes = Field(25 * 1024**2, description="A larger document (PDF, Office) is an error, never cut.", gt=0)
    max_chars: int = Field(20_000, description="Characters returned when neither budget, view nor section is asked.", gt=0)
    concurrency: int = Field(8, description="Fetches at once.", ge=1)
    per_host: int = Field(2, description="Fetches at once to one host.", ge=1)
    cache: bool = Field(True, description="Whether a page fetched before in this session is reused.")
    follow_redirects: bool = Field(True, description="Whether redirects are followed (at most five).")


class Search(_Section):
    """Which backend searches, and what is filtered."""

    provider: str = Field("auto", description="auto, disabled, or the name of a provider (a list `a,b` is a chain).")
    url: str = Field("", description="Base URL of the configured backend (WEB_SEARCH_URL, SEARXNG_URL).")
    key: str = Field("", description="Key of the configured backend (WEB_SEARCH_KEY).", repr=False)
    api_key_env: str = Field("", description="Name of the variable that holds the key.")
    count: int = Field(8, description="Results per query.", ge=1, le=20)
    language: str = Field("", description="Default language, BCP 47.")
    safe_search: Literal["off", "moderate", "strict"] = Field("moderate", description="Default safe search.")
    prefer_domains: tuple[str, ...] = Field((), description="Hosts lifted in rank; others stay.")
    block_domains: tuple[str, ...] = Field((), description="Hosts dropped from every result list.")
    keyless: bool = Field(True, description="Whether public keyless search is tried when nothing else is configured.")
    timeout: Seconds = Field(15.0, description="Deadline of one backend call.", gt=0)


class Answering(_Section):
    """How an answer is made."""

    scrape: Literal["auto", "on", "off"] = Field("auto", description="auto: read the hits whose hosts the egress policy allows.")
    reranker: str = Field("words", description="Name of the reranker.")
    writer: str = Field("auto", description="quote (no model), llm, or auto: llm when a model is configured.")
    model: str = Field("", description="provider/model of the writer, e.g. openai/gpt-5-mini.")
    keep: int = Field(5, description="Sources kept after reranking.", ge=1, le=20)
    sentences: int = Field(5, description="Sentences the extractive writer quotes at most.", ge=1, le=20)
    budget: int = Field(8_000, description="Tokens of evidence the writer sees.", ge=100)
    unsupported: Literal["mark", "drop"] = Field("mark", description="What happens to a sentence its source does not support.")
    include_reflection: bool = Field(False, description="Whether a model's reflection stands in front of the response.")


class Store(_Section):
    """Where results are kept."""

    path: str = Field("", description="Folder of the store; empty means the user's data folder; `memory` keeps nothing on disk.")
    max_bytes: Bytes = Field(2 * 1024**3, description="Size of the folder before the oldest results go; 0 is unbounded.", ge=0)
    max_age: Seconds = Field(0.0, description="Age at which a result goes; 0 is never.", ge=0)


class Library(_Section):
    """The local index."""

    path: str = Field("", description="File of the index; empty means the user's data folder.")


class Limits(_Section):
    """Limits of one run; 0 is none."""

    tokens: int = Field(0, description="Tokens handed over.", ge=0)
    seconds: Seconds = Field(0.0, description="Wall time.", ge=0)
    requests: int = Field(0, description="Requests sent.", ge=0)
    bytes: Bytes = Field(0, description="Bytes received.", ge=0)
    usd: float = Field(0.0, description="Money spent on backends.", ge=0)


class Settings(_Section):
    """Everything, frozen. `load()` makes one from files and environment; `Settings()` is the defaults alone."""

    egress: Egress = Egress()
    fetch: Fetch = Fetch()
    search: Search = Search()
    answer: Answering = Answering()
    store: Store = Store()
    library: Library = Library()
    limits: Limits = Limits()
    keys: dict[str, str] = Field({}, description="Secrets by the name of their variable; never shown.", repr=False)
