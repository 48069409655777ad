"""GitHub's JSON as Markdown: listings, files, commits, discussions with their threads, releases. Pure.

Fields that are missing or null are left out: accounts get deleted, bodies are empty. Text of people is kept as they wrote
it, but for HTML comments, which nobody who looks at the page sees.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from cormorant.extract.html.code import fenced

Json = Mapping[str, Any]
LISTED_MAX = 1_000
_LANGUAGES = {
    "py": "python", "rs": "rust", "js": "javascript", "mjs": "javascript", "ts": "typescript", "tsx": "tsx", "jsx": "jsx", "rb": "ruby",
    "go": "go", "java": "java", "kt": "kotlin", "c": "c", "h": "c", "cc": "cpp", "cpp": "cpp", "hpp": "cpp", "cs": "csharp", "sh": "bash",
    "bash": "bash", "zsh": "zsh", "ps1": "powershell", "yml": "yaml", "yaml": "yaml", "toml": "toml", "json": "json", "css": "css",
    "scss": "scss", "html": "html", "xml": "xml", "sql": "sql", "php": "php", "swift": "swift", "scala": "scala", "lua": "lua", "r": "r",
    "jl": "julia", "ex": "elixir", "exs": "elixir", "erl": "erlang", "hs": "haskell", "ml": "ocaml", "dart": "dart", "vue": "vue",
    "svelte": "svelte", "tf": "hcl", "proto": "protobuf", "zig": "zig", "nix": "nix", "clj": "clojure", "diff": "diff", "patch": "diff",
}  # fmt: skip
_NAMED = {"dockerfile": "dockerfile", "makefile": "makefile", "cmakelists.txt": "cmake"}


def repository(found: Json, entries: Sequence[Json], readme: str) -> str:
    facts = [
        ("Default branch", found.get("default_branch")),
        ("Language", found.get("language")),
        ("License", (found.get("license") or {}).get("spdx_id")),
        ("Stars", found.get("stargazers_count")),
        ("Topics", ", ".join(found.get("topics") or [])),
        ("Homepage", found.get("homepage")),
        ("Archived", "yes" if found.get("archived") else ""),
    ]
    return _joined(
        f"# {found.get('full_name', '')}",
        found.get("description") or "",
        "\n".join(f"- {name}: {value}" for name, value in facts if value not in (None, "", 0)),
        "## Files",
        listing(entries),
        f"## README\n\n{readme}" if readme else "",
    )


def tree(slug: str, ref: str, path: str, entries: Sequence[Json], readme: str) -> str:
    return _joined(f"# {slug}: {path or '/'} ({ref})", listing(entries), f"## README\n\n{readme}" if readme else "")


def listing(entries: Sequence[Json]) -> str:
    """Folders first, a line each: `dir src/`, `file README.md 1,234`."""
    rows = []
    for entry in entries[:LISTED_MAX]:
        name = PurePosixPath(str(entry.get("path", ""))).name
        kind = {"tree": "dir", "blob": "file", "commit": "submodule"}.get(str(entry.get("type")), str(entry.get("type")))
        size = entry.get("size")
        rows.append((kind != "dir", f"{kind} {name}{'/' if kind == 'dir' else ''}{f' {size:,}' if size and kind == 'file' else ''}"))
    lines = [line for _, line in sorted(rows, key=lambda row: row[0])]
    lines += [f"... and {len(entries) - LISTED_MAX} more"] if len(entries) > LISTED_MAX else []
    return fenced("\n".join(lines), "") if lines else "(empty)"


def code(text: str, path: str, lines: tuple[int, int] | None) -> str:
    """A source file, or the lines asked for, in a fence with its language."""
    name = PurePosixPath(path).name
    said = ""
    if lines:
        rows = text.split("\n")
        first, last = min(lines[0], len(rows)), min(lines[1], len(rows))
        text, said = "\n".join(rows[first - 1 : last]), f"Lines {first}-{last} of {len(rows)}\n\n"
    language = _NAMED.get(name.lower()) or _LANGUAGES.get(PurePosixPath(name).suffix.lower().lstrip("."), "")
    return said + fenced(text.rstrip("\n"), language)


def commit(found: Json) -> str:
    about = found.get("commit") or {}
    title, _, rest = str(about.get("message", "")).partition("\n")
    author = about.get("author") or {}
    files = found.get("files") or []
    stats = found.get("stats") or {}
    facts = [
        ("Commit", found.get("sha")),
        ("Author", author.get("name") or _who(found.get("author"))),
        ("Date", author.get("date")),
        ("Changes", f"+{stats['additions']} -{stats['deletions']}" if "additions" in stats and "deletions" in stats else ""),
    ]
    return _joined(f"# {title}", _facts(facts), rest.strip(), "## Files" if files else "", changed(files), *_patches(files))


def changed(files: Iterable[Json]) -> str:
    """Status and path of each file: `modified src/a.py +3 -1`."""
    rows = []
    for file in files:
        was = f" (was {file['previous_filename']})" if file.get("previous_filename") else ""
        rows.append(f"{file.get('status', '')} {file.get('filename', '')}{was} +{file.get('additions', 0)} -{file.get('deletions', 0)}")
    return fenced("\n".join(rows), "") if rows else ""


def _patches(files: Iterable[Json]) -> list[str]:
    return [f"### {file.get('filename', '')}\n\n{fenced(str(file['patch']), 'diff')}" for file in files if file.get("patch")]


def issue(found: Json, comments: Sequence[Json]) -> str:
    return _joined(_title(found), _facts(_about(found)), _body(found), *(_remark("Comment", each) for each in comments))


def pull(found: Json, files: Sequence[Json], comments: Sequence[Json], reviews: Sequence[Json], remarks: Sequence[Json]) -> str:
    """A pull request, its conversation, its reviews, and each thread of remarks under the line it is about."""
    merged = [("Merged", found.get("merged_at")), ("Branch", _branches(found))]
    said = [each for each in reviews if each.get("body") or each.get("state") in ("APPROVED", "CHANGES_REQUESTED")]
    return _joined(
        _title(found),
        _facts([*_about(found), *merged]),
        _body(found),
        "## Files" if files else "",
        changed(files),
        *(_remark("Comment", each) for each in comments),
        *(_remark(f"Review ({str(each.get('state', '')).lower().replace('_', ' ')})", each) for each in said),
        *_threads(remarks),
    )


def _threads(remarks: Sequence[Json]) -> list[str]:
    """Remarks by the line they are about, answers below what they answer."""
    threads: dict[Any, list[Json]] = {}
    for each in remarks:
        threads.setdefault(each.get("in_reply_to_id") or each.get("id"), []).append(each)
    shown = []
    for thread in threads.values():
        first = thread[0]
        line = first.get("line") or first.get("original_line")
        where = f"{first.get('path', '')}{f', line {line}' if line else ''}"
        hunk = fenced(str(first["diff_hunk"]), "diff") if first.get("diff_hunk") else ""
        said = [f"**{_who(each.get('user'))}**, {each.get('created_at', '')}:\n\n{seen(str(each.get('body') or ''))}" for each in thread]
        shown.append(_joined(f"## Thread: {where}", hunk, *said))
    return shown


def discussion(found: Json) -> str:
    comments = (found.get("comments") or {}).get("nodes") or []
    shown = []
    for each in comments:
        answer = " (the answer)" if each.get("isAnswer") else ""
        replies = (each.get("replies") or {}).get("nodes") or []
        shown.append(_joined(_remark(f"Comment{answer}", each), *(_remark("Reply", reply, level=3) for reply in replies)))
    facts = [("Category", (found.get("category") or {}).get("name")), ("Author", _who(found)), ("Opened", found.get("createdAt"))]
    return _joined(f"# {found.get('title', '')}", _facts(facts), _body(found), *shown)


def releases(slug: str, found: Sequence[Json]) -> str:
    return _joined(f"# Releases of {slug}", *(release(each, level=2) for each in found)) if found else f"# Releases of {slug}\n\n(none)"


def release(found: Json, *, level: int = 1) -> str:
    assets = [f"- [{each.get('name')}]({each.get('browser_download_url')})" for each in found.get("assets") or []]
    facts = [
        ("Tag", found.get("tag_name")),
        ("Published", found.get("published_at")),
        ("Pre-release", "yes" if found.get("prerelease") else ""),
    ]
    title = found.get("name") or found.get("tag_name") or ""
    return _joined(f"{'#' * level} {title}", _facts(facts), _body(found), "\n".join(assets))


def gist(found: Json) -> str:
    files = [
        f"## {name}\n\n"
        + (str(file.get("content") or "") if name.lower().endswith(".md") else code(str(file.get("content") or ""), name, None))
        for name, file in (found.get("files") or {}).items()
    ]
    facts = [("Author", _who(found.get("owner"))), ("Updated", found.get("updated_at"))]
    return _joined(f"# {found.get('description') or 'Gist'}", _facts(facts), *files)


def _title(found: Json) -> str:
    return f"# {found.get('title', '')} #{found.get('number', '')}"


def _about(found: Json) -> list[tuple[str, Any]]:
    reason = f" ({found['state_reason']})" if found.get("state_reason") else ""
    labels = [label.get("name", "") if isinstance(label, Mapping) else str(label) for label in found.get("labels") or []]
    return [
        ("State", f"{found.get('state', '')}{reason}"),
        ("Author", _who(found.get("user"))),
        ("Opened", found.get("created_at")),
        ("Closed", found.get("closed_at")),
        ("Labels", ", ".join(labels)),
    ]


def _branches(found: Json) -> str:
    head, base = (found.get("head") or {}).get("label"), (found.get("base") or {}).get("label")
    return f"{head} into {base}" if head and base else ""


def _remark(kind: str, found: Json, *, level: int = 2) -> str:
    when = found.get("created_at") or found.get("submitted_at") or found.get("createdAt") or ""
    return _joined(f"{'#' * level} {kind} by {_who(found.get('user') or found.get('author'))}{f', {when}' if when else ''}", _body(found))


def _body(found: Json) -> str:
    return seen(str(found.get("body") or "").replace("\r\n", "\n"))


def _who(account: Any) -> str:
    if isinstance(account, Mapping) and isinstance(account.get("author"), Mapping):
        account = account["author"]
    return str(account.get("login") or "ghost") if isinstance(account, Mapping) else "ghost"  # what GitHub calls who is gone


def _facts(facts: Iterable[tuple[str, Any]]) -> str:
    return "\n".join(f"- {name}: {value}" for name, value in facts if value)


def _joined(*parts: str) -> str:
    return "\n\n".join(part.strip("\n") for part in parts if part and part.strip())


_HIDDEN = re.compile(r"(^|\n)(`{3,}|~{3,}).*?\n\2(?=\n|$)|`[^`\n]*`|<!--.*?(?:-->|\Z)", re.S)


def seen(text: str) -> str:
    """The text without its HTML comments, code left alone."""
    return _HIDDEN.sub(lambda found: "" if found[0].startswith("<!--") else found[0], text).strip()
