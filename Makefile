# Everything a fresh machine needs is set up by the targets themselves (Debian 12, Python 3.11, pip, make).
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# The build backend looks its own program up on the path.
export PATH := $(CURDIR)/$(BIN):$(PATH)
READY := $(VENV)/.ready-$(shell cat requirements/*.txt pyproject.toml | sha256sum | cut -c1-12)

.PHONY: demo test check bench docs format requirements clean

demo: $(READY)  ## index real pages, ask a question, fit a long page
	@$(BIN)/python scripts/demo.py

test: $(READY)  ## the tests, with the real parts they talk to
	@scripts/system_packages.sh test
	$(BIN)/python -m pytest -n 2

check: $(READY)  ## format, lint, strict types, then the tests (arrows and docs among them)
	$(BIN)/ruff format --check src tests bench scripts
	$(BIN)/ruff check src tests bench scripts
	$(BIN)/mypy
	$(MAKE) docs test

# Benchmarks of quality read labelled packs; where they are not there, those are left out and said.
PACKS ?= ../shared/bench
PAGES := $(PACKS)/extraction/dev.jsonl.xz
QUESTIONS := $(PACKS)/retrieval
ALONE := startup fetch_throughput fit_time store egress_proxy http_overhead sse_load answer_latency extraction_growth extraction_event_loop
ON_PAGES := extraction_speed extraction_structure outcome_false_alarms
ON_QUESTIONS := verify_quality rerank_quality answer_hits

bench: $(VENV)/.bench  ## every benchmark, beside its peers in the same run
	@for name in $(ALONE); do echo "== $$name"; $(BIN)/python bench/$$name.py || exit 1; done
	@echo "== library_index"; $(BIN)/python bench/library_index.py --documents 20000 --questions 100
	@if [ -f $(PAGES) ]; then for name in $(ON_PAGES); do echo "== $$name"; $(BIN)/python bench/$$name.py $(PAGES) || exit 1; done; \
	else echo "left out, no $(PAGES): $(ON_PAGES)"; fi
	@if [ -d $(QUESTIONS) ]; then echo "== recall_at_budget"; $(BIN)/python bench/recall_at_budget.py $(QUESTIONS) || exit 1; \
	for name in $(ON_QUESTIONS); do echo "== $$name"; $(BIN)/python bench/$$name.py --packs $(QUESTIONS) || exit 1; done; \
	else echo "left out, no $(QUESTIONS): $(ON_QUESTIONS)"; fi

docs: $(READY)  ## the documentation, as a site of plain HTML
	$(BIN)/zensical build --clean

format: $(READY)
	$(BIN)/ruff format src tests bench scripts
	$(BIN)/ruff check --fix src tests bench scripts

$(READY): requirements/dev.txt requirements/page.txt pyproject.toml
	@scripts/system_packages.sh base
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps -r requirements/page.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@rm -f $(VENV)/.ready-*; touch $(READY)

$(VENV)/.bench: requirements/bench.txt bench/node_peers/package-lock.json $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements/bench.txt  # the file names every package there is
	@if command -v npm >/dev/null; then npm ci --prefix bench/node_peers --ignore-scripts --no-audit --no-fund; else echo "left out, no npm: bench/node_peers"; fi
	@touch $(VENV)/.bench

adapters:  ## the tools inside the real agent frameworks, each in an environment of its own
	scripts/adapters.sh

mcp-tools:  ## the official conformance suite and inspector of MCP, which let their tests run
	npm install --prefix requirements/mcp-tools --no-save --ignore-scripts --no-audit --no-fund

requirements:  ## pin anew, with hashes and without any download address
	scripts/pin.sh

clean:
	rm -rf $(VENV) dist site .pytest_cache .mypy_cache .ruff_cache .hypothesis
