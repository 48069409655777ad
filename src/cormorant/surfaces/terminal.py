"""One tool call from the terminal: settings in, `Web` around it, result on stdout, progress on stderr."""

from __future__ import annotations

import json
import sys
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from cormorant import settings, sse
from cormorant.crawl import SiteMap
from cormorant.errors import CormorantError, InvalidArguments
from cormorant.events import Event, TextAdded, endings
from cormorant.research import Report
from cormorant.results import Page, Pages, Stored
from cormorant.search import Found
from cormorant.surfaces import screen, shown
from cormorant.surfaces.cli import emit, emit_json, tell
from cormorant.tools import Tool
from cormorant.web import Web

NOTHING_FOUND = 1


def open_web(*, record: str | None = None, replay: str | None = None) -> Web:
    """A `Web` by the operator's settings; files below the current folder may be read."""
    loaded = settings.read()
    for note in loaded.notes:
        tell(f"note: {note}")
    return Web(loaded.settings, workspace=Path.cwd(), record=record, replay=replay)


async def run_tool(
    tool: Tool,
    arguments: dict[str, Any],
    *,
    as_json: bool,
    body: bool,
    stream: bool,
    tape: dict[str, str | None],
    options: dict[str, Any],
    save: str | None = None,
) -> int:
    """Run one tool and show its result, or write what it read to the file `save`. Returns the exit code."""
    for note in tool.read(arguments)[1]:
        tell(f"note: {note}")
    async with open_web(**tape) as web:
        if stream:
            return await _stream(web, tool, arguments, options)
        with Progress(tool.title, _targets(arguments)) as progress:
            told = tool.method in ("answer", "research") and not as_json and not arguments.keys() & {"form", "style"}
            telling = Telling(progress) if told and sys.stdout.isatty() else None
            result = await tool.run(web, arguments, emit=telling.heard if telling else progress.heard, **options)
    if save and isinstance(result, Page | Stored):
        _save(result, Path(save))
    if as_json:
        emit_json(result.as_dict())
    elif save and isinstance(result, Page | Stored):
        tell(f"{save}: {result.content if result.image else f'{len(result.content):,} characters'}")
    elif telling is not None:
        telling.end(result)
    elif body and isinstance(result, Page | Stored):
        screen.show("\n".join(shown.inert_lines(result.content)) if sys.stdout.isatty() else result.content)
    else:
        _show(result)
    return exit_code(result)


def _save(result: Page | Stored, path: Path) -> None:
    """The image itself, or the text. Raises: InvalidArguments."""
    try:
        path.write_bytes(result.image.data if result.image else result.content.encode("utf-8", "surrogatepass"))
    except OSError as error:
        raise InvalidArguments(f"{path} can't be written: {error.strerror}", remedy="name another file") from error


def _show(result: Any) -> None:
    """A person at a terminal gets what is good to read; a program behind a pipe gets what models get."""
    if isinstance(result, SiteMap):  # addresses alone on stdout, for `cormorant fetch -`
        for gap in result.not_reached:
            tell(f"not reached: {gap['url']}: {gap['code']}: {gap['reason']}")
        if result.truncated:
            tell("there are more: --limit raises the number, --search narrows them down")
    if sys.stdout.isatty():
        screen.show(shown.text_of(result))
        return
    head, gap, rest = result.as_text().partition("\n\n")  # the page's own words stay as they are
    emit(screen.as_command(head) + gap + rest)


def _targets(arguments: dict[str, Any]) -> int:
    urls = arguments.get("url")
    return len(urls) if isinstance(urls, list) else 0


def exit_code(result: Any) -> int:
    """0, or why a call that raised nothing still brought nothing."""
    if (isinstance(result, Found) and not result.results) or (isinstance(result, SiteMap) and not result.links):
        return NOTHING_FOUND
    if isinstance(result, Pages) and result.items and not any(item.page for item in result.items):
        return next((item.error.exit_code for item in result.items if item.error), NOTHING_FOUND)
    if getattr(result, "sources_used", None) == ():
        return NOTHING_FOUND
    return 0


async def _stream(web: Web, tool: Tool, arguments: dict[str, Any], options: dict[str, Any]) -> int:
    """Every event as a line of JSON; exactly one that ends it, whatever happened."""
    ended = False
    finished, failed = endings(tool.name)

    async def show(event: Event) -> None:
        nonlocal ended
        ended = ended or event.event in sse.TERMINAL
        sys.stdout.write(json.dumps({"event": event.event, "data": event.data}, ensure_ascii=False) + "\n")
        sys.stdout.flush()

    try:
        result = await tool.run(web, arguments, emit=show, **options)
    except CormorantError as error:
        if not ended:
            await show(failed(error.message, error.code))
        return error.exit_code
    if not ended:
        await show(finished(result.as_dict()))
    return exit_code(result)


class Telling:
    """An answer in the terminal while it is written, then what it rests on."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._flow = screen.Flow(self._write, screen.columns())
        self._told = False

    async def heard(self, event: Event) -> None:
        """Shows text as it comes and the phases around it."""
        if isinstance(event, TextAdded):
            self._progress.stop()
            self._told = True
            self._flow.feed(event.text)
        elif not self._told:
            await self._progress.heard(event)

    def end(self, result: Any) -> None:
        """The evidence, once the answer is whole."""
        self._progress.stop()
        if not self._told:  # a model that streams nothing still answered; research renumbers its sources at the end
            self._flow.feed(result.answer if isinstance(result, Report) else result.cited("plain"))
        self._flow.end()
        emit(screen.evidence(result.as_dict()))

    @staticmethod
    def _write(text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()


class Progress(AbstractContextManager["Progress"]):
    """A spinner on stderr that says what is going on; silent when stderr is no terminal."""

    def __init__(self, title: str, targets: int = 0) -> None:
        self._status: Any = nullcontext()
        self._targets, self._done, self._failed = targets, 0, 0
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.markup import escape

            self._escape = escape
            self._status = Console(stderr=True).status(f"{title} …")

    def __enter__(self) -> Progress:
        self._status.__enter__()
        return self

    def __exit__(self, *exc: object) -> None:
        self._status.__exit__(*exc)

    def stop(self) -> None:
        """Clear the spinner; what follows is the result."""
        if hasattr(self._status, "stop"):
            self._status.stop()

    async def heard(self, event: Event) -> None:
        """Says what happens now."""
        if hasattr(self._status, "update") and (line := self._line(event)):
            self._status.update(self._escape(line))

    def _line(self, event: Event) -> str:
        data = event.data
        if event.event == "agent_step_started":
            return f"step {data['step']}: {data['action']} {data['detail'][:60]}"
        if event.event != "tool_update":
            return ""
        if data.get("output_key") == "links":
            return f"{data['count']:,} addresses"
        if "phase" in data:
            return f"{data['phase'].lower().replace('_', ' ')}: {data['status']}"
        if data.get("output_key") != "items":
            return ""
        self._done += 1
        self._failed += not data["ok"]
        return f"{self._done}{f' of {self._targets}' if self._targets else ''} read" + (f", {self._failed} failed" if self._failed else "")
