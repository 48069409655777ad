"""Settings that follow their files: a long-running server takes in what its operator changes, between two calls.

A look costs a few `stat` calls. While what the files say can't be used, the last good settings stay in force and every
result says so; a value that only counts when a program starts is said once.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from cormorant.errors import CormorantError
from cormorant.settings.model import Settings

log = logging.getLogger("cormorant.settings")
SETTLE_S = 0.2  # after which a file that is written in place, not replaced, counts as written whole
# What a running program holds open since its start: files, a socket, the places there are.
AT_START = (
    "store.path", "store.max_bytes", "store.max_age", "library.path",
    "server.host", "server.port", "server.path", "server.hosts", "server.origins", "server.concurrency",
)  # fmt: skip
REFUSED = "the settings were changed and can't be used, the old ones hold"

Stamp = tuple[int, int, int] | None
Apply = Callable[[Settings], Sequence[str]]  # returns the settings that have to wait for the next start


class Follower:
    """The settings in force, from `read`, which is called again once one of `files` has changed."""

    def __init__(self, read: Callable[[], Settings], files: Callable[[], Sequence[Path]]) -> None:
        self._read, self._files = read, files
        self._seen = self._stamps()  # before reading: what changes meanwhile is seen at the next look
        self._sight: tuple[dict[Path, Stamp], float] = ({}, 0.0)
        self.settings = read()
        self.trouble = ""  # why the files as they are now are not in force
        self.waiting: tuple[str, ...] = ()  # settings that were changed and count at the next start only
        self._untold = False

    def again(self) -> Follower:
        """Another one of the same files, for another part of the program. Raises: InvalidArguments."""
        return Follower(self._read, self._files)

    def pause_s(self) -> float:
        """How long to wait before `look`, so that half a file is never taken for the whole; 0 for nearly every call."""
        now = self._stamps()
        if now == self._seen or not self._written_in_place(now):
            return 0.0
        if self._sight[0] != now:
            self._sight = (now, time.monotonic())
        return max(0.0, SETTLE_S - (time.monotonic() - self._sight[1]))

    def look(self, apply: Apply) -> None:
        """Takes in what has changed, by `apply`, all of it or nothing."""
        now = self._stamps()
        if now != self._seen and self.pause_s() == 0.0:
            self._seen = now
            self._take_in(apply)

    def notes(self) -> tuple[str, ...]:
        """What a result has to say; what waits for the next start is said once."""
        told = (
            [f"settings_not_applied: the settings were changed and can't be used, the old ones hold: {self.trouble}"]
            if self.trouble
            else []
        )
        if self._untold:
            self._untold = False
            told.append(f"settings_wait: {', '.join(self.waiting)} was changed and counts at the next start")
        return tuple(told)

    def _take_in(self, apply: Apply) -> None:
        try:
            found = self._read()
            waiting = tuple(apply(found)) if found != self.settings else self.waiting
        except CormorantError as error:
            self.trouble = f"{error.message} ({error.remedy})" if error.remedy else error.message
            log.warning("%s: %s", REFUSED, self.trouble)
            return
        self._untold = bool(waiting) and waiting != self.waiting
        self.settings, self.waiting, self.trouble = found, waiting, ""
        log.info("settings taken in anew")

    def _written_in_place(self, now: dict[Path, Stamp]) -> bool:
        """Whether a file is the same one with other bytes, or gone: both may be half of what its owner is about to do."""
        for path, stamp in now.items():
            before = self._seen.get(path)
            if before != stamp and before is not None and (stamp is None or stamp[2] == before[2]):
                return True
        return False

    def _stamps(self) -> dict[Path, Stamp]:
        return {path: _stamp(path) for path in self._files()}


def at_once(running: Settings, found: Settings) -> tuple[Settings, tuple[str, ...]]:
    """What of the found settings a running program can follow, and the names of those that wait for its next start."""
    waiting = []
    for key in AT_START:
        section, name = key.split(".")
        held, new = getattr(getattr(running, section), name), getattr(found, section)
        if getattr(new, name) != held:
            waiting.append(key)
            found = found.model_copy(update={section: new.model_copy(update={name: held})})
    return found, tuple(waiting)


def _stamp(path: Path) -> Stamp:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
