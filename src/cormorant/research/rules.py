"""Research without a model: the plan is made by rules, the answer of the pages' own sentences.

The plan is the question, its clauses, its telling words, its names, then what several pages brought up. It ends when
enough pages hold what the question asks for.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress

from cormorant.answer import Answer, Options, Reranker, Writer, answer
from cormorant.document import Document
from cormorant.errors import CormorantError, Timeout
from cormorant.events import Emit, Event, ResponseChunk, TextAdded
from cormorant.judges import Judge
from cormorant.research.desk import Desk
from cormorant.search import Found, Hit, Query, ranked
from cormorant.words import folded, terms, weight, words

READ_PER_STEP = 3
COVERED = 0.85  # share of the question's telling words that the pages read must hold
SOURCES_ENOUGH = 3
STAND_IN = 5  # hits whose snippets stand in where the run ended before their pages were read


async def gather(question: str, desk: Desk) -> None:
    """Search and read by the plan until the pages hold what the question asks for. Raises: Stopped, and when nothing at all
    could be searched, why."""
    asked: set[str] = set()
    failed: CormorantError | None = None
    for query in _plan(question, desk):
        if folded(query) in asked:
            continue
        asked.add(folded(query))
        known = {entry.url for entry in desk.evidence}
        try:
            found = await desk.search(query)
        except CormorantError as error:
            failed = error
            continue
        for hit in [hit for hit in found.results if hit.url not in known][:READ_PER_STEP]:
            await _visit(hit.url, question, desk)
        if _answered(question, desk):
            return
    if failed is not None and not desk.evidence:
        raise failed


async def _visit(url: str, question: str, desk: Desk) -> None:
    if desk.tried(url):
        return
    with suppress(CormorantError):  # the desk has it among what was not reached; the plan goes on without that page
        await desk.fetch(url, query=question)


def _plan(question: str, desk: Desk) -> Iterator[str]:
    """Queries from the plainest to the most far-fetched; the last ones come of what was read."""
    yield question
    clauses = [part.strip(" ,") for part in re.split(r"[?;]|\band\b|,(?=\s+(?:who|what|when|where|why|how)\b)", question)]
    for clause in clauses:
        if len(words(clause)) >= 3 and clause != question.rstrip("?"):
            yield clause
    telling = _telling(question)
    if telling:
        yield " ".join(telling)
    names = re.findall(r"\b[A-Z][\w'-]+(?:\s+[A-Z][\w'-]+)+", question[1:])
    yield from dict.fromkeys(names)
    for extra in _brought_up(question, desk)[:3]:
        yield f"{' '.join(telling[:4])} {extra}"


def _brought_up(question: str, desk: Desk) -> list[str]:
    """Words that several pages read have in common and the question does not say."""
    known = {folded(word) for word in words(question)}
    seen: Counter[str] = Counter()
    for entry in desk.evidence:
        if entry.read:
            seen.update({folded(word) for word in words(entry.text) if len(word) > 4} - known)
    return [word for word, pages in seen.most_common(40) if pages > 1]


def _answered(question: str, desk: Desk) -> bool:
    """Whether enough pages hold the question's telling words."""
    wanted = set(terms(" ".join(_telling(question))))
    pages = [entry.text for entry in desk.evidence if entry.read]
    holding = [page for page in pages if wanted and len(wanted & set(terms(page))) >= COVERED * len(wanted)]
    return len(holding) >= SOURCES_ENOUGH


def _telling(question: str) -> list[str]:
    """The words of a question that say what it is about, in their order."""
    return [word for word in words(question) if weight(folded(word)) == 1]


async def conclude(
    question: str, desk: Desk, *, reranker: Reranker, writer: Writer, judge: Judge | None, options: Options, emit: Emit
) -> Answer:
    """One cited, checked answer of what was gathered, told to `emit` while it is written. Raises: what writing raises."""
    entries = {entry.url: entry for entry in desk.evidence}
    read = [entry for entry in entries.values() if entry.read]
    rest = [entry for entry in entries.values() if not entry.read and not desk.tried(entry.url)] if desk.stopped else []
    chosen = [*read, *rest[: max(0, STAND_IN - len(read))]]

    async def known(_: Query) -> Found:
        return Found(question, desk.provider, ranked(Hit(e.title, e.url, e.hit.snippet, e.published) for e in chosen))

    async def gathered(url: str, _: int) -> Document:
        entry = entries[url]
        if not entry.read:
            raise Timeout(f"the run ended before this page was read (limit of {desk.stopped})", remedy="raise the bounds of the research")
        return Document(url=url, markdown=entry.text, title=entry.title, published=entry.published)

    async def told(event: Event) -> None:
        if isinstance(event, TextAdded):
            await emit(ResponseChunk(event.text))

    return await answer(question, search=known, read=gathered, reranker=reranker, writer=writer, judge=judge, emit=told, options=options)
