"""A run of inline text to one paragraph of Markdown: whitespace, marks, escapes. Pure.

While a page is walked, the marks we write ourselves (emphasis, links, breaks, code) stand in the text as Unicode
noncharacters, which no page may use for text. So every `*` or `[` left in a run came from the page, and the whole
paragraph is in sight when it is decided which of them a Markdown reader would take for a mark. Nothing else is escaped:
`snake_case`, `[note]` and `2 * 3` stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

STRONG, STRONG_END = "\ufdd0", "\ufdd1"
EM, EM_END = "\ufdd2", "\ufdd3"
STRIKE, STRIKE_END = "\ufdd4", "\ufdd5"
LINK, LINK_END, LINK_CLOSE = "\ufdd6", "\ufdd7", "\ufdd8"  # LINK text LINK_END number LINK_CLOSE
KEPT, KEPT_END = "\ufdd9", "\ufdda"  # a number between them: text that is final already (code, images, formulas)
BREAK = "\ufddb"
RESERVED = re.compile("[\ufdd0-\ufdef]")

_SPACES = "\t\n\r\f\u00a0\u2007\u202f"
_BREAKS = re.compile(f" ?(?:{BREAK} ?)+")
_OPENERS = f"{STRONG}{EM}{STRIKE}{LINK}"
_CLOSERS = f"{STRONG_END}{EM_END}{STRIKE_END}"
_PAIRS = ((STRONG, STRONG_END, "**"), (EM, EM_END, "*"), (STRIKE, STRIKE_END, "~~"))
_ENDS = {start: end for start, end, _ in _PAIRS}
_STARTS = {end: start for start, end, _ in _PAIRS}
_EMPHASIS = re.compile(f"[{STRONG}{EM}{STRIKE}{_CLOSERS}]")
_MARKS = re.compile(f"[{_OPENERS}{_CLOSERS}]")
_LEADING = re.compile(f"([{_OPENERS}])([ {BREAK}]+)")
_TRAILING = re.compile(f"([ {BREAK}]+)([{_CLOSERS}]|{LINK_END}\\d+{LINK_CLOSE})")
_LINKS = re.compile(f"{LINK}([^{LINK}{LINK_END}]*){LINK_END}(\\d+){LINK_CLOSE}")
_KEPT = re.compile(f"{KEPT}(\\d+){KEPT_END}")
_NO_TEXT = re.compile(f"[\\s{_OPENERS}{_CLOSERS}{BREAK}]*")

_STOPS = ".,:;!?…。，：；！？、"
_INLINE_SPECIAL = re.compile(r"[\\`*_<&~\[\]!]")
_BACKSLASH = re.compile(r"\\(?=[!-/:-@\[-`{-~])")
_TAG_LIKE = re.compile(r"<(?=[A-Za-z/!?])")
_ENTITY = re.compile(r"&(?=#?[A-Za-z0-9]{1,32};)")
_LINK_LIKE = re.compile(r"\](?=\()")
_BANG = re.compile(f"!(?={LINK})")
_LINE_START = re.compile(
    r"#{1,6}(?= |$)|[-+*](?= |$)|(\d{1,9})[.)](?= |$)|>|(?:=+|-{2,}) *$|(?:[*_-] ?){3,}$|`{3,}|~{3,}|\[(?=\^?[^\]]+\]:)"
)


@dataclass(slots=True)
class Store:
    """What the numbers in a run stand for: addresses of links, and pieces of finished text."""

    hrefs: list[str] = field(default_factory=list)
    kept: list[tuple[str, str]] = field(default_factory=list)  # in Markdown, in plain text

    def keep(self, markdown: str, plain: str) -> str:
        self.kept.append((markdown, plain))
        return f"{KEPT}{len(self.kept) - 1}{KEPT_END}"

    def link(self, href: str) -> str:
        """The closing mark of a link to `href`."""
        self.hrefs.append(href)
        return f"{LINK_END}{len(self.hrefs) - 1}{LINK_CLOSE}"


def paragraphs(run: str, store: Store, *, plain: bool = False) -> list[str]:
    """The paragraphs of a run: two breaks in a row part them, a single one is a hard break (two spaces)."""
    text = _squeezed(run)
    if not text:
        return []
    found = []
    for part in _parted(text):
        lines = [_line(line, store, plain=plain, at_start=True) for line in part]
        if kept := [line for line in lines if line]:
            found.append(("\n" if plain else "  \n").join(kept))
    return found


def one_line(run: str, store: Store, *, plain: bool = False, strong: bool = True) -> str:
    """A run where no line may break: a heading or a label. Its own emphasis on the whole says nothing there."""
    text = _squeezed(run).replace(BREAK, " ")
    if not strong:
        text = text.replace(STRONG, "").replace(STRONG_END, "")
    return _line(text, store, plain=plain, at_start=False)


def is_hollow(run: str) -> bool:
    """Nothing but space and marks."""
    return _NO_TEXT.fullmatch(run) is not None


def _squeezed(run: str) -> str:
    text = run
    for space in _SPACES:
        if space in text:
            text = text.replace(space, " ")
    while "  " in text:  # ten times quicker than a pattern, which stops at every space
        text = text.replace("  ", " ")
    if _MARKS.search(text):
        text = _without_hollow_marks(text)
    return text.strip(f" {BREAK}")


def _without_hollow_marks(text: str) -> str:
    """Space moves out of marks (`** x**` is no emphasis), marks around nothing and marks that touch a twin go."""
    for _ in range(4):  # marks nest a few deep at most; what is left then stays as it is and reads as text
        before = text
        text = _LEADING.sub(r"\2\1", text)
        text = _TRAILING.sub(r"\2\1", text)
        for start, end, _mark in _PAIRS:
            text = text.replace(start + end, "").replace(end + start, "")
        if text == before:
            break
    return re.sub(" {2,}", " ", text)


def _parted(text: str) -> list[list[str]]:
    """Paragraphs of lines."""
    if BREAK not in text:
        return [[text]]
    if LINK in text:
        text = _LINKS.sub(lambda m: m[0].replace(BREAK, " "), text)
    parts: list[list[str]] = [[]]
    position = 0
    for found in _BREAKS.finditer(text):
        parts[-1].append(text[position : found.start()])
        if found[0].count(BREAK) > 1:
            parts.append([])
        position = found.end()
    parts[-1].append(text[position:])
    return _rebalanced(parts) if _MARKS.search(text) else parts


def _rebalanced(parts: list[list[str]]) -> list[list[str]]:
    """Emphasis that goes on over a break is closed before it and opened again after."""
    open_now: list[str] = []
    for part in parts:
        for number, line in enumerate(part):
            begun = "".join(open_now)
            for mark in _EMPHASIS.findall(line):
                if mark in _ENDS:
                    open_now.append(mark)
                elif _STARTS[mark] in open_now:
                    open_now.remove(_STARTS[mark])
            part[number] = begun + line + "".join(_ENDS[mark] for mark in reversed(open_now))
    return parts


def _line(text: str, store: Store, *, plain: bool, at_start: bool) -> str:
    text = text.strip(" ")
    if plain:
        text = _KEPT.sub(lambda m: store.kept[int(m[1])][1], _LINKS.sub(r"\1", text))
        return RESERVED.sub("", text).strip()
    if _INLINE_SPECIAL.search(text):
        text = _escaped(text)
    if at_start and (found := _LINE_START.match(text)):
        text = _start_escaped(text, found)
    if LINK in text:
        text = _LINKS.sub(lambda m: _link(m[1], store.hrefs[int(m[2])]), text)
    if _MARKS.search(text):
        text = _marked(text)
    if KEPT in text:
        text = _KEPT.sub(lambda m: store.kept[int(m[1])][0], text)
    return RESERVED.sub("", text).strip()


def _escaped(text: str) -> str:
    if "\\" in text:
        text = _BACKSLASH.sub(r"\\\\", text)
    if "<" in text:
        text = _TAG_LIKE.sub(r"\\<", text)
    if "&" in text:
        text = _ENTITY.sub(r"\\&", text)
    if "]" in text:
        text = _LINK_LIKE.sub(r"\\]", text)
        if LINK in text:
            text = _LINKS.sub(lambda m: f"{LINK}{_balanced(m[1])}{LINK_END}{m[2]}{LINK_CLOSE}", text)
    elif "[" in text and LINK in text:
        text = _LINKS.sub(lambda m: f"{LINK}{_balanced(m[1])}{LINK_END}{m[2]}{LINK_CLOSE}", text)
    if "!" in text:
        text = _BANG.sub(r"\\!", text)
    if "`" in text and (text.count("`") > 1 or KEPT in text):
        text = text.replace("`", "\\`")
    for mark in "*_~":
        if mark in text:
            text = _escaped_runs(text, mark)
    return text


def _balanced(text: str) -> str:
    """Link text whose own brackets would end it early, escaped."""
    depth = 0
    for char in text.replace("\\[", "").replace("\\]", ""):
        depth += (char == "[") - (char == "]")
        if depth < 0:
            break
    return text if depth == 0 else re.sub(r"(?<!\\)([\[\]])", r"\\\1", text)


def _escaped_runs(text: str, mark: str) -> str:
    """Runs of `*`, `_` or `~` escaped, but only where one could open and a later one close (CommonMark 6.2)."""
    opened = mark == "*" and (STRONG in text or EM in text)
    risky = []
    could_open = opened
    closes = False
    for found in re.finditer(re.escape(mark) + "+", text):
        before = text[found.start() - 1] if found.start() else " "
        after = text[found.end()] if found.end() < len(text) else " "
        left, right = not after.isspace() and after != BREAK, not before.isspace() and before != BREAK
        inside_word = before.isalnum() and after.isalnum()
        if (mark == "_" and inside_word) or not (left or right):
            continue
        if mark == "_" and left and right:  # one side is a word, the other punctuation
            left, right = not before.isalnum(), not after.isalnum()
        risky.append(found.span())
        closes = closes or (right and could_open)
        could_open = could_open or left
    if not risky or not (closes or opened):
        return text
    out, position = [], 0
    for start, end in risky:
        out += [text[position:start], ("\\" + mark) * (end - start)]
        position = end
    return "".join(out) + text[position:]


def _start_escaped(text: str, found: re.Match[str]) -> str:
    if found[1]:  # `1.` would begin a list
        return f"{found[1]}\\{text[found.end(1) :]}"
    return "\\" + text


def _link(text: str, href: str) -> str:
    """`[text](href)`; text alone where there is nothing to click or nowhere to go."""
    if not href or _NO_TEXT.fullmatch(text):
        return text
    bare = RESERVED.sub("", text).strip()
    lead = " " if text[:1] == " " else ""
    return f"{lead}[{text.strip()}]({href})" if bare else text


def _marked(text: str) -> str:
    """Our marks as `**`, `*`, `~~`; left out where a reader would not take them for marks."""
    for start, end, mark in _PAIRS:
        if start in text:
            text = re.sub(f"{start}([^{start}{end}]*){end}", _flanked(mark), text)
    return text


def _flanked(mark: str) -> Callable[[re.Match[str]], str]:
    def written(found: re.Match[str]) -> str:
        inner, whole = found[1], found.string
        before = whole[found.start() - 1] if found.start() else " "
        after = whole[found.end()] if found.end() < len(whole) else " "
        # A closing mark after punctuation has to be followed by space or punctuation, an opening one the reverse.
        tail = ""
        if after.isalnum() and _is_punctuation(inner[-1:]):
            bare = inner.rstrip(_STOPS)
            inner, tail = bare, inner[len(bare) :]
        closes = not (_is_punctuation(inner[-1:]) and after.isalnum())
        opens = not (_is_punctuation(inner[:1]) and before.isalnum())
        return f"{mark}{inner}{mark}{tail}" if inner and closes and opens else inner + tail

    return written


def _is_punctuation(char: str) -> bool:
    return bool(char) and not char.isalnum() and not char.isspace() and char not in f"{_OPENERS}{_CLOSERS}"
