"""Many rounds of kill -9 against the store: `python bench/store_crash.py [ROUNDS] [SEED]`. The test suite plays a dozen."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

SCRIPT = Path(__file__).parents[1] / "tests" / "support_crash.py"


def main() -> None:
    rounds = sys.argv[1] if len(sys.argv) > 1 else "200"
    seed = sys.argv[2] if len(sys.argv) > 2 else str(random.randrange(10**6))
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, str(SCRIPT), f"{folder}/results", rounds, seed], stdout=subprocess.PIPE, text=True, check=True
        )
    outcome = json.loads(done.stdout)
    print(json.dumps({"seed": int(seed), **outcome}))
    sys.exit(any(outcome[name] for name in ("lost", "torn", "leftovers")))


if __name__ == "__main__":
    main()
