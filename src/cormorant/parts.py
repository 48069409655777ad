"""Find a named part: the built-in ones first, then entry points, so that a package can add but never shadow.

Groups: `cormorant.search`, `.target`, `.extract`, `.rank`, `.write`, `.gate`. A part is named `module:attribute` and is
imported when it is first asked for.
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

from cormorant.errors import InvalidArguments

BUILT_IN: dict[str, dict[str, str]] = {
    "search": {
        "library": "cormorant.providers.library:Library",
        "searxng": "cormorant.providers.searxng:Searxng",
    },
    "rank": {
        "words": "cormorant.rank.words:Words",
    },
    "write": {
        "quote": "cormorant.writers.quote:Quote",
    },
}


def names(role: str) -> list[str]:
    """Every part of that role, built-in ones first in their order, then the installed ones by name."""
    built_in = list(BUILT_IN.get(role, {}))
    return built_in + sorted({found.name for found in entry_points(group=f"cormorant.{role}")} - set(built_in))


def part(role: str, name: str) -> Any:
    """The class (or function) behind a name. Raises: InvalidArguments when there is none."""
    if where := BUILT_IN.get(role, {}).get(name):
        module, attribute = where.split(":")
        return getattr(import_module(module), attribute)
    for found in entry_points(group=f"cormorant.{role}", name=name):
        return found.load()
    raise InvalidArguments(f"no {role} part is called {name!r}", remedy=f"there are: {', '.join(names(role))}")
