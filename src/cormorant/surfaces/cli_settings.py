"""`cormorant settings` and `cormorant secret`: what an operator may set, where it comes from, and where keys lie."""

from __future__ import annotations

import sys
from typing import Literal

import click

from cormorant.errors import InvalidArguments
from cormorant.surfaces.cli import emit, emit_json, tell

JSON = click.option("--json", "as_json", is_flag=True, help="The result as JSON.")
PROJECT = click.option("--project", is_flag=True, help="In ./cormorant.toml instead of the user's own file.")
PROJECT_FILE = "cormorant.toml"


@click.group(invoke_without_command=True)
@JSON
@click.pass_context
def settings(ctx: click.Context, as_json: bool) -> None:
    """Show and change settings.

    \b
    cormorant settings                                 all of them, and where each value comes from
    cormorant settings list fuse                       those with this word, and what they mean
    cormorant settings set search.provider searxng
    cormorant settings unset search.provider
    """
    if ctx.invoked_subcommand is None:
        _show_settings("", as_json)


@settings.command(name="list")
@click.argument("word", default="")
@JSON
def list_(word: str, as_json: bool) -> None:
    """Every setting, its value as you would write it, and where it comes from; with WORD those alone, and their meaning."""
    _show_settings(word, as_json)


def _show_settings(word: str, as_json: bool) -> None:
    from cormorant.settings import describe, read

    found = word.lower()
    every = describe()
    rows = [row for row in every if found in row.key.lower()] or [row for row in every if found in row.description.lower()]
    if as_json:
        emit_json([{"key": row.key, "value": row.value, "origin": row.origin, "description": row.description} for row in rows])
        return
    width = max((len(row.key) for row in rows), default=0)
    section = ""
    for row in rows:
        head = row.key.partition(".")[0]
        if section and head != section and not word:
            emit("")
        section = head
        origin = "" if row.origin == "default" else f"  ({row.origin})"
        emit(f"{row.key:<{width}}  {row.text}{origin}".rstrip())
        if word:
            emit(f"  {row.description}")
    if not rows:
        emit("(no such setting)")
        raise SystemExit(1)
    for note in read().notes:
        tell(f"note: {note}")


@settings.command(name="set")
@click.argument("key")
@click.argument("value")
@PROJECT
@JSON
def set_(key: str, value: str, project: bool, as_json: bool) -> None:
    """Set KEY to VALUE (lists are separated by commas).

    \b
    cormorant settings set search.provider searxng
    """
    from cormorant.settings import describe, write

    written = write(key, value, path=PROJECT_FILE if project else None)
    tell(f"{key} = {written.text} in {written.file}")
    for note in written.notes:
        tell(f"note: {note}")
    origin = next((row.origin for row in describe() if row.key == key), str(written.file))
    if not project and origin != str(written.file):
        tell(f"note: {origin} says otherwise and wins here")
    if as_json:
        _show_one(key)


def _show_one(key: str) -> None:
    """One setting as it is now."""
    from cormorant.settings import describe

    emit_json(next(({"key": row.key, "value": row.value, "origin": row.origin} for row in describe() if row.key == key), {"key": key}))


@settings.command()
@click.argument("key")
@PROJECT
@JSON
def unset(key: str, project: bool, as_json: bool) -> None:
    """Put KEY back to its default.

    \b
    cormorant settings unset search.provider
    """
    from cormorant.settings import describe
    from cormorant.settings import unset as remove

    gone = remove(key, path=PROJECT_FILE if project else None)
    row = next((row for row in describe() if row.key == key), None)
    now = f"; it is {row.text or 'empty'} now ({row.origin})" if row else ""
    tell(f"{key} unset{now}" if gone else f"{key} was not set there{now}")
    if as_json:
        _show_one(key)


@click.group()
def secret() -> None:
    """Keep keys apart from settings: in your keyring, or in one file for you alone (mode 0600).

    \b
    printf %s "$KEY" | cormorant secret set BRAVE_API_KEY
    cormorant secret list
    """


@secret.command(name="set")
@click.argument("name")
@click.option("--in", "place", type=click.Choice(["keyring", "file"]), help="Where to keep it, whatever secrets_in says.")
@JSON
def set_secret(name: str, place: Literal["keyring", "file"] | None, as_json: bool) -> None:
    """Keep the secret NAME, read from standard input or, at a terminal, asked for.

    \b
    printf %s "$KEY" | cormorant secret set BRAVE_API_KEY
    """
    from cormorant.settings import secret_places, write_secret

    value = click.prompt(name, hide_input=True, err=True) if sys.stdin.isatty() else sys.stdin.read().strip()
    if not value:
        raise InvalidArguments("nothing on standard input", remedy=f'printf %s "$KEY" | cormorant secret set {name}')
    tell(f"{name} kept in {write_secret(name, value, place=place)}")
    if as_json:
        emit_json({"name": name, "in": secret_places().get(name, [])})


@secret.command(name="list")
@JSON
def list_secrets(as_json: bool) -> None:
    """Which secrets are set and where each lies; never a value."""
    from cormorant.settings import secret_places

    places = secret_places()
    if as_json:
        emit_json([{"name": name, "in": found} for name, found in places.items()])
        return
    width = max(map(len, places), default=0)
    for name, found in places.items():
        emit(f"{name:<{width}}  {', over '.join(found)}")
    if not places:
        emit("(no secrets)")


@secret.command(name="unset")
@click.argument("name")
@JSON
def unset_secret_(name: str, as_json: bool) -> None:
    """Forget the secret NAME.

    \b
    cormorant secret unset BRAVE_API_KEY
    """
    from cormorant.settings import secret_places, unset_secret

    gone = unset_secret(name)
    tell(f"{name} forgotten" if gone else f"{name} was not kept here")
    if left := secret_places().get(name):
        tell(f"{name} is still set: {', '.join(left)}")
    if as_json:
        emit_json({"name": name, "in": left or []})
