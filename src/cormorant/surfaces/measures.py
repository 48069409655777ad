"""What a server counts, for Prometheus. One registry per server, so that two in one process do not mix."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from cormorant.errors import CormorantError


class Measures:
    """Calls by tool and outcome, their time, and what is going on now."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._calls = Counter("cormorant_calls", "Tool calls by outcome", ["tool", "code"], registry=self._registry)
        self._seconds = Histogram("cormorant_call_seconds", "Time of a tool call", ["tool"], registry=self._registry)
        self.active = Gauge("cormorant_calls_active", "Tool calls going on", registry=self._registry)
        self.streams = Gauge("cormorant_streams_active", "Event streams open", registry=self._registry)

    @contextmanager
    def call(self, tool: str) -> Iterator[None]:
        """Counts one call, however it ends."""
        code = "cancelled"
        with self.active.track_inprogress(), self._seconds.labels(tool).time():
            try:
                yield
                code = "ok"
            except CormorantError as error:
                code = error.code
                raise
            finally:
                self._calls.labels(tool, code).inc()

    def shown(self) -> bytes:
        """The measures in the text format."""
        return generate_latest(self._registry)
