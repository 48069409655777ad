"""What stands at a place, as a Document."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from cormorant import extract
from cormorant.document import Document
from cormorant.errors import HttpError, LoginRequired, ProviderError
from cormorant.extract import plain
from cormorant.github import render
from cormorant.github.api import Api, at
from cormorant.github.place import Place, split

_DISCUSSION = """query($owner:String!,$repo:String!,$number:Int!){repository(owner:$owner,name:$repo){discussion(number:$number){
title body createdAt author{login} category{name} comments(first:100){nodes{body createdAt isAnswer author{login}
replies(first:50){nodes{body createdAt author{login}}}}}}}}"""
_SOURCE = ("text/plain", "text/markdown", "text/html", "application/json", "application/xml", "text/csv")


@dataclass(frozen=True)
class Read:
    """What a place holds. `url` is its address as GitHub writes it: repositories are renamed."""

    document: Document
    url: str


async def read(place: Place, api: Api, *, output: str = "markdown") -> Read:
    """Raises: HttpError, RateLimited, ProviderError, LoginRequired, UnsupportedType, ExtractionFailed."""
    return await _READERS[place.kind](place, api, output)


async def _repo(place: Place, api: Api, output: str) -> Read:
    found = _a_dict(await api.json(at(place.slug)), "default_branch")
    branch = found["default_branch"]
    entries = _a_dict(await api.json(at(place.slug, "git", "trees", branch)), "tree")["tree"]
    readme = await _readme(place, api, at(place.slug, "readme"), branch)
    return _written(place, found.get("html_url"), render.repository(found, entries, readme), found.get("full_name") or place.slug, api)


async def _readme(place: Place, api: Api, path: str, ref: str) -> str:
    try:
        return render.seen(_content(_a_dict(await api.json(path, ref=ref), "content"))[0].decode("utf-8", "replace"))
    except HttpError as error:
        if error.status == 404:
            return ""
        raise


async def _below(place: Place, api: Api) -> tuple[str, str, Any]:
    """Branch, path and what is there. The first segment is nearly always the branch; when nothing is there, it is looked up."""
    ref, path = split(place.rest)
    try:
        return ref, path, await api.json(at(place.slug, "contents", path=path), ref=ref)
    except HttpError as error:
        if error.status != 404 or "/" not in place.rest:
            raise
        refs = await _refs(place, api, ref)
        if split(place.rest, refs) == (ref, path):
            raise
    ref, path = split(place.rest, refs)
    return ref, path, await api.json(at(place.slug, "contents", path=path), ref=ref)


async def _refs(place: Place, api: Api, first: str) -> list[str]:
    """Branches and tags that begin with that segment."""
    names = []
    for kind in ("heads", "tags"):
        for found in await api.json(at(place.slug, "git", "matching-refs", kind, path=f"{first}/")):
            names.append(str(found.get("ref", "")).removeprefix(f"refs/{kind}/"))
    return names


async def _tree(place: Place, api: Api, output: str) -> Read:
    ref, path, found = await _below(place, api)
    if isinstance(found, Mapping):  # a file under the address of a folder
        return await _file_of(place, api, ref, path, found, output)
    entries = _listed(found)
    named = next((str(entry["path"]) for entry in entries if str(entry.get("name", "")).lower().startswith("readme")), "")
    readme = (
        await _readme(place, api, at(place.slug, "contents", path=named), ref) if named.lower().endswith((".md", ".rst", "readme")) else ""
    )
    return _written(place, None, render.tree(place.slug, ref, path, entries, readme), f"{place.slug}: {path or '/'}", api)


async def _file(place: Place, api: Api, output: str) -> Read:
    ref, path, found = await _below(place, api)
    if not isinstance(found, Mapping):
        return _written(place, None, render.tree(place.slug, ref, path, _listed(found), ""), f"{place.slug}: {path}", api)
    return await _file_of(place, api, ref, path, found, output)


async def _file_of(place: Place, api: Api, ref: str, path: str, found: Mapping[str, Any], output: str) -> Read:
    """A file read as what it is: a document as a document, Markdown as Markdown, everything else as source in a fence."""
    if found.get("type") == "submodule":
        said = f"{path} is a submodule: {found.get('submodule_git_url') or 'of another repository'}"
        return _written(place, found.get("html_url"), said, path, api)
    body, whole = _content(found)
    if not whole:  # over one megabyte the JSON leaves the content out
        body = await api.raw(at(place.slug, "contents", path=path), ref=ref)
    url = str(found.get("html_url") or f"https://github.com/{place.slug}/blob/{ref}/{path}")
    document = extract.document(body, url=url, output="raw" if output == "raw" else "markdown")
    if (
        output != "raw"
        and document.media_type in (*_SOURCE, "text/plain")
        and not path.lower().endswith((".md", ".markdown", ".txt", ".csv"))
    ):
        text, findings, warnings = plain.clean(body.decode("utf-8", "replace"))
        markdown = render.code(text, path, place.lines)
        document = replace(
            document, markdown=markdown, extractor="github", findings=tuple(findings), warnings=(*document.warnings, *warnings)
        )
    return Read(
        replace(document, title=document.title or path.rpartition("/")[2], site="GitHub", warnings=(*document.warnings, *api.notes)), url
    )


async def _commit(place: Place, api: Api, output: str) -> Read:
    found = _a_dict(await api.json(at(place.slug, "commits", place.name)), "commit")
    title = str(found["commit"].get("message", "")).partition("\n")[0]
    return _written(place, found.get("html_url"), render.commit(found), title, api)


async def _issue(place: Place, api: Api, output: str) -> Read:
    found = _a_dict(await api.json(at(place.slug, "issues", str(place.number))), "title")
    if found.get("pull_request"):
        return await _pull(place, api, output)
    comments = await api.pages(at(place.slug, "issues", str(place.number), "comments")) if found.get("comments") else []
    return _written(place, found.get("html_url"), render.issue(found, comments), found["title"], api, found)


async def _pull(place: Place, api: Api, output: str) -> Read:
    number = str(place.number)
    found = _a_dict(await api.json(at(place.slug, "pulls", number)), "title")
    files = await api.pages(at(place.slug, "pulls", number, "files"))
    comments = await api.pages(at(place.slug, "issues", number, "comments"))
    reviews = await api.pages(at(place.slug, "pulls", number, "reviews"))
    remarks = await api.pages(at(place.slug, "pulls", number, "comments")) if reviews else []  # a remark comes with a review
    return _written(place, found.get("html_url"), render.pull(found, files, comments, reviews, remarks), found["title"], api, found)


async def _discussion(place: Place, api: Api, output: str) -> Read:
    if not api.token:
        raise LoginRequired("GitHub's API shows discussions to those who log in", remedy="set GITHUB_TOKEN")
    told = await api.graph(_DISCUSSION, {"owner": place.owner, "repo": place.repo, "number": place.number})
    found = (told.get("repository") or {}).get("discussion")
    if not isinstance(found, Mapping):
        raise HttpError(f"there is no discussion {place.number} in {place.slug}", status=404, remedy="check the address")
    return _written(place, None, render.discussion(found), str(found.get("title", "")), api)


async def _releases(place: Place, api: Api, output: str) -> Read:
    found = _listed(await api.json(at(place.slug, "releases"), per_page="30"))
    return _written(place, None, render.releases(place.slug, found), f"Releases of {place.slug}", api)


async def _release(place: Place, api: Api, output: str) -> Read:
    path = at(place.slug, "releases", "tags", place.name) if place.name else at(place.slug, "releases", "latest")
    found = _a_dict(await api.json(path), "tag_name")
    return _written(place, found.get("html_url"), render.release(found), str(found.get("name") or found["tag_name"]), api)


async def _gist(place: Place, api: Api, output: str) -> Read:
    found = _a_dict(await api.json(f"/gists/{place.name}"), "files")
    cut = [name for name, file in found["files"].items() if file.get("truncated")]
    if cut:
        api.notes.append(f"only the first megabyte of {', '.join(cut)} is shown")
    return _written(place, found.get("html_url"), render.gist(found), found.get("description") or "Gist", api)


_READERS = {
    "repo": _repo,
    "tree": _tree,
    "file": _file,
    "commit": _commit,
    "issue": _issue,
    "pull": _pull,
    "discussion": _discussion,
    "releases": _releases,
    "release": _release,
    "gist": _gist,
}


def _written(place: Place, url: object, markdown: str, title: str, api: Api, about: Mapping[str, Any] | None = None) -> Read:
    made = plain.read(markdown, url=str(url or ""), media_type="text/markdown")
    published = str((about or {}).get("created_at") or "")
    return Read(
        replace(made, title=title, site="GitHub", extractor="github", published=published, warnings=(*made.warnings, *api.notes)),
        str(url or ""),
    )


def _content(found: Mapping[str, Any]) -> tuple[bytes, bool]:
    """A file's bytes, and whether they are there: large files come without."""
    if found.get("encoding") != "base64":
        return b"", False
    try:
        return base64.b64decode(str(found.get("content") or "")), True
    except binascii.Error as error:
        raise ProviderError("GitHub's answer holds a file that can't be decoded", remedy="try again") from error


def _a_dict(found: Any, field: str) -> Mapping[str, Any]:
    if not isinstance(found, Mapping) or field not in found:
        raise ProviderError("GitHub's answer is not of the shape it documents", remedy="try again; report it if it stays so")
    return found


def _listed(found: Any) -> Sequence[Mapping[str, Any]]:
    if not isinstance(found, list):
        raise ProviderError("GitHub's answer is not of the shape it documents", remedy="try again; report it if it stays so")
    return found
