"""HTTP caching, the rules alone: what a private cache may keep, for how long, and what a 304 means. Pure.

RFC 9111, with RFC 5861 for `stale-if-error`. Names of header fields are lower case; times are seconds since the epoch.
Where the RFC leaves a choice, the careful one is taken: a directive that can't be read makes a response stale.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Literal

KEPT_STATUS = frozenset({200, 203})  # errors and redirects are asked for again: they are what changes without notice
HEURISTIC_SHARE = 0.1  # RFC 9111 4.2.2: a tenth of the time since it was last changed
HEURISTIC_MAX_S = 86_400.0
DELTA_MAX = 2**31  # RFC 9111 1.2.2: larger numbers mean this
# Fields of one connection (RFC 9111 3.1, RFC 9110 7.6.1), and those that are nobody's business once the body is read.
_NOT_KEPT = frozenset(
    {"connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade", "proxy-connection", "proxy-authenticate"}
    | {"proxy-authentication-info", "proxy-authorization", "set-cookie", "set-cookie2", "strict-transport-security", "alt-svc"}
)
_NOT_UPDATED = frozenset({"content-length", "content-encoding", "content-type", "content-range"})  # RFC 9111 3.2
_DIRECTIVE = re.compile(r'([!#$%&\'*+.^_`|~0-9A-Za-z-]+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,;"]+)))?')


@dataclass(frozen=True)
class Response:
    """A response as a cache sees it: `url` is where it came from, `complete` that no byte of the body is missing."""

    status: int
    headers: Mapping[str, str]
    body: bytes = field(default=b"", repr=False)
    url: str = ""
    complete: bool = True


@dataclass(frozen=True)
class Entry:
    """A response that was kept, when it was asked for and came, and the request fields it was chosen by."""

    response: Response
    asked_at: float
    came_at: float
    varied: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Wish:
    """What a request says about caching. `max_age_s` bounds the age, `max_stale_s` how far past its time it may be."""

    max_age_s: float | None = None
    max_stale_s: float = 0.0
    stale_if_error: bool = False
    no_store: bool = False


def directives(field_value: str) -> dict[str, str]:
    """Cache-Control as names and values; of a name said twice the first counts, unless the two differ: then it is empty.

    An empty `max-age` can't be read, and a response with one is stale (RFC 9111 4.2.1).
    """
    found: dict[str, str] = {}
    for match in _DIRECTIVE.finditer(field_value):
        name = match[1].lower()
        value = match[2] if match[2] is not None else match[3] or ""
        found[name] = "" if name in found and found[name] != value else value
    return found


def may_keep(request: Mapping[str, str], response: Response) -> bool:
    """Whether a private cache may keep it and could ever use it again (RFC 9111 3)."""
    said = directives(response.headers.get("cache-control", ""))
    if response.status not in KEPT_STATUS or not response.complete or "*" in _varied_names(response.headers):
        return False
    if "no-store" in directives(request.get("cache-control", "")):
        return False
    if "no-store" in said and "must-understand" not in said:  # 200 and 203 are understood (5.2.2.3)
        return False
    return validators(response.headers) != {} or _lifetime_s(response, 0.0) > 0


def entry(request: Mapping[str, str], response: Response, asked_at: float, came_at: float) -> Entry:
    """What is kept of a response to a request with these fields."""
    dropped = _NOT_KEPT | {name.strip().lower() for name in response.headers.get("connection", "").split(",")}
    headers = {name: value for name, value in response.headers.items() if name not in dropped}
    varied = {name: _field(request, name) for name in _varied_names(response.headers)}
    return Entry(replace(response, headers=headers), asked_at, came_at, varied)


def chosen(entries: list[Entry], request: Mapping[str, str]) -> Entry | None:
    """The kept response whose request fields were the same (RFC 9111 4.1): the latest, where several were."""
    fitting = [each for each in entries if all(_field(request, name) == value for name, value in each.varied.items())]
    return max(fitting, key=_made_at, default=None)


def age_s(kept: Entry, now: float) -> float:
    """How old it is, time in other caches included (RFC 9111 4.2.3)."""
    apparent = max(0.0, kept.came_at - _made_at(kept))
    corrected = (_seconds(kept.response.headers.get("age", "")) or 0.0) + max(0.0, kept.came_at - kept.asked_at)
    return max(apparent, corrected) + max(0.0, now - kept.came_at)


def usable(kept: Entry, now: float, wish: Wish) -> bool:
    """Whether it may be handed out without asking the server (RFC 9111 4, 5.2.1)."""
    said = directives(kept.response.headers.get("cache-control", ""))
    age = age_s(kept, now)
    if "no-cache" in said or (wish.max_age_s is not None and age > wish.max_age_s) or _pragma_no_cache(kept.response.headers, said):
        return False
    past = age - _lifetime_s(kept.response, kept.came_at)
    return past < 0 or ("must-revalidate" not in said and past < wish.max_stale_s)


def usable_on_error(kept: Entry, now: float, wish: Wish) -> bool:
    """Whether it may be handed out, stale, since the server fails: only when asked for, and not against its word."""
    said = directives(kept.response.headers.get("cache-control", ""))
    if not wish.stale_if_error or "no-cache" in said or "must-revalidate" in said:
        return False
    allowed = _seconds(said["stale-if-error"]) if "stale-if-error" in said else DELTA_MAX
    return age_s(kept, now) - _lifetime_s(kept.response, kept.came_at) <= (allowed or 0.0)


def validators(headers: Mapping[str, str]) -> dict[str, str]:
    """The request fields that ask whether a kept response is still good (RFC 9111 4.3.1)."""
    found = {}
    if headers.get("etag"):
        found["if-none-match"] = headers["etag"]
    if _date(headers.get("last-modified", "")) is not None:
        found["if-modified-since"] = headers["last-modified"]
    return found


def freshened(kept: Entry, answer: Response, asked_at: float, came_at: float) -> Entry | None:
    """The entry after a 304, with its new fields and time (RFC 9111 4.3.4); None when the 304 speaks of another one."""
    mine, theirs = kept.response.headers.get("etag", ""), answer.headers.get("etag", "")
    if theirs and _weak(theirs) != _weak(mine):
        return None
    new = {name: value for name, value in answer.headers.items() if name not in _NOT_KEPT and name not in _NOT_UPDATED}
    old = {name: value for name, value in kept.response.headers.items() if name != "age"}
    return replace(kept, response=replace(kept.response, headers=old | new), asked_at=asked_at, came_at=came_at)


Source = Literal["network", "cache", "revalidated", "stale"]


def _lifetime_s(response: Response, came_at: float) -> float:
    """How long it is fresh (RFC 9111 4.2.1); `s-maxage` is for shared caches and this is none."""
    headers = response.headers
    said = directives(headers.get("cache-control", ""))
    if "max-age" in said:
        return _seconds(said["max-age"]) or 0.0
    made = _date(headers.get("date", ""))
    made = came_at if made is None else made
    if "expires" in headers:
        expires = _date(headers["expires"])  # "0" and other rubbish: in the past (5.3)
        return max(0.0, expires - made) if expires is not None else 0.0
    changed = _date(headers.get("last-modified", ""))
    if changed is None or "no-cache" in said:
        return 0.0
    return min(HEURISTIC_MAX_S, max(0.0, made - changed) * HEURISTIC_SHARE)


def _made_at(kept: Entry) -> float:
    made = _date(kept.response.headers.get("date", ""))
    return kept.came_at if made is None else made


def _pragma_no_cache(headers: Mapping[str, str], said: Mapping[str, str]) -> bool:
    return not said and "no-cache" in directives(headers.get("pragma", ""))


def _varied_names(headers: Mapping[str, str]) -> list[str]:
    return sorted({name.strip().lower() for name in headers.get("vary", "").split(",") if name.strip()})


def _field(request: Mapping[str, str], name: str) -> str:
    return ",".join(part.strip() for part in request.get(name, "").split(","))


def _weak(tag: str) -> str:
    return tag.strip().removeprefix("W/")


def _seconds(text: str) -> float | None:
    return float(min(int(text), DELTA_MAX)) if re.fullmatch("[0-9]{1,20}", text.strip()) else None


def _date(text: str) -> float | None:
    if not text:
        return None
    try:
        found = parsedate_to_datetime(text)
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
    except (ValueError, TypeError, OverflowError):
        return None
