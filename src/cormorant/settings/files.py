"""The files behind the settings: where they lie, how they are read, how they are changed without losing a comment.

Writes are atomic (a new file, then a rename), and files with secrets are readable by their owner alone from the moment
they exist. Nothing here knows which settings there are; `settings` does.
"""

from __future__ import annotations

import os
import tempfile
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import platformdirs

from cormorant.errors import InvalidArguments

PROJECT_FILE = "cormorant.toml"
OWNER_ONLY = 0o600


def config_folder(environ: Mapping[str, str]) -> Path:
    """The user's folder for settings; `XDG_CONFIG_HOME` of the given environment wins."""
    home = environ.get("XDG_CONFIG_HOME")
    return Path(home) / "cormorant" if home else Path(platformdirs.user_config_dir("cormorant"))


def data_folder(environ: Mapping[str, str]) -> Path:
    """The user's folder for what is kept: index, results, the health of backends."""
    home = environ.get("XDG_DATA_HOME")
    return Path(home) / "cormorant" if home else Path(platformdirs.user_data_dir("cormorant"))


def user_file(environ: Mapping[str, str]) -> Path:
    return config_folder(environ) / "settings.toml"


def secrets_file(environ: Mapping[str, str]) -> Path:
    return config_folder(environ) / "secrets.toml"


def read_toml(path: Path) -> dict[str, Any]:
    """The file's table; empty where there is no file. Raises: InvalidArguments naming file and line."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidArguments(f"{path} can't be read: {error}", remedy="make it a readable UTF-8 file") from error
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidArguments(f"{path} is not TOML: {error}", remedy="correct that line") from error


def is_open_to_others(path: Path) -> bool:
    try:
        return bool(path.stat().st_mode & 0o077)
    except OSError:
        return False


def put(path: Path, keys: tuple[str, ...], value: Any, *, secret: bool = False) -> None:
    """Sets one value, leaving every other line of the file as it stands."""
    import tomlkit

    table = root = _editable(path)
    for key in keys[:-1]:
        if not isinstance(table.get(key), Mapping):
            table[key] = tomlkit.table()
        table = table[key]
    table[keys[-1]] = list(value) if isinstance(value, tuple) else value
    replace(path, tomlkit.dumps(root), mode=OWNER_ONLY if secret else _mode_of(path))


def drop(path: Path, keys: tuple[str, ...], *, secret: bool = False) -> bool:
    """Removes one value; whether there was one."""
    import tomlkit

    table = root = _editable(path)
    for key in keys[:-1]:
        table = table.get(key)
        if not isinstance(table, Mapping):
            return False
    if keys[-1] not in table:
        return False
    del table[keys[-1]]
    replace(path, tomlkit.dumps(root), mode=OWNER_ONLY if secret else _mode_of(path))
    return True


def _editable(path: Path) -> Any:
    import tomlkit

    read_toml(path)  # the same refusal, whoever meets a broken file first
    return tomlkit.parse(path.read_bytes().decode("utf-8-sig")) if path.exists() else tomlkit.document()


def _mode_of(path: Path) -> int:
    try:
        return path.stat().st_mode & 0o777
    except OSError:
        return OWNER_ONLY


def replace(path: Path, text: str, *, mode: int) -> None:
    """The whole file at once: a reader sees the old one or the new one, also after a crash."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle, draft = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")  # mkstemp makes it 0600
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(draft, mode)
        os.replace(draft, path)
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise
