# Everything goes through one virtual environment, made on first use.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test lint bench clean
.DEFAULT_GOAL := demo

demo: .venv/ready  ## Fit the four-node graph of Figure 1, audit the result, draw it
	$(BIN)/python -m reproduction.figure1

test: .venv/ready lint  ## Everything that CI runs
	$(BIN)/python -m pytest -n 2 --dist worksteal

lint: .venv/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/basedpyright
	$(BIN)/lint-imports

bench: .venv/ready  ## The speed and memory numbers of the README, as ratios measured in one run
	$(BIN)/python -m benchmarks

.venv/ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt torch
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt --editable '.[dev]'
	touch $@

clean:
	rm -rf .venv .pytest_cache .ruff_cache .hypothesis
