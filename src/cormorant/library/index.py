"""The index itself: add, remove, list, and read back documents. Searching it is `query`.

One connection a thread, WAL, every write inside BEGIN IMMEDIATE: many readers and several writers share one file, and
whatever `add` has returned for is on disk.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import threading
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import ada_url

from cormorant.document import Document
from cormorant.errors import InvalidArguments
from cormorant.library import query, schema, sketch
from cormorant.library.query import LibraryFound, LibraryHit
from cormorant.library.text import FOLD_VERSION, folded, pieces
from cormorant.settings.files import data_folder

__all__ = ["Added", "Held", "Library", "LibraryFound", "LibraryHit", "Origin"]

DEFAULT = "default"
_FACTS = ("byline", "site", "summary", "language", "media_type")


@dataclass(frozen=True)
class Origin:
    """How a document came: what tells a later run whether it changed."""

    sha256: str = ""
    etag: str = ""
    modified: str = ""  # Last-Modified, or a file's time and size
    bytes: int = 0
    source: int | None = None
    run: str = ""


@dataclass
class Added:
    """What became of the documents given."""

    added: int = 0
    changed: int = 0
    unchanged: int = 0
    copies: int = 0


@dataclass(frozen=True)
class Held:
    """One document the index holds, without its text."""

    url: str
    title: str
    collection: str
    published: str = ""
    sha256: str = ""
    etag: str = ""
    modified: str = ""
    bytes: int = 0
    added_at: str = ""

    def as_dict(self) -> dict[str, Any]:
        return {
            "url": self.url,
            "title": self.title,
            "collection": self.collection,
            "published_at": self.published or None,
            "bytes": self.bytes,
        }


@dataclass
class _Prepared:
    document: Document
    origin: Origin
    sha256: str
    rows: list[tuple[str, str, float]] = field(default_factory=list)
    body: bytes = b""
    sketch: sketch.Sketch = sketch.NOTHING


class Library:
    """The local index in one file. Safe to share between threads; several processes may open the same file."""

    def __init__(self, path: str | Path = "") -> None:
        self.path = Path(path) if path else data_folder(os.environ) / "library.sqlite"
        self._local = threading.local()
        self._open: list[sqlite3.Connection] = []
        self._lock = threading.Lock()
        self.frequencies = query.Frequencies()
        self._keep_fold()

    def __enter__(self) -> Library:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes every thread's connection. The library opens again when it is next used."""
        with self._lock:
            for db in self._open:
                db.close()
            self._open.clear()
            self._local = threading.local()

    @property
    def db(self) -> sqlite3.Connection:
        """This thread's connection."""
        db: sqlite3.Connection | None = getattr(self._local, "db", None)
        if db is None:
            db = schema.connect(self.path)
            with self._lock:
                self._local.db = db
                self._open.append(db)
        return db

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        db = self.db
        try:
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
                db.execute("COMMIT")
            except BaseException:
                if db.in_transaction:
                    db.execute("ROLLBACK")
                raise
        except sqlite3.DatabaseError as error:
            raise schema.failure(error, self.path) from error

    def add(
        self, documents: Document | Iterable[Document], *, collection: str = DEFAULT, origin: Origin | Sequence[Origin] | None = None
    ) -> Added:
        """Adds documents, or changes those already there; all of one call or none. Raises: InvalidArguments, Timeout, ProviderError."""
        if not collection or len(collection) > 100:
            raise InvalidArguments("a collection needs a name of at most 100 characters")
        given = [documents] if isinstance(documents, Document) else list(documents)
        origins = [origin] * len(given) if origin is None or isinstance(origin, Origin) else list(origin)
        prepared = [_prepare(document, where or Origin()) for document, where in zip(given, origins, strict=True)]
        done = Added()
        with self._writing() as db:
            for one in prepared:
                _put(db, one, collection, done)
        return done

    def remove(self, url: str = "", *, collection: str | None = None) -> int:
        """Removes a document, all below an address (`https://x.org/old/*`), or a collection when no url is given; how many went.

        Raises: InvalidArguments.
        """
        if not url and collection is None:
            raise InvalidArguments("name a document or a collection to remove", remedy="cormorant index remove URL, or --collection NAME")
        clauses = [("substr(url, 1, length(?)) = ?", url[:-1])] if url.endswith("*") else [("url = ?", url)] if url else []
        clauses += [("collection = ?", collection)] if collection is not None else []
        where, values = " AND ".join(c for c, _ in clauses), [v for c, v in clauses for _ in range(c.count("?"))]
        with self._writing() as db:
            ids = [row[0] for row in db.execute(f"SELECT id FROM docs WHERE {where}", values)]  # noqa: S608 - clauses are ours
            for doc in ids:
                _forget(db, doc)
            if not url:
                db.execute("DELETE FROM sources WHERE collection = ?", (collection,))
        return len(ids)

    def documents(self, collection: str | None = None) -> Iterator[Held]:
        """What is held, by address."""
        columns = "url, title, collection, published, sha256, etag, modified, bytes, added_at"
        where, values = ("WHERE collection = ?", [collection]) if collection is not None else ("", [])
        for row in self.db.execute(f"SELECT {columns} FROM docs {where} ORDER BY url", values).fetchall():  # noqa: S608
            yield Held(*row)

    def held(self, url: str, collection: str = DEFAULT) -> Held | None:
        """What is known of one document, to tell whether it changed."""
        columns = "url, title, collection, published, sha256, etag, modified, bytes, added_at"
        row = self.db.execute(f"SELECT {columns} FROM docs WHERE collection = ? AND url = ?", (collection, url)).fetchone()  # noqa: S608
        return Held(*row) if row else None

    def collections(self) -> dict[str, int]:
        """Every collection with the number of its documents."""
        return dict(self.db.execute("SELECT collection, count(*) FROM docs GROUP BY collection ORDER BY collection").fetchall())

    def sources(self, collection: str | None = None) -> list[dict[str, Any]]:
        """Where documents were gathered from: what `gather` can be run on again."""
        names = ("collection", "place", "kind", "documents", "finished_at")
        rows = self.db.execute(f"SELECT {', '.join(names)} FROM sources ORDER BY collection, place").fetchall()  # noqa: S608
        return [dict(zip(names, row, strict=True)) for row in rows if collection in (None, row[0])]

    def document(self, url: str) -> Document | None:
        """The stored copy of a page, so that a hit can be read without asking the network again."""
        row = self.db.execute("SELECT title, facts, published, body FROM docs WHERE url = ? ORDER BY id DESC", (url,)).fetchone()
        if row is None:
            return None
        title, facts, published, body = row
        return Document(
            url=url, markdown=zlib.decompress(body).decode(), title=title, published=published, extractor="library", **json.loads(facts)
        )

    def search(
        self,
        text: str,
        *,
        count: int = 8,
        page: int = 1,
        collection: str | None = None,
        freshness: str = "none",
        domains: Sequence[str] = (),
        now: datetime | None = None,
    ) -> LibraryFound:
        """The documents that answer best, each with the piece of it that does. Raises: InvalidArguments, ProviderError."""
        wanted = query.Wanted(text, count, page, collection, freshness, tuple(domains), now or datetime.now(UTC))
        try:
            return query.search(self.db, wanted, self.frequencies)
        except sqlite3.DatabaseError as error:
            raise schema.failure(error, self.path) from error

    def is_empty(self) -> bool:
        return not self.path.exists() or self.db.execute("SELECT 1 FROM docs LIMIT 1").fetchone() is None

    def open_source(self, place: str, kind: str, collection: str) -> int:
        """The number of a place documents are gathered from."""
        with self._writing() as db:
            db.execute("INSERT OR IGNORE INTO sources(collection, place, kind) VALUES (?, ?, ?)", (collection, place, kind))
            return int(db.execute("SELECT id FROM sources WHERE collection = ? AND place = ?", (collection, place)).fetchone()[0])

    def saw(self, urls: Sequence[str], collection: str, origin: Origin) -> None:
        """Notes that these documents are still there, unchanged."""
        with self._writing() as db:
            db.executemany(
                "UPDATE docs SET source = ?, seen = ? WHERE collection = ? AND url = ?",
                [(origin.source, origin.run, collection, u) for u in urls],
            )

    def finish_source(self, source: int, run: str, *, complete: bool) -> int:
        """Ends a run: documents of this place that a complete run did not see have vanished. How many went."""
        with self._writing() as db:
            gone = [r[0] for r in db.execute("SELECT id FROM docs WHERE source = ? AND seen != ?", (source, run))] if complete else []
            for doc in gone:
                _forget(db, doc)
            count = db.execute("SELECT count(*) FROM docs WHERE source = ?", (source,)).fetchone()[0]
            db.execute("UPDATE sources SET documents = ?, finished_at = ? WHERE id = ?", (count, _now(), source))
        return len(gone)

    def _keep_fold(self) -> None:
        """Indexes everything again when the way words are folded has changed since the file was written."""
        if not self.path.exists():
            return
        row = self.db.execute("SELECT value FROM meta WHERE key = 'fold'").fetchone()
        if row is None or row[0] == FOLD_VERSION:
            return
        with self._writing() as db:
            db.execute("INSERT INTO words(words) VALUES ('delete-all')")
            for piece, doc, heading, text in db.execute("SELECT id, doc, heading, text FROM pieces").fetchall():
                title = db.execute("SELECT title FROM docs WHERE id = ?", (doc,)).fetchone()[0]
                db.execute(_WORDS, (piece, folded(title), folded(heading), folded(text)))
            db.execute("UPDATE meta SET value = ? WHERE key = 'fold'", (FOLD_VERSION,))


_WORDS = "INSERT INTO words(rowid, title, heading, body) VALUES (?, ?, ?, ?)"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _prepare(document: Document, origin: Origin) -> _Prepared:
    """All that can be worked out before the file is locked."""
    markdown = document.markdown.replace("\0", "").encode("utf-8", "replace").decode()
    sha256 = origin.sha256 or hashlib.sha256(f"{document.title}\n{markdown}".encode("utf-8", "replace")).hexdigest()
    rows = [(piece.heading, piece.text, piece.links) for piece in pieces(markdown, document.title)]
    return _Prepared(document, origin, sha256, rows, zlib.compress(markdown.encode(), 1), sketch.of(markdown))


def _put(db: sqlite3.Connection, one: _Prepared, collection: str, done: Added) -> None:
    document, origin = one.document, one.origin
    known = db.execute("SELECT id, sha256 FROM docs WHERE collection = ? AND url = ?", (collection, document.url)).fetchone()
    if known and known[1] == one.sha256:
        row = (origin.etag, origin.modified, origin.source, origin.run, known[0])
        db.execute("UPDATE docs SET etag = ?, modified = ?, source = COALESCE(?, source), seen = ? WHERE id = ?", row)
        done.unchanged += 1
        return
    if known:
        _forget(db, known[0])
    copy_of = sketch.original(db, one.sketch, collection)
    done.copies += copy_of is not None
    facts = {name: value for name in _FACTS if (value := getattr(document, name))}
    title = _valid(document.title) or _valid(document.url)
    columns = {
        "collection": collection, "url": document.url, "host": _host(document.url), "title": title, "facts": json.dumps(facts),
        "published": document.published, "body": one.body, "sha256": one.sha256, "etag": origin.etag, "modified": origin.modified,
        "bytes": origin.bytes or len(document.markdown), "sketch": one.sketch.kept, "near1": one.sketch.near1, "near2": one.sketch.near2,
        "copy_of": copy_of, "source": origin.source, "seen": origin.run, "added_at": _now(),
    }  # fmt: skip
    doc = db.execute(f"INSERT INTO docs({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})", [*columns.values()]).lastrowid  # noqa: S608
    for heading, text, links in one.rows:
        piece = db.execute("INSERT INTO pieces(doc, heading, text, links) VALUES (?, ?, ?, ?)", (doc, heading, text, links)).lastrowid
        db.execute(_WORDS, (piece, folded(title), folded(heading), folded(text)))
    db.execute("INSERT OR IGNORE INTO meta VALUES ('fold', ?)", (FOLD_VERSION,))
    if known:
        done.changed += 1
    else:
        done.added += 1


def _forget(db: sqlite3.Connection, doc: int) -> None:
    """Takes a document out. FTS5 forgets a row without text only when it is told what the row held."""
    title = db.execute("SELECT title FROM docs WHERE id = ?", (doc,)).fetchone()[0]
    for piece, heading, text in db.execute("SELECT id, heading, text FROM pieces WHERE doc = ?", (doc,)).fetchall():
        values = (piece, folded(title), folded(heading), folded(text))
        db.execute("INSERT INTO words(words, rowid, title, heading, body) VALUES ('delete', ?, ?, ?, ?)", values)
    db.execute("DELETE FROM pieces WHERE doc = ?", (doc,))
    db.execute("DELETE FROM docs WHERE id = ?", (doc,))


def _valid(text: str) -> str:
    """Text SQLite can hold: no lone surrogates, no NUL."""
    return " ".join(text.replace("\0", "").encode("utf-8", "replace").decode().split())


def _host(url: str) -> str:
    try:
        return str(ada_url.URL(url).hostname).strip("[]").removesuffix(".")
    except ValueError:
        return ""
