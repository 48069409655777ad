"""Near copies: a small sketch of a text, by which two texts that share nearly all their word runs are known. Pure but for the lookup.

The sketch is the smallest hashes of all runs of five words (bottom-k, Broder 1997). Two near copies share most of them,
and almost surely one of the two smallest, so two indexed columns find the candidates.
"""

from __future__ import annotations

import sqlite3
import zlib
from array import array
from dataclasses import dataclass

KEPT = 32
RUN = 5
MIN_WORDS = 60  # shorter texts are too alike by chance
MAX_CHARS = 200_000
ALIKE = 0.9


@dataclass(frozen=True)
class Sketch:
    """The smallest hashes, ascending, and the two smallest as columns."""

    kept: bytes = b""
    near1: int | None = None
    near2: int | None = None


NOTHING = Sketch()


def of(text: str) -> Sketch:
    """The sketch of a text, or nothing for a text that is too short to tell."""
    data = text[:MAX_CHARS].lower()
    units = data.encode("utf-8", "replace").split()
    if len(units) < len(data) // 20:  # a script without spaces: its characters
        units = [char.encode("utf-8", "replace") for char in data if not char.isspace()]
    if len(units) < MIN_WORDS:
        return NOTHING
    codes = list(map(zlib.crc32, units))
    # Only runs that begin at a chosen word, the same ones in every copy: a quarter of the work and as good a likeness.
    starts = [at for at, code in enumerate(codes[: 1 - RUN]) if not code & 3]
    runs = {hash(tuple(codes[at : at + RUN])) & 0xFFFFFFFF for at in starts}  # whole numbers hash alike in every process
    smallest = sorted(runs)[:KEPT]
    if len(smallest) < 2:
        return NOTHING
    return Sketch(array("I", smallest).tobytes(), smallest[0], smallest[1])


def likeness(one: bytes, other: bytes) -> float:
    """About how many of all word runs two texts share, 0..1."""
    a, b = array("I", one), array("I", other)
    smallest = set(sorted({*a, *b})[: min(len(a), len(b))])
    return len(smallest & set(a) & set(b)) / (len(smallest) or 1)


def original(db: sqlite3.Connection, sketch: Sketch, collection: str) -> int | None:
    """The document this one is a near copy of, if the collection holds one."""
    if sketch.near1 is None:
        return None
    near = (collection, sketch.near1, sketch.near2)
    # `+collection` keeps SQLite from walking the whole collection instead of the two small indexes.
    rows = db.execute(
        "SELECT id, copy_of, sketch FROM docs WHERE +collection = ?1 AND (near1 IN (?2, ?3) OR near2 IN (?2, ?3)) LIMIT 20", near
    ).fetchall()
    rows.sort()
    return next((copy_of or doc for doc, copy_of, kept in rows if likeness(kept, sketch.kept) >= ALIKE), None)
