"""Near copies: a small sketch of a text, by which two texts that share nearly all their word runs are known. Pure but for the lookup.

The sketch is the smallest hashes of all runs of five words (bottom-k, Broder 1997). Two near copies share most of them,
and almost surely one of the two smallest, so two indexed columns find the candidates.
"""

from __future__ import annotations

import re
import sqlite3
import zlib
from array import array
from dataclasses import dataclass

KEPT = 32
RUN = 5
MIN_WORDS = 40  # shorter texts are too alike by chance
MAX_CHARS = 200_000
ALIKE = 0.9

_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Sketch:
    """The smallest hashes, ascending, and the two smallest as columns."""

    kept: bytes = b""
    near1: int | None = None
    near2: int | None = None


NOTHING = Sketch()


def of(text: str) -> Sketch:
    """The sketch of a text, or nothing for a text that is too short to tell."""
    words = _WORD.findall(text[:MAX_CHARS].lower())
    if len(words) < MIN_WORDS:
        return NOTHING
    crc = zlib.crc32
    codes = [crc(word.encode("utf-8", "replace")) for word in words]
    # A run's hash is made of its words' hashes by one multiply and adds: a fifth of the time of hashing joined text.
    runs = {
        ((a * 31 + b * 131 + c * 1031 + d * 8191 + e * 65_599) * 0x9E3779B1 >> 7) & 0xFFFFFFFF
        for a, b, c, d, e in zip(codes, codes[1:], codes[2:], codes[3:], codes[4:], strict=False)
    }
    smallest = sorted(runs)[:KEPT]
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
    rows = db.execute(
        "SELECT id, copy_of, sketch FROM docs WHERE collection = ?1 AND (near1 IN (?2, ?3) OR near2 IN (?2, ?3)) ORDER BY id LIMIT 20", near
    )
    return next((copy_of or doc for doc, copy_of, kept in rows if likeness(kept, sketch.kept) >= ALIKE), None)
