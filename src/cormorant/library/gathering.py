"""Bringing documents in: folders and files, pages and what they link to, sitemaps, feeds, llms.txt.

Works in batches: fetch and read some, add them in one transaction, say so. Whatever was said is on disk, and a run can
be stopped anywhere and run again: what has not changed is not read again, what vanished is removed when a run was
complete. Nothing is fetched but through the function that is handed in.
"""

from __future__ import annotations

import mimetypes
import os
import re
import secrets
from collections import deque
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import anyio
import anyio.to_thread

from cormorant import errors, hits
from cormorant.document import Document
from cormorant.errors import CormorantError, EmptyPage, HttpError, InvalidArguments, NotContent
from cormorant.library.index import DEFAULT, Library, Origin
from cormorant.library.lists import Listed, kind_of, listed, unpacked
from cormorant.library.reader import Job, Readers, read, readers
from cormorant.search import Reply, Request

FILES = {
    ".html": "text/html", ".htm": "text/html", ".xhtml": "application/xhtml+xml", ".md": "text/markdown", ".markdown": "text/markdown",
    ".mdx": "text/markdown", ".rst": "text/plain", ".txt": "text/plain", ".text": "text/plain", ".adoc": "text/plain", ".org": "text/plain",
    ".pdf": "application/pdf", ".docx": "", ".pptx": "", ".xlsx": "", ".xls": "", ".ods": "", ".odt": "", ".epub": "",
}  # fmt: skip
SKIPPED = frozenset({"node_modules", "__pycache__", "venv", "site-packages"})
NO_PAGES = re.compile(
    r"\.(?:png|jpe?g|gif|svg|webp|avif|ico|bmp|css|js|mjs|json|woff2?|ttf|eot|zip|gz|tgz|bz2|xz|7z|rar|tar|exe|dmg|iso|deb|rpm|whl|mp[34]|avi|mov|mkv|webm|ogg|wav|flac)$",
    re.IGNORECASE,
)
BATCH = 32
FEW = 6
LIGHT_BYTES = 256 * 1024
LISTS_DEEP = 3  # sitemap index in a sitemap index


@dataclass(frozen=True)
class Limits:
    """How far a run goes. `depth` counts links from the page given; `pages` bounds everything."""

    depth: int = 0
    pages: int = 10_000
    concurrency: int = 4
    workers: int = 2
    fetch_timeout_s: float = 20.0


@dataclass(frozen=True)
class Progress:
    """How far a run is; counts are of the whole run so far. `error` is of this step's document alone."""

    url: str = ""
    done: int = 0
    total: int | None = None  # None while it isn't known
    added: int = 0
    updated: int = 0
    unchanged: int = 0
    removed: int = 0
    failed: int = 0
    error: CormorantError | None = None
    finished: bool = False


@dataclass
class _Run:
    """One run over one place."""

    library: Library
    collection: str
    limits: Limits
    readers: Readers
    place: str
    kind: str = ""
    source: int = 0
    name: str = field(default_factory=lambda: secrets.token_hex(6))
    complete: bool = True
    progress: Progress = field(default_factory=Progress)

    async def open(self, kind: str) -> None:
        self.kind = kind
        self.source = await anyio.to_thread.run_sync(self.library.open_source, self.place, kind, self.collection)

    def origin(self, **more: Any) -> Origin:
        return replace(Origin(source=self.source, run=self.name), **more)

    def step(self, url: str, error: CormorantError | None = None, **counts: int) -> Progress:
        summed = {name: getattr(self.progress, name) + count for name, count in counts.items()}
        failed = self.progress.failed + (error is not None)
        self.progress = replace(self.progress, url=url, done=self.progress.done + 1, error=error, failed=failed, **summed)
        return self.progress

    async def keep(self, urls: Sequence[str]) -> None:
        """These are still there as they were."""
        await anyio.to_thread.run_sync(self.library.saw, urls, self.collection, self.origin())

    async def add(self, found: list[tuple[Document, Origin]]) -> AsyncIterator[Progress]:
        """Adds a batch and says what became of each."""
        held = {d.url: self.library.held(d.url, self.collection) for d, _ in found}
        done = await anyio.to_thread.run_sync(
            lambda: self.library.add([d for d, _ in found], collection=self.collection, origin=[o for _, o in found])
        )
        fresh = done.added
        for document, _ in found:
            if held[document.url] is None and fresh:
                fresh -= 1
                yield self.step(document.url, added=1)
            elif done.changed:
                done.changed -= 1
                yield self.step(document.url, updated=1)
            else:
                yield self.step(document.url, unchanged=1)

    async def finish(self) -> Progress:
        gone = await anyio.to_thread.run_sync(lambda: self.library.finish_source(self.source, self.name, complete=self.complete))
        self.progress = replace(self.progress, url=self.place, error=None, removed=gone, finished=True, total=self.progress.done)
        return self.progress


async def gather(
    library: Library, source: str, *, fetch: Request | None = None, collection: str = DEFAULT, limits: Limits | None = None
) -> AsyncIterator[Progress]:
    """Adds what a folder, file, page, sitemap, feed or llms.txt holds; yields after each document is safe on disk.

    Raises: InvalidArguments for a place that is none; the error of the fetch when the place itself can't be had.
    """
    limits = limits or Limits()
    path = _local(source)
    if path is None and fetch is None:
        raise InvalidArguments(f"{source} is no file here, and no way to fetch was given")
    async with readers(limits.workers) as pool:
        place = str(path) if path else source
        run = _Run(library, collection, limits, pool, place)
        steps = _folder(run, path) if path else _web(run, source, fetch)  # type: ignore[arg-type]
        async for progress in steps:
            yield progress
        yield await run.finish()


def _local(source: str) -> Path | None:
    if source.startswith(("http://", "https://")):
        return None
    path = Path(unquote(urlsplit(source).path)) if source.startswith("file://") else Path(source).expanduser()
    if not path.exists():
        hint = (
            f"did you mean https://{source} ?"
            if re.match(r"^[\w-]+(\.[\w-]+)+(/|$)", source)
            else "name a folder, a file or an http(s) address"
        )
        raise InvalidArguments(f"there is no file or folder {source}", remedy=hint)
    return path.resolve()


async def _folder(run: _Run, root: Path) -> AsyncIterator[Progress]:
    await run.open("files")
    files = await anyio.to_thread.run_sync(lambda: list(_files(root)))
    if len(files) > run.limits.pages:
        files, run.complete = files[: run.limits.pages], False
    run.progress = replace(run.progress, total=len(files))
    known = {held.url: held.modified for held in await anyio.to_thread.run_sync(lambda: list(run.library.documents(run.collection)))}
    for start in range(0, len(files), BATCH):
        fresh: list[tuple[Path, str, str]] = []
        same: list[str] = []
        for file in files[start : start + BATCH]:
            url, stamp = file.as_uri(), _stamp(file)
            if known.get(url) == stamp:
                same.append(url)
            else:
                fresh.append((file, url, stamp))
        if same:
            await run.keep(same)
        for url in same:
            yield run.step(url, unchanged=1)
        async for progress in _read_files(run, fresh, known):
            yield progress


async def _read_files(run: _Run, files: list[tuple[Path, str, str]], known: dict[str, str]) -> AsyncIterator[Progress]:
    jobs = [Job(url, FILES.get(file.suffix.lower()) or mimetypes.guess_type(file.name)[0] or "", path=str(file)) for file, url, _ in files]
    ready: list[tuple[Document, Origin]] = []
    for (file, url, stamp), answer in zip(files, await _read_all(run, jobs), strict=True):
        if isinstance(answer, CormorantError) or not answer.markdown.strip():
            error = answer if isinstance(answer, CormorantError) else EmptyPage(f"no text in {file.name}", url=url)
            if url in known:
                await run.keep([url])  # a file that can't be read today has not vanished
            yield run.step(url, error)
        else:
            ready.append((replace(answer, url=url, title=answer.title or file.stem), run.origin(modified=stamp, bytes=file.stat().st_size)))
    async for progress in run.add(ready):
        yield progress


async def _read_all(run: _Run, jobs: list[Job]) -> list[Document | CormorantError]:
    answers: dict[int, Document | CormorantError] = {}
    # A child costs half a second to start and a page twenty milliseconds to read: a few plain pages are read here.
    here = len(jobs) <= FEW and all(_is_light(job) for job in jobs)

    async def one(n: int, job: Job) -> None:
        answers[n] = await anyio.to_thread.run_sync(_read_here, job) if here else await run.readers.read(job)

    async with anyio.create_task_group() as group:
        for n, job in enumerate(jobs):
            group.start_soon(one, n, job)
    return [answers[n] for n in range(len(jobs))]


def _is_light(job: Job) -> bool:
    size = os.path.getsize(job.path) if job.path and os.path.exists(job.path) else len(job.body)
    return size <= LIGHT_BYTES and job.content_type.startswith("text/")


def _read_here(job: Job) -> Document | CormorantError:
    try:
        return read(job)
    except CormorantError as error:
        return error


def _stamp(file: Path) -> str:
    found = file.stat()
    return f"{found.st_mtime_ns}-{found.st_size}"


def _files(root: Path) -> Iterator[Path]:
    """The documents of a folder in a stable order; hidden, generated and linked-to folders left out."""
    if root.is_file():
        yield root
        return
    for folder, folders, names in os.walk(root):
        built = "objects.inv" in names or "searchindex.js" in names  # Sphinx: its indexes and sources repeat the pages
        folders[:] = sorted(f for f in folders if f not in SKIPPED and not f.startswith(".") and not (built and f.startswith("_")))
        for name in sorted(names):
            file = Path(folder, name)
            if name.startswith(".") or file.suffix.lower() not in FILES or not file.is_file():
                continue
            if built and re.fullmatch(r"(?:genindex.*|search|py-modindex)\.html", name):
                continue
            yield file


@dataclass
class _Fetched:
    """A page as it came, or why it didn't."""

    url: str
    reply: Reply | None = None
    error: CormorantError | None = None


async def _web(run: _Run, source: str, fetch: Request) -> AsyncIterator[Progress]:
    first = await _get(run, fetch, source, {})
    if first.error is not None:
        raise first.error
    if first.reply is None or not 200 <= first.reply.status < 300:
        status = first.reply.status if first.reply else 0
        raise HttpError(f"{source} answered {status}", url=source, status=status)
    base = first.reply.url or source
    body = unpacked(first.reply.body)
    kind = kind_of(base, body)
    await run.open(kind)
    if kind == "page":
        steps = _crawl(run, fetch, base, first)
    else:
        pages = await _pages(run, fetch, kind, body, base)
        run.complete = run.complete and kind != "feed"  # a feed forgets; what it forgets is not gone
        steps = _listed(run, fetch, pages)
    async for progress in steps:
        yield progress


async def _pages(run: _Run, fetch: Request, kind: str, body: bytes, base: str) -> list[Listed]:
    """Every page a list names, indexes of lists opened."""
    pages: dict[str, Listed] = {}
    waiting = deque([(kind, body, base, 0)])
    while waiting:
        kind, body, base, deep = waiting.popleft()
        for one in listed(kind, body, base):  # type: ignore[arg-type]
            if kind != "sitemap index":
                pages.setdefault(one.url, one)
                continue
            got = await _get(run, fetch, one.url, {}) if deep < LISTS_DEEP else _Fetched(one.url)
            if got.reply is None or got.reply.status != 200:
                run.complete = False
                continue
            inner = unpacked(got.reply.body)
            waiting.append((kind_of(one.url, inner), inner, one.url, deep + 1))
        if len(pages) > run.limits.pages:
            run.complete = False
            break
    return list(pages.values())[: run.limits.pages]


async def _listed(run: _Run, fetch: Request, pages: list[Listed]) -> AsyncIterator[Progress]:
    run.progress = replace(run.progress, total=len(pages))
    now = datetime.now(UTC)
    dated = {page.url: date for page in pages if (date := hits.iso_date(page.published, now))}
    known = {h.url: h for h in await anyio.to_thread.run_sync(lambda: list(run.library.documents(run.collection)))}
    for start in range(0, len(pages), BATCH):
        wanted: list[str] = []
        same: list[str] = []
        for page in pages[start : start + BATCH]:
            held = known.get(page.url)
            (same if held and page.modified and page.modified[:10] < held.added_at[:10] else wanted).append(page.url)
        if same:
            await run.keep(same)
        for url in same:
            yield run.step(url, unchanged=1)
        async for progress, _ in _batch(run, fetch, wanted, dated=dated):
            yield progress


async def _crawl(run: _Run, fetch: Request, start: str, first: _Fetched) -> AsyncIterator[Progress]:
    """The page, and within `depth` what it links to on the same host."""
    host = urlsplit(start).netloc
    seen = {hits.same_page(start)}
    level: list[str] = [start]
    ready: dict[str, _Fetched] = {start: first}
    for depth in range(run.limits.depth + 1):
        following: list[str] = []
        for begin in range(0, len(level), BATCH):
            async for progress, document in _batch(run, fetch, level[begin : begin + BATCH], ready):
                yield progress
                for link in document.links if document and depth < run.limits.depth else ():
                    url = hits.page_url(link.href).partition("#")[0]
                    key = hits.same_page(url)
                    if url and urlsplit(url).netloc == host and key not in seen and not NO_PAGES.search(urlsplit(url).path):
                        seen.add(key)
                        following.append(url)
        room = run.limits.pages - run.progress.done
        if len(following) > room:
            run.complete = False
        level = following[: max(0, room)]
        if not level:
            break
        run.progress = replace(run.progress, total=run.progress.done + len(level))


async def _batch(
    run: _Run, fetch: Request, urls: list[str], ready: dict[str, _Fetched] | None = None, dated: Mapping[str, str] = {}
) -> AsyncIterator[tuple[Progress, Document | None]]:
    """Fetches, reads and adds some pages; `dated` has the dates of those that may not say theirs themselves."""
    got = await _get_all(run, fetch, urls, ready or {})
    bodies: list[_Fetched] = []
    for one in got:
        status = one.reply.status if one.reply else 0
        if status == 304:
            await run.keep([one.url])
            yield run.step(one.url, unchanged=1), run.library.document(one.url)
        elif one.error is None and 200 <= status < 300:
            bodies.append(one)
        else:
            if status not in (404, 410):
                await run.keep([one.url])  # out of reach is not gone
            yield run.step(one.url, one.error or HttpError(f"HTTP {status}", url=one.url, status=status)), None
    jobs = [Job(o.reply.url or o.url, o.reply.headers.get("content-type", ""), body=o.reply.body) for o in bodies if o.reply]
    documents: list[tuple[Document, Origin]] = []
    for one, answer in zip(bodies, await _read_all(run, jobs), strict=True):
        if problem := _problem(answer):
            await run.keep([one.url])
            yield run.step(one.url, problem), None
        elif isinstance(answer, Document) and one.reply:
            headers = one.reply.headers
            origin = run.origin(etag=headers.get("etag", ""), modified=headers.get("last-modified", ""), bytes=len(one.reply.body))
            documents.append((replace(answer, published=answer.published or dated.get(one.url, "")), origin))
    by_url = {document.url: document for document, _ in documents}
    async for progress in run.add(documents):
        yield progress, by_url.get(progress.url)


def _problem(answer: Document | CormorantError) -> CormorantError | None:
    """Why a page is not worth keeping."""
    if isinstance(answer, CormorantError):
        return answer
    if answer.outcome != "content":
        kind = errors.family(answer.outcome)
        return kind(f"the page is no content: {answer.outcome}", url=answer.url) if issubclass(kind, NotContent) else None
    return None if answer.markdown.strip() else EmptyPage("no text on the page", url=answer.url)


async def _get_all(run: _Run, fetch: Request, urls: list[str], ready: dict[str, _Fetched]) -> list[_Fetched]:
    got: dict[str, _Fetched] = {url: ready[url] for url in urls if url in ready}
    room = anyio.Semaphore(run.limits.concurrency)

    async def one(url: str) -> None:
        held = await anyio.to_thread.run_sync(run.library.held, url, run.collection)
        given = {"If-None-Match": held.etag, "If-Modified-Since": "" if held.etag else held.modified} if held else {}
        async with room:
            got[url] = await _get(run, fetch, url, {name: value for name, value in given.items() if value})

    async with anyio.create_task_group() as group:
        for url in urls:
            if url not in got:
                group.start_soon(one, url)
    return [got[url] for url in urls]


async def _get(run: _Run, fetch: Request, url: str, headers: dict[str, str]) -> _Fetched:
    try:
        return _Fetched(url, await fetch("GET", url, headers=headers, timeout_s=run.limits.fetch_timeout_s))
    except CormorantError as error:
        return _Fetched(url, error=error)
