"""Exa: https://docs.exa.ai/reference/search, and its keyless MCP endpoint: https://docs.exa.ai/reference/exa-mcp."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any, ClassVar

from cormorant import hits
from cormorant.errors import CormorantError, ProviderError
from cormorant.providers.api import Ask, Backend, hit, since
from cormorant.search import Hit, Query, Reply


class Exa(Backend):
    """Exa's search with highlights as snippets."""

    name: ClassVar[str] = "exa"
    base: ClassVar[str] = "https://api.exa.ai"
    variables: ClassVar[tuple[str, ...]] = ("EXA_API_KEY",)
    native: ClassVar[frozenset[str]] = frozenset({"freshness", "domains"})
    max_count: ClassVar[int] = 50

    def authorized(self) -> dict[str, str]:
        return {"x-api-key": self.key}

    def ask(self, query: Query) -> Ask:
        wanted, excluded = hits.domains_of(query.domains)
        body: dict[str, Any] = {"query": query.text, "numResults": query.count, "type": "auto", "contents": {"highlights": True}}
        if sites := hits.hosts_of(wanted):
            body["includeDomains"] = sites
        if sites := hits.hosts_of(excluded):
            body["excludeDomains"] = sites
        if query.freshness != "none":
            body["startPublishedDate"] = f"{since(query.freshness)}T00:00:00.000Z"
        if query.safe_search == "strict":
            body["moderation"] = True
        return Ask("/search", json=body, method="POST")

    def read(self, payload: Any) -> Iterable[Hit]:
        return [hit(row, "exa", snippet=("highlights", "summary", "text"), date=("publishedDate",)) for row in payload["results"]]


class ExaKeyless(Backend):
    """Exa's public MCP endpoint, asked without a key."""

    name: ClassVar[str] = "exa_keyless"
    base: ClassVar[str] = "https://mcp.exa.ai"
    key_needed: ClassVar[bool] = False
    keyless_public: ClassVar[bool] = True
    max_count: ClassVar[int] = 20

    def ask(self, query: Query) -> Ask:
        call = {"name": "web_search_exa", "arguments": {"query": query.text, "numResults": query.count}}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
        return Ask("/mcp", json=body, method="POST", headers={"Accept": "application/json, text/event-stream"})

    def parsed(self, reply: Reply) -> Any:
        """JSON, or the last message of an event stream (MCP, streamable HTTP)."""
        text = reply.body.decode("utf-8", "replace")
        events = re.findall(r"^data:\s*(\{.*)$", text, re.MULTILINE)
        try:
            return json.loads(events[-1] if events else text)
        except ValueError:
            return None

    def complaint(self, reply: Reply, payload: Any) -> CormorantError | None:
        if not isinstance(payload, dict) or reply.status != 200:
            return None
        said = (payload.get("error") or {}).get("message", "") if isinstance(payload.get("error"), dict) else ""
        if (payload.get("result") or {}).get("isError"):
            said = " ".join(part.get("text", "") for part in payload["result"].get("content", []))
        if not said:
            return None
        if re.search(r"rate.?limit|too many|quota|429", said, re.IGNORECASE):
            return self.limited(reply, hits.cleaned(said, 300))
        return ProviderError(f"exa_keyless failed: {hits.cleaned(said, 300)}", remedy="set EXA_API_KEY")

    def read(self, payload: Any) -> Iterable[Hit]:
        text = "\n".join(part.get("text", "") for part in payload["result"]["content"])
        for block in re.split(r"(?m)^(?=Title:\s)", text):
            fields = dict(re.findall(r"(?m)^(Title|URL|Published(?: Date)?|Author):[ \t]*(.*)$", block))
            if fields.get("URL"):
                body = re.split(r"(?m)^(?:Text|Highlights|Summary|Content):", block, maxsplit=1)
                date = fields.get("Published") or fields.get("Published Date") or ""
                yield Hit(fields.get("Title", ""), fields["URL"].strip(), body[1][:1500] if len(body) > 1 else "", date, engine="exa")
