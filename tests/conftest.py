"""Fixtures every room's tests may use. No test sleeps; every wait is bounded."""

from __future__ import annotations

import os
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings as hypothesis_settings

from support_canary import CANARY

# A busy machine is no failure, and a run that failed in CI has to fail again on a desk.
hypothesis_settings.register_profile("cormorant", deadline=None, derandomize=bool(os.environ.get("CI")))
hypothesis_settings.load_profile("cormorant")

SHARED = Path(__file__).parents[2] / "shared"


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def cases() -> Path:
    """The folder of collected failures; where it is missing, tests that need it skip and say so."""
    folder = Path(os.environ.get("CORMORANT_CASES", SHARED / "cases"))
    if not folder.is_dir():
        pytest.skip(f"no collected cases at {folder}")
    return folder


@pytest.fixture(autouse=True)
def _own_folders(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No test reads or writes the user's own files, nor sees the keys of whoever runs it."""
    for name in list(os.environ):
        ours = name.startswith(("CORMORANT_", "WEB_SEARCH_")) or name.endswith(("_API_KEY", "_TOKEN"))
        if ours and name != "CORMORANT_CASES":
            monkeypatch.delenv(name)
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))


@pytest.fixture(scope="session", autouse=True)
def _no_secret_is_ever_written(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Whatever the tests of this process wrote is read at the end, and no file may hold the planted secret."""
    yield
    needles = [CANARY.encode(), b64encode(CANARY.encode()).rstrip(b"="), CANARY.encode("utf-16-le")]
    leaks = [
        path for path in tmp_path_factory.getbasetemp().rglob("*") if path.is_file() and not path.is_symlink() and _holds(path, needles)
    ]
    assert leaks == [], f"a secret was written to {leaks}"


def _holds(path: Path, needles: list[bytes]) -> bool:
    try:
        return any(needle in path.read_bytes() for needle in needles)
    except OSError:
        return False  # a socket or a file that a test made unreadable: nothing of ours can be in it
