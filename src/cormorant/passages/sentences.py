"""Where sentences end, in every script and without a language model. Pure.

Full stops of short forms and of initials end nothing; text in lower case is split all the same. Rows of a table and
stretches of code count as sentences, so that nothing of them is cut in two.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from cormorant.blocks import Block, blocks, grapheme_border

LINE_IS_PARAGRAPH_CHARS = 200  # a line that long stands for itself, also where no blank line follows
SENTENCE_MAX_CHARS = 600  # a longer one is cut at a clause or a space: it would eat a small budget alone
_IDEOGRAPH = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
UNPUNCTUATED_MAX_CHARS = 160  # the same for scripts that end clauses with a space and sentences with nothing

_STOP = re.compile(
    r"(?:[.!?…؟։]|[。！？｡।॥။።])[\"'”’»」』）)\]*_]*(?:\s+|(?<=[。！？｡।॥။።」』）])|$)"  # the first need a space behind, the others none
)
_SHORT_FORM = re.compile(r"(?:^|[\s(\[])((?:[^\W\d_]\.)*[^\W\d_]{1,6})$")
_SHORT_FORM_LIST = (
    "al approx art assn ave bros ca capt cf ch chap co col corp dept dr ed eds eq eqs est etc ext fig figs gen gov hon inc jr "
    "eg ie lt ltd maj messrs mr mrs ms mt no nos nr op p pp para pl prof ref refs rep rev sec sen sgt sr st tab trans univ vol vols "
    "vs z.b bzw usw d.h ggf str "
)
_SHORT_FORMS = frozenset(_SHORT_FORM_LIST.split())
_CLAUSE = re.compile(r"[;:,—–]\s+|[，、；：]\s*|\s+")
_WRAPPED_CHARS = range(45, 110)  # lines of a text that was wrapped by hand
_OPEN_END = re.compile(r"[\w,;`)\]\"'’*_-][ \t]?$")  # two spaces at the end of a line are a break that was meant
_GOES_ON = re.compile(r"[ \t]{0,3}[a-zß-öø-ÿа-яё(`]")
_UNPUNCTUATED = re.compile(r"[\u0e00-\u0eff\u1780-\u17ff]")  # Thai, Lao, Khmer: a space ends a clause, nothing ends a sentence


def sentences(text: str) -> list[tuple[int, int]]:
    """Character spans of the sentences, in order; blank stretches between them belong to none.

    A row of a table and a stretch of code count as sentences too, so that nothing of them is cut in two.
    """
    return [span for spans in by_block(text) for span in spans]


def by_block(text: str) -> Iterator[list[tuple[int, int]]]:
    """The sentences of each block, or of each long line of one: what stands together."""
    for block in blocks(text):
        if block.kind in ("fence", "code", "table"):
            yield _rows(text, block)
            continue
        if block.kind == "heading":  # the full stop of its number ends nothing
            heading: list[tuple[int, int]] = []
            _add(text, block.start, block.end, heading)
            yield heading
            continue
        lines = text[block.start : block.end].split("\n")
        wrapped = block.kind in ("paragraph", "quote") and _is_wrapped(lines)
        spans: list[tuple[int, int]] = []
        at = block.start
        for line in [text[block.start : block.end]] if wrapped else _whole(lines):
            if spans and (len(line) > LINE_IS_PARAGRAPH_CHARS or spans[-1][1] - spans[0][0] > 3 * LINE_IS_PARAGRAPH_CHARS):
                yield spans
                spans = []
            _prose(text, at, at + len(line), spans)
            at += len(line) + 1
        yield spans


def _is_wrapped(lines: Sequence[str]) -> bool:
    """Whether the line ends inside a paragraph are only where the typist's margin was."""
    full = [len(line) for line in lines if line.strip()][:-1]
    return len(full) >= 2 and all(length in _WRAPPED_CHARS for length in full)


def _whole(lines: Sequence[str]) -> Iterator[str]:
    """The lines, those that a typist's margin cut in the middle of a sentence joined again."""
    whole, *rest = lines
    for line in rest:
        if _goes_on(whole, line):
            whole = f"{whole}\n{line}"
        else:
            yield whole
            whole = line
    yield whole


def _goes_on(line: str, following: str) -> bool:
    """Whether a line was cut inside a sentence: long, without an end, and the next one begins as no sentence does."""
    last = line.rpartition("\n")[2]
    return len(last) >= _WRAPPED_CHARS.start and bool(_OPEN_END.search(last)) and bool(_GOES_ON.match(following))


def _rows(text: str, block: Block) -> list[tuple[int, int]]:
    """The rows of a table, or code in stretches of lines."""
    spans: list[tuple[int, int]] = []
    at = block.head if block.kind == "table" else block.start
    for line in text[at : block.end].removesuffix("\n").split("\n"):
        joins = block.kind != "table" and spans and at + len(line) - spans[-1][0] <= SENTENCE_MAX_CHARS
        if joins:
            spans[-1] = (spans[-1][0], at + len(line))
        elif line.strip():
            spans.append((at, at + len(line)))
        at += len(line) + 1
    return spans or [(block.start, block.end)]


def _prose(text: str, start: int, end: int, spans: list[tuple[int, int]]) -> None:
    first = start
    for mark in _STOP.finditer(text, start, end):
        at = mark.end()
        if text[mark.start()] == "." and at < end and _abbreviates(text, first, mark.start(), at):
            continue
        _add(text, first, at, spans)
        first = at
    _add(text, first, end, spans)


def _abbreviates(text: str, start: int, at: int, after: int) -> bool:
    """Whether the full stop at `at` belongs to a short form: an initial, `Fig.`, `e.g.`; `after` is where it goes on."""
    found = _SHORT_FORM.search(text, max(start - 1, at - 12, 0), at)
    if not found:
        return False
    form = found[1]
    if "." in form or form.lower() in _SHORT_FORMS:
        return True
    return len(form) == 1 and (form.isupper() or text[after].islower())


def _add(text: str, start: int, end: int, spans: list[tuple[int, int]]) -> None:
    while end > start and text[end - 1].isspace():
        end -= 1
    while start < end and text[start].isspace():
        start += 1
    most = SENTENCE_MAX_CHARS
    if end - start > UNPUNCTUATED_MAX_CHARS and _UNPUNCTUATED.search(text, start, start + 40):
        most = UNPUNCTUATED_MAX_CHARS
    while end - start > most:
        cut = _clause_end(text, start, end, most)
        spans.append((start, start + len(text[start:cut].rstrip())))
        start = cut
    if end > start:
        spans.append((start, end))


def _clause_end(text: str, start: int, end: int, most: int) -> int:
    """Where a sentence of more than `most` characters is cut: after a clause or a word, never inside one.

    Ideographs are words of their own; a run of letters longer than that stays whole.
    """
    cut = 0
    for mark in _CLAUSE.finditer(text, start + most // 2, start + most):
        cut = mark.end()
    if cut:
        return cut
    if _IDEOGRAPH.match(text, start + most):
        return max(start + 1, grapheme_border(text, start + most))
    later = _CLAUSE.search(text, start + most, end)
    return later.end() if later else end
