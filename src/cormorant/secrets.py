"""Configured secrets must not leave: find their values in a request, take them out of a text. Pure.

A value counts in any spelling a page could talk a model into: other case, percent-encoded (whole, in part, twice),
base64 at any offset and in either alphabet, hexadecimal.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Mapping
from urllib.parse import unquote

from cormorant.errors import Vetoed

SHORTEST = 6  # a shorter value would be found in innocent text
UNQUOTE_ROUNDS = 4
SHOWN_AS = "[REDACTED]"
_HEADER_LINE = re.compile(r"([A-Za-z][A-Za-z0-9-]*):[ \t]*(\S.*)")


class Guard:
    """Holds the values and shows them to nobody. `secrets` maps a name, which may be shown, to its value."""

    def __init__(self, secrets: Mapping[str, str]) -> None:
        self._needles: dict[str, list[str]] = {}
        patterns: list[str] = []
        for name, whole in secrets.items():
            for value in _parts(whole):
                spellings = _spellings(value)
                self._needles.setdefault(name, []).extend(spellings)
                patterns += [_pattern(value), *(re.escape(needle) for needle in spellings[1:])]
        self._redacts = re.compile("|".join(sorted(patterns, key=len, reverse=True)), re.IGNORECASE) if patterns else None

    def __repr__(self) -> str:
        return f"Guard({len(self._needles)} secrets)"

    def check(self, url: str, headers: Mapping[str, str] | None = None, body: bytes | str = b"") -> None:
        """Refuse a request that carries a value. Raises: Vetoed, naming the secret and the place and never the value."""
        if not self._needles:
            return
        places = [("URL", url), *(("header " + name, f"{name}: {value}") for name, value in (headers or {}).items())]
        if body:
            places.append(("body", body if isinstance(body, str) else body.decode("utf-8", "replace")))
        for place, text in places:
            if name := self.find(text):
                raise Vetoed(
                    f"the secrets guard says no: the request's {place} carries the value of {name}",
                    remedy="leave the value out; settings send a key to its own service without your help",
                )

    def find(self, text: str) -> str:
        """The name of the first secret whose value stands in the text in some spelling, or empty."""
        for read in _readings(text):
            for name, needles in self._needles.items():
                if any(needle in read for needle in needles):
                    return name
        return ""

    def redact(self, text: str) -> str:
        """The text with every value taken out, whatever its spelling."""
        return self._redacts.sub(SHOWN_AS, text) if self._redacts else text


def redact(text: str, secrets: Mapping[str, str]) -> str:
    """The same for one text and a table of secrets."""
    return Guard(secrets).redact(text)


def _parts(secret: str) -> list[str]:
    """What of a secret must not be seen: all of it, and where it holds header lines each credential by itself."""
    found = [secret.strip()]
    for line in secret.splitlines():
        if header := _HEADER_LINE.fullmatch(line.strip()):
            name, value = header[1].lower(), header[2]
            pieces = [pair.partition("=")[2] for pair in value.split(";")] if name == "cookie" else [value.rpartition(" ")[2]]
            found += [value, *(piece.strip() for piece in pieces)]
    return [part for part in dict.fromkeys(found) if len(part) >= SHORTEST]


def _readings(text: str) -> list[str]:
    """The text, and what it says once percent-encoding is undone as often as somebody may have done it."""
    found = [text.casefold()]
    for _ in range(UNQUOTE_ROUNDS):
        if "%" not in text:
            break
        undone = unquote(text)
        if undone == text:
            break
        text = undone
        found.append(text.casefold())
    if "+" in found[-1]:
        found.append(found[-1].replace("+", " "))
    return found


def _spellings(value: str) -> list[str]:
    """The value and its encodings, in one case, as they would stand inside a longer text."""
    raw = value.encode()
    found = [value.casefold(), raw.hex()]
    for offset in range(3):
        # What base64 makes of the value behind `offset` other bytes; the characters that would depend on its neighbours
        # are cut off.
        coded = b64encode(b"\0" * offset + raw).decode().rstrip("=")
        core = coded[-(-offset * 8 // 6) : (offset + len(raw)) * 8 // 6].casefold()
        found += [core, core.replace("+", "-").replace("/", "_")]
    return list(dict.fromkeys(found))


def _pattern(value: str) -> str:
    """The value, each of its bytes either as it is or percent-encoded."""
    return "".join(f"(?:{re.escape(char)}|{''.join(f'%{byte:02x}' for byte in char.encode())})" for char in value)
