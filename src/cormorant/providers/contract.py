"""What every search backend has to keep, as functions that a package which brings one calls in its own tests.

from cormorant.providers.contract import check_all, playing

async def test_my_backend():
    await check_all(MyBackend(settings, playing({"results": []})))      # an answer
    await check_all(MyBackend(settings, playing("down", 503)))          # a failure
"""

from __future__ import annotations

import json as json_room
from collections.abc import Mapping
from typing import Any

from cormorant.errors import CormorantError, InvalidArguments
from cormorant.search import Found, Hit, Query, Reply, Request, SearchProvider

# What callers ask: any of it may be ignored, as long as nothing breaks and the answer does not claim it.
QUERIES = (
    Query("low tide"),
    Query("low tide", count=1),
    Query("low tide", count=20, page=3),
    Query("low tide", freshness="week", language="pt-BR", safe_search="strict"),
    Query("low tide", language="zh", safe_search="off"),
    Query("low tide", domains=("x.example", ".y.example", "-z.example")),
    Query('"low tide" -harlow site:x.example'),
    Query("干潮 いつ น้ำลง"),
    Query("what is a tide and when does it turn? " * 60),
)


async def check_all(provider: SearchProvider) -> list[Found | CormorantError]:
    """Asks everything in `QUERIES`. Raises: AssertionError saying what is broken, and by which query."""
    answers = []
    for query in QUERIES:
        try:
            answers.append(await check(provider, query))
        except AssertionError as broken:
            raise AssertionError(f"{broken} (asked {query})") from broken
    return answers


async def check(provider: SearchProvider, query: Query) -> Found | CormorantError:
    """Asks once and holds the answer against the contract. Raises: AssertionError saying what is broken.

    Results or one error of the tree, never both and never neither; the backend always says its name; every hit has an
    address and its fields are text; the question comes back as it was asked.
    """
    _hold(bool(getattr(provider, "name", "")), "a provider has a name")
    try:
        found = await provider.search(query)
    except CormorantError as error:
        _hold(bool(error.message), "an error says what happened")
        _hold(not isinstance(error, InvalidArguments) or bool(error.remedy), "a query that can't be asked says how it could")
        return error
    _hold(isinstance(found, Found), f"search returns Found, not {type(found).__name__}")
    _hold(found.provider == provider.name, f"the answer names the provider: {found.provider!r} is not {provider.name!r}")
    _hold(found.query == query.text, "the answer repeats the question as it was asked")
    _hold(found.page == query.page, "the answer says which page it is")
    _hold(isinstance(found.results, tuple), "results are a tuple")
    for hit in found.results:
        _hold(isinstance(hit, Hit), f"a result is a Hit, not {type(hit).__name__}")
        _hold(isinstance(hit.url, str) and bool(hit.url), "a hit has an address")
        for name in ("title", "snippet", "source", "engine"):
            _hold(isinstance(getattr(hit, name), str), f"{name} of a hit is text")
        _hold(hit.score is None or isinstance(hit.score, int | float), "score of a hit is a number or None")
    if query.freshness == "none":
        _hold(found.freshness_applied == "none", "no freshness was asked, so none was applied")
    return found


def playing(body: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Request:
    """A `request` for a backend under test that gives every request this answer; what is no text goes as JSON."""
    sent = body if isinstance(body, bytes) else (body if isinstance(body, str) else json_room.dumps(body)).encode()
    fields = {name.lower(): value for name, value in (headers or {}).items()}

    async def request(
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] = {},
        params: Mapping[str, str] = {},
        json: Any = None,
        body: bytes = b"",
        timeout_s: float = 15.0,
    ) -> Reply:
        return Reply(status, fields, sent, url)

    return request


def _hold(true: bool, otherwise: str) -> None:
    if not true:
        raise AssertionError(otherwise)
