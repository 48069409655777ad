"""The file behind the HTTP cache: SQLite, shared by processes, never in the way.

Write-ahead log, `BEGIN IMMEDIATE` and a busy timeout: writers wait for each other instead of failing. Whatever goes
wrong all the same is told in `trouble` and reads as "not kept"; a file that is no database any more is put aside.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from cormorant.cache.freshness import Entry, Response

BUSY_S = 10.0
RETRY_S = 30.0  # after trouble the file is left alone for so long
VARIANTS = 8  # of one address
SWEEP_SHARE = 16
_VERSION = 1
_SCHEMA = """
create table if not exists entries (
    key text not null, vary text not null, status int not null, headers text not null, url text not null,
    body blob not null, asked_at real not null, came_at real not null, used_at real not null, size int not null,
    primary key (key, vary)
);
create index if not exists by_use on entries (used_at, size);
"""

T = TypeVar("T")


class Entries:
    """Responses by key. Every method answers; none raises. Thread-safe."""

    def __init__(self, path: Path | None, max_bytes: int) -> None:
        self.trouble = ""
        self._path = path
        self._max_bytes = max_bytes
        self._unswept = float("inf")  # the first write looks how much there is
        self._lock = threading.Lock()
        self._opened: sqlite3.Connection | None = None
        self._closed_until = 0.0

    def load(self, key: str) -> list[Entry]:
        """What is kept under the key: one for each set of request fields."""

        def read(db: sqlite3.Connection) -> list[Entry]:
            rows = db.execute("select vary, status, headers, url, body, asked_at, came_at from entries where key = ?", (key,)).fetchall()
            if rows:
                with contextlib.suppress(sqlite3.Error):  # somebody else writes: being read is worth no waiting
                    db.execute("pragma busy_timeout = 0")
                    db.execute("update entries set used_at = ? where key = ?", (time.time(), key))
                db.execute(f"pragma busy_timeout = {int(BUSY_S * 1000)}")
            return [_entry(row) for row in rows]

        return self._done(read, [])

    def save(self, key: str, kept: Entry) -> None:
        """Keeps it in the place of what was kept for the same request fields."""
        row = (key, json.dumps(dict(sorted(kept.varied.items()))), *_columns(kept), time.time())
        size = len(row[5]) + len(row[3]) + len(key)

        def write(db: sqlite3.Connection) -> None:
            db.execute("begin immediate")
            with db:
                db.execute("insert or replace into entries values (?,?,?,?,?,?,?,?,?,?)", (*row, size))
                latest = "select vary from entries where key = ? order by came_at desc, rowid desc limit ?"
                db.execute(f"delete from entries where key = ? and vary not in ({latest})", (key, key, VARIANTS))  # noqa: S608 - our own text
                self._unswept += size
                if self._unswept > self._max_bytes / SWEEP_SHARE:
                    self._unswept = 0
                    _sweep(db, self._max_bytes)

        self._done(write, None)

    def drop(self, key: str) -> None:
        """Forgets what is kept under the key."""
        self._done(lambda db: _changed(db, "delete from entries where key = ?", key), None)

    def clear(self, prefix: str | None = None) -> None:
        """Forgets everything, or the keys that begin so."""
        if prefix is None:
            self._done(lambda db: _changed(db, "delete from entries"), None)
        else:
            self._done(lambda db: _changed(db, "delete from entries where substr(key, 1, ?) = ?", len(prefix), prefix), None)

    def close(self) -> None:
        with self._lock:
            if self._opened is not None:
                self._opened.close()
                self._opened = None

    def _done(self, work: Callable[[sqlite3.Connection], T], otherwise: T) -> T:
        with self._lock:
            if time.monotonic() < self._closed_until:
                return otherwise
            try:
                found = work(self._db())
            except sqlite3.OperationalError as error:  # locked, full, read-only: no other fetch shall wait for that
                self._closed_until = time.monotonic() + RETRY_S
                self.trouble = f"the HTTP cache can't be used: {error}"
            except (sqlite3.DatabaseError, ValueError, KeyError, TypeError, zlib.error) as error:
                self.trouble = f"the HTTP cache was damaged and is begun anew: {error}"
                self._put_aside()
            except OSError as error:
                self._closed_until = time.monotonic() + RETRY_S
                self.trouble = f"the HTTP cache can't be used: {os.strerror(error.errno or 0)}"
            else:
                self.trouble = ""
                return found
            return otherwise

    def _db(self) -> sqlite3.Connection:
        if self._opened is None:
            self._opened = _open(self._place())
        return self._opened

    def _place(self) -> Path:
        if self._path is None:
            from platformdirs import user_cache_path  # 10 ms that a cache with a path never needs

            self._path = user_cache_path("cormorant", appauthor=False) / "http.sqlite"
        return self._path

    def _put_aside(self) -> None:
        if self._opened is not None:
            with contextlib.suppress(sqlite3.Error):
                self._opened.close()
            self._opened = None
        for ending in ("", "-wal", "-shm"):
            with contextlib.suppress(OSError):
                os.unlink(f"{self._place()}{ending}")


def _open(path: Path) -> sqlite3.Connection:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))  # private from the start, and so its log
    db = sqlite3.connect(path, timeout=BUSY_S, isolation_level=None, check_same_thread=False)
    try:
        for _ in _tries():
            # Turning the log on asks for the file alone, and SQLite does not wait for that as it does for writing.
            try:
                db.execute("pragma journal_mode = wal")
                break
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF not in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                    raise
        db.execute("pragma synchronous = normal")  # a crash of the machine may cost the last entries: it is a cache
        (version,) = db.execute("pragma user_version").fetchone()
        if version != _VERSION:
            db.execute("begin immediate")
            with db:
                (version,) = db.execute("pragma user_version").fetchone()  # somebody may have been faster
                if version != _VERSION:
                    db.execute("drop table if exists entries")
                    for statement in filter(str.strip, _SCHEMA.split(";")):
                        db.execute(statement)
                    db.execute(f"pragma user_version = {_VERSION}")
    except BaseException:
        db.close()
        raise
    return db


def _tries() -> Iterator[None]:
    """Again and again for as long as a writer would wait."""
    end, pause = time.monotonic() + BUSY_S, 0.002
    while time.monotonic() < end:
        yield
        time.sleep(pause)
        pause = min(0.1, pause * 2)


def _columns(kept: Entry) -> tuple[int, str, str, bytes, float, float]:
    response = kept.response
    body = zlib.compress(response.body, 1)
    return response.status, json.dumps(dict(response.headers)), response.url, body, kept.asked_at, kept.came_at


def _entry(row: tuple[str, int, str, str, bytes, float, float]) -> Entry:
    vary, status, headers, url, body, asked_at, came_at = row
    return Entry(Response(status, json.loads(headers), zlib.decompress(body), url), asked_at, came_at, json.loads(vary))


def _changed(db: sqlite3.Connection, statement: str, *values: object) -> None:
    db.execute("begin immediate")
    with db:
        db.execute(statement, values)


def _sweep(db: sqlite3.Connection, max_bytes: int) -> None:
    """What was used longest ago goes until a tenth of the limit is free again."""
    (total,) = db.execute("select coalesce(sum(size), 0) from entries").fetchone()
    if total <= max_bytes:
        return
    going = []
    for rowid, size in db.execute("select rowid, size from entries order by used_at"):
        if total <= max_bytes * 0.9:
            break
        going.append((rowid,))
        total -= size
    db.executemany("delete from entries where rowid = ?", going)
