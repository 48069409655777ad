"""`cormorant index`: the pages you keep searchable on this machine."""

from __future__ import annotations

import sys
from typing import Any

import click

from cormorant.errors import InvalidArguments
from cormorant.surfaces.cli import emit, emit_json, run_async, tell

COLLECTION = click.option("--collection", default="default", show_default=True, help="Which set of pages.")
JSON = click.option("--json", "as_json", is_flag=True, help="The result as JSON.")


@click.group()
def index() -> None:
    """Keep your own pages searchable, without a server.

    \b
    cormorant index add ./docs https://example.com/sitemap.xml
    cormorant index search 'how do I cancel a task'
    """


@index.command()
@click.argument("sources", nargs=-1, required=True)
@COLLECTION
@click.option("--depth", default=0, show_default=True, help="Follow links of a page this deep, on the same site.")
@click.option("--pages", default=10_000, show_default=True, help="Pages at most.")
@JSON
def add(sources: tuple[str, ...], collection: str, depth: int, pages: int, as_json: bool) -> None:
    """Add folders, files, pages, sitemaps, feeds or llms.txt files.

    What is there already and has not changed is left alone; what vanished from a folder or sitemap is removed.
    Stopping at any moment loses nothing that was added.
    """
    totals = run_async(_add(sources, collection, depth, pages))
    if as_json:
        emit_json(totals)
    else:
        emit(", ".join(f"{count} {what}" for what, count in totals.items() if count) or "nothing to add")
    if not any(totals[what] for what in ("added", "updated", "unchanged")):
        raise SystemExit(1)


async def _add(sources: tuple[str, ...], collection: str, depth: int, pages: int) -> dict[str, int]:
    from cormorant.surfaces.terminal import open_web

    totals = {"added": 0, "updated": 0, "unchanged": 0, "removed": 0, "failed": 0}
    async with open_web() as web:
        for source in sources:
            with _bar(source) as show:
                async for progress in web.index(source, collection=collection, depth=depth, pages=pages):
                    show(progress)
                    if progress.error is not None:
                        tell(f"{progress.url}: {progress.error.code}: {progress.error.message}")
            for what in totals:
                totals[what] += getattr(progress, what)
    return totals


class _bar:
    """A progress bar on stderr, or nothing where stderr is no terminal."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Any:
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import Progress

            self._bar = Progress(console=Console(stderr=True), transient=True)
            self._bar.start()
            self._task = self._bar.add_task(self._source[-40:], total=None)
        return self._show

    def _show(self, progress: Any) -> None:
        if self._bar is not None:
            self._bar.update(self._task, completed=progress.done, total=progress.total)

    def __exit__(self, *exc: object) -> None:
        if self._bar is not None:
            self._bar.stop()


@index.command(name="list")
@click.option("--collection", help="Only this set of pages.")
@JSON
def list_(collection: str | None, as_json: bool) -> None:
    """What is in the library."""
    with _library() as library:
        if collection:
            rows = [held.as_dict() for held in library.documents(collection)]
        else:
            rows = [{"collection": name, "documents": count} for name, count in library.collections().items()]
    if as_json:
        emit_json(rows)
        return
    for row in rows:
        emit(_listed(row))
    if not rows:
        emit("(empty)")
        raise SystemExit(1)


def _listed(row: dict[str, Any]) -> str:
    """One collection, or one document with its title, date and size, as a line."""
    if "documents" in row:
        return f"{row['collection']}  {row['documents']:,} document{'' if row['documents'] == 1 else 's'}"
    told = [row["title"], (row["published_at"] or "")[:10], f"{row['bytes']:,} bytes"]
    return f"{row['url']}  ({', '.join(part for part in told if part)})"


@index.command()
@click.argument("urls", nargs=-1, required=True)
@click.option("--collection", help="Only from this set of pages.")
@JSON
def remove(urls: tuple[str, ...], collection: str | None, as_json: bool) -> None:
    """Remove pages by address (a trailing * removes all below it)."""
    with _library() as library:
        gone = sum(library.remove(url, collection=collection) for url in urls)
    emit_json({"removed": gone}) if as_json else emit(f"{gone} removed")
    if not gone:
        raise SystemExit(1)


@index.command()
@click.argument("words", nargs=-1, required=True)
@click.option("--collection", help="Only in this set of pages.")
@click.option("--count", default=8, show_default=True, type=click.IntRange(1, 100))
@JSON
def search(words: tuple[str, ...], collection: str | None, count: int, as_json: bool) -> None:
    """Search the library alone: phrases in "quotes", -word excludes, site:host narrows."""
    text = " ".join(words)
    if not text.strip():
        raise InvalidArguments("nothing to search for", remedy="cormorant index search 'a question'")
    with _library() as library:
        found = library.search(text, count=count, collection=collection)
    if as_json:
        emit_json([hit.as_dict() for hit in found.hits])
    for n, hit in enumerate(found.hits, 1):
        if not as_json:
            emit(f"{n}. {hit.title}\n   {hit.url}\n   {hit.snippet}")
    if not found.hits:
        if not as_json:
            emit("(no results)")
        raise SystemExit(1)


def _library() -> Any:
    from cormorant import settings
    from cormorant.library import Library

    return Library(settings.load().library.path)
