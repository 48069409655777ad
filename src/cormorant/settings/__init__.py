"""What an operator may set: file and environment in, one frozen value out. Read once, by a surface, or followed (`follow`).

Precedence: environment over project file (`cormorant.toml`) over user file over default. Every setting is
`CORMORANT_SECTION__NAME` in the environment; the names people already have (BRAVE_API_KEY, SEARXNG_URL, ...) work too,
each also as `NAME_FILE`. Durations are `20s`, `5m` or seconds; sizes `5MB` (1024) or bytes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cormorant.errors import InvalidArguments
from cormorant.settings import environment, files, vault
from cormorant.settings.files import PROJECT_FILE
from cormorant.settings.layers import Layers, path_of, to_text
from cormorant.settings.live import Follower, at_once
from cormorant.settings.model import Library, Limits, Search, Settings, Store, fields
from cormorant.settings.names import ALIASES, SECRET_KEYS, SECRETS

__all__ = [
    "ALIASES", "PROJECT_FILE", "SECRETS", "Follower", "Library", "Limits", "Loaded", "Row", "Search", "Settings", "Store", "Written",
    "at_once", "describe", "fields", "follow", "load", "of", "read", "secret_places", "unset", "unset_secret", "write", "write_secret",
]  # fmt: skip
MASK = "(set)"


@dataclass(frozen=True)
class Loaded:
    """Settings with where each came from and what the operator should know (deprecated, clamped, a secret in a file)."""

    settings: Settings
    origins: Mapping[str, str]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Row:
    """One setting as `settings list` and the docs show it, `text` as one would write it; the value of a secret is never in it."""

    key: str
    value: Any
    default: Any
    origin: str
    description: str
    text: str


@dataclass(frozen=True)
class Written:
    """A setting that was written: to which file, as what, and what the operator should know of that."""

    file: Path
    text: str
    notes: tuple[str, ...]


def load(environ: Mapping[str, str] | None = None, cwd: str | Path | None = None) -> Settings:
    """The settings in force. Raises: InvalidArguments for an unknown key or a value that can't be read."""
    return read(environ, cwd).settings


def read(environ: Mapping[str, str] | None = None, cwd: str | Path | None = None) -> Loaded:
    """As `load`, with the origin of every setting and notes for the operator. Raises: InvalidArguments."""
    environ = os.environ if environ is None else environ
    layers = Layers()
    secrets, notes = vault.held(environ)
    layers.notes += notes
    for name, value in secrets.items():
        if name in ALIASES and ALIASES[name] not in SECRET_KEYS:
            layers.text(ALIASES[name], str(value), f"the secret {name}")
            layers.notes.append(
                f"the secret {name} is read as the setting {ALIASES[name]}: `cormorant settings set {ALIASES[name]} ...` and delete it"
            )
        else:
            layers.set(ALIASES.get(name, f"keys.{name}"), str(value), "secrets file")
    project = Path(cwd if cwd is not None else Path.cwd()) / files.PROJECT_FILE
    for path in (files.user_file(environ), project):
        layers.table(files.read_toml(path), str(path))
    if name := environ.get("CORMORANT_PROFILE") or str(layers.values.get("profile", "")):
        layers.overlay_profile(name)
    environment.read(layers, environ)
    return Loaded(layers.validated(), dict(layers.origins), tuple(layers.notes))


def of(value: Settings | Mapping[str, Any] | None) -> Settings:
    """Settings from what a program hands over: a mapping is checked as a file would be. Raises: InvalidArguments."""
    if isinstance(value, Settings):
        return value
    if value is not None and not isinstance(value, Mapping):
        raise InvalidArguments(f"settings are Settings or a mapping, not {type(value).__name__}")
    layers = Layers()
    layers.table(value or {}, "the settings given")
    return layers.validated()


def describe(environ: Mapping[str, str] | None = None, cwd: str | Path | None = None) -> list[Row]:
    """Every setting with its value, default, origin and meaning, in the order of the sections; secrets masked."""
    loaded = read(environ, cwd)
    rows = []
    for key, info in fields():
        value: Any = loaded.settings
        for name in key.split("."):
            value = getattr(value, name)
        if key in SECRET_KEYS:
            value = dict.fromkeys(sorted(value), MASK) if isinstance(value, dict) else MASK if value else ""
        origin = loaded.origins.get(key) or ", ".join(sorted({o for k, o in loaded.origins.items() if k.startswith(f"{key}.")}))
        default = info.get_default(call_default_factory=True)
        rows.append(Row(key, value, default, origin or "default", info.description or "", to_text(value, info)))
    return rows


def write(key: str, value: str, *, path: str | Path | None = None, environ: Mapping[str, str] | None = None) -> Written:
    """Sets one setting in a file (the user's by default). Raises: InvalidArguments."""
    layers = Layers()
    key = layers.known(key)
    if key.startswith(SECRET_KEYS):
        raise InvalidArguments(f"{key} is a secret and no setting", remedy="cormorant secret set NAME reads it from stdin")
    layers.text(key, value, "the value given")
    layers.validated()
    file = Path(path) if path else files.user_file(os.environ if environ is None else environ)
    for name in [name for name in layers.values if name == key or name.startswith(f"{key}.")]:  # a table may be given whole
        steps = tuple(path_of(name, layers.fields))
        if layers.values[name] is None:  # TOML has no null: what is unset is not written
            files.drop(file, steps)
        else:
            files.put(file, steps, layers.values[name])
    kept, info = layers.values.get(key, value), layers.fields.get(key)
    return Written(file, to_text(kept, info) if info else str(kept), tuple(layers.notes))


def unset(key: str, *, path: str | Path | None = None, environ: Mapping[str, str] | None = None) -> bool:
    """Takes one setting out of a file; whether it stood there. Raises: InvalidArguments for an unknown key."""
    layers = Layers()
    key = layers.known(key)
    file = Path(path) if path else files.user_file(os.environ if environ is None else environ)
    return files.drop(file, tuple(path_of(key, layers.fields)))


def write_secret(name: str, value: str, *, environ: Mapping[str, str] | None = None, place: vault.Place | None = None) -> str:
    """Keeps a secret, in the keyring or in a file only its owner can read, and says where.

    `place` wins over the setting `secrets_in`. Raises: InvalidArguments for a name that is no variable's, NotConfigured.
    """
    if not name.replace("_", "").isalnum() or not name.isascii() or name != name.upper():
        raise InvalidArguments(f"{name!r} is no name of a secret", remedy=f"names look like {', '.join(SECRETS[:3])}")
    if name in ALIASES and ALIASES[name] not in SECRET_KEYS:
        raise InvalidArguments(f"{name} is a setting and no secret", remedy=f"cormorant settings set {ALIASES[name]} VALUE")
    if not value.strip():
        raise InvalidArguments(f"nothing was given for {name}", remedy=f"cormorant secret set {name} < file")
    environ = os.environ if environ is None else environ
    return vault.put(name, value.strip(), environ, place or load(environ).secrets_in)


def unset_secret(name: str, *, environ: Mapping[str, str] | None = None) -> bool:
    """Forgets a secret, wherever it lies; whether there was one."""
    return vault.drop(name, os.environ if environ is None else environ)


def secret_places(environ: Mapping[str, str] | None = None) -> dict[str, list[str]]:
    """Every secret that is set, with where it lies, the place in force first. Never a value."""
    environ = os.environ if environ is None else environ
    kept, given = vault.places(environ), environment.secrets(environ)
    return {name: [places[name] for places in (given, kept) if name in places] for name in sorted({*kept, *given})}


def follow(change: Callable[[Settings], Settings] = lambda found: found) -> Follower:
    """The settings as a long-running program needs them: read again once a file has changed. Raises: InvalidArguments.

    `Web(follow())` takes them in between two calls. `change` is done to them each time, as options of a command line do.
    """
    environ, cwd = dict(os.environ), Path.cwd()
    watched = [files.user_file(environ), cwd / PROJECT_FILE, files.secrets_file(environ), *environment.files(environ)]
    return Follower(lambda: change(read(environ, cwd).settings), lambda: watched)
