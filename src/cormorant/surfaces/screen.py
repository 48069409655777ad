"""What a person sees in a terminal: an answer as it is written, its sources with their marks, long texts through a pager.

Only for a stdout that is a terminal: a pipe gets the same text as every other surface. `NO_COLOR` and `TERM=dumb` are obeyed.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import unicodedata
from collections.abc import Callable, Mapping
from typing import Any

import click

# Colours that hold on light and dark grounds; yellow is lost on white, blue on black.
MARKS = {"exact": ("✓", "green"), "close": ("≈", "green"), "mismatch": ("✗", "red"), "unsupported": ("?", "magenta")}
WIDEST = 100  # columns of running text; a wider line is hard to read
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")  # a page must not drive the terminal
_TAG = re.compile(r"<source_(\d+)>")
_PART_OF_TAG = re.compile(r"<(?:s(?:o(?:u(?:r(?:c(?:e(?:_\d*)?)?)?)?)?)?)?$")
_CALL = re.compile(r"web_(search|fetch|get|answer)((?: \w+=(?:\"[^\"]*\"|[^\s;]+))+)")


def colored() -> bool:
    """Whether stdout is a terminal that wants colours."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def style(text: str, **how: Any) -> str:
    """The text in colour, where colours are wanted."""
    return click.style(text, **how) if colored() else text


def columns() -> int:
    """How wide running text may be."""
    return max(20, min(shutil.get_terminal_size().columns, WIDEST))


def inert(text: str) -> str:
    """The text without control characters: escape sequences of a page stay words."""
    return _CONTROL.sub("", text)


def as_command(text: str) -> str:
    """Calls of tools (`web_get response_id=ID section="API"`) as they are typed here (`cormorant get ID --section "API"`)."""

    def typed(found: re.Match[str]) -> str:
        words = [f"cormorant {found[1]}"]
        for name, value in re.findall(r"(\w+)=(\"[^\"]*\"|[^\s;]+)", found[2]):
            bare = name in ("url", "query") if found[1] != "get" else name == "response_id"
            words.append(("ADDRESS" if value == "..." else value) if bare else f"--{name.replace('_', '-')} {value}")
        return " ".join(words)

    return _CALL.sub(typed, text)


class Flow:
    """Running text that comes in pieces, wrapped at words. A marker `<source_2>` becomes `[2]`, wherever it is cut."""

    def __init__(self, write: Callable[[str], None], width: int) -> None:
        self._write, self._width = write, width
        self._column = 0
        self._rest = ""

    def feed(self, piece: str) -> None:
        """Write what is whole; a word may go on in the next piece, so the last one waits."""
        text = inert(self._rest + piece)
        cut = max(text.rfind(" "), text.rfind("\n")) + 1
        if _PART_OF_TAG.search(text):
            cut = min(cut, text.rfind("<"))
        self._rest = text[cut:]
        self._put(text[:cut])

    def end(self) -> None:
        """Write the rest and end the line."""
        self._put(self._rest)
        self._rest = ""
        if self._column:
            self._write("\n")
            self._column = 0

    def _put(self, text: str) -> None:
        for piece in re.findall(r"\n|[^\S\n]+|[^\s]+", _TAG.sub(r"[\1]", text)):
            if piece == "\n":
                self._write("\n")
                self._column = 0
            elif piece.isspace():
                if self._column:
                    self._write(" ")
                    self._column += 1
            else:
                self._word(piece)

    def _word(self, word: str) -> None:
        size = cells(word)
        if self._column and self._column + size > self._width:
            self._write("\n")
            self._column = 0
        self._write(re.sub(r"\[\d+\]", lambda found: style(found[0], bold=True), word))
        self._column += size


def cells(text: str) -> int:
    """How many columns the text takes: wide East Asian characters take two, combining marks none."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def wrapped(text: str, *, indent: str = "    ", width: int | None = None) -> str:
    """One paragraph, wrapped and indented."""
    import textwrap

    room = columns() if width is None else width
    return textwrap.fill(inert(" ".join(text.split())), room, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False)


def evidence(result: Mapping[str, Any]) -> str:
    """What stands below an answer: the sources with their marked quotes, what was not reached, how to read on."""
    used = set(result.get("sources_used") or ())
    sources = [one for one in result.get("sources", ()) if one.get("rank") in used] or list(result.get("sources", ()))
    lines = ["", style("Sources", bold=True)] if sources else ["", "(no sources)"]
    for source in sources:
        lines.append(f"{style('[' + str(source['rank']) + ']', bold=True)} {inert(source['title'] or source['url'])}")
        lines.append(style("    " + inert(source["url"]), dim=True))
        lines += [_judged(one) for one in result.get("verdicts", ()) if one["source"] == source["rank"]]
    if result.get("not_reached"):
        lines += ["", style("Not reached", bold=True)]
        for gap in result["not_reached"]:
            lines.append(wrapped(f"{gap['url']}: {gap['code']}: {gap['reason']}", indent="  "))
            lines += [style(f"    {gap['command']}", dim=True)] if gap.get("command") else []
    said = [f"stopped by the limit of {result['stopped']}"] if result.get("stopped") else []
    lines += ["", *(wrapped(note, indent="") for note in (*said, *result.get("notes", ())))] if said or result.get("notes") else []
    lines += ["", style(f"read more: cormorant get {result['response_id']}", dim=True)] if result.get("response_id") else []
    return "\n".join(lines)


def _judged(verdict: Mapping[str, Any]) -> str:
    mark, color = MARKS.get(verdict["verdict"], ("?", "magenta"))
    quote = _plain(str(verdict.get("quote") or ""))
    text = wrapped(f"“{quote}”" if quote else str(verdict["claim"]), indent=" " * 6)
    return f"    {style(mark, fg=color)} {text.lstrip()}" + ("" if verdict["verdict"] == "exact" else f" ({verdict['verdict']})")


def _plain(quote: str) -> str:
    """An item of a list or a row of a table as a sentence, without its mark or bars."""
    return re.sub(r"\s+\|\s+", " · ", re.sub(r"^\s*(?:[-*+•]|\d+[.)])\s+", "", quote).strip().strip("|").strip())


def show(text: str) -> None:
    """A long text, already inert: through the pager where a person sits at the terminal and it doesn't fit, else plainly."""
    if sys.stdout.isatty():
        size = shutil.get_terminal_size()
        height = sum(1 + max(0, cells(line) - 1) // size.columns for line in text.split("\n"))
        if height > size.lines - 1 and os.environ.get("TERM") != "dumb":
            os.environ.setdefault("LESS", "-FRX")
            click.echo_via_pager(text + "\n")
            return
    click.echo(text)
