"""What every store has to keep, as a function a package that brings one can call in its own tests.

from cormorant.store.contract import check

async def test_my_store():
    await check(MyStore(address))
"""

from __future__ import annotations

import asyncio
from dataclasses import replace

from cormorant.document import Document, Finding, Link
from cormorant.errors import CormorantError, InvalidArguments, UnknownResponse
from cormorant.search import Found, Hit
from cormorant.store import Store
from cormorant.store.held import Held, Item, checked_id, new_id

_TEXT = (
    "# Tides\n\nHigh water at noon, in every script: 満潮 \u0e19\u0e49\u0e33\u0e02\u0e36\u0e49\u0e19 \ud83c\n" * 300
)  # half a pair too: pages have them
_PAGE = Document(
    url="https://harbour.example/tides",
    markdown=_TEXT,
    title="Tides",
    links=(Link("next", "https://harbour.example/next"),),
    findings=(Finding("hidden_text", None, "ab" * 32), Finding("instruction", (3, 9), "cd" * 32)),
    structured={"$body": "a page's own word", "list": [1, None, {"deep": 1.5}]},
)
_FOUND = Found("gulls", "library", (Hit("Gulls", "https://birds.example/gull", "They cry.", rank=1, query="gulls", score=0.5),))
_FETCHED = Item(url=_PAGE.url, final_url=_PAGE.url, document=_PAGE, status=200)
_SAMPLES = (
    Held("web_fetch", (_FETCHED, Item(url="https://gone.example/", error={"code": "dns"}))),
    Held("web_search", (Item(found=_FOUND),)),
    Held("web_answer", (Item(text="High water is at noon."),), result={"response": "High water is at noon.", "sources": []}),
    Held("research"),
)


async def check(store: Store) -> None:
    """Puts, gets and asks for what is not there. Raises: AssertionError saying what is broken.

    What comes back equals what went in; ids can't be guessed and never repeat; an id that was given is kept and may be
    written again; calls at the same time do not disturb each other; what is unknown and what is no id are told apart.
    """
    for held in _SAMPLES:
        response_id = await store.put(held)
        checked_id(response_id)
        got = await store.get(response_id)
        _hold(bool(got.created_at), "a result says when it was kept")
        _hold(got == replace(held, response_id=response_id, created_at=got.created_at), f"a {held.kind} comes back as it went in")
    ids = await asyncio.gather(*(store.put(_SAMPLES[0]) for _ in range(20)))
    _hold(len(set(ids)) == 20, "every put has an id of its own")
    _hold(all(got.items == _SAMPLES[0].items for got in await asyncio.gather(*map(store.get, ids))), "puts at the same time are all kept")
    mine = new_id()
    for held in _SAMPLES[:2]:
        _hold(await store.put(replace(held, response_id=mine, created_at="then")) == mine, "an id that was given is kept")
        _hold(await store.get(mine) == replace(held, response_id=mine, created_at="then"), "what is put again under it replaces the first")
    await _refuses(store, new_id(), UnknownResponse)
    for text in ("latest", "", mine.upper(), mine[:-1], f"{mine}\n", "../../etc/passwd"):
        await _refuses(store, text, InvalidArguments)


async def _refuses(store: Store, text: str, kind: type[CormorantError]) -> None:
    try:
        await store.get(text)
    except kind as error:
        _hold("re-run the original call" in error.remedy, "an error says what to do")
    else:
        raise AssertionError(f"{text!r} leads to a result")


def _hold(true: bool, otherwise: str) -> None:
    if not true:
        raise AssertionError(otherwise)
