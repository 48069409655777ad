"""A folder of files that survive a crash: written whole or not at all, swept without hurting anybody who is at work.

Several processes share one folder. What they need from each other goes through advisory file locks, which the kernel
gives back when a process dies, however it dies:

- a writer holds `.lock` shared; the sweep holds it alone, so it never sees a write halfway, and whatever temporary file
  it finds then was left by a crash. `.gate` keeps a stream of writers from shutting the sweep out.
- every open store has a file `.live-*` which it holds locked and in which it notes the ids it put or read. While the lock
  is held, the sweep leaves those ids alone.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
import threading
import time
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from types import ModuleType

from cormorant.errors import NotConfigured

MAX_FILE_BYTES = 256 * 1024**2  # nothing larger was ever written here
HEAD_BYTES = 256 * 1024  # of a JSON: where it names its bodies
USE_S = 60
ALONE_S = 2.0  # how long a sweep waits for writers, with newcomers waiting behind it
SHARED_S = 15.0
KEEP_SHARE = 0.9  # a sweep goes a little below the limit, so that the next write does not need one
HOLDS = 10_000  # ids a store that is open keeps from the sweep, the latest ones: a server may stay open for months
_REMEDY = 'set store.path to a folder of your own with room in it, or to "memory"'


@dataclass(frozen=True)
class Swept:
    """What a sweep did: ids removed, bodies removed, files a crash had left, and the bytes that remain."""

    ids: int = 0
    bodies: int = 0
    leftovers: int = 0
    bytes: int = 0


@dataclass
class _Found:
    """One look through the folder."""

    files: dict[str, os.stat_result] = field(default_factory=dict)
    named: dict[str, list[str]] = field(default_factory=dict)  # bodies by the id that names them

    def bytes(self) -> int:
        return sum(at.st_size for at in self.files.values())


class Folder:
    """One folder, as one open store sees it. Made at the first write; thread-safe."""

    def __init__(self, path: Path) -> None:
        _locks()  # said at once where there are none, not at the first write
        self._path = path
        self._lock = threading.Lock()
        self._live: int | None = None
        self._live_path: Path | None = None
        self._let_go: Callable[[], object] = lambda: None
        self._noted: OrderedDict[str, None] = OrderedDict()
        self._noted_bytes = 0

    def write(self, response_id: str, text: bytes, bodies: dict[str, bytes]) -> None:
        """The bodies that are not there yet, then the JSON; all of it on disk when this returns. Raises: NotConfigured."""
        with self._told():
            self._open()
            self._note(response_id)
            with self._locked(alone=False):
                new = {f"{name}.body": body for name, body in bodies.items() if not self._has(f"{name}.body", len(body))}
                self._place({**new, f"{response_id}.json": text})

    def read(self, name: str) -> bytes | None:
        """The whole file, or None where there is none."""
        try:
            at = os.open(f"{self._path}/{name}", os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            return None
        try:
            facts = os.fstat(at)
            if not stat.S_ISREG(facts.st_mode) or facts.st_size > MAX_FILE_BYTES:
                return None
            found = os.read(at, facts.st_size)
            while more := os.read(at, 1 << 20):  # a read may bring less than was asked for
                found += more
            return found
        except OSError:
            return None
        finally:
            os.close(at)

    def used(self, response_id: str) -> None:
        """The id was read: its turn to be swept comes later, and not while this store is open."""
        with contextlib.suppress(OSError, NotConfigured):  # a folder that can only be read is read all the same
            self._open()
            self._note(response_id)
            path = f"{self._path}/{response_id}.json"
            facts, now = os.stat(path), time.time_ns()
            if now - _last_use(facts) > USE_S * 10**9:  # to the minute: changing a file's times can wait for the disk
                os.utime(path, ns=(now, facts.st_mtime_ns))  # the time of writing stays: age counts from it

    def release(self) -> None:
        """This store is closed; what it held may be swept."""
        with self._lock:
            self._let_go()
            self._live = self._live_path = None
            self._noted.clear()
            self._noted_bytes = 0

    def unswept_s(self) -> float:
        """Seconds since anybody swept the folder."""
        try:
            return time.time() - (self._path / ".swept").stat().st_mtime
        except OSError:
            return float("inf")

    def sweep(self, max_bytes: int, max_age_s: float, bodies_named: Callable[[bytes], list[str]]) -> Swept:
        """Removes what is too old, then what was used longest ago until the rest fits, then what nobody names."""
        if not self._path.is_dir():
            return Swept()
        with self._told():
            self._open()
            (self._path / ".swept").touch(mode=0o600)
            before = self._look(_Found(), bodies_named)
            going = self._too_old(before, max_age_s) | self._too_much(before, max_bytes)
            self._held_live()  # for what it does besides: the notes of stores that are gone go too
            if not going and not self._orphans(before) and not self._leftovers():
                return Swept(bytes=before.bytes())
            with contextlib.suppress(BlockingIOError), self._locked(alone=True):
                return self._remove(before, going, bodies_named)
            return Swept(bytes=before.bytes())  # somebody is at work for very long; the next sweep will do

    def _remove(self, before: _Found, going: set[str], bodies_named: Callable[[bytes], list[str]]) -> Swept:
        """The part of a sweep that nobody may write during. Only what is unchanged since the look goes."""
        leftovers = self._leftovers()
        now = self._look(before, bodies_named)
        live = self._held_live()
        gone = {name for name in going if name in now.files and name.removesuffix(".json") not in live}
        gone = {name for name in gone if now.files[name].st_ctime_ns == before.files[name].st_ctime_ns}
        for name in gone:
            del now.files[name], now.named[name]
        orphans = self._orphans(now)
        for name in (*gone, *orphans, *leftovers):
            with contextlib.suppress(FileNotFoundError):
                (self._path / name).unlink()
        _sync_folder(self._path)
        kept = now.bytes() - sum(now.files[name].st_size for name in orphans)
        return Swept(len(gone), len(orphans), len(leftovers), kept)

    def _too_old(self, found: _Found, max_age_s: float) -> set[str]:
        limit = time.time() - max_age_s
        return {name for name in found.named if found.files[name].st_mtime < limit} if max_age_s else set()

    def _too_much(self, found: _Found, max_bytes: int) -> set[str]:
        total = found.bytes()
        if not max_bytes or total <= max_bytes:
            return set()
        users: dict[str, int] = {}
        for bodies in found.named.values():
            for body in bodies:
                users[body] = users.get(body, 0) + 1
        live = self._held_live()
        going = set()
        for name in sorted(found.named, key=lambda name: _last_use(found.files[name])):
            if total <= max_bytes * KEEP_SHARE:
                break
            if name.removesuffix(".json") in live:
                continue
            going.add(name)
            total -= found.files[name].st_size
            for body in found.named[name]:
                users[body] -= 1
                if not users[body] and (at := found.files.get(f"{body}.body")):
                    total -= at.st_size
        return going

    def _look(self, known: _Found, bodies_named: Callable[[bytes], list[str]]) -> _Found:
        """What there is. A JSON that `known` has unchanged is not opened again."""
        found = _Found()
        with os.scandir(self._path) as entries:
            for entry in entries:
                if not entry.name.endswith((".json", ".body")) or entry.name.startswith("."):
                    continue
                with contextlib.suppress(FileNotFoundError):
                    at = found.files[entry.name] = entry.stat(follow_symlinks=False)
                    if entry.name.endswith(".json"):
                        old = known.files.get(entry.name)
                        same = old is not None and (old.st_ino, old.st_ctime_ns) == (at.st_ino, at.st_ctime_ns)
                        found.named[entry.name] = known.named[entry.name] if same else bodies_named(self._head(entry.name))
        return found

    def _head(self, name: str) -> bytes:
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | getattr(os, "O_NOATIME", 0)  # looking is not using
        with os.fdopen(os.open(self._path / name, flags), "rb") as file:
            return file.read(HEAD_BYTES)

    @staticmethod
    def _orphans(found: _Found) -> list[str]:
        named = {f"{body}.body" for bodies in found.named.values() for body in bodies}
        return [name for name in found.files if name.endswith(".body") and name not in named]

    def _leftovers(self) -> list[str]:
        with os.scandir(self._path) as entries:
            return [entry.name for entry in entries if entry.name.startswith(".tmp-")]

    def _held_live(self) -> set[str]:
        """The ids that open stores hold. The note of a store that is gone is removed."""
        with self._lock:
            held = set(self._noted)
        for note in self._path.glob(".live-*"):
            if note == self._live_path:
                continue
            try:
                at = os.open(note, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
            except OSError:
                continue
            try:
                if _try_lock(at):
                    note.unlink(missing_ok=True)
                else:
                    held.update(os.pread(at, os.fstat(at).st_size, 0).decode("ascii", "ignore").split())
            finally:
                os.close(at)
        return held

    def _open(self) -> None:
        """The folder, ours alone, and this store's note in it."""
        with self._lock:
            if self._live is not None:
                return
            _own(self._path)
            while True:
                note = self._path / f".live-{secrets.token_hex(8)}"
                at = os.open(note, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
                # A sweep may have found the note between its making and its locking, and taken it for a dead one's.
                if _try_lock(at) and note.exists():
                    break
                os.close(at)
            self._live, self._live_path = at, note
            self._let_go = weakref.finalize(self, _let_go, at, note, os.getpid())  # also when nobody closes the store

    def _note(self, response_id: str) -> None:
        with self._lock:
            if self._live is None or response_id in self._noted:
                return
            self._noted[response_id] = None
            line = response_id.encode("ascii") + b"\n"
            self._noted_bytes += os.pwrite(self._live, line, self._noted_bytes)
            if self._noted_bytes > 2 * HOLDS * len(line):
                while len(self._noted) > HOLDS:
                    self._noted.popitem(last=False)
                # Written over first and cut behind: whoever reads in between sees some ids twice, and misses none.
                self._noted_bytes = os.pwrite(self._live, "\n".join([*self._noted, ""]).encode("ascii"), 0)
                os.ftruncate(self._live, self._noted_bytes)

    def _has(self, name: str, size: int) -> bool:
        """Whether the body is there already, whole."""
        try:
            return os.stat(self._path / name, follow_symlinks=False).st_size == size
        except FileNotFoundError:
            return False

    def _place(self, files: dict[str, bytes]) -> None:
        """Each under a temporary name, synced, then renamed in order, then the folder synced."""
        placing: dict[str, tuple[Path, int]] = {}
        try:
            for name, content in files.items():
                temporary = self._path / f".tmp-{os.getpid()}-{secrets.token_hex(8)}"
                at = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
                placing[name] = temporary, at
                view = memoryview(content)
                while view:
                    view = view[os.write(at, view) :]
            _sync([at for _, at in placing.values()])
            for name, (temporary, _) in placing.items():
                os.replace(temporary, self._path / name)
            _sync_folder(self._path)
        except OSError:
            for temporary, _ in placing.values():
                with contextlib.suppress(OSError):
                    temporary.unlink()
            raise
        finally:
            for _, at in placing.values():
                os.close(at)

    @contextlib.contextmanager
    def _locked(self, *, alone: bool) -> Iterator[None]:
        """`.lock`, shared or alone. Whoever wants it alone holds `.gate`, at which newcomers wait. Raises: BlockingIOError."""
        gate, lock = _lock_file(self._path / ".gate"), _lock_file(self._path / ".lock")
        try:
            _wait_for_lock(gate, alone=alone)
            if not alone:
                _locks().flock(gate, _locks().LOCK_UN)
            _wait_for_lock(lock, alone=alone)
            yield
        finally:
            os.close(lock)
            os.close(gate)

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        """Trouble with the disk as one line that names no path."""
        try:
            yield
        except OSError as error:
            why = _REASONS.get(error.errno or 0, os.strerror(error.errno).lower() if error.errno else "the disk failed")
            raise NotConfigured(f"the result can't be stored: {why}", remedy=_REMEDY, retryable=error.errno in _MAY_PASS) from error


_OURS = (".lock", ".gate", ".swept", ".live-", ".tmp-")
_REASONS = {
    errno.EAGAIN: "another program keeps the folder locked",
    errno.ENOSPC: "no space is left on the disk",
    errno.EDQUOT: "the disk quota is used up",
    errno.EROFS: "the folder can only be read",
    errno.EACCES: "the folder may not be written",
    errno.EPERM: "the folder may not be written",
    errno.ENOTDIR: "the store's path is not a folder",
    errno.EEXIST: "the store's path is not a folder",
}
_MAY_PASS = (errno.EAGAIN, errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE, errno.EIO)


def _own(path: Path) -> None:
    """Makes the folder 0700, or sees that it is ours and nobody else's. Raises: NotConfigured, OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        path.mkdir(mode=0o700)
    facts = path.lstat()
    if stat.S_ISLNK(facts.st_mode):
        facts = path.stat()  # a link of the operator's own making; what it leads to is judged
    if not stat.S_ISDIR(facts.st_mode):
        raise NotConfigured("the result can't be stored: the store's path is not a folder", remedy=_REMEDY)
    if facts.st_uid != os.geteuid():
        raise NotConfigured("the result can't be stored: the store's folder belongs to another user", remedy=_REMEDY)
    if facts.st_mode & 0o077:
        # Tightened only where that takes nothing from anybody: somebody may have named /tmp.
        if any(not name.startswith(_OURS) and not name.endswith((".json", ".body")) for name in os.listdir(path)):
            raise NotConfigured("the result can't be stored: the store's folder is open to others and holds other files", remedy=_REMEDY)
        path.chmod(0o700)


def _let_go(at: int, note: Path, pid: int) -> None:
    if pid == os.getpid():  # a forked child closes its copy and leaves the note to its parent
        with contextlib.suppress(OSError):
            note.unlink()
    os.close(at)


def _last_use(at: os.stat_result) -> int:
    return max(at.st_atime_ns, at.st_mtime_ns)


def _locks() -> ModuleType:
    try:
        import fcntl  # not on Windows, where only the store in memory works
    except ImportError:
        raise NotConfigured(
            "results can't be kept in a folder: this system has no file locks", remedy='set store.path = "memory"'
        ) from None
    return fcntl


def _lock_file(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)


def _try_lock(at: int, *, alone: bool = True) -> bool:
    locks = _locks()
    try:
        locks.flock(at, (locks.LOCK_EX if alone else locks.LOCK_SH) | locks.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _wait_for_lock(at: int, *, alone: bool) -> None:
    """Waits, and not for ever: a program that was stopped in the middle of a write would stop all others too."""
    end, pause = time.monotonic() + (ALONE_S if alone else SHARED_S), 0.001
    while not _try_lock(at, alone=alone):
        if time.monotonic() > end:
            raise BlockingIOError(errno.EAGAIN, "locked")
        time.sleep(pause)
        pause = min(0.02, pause * 2)


@lru_cache(maxsize=1)
def _syncing(pid: int) -> ThreadPoolExecutor:
    """Threads of this very process: a forked one inherits the pool and none of its threads."""
    return ThreadPoolExecutor(16, f"cormorant-fsync-{pid}")


def _sync(files: list[int]) -> None:
    """All of them on the disk. Side by side: a journal takes several into one commit, and a commit is what takes the time."""
    *others, last = files
    waiting = [_syncing(os.getpid()).submit(os.fsync, at) for at in others]
    try:
        os.fsync(last)
    finally:
        failed = [future.exception() for future in waiting]
    for error in failed:
        if error is not None:
            raise error


def _sync_folder(path: Path) -> None:
    at = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(at)
    finally:
        os.close(at)
