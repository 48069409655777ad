"""The tools in the form of agent frameworks. Each module needs its framework, and says how to install it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from importlib import import_module
from typing import Any

from cormorant.errors import CormorantError, NotConfigured
from cormorant.results import error_text
from cormorant.tools import TOOLS, Tool
from cormorant.web import Web

Ask = Callable[[dict[str, Any]], Awaitable[str]]


def needs(module: str, package: str) -> Any:
    """The framework's module. Raises: NotConfigured, naming what to install."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise NotConfigured(f"this adapter needs {package}, and {error.name} is missing", remedy=f"pip install {package}") from error


def offered(web: Web) -> Iterator[tuple[Tool, Ask]]:
    """Each tool that this `Web` offers to agents, and the function that answers a call with text; a failure is text too."""
    for asked in TOOLS:
        if asked.over_mcp and web.offers(asked.name):
            yield asked, _asking(web, asked)


def _asking(web: Web, asked: Tool) -> Ask:
    async def ask(arguments: dict[str, Any]) -> str:
        try:
            result = await asked.run(web, {name: value for name, value in arguments.items() if value is not None})
        except CormorantError as error:  # the model reads what to do instead; the run goes on
            return f"Error {error_text(error)}"
        return str(result.as_text())

    return ask
