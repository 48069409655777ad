"""The page at `/`: plain files, read once. No build step, nothing from elsewhere."""

from __future__ import annotations

from importlib.resources import files

SCRIPTS = ("page.js", "nodes.js", "talk.js", "ask.js", "read.js", "history.js")
_TYPES = {"index.html": "text/html; charset=utf-8", "page.css": "text/css; charset=utf-8", "mark.svg": "image/svg+xml"}
_TYPES |= dict.fromkeys(SCRIPTS, "text/javascript; charset=utf-8")


def _read(name: str) -> bytes:
    return files(__name__).joinpath(name).read_bytes()


FILES = {"/" if name == "index.html" else f"/{name}": (media_type, _read(name)) for name, media_type in _TYPES.items()}
