"""The tables of the index and how a connection to them is opened."""

from __future__ import annotations

import json
import sqlite3
import time
from functools import lru_cache
from pathlib import Path

from cormorant import policy
from cormorant.errors import CormorantError, InvalidArguments, NotConfigured, ProviderError, Timeout

BUSY_S = 10.0
SCHEMA_VERSION = 1

# `words` holds no text of its own (content=''): what it needs to forget a row is made again from `pieces`.
# Categories Mn and Mc belong to words: without them a Hindi or Thai word falls apart at every vowel sign.
_TABLES = """
CREATE TABLE IF NOT EXISTS meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS sources(
  id INTEGER PRIMARY KEY, collection TEXT NOT NULL, place TEXT NOT NULL, kind TEXT NOT NULL, documents INTEGER NOT NULL DEFAULT 0,
  finished_at TEXT NOT NULL DEFAULT '', UNIQUE(collection, place));
CREATE TABLE IF NOT EXISTS docs(
  id INTEGER PRIMARY KEY, collection TEXT NOT NULL, url TEXT NOT NULL, host TEXT NOT NULL, title TEXT NOT NULL, facts TEXT NOT NULL,
  published TEXT NOT NULL, body BLOB NOT NULL, sha256 TEXT NOT NULL, etag TEXT NOT NULL, modified TEXT NOT NULL, bytes INTEGER NOT NULL,
  sketch BLOB NOT NULL, near1 INTEGER, near2 INTEGER, copy_of INTEGER, source INTEGER, seen TEXT NOT NULL, added_at TEXT NOT NULL,
  UNIQUE(collection, url));
CREATE INDEX IF NOT EXISTS docs_by_url ON docs(url);
CREATE INDEX IF NOT EXISTS docs_by_near1 ON docs(near1);
CREATE INDEX IF NOT EXISTS docs_by_near2 ON docs(near2);
CREATE INDEX IF NOT EXISTS docs_by_source ON docs(source, seen);
CREATE TABLE IF NOT EXISTS pieces(
  id INTEGER PRIMARY KEY, doc INTEGER NOT NULL, heading TEXT NOT NULL, text TEXT NOT NULL, links REAL NOT NULL);
CREATE INDEX IF NOT EXISTS pieces_by_doc ON pieces(doc);
CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5(
  title, heading, body, content='', tokenize="porter unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc'");
"""


def connect(path: Path) -> sqlite3.Connection:
    """A connection to the index, its tables made where they are missing. Raises: InvalidArguments, NotConfigured."""
    try:
        if str(path) != ":memory:":
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        db = sqlite3.connect(path, timeout=BUSY_S, isolation_level=None, check_same_thread=False)
    except (OSError, sqlite3.OperationalError) as error:
        raise InvalidArguments(
            f"the library can't be opened at {path}: {error}", remedy="cormorant settings set library.path FILE"
        ) from error
    try:
        _to_wal(db)
        db.execute("PRAGMA synchronous=FULL")  # an acknowledged document survives a power cut, too
        db.execute("PRAGMA temp_store=MEMORY")
        db.execute("PRAGMA cache_size=-16000")
        db.create_function("host_fits", 2, host_fits, deterministic=True)
        version = int(db.execute("PRAGMA user_version").fetchone()[0])
        if version > SCHEMA_VERSION:
            raise InvalidArguments(
                f"{path} was made by a newer cormorant", remedy="update cormorant, or name another file with library.path"
            )
        if version < SCHEMA_VERSION:
            _make_tables(db)
    except sqlite3.DatabaseError as error:
        db.close()
        if "locked" in str(error):
            raise failure(error, path) from error
        if "fts5" in str(error):
            raise NotConfigured(
                "this Python's SQLite has no FTS5", remedy="use a Python whose sqlite3 has it (python.org, Debian, uv)"
            ) from error
        raise InvalidArguments(f"{path} is no library: {error}", remedy="move that file away, or name another with library.path") from error
    except InvalidArguments:
        db.close()
        raise
    return db


def _to_wal(db: sqlite3.Connection) -> None:
    """Turning WAL on needs the file alone for a moment, and SQLite does not wait for that by itself."""
    for wait_s in (0.02, 0.05, 0.1, 0.3, 1.0, 3.0, None):
        try:
            db.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            if wait_s is None or "locked" not in str(error):
                raise
            time.sleep(wait_s)


def failure(error: sqlite3.DatabaseError, path: Path) -> CormorantError:
    """What a failure of the file means to who asked."""
    if isinstance(error, sqlite3.OperationalError) and ("locked" in str(error) or "busy" in str(error)):
        waited = f"another process has been writing to the library for {BUSY_S:g} seconds"
        return Timeout(waited, remedy="try again when it is done", retryable=True)
    return ProviderError(
        f"the library at {path} failed: {error}", remedy="check the disk; `cormorant index add` into a new file makes it anew"
    )


def _make_tables(db: sqlite3.Connection) -> None:
    db.execute("BEGIN IMMEDIATE")
    try:
        for statement in _TABLES.split(";\n"):
            if statement.strip():
                db.execute(statement)
        db.execute(f"PRAGMA user_version={SCHEMA_VERSION}")
        db.execute("COMMIT")
    except sqlite3.DatabaseError:
        db.execute("ROLLBACK")
        raise


@lru_cache(maxsize=16_384)
def host_fits(host: str, domains: str) -> bool:
    """Whether a host passes a JSON list of host patterns, those with `-` excluding; read wide, as every search filter."""
    allow, block = _lists(domains)
    return not policy.matches(block, host, wide=True) and (not allow or bool(host and policy.matches(allow, host, wide=True)))


@lru_cache(maxsize=256)
def _lists(domains: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    given = json.loads(domains)
    return tuple(d for d in given if not d.startswith("-")), tuple(d[1:] for d in given if d.startswith("-"))
