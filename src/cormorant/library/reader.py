"""Reading documents in child processes: a page that hangs, eats memory or crashes a parser costs one document.

The child is `python -m cormorant.library.reader`; parent and child exchange pickled frames over its standard streams.
A program of its own, not multiprocessing: nothing of the caller's `__main__` is imported again, and no thread is forked.
"""

from __future__ import annotations

import os
import pickle
import resource
import struct
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import anyio
from anyio.abc import Process

from cormorant import extract
from cormorant.document import Document
from cormorant.errors import CormorantError, ExtractionFailed, TooLarge

MEMORY_BYTES = 2 * 1024**3
DOCUMENT_S = 60.0
FILE_MAX_BYTES = 25 * 1024**2
_HEAD = struct.Struct(">Q")


@dataclass(frozen=True)
class Job:
    """One document to read: a file, or bytes that were fetched."""

    url: str
    content_type: str = ""
    path: str = ""
    body: bytes = b""


def read(job: Job) -> Document:
    """The document, in this process. Raises: CormorantError."""
    body = job.body
    if job.path:
        path = Path(job.path)
        try:
            if path.stat().st_size > FILE_MAX_BYTES:
                raise TooLarge(f"{job.path} is larger than {FILE_MAX_BYTES // 1024**2} MiB", url=job.url)
            body = path.read_bytes()
        except OSError as error:
            raise ExtractionFailed(f"{job.path} can't be read: {error.strerror}", url=job.url) from error
    return extract.document(body, url=job.url, content_type=job.content_type)


class Readers:
    """A few children that read documents; made by `readers`."""

    def __init__(self, count: int) -> None:
        self._idle: list[Process] = []
        self._room = anyio.Semaphore(count)

    async def read(self, job: Job) -> Document | CormorantError:
        """The document, or why there is none. Never raises for a bad document."""
        async with self._room:
            child = self._idle.pop() if self._idle else await _start()
            try:
                with anyio.fail_after(DOCUMENT_S):
                    answer = await _exchange(child, job)
            except TimeoutError:
                await _end(child)
                return ExtractionFailed(f"reading took longer than {DOCUMENT_S:g} seconds", url=job.url)
            except (anyio.EndOfStream, anyio.IncompleteRead, anyio.BrokenResourceError, anyio.ClosedResourceError):
                await _end(child)
                return ExtractionFailed("the parser crashed or ran out of memory", url=job.url)
            except BaseException:
                await _end(child)
                raise
            self._idle.append(child)
            return answer

    async def close(self) -> None:
        for child in self._idle:
            await _end(child)
        self._idle.clear()


@asynccontextmanager
async def readers(count: int) -> AsyncIterator[Readers]:
    """At most `count` children, started when they are needed, gone at the end."""
    pool = Readers(count)
    try:
        yield pool
    finally:
        with anyio.CancelScope(shield=True):
            await pool.close()


async def _start() -> Process:
    command = [sys.executable, "-P", "-m", "cormorant.library.reader"]
    return await anyio.open_process(command, stdin=-1, stdout=-1, stderr=None, env={**os.environ, "PYTHONWARNINGS": "ignore"})


async def _end(child: Process) -> None:
    with anyio.CancelScope(shield=True):
        if child.returncode is None:
            child.kill()
        await child.aclose()


async def _exchange(child: Process, job: Job) -> Document | CormorantError:
    assert child.stdin is not None
    assert child.stdout is not None
    sent = pickle.dumps(job)
    await child.stdin.send(_HEAD.pack(len(sent)) + sent)
    head = await _exactly(child, _HEAD.size)
    answer: Any = pickle.loads(await _exactly(child, _HEAD.unpack(head)[0]))  # noqa: S301 - our own child wrote it
    if isinstance(answer, Document):
        return answer
    code, message, remedy = answer
    from cormorant.errors import family

    return family(code)(message, remedy=remedy, url=job.url)


async def _exactly(child: Process, count: int) -> bytes:
    assert child.stdout is not None
    parts: list[bytes] = []
    while count:
        part = await child.stdout.receive(min(count, 1 << 20))
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def serve(source: BinaryIO, sink: BinaryIO) -> None:
    """The child's loop: a job in, a document or an error out, until the parent goes."""
    while head := source.read(_HEAD.size):
        job = pickle.loads(source.read(_HEAD.unpack(head)[0]))  # noqa: S301 - our own parent wrote it
        answer: Any
        try:
            answer = read(job)
        except CormorantError as error:
            answer = (error.code, error.message, error.remedy)
        except (MemoryError, RecursionError) as error:
            answer = ("extraction_failed", f"too much for the parser: {type(error).__name__}", "")
        sent = pickle.dumps(answer)
        sink.write(_HEAD.pack(len(sent)) + sent)
        sink.flush()


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    # What a parser prints must not get between the frames.
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    serve(sys.stdin.buffer, out)
