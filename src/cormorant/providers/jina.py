"""Jina's search: https://jina.ai/reader (s.jina.ai)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from cormorant.providers.api import Ask, Backend, hit
from cormorant.search import Hit, Query


class Jina(Backend):
    """Jina's search without page bodies."""

    name: ClassVar[str] = "jina"
    base: ClassVar[str] = "https://s.jina.ai"
    variables: ClassVar[tuple[str, ...]] = ("JINA_API_KEY",)
    native: ClassVar[frozenset[str]] = frozenset({"page", "language"})
    sites_max: ClassVar[int] = 10

    def ask(self, query: Query) -> Ask:
        body: dict[str, Any] = {"q": query.text, "num": query.count, "page": query.page}
        if query.language:
            language, _, region = query.language.lower().partition("-")
            body["hl"] = language
            if len(region) == 2:
                body["gl"] = region
        return Ask("/", json=body, method="POST", headers={"X-Respond-With": "no-content"})

    def read(self, payload: Any) -> Iterable[Hit]:
        return [hit(row, "jina", snippet=("description", "content"), date=("date", "publishedTime")) for row in payload["data"]]
