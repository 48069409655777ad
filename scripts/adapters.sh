#!/bin/sh
# Try the tools inside the real frameworks: one pinned environment each, since they don't agree on what they stand on.
#   scripts/adapters.sh [NAME ...]      names are those of requirements/adapters; all of them without one
set -eu
cd "$(dirname "$0")/.."
for name in ${*:-$(basename -s .txt requirements/adapters/*.txt)}; do
  echo "== $name"
  home=".adapters/$name"
  test -x "$home/bin/python" || "${PYTHON:-python3}" -m venv "$home"
  "$home/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes -r "requirements/adapters/$name.txt"
  case $name in fastmcp) tests=tests/test_fastmcp.py ;; *) tests=tests/test_adapters.py ;; esac
  PYTHONPATH=src "$home/bin/python" -m pytest -q -rs -W default "$tests"  # the frameworks' own warnings are not ours
done
