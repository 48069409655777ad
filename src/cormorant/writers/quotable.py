"""Which sentences of a page may be quoted, how they read, and how well they stand alone. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from cormorant import words
from cormorant.passages import explain

SHORTEST_CHARS = 12  # a shorter line is a label
SHORTEST_WORDS = 3  # the same, where words are parted by spaces
NAMING_WORDS = 5  # a line without an end that has fewer, and no figure, is a name
LOOSE_WORDS = 8  # a line without an end that has fewer is a heading or the item of a menu more often than a statement
# What a sentence loses that does not stand alone, in standard deviations of its page.
LOOSE, LEADS_IN, TORN, LEANING, LONG = 1.0, 0.7, 1.5, 0.5, 1.0
LONG_CHARS = 350

_LINK = re.compile(r"!?\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\((?:<[^<>]*>|[^()\s]*(?:\([^()]*\)[^()\s]*)*)(?:\s+\"[^\"]*\")?\)")
_LISTING = re.compile(r"^ {0,3}(`{3,}|~{3,})[^\n]*\n.*?(?:^ {0,3}\1[`~]*[ \t]*$|\Z)", re.M | re.S)
_CODE = re.compile(r"(`[^`\n]+`)")
_ITEM = re.compile(r"^(?:\s*(?:\\?[-*+>]|\d{1,3}\\?[.)])\s+)+")
_MARKS = re.compile(r"\*\*|__|(?<!\w)[*_](?=\w)|(?<=[\w.,;:!?)])[*_](?!\w)|\[\^?\d+\]|\\(?=[\\`*_{}\[\]()#+.!|<>~-])")
_BOLD_LINE = re.compile(r"(?<=\S)(?:\*\*|__)[ \t]*$")  # how pages without real headings set theirs
_QUESTION = re.compile(r"[?？؟][\"'”’»」)]*$")
_ENDS = re.compile(r"[.!。！｡।॥…؛۔][\"'”’»」)\]*_]*$")
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
# Words that point at the sentence before, in the languages whose first word alone tells.
_LEANS = re.compile(
    r"(?:(?:It|This|These|Those|That|They|Such|Nor|Therefore|However|Otherwise|Thus|Hence|Instead|Moreover|Furthermore|Also|But|Then"
    r"|Dies|Diese[rs]?|Sie|Jedoch|Deshalb|Daher|Dadurch|Esto|Estos|Estas|Ello|Sin embargo|Además|Cela|Ceux-ci|Cependant|Это|Эти|Однако)\b)"
)


@dataclass(frozen=True)
class Quotable:
    """A sentence as it may be quoted. `score` is within its page; `terms` are its own, `around` those of it and the next ones."""

    start: int
    text: str
    score: float
    terms: frozenset[str]
    around: frozenset[str]


def quotable(text: str, question: str) -> Iterator[Quotable]:
    """The sentences of a page that say something by themselves, in page order."""
    listings = [found.span() for found in _LISTING.finditer(text)]
    parts = sorted(explain(text, question), key=lambda part: part.start)
    read = [shown(text[part.start : part.end]) for part in parts]
    terms = [frozenset(words.terms(said)) for said in read]
    lifted = 0.0  # what a question that is asked and answered by the page hands on to its answer
    for n, part in enumerate(parts):
        raw, said = text[part.start : part.end], read[n]
        if _QUESTION.search(said):
            lifted = part.score
            continue
        handed, lifted = lifted, 0.0
        if _is_no_statement(raw, said) or any(part.start < end and start < part.end for start, end in listings):
            continue
        before, after = terms[max(0, n - 1)], terms[min(len(terms) - 1, n + 1)]
        own = terms[n] | before if handed else terms[n]
        score = max(part.score, handed) - _loss(raw, said)
        yield Quotable(part.start, said, score, own, terms[n] | before | after)


def shown(raw: str) -> str:
    """A sentence of Markdown as it is read: link texts for links, no list marks, no emphasis, on one line."""
    text = _LINK.sub(lambda m: "" if m[0].startswith("!") else m[1], raw)
    if text.lstrip().startswith("|"):
        text = " · ".join(cell.strip() for cell in text.strip().strip("|").split("|") if cell.strip(" -:"))
    text = _ITEM.sub("", text)
    plain = [piece if piece.startswith("`") else _MARKS.sub("", piece) for piece in _CODE.split(text)]  # marks inside code are code
    return " ".join("".join(plain).split())


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
