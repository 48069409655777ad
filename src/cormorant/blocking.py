"""`BlockingWeb`: `Web` for code without an event loop. One thread runs the loop, every method is called plainly."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

from anyio.from_thread import start_blocking_portal

from cormorant.answer import Answer
from cormorant.crawl import SiteMap
from cormorant.events import Event
from cormorant.research import Report
from cormorant.results import Page, Pages, Stored
from cormorant.search import Found
from cormorant.settings import Follower, Settings
from cormorant.web import Web

if TYPE_CHECKING:
    from cormorant.library import Progress


class BlockingWeb:
    """`Web` for code without an event loop: the same methods, called plainly. One thread runs the loop."""

    def __init__(self, settings: Settings | Mapping[str, Any] | Follower | None = None, **options: Any) -> None:
        self._opened = start_blocking_portal()
        self._portal = self._opened.__enter__()
        try:
            self._web: Web = self._portal.call(lambda: Web(settings, **options))
        except BaseException:
            self._opened.__exit__(None, None, None)
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the session and its thread."""
        self._portal.call(self._web.aclose)
        self._opened.__exit__(None, None, None)

    def search(self, query: str | None = None, **options: Any) -> Found:
        return self._portal.call(lambda: self._web.search(query, **options))

    def fetch(self, url: str | Sequence[str] | None = None, **options: Any) -> Page | Pages:
        return self._portal.call(lambda: self._web.fetch(url, **options))

    def get(self, response_id: str, **options: Any) -> Stored:
        return self._portal.call(lambda: self._web.get(response_id, **options))

    def research(self, question: str, **options: Any) -> Report:
        return self._portal.call(lambda: self._web.research(question, **options))

    def answer(self, query: str, **options: Any) -> Answer:
        return self._portal.call(lambda: self._web.answer(query, **options))

    def map(self, url: str, **options: Any) -> SiteMap:
        return self._portal.call(lambda: self._web.map(url, **options))

    def crawl(self, url: str, **options: Any) -> Pages:
        return self._portal.call(lambda: self._web.crawl(url, **options))

    def recheck(self, answer: Mapping[str, Any]) -> list[dict[str, Any]]:
        return self._portal.call(lambda: self._web.recheck(answer))

    def stream_answer(self, query: str, **options: Any) -> Iterator[Event]:
        """The events of an answer, one by one."""
        events = self._web.stream_answer(query, **options)
        try:
            while True:
                try:
                    yield self._portal.call(anext, events)
                except StopAsyncIteration:
                    return
        finally:
            self._portal.call(events.aclose)

    def index(self, source: str, **options: Any) -> Iterator[Progress]:
        """Add to the library; yields progress."""
        steps = self._web.index(source, **options)
        try:
            while True:
                try:
                    yield self._portal.call(anext, steps)
                except StopAsyncIteration:
                    return
        finally:
            self._portal.call(steps.aclose)
