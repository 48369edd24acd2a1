# `make demo` and `make test` need only Python 3.11+, git and make: they set up the rest in .venv.
PYTHON ?= python3
REV ?= HEAD
CASES ?= 10000
BIN := .venv/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
STAMP := .venv/.ready
DOCS_STAMP := .venv/.docs-ready

.DEFAULT_GOAL := help
.PHONY: help demo test test-slow fuzz bench bench-against bench-sparse lint docs dist clean

help:  ## list the commands
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

$(STAMP): pyproject.toml reproduction/pyproject.toml requirements-dev.txt
	@$(PYTHON) -c 'import sys; sys.exit("horseshoe needs Python 3.11 or newer, found " + sys.version) if sys.version_info < (3, 11) else None'
	@echo "Setting up .venv: Python packages from requirements-dev.txt, once; this takes a minute or two ..."
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt -e . -e ./reproduction
	@touch $@

demo: $(STAMP)  ## fit the diabetes data: the answer, a report, the single mode, the posterior, pictures
	@mkdir -p build
	$(BIN)/horseshoe fit diabetes --target progression --report build/diabetes.html
	$(BIN)/python examples/diabetes.py

test: $(STAMP) lint  ## lint, types and every fast test
	$(BIN)/python -m pytest -n 2 -m "not slow"

test-slow: $(STAMP)  ## the statistical tests that take minutes
	$(BIN)/python -m pytest -n 2 -m slow

fuzz: $(STAMP)  ## random cases over the public surface: CASES=10000 SEED=<number>
	PYTHONPATH=tests $(BIN)/python -m fuzz --cases $(CASES) $(if $(SEED),--seed $(SEED))

bench: $(STAMP)  ## us beside the peers; writes benchmarks/RESULTS.md
	$(BIN)/python -m benchmarks

bench-against: $(STAMP)  ## this tree beside another one, in turns: REV=<revision>
	$(BIN)/python -m benchmarks.against $(REV)

bench-sparse: $(STAMP)  ## sparse X beside the same X as an array
	$(BIN)/python -m benchmarks.sparse

lint: $(STAMP)  ## ruff and mypy --strict
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

$(DOCS_STAMP): $(STAMP) requirements-docs.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-docs.txt -c requirements-dev.txt
	@touch $@

docs: $(DOCS_STAMP)  ## build the site in build/docs: no warning, no network (make test runs its examples)
	$(BIN)/python -m sphinx -b html -q -E -W --keep-going -d build/doctrees docs build/docs
	@echo "The site: build/docs/index.html"

dist: $(STAMP)  ## build the wheels and the source archives in dist, and check their metadata
	$(BIN)/python -m build --no-isolation --outdir dist
	$(BIN)/python -m build --no-isolation --outdir dist reproduction
	$(BIN)/python -m twine check --strict dist/*

clean:  ## remove everything that make made
	rm -rf .venv benchmarks/.venvs build dist docs/gallery docs/generated .mypy_cache .ruff_cache .pytest_cache .hypothesis
