# Everything goes through one virtual environment, made on first use.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo report test fuzz browser lint chaos bench clean
.DEFAULT_GOAL := demo

demo: .venv/ready  ## Fit the four-node graph of Figure 1, audit the result, draw it
	$(BIN)/python -m reproduction.experiments.figure1

test: .venv/ready lint browser  ## Everything that CI runs
	$(BIN)/python -m pytest -n 2 --dist worksteal

MINUTES ?= 30
SEED ?= 0
fuzz: .venv/ready  ## Strange files for every reader, for MINUTES; what breaks a promise is kept in out/fuzz
	$(BIN)/python -m tests.fuzz --minutes $(MINUTES) --seed $(SEED)

browser:  ## Debian's Chromium, which the test of the report opens; where it cannot be had, that test is skipped
	@command -v chromium >/dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get update -qq \
	  && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >/dev/null; } \
	  || echo "No Chromium here, and no right to install it: the browser test will be skipped"

lint: .venv/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/basedpyright
	$(BIN)/lint-imports

KILLS ?= 100
SEED ?= 0
chaos: .venv/ready  ## Kill every command that writes with -9 at random moments; all must end as if undisturbed
	PYTHONPATH=tests $(BIN)/python -m chaos --kills $(KILLS) --seed $(SEED)

report: .venv/ready  ## The page that sets our tables and figures beside the paper's, from the ledgers
	$(BIN)/python -m reproduction report

bench: .venv/ready  ## The speed and memory numbers of the README, as ratios measured in one run
	$(BIN)/python -m benchmarks

.venv/ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt torch
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt --editable '.[dev]'
	touch $@

clean:
	rm -rf .venv .pytest_cache .ruff_cache .hypothesis
