# Everything happens in .venv, made from requirements.lock. `make demo` and `make test` are all there is to know.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test check mutants docs lock clean

.venv/.installed: requirements.lock pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check -r requirements.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@

demo: .venv/.installed
	$(BIN)/fdmvgcl embed digits -o demo

check: .venv/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# One process for every core, one thread each: the graphs are tiny, and threads that wait for each other are slow.
test: check docs
	OMP_NUM_THREADS=1 $(BIN)/pytest -n auto

# The library broken in some thirty ways, one at a time in a copy: the tests must notice each.
mutants: .venv/.installed
	$(BIN)/python tests/mutants.py

docs: .venv/.installed
	$(BIN)/sphinx-build -E -W --keep-going -q docs docs/_build

lock: .venv/.installed
	$(BIN)/pip freeze --all --exclude pip --exclude-editable | sed 's/+cpu$$//' > requirements.lock

clean:
	rm -rf .venv demo docs/_build
