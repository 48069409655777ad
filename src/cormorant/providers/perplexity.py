"""Perplexity's search (results, no answer): https://docs.perplexity.ai/api-reference/search-post."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from cormorant import hits
from cormorant.providers.api import Ask, Backend, hit
from cormorant.search import Hit, Query

DOMAINS_MAX = 20  # allowed or denied, never both in one request


class Perplexity(Backend):
    """Perplexity's search API."""

    name: ClassVar[str] = "perplexity"
    base: ClassVar[str] = "https://api.perplexity.ai"
    variables: ClassVar[tuple[str, ...]] = ("PERPLEXITY_API_KEY",)
    native: ClassVar[frozenset[str]] = frozenset({"freshness", "language", "domains"})

    def ask(self, query: Query) -> Ask:
        wanted, excluded = hits.domains_of(query.domains)
        body: dict[str, Any] = {"query": query.text, "max_results": query.count}
        filters = hits.hosts_of(wanted) or [f"-{host}" for host in hits.hosts_of(excluded)]
        if 0 < len(filters) <= DOMAINS_MAX:
            body["search_domain_filter"] = filters
        if query.freshness != "none":
            body["search_recency_filter"] = query.freshness
        if query.language:
            language, _, region = query.language.lower().partition("-")
            body["search_language_filter"] = [language]
            if len(region) == 2:
                body["country"] = region.upper()
        return Ask("/search", json=body, method="POST")

    def read(self, payload: Any) -> Iterable[Hit]:
        return [hit(row, "perplexity", date=("date", "last_updated")) for row in payload["results"]]
