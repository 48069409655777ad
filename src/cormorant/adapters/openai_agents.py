"""The tools for the OpenAI Agents SDK: `Agent(name="...", tools=tools(web))`."""

from __future__ import annotations

import json
from typing import Any

from cormorant.adapters import Ask, needs, offered
from cormorant.web import Web


def tools(web: Web) -> list[Any]:
    """A `FunctionTool` for each tool. Raises: NotConfigured without openai-agents."""
    kind = needs("agents", "openai-agents").FunctionTool
    return [
        kind(
            name=asked.name,
            description=asked.sentence,
            params_json_schema=asked.schema(),
            on_invoke_tool=_by_json(ask),
            strict_json_schema=False,  # strict would make the model fill in every argument
        )
        for asked, ask in offered(web)
    ]


def _by_json(ask: Ask) -> Any:
    async def call(context: Any, arguments: str) -> str:
        return await ask(json.loads(arguments or "{}"))

    return call
