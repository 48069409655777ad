"""What a page says in rows and pairs: JSON-LD, microdata, OpenGraph, tables, lines such as "Weight: 3 kg". Pure.

Each becomes a `Record` of `Fact`s that know where they stand, so that filling a schema asks all of them alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from cormorant.blocks import blocks
from cormorant.document import Document
from cormorant.fields.values import plain_text

Kind = Literal["json-ld", "microdata", "opengraph", "table", "text"]
Span = tuple[int, int]
LABEL_MAX_CHARS = 40
RECORDS_MAX = 500
PAIRS_MAX = 2_000
_ROW = re.compile(r"^ {0,3}\|?(.*?)\|?[ \t]*$")
_CELL = re.compile(r"(?<!\\)\|")
_RULE = re.compile(r"^ {0,3}\|?(?:\s*:?-{3,}:?\s*\|?)+\s*$")
_PAIR = re.compile(r"^ {0,3}(?:[-*+] +)?(?:\*\*|__)?([^\W\d_][^:：*_|<>\[\]]{0,39}?)(?:\*\*|__)?\s*[:：]\s*(?:\*\*|__)?\s*(\S.*)$")
# Things beside the one a page is about: their facts are not its own.
BESIDE = frozenset(
    "isrelatedto issimilarto isaccessoryorsparepartfor review reviews itemreviewed mentions relatedlink comment comments ispartof "
    "haspart citation breadcrumb potentialaction mainentityofpage publisher isvariantof".split()
)


@dataclass(frozen=True)
class Fact:
    """One thing a record says: under which label, what (text, a scalar, a record, a list), and where on the page."""

    label: str
    value: Any
    quote: str = ""
    span: Span | None = None


@dataclass(frozen=True)
class Record:
    """What belongs together: an object of structured data, a row, the pairs of a page."""

    source: Kind
    facts: tuple[Fact, ...]
    type: str = ""
    group: int = 0  # rows of one table, items of one list
    head: str = ""  # the heading above a table

    def under(self, path: str) -> Iterator[Fact]:
        """The facts at a path such as `offers.price`; lists on the way are walked."""
        first, _, rest = path.partition(".")
        for fact in self.facts:
            if fact.label.lower() != first.lower():
                continue
            if not rest:
                yield fact
                continue
            for value in fact.value if isinstance(fact.value, tuple) else (fact.value,):
                if isinstance(value, Record):
                    yield from value.under(rest)

    @property
    def name(self) -> str:
        for label in ("name", "headline", "title"):
            for fact in self.under(label):
                if isinstance(fact.value, str):
                    return plain_text(fact.value)
        return ""


def records(document: Document) -> list[Record]:
    """Everything of the page that is a row or a pair, the surest kind first."""
    said = document.structured
    found = [_declared(item, "json-ld") for item in said.get("json_ld", ()) if isinstance(item, Mapping)]
    found += [_declared(item, "microdata") for item in said.get("microdata", ()) if isinstance(item, Mapping)]
    found += _tables(document)
    if pairs := _pairs(document):
        found.append(Record("text", tuple(pairs)))
    if graph := said.get("opengraph"):
        found.append(_graph(graph))
    return found[:RECORDS_MAX]


# ---- declared data -----------------------------------------------------------------------------------------------------


def _declared(item: Mapping[str, Any], source: Kind, depth: int = 0) -> Record:
    kinds = item.get("@type", item.get("type", ""))
    kind = str(kinds[0] if isinstance(kinds, list) and kinds else kinds)
    facts = tuple(
        Fact(label.rpartition("/")[2].rpartition(":")[2], _declared_value(value, source, depth))
        for label, value in item.items()
        if not label.startswith("@") and not (source == "microdata" and label == "type") and depth < 6
    )
    return Record(source, facts, kind.rpartition("/")[2])


def _declared_value(value: Any, source: Kind, depth: int) -> Any:
    if isinstance(value, Mapping):
        return value["@value"] if "@value" in value else _declared(value, source, depth + 1)
    if isinstance(value, list):
        return tuple(_declared_value(one, source, depth) for one in value[:200])
    return value


def _graph(graph: Mapping[str, Any]) -> Record:
    """OpenGraph: `product:price:amount` is the price amount; a name that comes more than once is a list."""
    facts = []
    for name, value in graph.items():
        label = " ".join(part for part in name.split(":") if part not in ("product", "article", "book", "profile", "twitter", "og"))
        facts.append(Fact(label, tuple(value) if isinstance(value, list) else value))
    return Record("opengraph", tuple(facts))


# ---- what is seen ------------------------------------------------------------------------------------------------------


def _tables(document: Document) -> list[Record]:
    found: list[Record] = []
    text = document.markdown
    for number, block in enumerate(blocks(text), 1):
        if block.kind != "table":
            continue
        rows = list(_rows(text, block.start, block.end))
        head = heading_above(document, block.start)
        if len(rows) < 2 or not rows[0][0]:
            continue
        labels, body = rows[0][0], rows[1:]
        if len(labels) == 2 and (not any(labels) or _is_list_of_pairs(rows)):
            pairs = body if not any(labels) else rows
            facts = [Fact(plain_text(cells[0]), cells[1], text[a:b], (a, b)) for cells, a, b in pairs if len(cells) == 2 and cells[0]]
            found.append(Record("table", tuple(facts), head=head))
            continue
        for cells, a, b in body:
            facts = [Fact(plain_text(label), cell, text[a:b], (a, b)) for label, cell in zip(labels, cells, strict=False) if label]
            found.append(Record("table", tuple(facts), group=number, head=head))
    return found


def _rows(text: str, start: int, end: int) -> Iterator[tuple[list[str], int, int]]:
    at = start
    for line in text[start:end].split("\n"):
        if line.strip() and not _RULE.match(line):
            inner = _ROW.match(line)
            cells = [cell.strip().replace("\\|", "|") for cell in _CELL.split(inner[1] if inner else line)]
            yield cells, at, at + len(line)
        at += len(line) + 1


def _is_list_of_pairs(rows: list[tuple[list[str], int, int]]) -> bool:
    """Whether a table of two columns has labels at the left of every row, the first too, rather than a head."""
    left = [plain_text(cells[0]) for cells, _, _ in rows if cells]
    right = [plain_text(cells[1]) for cells, _, _ in rows if len(cells) > 1]
    digits = [any(char.isdigit() for char in cell) for cell in right]
    return digits[:1] == [True] and not any(any(char.isdigit() for char in cell) for cell in left)


def _pairs(document: Document) -> list[Fact]:
    """Lines of the form "label: value", outside code and tables."""
    text, found = document.markdown, []
    for block in blocks(text):
        if block.kind in ("table", "code", "fence"):
            continue
        at = block.start
        for line in text[block.start : block.end].split("\n"):
            if (pair := _PAIR.match(line)) and "://" not in pair[1]:
                found.append(Fact(plain_text(pair[1]), pair[2], line.strip(), (at, at + len(line))))
            at += len(line) + 1
            if len(found) == PAIRS_MAX:
                return found
    return found


def heading_above(document: Document, at: int) -> str:
    """The text of the nearest heading before a place."""
    line = document.markdown.count("\n", 0, at)
    above = [section for section in document.sections if section.start <= line]
    return above[-1].heading if above else ""
