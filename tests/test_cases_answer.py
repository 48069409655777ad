"""The collected failures of answers and event streams, run against this code.

The adapter maps a case's input to the room that does the job and names the outcome as the cases do.
"""

from __future__ import annotations

import base64
import importlib.util
import json
import re
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from cormorant import sse
from cormorant.answer import Options, answer
from cormorant.citations import Source, settle
from cormorant.document import Document
from cormorant.errors import CormorantError, HttpError, family
from cormorant.events import Event
from cormorant.search import Found, Hit, Query

pytestmark = pytest.mark.anyio
OPS = {"answer", "sse_parse", "sse_chunk"}


def _checker(cases: Path) -> Any:
    spec = importlib.util.spec_from_file_location("case_check", cases / "bugs" / "check.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _expanded(value: Any) -> Any:
    """`{"$repeat": [text, times]}` spelled out."""
    if isinstance(value, dict):
        return value["$repeat"][0] * value["$repeat"][1] if "$repeat" in value else {k: _expanded(v) for k, v in value.items()}
    return [_expanded(v) for v in value] if isinstance(value, list) else value


class Scripted:
    """A model that says what the case says, piece by piece."""

    label = "scripted::model"

    def __init__(self, pieces: Sequence[str], spelling: str) -> None:
        self.pieces = pieces
        self.spelling = spelling
        self.calls = 0

    async def write(self, question: str, sources: Sequence[Source]) -> AsyncIterator[str]:
        self.calls += 1
        for piece in self.pieces:
            yield piece


class AsFound:
    """A reranker that leaves the order alone: the cases number their sources themselves."""

    label = "as::found"

    async def score(self, question: str, texts: list[str]) -> list[float]:
        return [1.0] * len(texts)


def _error(code: str, url: str) -> CormorantError:
    status = re.fullmatch(r"http_(\d+)", code)
    if status:
        return HttpError(f"HTTP {status[1]}", url=url, status=int(status[1]))
    try:
        return family(code)(code, url=url)
    except KeyError:
        return HttpError(code, url=url)


async def _answered(given: dict[str, Any]) -> dict[str, Any]:
    """The case's sources as search results and pages, its model as the writer."""
    rows = given.get("sources", [])
    by_url = {row["url"]: row for row in rows}

    async def search(query: Query) -> Found:
        return Found(query.text, "case", tuple(Hit(row.get("title", ""), row["url"], row.get("snippet", "")) for row in rows))

    async def read(url: str, budget: int) -> Document:
        row = by_url[url]
        if not row.get("read", True):
            raise _error(str(row.get("error", "http_error")), url)
        return Document(url, row.get("text", ""), title=row.get("title", ""))

    events: list[Event] = []

    async def emit(event: Event) -> None:
        events.append(event)

    writer = Scripted(given.get("model", []), "tags" if given.get("marker") else "any")
    options = Options(keep=max(5, len(rows)))
    error: dict[str, Any] | None = None
    shown: dict[str, Any] = {"response": "", "sources": [], "sources_used": [], "not_reached": [], "warnings": []}
    try:
        made = await answer(
            given.get("question", "?"), search=search, read=read, reranker=AsFound(), writer=writer, emit=emit, options=options
        )
        shown = made.as_dict()
    except CormorantError as raised:
        error = raised.as_dict()
    return _named(shown, events, writer.calls, error)


def _named(shown: dict[str, Any], events: Sequence[Event], calls: int, error: dict[str, Any] | None) -> dict[str, Any]:
    partials = [event.data["content"] for event in events if event.event == "tool_partial_update"]
    terminal = [event for event in events if event.event in ("tool_end", "error")]
    text = re.sub(r"<web_citation [^>]*>(\[\d+\])</web_citation>", r"\1", shown["response"])
    return {
        "text": text,
        "response": shown["response"],
        "ok": error is None,
        "error": error,
        "sources": shown["sources"],
        "source_urls": [source["url"] for source in shown["sources"]],
        "sources_used": shown["sources_used"],
        "verdicts": shown.get("verdicts", []),
        "not_reached": [entry["url"] for entry in shown["not_reached"]],
        "warnings": shown["warnings"],
        "model_calls": calls,
        "partial_marker_deltas": sum(bool(re.search(r"<[a-z_]{0,6}$|<source_?\d*$|\[\d*$|【\d*$", piece)) for piece in partials),
        "deltas": partials,
        "dangling_markers": _dangling(shown),
        "terminal_events": len(terminal),
        "terminal_event": terminal[-1].event if terminal else None,
        "events": [{"event": event.event, "data": event.data} for event in events],
    }


def _dangling(shown: dict[str, Any]) -> int:
    known = {source["rank"] for source in shown["sources"]}
    prose = re.sub(r"```.*?```|`[^`]*`", "", shown["response"], flags=re.S)
    left = re.findall(r"<source_\d+>|【\d+】", prose)
    return len(left) + sum(int(n) not in known for n in re.findall(r"\[(\d+)\]</web_citation>", prose))


def _settled(given: dict[str, Any]) -> dict[str, Any]:
    """An answer that a provider wrote, with the list of what it cites."""
    rows = [row if isinstance(row, dict) else {"url": row} for row in given["provider_citations"]]
    sources = [Source(n, row["url"], row.get("title", "")) for n, row in enumerate(rows, 1)]
    settled = settle(given["provider_answer"], sources, keep=given.get("num_results", len(sources)))
    shown = {
        "response": settled.response,
        "sources": [{"rank": s.number, "url": s.url, "title": s.title} for s in settled.sources],
        "sources_used": list(settled.used),
        "not_reached": [],
        "warnings": list(settled.warnings),
    }
    return _named(shown, [], 0, None)


def _parsed(given: dict[str, Any]) -> dict[str, Any]:
    reader = sse.Reader()
    pieces = [base64.b64decode(piece) for piece in given.get("chunks_b64", [])] or [piece.encode() for piece in given.get("chunks", [])]
    found = [message for piece in pieces for message in reader.feed(piece)]
    return {
        "events": [{"event": m.event, "data": m.data, "id": m.id, "retry": m.retry_ms} for m in found],
        "comments": reader.parser.comments,
    }


def _chunked(given: dict[str, Any]) -> dict[str, Any]:
    event = _expanded(given["event"])
    frames = sse.frames(event["name"], event["data"], id=1, limit=given.get("limit_bytes", sse.LIMIT_BYTES))
    reader = sse.Reader()
    back = [message for frame in reversed(frames) for message in reader.feed(frame)]
    equal = len(back) == 1 and back[0].event == event["name"] and back[0].json() == event["data"]
    texts = [frame.decode() for frame in frames]  # a character that was split would not decode
    return {"rejoined_equal": equal, "max_event_bytes": max(map(len, frames)), "chunks": len(frames), "frames": texts}


async def _run(case: dict[str, Any], folder: Path) -> dict[str, Any]:
    given = json.loads((folder / case["input"]["files"]["input"]).read_text())
    if case["op"] == "sse_parse":
        return _parsed(given)
    if case["op"] == "sse_chunk":
        return _chunked(given)
    return _settled(given) if "provider_answer" in given else await _answered(given)


async def test_collected_answer_failures_stay_fixed(cases: Path) -> None:
    folder = cases / "bugs"
    rows = [json.loads(line) for line in (folder / "cases.jsonl").read_text().splitlines()]
    checker = _checker(cases)
    mine = [row for row in rows if row["op"] in OPS]
    assert mine
    failed = {}
    for case in mine:
        outcome = await _run(case, folder)
        wrong = [wanted for ok, wanted in checker.check(case, outcome) if not ok]
        if wrong:
            failed[case["id"]] = (wrong, {k: v for k, v in outcome.items() if k not in ("events", "frames")})
    assert not failed
