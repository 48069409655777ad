"""What became of an answer's sources since it was given: read them again and hold every citation against them. Reads through
what it is handed; takes the answer as its JSON, so that one kept in a file can be checked."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from hashlib import sha256
from typing import Any

from cormorant.document import Document
from cormorant.errors import CormorantError, InvalidArguments
from cormorant.verify import verify

SAME, CHANGED, LOST, GONE, UNREAD = "same", "changed_still_supports", "no_longer_supports", "gone", "not_reached"
GONE_STATUS = {404, 410}
PAGE_BUDGET = 50_000

Read = Callable[[str, int], Awaitable[Document]]


async def recheck(answer: Mapping[str, Any], *, read: Read) -> list[dict[str, Any]]:
    """One row per citation of a `web_answer` result, in its order: what its source says today.

    `state` is same (not a character changed), changed_still_supports, no_longer_supports, gone (404, 410 or a missing
    page), or not_reached (the source could not be read today, which says nothing about it). Raises: InvalidArguments.
    """
    try:
        sources = {int(source["rank"]): source for source in answer["sources"]}
        cited = [(str(v["claim"]), int(v["source"]), str(v.get("quote") or "")) for v in answer["verdicts"]]
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidArguments("this is no result of web_answer", remedy="give the JSON that `cormorant answer --json` wrote") from error
    today: dict[int, Document | CormorantError] = {}
    for number in dict.fromkeys(number for _, number, _ in cited if number in sources):
        try:
            today[number] = await read(str(sources[number]["url"]), PAGE_BUDGET)
        except CormorantError as error:
            today[number] = error
    return [_row(claim, sources[number], quote, today[number]) for claim, number, quote in cited if number in sources]


def _row(claim: str, source: Mapping[str, Any], quote: str, now: Document | CormorantError) -> dict[str, Any]:
    row: dict[str, Any] = {"claim": claim, "source": source["rank"], "url": source["url"], "was": quote, "now": "", "reason": ""}
    if isinstance(now, CormorantError):
        gone = now.status in GONE_STATUS or now.code == "soft404" or now.code == "soft_404"
        return row | {"state": GONE if gone else UNREAD, "reason": now.message}
    (verdict,) = verify([(claim, 0)], [now.markdown])
    same = sha256(now.markdown.encode("utf-8", "replace")).hexdigest() == source.get("sha256")
    state = SAME if same else CHANGED if verdict.holds else LOST
    return row | {"state": state, "verdict": verdict.verdict, "now": verdict.quote, "reason": verdict.reason}
