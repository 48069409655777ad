"""Firecrawl, hosted or self-hosted: https://docs.firecrawl.dev/api-reference/endpoint/search."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from cormorant.errors import CormorantError, NotConfigured, ProviderError
from cormorant.providers.api import Ask, Backend, hit
from cormorant.search import Hit, Query, Reply, Request
from cormorant.settings import Settings


class Firecrawl(Backend):
    """Firecrawl's search; one's own instance (FIRECRAWL_API_URL) may need no key."""

    name: ClassVar[str] = "firecrawl"
    base: ClassVar[str] = "https://api.firecrawl.dev"
    variables: ClassVar[tuple[str, ...]] = ("FIRECRAWL_API_KEY",)
    key_needed: ClassVar[bool] = False
    native: ClassVar[frozenset[str]] = frozenset({"freshness"})
    sites_max: ClassVar[int] = 10

    def __init__(self, settings: Settings, request: Request, **more: Any) -> None:
        super().__init__(settings, request, **more)
        if self.url == self.base and not self.key:
            raise NotConfigured("firecrawl needs a key, and FIRECRAWL_API_KEY is not set", remedy="cormorant secret set FIRECRAWL_API_KEY")

    def ask(self, query: Query) -> Ask:
        body: dict[str, Any] = {"query": query.text, "limit": query.count, "sources": [{"type": "web"}]}
        if query.freshness != "none":
            body["tbs"] = f"qdr:{query.freshness[0]}"
        return Ask("/v2/search", json=body, method="POST")

    def read(self, payload: Any) -> Iterable[Hit]:
        data = payload["data"]
        rows = data.get("web") or [] if isinstance(data, dict) else data  # instances of the v1 kind answer a bare list
        return [hit(row, "firecrawl", snippet=("description", "snippet")) for row in rows]

    def complaint(self, reply: Reply, payload: Any) -> CormorantError | None:
        if reply.status == 200 and isinstance(payload, dict) and payload.get("success") is False:
            return ProviderError(f"firecrawl failed: {self.excerpt(reply)}", status=200, remedy="cormorant doctor")
        return None
