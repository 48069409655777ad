"""What happened while an answer was made, as plain values. Pure.

Each event knows its name and payload on the wire (`event`, `data`), so that the library, SSE, MCP progress and the
terminal all tell the same story. The order and the payloads are held by tests/test_events.py.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

WEB_SEARCH, SCRAPING_URLS, RERANKING, GENERATION = "WEB_SEARCH", "SCRAPING_URLS", "RERANKING", "GENERATION"


@dataclass(frozen=True)
class Event:
    """One thing that happened. `event` is its wire name, `data` its payload."""

    event: ClassVar[str] = "tool_update"

    @property
    def data(self) -> dict[str, Any]:
        raise TypeError(f"{type(self).__name__} has no payload")


@dataclass(frozen=True)
class PhaseStarted(Event):
    phase: str
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def data(self) -> dict[str, Any]:
        return {"phase": self.phase, "status": "started", **self.extra}


@dataclass(frozen=True)
class PhaseCompleted(Event):
    phase: str
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def data(self) -> dict[str, Any]:
        return {"phase": self.phase, "status": "completed", **self.extra}


@dataclass(frozen=True)
class Updated(Event):
    """A part of the result is known (`output_key` says which) outside any phase."""

    payload: dict[str, Any]

    @property
    def data(self) -> dict[str, Any]:
        return self.payload


@dataclass(frozen=True)
class TextAdded(Event):
    """The next piece of the answer, before citations are replaced."""

    event: ClassVar[str] = "tool_partial_update"
    text: str

    @property
    def data(self) -> dict[str, Any]:
        return {"content": self.text, "output_key": "response"}


@dataclass(frozen=True)
class HostedActivity(Event):
    """A model's own hosted tool did something."""

    event: ClassVar[str] = "hosted_tool_activity"
    name: str
    detail: str

    @property
    def data(self) -> dict[str, Any]:
        return {"name": self.name, "detail": self.detail}


@dataclass(frozen=True)
class Finished(Event):
    """The whole result. Exactly one of `Finished` and `Failed` ends a stream."""

    event: ClassVar[str] = "tool_end"
    result: dict[str, Any]

    @property
    def data(self) -> dict[str, Any]:
        return self.result


@dataclass(frozen=True)
class Failed(Event):
    event: ClassVar[str] = "error"
    message: str
    code: str

    @property
    def data(self) -> dict[str, Any]:
        return {"message": self.message, "code": self.code}


@dataclass(frozen=True)
class AgentStarted(Event):
    """Research began. Its stream ends with exactly one `AgentCompleted` or `AgentFailed`."""

    event: ClassVar[str] = "agent_processing_started"
    question: str

    @property
    def data(self) -> dict[str, Any]:
        return {"query": self.question}


@dataclass(frozen=True)
class AgentStepStarted(Event):
    """One use of a tool, by the names that clients of agents know."""

    event: ClassVar[str] = "agent_step_started"
    number: int
    action: str
    detail: str

    @property
    def data(self) -> dict[str, Any]:
        return {"step": self.number, "action": self.action, "detail": self.detail}


@dataclass(frozen=True)
class AgentStepCompleted(AgentStepStarted):
    event: ClassVar[str] = "agent_step_completed"


@dataclass(frozen=True)
class ResponseChunk(Event):
    """The next piece of what research answers, before its citations are replaced."""

    event: ClassVar[str] = "response_chunk"
    text: str

    @property
    def data(self) -> dict[str, Any]:
        return {"content": self.text}


@dataclass(frozen=True)
class AgentCompleted(Finished):
    event: ClassVar[str] = "agent_processing_complete"


@dataclass(frozen=True)
class AgentFailed(Failed):
    event: ClassVar[str] = "agent_processing_error"


def endings(tool: str) -> tuple[type[Finished], type[Failed]]:
    """The two events of which exactly one ends the stream of a tool."""
    return (AgentCompleted, AgentFailed) if tool == "research" else (Finished, Failed)


Emit = Callable[[Event], Awaitable[None]]


async def nowhere(event: Event) -> None:
    """The `Emit` of a caller who does not listen."""
