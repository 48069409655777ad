"""One tool call from the terminal: settings in, `Web` around it, result on stdout, progress on stderr."""

from __future__ import annotations

import json
import sys
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from cormorant import settings
from cormorant.errors import CormorantError
from cormorant.events import Event
from cormorant.results import Page, Pages, Stored
from cormorant.search import Found
from cormorant.surfaces.cli import emit, emit_json
from cormorant.tools import Tool
from cormorant.web import Web

NOTHING_FOUND = 1


def open_web() -> Web:
    """A `Web` by the operator's settings; files below the current folder may be read."""
    return Web(settings.load(), workspace=Path.cwd())


async def run_tool(tool: Tool, arguments: dict[str, Any], *, as_json: bool, body: bool, stream: bool) -> int:
    """Run one tool and show its result. Returns the exit code."""
    async with open_web() as web:
        if stream:
            return await _stream(web, tool, arguments)
        with Progress(tool.title) as progress:
            result = await tool.run(web, arguments, emit=progress.heard)
    if as_json:
        emit_json(result.as_dict())
    elif body and isinstance(result, Page | Stored):
        emit(result.content)
    else:
        emit(result.as_text())
    return exit_code(result)


def exit_code(result: Any) -> int:
    """0, or why a call that raised nothing still brought nothing."""
    if isinstance(result, Found) and not result.results:
        return NOTHING_FOUND
    if isinstance(result, Pages) and result.items and not any(item.page for item in result.items):
        return next((item.error.exit_code for item in result.items if item.error), NOTHING_FOUND)
    if getattr(result, "sources_used", None) == ():
        return NOTHING_FOUND
    return 0


async def _stream(web: Web, tool: Tool, arguments: dict[str, Any]) -> int:
    async def show(event: Event) -> None:
        sys.stdout.write(json.dumps({"event": event.event, "data": event.data}, ensure_ascii=False) + "\n")
        sys.stdout.flush()

    try:
        await tool.run(web, arguments, emit=show)
    except CormorantError as error:
        return error.exit_code  # the last event told it
    return 0


class Progress(AbstractContextManager["Progress"]):
    """A spinner on stderr that says what is going on; silent when stderr is no terminal."""

    def __init__(self, title: str) -> None:
        self._status: Any = nullcontext()
        if sys.stderr.isatty():
            from rich.console import Console

            self._status = Console(stderr=True).status(f"{title} …")

    def __enter__(self) -> Progress:
        self._status.__enter__()
        return self

    def __exit__(self, *exc: object) -> None:
        self._status.__exit__(*exc)

    async def heard(self, event: Event) -> None:
        if not hasattr(self._status, "update"):
            return
        if event.event == "tool_update" and "phase" in event.data:
            self._status.update(f"{event.data['phase'].lower().replace('_', ' ')}: {event.data['status']}")
        elif event.event == "agent_step_started":
            self._status.update(f"step {event.data['step']}: {event.data['action']} {event.data['detail'][:60]}")
