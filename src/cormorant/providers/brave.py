"""Brave Search: https://api-dashboard.search.brave.com/app/documentation/web-search/get-started, and its LLM context endpoint:
https://api-dashboard.search.brave.com/api-reference/summarizer/llm_context/get.

A plan allows so many requests a second and so many a month, and both limits answer 429: the first passes in a second
and is waited for, the second is not worth a retry.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from cormorant.errors import CormorantError, ProviderError
from cormorant.providers.api import Ask, Backend, hit
from cormorant.search import Hit, Query, Reply

FRESHNESS = {"day": "pd", "week": "pw", "month": "pm", "year": "py"}
# Their codes where they differ from the first part of BCP 47.
LANGUAGES = {
    "ja": "jp",
    "zh": "zh-hans",
    "zh-cn": "zh-hans",
    "zh-tw": "zh-hant",
    "zh-hk": "zh-hant",
    "pt": "pt-pt",
    "pt-br": "pt-br",
    "en-gb": "en-gb",
}


class Brave(Backend):
    """Brave web search."""

    name: ClassVar[str] = "brave"
    base: ClassVar[str] = "https://api.search.brave.com"
    variables: ClassVar[tuple[str, ...]] = ("BRAVE_API_KEY", "BRAVE_SEARCH_API_KEY")
    native: ClassVar[frozenset[str]] = frozenset({"page", "freshness", "language", "safe_search"})
    max_chars: ClassVar[int] = 400
    max_words: ClassVar[int] = 50
    sites_max: ClassVar[int] = 5
    last_page: ClassVar[int] = 10  # offset counts pages, and goes to 9
    retry_s: ClassVar[float] = 1.0

    def authorized(self) -> dict[str, str]:
        return {"X-Subscription-Token": self.key}

    def ask(self, query: Query) -> Ask:
        params = {
            "q": query.text,
            "count": str(query.count),
            "offset": str(query.page - 1),
            "safesearch": query.safe_search,
            "text_decorations": "false",
            "result_filter": "web",
        }
        return Ask("/res/v1/web/search", params | self._shared(query))

    def _shared(self, query: Query) -> dict[str, str]:
        params = {"freshness": FRESHNESS[query.freshness]} if query.freshness != "none" else {}
        if query.language:
            tag = query.language.lower().replace("_", "-")
            params["search_lang"] = LANGUAGES.get(tag) or LANGUAGES.get(tag.split("-")[0], tag.split("-")[0])
            region = tag.rpartition("-")[2]
            if "-" in tag and len(region) == 2:
                params["country"] = region.upper()
        return params

    def read(self, payload: Any) -> Iterable[Hit]:
        rows = (payload.get("web") or {}).get("results") or []
        return [hit(row, "brave", snippet=("description",), date=("page_age", "age")) for row in rows]

    def complaint(self, reply: Reply, payload: Any) -> CormorantError | None:
        error = payload.get("error") if isinstance(payload, dict) else None
        error = error if isinstance(error, dict) else {}
        if error.get("code") == "SUBSCRIPTION_TOKEN_INVALID":
            return ProviderError(
                f"brave refused the key (HTTP {reply.status}): {self.excerpt(reply)}",
                remedy=f"looked at {self.key_from}; cormorant secret set {self.variables[0]}",
                status=reply.status,
            )
        if reply.status != 429:
            return None
        meta = error.get("meta") or {}
        spent = bool(meta.get("quota_limit")) and meta.get("quota_current", 0) >= meta["quota_limit"]
        spent = spent or error.get("code") in ("QUOTA_LIMITED", "QUOTA_EXCEEDED") or _month_is_over(reply)
        return self.limited(reply, self.excerpt(reply), spent=spent)


def _month_is_over(reply: Reply) -> bool:
    """Whether the second of `X-RateLimit-Remaining: per second, per month` is used up."""
    limits = [part.strip() for part in reply.headers.get("x-ratelimit-limit", "").split(",")]
    left = [part.strip() for part in reply.headers.get("x-ratelimit-remaining", "").split(",")]
    return len(left) == len(limits) == 2 and left[1].isdigit() and int(left[1]) == 0 and limits[1].isdigit() and int(limits[1]) > 0


class BraveContext(Brave):
    """Brave's LLM context: passages of pages instead of one description (same key, own price)."""

    name: ClassVar[str] = "brave_context"
    family: ClassVar[str] = "brave"
    native: ClassVar[frozenset[str]] = frozenset({"freshness", "language"})

    def ask(self, query: Query) -> Ask:
        params = {"q": query.text, "count": str(query.count), "maximum_number_of_urls": str(query.count)}
        return Ask("/res/v1/llm/context", params | self._shared(query))

    def read(self, payload: Any) -> Iterable[Hit]:
        sources = payload.get("sources") or {}
        for row in (payload.get("grounding") or {}).get("generic") or []:
            about = sources.get(row["url"]) or {}
            ages = [age for age in about.get("age") or [] if isinstance(age, str) and age[:2] in ("19", "20")]
            yield hit({"title": about.get("title"), "date": ages[:1], **row}, "brave", snippet=("snippets",))
