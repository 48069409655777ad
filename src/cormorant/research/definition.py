"""An agent in a file: who it is, which model it asks, which of our tools it may use, how far it may go. Pure but for reading it.

    ---
    name: release-notes
    description: Finds out what changed between two versions.
    model: openai/gpt-6-luna
    tools: [web/search, web/fetch]
    budgets:
      fetches: 6
      seconds: 120
    ---
    Prefer the project's own changelog to what others write about it.

The form is that of coding agents: a front matter, then Markdown that the model gets as its instructions. The front matter
is the small part of YAML shown here, read by this file: no YAML library comes with the base install, and a reader that knows
nothing more can't turn `no` into false or a tag into an object. Whatever it does not know is an error that names the line.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from cormorant.errors import InvalidArguments
from cormorant.research.desk import Bounds
from cormorant.tools import BY_NAME, Tool

MAX_BYTES = 64 * 1024
USABLE = {"web/search": "web_search", "web/fetch": "web_fetch", "web/get": "web_get"}  # address -> name in tools.py
KEYS = ("name", "description", "model", "tools", "budgets")
BUDGETS = ("steps", "searches", "fetches", "tokens", "seconds")

_FENCE = "---"
_PAIR = re.compile(r"([A-Za-z][\w-]*):(?:[ \t]+(.*))?$")
_ITEM = re.compile(r"[ \t]*-[ \t]+(.+)$")
_COMMENT = re.compile(r"(?:^|[ \t])#.*$")


@dataclass(frozen=True)
class Definition:
    """What an agent is. Without a file: every tool, the model of the settings, our own bounds, no instructions of its own."""

    name: str = "research"
    description: str = ""
    model: str = ""  # provider/model or an alias; empty is the one of the settings
    tools: tuple[Tool, ...] = tuple(BY_NAME[name] for name in USABLE.values())
    bounds: Bounds = field(default_factory=Bounds)
    instructions: str = ""

    def within(self, given: Mapping[str, Any]) -> Definition:
        """The same agent with bounds of this one call. Raises: InvalidArguments."""
        return replace(self, bounds=_bounded(self.bounds, given, "")) if given else self


def definition(text: str, *, origin: str = "the agent file") -> Definition:
    """Reads an agent file's text. Raises: InvalidArguments naming the line, the key or the tool."""
    rows, body = _front_matter(text, origin)
    _known(rows, KEYS, origin)
    name, description, model = (_text(rows, key, origin) for key in ("name", "description", "model"))
    if not name:
        raise InvalidArguments(f"{origin} has no name", remedy="name: what the agent is called")
    made = Definition(name, description, model, instructions=body.strip())
    if "tools" in rows:
        made = replace(made, tools=tuple(_tool(address, origin) for address in _list(rows["tools"], "tools", origin)))
    if "budgets" in rows:
        if not isinstance(rows["budgets"], dict):
            raise InvalidArguments(f"{origin}: budgets should be lines of `name: number`", remedy="budgets:\\n  fetches: 6")
        made = replace(made, bounds=_bounded(made.bounds, rows["budgets"], f"{origin}: "))
    return made


def read_definition(path: str | Path) -> Definition:
    """The agent of a file. Raises: InvalidArguments, also for a file that can't be read."""
    try:
        with Path(path).open("rb") as file:
            body = file.read(MAX_BYTES + 1)
        text = body.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidArguments(f"the agent file {path} can't be read: {error}", remedy="give the path of a UTF-8 file") from error
    if len(body) > MAX_BYTES:
        raise InvalidArguments(f"the agent file {path} is over {MAX_BYTES:,} bytes", remedy="shorten its instructions")
    return definition(text, origin=str(path))


def _front_matter(text: str, origin: str) -> tuple[dict[str, Any], str]:
    """The keys between the two fences, each a text, a list or a table of texts; and what stands below."""
    lines = text.replace("\r\n", "\n").split("\n")
    if lines[0].rstrip() != _FENCE:
        raise InvalidArguments(f"{origin} does not begin with a front matter", remedy="put `---`, name: and tools: at its top")
    try:
        end = next(n for n, line in enumerate(lines[1:], 1) if line.rstrip() == _FENCE)
    except StopIteration:
        raise InvalidArguments(f"{origin}: the front matter does not end", remedy="close it with a line of ---") from None
    rows: dict[str, Any] = {}
    last = ""  # the key whose lines may follow
    for number, raw in enumerate(lines[1:end], 2):
        line = _COMMENT.sub("", raw).rstrip()
        if not line:
            continue
        pair, item = _PAIR.match(line.lstrip()), _ITEM.match(line)
        if pair and not line[0].isspace():
            last = pair[1]
            if last in rows:
                raise InvalidArguments(f"{origin}, line {number}: {last} stands there twice", remedy="keep one of them")
            rows[last] = _value(pair[2] or "")
        elif item and _grows(rows, last, list):
            rows[last] = [*(rows[last] or []), _plain(item[1])]
        elif pair and _grows(rows, last, dict):
            rows[last] = {**(rows[last] or {}), pair[1]: _plain(pair[2] or "")}
        else:
            raise InvalidArguments(
                f"{origin}, line {number} can't be read: {line.strip()[:80]}", remedy="write `key: value`, or `- item` below a key"
            )
    return rows, "\n".join(lines[end + 1 :])


def _grows(rows: Mapping[str, Any], last: str, kind: type) -> bool:
    """Whether the last key has no value on its own line, and what stands below it so far is of this kind."""
    return last in rows and (rows[last] == "" or isinstance(rows[last], kind))


def _value(text: str) -> str | list[str]:
    text = text.strip()
    if text.startswith("[") and text.endswith("]"):
        return [_plain(part) for part in text[1:-1].split(",") if part.strip()]
    return _plain(text)


def _plain(text: str) -> str:
    text = text.strip()
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text


def _text(rows: Mapping[str, Any], key: str, origin: str) -> str:
    value = rows.get(key, "")
    if not isinstance(value, str):
        raise InvalidArguments(f"{origin}: {key} should be a text", remedy=f"{key}: text")
    return value


def _list(value: Any, key: str, origin: str) -> list[str]:
    found = [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value
    if not isinstance(found, list) or not found:
        raise InvalidArguments(f"{origin}: {key} should be a list with something in it", remedy=f"{key}: [{', '.join(USABLE)}]")
    return list(dict.fromkeys(found))


def _known(rows: Mapping[str, Any], known: tuple[str, ...], origin: str) -> None:
    for key in rows:
        if key not in known:
            raise InvalidArguments(f"{origin}: unknown key {key!r}", remedy=f"{_near(key, known)}known: {', '.join(known)}")


def _tool(address: str, origin: str) -> Tool:
    found = BY_NAME.get(USABLE.get(address, address))
    if found is None:
        raise InvalidArguments(
            f"{origin}: no tool has the address {address!r}",
            remedy=f"{_near(address, tuple(USABLE))}there are: {', '.join(USABLE)}",
        )
    if found.name not in USABLE.values():
        raise InvalidArguments(f"{origin}: an agent can't use {address!r}", remedy=f"it may use: {', '.join(USABLE)}")
    return found


def _bounded(bounds: Bounds, given: Mapping[str, Any], origin: str) -> Bounds:
    for name in given:
        if name not in BUDGETS:
            raise InvalidArguments(f"{origin}unknown bound {name!r}", remedy=f"{_near(name, BUDGETS)}bounds are: {', '.join(BUDGETS)}")
    numbers = {name: _number(name, value, origin) for name, value in given.items()}
    return replace(bounds, **numbers)


def _number(name: str, value: Any, origin: str) -> Any:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = -1.0
    if isinstance(value, bool) or number < 0 or number != number or (name != "seconds" and number != int(number)):
        raise InvalidArguments(f"{origin}the bound {name} should be a number, not {value!r}", remedy=f"{name}: 6")
    return number if name == "seconds" else int(number)


def _near(word: str, known: tuple[str, ...]) -> str:
    near = get_close_matches(word, known, n=1)
    return f"did you mean {near[0]}? " if near else ""
