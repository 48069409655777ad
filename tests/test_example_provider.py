"""The example backend, installed as its users would install it, is found, asked and held to the contract."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROGRAM = """
import sys
sys.path[:0] = sys.argv[1:3]
import anyio
from cormorant import parts
from cormorant.choice import Finder
from cormorant.providers.contract import check
from cormorant.search import Query
from cormorant.settings import of
from support_backends import request, serving

async def main():
    with serving() as simulator:
        simulator.play([{"name": "Tides", "link": "https://a.example/", "about": "High water"}])
        settings = of({"search": {"urls": {"almanac": simulator.url}, "keyless": False}})
        print(type(await check(parts.part("search", "almanac")(settings, request), Query("tides"))).__name__)
        finder = Finder(settings, request=request)
        print((await finder.search(Query("tides"))).provider, (await finder.search(Query("tides"), "almanac")).results[0].title)
        print(next(r.ready for r in finder.providers() if r.name == "almanac"))

anyio.run(main)
"""


def test_an_installed_package_adds_a_backend(tmp_path):
    uv = shutil.which("uv") or str(Path(sys.executable).with_name("uv"))
    if not Path(uv).exists() or importlib.util.find_spec("uv_build") is None:
        pytest.skip("uv and uv-build are not installed (dependency group dev)")
    installed = tmp_path / "site"
    command = [
        uv,
        "pip",
        "install",
        "--quiet",
        "--offline",
        "--no-deps",
        "--no-build-isolation",
        "--python",
        sys.executable,
        "--target",
        str(installed),
    ]
    subprocess.run([*command, str(ROOT / "examples" / "almanac")], check=True, timeout=120, capture_output=True, text=True)
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(installed), str(ROOT / "tests")], capture_output=True, text=True, timeout=60, check=False
    )
    assert run.stdout.split("\n") == ["Found", "almanac Tides", "True", ""], run.stderr
    own = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "--rootdir",
        str(tmp_path),
        "-c",
        os.devnull,
        "--import-mode=importlib",
    ]
    environ = {**os.environ, "PYTHONPATH": str(installed), "PYTHONDONTWRITEBYTECODE": "1"}
    tested = subprocess.run(
        [*own, str(ROOT / "examples" / "almanac" / "tests")], capture_output=True, text=True, timeout=60, check=False, env=environ
    )
    assert tested.returncode == 0, tested.stdout
    assert "6 passed" in tested.stdout
