"""Parallel's search: https://docs.parallel.ai/api-reference/search/search."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from cormorant import hits
from cormorant.providers.api import Ask, Backend, hit, since
from cormorant.search import Hit, Query

QUERY_MAX_CHARS = 200


class Parallel(Backend):
    """Parallel's search: the question is the objective, its first words the query."""

    name: ClassVar[str] = "parallel"
    base: ClassVar[str] = "https://api.parallel.ai"
    variables: ClassVar[tuple[str, ...]] = ("PARALLEL_API_KEY",)
    native: ClassVar[frozenset[str]] = frozenset({"freshness", "domains"})
    max_chars: ClassVar[int] = 5000

    def authorized(self) -> dict[str, str]:
        return {"x-api-key": self.key}

    def ask(self, query: Query) -> Ask:
        wanted, excluded = hits.domains_of(query.domains)
        policy: dict[str, Any] = {}
        if sites := hits.hosts_of(wanted):
            policy["include_domains"] = sites
        if sites := hits.hosts_of(excluded):
            policy["exclude_domains"] = sites
        if query.freshness != "none":
            policy["after_date"] = since(query.freshness)
        advanced: dict[str, Any] = {"max_results": query.count} | ({"source_policy": policy} if policy else {})
        body = {"objective": query.text, "search_queries": [query.text[:QUERY_MAX_CHARS]], "mode": "basic", "advanced_settings": advanced}
        return Ask("/v1/search", json=body, method="POST")

    def read(self, payload: Any) -> Iterable[Hit]:
        return [hit(row, "parallel", snippet=("excerpts",), date=("publish_date",)) for row in payload["results"]]
