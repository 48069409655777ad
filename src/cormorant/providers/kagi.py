"""Kagi, version 1 of its API: https://help.kagi.com/kagi/api/search.html, https://kagi.com/api/docs/_spec/openapi.json."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from cormorant import hits
from cormorant.errors import CormorantError, ProviderError
from cormorant.providers.api import Ask, Backend, hit, since
from cormorant.search import Hit, Query, Reply


class Kagi(Backend):
    """Kagi's search API. Domains go into a lens made for the one search."""

    name: ClassVar[str] = "kagi"
    base: ClassVar[str] = "https://kagi.com"
    variables: ClassVar[tuple[str, ...]] = ("KAGI_API_KEY",)
    native: ClassVar[frozenset[str]] = frozenset({"page", "freshness", "safe_search", "domains"})
    last_page: ClassVar[int] = 10

    def ask(self, query: Query) -> Ask:
        body: dict[str, Any] = {
            "query": query.text,
            "workflow": "search",
            "limit": query.count,
            "page": query.page,
            "safe_search": query.safe_search != "off",
        }
        wanted, excluded = map(hits.hosts_of, hits.domains_of(query.domains))
        if lens := {name: sites for name, sites in (("sites_included", wanted), ("sites_excluded", excluded)) if sites}:
            body["lens"] = lens
        filters = {"after": since(query.freshness)} if query.freshness != "none" else {}
        region = query.language.rpartition("-")[2]
        if "-" in query.language and len(region) == 2:
            filters["region"] = region.upper()
        if filters:
            body["filters"] = filters
        return Ask("/api/v1/search", json=body, method="POST")

    def read(self, payload: Any) -> Iterable[Hit]:
        return [hit(row, "kagi", date=("time",)) for row in payload["data"].get("search") or []]

    def complaint(self, reply: Reply, payload: Any) -> CormorantError | None:
        errors = payload.get("error") if isinstance(payload, dict) else None
        said = self.excerpt(reply)
        if errors and any(word in said.lower() for word in ("credit", "balance", "usage limit", "billing")):
            return self.limited(reply, said, spent=True)
        if not errors or reply.status in (401, 402, 403, 429):
            return None
        return ProviderError(f"kagi failed (HTTP {reply.status}): {said}", status=reply.status, retryable=reply.status >= 500)
