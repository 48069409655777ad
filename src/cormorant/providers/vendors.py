"""The model vendors' own search as backends: one model call each, of which only the pages it found are kept.

Anthropic https://platform.claude.com/docs/en/agents-and-tools/tool-use/web-search-tool, OpenAI
https://developers.openai.com/api/docs/guides/tools-web-search, Gemini https://ai.google.dev/gemini-api/docs/google-search,
xAI https://docs.x.ai/developers/tools/overview. The cheap models go with the vendors' lists of what is still served:
https://developers.openai.com/api/docs/deprecations, https://ai.google.dev/gemini-api/docs/deprecations,
https://docs.x.ai/developers/migration/may-15-retirement.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, ClassVar
from urllib.parse import urlsplit

import anyio

from cormorant import hits
from cormorant.errors import CormorantError, ProviderError
from cormorant.providers.api import Ask, Backend
from cormorant.search import Found, Hit, Query, Reply

DEADLINE_S = 30.0
OUTPUT_TOKENS = 2_000
_WITHIN = {
    "none": "",
    "day": " from the last 24 hours",
    "week": " from the last week",
    "month": " from the last month",
    "year": " from the last year",
}


class Vendor(Backend):
    """A model asked to search. `search.model` names another model than the cheap one."""

    model: ClassVar[str] = ""
    native: ClassVar[frozenset[str]] = frozenset({"domains"})

    @property
    def chosen(self) -> str:
        vendor, _, model = self.settings.search.model.partition("/")
        return model if model and vendor == self.name else self.model

    def prompt(self, query: Query) -> str:
        tongue = f" Prefer pages in {query.language}." if query.language else ""
        return (
            f"Search the web for pages{_WITHIN[query.freshness]} about: {query.text}\n"
            f"List the {query.count} most relevant pages, each with one sentence of what it says, citing it.{tongue}"
        )

    @property
    def timeout_s(self) -> float:
        return max(DEADLINE_S, self.settings.search.timeout)


class OpenAI(Vendor):
    """OpenAI's web_search tool over the Responses API."""

    name: ClassVar[str] = "openai"
    base: ClassVar[str] = "https://api.openai.com"
    variables: ClassVar[tuple[str, ...]] = ("OPENAI_API_KEY",)
    model: ClassVar[str] = "gpt-6-luna"
    domains_max: ClassVar[int] = 100

    def ask(self, query: Query) -> Ask:
        wanted, excluded = hits.domains_of(query.domains)
        tool: dict[str, Any] = {"type": "web_search"}
        if filters := self.filters(hits.hosts_of(wanted), hits.hosts_of(excluded)):
            tool["filters"] = filters
        return Ask("/v1/responses", json={"model": self.chosen, "input": self.prompt(query), "tools": [tool], **self.more()}, method="POST")

    def filters(self, wanted: list[str], excluded: list[str]) -> dict[str, Any]:
        lists = {"allowed_domains": wanted, "blocked_domains": excluded}
        return {name: hosts for name, hosts in lists.items() if 0 < len(hosts) <= self.domains_max}

    def more(self) -> dict[str, Any]:
        return {"tool_choice": "required", "include": ["web_search_call.action.sources"]}

    def read(self, payload: Any) -> Iterable[Hit]:
        cited: dict[str, Hit] = {}
        others: list[str] = []
        for item in payload["output"]:
            if item.get("type") == "web_search_call":
                others += [source["url"] for source in (item.get("action") or {}).get("sources") or [] if source.get("url")]
            for part in item.get("content") or []:
                text = part.get("text") or ""
                for note in part.get("annotations") or []:
                    if note.get("type") == "url_citation" and note.get("url"):
                        snippet = _before(text, note.get("start_index") or 0)
                        cited.setdefault(note["url"], Hit(note.get("title") or "", note["url"], snippet, engine=self.name))
        others += [url for url in payload.get("citations") or [] if isinstance(url, str)]
        yield from cited.values()
        yield from (Hit("", url, engine=self.name) for url in dict.fromkeys(others) if url not in cited)


class XAI(OpenAI):
    """xAI's web_search tool, over its Responses API."""

    name: ClassVar[str] = "xai"
    base: ClassVar[str] = "https://api.x.ai"
    variables: ClassVar[tuple[str, ...]] = ("XAI_API_KEY",)
    model: ClassVar[str] = "grok-4.3"
    domains_max: ClassVar[int] = 5

    def filters(self, wanted: list[str], excluded: list[str]) -> dict[str, Any]:
        name, hosts = ("allowed_domains", wanted) if wanted else ("excluded_domains", excluded)  # never both
        return {name: hosts} if 0 < len(hosts) <= self.domains_max else {}

    def more(self) -> dict[str, Any]:
        return {}


class Anthropic(Vendor):
    """Anthropic's web search tool over the Messages API."""

    name: ClassVar[str] = "anthropic"
    base: ClassVar[str] = "https://api.anthropic.com"
    variables: ClassVar[tuple[str, ...]] = ("ANTHROPIC_API_KEY",)
    model: ClassVar[str] = "claude-haiku-4-5"

    def authorized(self) -> dict[str, str]:
        return {"x-api-key": self.key, "anthropic-version": "2023-06-01"}

    def ask(self, query: Query) -> Ask:
        wanted, excluded = hits.domains_of(query.domains)
        tool: dict[str, Any] = {"type": "web_search_20250305", "name": "web_search", "max_uses": 2}
        if sites := hits.hosts_of(wanted):
            tool["allowed_domains"] = sites
        elif sites := hits.hosts_of(excluded):
            tool["blocked_domains"] = sites
        messages = [{"role": "user", "content": self.prompt(query)}]
        return Ask(
            "/v1/messages", json={"model": self.chosen, "max_tokens": OUTPUT_TOKENS, "messages": messages, "tools": [tool]}, method="POST"
        )

    def read(self, payload: Any) -> Iterable[Hit]:
        said: dict[str, str] = {}
        found: dict[str, Hit] = {}
        for block in payload["content"]:
            for note in block.get("citations") or []:
                if note.get("url"):
                    said.setdefault(note["url"], note.get("cited_text") or "")
            if block.get("type") == "web_search_tool_result" and isinstance(block.get("content"), list):
                for row in block["content"]:
                    if row.get("url"):
                        found.setdefault(
                            row["url"], Hit(row.get("title") or "", row["url"], "", row.get("page_age") or "", engine="anthropic")
                        )
        pages = [replace(page, snippet=said.get(url, "")) for url, page in found.items()]
        yield from sorted(pages, key=lambda page: not page.snippet)  # what it cited first, in its order

    def complaint(self, reply: Reply, payload: Any) -> CormorantError | None:
        if reply.status == 529:
            return ProviderError("anthropic is overloaded (HTTP 529)", status=529, retryable=True, remedy="try again in a minute")
        if reply.status != 200 or not isinstance(payload, dict):
            return None
        blocks = payload.get("content") or []
        codes = [
            b["content"].get("error_code")
            for b in blocks
            if b.get("type") == "web_search_tool_result" and isinstance(b.get("content"), dict)
        ]
        if codes and not any(isinstance(b.get("content"), list) for b in blocks):
            return (
                self.limited(reply, codes[0])
                if codes[0] == "too_many_requests"
                else ProviderError(f"anthropic's search failed: {codes[0]}")
            )
        return None


class Gemini(Vendor):
    """Gemini's grounding with Google Search. It names its sources by redirects, which are opened here."""

    name: ClassVar[str] = "gemini"
    base: ClassVar[str] = "https://generativelanguage.googleapis.com"
    variables: ClassVar[tuple[str, ...]] = ("GEMINI_API_KEY", "GOOGLE_API_KEY")
    model: ClassVar[str] = "gemini-3.5-flash-lite"
    native: ClassVar[frozenset[str]] = frozenset()

    def authorized(self) -> dict[str, str]:
        return {"x-goog-api-key": self.key}

    def ask(self, query: Query) -> Ask:
        body = {"contents": [{"role": "user", "parts": [{"text": self.prompt(query)}]}], "tools": [{"google_search": {}}]}
        return Ask(f"/v1beta/models/{self.chosen}:generateContent", json=body, method="POST")

    def read(self, payload: Any) -> Iterable[Hit]:
        grounding = (payload.get("candidates") or [{}])[0].get("groundingMetadata") or {}
        said: dict[int, str] = {}
        for support in grounding.get("groundingSupports") or []:
            for n in support.get("groundingChunkIndices") or []:
                said.setdefault(n, (support.get("segment") or {}).get("text") or "")
        for n, chunk in enumerate(grounding.get("groundingChunks") or []):
            if (web := chunk.get("web")) and web.get("uri"):
                yield Hit(web.get("title") or "", web["uri"], said.get(n, ""), engine="gemini")

    async def search(self, query: Query) -> Found:
        """As every backend, with the redirects opened. Raises: as every backend."""
        found = await super().search(query)
        opened = list(found.results)

        async def open_one(n: int, hit: Hit) -> None:
            try:
                reply = await self.request("HEAD", hit.url, timeout_s=5.0)
            except CormorantError:
                return
            target = reply.headers.get("location") or reply.url
            if urlsplit(target).scheme in ("http", "https"):
                opened[n] = replace(hit, url=target)

        async with anyio.create_task_group() as group:
            for n, hit in enumerate(found.results):
                if "grounding-api-redirect" in hit.url:
                    group.start_soon(open_one, n, hit)
        return replace(found, results=tuple(opened))


def _before(text: str, at: int) -> str:
    """The line a citation ends: what the model says of the page."""
    line = text[:at].rpartition("\n")[2].strip(" *-([")
    return line[-400:]
