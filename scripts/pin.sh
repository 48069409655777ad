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
# One file for each framework that the adapters are tried in (scripts/adapters.sh): its packages, and what the tests need.
pin_with() {
  name=$1 extras=$2; shift 2
  # shellcheck disable=SC2086
  printf '%s\n' "$@" "pytest>=9.2" "hypothesis>=6.170" "trustme>=1.2" | pin pyproject.toml - $extras --output-file "requirements/adapters/$name.txt"
}
pin_with fastmcp "--extra mcp" fastmcp
pin_with langchain "" langchain langchain-core
pin_with llama-index "" llama-index-core
pin_with openai-agents "" openai-agents
pin_with pydantic-ai "" pydantic-ai-slim
