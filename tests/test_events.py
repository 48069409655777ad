"""Events on the wire: names and payloads, exactly."""

from __future__ import annotations

from typing import Any

import pytest

from cormorant import sse
from cormorant.events import (
    GENERATION,
    WEB_SEARCH,
    Event,
    Failed,
    Finished,
    HostedActivity,
    PhaseCompleted,
    PhaseStarted,
    TextAdded,
    Updated,
    nowhere,
)

pytestmark = pytest.mark.anyio
TABLE: list[tuple[Event, str, dict[str, Any]]] = [
    (PhaseStarted(WEB_SEARCH, {"query": "q"}), "tool_update", {"phase": "WEB_SEARCH", "status": "started", "query": "q"}),
    (PhaseStarted(GENERATION), "tool_update", {"phase": "GENERATION", "status": "started"}),
    (PhaseCompleted(GENERATION), "tool_update", {"phase": "GENERATION", "status": "completed"}),
    (
        Updated({"reranked_results": 5, "output_key": "reranked_results"}),
        "tool_update",
        {"reranked_results": 5, "output_key": "reranked_results"},
    ),
    (TextAdded("According"), "tool_partial_update", {"content": "According", "output_key": "response"}),
    (HostedActivity("web_search", "gates"), "hosted_tool_activity", {"name": "web_search", "detail": "gates"}),
    (Finished({"response": "x"}), "tool_end", {"response": "x"}),
    (Failed("down", "provider_error"), "error", {"message": "down", "code": "provider_error"}),
]


@pytest.mark.parametrize(("event", "name", "data"), TABLE, ids=[f"{row[1]}-{n}" for n, row in enumerate(TABLE)])
def test_name_and_payload(event: Event, name: str, data: dict[str, Any]) -> None:
    assert event.event == name
    assert event.data == data


@pytest.mark.parametrize(("event", "name", "data"), TABLE, ids=[f"{row[1]}-{n}" for n, row in enumerate(TABLE)])
def test_every_event_goes_over_the_wire_and_back(event: Event, name: str, data: dict[str, Any]) -> None:
    reader = sse.Reader()
    (message,) = [m for frame in sse.frames(event.event, event.data, id=4) for m in reader.feed(frame)]
    assert (message.event, message.json(), message.id) == (name, data, "4")


def test_only_two_events_end_a_stream() -> None:
    assert {name for _, name, _ in TABLE} & sse.TERMINAL == {"tool_end", "error"}


async def test_nobody_need_listen() -> None:
    await nowhere(TextAdded("x"))
