"""kill -9 at any moment, four writers at once: what was acknowledged is there, whole, and nothing else stays behind."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROUNDS = 12  # bench/store_crash.py plays many more


def test_killed_writers_lose_nothing_they_acknowledged_and_leave_nothing_torn(tmp_path: Path) -> None:
    script = Path(__file__).with_name("support_crash.py")
    done = subprocess.run(
        [sys.executable, str(script), str(tmp_path / "results"), str(ROUNDS), "7"], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    outcome = json.loads(done.stdout)
    assert (outcome["rounds"], outcome["lost"], outcome["torn"], outcome["leftovers"]) == (ROUNDS, 0, 0, 0)
    assert outcome["acknowledged"] > 0, "the writers came to write at all"
