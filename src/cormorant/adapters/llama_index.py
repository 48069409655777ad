"""The tools for LlamaIndex: `FunctionAgent(tools=tools(web), llm=...)`."""

from __future__ import annotations

from typing import Any

from cormorant.adapters import Ask, needs, offered
from cormorant.tools import Tool
from cormorant.web import Web


def tools(web: Web) -> list[Any]:
    """A LlamaIndex `FunctionTool` for each tool, called asynchronously. Raises: NotConfigured without llama-index-core."""
    room = needs("llama_index.core.tools", "llama-index-core")
    return [room.FunctionTool(metadata=_metadata(room.ToolMetadata, asked), async_fn=_by_name(ask)) for asked, ask in offered(web)]


def _metadata(kind: Any, asked: Tool) -> Any:
    class Metadata(kind):  # type: ignore[misc]
        """Says the tool's own schema: LlamaIndex would make one from a pydantic class."""

        def get_parameters_dict(self) -> dict[str, Any]:
            return asked.schema()

    return Metadata(name=asked.name, description=asked.sentence)


def _by_name(ask: Ask) -> Any:
    async def call(**arguments: Any) -> str:
        return await ask(arguments)

    return call
