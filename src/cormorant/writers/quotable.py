"""Which parts of a page may be quoted, how they read, and how well they stand alone. Pure.

A sentence stands as it is. What can't be read alone takes with it what it needs: a row the heads of its columns, the first
words under a heading that names them that heading, a line that leads in the code or the list behind it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from cormorant import words
from cormorant.blocks import blocks
from cormorant.passages import Parts, Ranked
from cormorant.writers.bearing import Asked
from cormorant.writers.wanted import Wanted

SHORTEST_CHARS = 12  # a shorter line is a label
SHORTEST_WORDS = 3  # the same, where words are parted by spaces
NAMING_WORDS = 5  # a line without an end that has fewer, and no figure, is a name
LOOSE_WORDS = 8  # a line without an end that has fewer is a heading or the item of a menu more often than a statement
# What a sentence loses that does not stand alone; the best sentence of a page has 5 for being that (quote.py).
LOOSE, LEADS_IN, TORN, LEANING, LONG = 1.0, 1.5, 1.5, 0.5, 1.0
LONG_CHARS = 350
NEEDED_CHARS = 300  # a longer sentence is not quoted for the sake of the one behind it
NAME_WORDS = 5  # a heading of more says something itself
CODE_LINES = 14  # a longer listing is a program, not an answer
ENTRY = 7  # the level of a name that is set as code, below every heading
ITEMS = 6  # of a list behind the line that leads in
# For having what the question asks for (a figure, a name), for defining its subject, for code where steps are asked.
CUED, DEFINES, SHOWS_HOW = 0.7, 3.0, 1.5
UNASKED_CODE = 1.5  # what a listing loses where no steps are asked

_LINK = re.compile(r"!?\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\((?:<[^<>]*>|[^()\s]*(?:\([^()]*\)[^()\s]*)*)(?:\s+\"[^\"]*\")?\)")
_CODE = re.compile(r"(`[^`\n]+`)")
_ITEM = re.compile(r"^(?:\s*(?:\\?[-*+>]|\d{1,3}\\?[.)])\s+)+")
_MARKS = re.compile(r"\*\*|__|(?<!\w)[*_](?=\w)|(?<=[\w.,;:!?)])[*_](?!\w)|\[\^?\d+\]|\\(?=[\\`*_{}\[\]()#+.!|<>~-])")
_BOLD_LINE = re.compile(r"(?<=\S)(?:\*\*|__)[ \t]*$")  # how pages without real headings set theirs
_QUESTION = re.compile(r"[?？؟][\"'”’»」)]*$")
_ENDS = re.compile(r"[.!。！｡।॥…;؛۔][\"'”’»」)\]*_]*$")
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)[ \t#]*$", re.S)
_ENTRY = re.compile(r"`[^`\n]+`")
_NUMBERED = re.compile(r"^(?:\d+\.?)+\s+|\s*[¶#]$")
# Words that point at the sentence before, in the languages whose first word alone tells.
_LEANS = re.compile(
    r"(?:(?:It|Its|He|She|They|This|These|Those|That|Their|His|Her|Such|Nor|Therefore|However|Otherwise|Thus|Hence|Instead|Moreover"
    r"|Furthermore|Also|But|And|Or|So|Then|Both|Neither|Dies|Diese[rs]?|Sie|Er|Jedoch|Deshalb|Daher|Dadurch|Esto|Estos|Estas|Ello"
    r"|Sin embargo|Además|Cela|Ceux-ci|Elle|Ils|Cependant|Это|Эти|Он|Она|Они|Однако)\b)"
)


@dataclass(frozen=True)
class Quotable:
    """A part of a page as it may be quoted. `score` is within its page, `lift` what its form adds or takes, on any page alike.

    `terms` are those of the question that it holds, `around` with what stands beside it.
    `needs` is the sentence before, where it can't be read without; `costs` is how many sentences it counts for; `code` ends in a fence.
    """

    start: int
    place: int  # among the sentences of its page
    block: int
    text: str
    score: float
    lift: float
    terms: frozenset[str]
    around: frozenset[str]
    needs: str = ""
    costs: int = 1
    code: bool = False


class Page:
    """A page whose sentences are scored for one question."""

    def __init__(self, text: str, question: str, asked: Asked, wanted: Wanted) -> None:
        ranked = Ranked(text, question)
        self._text, self._bearing, self._wanted = text, asked, wanted
        self._parts = [ranked.explain(n) for n in range(len(ranked.spans))]
        self._raw = [text[start:end] for start, end in ranked.spans]
        self._said = [shown(raw) for raw in self._raw]
        self._terms = [asked.held(said) for said in self._said]
        self._blocks = blocks(text)
        starts = [block.start for block in self._blocks]
        self._at = [max(0, bisect_right(starts, part.start) - 1) for part in self._parts]
        self._over = list(self._headings())
        self._asked = _spoken(question)

    @cached_property
    def terms(self) -> frozenset[str]:
        """What of the question stands anywhere on the page."""
        return frozenset().union(*self._terms)

    def _headings(self) -> Iterator[tuple[tuple[int, str, frozenset[str]], ...]]:
        """For each sentence the headings it stands under, outermost first."""
        under: tuple[tuple[int, str, frozenset[str]], ...] = ()
        for n, raw in enumerate(self._raw):
            mark = _HEADING.match(raw) if self._kind(n) == "heading" else None
            if mark:
                level = len(mark[1])
                under = (*(one for one in under if one[0] < level), (level, _NUMBERED.sub("", shown(mark[2])), self._terms[n]))
            elif self._is_entry(n) and not (n and self._is_entry(n - 1)):  # of several forms of one entry the first names it
                under = (*(one for one in under if one[0] < ENTRY), (ENTRY, self._said[n], self._terms[n]))
            yield under

    def _is_entry(self, n: int) -> bool:
        """Whether a line is the name of an entry, set as code, as references of programs have them."""
        return self._kind(n) == "paragraph" and bool(_ENTRY.fullmatch(self._raw[n]))

    def _kind(self, n: int) -> str:
        return self._blocks[self._at[n]].kind if self._blocks else ""

    def quotable(self) -> Iterator[Quotable]:
        """What says something by itself, in page order."""
        lifted = 0.0  # what a question that is asked and answered by the page hands on to its answer
        for n, part in enumerate(self._parts):
            kind = self._kind(n)
            if kind not in ("fence", "code") and _QUESTION.search(self._said[n]):
                lifted = part.score
                continue
            handed, lifted = lifted, 0.0
            if kind in ("fence", "code"):
                one = self._listing(n, part) if n == 0 or self._at[n - 1] != self._at[n] else None
            else:
                names = kind == "heading" or self._is_entry(n) or _is_no_statement(self._raw[n], self._said[n])
                one = None if names else self._sentence(n, part, handed)
            if one is not None and not self._echoes(one):
                yield one

    def _echoes(self, one: Quotable) -> bool:
        """Whether a part says the question again, as an example of one or as the name of a result does."""
        return self._bearing.share(one.terms) > 0.9 and self._asked in _spoken(one.text)

    def _sentence(self, n: int, part: Parts, handed: float) -> Quotable | None:
        raw, said, terms = self._raw[n], self._said[n], self._terms[n]
        before, after = self._terms[max(0, n - 1)], self._terms[min(len(self._terms) - 1, n + 1)]
        over = self._over[n]
        beside = terms.union(before, after, *(one[2] for one in over))
        text, costs, needs = said, 1, ""
        if self._kind(n) == "table":
            text = self._row(n)
        elif said.endswith((":", "：")):
            behind = self._list_behind(n)
            if self._next_kind(n) in ("fence", "code"):
                return None  # the listing brings it
            if behind:
                text, costs = "\n".join([said, "", *(f"- {item}" for item in behind)]), 1 + len(behind)
                terms = terms.union(*map(self._bearing.held, behind))
        elif over and n and (self._kind(n - 1) == "heading" or self._is_entry(n - 1)) and self._is_named_by(over[-1], said):
            text, terms = f"{over[-1][1]}: {said}", terms | over[-1][2]
        elif _LEANS.match(said) and n and self._at[n - 1] == self._at[n] and len(self._said[n - 1]) <= NEEDED_CHARS:
            needs = self._said[n - 1] if _ENDS.search(self._said[n - 1]) else ""
        lift = (CUED if part.cue else 0.0) + DEFINES * self._wanted.defined_by(text) - (_loss(raw, said) if costs == 1 else 0.0)
        own = terms | before if handed else terms
        return Quotable(part.start, n, self._at[n], text, max(part.score, handed), lift, own, beside, needs, costs)

    def _is_named_by(self, heading: tuple[int, str, frozenset[str]], said: str) -> bool:
        """Whether a heading is the name of an entry (a setting, an error, an option) that its first sentence describes."""
        name = heading[1]
        return heading[0] > 1 and (name.startswith("`") or (not _ENDS.search(name) and len(name.split()) <= 2 and not _starts_whole(said)))

    def _row(self, n: int) -> str:
        """A row with the heads of its columns."""
        block = self._blocks[self._at[n]]
        heads = [shown(cell) for cell in _cells(self._text[block.start : block.head].split("\n", 1)[0])]
        cells = [shown(cell) for cell in _cells(self._raw[n])]
        if len(heads) != len(cells) or len(cells) < 2 or any(len(head) > 30 for head in heads):
            return self._said[n]
        if len(cells) == 2:
            return f"{cells[0]}: {cells[1]}" if all(cells) else self._said[n]
        return " · ".join(
            [cells[0], *(f"{head}: {cell}" if head else cell for head, cell in zip(heads[1:], cells[1:], strict=True) if cell)]
        )

    def _list_behind(self, n: int) -> list[str]:
        """The first items of the list that a line leads into."""
        after = self._at[n] + 1
        if self._next_kind(n) != "list":
            return []
        items: list[str] = []
        for k in range(n + 1, len(self._at)):
            if self._at[k] != after or len(items) >= ITEMS:
                break
            if _ITEM.match(self._line_of(k)) and self._said[k]:
                items.append(self._said[k])
        return items

    def _next_kind(self, n: int) -> str:
        """The kind of the block behind that of a sentence, where that is its last."""
        return self._kind(n + 1) if n + 1 < len(self._at) and self._at[n + 1] == self._at[n] + 1 else ""

    def _line_of(self, n: int) -> str:
        start = self._parts[n].start
        return self._text[self._text.rfind("\n", 0, start) + 1 : self._parts[n].end]

    def _listing(self, n: int, part: Parts) -> Quotable | None:
        """A short listing with the line that leads in, where steps are asked or that line was about to be quoted."""
        block = self._blocks[self._at[n]]
        code = self._text[block.start : block.end].strip("\n")
        if block.kind != "fence" or code.count("\n") > CODE_LINES + 1 or not code.rstrip().endswith(("```", "~~~")):
            return None
        last = next(k for k in range(len(self._at), n, -1) if self._at[k - 1] == self._at[n])
        inside = [self._parts[k].score for k in range(n, last)]
        own = frozenset().union(*self._terms[n:last])
        over = self._over[n]
        leads = n > 0 and self._at[n - 1] == self._at[n] - 1 and self._said[n - 1].endswith((":", "："))
        if not self._wanted.steps and not leads:
            return None
        lead = f"{self._said[n - 1]}\n\n" if leads else ""
        near = self._terms[n - 1] if n else frozenset()
        under = over[-1][2] if over else frozenset()
        score = max([*inside, self._parts[n - 1].score if leads else part.score])
        own = own | (near if leads else frozenset()) | (under if self._wanted.steps else frozenset())
        beside = own.union(near, *(one[2] for one in over))
        return Quotable(
            part.start, n, self._at[n], f"{lead}{code}", score, SHOWS_HOW if self._wanted.steps else -UNASKED_CODE, own, beside, code=True
        )


def shown(raw: str) -> str:
    """A sentence of Markdown as it is read: link texts for links, no list marks, no emphasis, on one line."""
    text = _LINK.sub(lambda m: "" if m[0].startswith("!") else m[1], raw)
    if text.lstrip().startswith("|"):
        text = " · ".join(cell for cell in _cells(text) if cell.strip(" -:"))
    text = _ITEM.sub("", text)
    plain = [piece if piece.startswith("`") else _MARKS.sub("", piece) for piece in _CODE.split(text)]  # marks inside code are code
    return " ".join("".join(plain).split())


def _spoken(text: str) -> str:
    """The words alone, parted and ended by spaces."""
    return f" {' '.join(words.folded(word) for word in words.words(text))} "


def _cells(row: str) -> list[str]:
    return [cell.strip() for cell in row.strip().strip("|").split("|")]


def _starts_whole(said: str) -> bool:
    """Whether a line reads as a whole sentence: it begins with a capital and has a few words up to its end."""
    return bool(_ENDS.search(said)) and len(said.split()) >= LOOSE_WORDS


def _is_no_statement(raw: str, said: str) -> bool:
    """Whether a line only names something: a heading, a label, the link of a menu."""
    if raw.lstrip().startswith("#") or len(said) < SHORTEST_CHARS or (said.isascii() and len(said.split()) < SHORTEST_WORDS):
        return True
    if _ENDS.search(said):
        return False
    few = len(said.split()) < NAMING_WORDS and not _UNSPACED.search(said) and not re.search(r"[\d:|=]", raw)
    if few or _BOLD_LINE.search(raw):
        return True
    item = _ITEM.sub("", raw)
    beside_links = _LINK.sub("", item)
    return beside_links != item and not beside_links.strip(" \t\n*_·|-.()0123456789")


def _loss(raw: str, said: str) -> float:
    """How much a sentence loses because it does not stand alone."""
    loss = (LEANING if _LEANS.match(said) else 0.0) + (LONG if len(said) > LONG_CHARS else 0.0)
    if said.endswith((":", "：")):
        return loss + LEADS_IN
    if raw.lstrip().startswith("|") or _UNSPACED.search(said):
        return loss
    if said[:1].islower() and not raw.lstrip().startswith(("`", "-", "*", "+")):
        loss += TORN
    if not _ENDS.search(said) and len(said.split()) < LOOSE_WORDS and not any(c.isdigit() for c in said):
        loss += LOOSE
    return loss
