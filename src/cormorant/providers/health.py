"""How the backends fared lately, kept in one small file so that a new process does not ask a dead one again.

Two failures in a row, or three suspicious empty answers, let a backend rest for ten minutes, each further time twice as
long; a Retry-After is kept as long as it says. When the rest is over one search is the probe, and the others go on
leaving the backend alone until it has answered.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from cormorant.errors import CormorantError
from cormorant.settings.files import OWNER_ONLY, replace

FAILURES = 2
EMPTIES = 3
REST_S = 600.0
REST_MAX_S = 6 * 3600.0
PROBE_S = 60.0  # that a probe may take before somebody else tries
TIMES_KEPT = 40  # durations of the latest answers, for the 95th percentile
TIMES_NEEDED = 8  # before a percentile says anything
SLOW = 0.95


@dataclass
class _State:
    failures: int = 0
    empties: int = 0
    rests: int = 0
    until: str = ""
    last_error: str = ""
    took_s: list[float] = field(default_factory=list)


class Health:
    """Who rests until when."""

    def __init__(self, path: Path, now: Callable[[], datetime]) -> None:
        self.path = path
        self._now = now
        self._states: dict[str, _State] = {}
        self._read_at: int = -1

    def rests(self, name: str) -> bool:
        """Whether this backend is left alone for now."""
        until = self._state(name).until
        return bool(until) and self._now().isoformat() < until

    def may_ask(self, name: str) -> bool:
        """Whether this backend may be asked now. After a rest the first who comes is the probe, and the rest is over when it answers."""
        state = self._state(name)
        if not state.until:
            return True
        if self.rests(name):
            return False
        state.until = (self._now() + timedelta(seconds=PROBE_S)).isoformat()
        self._write()
        return True

    def why(self, name: str) -> str:
        state = self._state(name)
        return f"resting until {state.until}: {state.last_error or 'suspicious empty answers'}"

    def shown(self, name: str) -> tuple[str, str]:
        """The last error and until when it rests, for doctor."""
        state = self._state(name)
        return state.last_error, state.until if self.rests(name) else ""

    def failed(self, name: str, error: CormorantError) -> None:
        """Counts a failure; enough of them, or a Retry-After, and the backend rests."""
        state = self._state(name)
        state.failures += 1
        state.last_error = f"{error.code}: {error.message}"[:300]
        if error.retry_after:
            self._rest(state, error.retry_after)
        elif state.failures >= FAILURES:
            self._rest(state, min(REST_S * 2**state.rests, REST_MAX_S))
            state.rests += 1
        self._write()

    def forgive(self, names: Iterable[str]) -> None:
        """Takes failures back: nobody at all could be reached, so it was our network and not theirs."""
        for name in names:
            state = self._state(name)
            state.failures, state.until, state.rests = 0, "", 0
        self._write()

    def answered(self, name: str, *, empty: bool) -> None:
        """Counts an answer. Empty ones are no failure, but three in a row are suspicious."""
        state = self._state(name)
        before = asdict(state)
        state.failures = 0
        state.empties = state.empties + 1 if empty else 0
        if state.empties >= EMPTIES:
            state.empties = 0
            self._rest(state, min(REST_S * 2**state.rests, REST_MAX_S))
            state.rests += 1
        else:
            state.until = ""
        if not empty:
            state.rests, state.last_error = 0, ""
        if asdict(state) != before:
            self._write()

    def took(self, name: str, seconds: float) -> None:
        """Notes how long an answer took; one that was no longer waited for took at least as long."""
        state = self._state(name)
        state.took_s = [*state.took_s, round(seconds, 3)][-TIMES_KEPT:]
        self._write()

    def slow_after_s(self, name: str) -> float | None:
        """The 95th percentile of its latest answers; None until there are enough of them."""
        times = sorted(self._state(name).took_s)
        return times[math.ceil(SLOW * len(times)) - 1] if len(times) >= TIMES_NEEDED else None

    def _rest(self, state: _State, seconds: float) -> None:
        until = (self._now() + timedelta(seconds=seconds)).isoformat()
        state.until = max(state.until, until)

    def _state(self, name: str) -> _State:
        self._refresh()
        return self._states.setdefault(name, _State())

    def _refresh(self) -> None:
        """Takes in what other processes noted; a file that can't be read is an empty one."""
        try:
            stamp = self.path.stat().st_mtime_ns
            if stamp == self._read_at:
                return
            held: dict[str, dict[str, Any]] = json.loads(self.path.read_text(encoding="utf-8"))
            self._states = {name: _State(**fields) for name, fields in held.items()}
            self._read_at = stamp
        except (OSError, ValueError, TypeError, AttributeError):
            return

    def _write(self) -> None:
        held = {name: asdict(state) for name, state in self._states.items() if asdict(state) != asdict(_State())}
        try:
            replace(self.path, json.dumps(held, indent=1), mode=OWNER_ONLY)
            self._read_at = self.path.stat().st_mtime_ns
        except OSError:
            return  # a folder that can't be written only means that other processes don't know
