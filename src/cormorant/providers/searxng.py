"""SearXNG and searx, self-hosted or public: https://docs.searxng.org/dev/search_api.html.

JSON is off in a fresh installation: `json` has to be listed under `search.formats` of its settings.yml, and until it is
the answer is 403 with an HTML page. That is said as what it is, not as a refused key.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from cormorant.errors import CormorantError, ProviderError, ProviderMisconfigured
from cormorant.providers.api import Ask, Backend
from cormorant.search import Hit, Query, Reply

_SAFE = {"off": "0", "moderate": "1", "strict": "2"}


class Searxng(Backend):
    """A SearXNG or searx instance by its base address; a bearer token for one behind a proxy."""

    name: ClassVar[str] = "searxng"
    variables: ClassVar[tuple[str, ...]] = ("SEARXNG_TOKEN",)
    key_needed: ClassVar[bool] = False
    native: ClassVar[frozenset[str]] = frozenset({"page", "freshness", "language", "safe_search"})
    sites_max: ClassVar[int] = 10

    def ask(self, query: Query) -> Ask:
        params = {"q": query.text, "format": "json", "pageno": str(query.page), "safesearch": _SAFE[query.safe_search]}
        if query.language:
            params["language"] = query.language
        if query.freshness != "none":
            params["time_range"] = query.freshness
        return Ask("" if self.url.endswith("/search") else "/search", params)

    def read(self, payload: Any) -> Iterable[Hit]:
        for row in payload["results"]:
            if row.get("url"):
                yield Hit(
                    title=row.get("title") or "",
                    url=row["url"],
                    snippet=row.get("content") or "",
                    published_at=row.get("publishedDate") or row.get("pubdate") or "",
                    engine=", ".join(row.get("engines") or [row.get("engine") or ""]),
                    score=None,  # theirs grows with the number of engines and has no upper bound
                )

    def remarks(self, payload: Any) -> list[str]:
        silent = [
            " ".join(str(part) for part in engine) if isinstance(engine, list) else str(engine)
            for engine in payload.get("unresponsive_engines") or []
        ]
        return [f"partial_provider_failure: searxng engines did not answer: {', '.join(silent)}"] if silent else []

    def complaint(self, reply: Reply, payload: Any) -> CormorantError | None:
        said = self.excerpt(reply)
        if reply.status == 429:
            error = self.limited(reply, said)
            error.remedy = "public instances limit JSON: run your own, and set its limiter to let this address pass"
            return error
        if reply.status == 403 or (reply.status == 200 and payload is None):
            return ProviderMisconfigured(
                f"SearXNG at {self.url} gives no JSON (HTTP {reply.status}):"
                " json is missing in search.formats, or its limiter blocks this address",
                remedy="add `json` to `search: formats:` in the instance's settings.yml and restart it",
                status=reply.status,
            )
        if reply.status == 200 and not payload.get("results") and payload.get("unresponsive_engines"):
            names = [str(e[0] if isinstance(e, list) and e else e) for e in payload["unresponsive_engines"]]
            if not (payload.get("answers") or payload.get("infoboxes")):
                return ProviderError(
                    f"no engine of SearXNG answered: {', '.join(names)}",
                    remedy="enable other engines in its settings.yml",
                    status=200,
                    retryable=True,
                )
        return None
