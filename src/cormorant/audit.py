"""A line for every decision about a request: who was asked for, what was said, by which rule. Append-only JSON lines.

One write per line on a descriptor opened for appending, so that processes that share the file never mix their lines.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from cormorant.errors import CormorantError, NotConfigured

Redact = Callable[[str], str]


class Audit:
    """The log at `path`, or nothing where there is no path. `redact` takes secrets out of every line."""

    def __init__(self, path: str, redact: Redact) -> None:
        self._redact = redact
        self._file = -1
        if path:
            try:
                self._file = os.open(Path(path).expanduser(), os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
            except OSError as error:
                raise NotConfigured(
                    f"the audit log can't be written: {error.strerror}", remedy="set egress.audit to a file in a folder that is there"
                ) from error

    def allowed(self, url: str, *, purpose: str, method: str = "GET") -> None:
        """A request is about to leave."""
        self._write({"decision": "allowed", "purpose": purpose, "method": method, "url": url})

    def refused(self, url: str, error: CormorantError) -> None:
        """A request was refused, by policy, robots.txt, a gate or a guard."""
        self._write({"decision": "refused", "url": error.url or url, "hop": error.hop, "code": error.code, "reason": error.message})

    def _write(self, row: dict[str, object]) -> None:
        if self._file < 0:
            return
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        os.write(self._file, (self._redact(json.dumps({"time": now, **row}, ensure_ascii=False)) + "\n").encode("utf-8", "replace"))

    def close(self) -> None:
        """Nothing is written after this."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
