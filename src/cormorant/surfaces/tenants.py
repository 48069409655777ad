"""Who may call, and what is theirs: keys hashed at rest, and one `Web`, store, ledger and library for each tenant.

A tenant's folder holds its own `cormorant.toml`, results, library and executions; nothing of it is looked up anywhere
else, so no setting, secret, page or result can cross. A fresh tenant reaches nothing until its file says what.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import tempfile
import tomllib
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cormorant import settings as settings_room
from cormorant.errors import InvalidArguments, NotConfigured
from cormorant.settings import Follower, Settings

PREFIX = "cmt_"  # what a scanner for leaked keys may look for
NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
LOCAL = "local"  # who calls on loopback where no key is asked for


@dataclass(frozen=True)
class Key:
    """One key as it is kept: its hash, never itself."""

    id: str
    tenant: str
    sha256: str
    created_at: str


class Keys:
    """The keys of a server, in one file for the operator alone. A key is random enough for a plain SHA-256."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._read_at: tuple[int, int] = (0, 0)
        self._keys: tuple[Key, ...] = ()

    def all(self) -> tuple[Key, ...]:
        """Every key there is; the file is read again when it has changed, so a revoked key stops at once."""
        try:
            state = self.path.stat()
        except FileNotFoundError:
            return ()
        if (state.st_mtime_ns, state.st_size) != self._read_at:
            try:
                self._keys = tuple(Key(**row) for row in json.loads(self.path.read_text()))
            except (ValueError, TypeError) as error:
                raise NotConfigured("the file of keys can't be read", remedy="restore it, or remove it and create keys anew") from error
            self._read_at = (state.st_mtime_ns, state.st_size)
        return self._keys

    def create(self, tenant: str) -> tuple[Key, str]:
        """A new key, and its text, which is shown once. Raises: InvalidArguments."""
        checked_tenant(tenant)
        text = PREFIX + secrets.token_urlsafe(32)
        now = datetime.now(UTC).isoformat(timespec="seconds")
        key = Key(secrets.token_hex(4), tenant, hashlib.sha256(text.encode()).hexdigest(), now)
        self._write([*self.all(), key])
        return key, text

    def revoke(self, key_id: str) -> Key:
        """Forget a key. Raises: InvalidArguments when there is none of that id."""
        found = next((key for key in self.all() if key.id == key_id), None)
        if found is None:
            raise InvalidArguments(f"no key has the id {key_id!r}", remedy="cormorant key list")
        self._write([key for key in self.all() if key.id != key_id])
        return found

    def tenant_of(self, text: str) -> str | None:
        """Whose key it is. The hash is looked up, so timing says nothing about the key."""
        digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
        return next((key.tenant for key in self.all() if secrets.compare_digest(key.sha256, digest)), None)

    def _write(self, keys: list[Key]) -> None:
        write_private(self.path, json.dumps([asdict(key) for key in keys], indent=1))


def checked_tenant(name: str) -> str:
    """The name itself. Raises: InvalidArguments when it is no name: it becomes a folder."""
    if not NAME.fullmatch(name):
        raise InvalidArguments(f"not a tenant name: {name[:80]!r}", remedy="lower-case letters, digits, - and _, at most 64")
    return name


def write_private(path: Path, text: str) -> None:
    """Write a file whole, for the owner alone: a reader sees the old text or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")  # 0600 by itself
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def settings_of(folder: Path, tenant: str) -> Settings:
    """A tenant's settings: its own file over the defaults, with an empty allow list where the file names none."""
    home = folder / checked_tenant(tenant)
    file = home / "cormorant.toml"
    table: dict[str, Any] = {}
    if file.exists():
        try:
            table = tomllib.loads(file.read_text(encoding="utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise NotConfigured(f"the settings of tenant {tenant} can't be read: {error}", remedy="correct its cormorant.toml") from error
    table["egress"] = {"allow": [], **table.get("egress", {})}
    table["store"] = {**table.get("store", {}), "path": str(home / "results")}
    table["library"] = {**table.get("library", {}), "path": str(home / "library.db")}
    return settings_room.of(table)


def follow_tenant(folder: Path, tenant: str) -> Follower:
    """The same, taken in again when the tenant's file changes. Raises: InvalidArguments, NotConfigured."""
    return Follower(lambda: settings_of(folder, tenant), lambda: [folder / checked_tenant(tenant) / "cormorant.toml"])
