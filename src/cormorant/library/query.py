"""Searching the index: which pieces match, which documents they speak for, what is shown of them.

Two passes. First the pieces that hold every telling word; only when they are few, those that hold some, rare words
first. SQLite's BM25 picks candidates; the order among them comes from how much of the question a piece covers, how
close together its words stand, and what its title and headings say.
"""

from __future__ import annotations

import json
import math
import re
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from cormorant import policy
from cormorant.errors import InvalidArguments
from cormorant.library.text import COMMON, Asked, asked, comparable, folded, forms, places, quoted, snippet

WEIGHTS = (4.0, 3.0, 1.0)  # title, headings, body
# What moves a candidate against its BM25, chosen on paragraphs of encyclopedia and science pages (bench/library_index.py).
COVERED = 0.65  # share lost by a piece that holds little of the question
NEAR = 0.5  # gained when the words stand together
HEADED = 0.25  # gained when title and headings hold the words
LISTS = 0.5  # lost by a piece that is only links
COMMON_SHARE = 0.3  # of the pieces: in a large library a word that more of them hold is not asked for
CANDIDATES = 48
MAX_TERMS = 24
SOME_ROWS = 5_000  # rows the second pass may score: more would only be rows that hold nothing but common words
FRESH = {"day": 1, "week": 7, "month": 31, "year": 366}


@dataclass(frozen=True)
class Wanted:
    """One search of the index."""

    text: str
    count: int
    page: int
    collection: str | None
    freshness: str
    domains: tuple[str, ...]
    now: datetime


@dataclass(frozen=True)
class LibraryHit:
    """A document that answers, with the piece of it that does."""

    url: str
    title: str
    snippet: str
    marks: tuple[tuple[int, int], ...]  # where the matched words stand in the snippet
    heading: str
    published: str
    collection: str
    score: float  # 0..1, comparable inside one search
    copies: int = 0  # near copies with the same passage that were left out
    covered: float = 1.0  # share of the question's telling words that the piece holds

    def as_dict(self) -> dict[str, Any]:
        return {
            "url": self.url,
            "title": self.title,
            "snippet": self.snippet,
            "marks": [list(mark) for mark in self.marks],
            "heading": self.heading,
            "published_at": self.published or None,
            "collection": self.collection,
            "score": self.score,
        }


@dataclass(frozen=True)
class LibraryFound:
    """What the index answered; `total` counts the documents looked at, at least those returned."""

    hits: tuple[LibraryHit, ...]
    total: int = 0
    notes: tuple[str, ...] = ()


class Frequencies:
    """How many pieces hold a term, remembered while the index is open: asking SQLite walks the term's whole list."""

    def __init__(self) -> None:
        self._known: dict[str, int] = {}
        self._version = -1

    def of(self, db: sqlite3.Connection, term: str) -> int:
        version = int(db.execute("SELECT COALESCE(max(id), 0) FROM pieces").fetchone()[0]) // 1000
        if version != self._version:
            self._known.clear()
            self._version = version
        if term not in self._known:
            # Counted as far as it matters: beyond, a word is only ever `common`.
            most = int(max(SOME_ROWS, COMMON_SHARE * _rows(db))) + 1
            counting = "SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH ? LIMIT ?)"
            self._known[term] = int(db.execute(counting, (forms(term), most)).fetchone()[0])
        return self._known[term]


@dataclass
class _Candidate:
    piece: int
    bm25: float
    doc: int = 0
    row: dict[str, Any] | None = None
    score: float = 0.0
    covered: float = 0.0


def search(db: sqlite3.Connection, wanted: Wanted, frequencies: Frequencies) -> LibraryFound:
    """The best documents for the question. Raises: InvalidArguments for a domain that is no host pattern."""
    question = asked(wanted.text)
    domains = (*wanted.domains, *question.domains)
    for domain in domains:
        policy.pattern(domain.removeprefix("-"))
    if not (question.terms or question.phrases or question.titles):
        if question.domains and not wanted.text.strip():
            raise InvalidArguments("the query is empty", remedy="give words to look for")
        return LibraryFound((), 0, ("nothing to look for in the query",))
    where = _Where(wanted, domains)
    need = wanted.count * wanted.page
    notes: list[str] = []
    candidates = _match(db, _all_of(db, question, frequencies), where, max(CANDIDATES, need * 4))
    if not candidates and question.phrases and question.terms and not _match(db, _some_of(db, question, frequencies), where, 1):
        # A question that quotes something in passing is no search for that phrase; one that is nothing but the phrase is.
        loose = (term for phrase in question.phrases for term in phrase.split() if term.lower() not in COMMON)
        question = replace(question, terms=(*question.terms, *loose), phrases=())
        notes.append("phrase_relaxed: nothing holds the quoted words as they stand, so they were looked for as words")
        candidates = _match(db, _all_of(db, question, frequencies), where, max(CANDIDATES, need * 4))
    if len({c.doc for c in candidates}) < need and len(question.terms) > 1:
        found = {candidate.piece for candidate in candidates}
        some = _some_of(db, question, frequencies)
        candidates += [c for c in _match(db, some, where, max(CANDIDATES, need * 4)) if c.piece not in found] if some else []
    _load(db, candidates)
    _score(db, candidates, question, frequencies)
    shown = _shown(candidates, question, wanted)
    if wanted.freshness in FRESH and (undated := _undated(db, wanted)):
        notes.append(f"undated: {undated} of the library's documents without a date left out")
    return replace(shown, notes=(*notes, *shown.notes)) if notes else shown


def _undated(db: sqlite3.Connection, wanted: Wanted) -> int:
    where = "" if wanted.collection is None else " AND collection = ?"
    values = [] if wanted.collection is None else [wanted.collection]
    return int(db.execute(f"SELECT count(*) FROM docs WHERE published = ''{where}", values).fetchone()[0])  # noqa: S608


class _Where:
    """The filters on documents, as SQL."""

    def __init__(self, wanted: Wanted, domains: Sequence[str]) -> None:
        self.clauses: list[str] = []
        self.values: list[Any] = []
        if wanted.collection is not None:
            self._and("docs.collection = ?", wanted.collection)
        if wanted.freshness in FRESH:
            self._and("docs.published >= ?", (wanted.now - timedelta(days=FRESH[wanted.freshness])).date().isoformat())
        if domains:
            self._and("host_fits(docs.host, ?)", json.dumps(list(domains)))

    def _and(self, clause: str, value: Any) -> None:
        self.clauses.append(clause)
        self.values.append(value)


def _all_of(db: sqlite3.Connection, question: Asked, frequencies: Frequencies) -> str:
    terms = question.terms[:MAX_TERMS]
    often = COMMON_SHARE * _rows(db)
    rarer = [term for term in terms if frequencies.of(db, term) < often] if often > SOME_ROWS / 4 else []
    # What stands in every third piece decides little and costs most: BM25 walks the whole list of every word.
    parts = [forms(term) for term in (rarer if len(rarer) > 1 else terms)] + _required(question)
    joined = " AND ".join(parts)
    if question.joined and len(question.terms) > 1:  # `task group` also means TaskGroup
        either = " OR ".join([f"({joined})", *(quoted(word) for word in question.joined)])
        joined = f"({either})" if not _required(question) else f"({either}) AND {' AND '.join(_required(question))}"
    return _without(joined, question)


def _required(question: Asked) -> list[str]:
    return [quoted(phrase) for phrase in question.phrases] + [f"title : {quoted(title)}" for title in question.titles]


def _without(expression: str, question: Asked) -> str:
    return f"({expression}) NOT ({' OR '.join(quoted(word) for word in question.excluded)})" if question.excluded else expression


def _some_of(db: sqlite3.Connection, question: Asked, frequencies: Frequencies) -> str:
    """The rare terms, any of them: as many as stay within the rows that may be scored."""
    counted = sorted((frequencies.of(db, term), term) for term in question.terms[:MAX_TERMS])
    chosen: list[str] = []
    rows = 0
    for count, term in counted:
        if count == 0:
            continue
        if chosen and rows + count > SOME_ROWS:
            break
        chosen.append(term)
        rows += count
    if not chosen:
        return ""
    either = "(" + " OR ".join(forms(term) for term in chosen) + ")"
    return _without(" AND ".join([either, *_required(question)]), question)


def _match(db: sqlite3.Connection, expression: str, where: _Where, limit: int) -> list[_Candidate]:
    if not expression:
        return []
    weights = ", ".join(str(weight) for weight in WEIGHTS)
    if where.clauses:
        sql = (
            f"SELECT words.rowid, bm25(words, {weights}) AS s, docs.id FROM words JOIN pieces ON pieces.id = words.rowid"  # noqa: S608
            f" JOIN docs ON docs.id = pieces.doc WHERE words MATCH ? AND {' AND '.join(where.clauses)} ORDER BY s LIMIT ?"
        )
        return [_Candidate(piece, -score, doc) for piece, score, doc in db.execute(sql, (expression, *where.values, limit))]
    sql = (
        f"SELECT found.piece, found.s, pieces.doc FROM (SELECT rowid AS piece, bm25(words, {weights}) AS s FROM words"  # noqa: S608
        " WHERE words MATCH ? ORDER BY s LIMIT ?) AS found JOIN pieces ON pieces.id = found.piece"
    )
    return [_Candidate(piece, -score, doc) for piece, score, doc in db.execute(sql, (expression, limit))]


def _load(db: sqlite3.Connection, candidates: list[_Candidate]) -> None:
    names = ("piece", "heading", "text", "links", "url", "title", "published", "collection", "group")
    marks = ", ".join("?" * len(candidates))
    sql = (
        "SELECT pieces.id, pieces.heading, pieces.text, pieces.links, docs.url, docs.title, docs.published, docs.collection,"  # noqa: S608
        f" COALESCE(docs.copy_of, docs.id) FROM pieces JOIN docs ON docs.id = pieces.doc WHERE pieces.id IN ({marks})"
    )
    rows = {row[0]: dict(zip(names, row, strict=True)) for row in db.execute(sql, [c.piece for c in candidates])}
    for candidate in candidates:
        candidate.row = rows.get(candidate.piece)
    candidates[:] = [candidate for candidate in candidates if candidate.row]


def _score(db: sqlite3.Connection, candidates: list[_Candidate], question: Asked, frequencies: Frequencies) -> None:
    """Sets `score`: BM25, weighed by what is covered, how near the words stand and how little of the piece is links."""
    if not candidates:
        return
    rows = _rows(db)
    terms = question.terms[:MAX_TERMS] or question.phrases
    weights = {t: math.log(1 + rows / (1 + frequencies.of(db, t))) if len(terms) > 1 else 1.0 for t in terms}
    total = sum(weights.values()) or 1.0
    top = max(candidate.bm25 for candidate in candidates) or 1.0
    for candidate in candidates:
        row = candidate.row or {}
        head = comparable(f"{row['title']} {row['heading']}")
        body = comparable(f"{row['heading']}\n{row['text']}")
        in_head = sum(weight for t, weight in weights.items() if places(head, t, 1)) / total
        found = {t: at for t in weights if (at := places(body, t))}
        in_body = sum(weights[t] for t in found) / total
        candidate.covered = max(in_body, (in_head + in_body) / 2)
        whole = 1 - COVERED + COVERED * candidate.covered**2
        together = 1 + NEAR * _nearness(list(found.values())) + HEADED * in_head
        candidate.score = candidate.bm25 / top * whole * together * (1 - LISTS * row["links"] ** 2)


def _rows(db: sqlite3.Connection) -> int:
    return int(db.execute("SELECT COALESCE(max(id), 1) FROM pieces").fetchone()[0])


def _nearness(places: list[list[int]]) -> float:
    """1 when all the words stand together, falling to 0 over a few sentences; 0 for a single word."""
    if len(places) < 2:
        return 0.0
    events = sorted((at, n) for n, found in enumerate(places) for at in found)
    last: dict[int, int] = {}
    best = math.inf
    for at, n in events:
        last[n] = at
        if len(last) == len(places):
            best = min(best, at - min(last.values()))
    return max(0.0, 1.0 - best / (60.0 * len(places)))


def _shown(candidates: list[_Candidate], question: Asked, wanted: Wanted) -> LibraryFound:
    candidates.sort(key=lambda c: (-c.score, c.piece))
    best: dict[int, _Candidate] = {}
    for candidate in candidates:
        first = best.setdefault(candidate.doc, candidate)
        if first is not candidate:
            first.score += 0.05 * candidate.score  # a page that answers in several places
    ordered = sorted(best.values(), key=lambda c: (-c.score, c.piece))
    kept, copies = _without_copies(ordered)
    top = kept[0].score if kept else 1.0
    page = kept[(wanted.page - 1) * wanted.count : wanted.page * wanted.count]
    hits = tuple(_hit(candidate, question, top, copies.get(candidate.piece, 0)) for candidate in page)
    notes = (f"{sum(copies.values())} near copies left out",) if copies else ()
    return LibraryFound(hits, len(kept), notes)


def _without_copies(ordered: list[_Candidate]) -> tuple[list[_Candidate], dict[int, int]]:
    """The candidates without those that show the passage of an earlier one, and how many of each were left out."""
    kept: list[_Candidate] = []
    copies: dict[int, int] = {}
    by_text: dict[str, _Candidate] = {}
    by_group: dict[int, list[_Candidate]] = {}
    for candidate in ordered:
        row = candidate.row or {}
        alike = by_group.setdefault(row["group"], [])
        twin = by_text.get(row["text"]) or next((one for one in alike if _same(one, candidate)), None)
        if twin:
            copies[twin.piece] = copies.get(twin.piece, 0) + 1
            continue
        kept.append(candidate)
        alike.append(candidate)
        if row["text"]:
            by_text[row["text"]] = candidate
    return kept, copies


def _same(one: _Candidate, other: _Candidate) -> bool:
    """Whether two copies say the same where they answer: nearly all words alike, and every figure."""
    first, second = (set(re.findall(r"\w+", (c.row or {})["text"])) for c in (one, other))
    return not any(c.isdigit() for word in first ^ second for c in word) and len(first & second) >= 0.9 * len(first | second)


def _hit(candidate: _Candidate, question: Asked, top: float, copies: int) -> LibraryHit:
    row = candidate.row or {}
    text, marks = snippet(row["text"], question.words)
    score = round(min(1.0, candidate.score / (top or 1.0)), 4)
    return LibraryHit(
        row["url"],
        row["title"],
        text,
        marks,
        row["heading"],
        row["published"],
        row["collection"],
        score,
        copies,
        round(candidate.covered, 3),
    )


__all__ = ["Frequencies", "LibraryFound", "LibraryHit", "Wanted", "folded", "search"]
