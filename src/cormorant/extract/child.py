"""Readers of documents run in a child process: a crash, a hang or a memory bomb ends the child and nothing else.

`run` starts `python -m cormorant.extract.child JOB`, hands the bytes over and takes JSON back (never a pickle: what a
broken document made of the child must not reach into the parent). The child caps its own memory, time and files before
it looks at a byte, and sees no environment of ours beyond where Python's modules are.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from importlib import import_module
from typing import Any

from cormorant.errors import CormorantError, ExtractionFailed, family

TIMEOUT_S = 45.0  # wall clock of one document
CPU_S = 40  # processor time of one document
MEMORY_BYTES = 1_536 * 1024**2  # address space: interpreter and libraries are about a third of a gigabyte of it
ANSWER_MAX_BYTES = 32 * 1024**2

# A job's name and the function behind it: bytes and keyword arguments in, something JSON can carry out.
JOBS = {
    "pdf": "cormorant.extract.pdf:parse",
    "office": "cormorant.extract.office:parse",
    "image": "cormorant.extract.recode:parse",
}


def run(job: str, body: bytes, *, timeout_s: float = TIMEOUT_S, **arguments: Any) -> Any:
    """What the job makes of the bytes, read in a child process.

    Raises: what the job raises, and ExtractionFailed when the child crashed, hung or needed too much memory.
    """
    found = json.loads(
        answer_of([sys.executable, "-m", "cormorant.extract.child", job, json.dumps(arguments)], body, job=job, timeout_s=timeout_s)
    )
    if "error" in found:
        raise _rebuilt(found["error"])
    return found["value"]


def answer_of(command: list[str], body: bytes, *, job: str, timeout_s: float) -> bytes:
    """What a command answers to a body. Raises: ExtractionFailed when it ends badly, late or without an answer."""
    with subprocess.Popen(  # noqa: S603 our own interpreter and module, arguments as a list
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=_environment(), cwd=os.sep, close_fds=True
    ) as child:
        try:
            answer, complaint = child.communicate(body, timeout=timeout_s)
        except subprocess.TimeoutExpired as error:
            raise ExtractionFailed(f"reading the {job} document took longer than {timeout_s:g} s", remedy=_OTHER) from error
        finally:
            if child.poll() is None:
                child.kill()
    if child.returncode != 0 or not answer:
        raise ExtractionFailed(_ended(job, child.returncode, complaint), remedy=_OTHER)
    return answer


_OTHER = "try another copy of the document, or the page that links to it"


def _environment() -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT", "LANG", "LC_ALL", "TMPDIR", "LD_LIBRARY_PATH") if name in os.environ}
    return {
        **kept,
        "PYTHONPATH": os.pathsep.join(os.path.abspath(path) for path in sys.path if path),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
    }


def _ended(job: str, code: int, complaint: bytes) -> str:
    text = complaint.decode("utf-8", "replace")
    if "MemoryError" in text or "bad_alloc" in text or code in (-signal.SIGKILL, -signal.SIGABRT):
        return f"the {job} document needs more memory than a document may have"
    if code == -signal.SIGXCPU:
        return f"reading the {job} document took longer than {CPU_S} s of processor time"
    if code < 0:
        return f"the {job} reader crashed on this document ({signal.Signals(-code).name})"
    return f"the {job} reader failed on this document"


def _rebuilt(error: dict[str, Any]) -> CormorantError:
    kind = family(error["code"])
    return kind(error["message"], remedy=error["hint"], url=error["url"] or "", retryable=error["retryable"])


def _cap() -> None:
    """Limits of this process, before any document is looked at."""
    try:
        import resource
    except ImportError:  # not a POSIX system: the parent's clock is the only limit
        return
    for what, limit in (
        (resource.RLIMIT_AS, MEMORY_BYTES),
        (resource.RLIMIT_CPU, CPU_S),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        _, hard = resource.getrlimit(what)
        limit = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
        resource.setrlimit(what, (limit, hard if what == resource.RLIMIT_CPU else limit))


def main(job: str, arguments: str) -> None:
    """The child: one document from standard input, one JSON answer to standard output."""
    answer_to = os.dup(1)
    os.dup2(2, 1)  # a library that prints must not write into the answer
    module, function = JOBS[job].split(":")
    work = getattr(import_module(module), function)
    body = sys.stdin.buffer.read()
    _cap()
    try:
        found = {"value": work(body, **json.loads(arguments))}
    except CormorantError as error:
        found = {"error": error.as_dict()}
    with open(answer_to, "wb") as answer:
        answer.write(json.dumps(found, ensure_ascii=False).encode("utf-8", "replace")[:ANSWER_MAX_BYTES])


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
