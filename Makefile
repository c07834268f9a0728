# The commands of the project. `make help` lists them.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

AT_ONCE := --numprocesses auto --maxprocesses 4 --dist loadgroup

.DEFAULT_GOAL := help

.PHONY: help
help:  ## list the commands
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## */\1\t/' | expand -t 14

.PHONY: serve
serve: $(VENV)/serve  ## start everything: Postgres, migrations, the service (PORT, FAIRDEAL_HOME, DATABASE_URL)
	@exec $(BIN)/fairdeal serve

.PHONY: test
test: $(VENV)/develop  ## run the tests, as many at once as there are cores
	$(BIN)/python -m pytest $(AT_ONCE)

.PHONY: faults
faults: $(VENV)/develop  ## kill, cut and starve what serves, and hold every ledger against the log
	$(BIN)/python -m pytest $(AT_ONCE) -m "" tests/faults

.PHONY: fuzz
fuzz: $(VENV)/develop  ## feed the decoders whatever may be sent, for a minute
	@mkdir -p .fuzz && cd .fuzz && PYTHONPATH=.. ../$(BIN)/python ../tests/fuzz/decoders.py -max_total_time=60 -max_len=4000 .

.PHONY: lint
lint: $(VENV)/develop  ## check format, style, types, architecture, openapi.yaml and the client's models
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo 2>/dev/null || $(BIN)/lint-imports
	$(BIN)/fairdeal openapi --check
	$(BIN)/python clients/python/generate.py --check

.PHONY: check
check: lint  ## what CI runs: lint, then the tests with the coverage of the pure packages
	@rm -f .coverage .coverage.*
	$(BIN)/python -m coverage run -m pytest $(AT_ONCE)
	@$(BIN)/python -m coverage combine --quiet
	$(BIN)/python -m coverage report --include='service/canonical.py,service/cards/*,service/fairness/*,service/log/*,service/proof/*,service/rules/*' --fail-under=100
	$(BIN)/python -m coverage report --fail-under=90

.PHONY: ci
ci: check  ## the same, by the name that CI calls

.PHONY: bench
bench: $(VENV)/develop  ## print the benchmarks, as ratios within one run
	$(PIP) install --require-hashes -r requirements/bench.txt
	$(BIN)/python -m bench

.PHONY: openapi
openapi: $(VENV)/develop  ## write openapi.yaml anew, to be looked at and committed
	$(BIN)/fairdeal openapi

.PHONY: models
models: $(VENV)/develop  ## write the Python client's models anew, by what openapi.yaml says
	$(BIN)/python clients/python/generate.py

.PHONY: migration
migration: $(if $(NAME),$(VENV)/develop,unnamed)  ## make a migration by what service/store/tables.py says: make migration NAME="add a column"
	$(BIN)/python -m migrations.make "$(NAME)"

.PHONY: unnamed
unnamed:
	@echo 'say what it does: make migration NAME="add a column"'; exit 1

.PHONY: format
format: $(VENV)/develop  ## format the code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

.PHONY: lock
lock: $(VENV)/develop  ## pin the requirements anew, with their hashes
	cd requirements && for name in build base telemetry dev bench; do \
	  CUSTOM_COMPILE_COMMAND="make lock" ../$(BIN)/pip-compile --quiet --generate-hashes --strip-extras --allow-unsafe \
	    --no-emit-index-url --no-emit-trusted-host --no-emit-find-links --output-file $$name.txt $$name.in; \
	done

.PHONY: sbom
sbom: $(VENV)/develop  ## write sbom.json: what a release is made of (CycloneDX)
	$(BIN)/cyclonedx-py requirements requirements/base.txt --output-file sbom.json

.PHONY: audit
audit: $(VENV)/develop  ## ask for known faults in what is pinned (asks the package index)
	$(BIN)/pip-audit --require-hashes --disable-pip --requirement requirements/base.txt

.PHONY: clean
clean:  ## remove what the commands made here; never data
	rm -rf $(VENV) build *.egg-info .coverage* .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

# The virtual environment, in two stages: what serving needs, and what developing needs beside it.

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed: make PYTHON=python3.11 ..."; exit 1; }
	@$(PYTHON) -m venv $(VENV)

$(VENV)/serve: $(VENV)/bin/python requirements/base.txt requirements/build.txt pyproject.toml
	@echo "Installing what requirements/base.txt pins ..."
	@$(PIP) install --require-hashes -r requirements/build.txt
	@$(PIP) install --require-hashes -r requirements/base.txt
	@$(PIP) install --no-deps --no-build-isolation --editable . 2>/dev/null
	@touch $@

$(VENV)/develop: $(VENV)/serve requirements/dev.txt
	@echo "Installing what requirements/dev.txt pins ..."
	@$(PIP) install --require-hashes -r requirements/dev.txt
	@touch $@
