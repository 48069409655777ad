"""What every search backend has to keep, as a function a package that brings one can call in its own tests.

from cormorant.providers.contract import check

async def test_my_backend():
    await check(MyBackend(settings, request), Query("tides"))
"""

from __future__ import annotations

from cormorant.errors import CormorantError
from cormorant.search import Found, Hit, Query, SearchProvider


async def check(provider: SearchProvider, query: Query) -> Found | CormorantError:
    """Asks once and holds the answer against the contract. Raises: AssertionError saying what is broken.

    Results or one error of the tree, never both and never neither; the backend always says its name; every hit has an
    address and text without a line break missing; the question comes back as it was asked.
    """
    _hold(bool(getattr(provider, "name", "")), "a provider has a name")
    try:
        found = await provider.search(query)
    except CormorantError as error:
        _hold(bool(error.message), "an error says what happened")
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


def _hold(true: bool, otherwise: str) -> None:
    if not true:
        raise AssertionError(otherwise)
