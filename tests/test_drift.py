"""An answer's sources, read again: what still holds."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import pytest

from cormorant.document import Document
from cormorant.drift import recheck
from cormorant.errors import CormorantError, HttpError, InvalidArguments, Timeout

pytestmark = pytest.mark.anyio
THEN = "The gate at Norwell was built in 1974. It weighs 31 tonnes."
URL = "https://a.example/gate"
ANSWER: dict[str, Any] = {
    "sources": [{"rank": 1, "url": URL, "sha256": sha256(THEN.encode()).hexdigest()}],
    "verdicts": [{"claim": "The gate at Norwell was built in 1974.", "source": 1, "quote": "The gate at Norwell was built in 1974."}],
}


@pytest.mark.parametrize(
    ("now", "state"),
    [
        pytest.param(THEN, "same", id="untouched"),
        pytest.param(THEN + " Visitors pay 2 euros.", "changed_still_supports", id="more was added"),
        pytest.param("The gate at Norwell was built in 1982. It weighs 31 tonnes.", "no_longer_supports", id="another year"),
        pytest.param("This page is about bread.", "no_longer_supports", id="another matter"),
        pytest.param(HttpError("HTTP 404", status=404), "gone", id="404"),
        pytest.param(HttpError("HTTP 503", status=503), "not_reached", id="503"),
        pytest.param(Timeout("late"), "not_reached", id="timeout"),
    ],
)
async def test_each_citation_says_what_became_of_it(now: str | CormorantError, state: str) -> None:
    async def read(url: str, budget: int) -> Document:
        assert url == URL
        if isinstance(now, CormorantError):
            raise now
        return Document(url, now)

    (row,) = await recheck(ANSWER, read=read)
    assert row["state"] == state, row
    assert row["was"] == "The gate at Norwell was built in 1974."


async def test_a_source_is_read_once_for_all_its_claims() -> None:
    reads: list[str] = []

    async def read(url: str, budget: int) -> Document:
        reads.append(url)
        return Document(url, THEN)

    answer = ANSWER | {"verdicts": ANSWER["verdicts"] * 3}
    assert len(await recheck(answer, read=read)) == 3
    assert reads == [URL]


@pytest.mark.parametrize("given", [{}, {"sources": [], "verdicts": [{}]}, {"sources": [{"rank": "x"}], "verdicts": []}])
async def test_something_else_is_refused(given: dict[str, Any]) -> None:
    async def read(url: str, budget: int) -> Document:
        raise AssertionError

    with pytest.raises(InvalidArguments):
        await recheck(given, read=read)
