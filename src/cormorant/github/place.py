"""What an address on github.com stands for. Pure.

Owner and repository are checked before they get anywhere near a request: no dots that climb, no dashes that could be read
as an option. A branch may hold slashes and dots, so what follows `tree` or `blob` is kept whole until the branches are
known.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import unquote

from cormorant.address import Url

HOSTS = frozenset({"github.com", "www.github.com"})
GISTS = "gist.github.com"
_OWNER = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,38})")
_REPO = re.compile(r"[A-Za-z0-9_.][A-Za-z0-9_.-]{0,99}")
_GIST = re.compile(r"[0-9a-f]{20,40}")
_SHA = re.compile(r"[0-9a-f]{7,64}")
_NUMBER = re.compile(r"[1-9][0-9]{0,9}")
_LINES = re.compile(r"L(\d{1,7})(?:C\d+)?(?:-L(\d{1,7})(?:C\d+)?)?")
# First segments of github.com that are pages of the site itself and nobody's name.
_SITE = frozenset({
    "about", "account", "apps", "blog", "codespaces", "collections", "contact", "copilot", "customer-stories", "dashboard",
    "enterprise", "events", "explore", "features", "issues", "join", "login", "logout", "marketplace", "mobile", "new",
    "notifications", "orgs", "organizations", "pricing", "pulls", "readme", "resources", "search", "security", "sessions", "settings",
    "signup", "site", "sponsors", "stars", "team", "topics", "trending", "users", "watching",
})  # fmt: skip


@dataclass(frozen=True)
class Place:
    """One thing on GitHub. `rest` is branch and path in one, `number` an issue's, `name` a commit, tag or gist."""

    kind: str  # repo, tree, file, commit, issue, pull, discussion, releases, release, gist
    owner: str = ""
    repo: str = ""
    rest: str = ""
    name: str = ""
    number: int = 0
    lines: tuple[int, int] | None = None

    @property
    def slug(self) -> str:
        return f"{self.owner}/{self.repo}"


def place_of(url: Url) -> Place | None:
    """What the API knows of that address; None for every other page, which is read as a page."""
    parts = [unquote(part) for part in url.target.partition("?")[0].split("/") if part]
    if url.host == GISTS:
        named = next((part for part in parts[:2] if _GIST.fullmatch(part)), "")
        return Place("gist", name=named) if named and parts[-1] == named else None
    if url.host not in HOSTS or len(parts) < 2:
        return None
    owner, repo, *more = parts
    repo = repo.removesuffix(".git")
    if owner.lower() in _SITE or not _OWNER.fullmatch(owner) or not _REPO.fullmatch(repo) or repo in (".", ".."):
        return None
    return _within(owner, repo, more, url.fragment)


def _within(owner: str, repo: str, more: list[str], fragment: str) -> Place | None:
    match more:
        case []:
            return Place("repo", owner, repo)
        case ["tree", *rest] if _sound(rest):
            return Place("tree", owner, repo, rest="/".join(rest))
        case ["blob" | "raw" | "blame", *rest] if len(rest) > 1 and _sound(rest):
            return Place("file", owner, repo, rest="/".join(rest), lines=_lines(fragment))
        case ["commit", sha] if _SHA.fullmatch(sha.lower()):
            return Place("commit", owner, repo, name=sha.lower())
        case ["issues", number] if _NUMBER.fullmatch(number):
            return Place("issue", owner, repo, number=int(number))
        case ["pull", number, *_] if _NUMBER.fullmatch(number):
            return Place("pull", owner, repo, number=int(number))
        case ["discussions", number] if _NUMBER.fullmatch(number):
            return Place("discussion", owner, repo, number=int(number))
        case ["releases"]:
            return Place("releases", owner, repo)
        case ["releases", "latest"]:
            return Place("release", owner, repo)
        case ["releases", "tag", *rest] if _sound(rest):
            return Place("release", owner, repo, name="/".join(rest))
    return None


def split(rest: str, refs: Iterable[str] = ()) -> tuple[str, str]:
    """Branch, tag or commit, and the path behind it: the longest of `refs` that fits, else the first segment."""
    first, _, path = rest.partition("/")
    fitting = [ref for ref in refs if rest == ref or rest.startswith(f"{ref}/")]
    if not fitting or re.fullmatch(r"[0-9a-f]{40}", first):
        return first, path
    ref = max(fitting, key=len)
    return ref, rest[len(ref) + 1 :]


def _sound(rest: list[str]) -> bool:
    """Whether the segments could be a branch and a path: something is there, nothing climbs, nothing looks like an option."""
    parts = "/".join(rest).split("/")  # an encoded slash makes two segments of one
    return bool(rest) and not parts[0].startswith("-") and not any(part in ("", ".", "..") or set(part) & {"\\", "\0"} for part in parts)


def _lines(fragment: str) -> tuple[int, int] | None:
    found = _LINES.fullmatch(fragment)
    if not found:
        return None
    first, last = int(found[1]), int(found[2] or found[1])
    return (min(first, last), max(first, last)) if first and last else None
