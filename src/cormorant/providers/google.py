"""Google Programmable Search: https://developers.google.com/custom-search/v1/reference/rest/v1/cse/list.

Closed to new customers, and for the others until January 1, 2027: https://developers.google.com/custom-search/v1/overview.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from cormorant.errors import CormorantError, NotConfigured, ProviderError
from cormorant.providers.api import Ask, Backend, hit
from cormorant.search import Hit, Query, Reply, Request
from cormorant.settings import Settings

RESULTS_MAX = 100  # of one search, over all pages


class Google(Backend):
    """A Programmable Search engine: its id (search.engine_id) and a key."""

    name: ClassVar[str] = "google"
    base: ClassVar[str] = "https://customsearch.googleapis.com"
    variables: ClassVar[tuple[str, ...]] = ("GOOGLE_CSE_KEY",)
    native: ClassVar[frozenset[str]] = frozenset({"page", "freshness", "language", "safe_search"})
    sites_max: ClassVar[int] = 10
    max_count: ClassVar[int] = 10

    def __init__(self, settings: Settings, request: Request, **more: Any) -> None:
        super().__init__(settings, request, **more)
        if not settings.search.engine_id:
            raise NotConfigured("google needs the id of a search engine (cx)", remedy="cormorant settings set search.engine_id ID")

    def pages(self, query: Query) -> int:
        return RESULTS_MAX // query.count

    def authorized(self) -> dict[str, str]:
        return {"X-Goog-Api-Key": self.key}  # as a parameter it would stand in every log on the way

    def ask(self, query: Query) -> Ask:
        start = (query.page - 1) * query.count + 1
        params = {
            "cx": self.settings.search.engine_id,
            "q": query.text,
            "num": str(query.count),
            "start": str(start),
            "safe": "off" if query.safe_search == "off" else "active",
        }
        if query.freshness != "none":
            params["dateRestrict"] = f"{query.freshness[0]}1"
        if query.language:
            tag = query.language.split("-")[0].lower()
            params["lr"] = "lang_" + {"zh": "zh-CN"}.get(tag, tag)
        return Ask("/customsearch/v1", params)

    def read(self, payload: Any) -> Iterable[Hit]:
        for row in payload.get("items") or []:
            tags = ((row.get("pagemap") or {}).get("metatags") or [{}])[0]
            yield hit({"date": tags.get("article:published_time"), **row}, "google", url="link")

    def complaint(self, reply: Reply, payload: Any) -> CormorantError | None:
        error = payload.get("error") if isinstance(payload, dict) else None
        reasons = {e.get("reason") for e in (error or {}).get("errors", []) if isinstance(e, dict)} if isinstance(error, dict) else set()
        if reasons & {"dailyLimitExceeded", "quotaExceeded"} or "per day" in self.excerpt(reply):
            return self.limited(reply, self.excerpt(reply), spent=True)
        if "rateLimitExceeded" in reasons:
            return self.limited(reply, self.excerpt(reply))
        if reply.status == 400 and "API key not valid" in self.excerpt(reply):
            return ProviderError(
                f"google refused the key (HTTP 400): {self.excerpt(reply)}",
                remedy=f"looked at {self.key_from}; cormorant secret set {self.variables[0]}",
                status=400,
            )
        return None
