# Everything runs in .venv, which is made on first use: all you need is make and python3 with venv.

PYTHON ?= python3
BIN := .venv/bin

# The matrices of a round are small: a second BLAS thread costs more than it gains, and with two
# test processes the threads would compete.
export OPENBLAS_NUM_THREADS = 1
export OMP_NUM_THREADS = 1

.PHONY: demo test test-all test-system lint format bench notebooks validation images tables docs clean

demo: .venv/installed
	$(BIN)/otafl run quickstart --out out/quickstart
	$(BIN)/otafl show out/quickstart
	$(BIN)/otafl plot out/quickstart
	@echo "next: $(BIN)/otafl demo, or $(BIN)/otafl list"

test: .venv/installed
	$(BIN)/python -m pytest -n 2

test-all: .venv/installed
	$(BIN)/python -m pytest -n 2 -m "not system"

# The installed wheel, a plugin package, random kills, Dask, and the page in a real browser
test-system: .venv/installed
	timeout 25m $(BIN)/python -m pytest -n 2 --dist loadfile -m system tests/system

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
	$(BIN)/python -m tests.bench.waveform_round
	$(BIN)/python -m tests.bench.scaling
	$(BIN)/python -m tests.bench.local_training
	$(BIN)/python -m tests.bench.population
	$(BIN)/python -m tests.bench.demo_page

# These write files that are committed: the outputs of the notebooks, the tables of the validation,
# the images of the documentation (an hour, unless the studies are in out already).
notebooks: .venv/installed
	$(BIN)/python -m scenarios.notebooks.execute

tables: .venv/installed
	$(BIN)/python docs/write_tables.py --studies out

validation: .venv/installed
	$(BIN)/otafl validate --markdown docs/generated/validation.md

images: .venv/installed
	$(BIN)/python docs/draw_images.py --studies out

docs: .venv/documented
	$(BIN)/sphinx-build -W --keep-going -q docs build/docs
	@echo "open build/docs/index.html"

.venv/documented: .venv/installed
	$(BIN)/python -m pip install --quiet --editable ".[docs]"
	touch $@

.venv/installed: pyproject.toml
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; sys.exit(None if (3, 10) <= v < (3, 14) \
	    else f"otafl needs Python 3.10 to 3.13, not {v[0]}.{v[1]}: make PYTHON=python3.12")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable ".[test,lint]"
	touch $@

clean:
	rm -rf .venv build out *.egg-info .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
