"""Where results are kept until somebody asks for more of them: in memory, or in a folder that outlives the process.

    store = open_store(settings.store, session=None)      # or MemoryStore(), DirectoryStore(folder)
    response_id = await store.put(Held(...))               # on disk, synced, before it returns
    held = await store.get(response_id)                    # raises InvalidArguments, UnknownResponse
    picked = select(held, url=..., url_index=..., query=..., query_index=...)      # cormorant.store.held
    await store.aclose()

In a folder every id is one JSON file `ID.json` beside the long texts it names, `SHA256.body`, which ids share. A file is
written under a temporary name, synced and renamed, then the folder is synced: an id that was returned is there after a
crash, and no reader ever sees half a file. Folder 0700, files 0600. No message names a path: a model reads them.
"""

from __future__ import annotations

import asyncio
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from cormorant.errors import TooLarge
from cormorant.store.folder import Folder, Swept
from cormorant.store.held import Held, bodies_named, checked_id, decoded, digest, encoded, new_id, unknown

if TYPE_CHECKING:  # the models of the settings take long to import, and a store needs none
    from cormorant.settings import Store as StoreSettings

FRONT_ENTRIES = 32
FRONT_BYTES = 16 * 1024**2
MEMORY_BYTES = 256 * 1024**2
BUDGET_BYTES = 2 * 1024**3
SWEEP_SHARE = 16
SWEEP_EVERY_S = 3_600.0


class Store(Protocol):
    """Keeps results under ids nobody can guess. `put` returns only when the result is as safe as the store can make it."""

    async def put(self, held: Held) -> str:
        """The id it is kept under: its own `response_id`, or a new one. Raises: NotConfigured when it can't be kept."""
        ...

    async def get(self, response_id: str) -> Held:
        """What was kept. Raises: InvalidArguments for what is no id, UnknownResponse when nothing is there."""
        ...

    async def aclose(self) -> None:
        """Ends the session: what it held may be swept from now on. Nothing is deleted."""
        ...


def utc_now() -> str:
    """The time as it stands in results."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class MemoryStore:
    """Keeps results in this process alone; past its bytes the ones used least recently go."""

    def __init__(self, max_bytes: int = MEMORY_BYTES, *, now: Callable[[], str] = utc_now) -> None:
        self._room = _Room(max_bytes=max_bytes)
        self._now = now

    async def put(self, held: Held) -> str:
        held = _named(held, self._now)
        text, bodies = encoded(held)
        self._room.add(held, len(text) + sum(map(len, bodies.values())))
        return held.response_id

    async def get(self, response_id: str) -> Held:
        held = self._room.get(checked_id(response_id))
        if held is None:
            raise unknown(response_id)
        return held

    async def aclose(self) -> None:
        """Nothing to end."""


class DirectoryStore:
    """Keeps results in a folder, with the latest in memory too.

    `read_also` are folders of other stores that are looked into, in order, and never written. Once the folder is larger
    than `max_bytes` or a result older than `max_age_s` (0: no limit), a sweep removes what was used least recently, but
    nothing that a store which is still open has put or read.
    """

    def __init__(
        self,
        folder: str | Path,
        *,
        read_also: tuple[str | Path, ...] = (),
        max_bytes: int = BUDGET_BYTES,
        max_age_s: float = 0.0,
        now: Callable[[], str] = utc_now,
    ) -> None:
        self._folder = Folder(Path(folder))
        self._others = tuple(Folder(Path(other)) for other in read_also)
        self._max_bytes = max_bytes
        self._max_age_s = max_age_s
        self._now = now
        self._front = _Room(max_bytes=FRONT_BYTES, max_entries=FRONT_ENTRIES)
        self._unswept: float = 0
        self._sweeping: asyncio.Task[Swept] | None = None

    async def put(self, held: Held) -> str:
        held = _named(held, self._now)
        self._unswept += await asyncio.to_thread(self._write, held)
        if self._sweep_is_due():
            self._unswept = 0
            self._sweeping = asyncio.create_task(self.sweep())
            self._sweeping.add_done_callback(_looked_at)
        return held.response_id

    def _sweep_is_due(self) -> bool:
        """After a sixteenth of the budget was written here, or when nobody has swept for an hour: programs that live for
        one call fill a folder too."""
        if not (self._max_bytes or self._max_age_s) or (self._sweeping and not self._sweeping.done()):
            return False
        much = bool(self._max_bytes) and self._unswept > self._max_bytes / SWEEP_SHARE
        return much or self._folder.unswept_s() > SWEEP_EVERY_S

    async def get(self, response_id: str) -> Held:
        held = self._front.get(checked_id(response_id))
        return held if held is not None else await asyncio.to_thread(self._read, response_id)

    async def sweep(self) -> Swept:
        """Brings the folder within its limits and removes what a crash left behind; says what went."""
        return await asyncio.to_thread(self._folder.sweep, self._max_bytes, self._max_age_s, bodies_named)

    async def aclose(self) -> None:
        if self._sweeping is not None:
            await asyncio.wait([self._sweeping])
        await asyncio.to_thread(self._folder.release)

    def _write(self, held: Held) -> int:
        try:
            text, bodies = encoded(held)
        except RecursionError as error:
            raise TooLarge("the result can't be stored: its structured data is nested too deep", remedy="ask without structured") from error
        size = len(text) + sum(map(len, bodies.values()))
        self._folder.write(held.response_id, text, bodies)
        self._front.add(held, size)
        return size

    def _read(self, response_id: str) -> Held:
        damaged = False
        for folder in (self._folder, *self._others):
            text = folder.read(f"{response_id}.json")
            if text is None:
                continue
            try:
                held, size = _rebuilt(folder, text)
            except (ValueError, LookupError):
                damaged = True
                continue
            if folder is self._folder:
                folder.used(response_id)
            held = replace(held, response_id=response_id)
            self._front.add(held, size)
            return held
        raise unknown(response_id, "what was stored is damaged" if damaged else "nothing is stored under it")


def _rebuilt(folder: Folder, text: bytes) -> tuple[Held, int]:
    """The held value and its size. Raises: ValueError, LookupError when a part of it is missing or not what it was."""
    size = len(text)

    def body(name: str) -> bytes:
        nonlocal size
        found = folder.read(f"{name}.body")
        if found is None or digest(found) != name:
            raise LookupError(name)
        size += len(found)
        return found

    return decoded(text, body), size


def _looked_at(task: asyncio.Task[Swept]) -> None:
    if not task.cancelled():
        task.exception()  # the put that comes next meets the same trouble and tells it to somebody


def _named(held: Held, now: Callable[[], str]) -> Held:
    response_id = checked_id(held.response_id) if held.response_id else new_id()
    return replace(held, response_id=response_id, created_at=held.created_at or now())


@dataclass
class _Entry:
    held: Held
    size: int


class _Room:
    """The results used last, in memory. One larger than a quarter of the room is never taken in. Thread-safe."""

    def __init__(self, *, max_bytes: int, max_entries: int | None = None) -> None:
        self._max_bytes = max_bytes
        self._max_entries = max_entries
        self._entries: OrderedDict[str, _Entry] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def get(self, response_id: str) -> Held | None:
        with self._lock:
            entry = self._entries.get(response_id)
            if entry is None:
                return None
            self._entries.move_to_end(response_id)
            return entry.held

    def add(self, held: Held, size: int) -> None:
        with self._lock:
            self._drop(held.response_id)
            if self._max_entries is not None and size > self._max_bytes / 4:
                return
            self._entries[held.response_id] = _Entry(held, size)
            self._bytes += size
            while len(self._entries) > 1 and (
                self._bytes > self._max_bytes or len(self._entries) > (self._max_entries or len(self._entries))
            ):
                self._drop(next(iter(self._entries)))

    def _drop(self, response_id: str) -> None:
        entry = self._entries.pop(response_id, None)
        self._bytes -= entry.size if entry else 0


def open_store(settings: StoreSettings, session: str | Path | None = None) -> Store:
    """The store that the settings name.

    With a session folder, results go to `SESSION/web`; the user's data folder and the older `SESSION.web` beside it are
    read as well.
    """
    if settings.path == "memory":
        return MemoryStore()
    data = Path(settings.path).expanduser() if settings.path else _data_folder()
    if session is None:
        return DirectoryStore(data, max_bytes=settings.max_bytes, max_age_s=settings.max_age)
    session = Path(session)
    older = tuple(dict.fromkeys([session.with_name(session.name + ".web"), session.with_name(session.stem + ".web")]))
    return DirectoryStore(session / "web", read_also=(data, *older), max_bytes=settings.max_bytes, max_age_s=settings.max_age)


def _data_folder() -> Path:
    from platformdirs import user_data_path  # 10 ms that a store in memory never needs

    return user_data_path("cormorant", appauthor=False) / "results"
