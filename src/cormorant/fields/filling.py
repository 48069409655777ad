"""A schema filled from the records of a page. Pure.

The record that fills most of an object is taken, and where several of a kind fill it alike, the one the page's title names. What
another thing's card, row or review says never fills a place; what two records say differently fills none, and the reason is told.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from cormorant.document import Document
from cormorant.fields import names
from cormorant.fields.records import BESIDE, Fact, Kind, Record, Span
from cormorant.fields.values import NoValue, borne_out, value_of
from cormorant.fields.wanted import ITEMS_MAX, Wanted
from cormorant.passages.sentences import sentences
from cormorant.verify.numerals import plain_digits
from cormorant.words import folded

QUOTE_MAX_CHARS = 400
ABSENT = "the page does not say it"


@dataclass(frozen=True)
class Evidence:
    """What one value stands on: `quote` is verbatim; `span` is its place in the page's Markdown, None where only data says it."""

    path: str
    quote: str
    span: Span | None
    source: Kind

    def as_dict(self) -> dict[str, Any]:
        return {"path": self.path, "quote": self.quote, "span": list(self.span) if self.span else None, "source": self.source}


@dataclass
class Draft:
    """The result in the making."""

    document: Document
    evidence: list[Evidence] = field(default_factory=list)
    reasons: dict[str, str] = field(default_factory=dict)

    def miss(self, path: str, reason: str = ABSENT) -> None:
        if self.reasons.get(path, ABSENT) == ABSENT:
            self.reasons[path] = reason


@dataclass(frozen=True)
class Found:
    """A value of a leaf with the fact behind it."""

    value: Any
    fact: Fact
    source: Kind


def filled(wanted: Wanted, records: Sequence[Record], draft: Draft, path: str = "") -> Any:
    """The data; None where nothing was found, with the reason in the draft."""
    if wanted.kind == "array":
        return _list(wanted, records, draft, path)
    ordered = _about_the_page(wanted, records, draft)
    return _object(wanted, ordered, records, draft, path)


# ---- objects -----------------------------------------------------------------------------------------------------------


def _about_the_page(wanted: Wanted, records: Sequence[Record], draft: Draft) -> list[Record]:
    """The records that speak of the page's own thing, the one that fills most first."""
    alone = [record for record in records if not record.group]
    declared = [record for record in alone if record.source in ("json-ld", "microdata")]
    scores = {id(record): _score(wanted, record, draft) for record in alone}
    best = max((scores[id(record)] for record in declared), default=0)
    rivals = [record for record in declared if best and scores[id(record)] == best]
    if len({record.name for record in rivals}) > 1:
        title = draft.document.title
        named = [record for record in rivals if record.name and record.name.lower() in title.lower()]
        if len({record.name for record in named}) != 1:
            draft.reasons[""] = "the page describes several: " + ", ".join(sorted({record.name or record.type for record in rivals})[:5])
            rivals = []
        else:
            rivals = named
    main = rivals[:1]
    others = [record for record in declared if main and record is not main[0] and record.name and record.name == main[0].name]
    seen = [record for record in alone if record.source in ("table", "text", "opengraph")]
    return [*main, *others, *seen]


def _score(wanted: Wanted, record: Record, draft: Draft) -> int:
    """How many places of an object the record fills; one more when it is of the kind that the schema's title names."""
    count = sum(1 for place in _leaves(wanted) if any(True for _ in _facts(place, record)))
    kind = names.parts(record.type)
    return count and count + bool(kind and kind == names.parts(wanted.about.split(". ")[0]))


def _leaves(wanted: Wanted) -> Iterator[Wanted]:
    for place in wanted.properties:
        if place.kind == "object":
            yield from _leaves(place)
        else:
            yield place


def _object(wanted: Wanted, ordered: Sequence[Record], records: Sequence[Record], draft: Draft, path: str) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for place in wanted.properties:
        here = f"{path}/{_escaped(place.name)}"
        if place.kind == "array":
            made[place.name] = _list(place, records, draft, here, within=ordered)
        elif place.kind == "object":
            below = [fact.value for record in ordered for fact in _facts(place, record) if isinstance(fact.value, Record)]
            made[place.name] = _object(place, [*below[:1], *ordered], records, draft, here)
            if not any(e.path.startswith(f"{here}/") for e in draft.evidence):
                made[place.name] = None
                for key in [key for key in draft.reasons if key.startswith(f"{here}/")]:
                    del draft.reasons[key]
                draft.miss(here)
        else:
            made[place.name] = _leaf(place, ordered, draft, here)
    return made


def _leaf(wanted: Wanted, ordered: Sequence[Record], draft: Draft, path: str) -> Any:
    """The value of one place from the first record that has it; one kind of source that contradicts itself fills nothing."""
    why = draft.reasons.get("", ABSENT)
    for record in ordered:
        found: list[Found] = []
        for fact in _facts(wanted, record):
            try:
                found.append(Found(_value(fact, wanted, draft, record.source), fact, record.source))
            except NoValue as no:
                why = no.reason
        if len({repr(one.value) for one in found}) > 1:
            why = f"the page gives several: {', '.join(dict.fromkeys(str(one.value) for one in found))}"[:200]
            break
        if found:
            draft.evidence.append(_evidence(path, found[0], wanted, draft))
            return found[0].value
    draft.miss(path, why)
    return None


def _value(fact: Fact, wanted: Wanted, draft: Draft, source: Kind) -> Any:
    document = draft.document
    raw = fact.value
    if isinstance(raw, tuple):
        if len(raw) != 1:
            raise NoValue("the page gives a list")
        raw = raw[0]
    if isinstance(raw, Record):
        inner = [f.value for label in ("name", "value", "url", "@id") for f in raw.under(label) if isinstance(f.value, str | int | float)]
        if not inner:
            raise NoValue(ABSENT)
        raw = inner[0]
    if raw is None:
        raise NoValue(ABSENT)
    declared = source in ("json-ld", "microdata")
    return value_of(raw, wanted, language=document.language, base=document.url, head=fact.label, declared=declared)


def _facts(wanted: Wanted, record: Record) -> Iterator[Fact]:
    """The facts of a record that a place may be filled from: by its own label, then where such data usually keeps it."""
    labels = names.called(wanted)
    direct = [fact for fact in record.facts if any(names.alike(label, fact.label) for label in labels) and fact.label.lower() not in BESIDE]
    if record.source in ("table", "text"):
        yield from direct
        return
    exact = [fact for fact in direct if _leads(fact, wanted)]
    if exact:
        yield from exact
        return
    for label in labels:
        for path in names.PATHS.get(names.kind_of(label), ()):
            there = list(record.under(path))
            if there:
                yield from there
                return
    for fact in record.facts:  # one level down, among the parts of the thing itself
        if fact.label.lower() in BESIDE or wanted.kind == "object":
            continue
        below = fact.value if isinstance(fact.value, tuple) else (fact.value,)
        parts = [one for one in below if isinstance(one, Record)]
        if len(parts) == 1:
            yield from (f for f in parts[0].facts if f.label != "name" and any(names.alike(label, f.label) for label in labels))


def _leads(fact: Fact, wanted: Wanted) -> bool:
    """Whether the fact itself can be the value, rather than hold it (an offer is no price)."""
    inner = fact.value[0] if isinstance(fact.value, tuple) and fact.value else fact.value
    return wanted.kind in ("object", "array") or not isinstance(inner, Record) or names.kind_of(wanted.name) in ("brand", "author")


# ---- lists -------------------------------------------------------------------------------------------------------------


def _list(wanted: Wanted, records: Sequence[Record], draft: Draft, path: str, *, within: Sequence[Record] = ()) -> list[Any] | None:
    assert wanted.items is not None
    made = _scalars(wanted, within, draft, path) if wanted.items.is_leaf else _rows(wanted, records, within, draft, path)
    bounds = wanted.bounds
    most = min(ITEMS_MAX, bounds.most_items if bounds.most_items is not None else ITEMS_MAX)
    if len(made) > most:
        made = made[:most]
        draft.evidence = [e for e in draft.evidence if not _past(e.path, path, most)]
        draft.reasons = {key: why for key, why in draft.reasons.items() if not _past(key, path, most)}
    if not made or len(made) < (bounds.fewest or 0):
        draft.evidence = [e for e in draft.evidence if not e.path.startswith(f"{path}/")]
        draft.reasons = {key: why for key, why in draft.reasons.items() if not key.startswith(f"{path}/")}
        draft.miss(path, ABSENT if not made else f"the page gives {len(made)} of them")
        return None
    return made


def _past(path: str, of: str, most: int) -> bool:
    rest = path.removeprefix(f"{of}/").partition("/")[0]
    return path.startswith(f"{of}/") and rest.isdigit() and int(rest) >= most


def _scalars(wanted: Wanted, within: Sequence[Record], draft: Draft, path: str) -> list[Any]:
    items = wanted.items
    assert items is not None
    for record in within:
        for fact in _facts(wanted, record):
            values = fact.value if isinstance(fact.value, tuple) else (fact.value,)
            made: list[Any] = []
            for value in values:
                try:
                    found = Found(
                        _value(replace(fact, value=value), items, draft, record.source), replace(fact, value=value), record.source
                    )
                except NoValue:
                    continue
                draft.evidence.append(_evidence(f"{path}/{len(made)}", found, items, draft))
                made.append(found.value)
            if made:
                return made
    return []


def _rows(wanted: Wanted, records: Sequence[Record], within: Sequence[Record], draft: Draft, path: str) -> list[Any]:
    items = wanted.items
    assert items is not None
    best: tuple[int, list[Record]] = (0, [])
    for group in _groups(wanted, records, within):
        score = sum(_score(items, record, draft) for record in group)
        named = bool(group and wanted.name and group[0].head and names.alike(wanted.name, group[0].head))
        least = max((_score(items, record, draft) for record in group), default=0)
        if least and score + 1000 * named > best[0]:
            best = (score + 1000 * named, group)
    made: list[Any] = []
    for record in best[1]:
        trial = Draft(draft.document)
        here = f"{path}/{len(made)}"
        row = _object(items, [record], (), trial, here)
        if trial.evidence:
            made.append(row)
            draft.evidence += trial.evidence
            draft.reasons |= trial.reasons
    return made


def _groups(wanted: Wanted, records: Sequence[Record], within: Sequence[Record]) -> Iterator[list[Record]]:
    """The lists of like things on the page: a fact of the object itself, rows of one table, an ItemList, records of one type."""
    if wanted.name:
        for record in within:
            for fact in record.facts:
                if names.alike(wanted.name, fact.label) and isinstance(fact.value, tuple | Record):
                    values = fact.value if isinstance(fact.value, tuple) else (fact.value,)
                    yield [one for one in values if isinstance(one, Record)]
    for record in records:
        listed = [
            one for fact in record.under("itemListElement") for one in (fact.value if isinstance(fact.value, tuple) else (fact.value,))
        ]
        rows = [one for one in listed if isinstance(one, Record)]
        if rows:
            yield [next((f.value for f in row.under("item") if isinstance(f.value, Record)), row) for row in rows]
    by_kind: dict[tuple[str, str, int], list[Record]] = {}
    for record in records:
        if (record.group or record.type) and not (wanted.name and record in within):  # a thing is no list of itself
            by_kind.setdefault((record.source, record.type, record.group), []).append(record)
    yield from by_kind.values()


# ---- evidence ----------------------------------------------------------------------------------------------------------


def _evidence(path: str, found: Found, wanted: Wanted, draft: Draft) -> Evidence:
    """Where the value stands: its row or line; for declared data the sentence that says it too, or else the datum itself."""
    fact = found.fact
    if fact.span is not None:
        return Evidence(path, fact.quote, fact.span, found.source)
    if seen := _seen(found, wanted, draft.document):
        return Evidence(path, draft.document.markdown[slice(*seen)], seen, found.source)
    raw = fact.value[0] if isinstance(fact.value, tuple) and fact.value else fact.value
    if isinstance(raw, Record):
        raw = next((f.value for label in ("name", "value", "url") for f in raw.under(label)), "")
    return Evidence(path, str(raw)[:QUOTE_MAX_CHARS], None, found.source)


def _seen(found: Found, wanted: Wanted, document: Document) -> Span | None:
    """The one sentence of the page that says the value; none where several do, since which of them means it is not known."""
    if isinstance(found.value, bool) or (isinstance(found.value, str) and len(found.value) < 3):
        return None
    may_say = _hint(found.value)
    spans: list[Span] = []
    for start, end in sentences(document.markdown):
        said = document.markdown[start:end]
        if end - start <= QUOTE_MAX_CHARS and may_say(said) and not borne_out(found.value, said, wanted, language=document.language):
            spans.append((start, end))
            if len(spans) > 1:
                break
    return spans[0] if len(spans) == 1 or (spans and isinstance(found.value, str)) else None


def _hint(value: Any) -> Callable[[str], bool]:
    """A cheap test that a sentence which says the value passes: reading every figure of a long page costs a second."""
    if isinstance(value, str):
        first = folded(value.split()[0])[:4]
        return lambda said: first in folded(said)
    digits = str(abs(int(value)))
    return lambda said: digits in re.sub(r"\D", "", plain_digits(said))


def _escaped(name: str) -> str:
    """A name as a step of a JSON Pointer (RFC 6901)."""
    return name.replace("~", "~0").replace("/", "~1")
