"""Serper (Google results): https://serper.dev/playground."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from cormorant.errors import CormorantError, ProviderError
from cormorant.providers.api import Ask, Backend, hit
from cormorant.search import Hit, Query, Reply


class Serper(Backend):
    """Google results by Serper."""

    name: ClassVar[str] = "serper"
    base: ClassVar[str] = "https://google.serper.dev"
    variables: ClassVar[tuple[str, ...]] = ("SERPER_API_KEY",)
    native: ClassVar[frozenset[str]] = frozenset({"page", "freshness", "language"})
    sites_max: ClassVar[int] = 10

    def authorized(self) -> dict[str, str]:
        return {"X-API-KEY": self.key}

    def ask(self, query: Query) -> Ask:
        body: dict[str, Any] = {"q": query.text, "num": query.count, "page": query.page}
        if query.freshness != "none":
            body["tbs"] = f"qdr:{query.freshness[0]}"
        if query.language:
            language, _, region = query.language.lower().partition("-")
            body["hl"] = language
            if len(region) == 2:
                body["gl"] = region
        return Ask("/search", json=body, method="POST")

    def read(self, payload: Any) -> Iterable[Hit]:
        return [hit(row, "google", url="link") for row in payload.get("organic") or []]

    def complaint(self, reply: Reply, payload: Any) -> CormorantError | None:
        said = self.excerpt(reply)
        if reply.status == 400 and "credit" in said.lower():
            return self.limited(reply, said, spent=True)
        if reply.status == 200 and isinstance(payload, dict) and payload.get("message") and "organic" not in payload:
            return ProviderError(f"serper failed: {said}", status=200, remedy="cormorant doctor")
        return None
