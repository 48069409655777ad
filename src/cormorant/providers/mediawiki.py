"""MediaWiki, and with it Wikipedia, without a key: https://www.mediawiki.org/wiki/API:Search."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, ClassVar
from urllib.parse import quote

from cormorant.errors import CormorantError, ProviderError
from cormorant.providers.api import Ask, Backend
from cormorant.search import Found, Hit, Query, Reply

MAX_OFFSET = 9_999


class Mediawiki(Backend):
    """Any wiki by the address its api.php lies under (search.urls.mediawiki)."""

    name: ClassVar[str] = "mediawiki"
    key_needed: ClassVar[bool] = False
    native: ClassVar[frozenset[str]] = frozenset({"page"})
    max_count: ClassVar[int] = 50
    max_chars: ClassVar[int] = 300

    def ask(self, query: Query) -> Ask:
        offset = min((query.page - 1) * query.count, MAX_OFFSET)
        params = {
            "action": "query", "list": "search", "format": "json", "formatversion": "2", "srsearch": query.text,
            "srlimit": str(query.count), "sroffset": str(offset), "srprop": "snippet", "srnamespace": "0",
        }  # fmt: skip
        return Ask("/api.php", params)

    def page(self, title: str) -> str:
        """The address of an article."""
        return f"{self.url.rstrip('/')}/index.php?title={quote(title.replace(' ', '_'), safe='/:')}"

    def read(self, payload: Any) -> Iterable[Hit]:
        for row in payload["query"]["search"]:
            yield Hit(row["title"], self.page(row["title"]), row.get("snippet") or "", engine=self.name)

    def complaint(self, reply: Reply, payload: Any) -> CormorantError | None:
        error = payload.get("error") if isinstance(payload, dict) else None
        if not isinstance(error, dict):
            return None
        if error.get("code") in ("ratelimited", "maxlag"):
            return self.limited(reply, self.excerpt(reply))
        return ProviderError(f"{self.name} failed: {error.get('code')}: {error.get('info', '')}"[:400], status=reply.status)


class Wikipedia(Mediawiki):
    """Wikipedia in the language asked for."""

    name: ClassVar[str] = "wikipedia"
    base: ClassVar[str] = "https://en.wikipedia.org"
    keyless_public: ClassVar[bool] = True
    native: ClassVar[frozenset[str]] = frozenset({"page", "language"})

    async def search(self, query: Query) -> Found:
        """As every backend; the language decides which Wikipedia is asked."""
        language = query.language.split("-")[0].lower()
        if self.url != self.base or not re.fullmatch(r"[a-z]{2,3}", language) or language == "en":
            return await super().search(query)
        other = Wikipedia(self.settings, self.request, sleep=self.sleep)
        other.url = f"https://{language}.wikipedia.org"
        return await Mediawiki.search(other, query)

    def ask(self, query: Query) -> Ask:
        return Ask("/w/api.php", super().ask(query).params)

    def page(self, title: str) -> str:
        return f"{self.url}/wiki/{quote(title.replace(' ', '_'), safe='/:(),')}"
