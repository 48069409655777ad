"""The self-hosted browser service as a search backend. Reserved: the service is not there yet, and that is what it says."""

from __future__ import annotations

from typing import ClassVar

from cormorant.errors import NotConfigured
from cormorant.search import Found, Query, Request
from cormorant.settings import Settings


class Browser:
    """Raises NotConfigured until `cormorant browser serve` can search."""

    name: ClassVar[str] = "browser"
    variables: ClassVar[tuple[str, ...]] = ("SECURE_BROWSER_SECRET",)

    def __init__(self, settings: Settings, request: Request) -> None:
        raise NotConfigured("the browser service can't search yet", remedy="use searxng (WEB_SEARCH_URL), which is what it will front")

    async def search(self, query: Query) -> Found:
        raise NotConfigured("the browser service can't search yet")
