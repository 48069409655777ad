"""The local index as a search backend: no key, no network."""

from __future__ import annotations

from typing import Any, ClassVar

import anyio.to_thread

from cormorant.errors import NotConfigured
from cormorant.library import Library as Index
from cormorant.search import Found, Hit, Query
from cormorant.settings import Settings

SAYS_SOMETHING = 0.5  # share of the question's telling words that the best piece has to hold


class Library:
    """Searches what `cormorant index add` has brought in. Raises NotConfigured while the index is empty."""

    name: ClassVar[str] = "library"
    keyless_public: ClassVar[bool] = False

    def __init__(self, settings: Settings, request: Any = None, *, library: Index | None = None) -> None:
        self.index = library if library is not None else Index(settings.library.path)
        if self.index.is_empty():
            raise NotConfigured("the local library is empty", remedy="cormorant index add FOLDER-OR-URL")

    async def search(self, query: Query) -> Found:
        """The documents that answer best. Raises: InvalidArguments."""
        found = await anyio.to_thread.run_sync(
            lambda: self.index.search(query.text, count=query.count, page=query.page, freshness=query.freshness, domains=query.domains)
        )
        hits = [
            Hit(hit.title, hit.url, hit.snippet, hit.published, engine=f"library/{hit.collection}", score=hit.score) for hit in found.hits
        ]
        notes = list(found.notes)
        if found.hits and found.hits[0].covered < SAYS_SOMETHING:
            notes.append("weak_match: no document of the library holds most of the words asked for")
        applied: Any = "provider" if query.freshness != "none" else "none"
        return Found(query.text, self.name, tuple(hits), (query.text,), query.page, applied, notes=tuple(notes))
