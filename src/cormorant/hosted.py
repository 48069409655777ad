"""The model vendors' own search tools for a harness: what to attach to a turn, and what its stream says they did.

A harness attaches the definitions afresh each turn, outside of its list of allowed tools, so that they are gone when the
provider changes: `hosted_tools` each turn, `attached` to say it in pydantic-ai's words, and `streamed_activity` (or
`hosted_activity`, for who reads the vendor's own stream) to tell what those tools did. Pure.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cormorant.events import HostedActivity
from cormorant.search import HostedTool

if TYPE_CHECKING:
    from pydantic_ai.native_tools import AbstractNativeTool


def hosted_tools(provider: str, model: str) -> list[HostedTool]:
    """A model vendor's own search tools for one turn; empty for a model that has none."""
    name = provider.lower()
    short = model.rpartition("/")[2].lower()
    return [HostedTool(name, dict(definition)) for definition in _HOSTED.get(name, _nothing)(short)]


def _nothing(model: str) -> list[Mapping[str, Any]]:
    return []


def _openai(model: str) -> list[Mapping[str, Any]]:
    """https://developers.openai.com/api/docs/guides/tools-web-search"""
    old = model.startswith(("gpt-3", "o1")) or model in ("gpt-4", "gpt-4-turbo") or model.startswith("gpt-4.1-nano")
    return [] if old else [{"type": "web_search"}]


def _anthropic(model: str) -> list[Mapping[str, Any]]:
    """https://platform.claude.com/docs/en/agents-and-tools/tool-use/web-search-tool"""
    old = model.startswith(("claude-2", "claude-instant", "claude-3-opus", "claude-3-sonnet", "claude-3-haiku"))
    return [] if old else [{"type": "web_search_20250305", "name": "web_search", "max_uses": 5}]


def _xai(model: str) -> list[Mapping[str, Any]]:
    """https://docs.x.ai/developers/tools/overview"""
    old = model.startswith(("grok-2", "grok-3", "grok-beta"))
    return [] if old else [{"type": "web_search"}, {"type": "x_search"}]


def _gemini(model: str) -> list[Mapping[str, Any]]:
    """https://ai.google.dev/gemini-api/docs/google-search"""
    return [] if model.startswith(("gemini-1", "gemini-pro")) else [{"google_search": {}}]


_HOSTED: dict[str, Callable[[str], list[Mapping[str, Any]]]] = {
    "openai": _openai,
    "anthropic": _anthropic,
    "xai": _xai,
    "gemini": _gemini,
    "google": _gemini,
}


def attached(tools: Sequence[HostedTool]) -> tuple[dict[str, Any], list[AbstractNativeTool]]:
    """The tools in pydantic-ai's words: model settings to merge into the turn's, and native tools for its request.

    OpenAI's and xAI's definitions go through as they are, to their Responses API (`LanguageModel.opened(hosted=True)`).
    """
    from pydantic_ai.native_tools import WebSearchTool

    raw = [tool.definition for tool in tools if tool.provider in ("openai", "xai")]
    uses = [tool.definition.get("max_uses") for tool in tools if tool.provider not in ("openai", "xai")]
    return {"openai_native_tools": raw} if raw else {}, [WebSearchTool(max_uses=most) for most in uses]


def streamed_activity(event: object) -> HostedActivity | None:
    """What one event of a pydantic-ai stream says a hosted tool did: the search asked, then what came of it."""
    part = getattr(event, "part", None)
    stage = (getattr(event, "event_kind", ""), getattr(part, "part_kind", ""))
    if stage == ("part_end", "builtin-tool-call"):  # the arguments are whole only at the end
        return HostedActivity(_named(part), _asked(getattr(part, "args", None)) or "searching")
    if stage == ("part_start", "builtin-tool-return"):
        return HostedActivity(_named(part), _came(getattr(part, "content", None)))
    return None


def _named(part: object) -> str:
    return str(getattr(part, "tool_name", "web_search"))


def _asked(arguments: Any) -> str:
    """What a call asks for, whether its arguments are read already or still the text that was streamed."""
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except ValueError:
            return ""
    if not isinstance(arguments, Mapping):
        return ""
    queries = arguments.get("queries")
    several = "; ".join(map(str, queries)) if isinstance(queries, list) else ""
    return str(arguments.get("query") or several or arguments.get("url") or arguments.get("pattern") or "")


def _came(content: Any) -> str:
    """What a search brought, in as many words as its vendor gives away."""
    if isinstance(content, list):
        return f"{len(content)} results"
    if not isinstance(content, Mapping):
        return "done"
    if isinstance(content.get("sources"), list):
        return f"{len(content['sources'])} results"
    return str(content.get("error_code") or content.get("status") or "done")


def hosted_activity(provider: str, event: Mapping[str, Any]) -> HostedActivity | None:
    """What one raw event of a vendor's stream says its own tools did, or nothing.

    OpenAI and xAI: events of the Responses API; Anthropic: events of the Messages API; Gemini: chunks of generateContent.
    """
    return _ACTIVITY.get(provider.lower(), _silent)(event)


def _silent(event: Mapping[str, Any]) -> HostedActivity | None:
    return None


def _responses(event: Mapping[str, Any]) -> HostedActivity | None:
    kind = str(event.get("type", ""))
    if kind == "response.output_item.done":
        item = event.get("item") or {}
        name = str(item.get("type", ""))
        if name == "custom_tool_call" and str(item.get("name", "")).startswith("x_"):  # xAI: x_keyword_search and its like
            return HostedActivity("x_search", _asked(item.get("input")) or str(item.get("status") or "done"))
        if name not in ("web_search_call", "x_search_call"):
            return None
        return HostedActivity(name.removesuffix("_call"), _asked(item.get("action")) or str(item.get("status") or "done"))
    for name in ("web_search", "x_search"):
        if kind == f"response.{name}_call.searching":
            return HostedActivity(name, "searching")
    return None


def _messages(event: Mapping[str, Any]) -> HostedActivity | None:
    block = event.get("content_block") or {}
    if event.get("type") != "content_block_start":
        return None
    if block.get("type") == "server_tool_use":
        return HostedActivity(str(block.get("name", "web_search")), _asked(block.get("input")) or "searching")
    if block.get("type") == "web_search_tool_result":
        return HostedActivity("web_search", _came(block.get("content")))
    return None


def _generate(event: Mapping[str, Any]) -> HostedActivity | None:
    candidates = event.get("candidates") or [{}]
    queries = (candidates[0].get("groundingMetadata") or {}).get("webSearchQueries") or []
    return HostedActivity("google_search", "; ".join(map(str, queries))) if queries else None


_ACTIVITY: dict[str, Callable[[Mapping[str, Any]], HostedActivity | None]] = {
    "openai": _responses,
    "xai": _responses,
    "anthropic": _messages,
    "gemini": _generate,
    "google": _generate,
}
