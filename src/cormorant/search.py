"""What a search is: the question, one hit, all hits, and the seam every backend implements. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol

from cormorant.document import bounded

Freshness = Literal["none", "day", "week", "month", "year"]
SafeSearch = Literal["off", "moderate", "strict"]


@dataclass(frozen=True)
class Query:
    """One question to one backend. `domains` are host patterns; a leading `-` excludes."""

    text: str
    count: int = 8
    page: int = 1
    freshness: Freshness = "none"
    language: str = ""  # BCP 47
    safe_search: SafeSearch = "moderate"
    domains: tuple[str, ...] = ()


@dataclass(frozen=True)
class Hit:
    """One result. `score` is in 0..1 where the backend has one; `published_at` is ISO 8601 or empty."""

    title: str
    url: str
    snippet: str = ""
    published_at: str = ""
    source: str = ""  # the host
    engine: str = ""
    score: float | None = None
    rank: int = 0  # 1-based in the list it stands in
    query: str = ""
    content_kind: str = "snippet"  # source_page, snippet_with_fetch_warning, fetch_failed
    content: str = ""

    def as_dict(self) -> dict[str, Any]:
        shown = {
            "rank": self.rank,
            "title": self.title,
            "url": self.url,
            "snippet": self.snippet,
            "published_at": self.published_at or None,
            "source": self.source,
            "engine": self.engine,
            "score": self.score,
            "query": self.query,
            "content_kind": self.content_kind,
        }
        return shown | ({"content": self.content} if self.content else {})


@dataclass(frozen=True)
class Tried:
    """A backend that was asked before the one that answered, and why it did not."""

    provider: str
    code: str
    message: str


@dataclass(frozen=True)
class Found:
    """What a search brought: always says who answered. An empty list is a success."""

    query: str
    provider: str
    results: tuple[Hit, ...] = ()
    queries: tuple[str, ...] = ()
    page: int = 1
    freshness_applied: Literal["provider", "client", "none"] = "none"
    tried: tuple[Tried, ...] = ()
    errors: tuple[dict[str, Any], ...] = ()
    notes: tuple[str, ...] = ()
    response_id: str = ""

    @property
    def count(self) -> int:
        return len(self.results)

    def as_dict(self) -> dict[str, Any]:
        """The JSON shape of `web_search`."""
        return {
            "response_id": self.response_id,
            "query": self.query,
            "queries": list(self.queries),
            "provider": self.provider,
            "page": self.page,
            "count": self.count,
            "results": [hit.as_dict() for hit in self.results],
            "freshness_applied": self.freshness_applied,
            "tried": [{"provider": t.provider, "code": t.code, "message": t.message} for t in self.tried],
            "errors": list(self.errors),
            "notes": list(self.notes),
        }

    def as_text(self) -> str:
        """Numbered hits for a model, then one line of JSON for code."""
        asked = "; ".join(self.queries) if len(self.queries) > 1 else self.query
        lines = [f"response_id: {self.response_id}", f'## Search "{asked}" ({self.provider or "no provider"}, {self.count} results)', ""]
        for hit in self.results:
            lines += [f"{hit.rank}. {_line(hit.title) or hit.url}", f"   {hit.url}"]
            lines += [f"   published: {hit.published_at}"] if hit.published_at else []
            lines += [f"   {_line(hit.snippet)}"] if hit.snippet else []
            lines += [bounded(hit.content)] if hit.content else []
        lines += [] if self.results else ["(no results)"]
        lines += [f"[{_line(note)}]" for note in self.notes]
        lines += [f"[asked before: {', '.join(f'{t.provider} ({t.code})' for t in self.tried)}]"] if self.tried else []
        lines += [f"[{error.get('query', '')}: {error.get('code')}: {_line(str(error.get('message', '')))}]" for error in self.errors]
        if self.results:
            lines += ["", f"Read one: web_fetch url=...; this list again: web_get response_id={self.response_id}"]
        brief = [{"rank": hit.rank, "title": hit.title, "url": hit.url} for hit in self.results]
        lines += ["---", json.dumps({"query": asked, "provider": self.provider, "results": brief}, ensure_ascii=False)]
        return "\n".join(lines)


class SearchProvider(Protocol):
    """A search backend. Returns what it found or raises one error of the tree, never both, never neither."""

    name: str

    async def search(self, query: Query) -> Found: ...


@dataclass(frozen=True)
class Reply:
    """What a server answered to one request of a backend: header names in lower case, the body decoded."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    url: str = ""  # where the answer came from in the end, when redirects were followed


class Request(Protocol):
    """One HTTP request and its answer, whatever its status. Who supplies it decides trust, proxy, gates and tape.

    `params` join the query string, `json` becomes the body. Raises: the `Unreachable` errors when no answer came.
    """

    async def __call__(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] = ...,
        params: Mapping[str, str] = ...,
        json: Any = None,
        body: bytes = b"",
        timeout_s: float = 15.0,
    ) -> Reply: ...


@dataclass(frozen=True)
class HostedTool:
    """A model vendor's own search tool, attached to a turn by a harness (see `hosted_tools`)."""

    provider: str
    definition: dict[str, Any] = field(default_factory=dict)


def ranked(hits: Iterable[Hit]) -> tuple[Hit, ...]:
    """The hits numbered from 1 in the order given."""
    return tuple(replace(hit, rank=n) for n, hit in enumerate(hits, 1))


def _line(text: str, most: int = 500) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1] + "…"
