"""Stored results as MCP resources: the latest to attach again, and their ids to complete.

Any stored result is read as `cormorant://response/ID`. Listed are the latest that this server handed out, newest first:
ids of other sessions are not for everybody to see.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from mcp import types
from mcp.server import ServerRequestContext
from mcp.server.subscriptions import InMemorySubscriptionBus, ResourcesListChanged
from mcp.types.version import HANDSHAKE_PROTOCOL_VERSIONS

RESOURCE = "cormorant://response/"
LISTED_MAX = 50
COMPLETIONS_MAX = 100  # the protocol's own limit
MIME = "text/markdown"
TEMPLATE = types.ResourceTemplate(
    name="stored result",
    uri_template=RESOURCE + "{response_id}",
    description="A stored search, page or answer, whole.",
    mime_type=MIME,
)


class Kept:
    """What one server has handed out."""

    def __init__(self) -> None:
        self.changes = InMemorySubscriptionBus()
        self._latest: OrderedDict[str, types.Resource] = OrderedDict()

    async def add(self, ctx: ServerRequestContext[Any], tool: str, result: Any) -> None:
        """List the result, and say that the list has changed: to who listens, or in a session of the older kind."""
        response_id = getattr(result, "response_id", "")
        if not response_id or response_id in self._latest:
            return
        self._latest[response_id] = types.Resource(
            name=_name_of(result), uri=RESOURCE + response_id, description=f"What {tool} brought.", mime_type=MIME
        )
        if len(self._latest) > LISTED_MAX:
            self._latest.popitem(last=False)
        await self.changes.publish(ResourcesListChanged())
        if ctx.protocol_version in HANDSHAKE_PROTOCOL_VERSIONS:
            await ctx.session.send_resource_list_changed()

    def listed(self) -> list[types.Resource]:
        return list(reversed(self._latest.values()))

    def completed(self, params: types.CompleteRequestParams) -> types.CompleteResult:
        """Ids that begin with what was typed, or whose result is named so. Nothing else here can be completed."""
        typed = params.argument.value.lower()
        asked = isinstance(params.ref, types.ResourceTemplateReference) and params.ref.uri == TEMPLATE.uri_template
        fitting = [
            one.uri.removeprefix(RESOURCE)
            for one in self.listed()
            if asked and (one.uri.removeprefix(RESOURCE).startswith(typed) or typed in one.name.lower())
        ]
        return types.CompleteResult(completion=types.Completion(values=fitting[:COMPLETIONS_MAX], total=len(fitting)))


def _name_of(result: Any) -> str:
    """The page's title, the question that was asked, or how many pages there are."""
    named = getattr(result, "title", "") or getattr(result, "query", "") or getattr(result, "url", "")
    return " ".join((named or f"{getattr(result, 'count', 1)} pages").split())[:120]
