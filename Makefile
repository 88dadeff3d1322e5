# Needs make and a Python 3.12 or newer, nothing else. Everything is installed into .venv, once.
#
#   make demo    analyse the bundled anesthesia data; report in demo-out/report.html
#   make quick   run the tests that take no time (no NUTS, nothing slow)
#   make test    run the tests
#   make docs    build the documentation into docs/_build/html
#   make bench   measure accuracy, calibration and speed; tables in docs/tables
#   make bench-reduced   the same in small, to see that it works; tables in docs/_build/reduced
#   make lint    check the style;  make types: check the types
#   make clean   remove .venv and everything that was built

PYTHON ?=
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --quiet --quiet --disable-pip-version-check
WORKERS ?= 2
TABLES := accuracy truth regimes verdict estimate printed held_out_labels ambiguity next_labels calibration \
    calibration_answers \
    calibration_states calibration_difficulty coverage_agreement coverage_coref ezcoref speed speed_agreement speed_coref \
    linear scaling spreading recompilation
PYTEST := $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal
PYTEST_ARGS ?=

.PHONY: demo quick test docs bench bench-reduced lint types clean help
.DELETE_ON_ERROR:

demo: $(VENV)/.ready
	@$(BIN)/annomodels run dataset:anesthesia -o demo-out --force

quick: $(VENV)/.ready-test
	HYPOTHESIS_PROFILE=quick $(PYTEST) -m "not nuts and not calibration and not slow" $(PYTEST_ARGS)

test: $(VENV)/.ready-test
	$(PYTEST) -m "not calibration" $(PYTEST_ARGS)

docs: $(VENV)/.ready-docs
	$(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet -b html docs docs/_build/html
	@echo "Documentation: $(CURDIR)/docs/_build/html/index.html"

bench: $(VENV)/.ready-bench
	@for script in $(TABLES); do \
	    echo "== $$script"; $(BIN)/python benchmarks/$$script.py || exit 1; \
	done

bench-reduced: $(VENV)/.ready-bench
	@mkdir -p docs/_build/reduced
	@for script in $(TABLES); do \
	    echo "== $$script"; \
	    $(BIN)/python benchmarks/$$script.py --reduced --out docs/_build/reduced/$$script.md || exit 1; \
	done

lint: $(VENV)/.ready-lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.ready-lint
	$(BIN)/mypy

clean:
	rm -rf $(VENV) demo-out docs/_build docs/generated dist .pytest_cache .mypy_cache .ruff_cache

help:
	@sed -n 's/^# \{0,1\}//p' Makefile | sed -n 1,10p

# -- set-up: one stamp for the package itself, one for each group of tools -------------------------

$(VENV)/.ready: pyproject.toml
	@python=$$(PYTHON="$(PYTHON)" sh .ci/find-python) || exit 1; \
	echo "Setting up .venv with $$python (once; a minute or two) ..." >&2; \
	"$$python" -m venv $(VENV)
	@$(PIP) install --upgrade "pip>=25.1"
	@$(PIP) install --editable .
	@touch $@

$(VENV)/.ready-%: $(VENV)/.ready
	@echo "Installing the tools for '$*' ..." >&2
	@$(PIP) install --group $*
	@touch $@
