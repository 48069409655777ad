"""Claims of a text that cite nothing: each gets a mark behind it. Pure.

A sentence that a source cited in the same paragraph supports is not one of them: a citation at the end of a paragraph
stands for all of it, where that is true.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import pairwise

from cormorant.answer.standing import bare, plain, with_markers
from cormorant.citations import code_spans
from cormorant.passages.sentences import sentences
from cormorant.verify import verify

UNSOURCED_MARK = " [no source]"
CLAIM_MIN_CHARS = 12  # less than that is a label
_ASIDE = re.compile(r"\s*(?:#|\||```|~~~)|.*[:：?？؟]\s*$", re.S)  # headings, rows, lead-ins and questions claim nothing by themselves
_OWN_MARK = re.compile(r"\[(?:not supported by|contradicts) its source\]")
_PARAGRAPH = re.compile(r"\n(?:[ \t]*\n|(?=[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t]))")  # blank lines, and the items of a list
_NUMBER = re.compile(r"<source_(\d+)>")
_STOPS = ".。!！｡।"


def unsourced(text: str, pages: Mapping[int, str]) -> str:
    """The text with `[no source]` behind every claim that has none. `pages` are the texts of the sources by number."""
    code = code_spans(text)
    edges = [0, *(gap.end() for gap in _PARAGRAPH.finditer(text)), len(text)]
    made = []
    for start, end in pairwise(edges):
        fenced = any(a < end and start < b and "\n" in text[a:b] for a, b in code)
        made.append(text[start:end] if fenced else _paragraph(text[start:end], pages))
    return "".join(made)


def _paragraph(text: str, pages: Mapping[int, str]) -> str:
    flat, groups = bare(text)
    spans = sentences(flat)
    owners = {next(((a, b) for a, b in reversed(spans) if a < at), None) for _, at in groups}
    cited = [pages[number] for number in dict.fromkeys(map(int, _NUMBER.findall(text))) if number in pages]
    for start, end in reversed(spans):
        said = plain(_OWN_MARK.sub("", flat[start:end]).strip())
        if (start, end) in owners or len(said) < CLAIM_MIN_CHARS or _ASIDE.match(flat, start, end) or _supported(said, cited):
            continue
        stop = len(flat[start:end].rstrip(_STOPS))
        behind = with_markers(start + stop, groups)
        text = text[:behind] + UNSOURCED_MARK + text[behind:]
    return text


def _supported(claim: str, cited: list[str]) -> bool:
    return any(verdict.verdict in ("exact", "close") for verdict in verify([(claim, n) for n in range(len(cited))], cited))
