"""DuckDuckGo's page without scripts (html.duckduckgo.com), for search with nothing set.

It has no contract: a bot check comes as 202 or as a page with a challenge, and is rate limiting, never "no results".
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from selectolax.lexbor import LexborHTMLParser

from cormorant.errors import CormorantError, NotConfigured, ProviderError
from cormorant.providers.api import Ask, Backend, hit, site_operators
from cormorant.search import Found, Hit, Query, Reply, Request
from cormorant.settings import Settings

_SAFE = {"off": "-2", "moderate": "-1", "strict": "1"}
_BOT_SIGNS = ("challenge-form", "anomaly.js", "anomaly-modal", "bots use DuckDuckGo too")
REGION = "wt-wt"  # all regions
SITES_MAX = 4


class DuckDuckGo(Backend):
    """Public keyless search."""

    name: ClassVar[str] = "duckduckgo"
    base: ClassVar[str] = "https://html.duckduckgo.com"
    key_needed: ClassVar[bool] = False
    keyless_public: ClassVar[bool] = True
    native: ClassVar[frozenset[str]] = frozenset({"freshness", "language", "safe_search"})
    max_count: ClassVar[int] = 30
    max_chars: ClassVar[int] = 480
    sites_max: ClassVar[int] = SITES_MAX

    def ask(self, query: Query) -> Ask:
        params = {"q": query.text, "kp": _SAFE[query.safe_search], "kl": _region(query.language)}
        if query.freshness != "none":
            params["df"] = query.freshness[0]
        return Ask("/html/", params, headers={"Accept": "text/html"})

    def parsed(self, reply: Reply) -> Any:
        return LexborHTMLParser(reply.body.decode("utf-8", "replace")) if reply.status == 200 else None

    def complaint(self, reply: Reply, payload: Any) -> CormorantError | None:
        text = reply.body.decode("utf-8", "replace")
        if reply.status in (202, 418, 403) or any(sign in text for sign in _BOT_SIGNS):
            error = self.limited(reply, "it takes this address for a bot")
            error.remedy = "wait some minutes, or set WEB_SEARCH_URL or a key"
            return error
        if reply.status == 200 and payload.css_first(".result") is None and payload.css_first(".no-results") is None:
            return ProviderError("duckduckgo answered a page without results or the words that there are none", status=200)
        return None

    def read(self, payload: Any) -> Iterable[Hit]:
        for row in payload.css(".result"):
            link = row.css_first("a.result__a")
            href = (link.attributes.get("href") or "") if link else ""
            if "result--ad" in (row.attributes.get("class") or "") or not href or "duckduckgo.com/y.js" in href:
                continue
            snippet = row.css_first(".result__snippet")
            url = f"https:{href}" if href.startswith("//") else href
            yield Hit(link.text(), url, snippet.text() if snippet else "", engine="duckduckgo")


def _region(language: str) -> str:
    tag, _, region = language.lower().partition("-")
    return f"{region}-{tag}" if len(region) == 2 else REGION


class Ddgs:
    """The `ddgs` package, an opt-in extra. It opens its own connections, so it is only let out through our egress proxy."""

    name: ClassVar[str] = "ddgs"
    variables: ClassVar[tuple[str, ...]] = ()

    def __init__(self, settings: Settings, request: Request) -> None:
        from importlib.util import find_spec

        if find_spec("ddgs") is None:
            raise NotConfigured("ddgs is not installed", remedy="pip install ddgs")
        if not settings.egress.proxy:
            raise NotConfigured(
                "ddgs opens its own connections and is only used through an egress proxy",
                remedy="run `cormorant egress-proxy` and set egress.proxy to its address",
            )
        self.settings = settings

    async def search(self, query: Query) -> Found:
        """What ddgs found. Raises: ProviderError, RateLimited."""
        import anyio.to_thread

        rows = await anyio.to_thread.run_sync(self._rows, query)
        hits = tuple(hit(row, "ddgs", url="href", snippet=("body",)) for row in rows)
        applied: Any = "provider" if query.freshness != "none" else "none"
        return Found(query.text, self.name, hits, (query.text,), query.page, applied)

    def _rows(self, query: Query) -> list[dict[str, str]]:
        from ddgs import DDGS
        from ddgs.exceptions import DDGSException, RatelimitException

        from cormorant.errors import RateLimited

        search = self.settings.search
        try:
            with DDGS(proxy=self.settings.egress.proxy, timeout=int(search.timeout)) as client:
                found: list[dict[str, str]] = client.text(
                    query.text + site_operators(query, SITES_MAX),
                    region=_region(query.language),
                    safesearch={"strict": "on"}.get(query.safe_search, query.safe_search),
                    timelimit=query.freshness[0] if query.freshness != "none" else None,
                    max_results=query.count,
                    page=query.page,
                )
                return found
        except RatelimitException as error:
            raise RateLimited(f"ddgs: {error}", retryable=True, remedy="wait some minutes") from error
        except DDGSException as error:
            if "No results" in str(error):
                return []
            raise ProviderError(f"ddgs failed: {error}"[:400], retryable=True) from error
