"""The research agent: it plans, reads and stops, and says what stopped it and what it could not reach."""

from __future__ import annotations

import pytest

from cormorant.answer import Answer
from cormorant.document import Document
from cormorant.errors import InvalidArguments, NoProvider, Robots
from cormorant.research import Bounds, research
from cormorant.search import Found, Hit
from support_web import index, opened

pytestmark = pytest.mark.anyio


class World:
    """A search engine and pages for one test, and what was asked of them."""

    def __init__(self, pages: dict[str, str], refused: frozenset[str] = frozenset()) -> None:
        self.pages, self.refused = pages, refused
        self.queries: list[str] = []
        self.read: list[tuple[str, int]] = []

    async def search(self, query: str) -> Found:
        self.queries.append(query)
        return Found(query, "world", tuple(Hit(url, url, rank=n) for n, url in enumerate(self.pages, 1)))

    async def fetch(self, url: str, question: str, budget: int) -> tuple[Document, int]:
        self.read.append((url, budget))
        if url in self.refused:
            raise Robots("robots.txt disallows it", remedy="ask the site", url=url)
        return Document(url=url, markdown=self.pages[url], title=url), 100

    async def conclude(self, found: Found, pages: dict[str, Document]) -> Answer:
        return Answer("q", f"{len(pages)} pages")


def world(count: int = 6, text: str = "The harbour wall was rebuilt in 1974.") -> World:
    return World({f"https://a.example/{n}": text for n in range(count)})


async def run(found: World, question: str = "When was the harbour wall rebuilt?", **bounds):
    events = []

    async def emit(event) -> None:
        events.append((event.event, event.data))

    report = await research(question, search=found.search, read=found.fetch, conclude=found.conclude, bounds=Bounds(**bounds), emit=emit)
    return report, events


async def test_it_stops_when_enough_pages_hold_what_was_asked() -> None:
    found = world()
    report, events = await run(found)
    assert report.stopped is None
    assert found.queries == ["When was the harbour wall rebuilt?"]
    assert len(found.read) == 3
    names = [name for name, _ in events]
    assert names[0] == "agent_processing_started"
    assert names[-2:] == ["response_chunk", "agent_processing_complete"]
    assert names.count("agent_step_started") == names.count("agent_step_completed") == report.usage["steps"]


@pytest.mark.parametrize(
    ("bounds", "stopped"),
    [
        ({"steps": 2}, "steps"),
        ({"searches": 1}, "searches"),
        ({"fetches": 2}, "fetches"),
        ({"tokens": 250}, "tokens"),
        ({"seconds": -1}, "seconds"),
    ],
    ids=lambda v: v if isinstance(v, str) else "",
)
async def test_a_bound_that_is_hit_is_named_and_the_answer_is_what_was_found(bounds, stopped) -> None:
    found = world(text="Nothing about it.")
    report, _ = await run(found, "Who rebuilt the harbour wall, and when was the lighthouse opened?", **bounds)
    assert report.stopped == stopped
    assert report.answer.endswith("pages")
    assert all(budget <= 8_000 for _, budget in found.read)


async def test_what_was_refused_is_said_with_what_would_allow_it() -> None:
    found = world()
    found.refused = frozenset({"https://a.example/0"})
    report, _ = await run(found)
    assert report.not_reached == (
        {"url": "https://a.example/0", "code": "robots", "reason": "robots.txt disallows it", "command": "ask the site"},
    )
    assert "## Not reached" in report.as_text()


async def test_other_words_are_tried_when_the_first_bring_nothing() -> None:
    found = world(text="Nothing about it.")
    await run(found, "Who rebuilt the harbour wall in Port Ellen, and when was the lighthouse opened?")
    assert len(found.queries) > 2
    assert len(set(found.queries)) == len(found.queries)
    assert "Port Ellen" in found.queries


async def test_no_search_at_all_is_the_error_it_is() -> None:
    found = world()

    async def nobody(query: str) -> Found:
        raise NoProvider("no search provider answered", remedy="set WEB_SEARCH_URL")

    found.search = nobody
    with pytest.raises(NoProvider):
        await run(found)


async def test_through_web_with_nothing_but_the_library(tmp_path) -> None:
    async with opened(tmp_path) as (web, _, _base):
        await index(web, tmp_path / "pages")
        report = await web.research("What is a dinghy?")
        assert "small boat" in report.answer
        assert report.sources[0]["title"] == "Boats"
        assert (await web.get(report.response_id)).content
        with pytest.raises(InvalidArguments, match="bound"):
            await web.research("What is a dinghy?", fathoms=3)
