"""Tavily: https://docs.tavily.com/documentation/api-reference/endpoint/search, and without a key:
https://docs.tavily.com/documentation/keyless.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from cormorant import hits
from cormorant.errors import CormorantError, RateLimited
from cormorant.providers.api import Ask, Backend, hit
from cormorant.search import Hit, Query, Reply


class Tavily(Backend):
    """Tavily's basic search. Filters that are not set are left out: it answers 400 to empty ones."""

    name: ClassVar[str] = "tavily"
    base: ClassVar[str] = "https://api.tavily.com"
    variables: ClassVar[tuple[str, ...]] = ("TAVILY_API_KEY",)
    native: ClassVar[frozenset[str]] = frozenset({"freshness", "domains"})
    max_chars: ClassVar[int] = 400

    def ask(self, query: Query) -> Ask:
        wanted, excluded = hits.domains_of(query.domains)
        body: dict[str, Any] = {"query": query.text, "max_results": query.count, "search_depth": "basic"}
        if sites := hits.hosts_of(wanted):
            body["include_domains"] = sites
        if sites := hits.hosts_of(excluded):
            body["exclude_domains"] = sites
        if query.freshness != "none":
            body["time_range"] = query.freshness
        return Ask("/search", json=body, method="POST")

    def read(self, payload: Any) -> Iterable[Hit]:
        return [hit(row, "tavily", snippet=("content",), date=("published_date",)) for row in payload["results"]]

    def complaint(self, reply: Reply, payload: Any) -> CormorantError | None:
        # 432: the key's or plan's limit is reached; 433: the pay-as-you-go limit is.
        return self.limited(reply, self.excerpt(reply), spent=True) if reply.status in (432, 433) else None


class TavilyKeyless(Tavily):
    """The same without a key, within a quota of this network address."""

    name: ClassVar[str] = "tavily_keyless"
    variables: ClassVar[tuple[str, ...]] = ()
    key_needed: ClassVar[bool] = False
    keyless_public: ClassVar[bool] = True

    def authorized(self) -> dict[str, str]:
        return {"X-Tavily-Access-Mode": "keyless"}

    def complaint(self, reply: Reply, payload: Any) -> CormorantError | None:
        """The quota is spent: an envelope says for how long."""
        error = payload.get("error") if isinstance(payload, dict) else None
        if reply.status == 200 or not isinstance(error, dict) or not isinstance(error.get("code"), str):
            return super().complaint(reply, payload)
        after = error.get("retry_after_seconds")
        return RateLimited(
            f"tavily_keyless: {hits.cleaned(str(error.get('message') or error['code']), 300)}",
            remedy="wait, or set TAVILY_API_KEY",
            status=reply.status,
            retryable=True,
            retry_after=float(after) if isinstance(after, int | float) else None,
        )
