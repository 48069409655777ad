"""Kagi: https://help.kagi.com/kagi/api/search.html."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from cormorant.errors import CormorantError, ProviderError
from cormorant.providers.api import Ask, Backend, hit, with_sites
from cormorant.search import Hit, Query, Reply

RESULT = 0  # `t` of a search result; 1 is a list of related searches


class Kagi(Backend):
    """Kagi's search API."""

    name: ClassVar[str] = "kagi"
    base: ClassVar[str] = "https://kagi.com"
    variables: ClassVar[tuple[str, ...]] = ("KAGI_API_KEY",)

    def authorized(self) -> dict[str, str]:
        return {"Authorization": f"Bot {self.key}"}

    def ask(self, query: Query) -> Ask:
        return Ask("/api/v0/search", {"q": with_sites(query), "limit": str(query.count)})

    def read(self, payload: Any) -> Iterable[Hit]:
        return [hit(row, "kagi", date=("published",)) for row in payload["data"] if row.get("t") == RESULT]

    def complaint(self, reply: Reply, payload: Any) -> CormorantError | None:
        errors = payload.get("error") if isinstance(payload, dict) else None
        if not errors or reply.status in (401, 402, 403, 429):
            return None
        said = self.excerpt(reply)
        if "credit" in said.lower() or "balance" in said.lower():
            return self.limited(reply, said, spent=True)
        return ProviderError(f"kagi failed (HTTP {reply.status}): {said}", status=reply.status, retryable=reply.status >= 500)
