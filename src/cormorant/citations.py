"""Citation markers: read them from a stream, check them against the sources, put links in their place. Pure.

A writer cites with `<source_N>`. Models also write `[1, 2]`, `【1】`, `[1-3]` or `<source_1, source_2>`; `Markers` turns what
it recognises into `<source_N>` while the text streams, takes out numbers no source has and addresses no source gave, and
never touches code. `linked` replaces the markers at the very end.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Literal
from urllib.parse import quote as quote_url

from cormorant.address import parse
from cormorant.errors import InvalidArguments

Spelling = Literal["tags", "any"]
Style = Literal["web_citation", "footnote", "link", "plain", "none"]

MOST_IN_ONE = 64  # numbers in one marker; `[1-9999]` is no citation
HELD_MAX_CHARS = 2_048  # a tail that long is no marker and no address any more
CODE_HELD_CHARS = 400  # an opening backtick waits this long for its partner

_NUMBER = r"\d{1,4}"
_ITEM = rf"(?:sources?[\s_:#-]*)?{_NUMBER}"
_LIST = rf"{_ITEM}(?:[ \t]*(?:[,;、，،؛；&|/]|and|[-–—~]|[ \t])[ \t]*{_ITEM})*"
_NAMED = rf"sources?[\s_:#-]*{_LIST}"
_TAG = rf"\\?<\s*/?\s*{_NAMED}\s*/?\s*>|&lt;\s*{_NAMED}\s*&gt;|[\[(【〔［（]\s*{_NAMED}\s*[\])】〕］）]"
_LENTICULAR = rf"[【〔［]\s*{_LIST}(?:\s*:\s*\d+)?(?:\s*†[^】〕］\n]{{0,80}})?\s*[】〕］]"
_BRACKET = rf"\[\^?{_LIST}\](?!\()"
_CLOSING = r"<\s*/\s*sources?[\s_:#-]*\d*\s*>"
_FOREIGN = r"\\?</?web_citation\b[^<>]*>"
_URL = r"https?://[^\s<>\"'`\[\]{}|\\^（）「」『』，。、；]+"
_MD_LINK = rf"!?\[(?P<label>[^\[\]\n]{{0,300}})\]\((?P<href>\s*<?{_URL.replace('+', '*?')}>?(?:\s+\"[^\"\n]*\")?\s*)\)"

_TAGS = re.compile(rf"(?P<closing>{_CLOSING})|(?P<foreign>{_FOREIGN})|(?P<link>{_MD_LINK})|(?P<mark>{_TAG})|(?P<url>{_URL})", re.I)
_ANY = re.compile(
    rf"(?P<closing>{_CLOSING})|(?P<foreign>{_FOREIGN})|(?P<link>{_MD_LINK})|(?P<mark>{_TAG}|{_LENTICULAR}|{_BRACKET})|(?P<url>{_URL})", re.I
)
_RANGE = re.compile(rf"({_NUMBER})(?:\s*[-–—~]\s*(?:sources?[\s_:#-]*)?({_NUMBER}))?")
_TAGGED = re.compile(r"<web_citation [^<>]*>\[(\d+)\]</web_citation>")
MARKER = re.compile(r"<source_(\d+)>")
# A tail that can still become something: an open tag, an open bracket, an address, spaces before one of them.
_OPEN_TAIL = re.compile(
    r"[ \t]*(?:"
    r"\\|\\?<(?:\s*/?\s*(?:s(?:o(?:u(?:r(?:c(?:e[^<>\n]{0,200})?)?)?)?)?)?|/?w(?:e(?:b[^<>\n]{0,2000})?)?)"
    r"|&(?:l(?:t(?:;[^<>&\n]{0,200}(?:&(?:g(?:t)?)?)?)?)?)?"
    r"|!|!?[\[(【〔［（][^\[\]()【】〔〕［］（）\n]{0,300}"
    r"|!?\[[^\[\]\n]{0,300}\](?:\(\S{0,2000}(?:\s+\"[^\"\n]{0,200}\"?)?)?"
    r"|h(?:t(?:t(?:p(?:s)?(?::(?:/(?:/[^\s<>\"'`\[\]{}|\\^]*)?)?)?)?)?)?"
    r"|~+"
    r")$|[ \t]+$",
    re.I,
)
_UNCLOSED = re.compile(r"[ \t]*\\?<\s*/?\s*(?:sources?[\s_:#-]*[\d,\s]*|web_citation\b[^<>]*)$", re.I)
SHOWN_CHARS = 8  # of a line: enough to tell whether a fence may still open in it
_RUN = re.compile(r" {0,3}(?:`{3,}|~{3,})")
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})[^\n]*$", re.M)
_TICKS = re.compile(r"`+")
_CODE_MARK = re.compile(r"`+|~{3,}")
_BLOCK_END = re.compile(r"\n[ \t]*\n|\n {0,3}(?:```|~~~)")


@dataclass(frozen=True)
class Source:
    """What may be cited under a number: a page that was read, or a snippet that stands in for one (`read` is False).

    `text` is what fits the writer's budget of it, `page` the whole, where that is known.
    """

    number: int
    url: str
    title: str = ""
    text: str = ""
    read: bool = True
    score: float = 0.0  # how well it was ranked, 0..1
    published: str = ""
    page: str = ""


def canonical(url: str) -> str:
    """The address as an identity: no fragment, normal host. Something that is no http address stays itself without one."""
    try:
        return parse(url.strip()).without_fragment
    except InvalidArguments:
        return url.strip().split("#")[0]


def one_each(sources: Iterable[Source]) -> tuple[tuple[Source, ...], dict[int, int]]:
    """The sources with one entry per page, numbered from 1, and the old numbers as new ones."""
    kept: dict[str, Source] = {}
    renumbered: dict[int, int] = {}
    for source in sources:
        page = kept.setdefault(canonical(source.url), replace(source, number=len(kept) + 1))
        renumbered[source.number] = page.number
    return tuple(kept.values()), renumbered


def numbers_in(marker: str) -> list[int]:
    """Every number a marker names, ranges spelled out, in order, once each: `[1, 3-5]` is 1, 3, 4, 5."""
    found: dict[int, None] = {}
    for low, high in _RANGE.findall(re.sub(r":\s*\d+|†.*", "", marker)):
        first, last = int(low), int(high or low)
        if 0 <= last - first < MOST_IN_ONE:
            found.update(dict.fromkeys(range(first, last + 1)))
        else:
            found.update({first: None, last: None})
    return list(found)[:MOST_IN_ONE]


class Markers:
    """Text pieces in, clean text out: only `<source_N>` markers that have a source, and only whole ones in a piece.

    `spelling` "tags" leaves plain brackets alone; "any" reads `[1]` and its kin as markers too. `warnings` collects what was
    taken out: `unknown_source`, `unknown_url`.
    """

    def __init__(
        self,
        sources: Sequence[Source],
        *,
        spelling: Spelling = "tags",
        renumber: Mapping[int, int] | None = None,
    ) -> None:
        self._known = {s.number: s.number for s in sources} if renumber is None else dict(renumber)
        self._addresses = {canonical(s.url) for s in sources}
        self._texts = [s.page or s.text for s in sources]
        self._pattern = _ANY if spelling == "any" else _TAGS
        self._top = max(self._known, default=0)
        self._buffer = ""
        self._fence = ""
        self._line_start = True
        self._sent = ""  # the last character that was taken: what stands before the buffer
        self._shown = ""  # how the line that is being sent begins
        self.warnings: list[str] = []

    def feed(self, piece: str) -> str:
        """What can be sent now that `piece` has arrived."""
        self._buffer += piece
        return self._take(final=False)

    def flush(self) -> str:
        """The rest; a marker that never closed is dropped."""
        return self._take(final=True)

    def _take(self, *, final: bool) -> str:
        out: list[str] = []
        while self._buffer:
            step = self._code(final=final) if self._fence else self._prose(final=final)
            if step is None:
                break
            out.append(step)
            self._shown = (self._shown + step).rpartition("\n")[2][:SHOWN_CHARS]
        return "".join(out)

    def _emit(self, count: int) -> str:
        text, self._buffer = self._buffer[:count], self._buffer[count:]
        if text:
            self._line_start = text.endswith("\n")
            self._sent = text[-1]
        return text

    def _code(self, *, final: bool) -> str | None:
        """Inside a fence: whole lines pass as they are until one closes it."""
        end = self._buffer.find("\n")
        if end < 0 and not final:
            closing = self._buffer.strip()
            return None if self._line_start and set(closing) <= {self._fence[0]} else self._emit(len(self._buffer))
        line = self._buffer[: end + 1] if end >= 0 else self._buffer
        body = line.strip()
        if self._line_start and body and set(body) == {self._fence[0]} and len(body) >= len(self._fence):
            self._fence = ""
        return self._emit(len(line))

    def _prose(self, *, final: bool) -> str | None:
        """Up to the next code, or as far as nothing can change any more. None: wait for more."""
        code = self._next_code(final=final)
        if code is not None and code[0] == 0:
            start, end, kind = code
            if kind == "wait":
                return None
            if kind == "fence":
                self._fence = self._buffer[start:end].strip()[: _run(self._buffer[start:end].strip())]
            return self._emit(end)
        stop = code[0] if code is not None else len(self._buffer)
        text = self._buffer[:stop]
        if (code is None or code[2] == "wait") and not final:
            stop = self._settled(text)
            if stop == 0:
                return None
        following, sent = self._buffer[stop:], self._sent
        cleaned = self._cleaned(self._emit(stop), sent, following)
        return _UNCLOSED.sub("", cleaned) if final and not following else cleaned

    def _settled(self, text: str) -> int:
        """How much can be sent: all but a tail that may still become a marker, a link or an address.

        A marker that will be taken out waits for the next character, which decides about the space in front of it.
        """
        tail = _OPEN_TAIL.search(text, max(0, len(text) - HELD_MAX_CHARS))
        stop = tail.start() if tail else len(text)
        last = max(self._pattern.finditer(text), key=re.Match.start, default=None)
        if last is not None and last.end() >= stop and not self._replacement(last, self._sent + text[: last.start()]):
            stop = min(stop, len(text[: last.start()].rstrip(" \t")))
        return stop

    def _next_code(self, *, final: bool) -> tuple[int, int, str] | None:
        """Where the next fence line or code span begins and ends; kind `wait` when that cannot be told yet."""
        text = self._buffer
        for run in _CODE_MARK.finditer(text):
            line_at = text.rfind("\n", 0, run.start()) + 1
            indent = text[line_at : run.start()]
            opens_line = (line_at > 0 or self._line_start) and len(indent) <= 3 and not indent.strip(" ")
            if run.end() == len(text) and not final:
                return line_at if opens_line else run.start(), run.end(), "wait"
            if opens_line and len(run[0]) >= 3:
                end = text.find("\n", run.end())
                if end < 0 and not final:
                    return line_at, len(text), "wait"
                end = end + 1 if end >= 0 else len(text)
                if run[0][0] == "~" or "`" not in text[run.end() : end]:
                    return line_at, end, "fence"
            if run[0][0] == "`" and (span := self._span(run, final=final)) is not None:
                return span
        return None

    def _span(self, run: re.Match[str], *, final: bool) -> tuple[int, int, str] | None:
        """The code span that a run of backticks opens, if its partner comes before the paragraph ends."""
        text, limit = self._buffer, run.end() + CODE_HELD_CHARS
        over = _BLOCK_END.search(text, run.end(), limit)
        stop = over.start() if over else limit
        for close in _TICKS.finditer(text, run.end()):
            if close.end() == len(text) and not final and close.start() < stop:
                return run.start(), run.end(), "wait"
            if close.start() < stop and len(close[0]) == len(run[0]):
                return run.start(), close.end(), "span"
        return None if over or final or len(text) > limit else (run.start(), run.end(), "wait")

    def _cleaned(self, text: str, sent: str, following: str) -> str:
        out: list[str] = []
        at = 0
        for match in self._pattern.finditer(text):
            put = self._replacement(match, sent + text[: match.start()])
            lead = text[at : match.start()]
            gone = not put or put[0] in ".,;:!?)"
            after = text[match.end() :] + following
            out.append(lead.rstrip(" \t") if gone and _closes(put + after) else lead)
            if not put and _RUN.match(after) and _begins_line(self._shown + "".join(out)):
                put = "\\"  # what stood behind a marker must not become a fence because the marker goes
            out.append(put)
            at = match.end()
        out.append(text[at:])
        return "".join(out)

    def _replacement(self, match: re.Match[str], before: str) -> str:
        if match["closing"] or match["foreign"]:
            return ""
        if match["link"]:
            return self._link(match)
        if match["url"]:
            return self._address(match["url"])
        return self._mark(match["mark"], before)

    def _mark(self, marker: str, before: str) -> str:
        named = numbers_in(marker)
        known = [self._known[n] for n in named if n in self._known]
        plain = marker[0] == "[" and "source" not in marker.lower()
        if plain and not known and (any(n == 0 or n > max(99, self._top * 3) for n in named) or re.search(r"[\w)\]]$", before)):
            return marker  # `a[0]`, `[1984]`: a subscript or a year, never a marker of ours
        if len(known) < len(named):
            self._warn("unknown_source")
        return "".join(f"<source_{n}>" for n in dict.fromkeys(known))

    def _link(self, match: re.Match[str]) -> str:
        href = match["href"].strip().split()[0].strip("<>")
        label = match["label"]
        if self._is_known(href):
            number = label.strip().lstrip("^")
            return match["link"] if not (number.isdigit() and int(number) in self._known) else f"<source_{self._known[int(number)]}>"
        self._warn("unknown_url")
        return "" if re.fullmatch(r"\s*(?:\^?\d+|https?://\S+)\s*", label) else label

    def _address(self, url: str) -> str:
        bare = _without_stop(url)
        if self._is_known(bare):
            return url
        self._warn("unknown_url")
        return url[len(bare) :]

    def _is_known(self, url: str) -> bool:
        return canonical(url) in self._addresses or any(url in text for text in self._texts)

    def _warn(self, name: str) -> None:
        if name not in self.warnings:
            self.warnings.append(name)


def _run(fence: str) -> int:
    return len(fence) - len(fence.lstrip(fence[0]))


def _begins_line(before: str) -> bool:
    line = before.rpartition("\n")[2]
    return len(line) <= 3 and not line.strip(" ")


def _closes(rest: str) -> bool:
    return not rest or rest[0] in ".,;:!?)]}\n。，、；：！？）" or rest[0].isspace()


def _without_stop(url: str) -> str:
    """An address as it stands in a sentence: the full stop and a bracket it did not open are not part of it."""
    while url and (url[-1] in ".,;:!?*_~…" or (url[-1] == ")" and url.count(")") > url.count("("))):
        url = url[:-1]
    return url


def prose_parts(text: str) -> list[tuple[bool, str]]:
    """The text in order as (is it prose?, part); fenced code and code spans are the parts that are not."""
    parts: list[tuple[bool, str]] = []
    at = 0
    for start, end in code_spans(text):
        parts += [(True, text[at:start]), (False, text[start:end])]
        at = end
    return [part for part in [*parts, (True, text[at:])] if part[1]]


def code_spans(text: str) -> list[tuple[int, int]]:
    """Where code stands in Markdown: fenced blocks and code spans."""
    spans: list[tuple[int, int]] = []
    at = 0
    for opening in _FENCE.finditer(text):
        if opening.start() < at:
            continue
        spans += _inline_code(text, at, opening.start())
        closing = re.compile(rf"^ {{0,3}}{re.escape(opening[1])}+[ \t]*$", re.M).search(text, opening.end())
        at = closing.end() if closing else len(text)
        spans.append((opening.start(), at))
    return spans + _inline_code(text, at, len(text))


def _inline_code(text: str, start: int, end: int) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    runs = list(_TICKS.finditer(text, start, end))
    n = 0
    while n < len(runs):
        partner = next((k for k in range(n + 1, len(runs)) if len(runs[k][0]) == len(runs[n][0])), None)
        if partner is not None and "\n\n" not in text[runs[n].end() : runs[partner].start()]:
            spans.append((runs[n].start(), runs[partner].end()))
            n = partner
        n += 1
    return spans


def cited(text: str) -> list[int]:
    """The numbers of the markers in a cleaned text, outside code, sorted, once each."""
    return sorted({int(n) for is_prose, part in prose_parts(text) if is_prose for n in MARKER.findall(part)})


def without_markers(text: str) -> str:
    """The text as a person would say it: no markers, no space in front of where they stood."""
    return re.sub(r"[ \t]*(?:<source_\d+>)+", "", text)


def linked(text: str, sources: Sequence[Source], style: Style = "web_citation") -> str:
    """The text with every marker replaced in the given style; a marker without a source goes."""
    by_number = {source.number: source for source in sources}
    put: Callable[[Source], str] = _STYLES[style]

    def swap(match: re.Match[str]) -> str:
        source = by_number.get(int(match[1]))
        return put(source) if source else ""

    pattern = re.compile(r"[ \t]*<source_(\d+)>") if style == "none" else MARKER
    body = "".join(pattern.sub(swap, part) if is_prose else part for is_prose, part in prose_parts(text))
    if style != "footnote":
        return body
    notes = [f"[^{n}]: [{_md(by_number[n].title or by_number[n].url)}](<{_href(by_number[n].url)}>)" for n in cited(text) if n in by_number]
    return body.rstrip() + "\n\n" + "\n".join(notes) if notes else body


def unlinked(text: str) -> str:
    """A response in the `web_citation` style with markers again, to be shown in another one."""
    return _TAGGED.sub(r"<source_\1>", text)


def _tag(source: Source) -> str:
    return f'<web_citation url="{_attribute(source.url)}" title="{_attribute(source.title)}">[{source.number}]</web_citation>'


def _attribute(value: str) -> str:
    return escape(" ".join(value.split()), quote=True)


def _md(text: str) -> str:
    return re.sub(r"([\\\[\]`*_<>])", r"\\\1", " ".join(text.split()))


def _href(url: str) -> str:
    return url.replace("<", "%3C").replace(">", "%3E").replace("\n", "").replace(" ", "%20")


_STYLES: dict[str, Callable[[Source], str]] = {
    "web_citation": _tag,
    "footnote": lambda source: f"[^{source.number}]",
    "link": lambda source: f"[\\[{source.number}\\]](<{_href(source.url)}>)",
    "plain": lambda source: f"[{source.number}]",
    "none": lambda source: "",
}


@dataclass(frozen=True)
class Settled:
    """A cited text that somebody else wrote, with its markers checked against its sources."""

    text: str
    response: str
    sources: tuple[Source, ...]
    used: tuple[int, ...]
    warnings: tuple[str, ...]


def settle(text: str, sources: Sequence[Source], *, keep: int, spelling: Spelling = "any", style: Style = "web_citation") -> Settled:
    """A provider's answer with its list of citations: one source per page, the first `keep` and every cited one stay."""
    pages, renumbered = one_each(sources)
    markers = Markers(pages, spelling=spelling, renumber=renumbered)
    clean = markers.feed(text) + markers.flush()
    used = cited(clean)
    kept = tuple(page for n, page in enumerate(pages) if n < keep or page.number in used)
    return Settled(clean, linked(clean, kept, style), kept, tuple(used), tuple(markers.warnings))


def fragment_link(url: str, quote: str) -> str:
    """The address with a text fragment, so that a browser opens the page at the quote (`#:~:text=`).

    A long quote is named by its first and last words; a row of a table by its last cell behind the one before it, since a match
    ends at an element that is a block. Something that is no web page is returned as it is.
    """
    if not url.lower().startswith(("http://", "https://")):
        return url
    cells = [shown for cell in _LEAD.sub("", quote).split("|") if (shown := _as_shown(cell))] if quote.lstrip().startswith("|") else []
    if len(cells) > 1:
        before, last = (_ends(cell) for cell in cells[-2:])
        text = f"{_encoded(before[-1])}-,{','.join(map(_encoded, last))}"
    else:
        parts = [shown for line in _LEAD.sub("", quote).split("\n") if (shown := _as_shown(line))]
        ends = [_ends(parts[0])[0], _ends(parts[-1])[-1]] if len(parts) > 1 else _ends("".join(parts))
        text = ",".join(map(_encoded, ends))
    return f"{url.split('#')[0]}#:~:text={text}" if text else url


_LEAD = re.compile(r"^[ \t]*(?:[-*+>]|\d{1,3}[.)]|#{1,6})[ \t]+", re.M)  # marks that a browser shows in its own way, or not at all
_SHOWN_AS = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*(?:\s+\"[^\"\n]*\")?\)")


def _as_shown(text: str) -> str:
    return " ".join(re.sub(r"[*_`#>|\[\]]", " ", _SHOWN_AS.sub(r"\1", text)).split())


def _ends(text: str) -> list[str]:
    """The text, or the words it begins and ends with when it is long."""
    words = text.split()
    if len(words) < 4 and len(text) > 80:  # a script without spaces
        return [text[:20], text[-20:]]
    return [text] * bool(text) if len(words) <= 12 else [" ".join(words[:5]), " ".join(words[-5:])]


def _encoded(text: str) -> str:
    """Percent-encoded as the fragment directive wants it: the marks of its own syntax too (-, comma, &)."""
    return quote_url(text, safe="").replace("-", "%2D")
