"""Web access for AI agents: search, fetch, read and answer, with evidence for every claim.

The public names are imported when they are first used, so that `import cormorant` costs next to nothing in a program
that only sometimes reaches the web.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cormorant.answer import Answer
    from cormorant.blocking import BlockingWeb
    from cormorant.document import Document
    from cormorant.errors import CormorantError
    from cormorant.policy import Policy
    from cormorant.settings import Settings
    from cormorant.view import View
    from cormorant.web import Web

__version__ = "0.1.0"

_HOME = {
    "Answer": "cormorant.answer",
    "BlockingWeb": "cormorant.blocking",
    "CormorantError": "cormorant.errors",
    "Document": "cormorant.document",
    "Policy": "cormorant.policy",
    "Settings": "cormorant.settings",
    "View": "cormorant.view",
    "Web": "cormorant.web",
}

__all__ = ["Answer", "BlockingWeb", "CormorantError", "Document", "Policy", "Settings", "View", "Web"]


def __getattr__(name: str) -> Any:
    try:
        home = _HOME[name]
    except KeyError:
        raise AttributeError(f"module 'cormorant' has no attribute {name!r}") from None
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
