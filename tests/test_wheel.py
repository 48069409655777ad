"""What is built is what is tested: the wheel has every module and data file, and runs from where it is unpacked."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROBE = """
import cormorant, cormorant.background, cormorant.surfaces.page
from cormorant import extract, settings
assert cormorant.__file__.startswith({where!r}), cormorant.__file__
page = extract.document(b"<title>T</title><main><h1>T</h1><p>High water is at six in the morning.</p></main>", url="https://a.example/")
assert "High water" in page.markdown
settings.load({{}}, {where!r})
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        "--no-index",
        "--wheel-dir",
        str(folder),
        str(ROOT),
    ]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"  # where the build backend's own program lies
    subprocess.run(command, check=True, timeout=120, capture_output=True, env={**os.environ, "PATH": path})
    return next(folder.glob("*.whl"))


def test_every_source_and_data_file_is_in_it(wheel: Path) -> None:
    package = ROOT / "src" / "cormorant"
    wanted = {f"cormorant/{path.relative_to(package)}" for path in package.rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    names = set(zipfile.ZipFile(wheel).namelist())
    assert wanted <= names
    assert any(name.endswith("licenses/LICENSE") for name in names)


def test_it_runs_from_where_it_is_unpacked(wheel: Path, tmp_path: Path) -> None:
    zipfile.ZipFile(wheel).extractall(tmp_path)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    probe = [sys.executable, "-c", PROBE.format(where=str(tmp_path))]
    subprocess.run(probe, check=True, timeout=60, cwd=tmp_path, env=environment)
    version = [sys.executable, "-m", "cormorant", "--version"]
    assert subprocess.run(version, check=True, timeout=60, cwd=tmp_path, env=environment, capture_output=True, text=True).stdout.startswith(
        "cormorant"
    )


def test_no_committed_file_says_where_packages_come_from() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, timeout=30).stdout.split(b"\0")
    hosts = [part + b".org" for part in (b"py" + b"pi", b"python" + b"hosted", b"npm" + b"js", b"deb." + b"debian")]
    for name in listed:
        path = ROOT / name.decode()
        if name and path.is_file():
            text = path.read_bytes()
            assert not any(host in text for host in hosts), name
