#!/bin/sh
# Pin every requirement with its hashes. The files name packages, versions and hashes, never where they were downloaded.
set -eu
cd "$(dirname "$0")/.."
pin() { uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate --no-header "$@"; }
all="--all-extras"
# shellcheck disable=SC2086
pin pyproject.toml $all --group dev --output-file requirements/dev.txt
# shellcheck disable=SC2086
pin pyproject.toml $all --group dev --group bench --output-file requirements/bench.txt
# axe-core, the accessibility checker, as this wheel carries it; the browser driver it is made for is not needed.
echo axe-playwright-python | pin --no-deps - --output-file requirements/page.txt
