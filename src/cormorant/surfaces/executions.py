"""Runs of a tool that a client may leave and come back to: a record that survives a restart, and events to replay."""

from __future__ import annotations

import asyncio
import json
import secrets
import time
from collections import OrderedDict
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from cormorant import sse
from cormorant.errors import Cancelled, CormorantError, Internal
from cormorant.events import Emit, Event, endings
from cormorant.surfaces.tenants import write_private

Status = Literal["pending", "running", "completed", "failed", "cancelled"]
ENDED = ("completed", "failed", "cancelled")
KEPT_RUNS = 1_000  # executions whose events stay in memory; older ones answer from their record
KEPT_BYTES = 64 * 1024**2  # of their records, a measure of what they hold
KEPT_EVENTS = 20_000  # of one execution; a longer one can't be replayed from its beginning
KEPT_RECORDS = 10_000  # on disk, of one tenant; the oldest go first
PRUNED_EVERY = 100  # runs started
LISTED_MAX = 200  # of one page of the list
_ID_PREFIX = "call_"

Work = Callable[[Emit], Awaitable[Any]]


@dataclass
class Execution:
    """One run. `events` are (sequence, name, payload); whoever streams it waits on `changed`."""

    id: str
    tool: str
    inputs: dict[str, Any]
    status: Status = "pending"
    outputs: Any = None
    error: dict[str, Any] | None = None
    created_at: str = ""
    started_at: str | None = None
    completed_at: str | None = None
    size: int = 0
    events: list[tuple[int, str, Any]] = field(default_factory=list, repr=False)
    changed: asyncio.Event = field(default_factory=asyncio.Event, repr=False)
    task: asyncio.Task[None] | None = field(default=None, repr=False)

    def record(self) -> dict[str, Any]:
        """What `GET /v1/executions/{id}` shows."""
        names = ("id", "tool", "status", "inputs", "outputs", "error", "created_at", "started_at", "completed_at")
        return {name: getattr(self, name) for name in names}

    def add(self, event: Event) -> None:
        self.events.append((len(self.events) + 1, event.event, event.data))
        if len(self.events) > KEPT_EVENTS:
            raise Internal("an execution sent more events than can be kept")
        self._wake()

    def _wake(self) -> None:
        self.changed.set()
        self.changed = asyncio.Event()

    async def after(self, seen: int) -> AsyncGenerator[tuple[int, str, Any], None]:
        """Every event past `seen`, then those that come, up to and including the terminal one."""
        while True:
            changed = self.changed
            for event in self.events[seen:]:
                seen = event[0]
                yield event
                if event[1] in sse.TERMINAL:
                    return
            if self.status in ENDED and seen >= len(self.events):
                return
            await changed.wait()


class Executions:
    """The runs of one tenant. Records are files; a run that a restart interrupted is found as failed, never as running."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._runs: OrderedDict[str, Execution] = OrderedDict()
        self._started = 0

    def start(self, tool: str, inputs: dict[str, Any], work: Work) -> Execution:
        """Begin a run and return at once."""
        run = Execution(_new_id(), tool, inputs, created_at=_now())
        self._runs[run.id] = run
        self._trim()
        if self._started % PRUNED_EVERY == 0:
            self._prune()
        self._started += 1
        self._save(run)
        run.task = asyncio.get_running_loop().create_task(self._run(run, work))
        return run

    def _trim(self) -> None:
        """Forget the oldest ended runs past the limits; their records stay on disk."""
        ended = [run for run in self._runs.values() if run.status in ENDED]
        surplus = len(self._runs) - KEPT_RUNS
        size = sum(run.size for run in ended)
        for run in ended[:-1]:
            if surplus <= 0 and size <= KEPT_BYTES:
                break
            del self._runs[run.id]
            surplus -= 1
            size -= run.size

    async def _run(self, run: Execution, work: Work) -> None:
        run.status, run.started_at = "running", _now()
        self._save(run)
        told: list[Event] = []

        async def emit(event: Event) -> None:
            told.append(event)
            run.add(event)

        finished, failed = endings(run.tool)
        terminal: Event | None = None
        try:
            result = (await work(emit)).as_dict()
            run.status, run.outputs = "completed", result
            terminal = finished(result)
        except CormorantError as error:
            run.status, run.error = "failed", error.as_dict()
            terminal = failed(error.message, error.code)
        except asyncio.CancelledError:
            stopped = Cancelled("the execution was cancelled", remedy="start it again")
            run.status, run.error = "cancelled", stopped.as_dict()
            terminal = failed(stopped.message, stopped.code)
        except Exception as error:  # the outer edge of a run: a bug ends it, and says so without its stack
            run.status, run.error = "failed", Internal(f"{type(error).__name__} in {run.tool}").as_dict()
            terminal = failed(run.error["message"], "internal")
        finally:
            run.completed_at = _now()
            self._save(run)
            if terminal is not None and not any(event.event in sse.TERMINAL for event in told):
                run.add(terminal)
            run._wake()
            self._trim()

    def get(self, execution_id: str) -> Execution | None:
        """The run of that id, from memory or from its record."""
        found = self._runs.get(execution_id)
        return found or self._read(execution_id)

    def latest(self, count: int = 50, before: str = "") -> tuple[list[dict[str, Any]], str | None]:
        """The newest runs, those before a restart too, without what they brought; and the `before` that goes on, if any.

        `before` is the id of the last run already seen: ids sort by the time of their start.
        """
        count = max(1, min(count, LISTED_MAX))
        older = [name for name in sorted(self._kept(), reverse=True) if not before or name < before]
        runs = [run for run in map(self.get, older[:count]) if run is not None]
        shown = [{name: value for name, value in run.record().items() if name != "outputs"} for run in runs]
        return shown, older[count - 1] if len(older) > count else None

    def _kept(self) -> set[str]:
        """The ids there are: in memory, or as a record on disk."""
        try:
            on_disk = {path.stem for path in self.folder.iterdir() if path.suffix == ".json" and path.name.startswith(_ID_PREFIX)}
        except FileNotFoundError:
            on_disk = set()
        return on_disk | self._runs.keys()

    def _prune(self) -> None:
        """Delete the oldest records past the limit; nobody waits for those of runs that are still going on."""
        for name in sorted(self._kept() - self._runs.keys(), reverse=True)[KEPT_RECORDS:]:
            self._path(name).unlink(missing_ok=True)

    async def cancel(self, run: Execution) -> None:
        """Stop a run and wait until it has cleaned up."""
        if run.task is not None and not run.task.done():
            run.task.cancel()
            await asyncio.wait([run.task])

    async def aclose(self) -> None:
        """Stop every run."""
        await asyncio.gather(*(self.cancel(run) for run in list(self._runs.values())))

    @property
    def active(self) -> int:
        return sum(run.status not in ENDED for run in self._runs.values())

    def _path(self, execution_id: str) -> Path:
        return self.folder / f"{execution_id}.json"

    def _save(self, run: Execution) -> None:
        text = json.dumps(run.record(), ensure_ascii=False, default=str)
        run.size = len(text)
        write_private(self._path(run.id), text)

    def _read(self, execution_id: str) -> Execution | None:
        if not (execution_id.startswith(_ID_PREFIX) and execution_id.removeprefix(_ID_PREFIX).isalnum()):
            return None
        try:
            run = Execution(**json.loads(self._path(execution_id).read_text(encoding="utf-8")))
        except (FileNotFoundError, ValueError, TypeError):
            return None
        if run.status not in ENDED:
            error = Internal("the server stopped while this was running", remedy="start it again", retryable=True)
            run.status, run.error, run.completed_at = "failed", error.as_dict(), _now()
            self._save(run)
        if run.status == "completed":
            run.events = [(1, endings(run.tool)[0].event, run.outputs)]
        elif run.error:
            run.events = [(1, endings(run.tool)[1].event, {"message": run.error["message"], "code": run.error["code"]})]
        return run


def _new_id() -> str:
    """Unguessable, and sorted by time: twelve digits of milliseconds, then twenty at random."""
    return f"{_ID_PREFIX}{time.time_ns() // 1_000_000:012x}{secrets.token_hex(10)}"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
