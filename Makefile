# Everything runs in .venv, made on first use: python3 with venv, and make, are all it takes.

PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test test-all lint format bench clean

demo: .venv/installed
	$(BIN)/python -m figures.link_demo

test: .venv/installed
	$(BIN)/python -m pytest -n 2

test-all: .venv/installed
	$(BIN)/python -m pytest -n 2 -m "slow or not slow"

lint: .venv/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: .venv/installed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: .venv/installed
	$(BIN)/python -m tests.bench.ofdm_round
	$(BIN)/python -m tests.bench.scaling

.venv/installed: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable ".[test,lint]"
	touch $@

clean:
	rm -rf .venv build out *.egg-info .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
