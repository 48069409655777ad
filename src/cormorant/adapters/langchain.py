"""The tools for LangChain: `create_agent(model, tools(web))`."""

from __future__ import annotations

from typing import Any

from cormorant.adapters import Ask, needs, offered
from cormorant.web import Web


def tools(web: Web) -> list[Any]:
    """A LangChain `StructuredTool` for each tool, called asynchronously. Raises: NotConfigured without langchain-core."""
    kind = needs("langchain_core.tools", "langchain-core").StructuredTool
    return [
        kind(name=asked.name, description=asked.sentence, args_schema=asked.schema(), coroutine=_by_name(ask))
        for asked, ask in offered(web)
    ]


def _by_name(ask: Ask) -> Any:
    async def call(**arguments: Any) -> str:
        return await ask(arguments)

    return call
