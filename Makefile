# Everything goes through one virtual environment, made on first use.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo report docs test test-all fuzz browser browser-runtime lint chaos bench dist dist-check clean
.DEFAULT_GOAL := demo

demo: .venv/ready  ## Fit four nodes, learn a one-way city, repair a matrix: one page about it, whose path is printed last
	$(BIN)/python -m examples.demo

test: .venv/ready lint browser  ## Everything that CI runs
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "not slow"

test-all: .venv/ready lint browser  ## The same, and the tests that take longest
	$(BIN)/python -m pytest -n 2 --dist worksteal

MINUTES ?= 30
SEED ?= 0
fuzz: .venv/ready  ## Strange files for every reader, for MINUTES; what breaks a promise is kept in out/fuzz
	$(BIN)/python -m tests.fuzz --minutes $(MINUTES) --seed $(SEED)

browser:  ## Debian's Chromium, which the tests of the report and of the site open; where it cannot be had, they are skipped
	@command -v chromium >/dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get update -qq \
	  && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >/dev/null; } \
	  || echo "No Chromium here, and no right to install it: the browser test will be skipped"

browser-runtime:  ## The npm package onnxruntime-web in build/, with which a model runs in a browser (examples/browser)
	npm install --no-audit --no-fund --prefix build onnxruntime-web@1.30.0

lint: .venv/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports & imports=$$!; $(BIN)/basedpyright && wait $$imports

KILLS ?= 100
SEED ?= 0
chaos: .venv/ready  ## Kill every command that writes with -9 at random moments; all must end as if undisturbed
	PYTHONPATH=tests $(BIN)/python -m chaos --kills $(KILLS) --seed $(SEED)

report: .venv/ready  ## The page that sets our tables and figures beside the paper's, from the ledgers
	$(BIN)/python -m reproduction report

docs: .venv/ready browser  ## The documentation site, with its tutorials executed, in site/; opens from disk
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet
	$(BIN)/python -m website.check site
	@echo "$(CURDIR)/site"

bench: .venv/ready  ## The speed and memory numbers of the README, as ratios measured in one run
	$(BIN)/python -m benchmarks

dist: .venv/ready  ## Build the wheel and the source archive into dist/, and check what is inside
	$(BIN)/python -m tools.release

dist-check: .venv/ready  ## The same, then use the wheel in fresh environments of PYTHON, without and with extras
	$(BIN)/python -m tools.release --try --python $(PYTHON)

.venv/ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt torch
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt --editable '.[dev]'
	touch $@

clean:
	rm -rf .venv site .pytest_cache .ruff_cache .hypothesis
