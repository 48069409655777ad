"""Every setting: its name, type, default, bounds and meaning. The docs and `settings list` are made from this. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.fields import FieldInfo

from cormorant.settings.units import Bytes, Seconds


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Egress(_Section):
    """Where requests may go."""

    allow: tuple[str, ...] | None = Field(
        None, description="Host patterns that may be reached; unset means every public host, [] means none."
    )
    block: tuple[str, ...] = Field((), description="Host patterns that are never reached; wins over allow.")
    allow_ranges: tuple[str, ...] = Field((), description="CIDRs exempt from the private-address check; metadata addresses stay refused.")
    robots: Literal["obey", "ignore"] = Field("obey", description="Whether robots.txt is obeyed.")
    user_agent: str = Field("", description="The User-Agent sent; empty means Cormorant/VERSION with a contact address.")
    accept_language: str = Field("en, *;q=0.5", description="The Accept-Language sent.")
    proxy: str = Field("", description="A forward proxy for every request; names are then resolved there, not here.")
    no_proxy: tuple[str, ...] = Field((), description="Host patterns that are reached without the proxy.")
    ca_bundle: str = Field("", description="A PEM file of certificate authorities to trust instead of the built-in list.")
    public_only_headers: tuple[str, ...] = Field(
        ("Cormorant-Egress-Public-Only",), description="Headers that tell an egress proxy to refuse private addresses."
    )
    logins: dict[str, str] = Field(
        {}, description="Logged-in pages: host to the name of a secret that holds header lines; sent over https to that host alone."
    )
    signing_key: str = Field("", description="A PEM file with an Ed25519 key; requests are signed with it (Web Bot Auth).")
    signing_agent: str = Field("", description="The https address under which the key directory of that key is published.")
    audit: str = Field("", description="A file that gets a JSON line for every request that was allowed or refused; secrets are taken out.")
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
    http_cache: bool = Field(
        True, description="Whether responses are kept across sessions as RFC 9111 lets a private cache; never with store.path = memory."
    )
    follow_redirects: bool = Field(True, description="Whether redirects are followed (at most five).")
    github: bool = Field(True, description="Whether repositories, files, issues and the like on github.com are read through its API.")


class Search(_Section):
    """Which backend searches, and what is filtered."""

    provider: str = Field("auto", description="auto, disabled, or the name of a provider (a list `a,b` is a chain).")
    url: str = Field("", description="Base URL of the configured backend (WEB_SEARCH_URL); alone it means searxng.")
    urls: dict[str, str] = Field(
        {}, description="Base URLs by provider, e.g. urls.searxng (SEARXNG_URL), urls.firecrawl (FIRECRAWL_API_URL)."
    )
    key: str = Field("", description="Key of the configured backend (WEB_SEARCH_KEY).", repr=False)
    api_key_env: str = Field("", description="Name of the variable that holds the key.")
    count: int = Field(8, description="Results per query.", ge=1, le=20)
    language: str = Field("", description="Default language, BCP 47.")
    safe_search: Literal["off", "moderate", "strict"] = Field("moderate", description="Default safe search.")
    prefer_domains: tuple[str, ...] = Field((), description="Hosts lifted in rank; others stay.")
    block_domains: tuple[str, ...] = Field((), description="Hosts dropped from every result list.")
    keyless: bool = Field(True, description="Whether public keyless search is tried when nothing else is configured.")
    timeout: Seconds = Field(15.0, description="Deadline of one backend call.", gt=0)
    keyless_timeout: Seconds = Field(
        8.0, description="Deadline of public keyless search, all of its backends together, so that being offline is known soon.", gt=0
    )
    fuse: int = Field(1, description="Backends of the chain asked at once; 2 or more answers are fused by reciprocal rank.", ge=1, le=4)
    hedge: bool = Field(
        False, description="Whether the next backend of a chain is asked too once one is slower than 95 of 100 of its own answers."
    )
    model: str = Field("", description="provider/model for searching with a model vendor's own search; empty means its cheap one.")
    engine_id: str = Field("", description="Search engine id (cx) of Google Programmable Search (GOOGLE_CSE_ID).")

    @property
    def disabled(self) -> bool:
        """Whether the operator turned search off; then the tools that search are not offered at all."""
        return self.provider.strip().lower() == "disabled"


class Answering(_Section):
    """How an answer is made."""

    scrape: Literal["auto", "on", "off"] = Field("auto", description="auto: read the hits whose hosts the egress policy allows.")
    reranker: str = Field("words", description="Name of the reranker.")
    rerank_images: bool = Field(
        False, description="Whether a language model that ranks sees a picture of each page too; for models that take images."
    )
    writer: str = Field("auto", description="quote (no model), llm, or auto: llm when a model is configured.")
    model: str = Field("", description="provider/model of the writer, e.g. openai/gpt-6-luna.")
    model_url: str = Field(
        "", description="Base URL of the writer's model where it is not the vendor's own, e.g. http://127.0.0.1:8080/v1."
    )
    hosted_search: Literal["auto", "on", "off"] = Field(
        "auto",
        description="Whether research lets the model use its vendor's own search; auto: where the vendor's own API is called and no egress"
        " list could be passed by.",
    )
    keep: int = Field(5, description="Sources kept after reranking.", ge=1, le=20)
    sentences: int = Field(5, description="Sentences the extractive writer quotes at most.", ge=1, le=20)
    budget: int = Field(8_000, description="Tokens of evidence the writer sees.", ge=100)
    unsupported: Literal["mark", "drop", "rewrite"] = Field(
        "mark",
        description="What happens to a sentence its source does not support; rewrite: said again as the source has it, by the model or in"
        " the source's own words, and checked again.",
    )
    judge: str = Field(
        "",
        description="Second opinion where no figure, name or negation decides: llm, llm::provider/model, nli or nli::LABEL; empty is none.",
    )
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


class Server(_Section):
    """The HTTP server."""

    host: str = Field("127.0.0.1", description="Address to listen on; any other than loopback asks callers for a key.")
    port: int = Field(8300, description="Port to listen on; 0 picks one.", ge=0, le=65535)
    path: str = Field("", description="Folder of keys, executions and tenants; empty means the user's data folder.")
    hosts: tuple[str, ...] = Field((), description="Other names this server is called by; a request for any other name is refused.")
    origins: tuple[str, ...] = Field((), description="Origins whose pages may call, besides the server's own.")
    require_key: bool = Field(False, description="Whether a key is asked for on loopback too.")
    concurrency: int = Field(32, description="Calls of one tenant at once; more wait.", ge=1)
    queue: int = Field(1_000, description="Runs of one tenant going on or waiting; more are refused.", ge=1)
    timeout: Seconds = Field(300.0, description="Deadline of one call.", gt=0)


class Settings(_Section):
    """Everything, frozen. `load()` makes one from files and environment; `Settings()` is the defaults alone."""

    egress: Egress = Egress()
    fetch: Fetch = Fetch()
    search: Search = Search()
    answer: Answering = Answering()
    store: Store = Store()
    library: Library = Library()
    limits: Limits = Limits()
    server: Server = Server()
    models: dict[str, str] = Field({}, description="Model aliases: `default` and your own names, each a provider/model.")
    profile: str = Field("", description="Name of the profile in force; its settings lie over the files and under the environment.")
    profiles: dict[str, dict[str, Any]] = Field({}, description="Named sets of settings, each shaped like this file.")
    secrets_in: Literal["auto", "keyring", "file"] = Field(
        "auto",
        description="Where `secret set` keeps a secret; auto: in the system's keyring when one answers, else in a file of its own.",
    )
    keys: dict[str, str] = Field({}, description="Secrets by the name of their variable; never shown.", repr=False)

    def secrets(self) -> dict[str, str]:
        """Every secret value by its name: what must never leave in a request, nor stand in a log or an error."""
        return {name: value for name, value in {**self.keys, "search.key": self.search.key}.items() if value}


def fields(model: type[BaseModel] = Settings, prefix: str = "") -> Iterator[tuple[str, FieldInfo]]:
    """Every setting as `section.name` with its field, in the order they are declared."""
    for name, info in model.model_fields.items():
        if isinstance(info.annotation, type) and issubclass(info.annotation, BaseModel):
            yield from fields(info.annotation, f"{prefix}{name}.")
        else:
            yield prefix + name, info
