"""A search backend of one's own: what `cormorant search --provider almanac` asks once this package is installed."""

from __future__ import annotations

import json

from cormorant.errors import NotConfigured, ProviderError
from cormorant.search import Found, Hit, Query, Request
from cormorant.settings import Settings


class Almanac:
    """Asks `GET BASE/lookup?q=...`, which answers `[{"name", "link", "about"}]`."""

    name = "almanac"

    def __init__(self, settings: Settings, request: Request) -> None:
        self.request = request
        self.base = settings.search.urls.get(self.name, "")
        if not self.base:
            raise NotConfigured("almanac needs its address", remedy="cormorant settings set search.urls.almanac http://...")

    async def search(self, query: Query) -> Found:
        reply = await self.request("GET", f"{self.base}/lookup", params={"q": query.text})
        if reply.status != 200:
            raise ProviderError(f"almanac failed (HTTP {reply.status})", status=reply.status, retryable=reply.status >= 500)
        rows = json.loads(reply.body)
        hits = tuple(Hit(row["name"], row["link"], row["about"], engine=self.name) for row in rows)
        return Found(query.text, self.name, hits, (query.text,), query.page)
