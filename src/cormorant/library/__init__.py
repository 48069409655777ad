"""The local index: documents in, hits out, on SQLite FTS5, for search with nothing but this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cormorant.library.index import Added, Held, Library, LibraryFound, LibraryHit, Origin

if TYPE_CHECKING:
    from cormorant.library.gathering import Limits, Progress, gather

__all__ = ["Added", "Held", "Library", "LibraryFound", "LibraryHit", "Limits", "Origin", "Progress", "gather"]


def __getattr__(name: str) -> Any:
    """Gathering brings the extractors along; searching needs none of them."""
    if name in ("Limits", "Progress", "gather"):
        from importlib import import_module

        return getattr(import_module("cormorant.library.gathering"), name)
    raise AttributeError(f"module 'cormorant.library' has no attribute {name!r}")
