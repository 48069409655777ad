"""The tools for Pydantic AI: `Agent(model, tools=tools(web))`, or `web_search(web)` behind its `WebSearch(local=...)`."""

from __future__ import annotations

from typing import Any

from cormorant.adapters import Ask, needs, offered
from cormorant.web import Web


def tools(web: Web) -> list[Any]:
    """A Pydantic AI `Tool` for each tool. Raises: NotConfigured without pydantic-ai-slim."""
    kind = needs("pydantic_ai", "pydantic-ai-slim").Tool
    return [
        kind.from_schema(_by_name(ask), name=asked.name, description=asked.sentence, json_schema=asked.schema())
        for asked, ask in offered(web)
    ]


def web_search(web: Web) -> Any:
    """The search alone, for `WebSearch(local=web_search(web))`: used where the model has no search of its own."""
    return next(tool for tool in tools(web) if tool.name == "web_search")


def _by_name(ask: Ask) -> Any:
    async def call(**arguments: Any) -> str:
        return await ask(arguments)

    return call
