"""Where secrets lie: in the keyring of the operating system when there is one, else in one file for its owner alone.

The file names every secret; for one that lies in the keyring it says just that, since a keyring can't be asked what it
holds. The package `keyring` is optional, and a backend of it counts only once it has given back what it was handed.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, Literal, TypeVar

from cormorant.errors import CormorantError, NotConfigured
from cormorant.settings import files

SERVICE = "cormorant"
ANSWERS_WITHIN_S = 20.0  # a locked keyring asks its owner; a server without a screen must not wait for that for ever
RECOMMENDED = 1  # the priority from which keyring itself calls a backend suitable; below are files in the clear
ELSEWHERE = {"keyring": True}  # what the file says of a secret that is not in it

Place = Literal["auto", "keyring", "file"]
T = TypeVar("T")


def held(environ: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """Every secret by its name, and what the operator should know. A keyring that stays silent costs its secrets only."""
    path = files.secrets_file(environ)
    rows = files.read_toml(path)
    notes = [f"{path} can be read by others: chmod 600 it"] if rows and files.is_open_to_others(path) else []
    found: dict[str, str] = {}
    for name, row in rows.items():
        if not isinstance(row, Mapping):
            found[name] = str(row)
            continue
        try:
            value = _asked(partial(_looked_up, name))
        except NotConfigured as error:
            notes.append(f"the secret {name} lies in the keyring: {error.message}")
            continue
        if value is None:
            notes.append(f"the secret {name} is no longer in the keyring: cormorant secret set {name}")
        else:
            found[name] = value
    return found, notes


def places(environ: Mapping[str, str]) -> dict[str, str]:
    """Every secret by its name with the place it lies in; no keyring is asked."""
    path = files.secrets_file(environ)
    return {name: "keyring" if isinstance(row, Mapping) else str(path) for name, row in files.read_toml(path).items()}


def put(name: str, value: str, environ: Mapping[str, str], place: Place = "auto") -> str:
    """Keeps a secret and says where. Raises: NotConfigured when the keyring was asked for by name and is not there."""
    path = files.secrets_file(environ)
    was_elsewhere = places(environ).get(name) == "keyring"
    backend = ""
    if place != "file":
        try:
            backend = _asked(lambda keyring: _kept(keyring, name, value, any_backend=place == "keyring"))
        except NotConfigured:
            if place == "keyring":
                raise
    files.put(path, (name,), ELSEWHERE if backend else value, secret=True)
    if was_elsewhere and not backend:
        _forgotten(name)
    return f"the keyring ({backend})" if backend else str(path)


def drop(name: str, environ: Mapping[str, str]) -> bool:
    """Forgets a secret, wherever it lies; whether there was one."""
    if places(environ).get(name) == "keyring":
        _forgotten(name)
    return files.drop(files.secrets_file(environ), (name,), secret=True)


def _kept(keyring: Any, name: str, value: str, *, any_backend: bool) -> str:
    """The name of the backend that holds the value now, or nothing when none that is good enough does."""
    backend = keyring.get_keyring()
    if not any_backend and backend.priority < RECOMMENDED:
        return ""
    keyring.set_password(SERVICE, name, value)
    if keyring.get_password(SERVICE, name) != value:
        raise NotConfigured("the keyring did not give back what it was handed", remedy=f"cormorant secret set --in file {name}")
    return str(backend.name)


def _looked_up(name: str, keyring: Any) -> str | None:
    value: str | None = keyring.get_password(SERVICE, name)
    return value


def _forgotten(name: str) -> None:
    """Takes a value out of the keyring; one that does not answer, or has no such value, has nothing to forget."""
    with suppress(NotConfigured):
        _asked(lambda keyring: keyring.delete_password(SERVICE, name))


def _asked(question: Callable[[Any], T]) -> T:
    """What the keyring answers in time. Raises: NotConfigured for every way in which it doesn't."""
    try:
        import keyring
        from keyring.errors import KeyringError
    except ImportError as missing:
        raise NotConfigured("the package keyring is not installed", remedy="pip install 'cormorant[keyring]'") from missing
    answers: list[T] = []
    troubles: list[BaseException] = []

    def ask() -> None:
        try:
            answers.append(question(keyring))
        except (CormorantError, KeyringError, OSError, RuntimeError, ValueError) as error:
            troubles.append(error)

    asking = threading.Thread(target=ask, daemon=True, name="keyring")
    asking.start()
    asking.join(ANSWERS_WITHIN_S)
    if answers:
        return answers[0]
    if troubles:
        said = str(troubles[0]) or type(troubles[0]).__name__
        raise NotConfigured(f"the keyring does not answer: {said}", remedy="cormorant secret set --in file NAME") from troubles[0]
    raise NotConfigured(
        f"the keyring did not answer within {ANSWERS_WITHIN_S:g} s", remedy="unlock it, or cormorant secret set --in file NAME"
    )
