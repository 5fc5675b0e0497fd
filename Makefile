# `make` alone lists the targets. Each one sets up what it needs, on a fresh machine too.

VENV   := .venv
BIN    := $(VENV)/bin
EXTRAS := dev
# The Python that .venv is made with; by default the first suitable one that is found.
PYTHON ?=
# Images of containers set this. Each of the thousands of processes of the tests would compile sdy-opt again, which
# doubles the time of the tests.
unexport PYTHONDONTWRITEBYTECODE
# One worker per core; JOBS=0 runs the tests in one process, for a debugger.
JOBS   ?= auto

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help install run test unit lit lint format types wheel-check release-check docs site bench cycles growth fuzz mutants clean
.PHONY: test-quick test-machines expected-outputs test-browser test-pythons test-pyodide test-dependencies test-clone test-reference

help:
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-18s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

install: $(BIN)/.installed ## create .venv and install sdy-opt with its development tools

# The marker file is written last, so that no target uses an environment that is only partly installed.
$(BIN)/.installed: pyproject.toml
	@test -x $(BIN)/python || .ci/create-venv $(VENV) $(PYTHON)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[$(EXTRAS)]'
	@touch $@

run: install ## check the example program, a JAX training step
	@mkdir -p build
	@echo 'This command reads a training step of a transformer, as JAX lowered it,'
	@echo 'propagates its shardings, inserts collectives, and tries what makes them cheaper:'
	@echo
	@echo '    $(BIN)/sdy-opt examples/transformer_train.mlir --check -o build/transformer_train.mlir'
	@echo
	@$(BIN)/sdy-opt examples/transformer_train.mlir --check --topology=tpu-v5e -o build/transformer_train.mlir
	@echo
	@echo 'all figures:                      the same with --report'
	@echo 'the program with its collectives: build/transformer_train.mlir'
	@echo 'the model in Python:              examples/transformer_train.py'
	@echo 'a guide:                          docs/from-jax.md'

test: install ## run the unit and lit tests: five minutes on two cores
	@echo 'This takes about five minutes on two cores; `make test-quick` takes one.'
	$(BIN)/python -m pytest -n $(JOBS) tests

test-quick: install ## run the lit tests of what people use most, and the tests of sources: a minute or two
	$(BIN)/python -m pytest -n $(JOBS) -q tests/lit/check tests/lit/report tests/lit/propagation tests/lit/driver \
	  tests/lit/explain tests/lit/exporting tests/unit/test_layering.py tests/unit/test_readme.py

unit: install ## run the unit tests
	$(BIN)/python -m pytest -n $(JOBS) tests/unit

lit: install ## run the lit tests
	$(BIN)/python -m pytest -n $(JOBS) tests/lit

lint: install ## check style and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: install ## format, and fix what ruff can fix
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

types: install ## check types
	$(BIN)/mypy

wheel-check: install ## run sdy-opt from a fresh install of the wheel
	.ci/wheel-check $(BIN)/python

# What a third of the lit tests print, for the comparisons below.
expected-outputs: install
	@mkdir -p build/pythons
	$(BIN)/python -m tests.pythons.outputs build/pythons/expected.txt

release-check: install ## build what a release uploads, and check it as PyPI does
	.ci/build-release $(BIN)/python

test-pythons: wheel-check expected-outputs ## compare outputs under every Python from 3.11 on, and test the newest
	JOBS=$(JOBS) .ci/test-pythons $(VENV)

test-pyodide: expected-outputs ## run the lit tests under Python 3.14 in Node, if Node and npm are installed
	.ci/test-pyodide $(BIN)/python

test-machines: install ## compare with the compiler of TPU in MACHINES_PYTHON=…, by default the first Python that has libtpu
	.ci/test-machines $(BIN)/python $(MACHINES_PYTHON)

# After the tests, which leave the pages out without playwright.
test-browser: test ## test the HTML pages in chromium, if it is installed
	.ci/test-browser $(BIN)/python

test-dependencies: expected-outputs ## test the lowest and the newest versions of dependencies
	.ci/test-dependencies $(BIN)/python

test-clone: ## run the lit tests in a fresh clone, whose path has spaces
	.ci/test-clone $(PYTHON)

RELEASES := 0.12.0.1 0.11.2 0.10.2

test-reference: ## compare with the C++ passes of RELEASES="0.12.0.1 0.11.2 0.10.2" of jaxlib, where Python suits
	JOBS=$(JOBS) .ci/test-reference $(RELEASES)

docs: install ## write the pages and tables that are generated from the code
	$(BIN)/python -m docs.readme
	$(BIN)/python -m docs.page_image
	$(BIN)/python -m docs.passes
	$(BIN)/python -m docs.versions
	$(BIN)/python -m docs.files
	$(BIN)/python -m tests.unit.mistakes
	$(BIN)/python -m docs.errors
	$(BIN)/python -m docs.mesh_pages
	$(BIN)/python -m docs.lint_pages

# In an environment of its own: Sphinx needs many packages.
site: install ## make the site of the documentation, build/site/index.html
	@test -x build/site-venv/bin/sphinx-build || $(BIN)/python -m venv build/site-venv
	build/site-venv/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[site]'
	@mkdir -p build/site-extra/docs build/site-extra/examples
	cp -R docs/images build/site-extra/docs
	cd examples && ../$(BIN)/sdy-opt transformer_train.mlir --check --topology=tpu-v5e \
	  --report=../build/site-extra/examples/transformer_train.html > /dev/null
	PYTHONPATH=. build/site-venv/bin/sphinx-build --fresh-env --fail-on-warning --keep-going --quiet -c docs . build/site
	cp build/site/README.html build/site/index.html

bench: install ## time sdy-opt; with REFERENCE_PYTHON=… also its C++ passes, and write benchmarks/speed.md
	$(BIN)/python -m benchmarks.run --sizes 4k,36k,constants,varied_2k,varied_11k,varied_47k,models $(if $(REFERENCE_PYTHON),--reference-python $(REFERENCE_PYTHON) --output benchmarks/speed.md)

growth: install ## measure how time and memory grow with programs, and write benchmarks/growth.md
	$(BIN)/python -m benchmarks.growth --output benchmarks/growth.md $(if $(REFERENCE_PYTHON),--reference-python $(REFERENCE_PYTHON))

# Programs, and the folder that keeps what libtpu makes of them. A Python with libtpu compiles those that are not there.
PROGRAMS := examples/*.mlir
KEEP     := build/cycles

cycles: install ## compare estimated compute with cycles of libtpu, PROGRAMS=… KEEP=… MACHINES_PYTHON=…
	$(BIN)/python -m benchmarks.calibration.cycles --keep $(KEEP) --reference-python "$(MACHINES_PYTHON)" $(PROGRAMS)

SECONDS  := 600
FINDINGS := build/fuzz

fuzz: install ## search for inputs that break sdy-opt, SECONDS=600; with REFERENCE_PYTHON=… also for other results than C++
	$(BIN)/python -m tests.fuzz --seconds $(SECONDS) --findings $(FINDINGS) --resume $(if $(REFERENCE_PYTHON),--reference-python $(REFERENCE_PYTHON))

MUTANTS := 300

mutants: install ## change the code in small ways, and list the changes that no test notices, MUTANTS=300
	$(BIN)/python -m tests.mutants --count $(MUTANTS) --folder build/mutants

clean: ## remove all generated files, .venv included
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
