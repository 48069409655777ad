"""Asking GitHub's REST API (docs.github.com/rest, version 2022-11-28), and what its answers mean when they are no answer.

Limits come as 403, 429 and now and then as a 200 with a message; a token that is refused is left out once, since most of
what is asked for is public.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol
from urllib.parse import quote, urlencode

from cormorant.errors import CormorantError, HttpError, ProviderError, RateLimited
from cormorant.transport import Resource, retry_after

BASE = "https://api.github.com"
JSON = "application/vnd.github+json"
RAW = "application/vnd.github.raw+json"
PER_PAGE = 100
PAGES_MAX = 5  # of comments or files; what is behind them is said


class Request(Protocol):
    """One request of a fetch: the policy judges the address, the account counts it. Any status is an answer."""

    async def __call__(
        self, method: str, url: str, *, headers: Mapping[str, str], credentials: Mapping[str, str], body: bytes = b""
    ) -> Resource: ...


@dataclass
class Api:
    """One fetch's conversation with the API. `notes` is what the reader ought to know of it."""

    request: Request
    token: str = field(default="", repr=False)
    notes: list[str] = field(default_factory=list)
    wire_bytes: int = 0
    at: str = ""  # when the last answer came, ISO 8601

    async def json(self, path: str, **params: str) -> Any:
        """What is at that path. Raises: HttpError, RateLimited, ProviderError, and what the request raises."""
        found = await self._asked("GET", path, params, JSON)
        return self._read(found)

    async def raw(self, path: str, **params: str) -> bytes:
        """A file's bytes as they are."""
        return (await self._asked("GET", path, params, RAW)).body

    async def pages(self, path: str, **params: str) -> list[Any]:
        """A list, page after page, up to a bound that is noted when it is met."""
        found: list[Any] = []
        for page in range(1, PAGES_MAX + 1):
            part = await self.json(path, **params, per_page=str(PER_PAGE), page=str(page))
            if not isinstance(part, list):
                raise _odd(path)
            found += part
            if len(part) < PER_PAGE:
                return found
        self.notes.append(f"{path.rpartition('/')[2]}: the first {len(found)} are shown, there are more")
        return found

    async def graph(self, query: str, variables: Mapping[str, Any]) -> Any:
        """An answer of the GraphQL API, which wants a token for everything."""
        body = json.dumps({"query": query, "variables": variables}).encode()
        told = self._read(await self._asked("POST", "/graphql", {}, JSON, body))
        if not isinstance(told, dict) or not isinstance(told.get("data"), dict):
            raise _odd("/graphql")
        return told["data"]

    async def _asked(self, method: str, path: str, params: Mapping[str, str], accept: str, body: bytes = b"") -> Resource:
        url = f"{BASE}{path}{'?' + urlencode(params) if params else ''}"
        headers = {"accept": accept, "x-github-api-version": "2022-11-28"} | ({"content-type": "application/json"} if body else {})
        found = await self.request(method, url, headers=headers, credentials=self._login(), body=body)
        if found.status == 401 and self.token:
            self.token = ""
            self.notes.append("token_rejected: GITHUB_TOKEN was refused and left out; what is private can't be read with it")
            found = await self.request(method, url, headers=headers, credentials={}, body=body)
        self.wire_bytes, self.at = self.wire_bytes + found.wire_bytes, found.retrieved_at
        if not 200 <= found.status < 300:
            raise self._refused(found)
        return found

    def _login(self) -> dict[str, str]:
        return {"authorization": f"Bearer {self.token}"} if self.token else {}

    def _read(self, found: Resource) -> Any:
        try:
            told = json.loads(found.body)
        except ValueError as error:
            raise _odd(found.url) from error
        if isinstance(told, dict) and "rate limit" in str(told.get("message", "")).lower():
            raise self._limited(found, str(told["message"]))
        return told

    def _refused(self, found: Resource) -> CormorantError:
        try:
            message = str(json.loads(found.body).get("message", ""))
        except (ValueError, AttributeError):
            message = ""
        spent = found.headers.get("x-ratelimit-remaining") == "0" or "retry-after" in found.headers
        if found.status == 429 or (found.status == 403 and (spent or "rate limit" in message.lower())):
            return self._limited(found, message)
        said = f": {message[:300]}" if message else ""
        if found.status >= 500:
            hint = "try again later"
        elif found.status == 401:
            hint = "check GITHUB_TOKEN"
        else:
            hint = "check the address" if self.token else "check the address; what is private needs GITHUB_TOKEN"
        return HttpError(
            f"GitHub's API answered {found.status}{said}",
            status=found.status,
            url=found.url,
            retryable=found.status >= 500,
            remedy=hint,
        )

    def _limited(self, found: Resource, message: str) -> RateLimited:
        wait = retry_after(found.headers.get("retry-after", ""))
        reset = found.headers.get("x-ratelimit-reset", "")
        if wait is None and reset.isascii() and reset.isdigit():
            wait = max(0.0, float(reset) - time.time())
        hint = "wait" if self.token else "set GITHUB_TOKEN (60 requests an hour without one, 5,000 with), or wait"
        return RateLimited(
            f"GitHub's API has a limit, and it is reached: {message[:300]}",
            status=found.status,
            url=found.url,
            retryable=True,
            retry_after=wait,
            remedy=hint,
        )


def at(slug: str, *parts: str, **tail: str) -> str:
    """A path below a repository. Every part is encoded; of `path` the slashes stay."""
    path = "/".join(["/repos", slug, *(quote(part, safe="") for part in parts)])
    return f"{path}/{quote(tail['path'])}" if tail.get("path") else path


def _odd(where: str) -> ProviderError:
    return ProviderError(f"GitHub's answer to {where} is not of the shape it documents", remedy="try again; report it if it stays so")
