"""The local index: documents in, hits out, on SQLite FTS5, for search with nothing but this machine."""

from __future__ import annotations

from cormorant.library.index import Added, Held, Library, LibraryFound, LibraryHit

__all__ = ["Added", "Held", "Library", "LibraryFound", "LibraryHit"]
