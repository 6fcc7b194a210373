# Everything a fresh clone needs: `make demo` shows the main job, `make test` checks the tree.
# `make demo` installs the command line only; `make test` adds the test tools.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DATA ?= ../shared/data
# Thin products are slower on two BLAS threads than on one, and the test workers share the cores.
export OMP_NUM_THREADS ?= 1
export OPENBLAS_NUM_THREADS ?= 1
export MKL_NUM_THREADS ?= 1

.PHONY: demo test test-all quick stubs attack lint format docs docs-quick man dist matrix install clean scoreboard scoreboard-quick

install: $(VENV)/.installed

$(VENV)/.installed: pyproject.toml
	test -e $(VENV)/bin/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet -e '.[test,cli,docs]'
	touch $@

$(VENV)/.cli: pyproject.toml
	test -e $(VENV)/bin/python || $(PYTHON) -m venv $(VENV)
	test -e $(VENV)/.installed || $(BIN)/python -m pip install --quiet -e '.[cli]'
	touch $@

demo: $(VENV)/.cli
	$(BIN)/mercer demo

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: install
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Everything but the long attacks, the browser and the site, which `make test-all` adds (CI runs that).
test: install lint
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "not slow and not browser"

test-all: install lint
	$(BIN)/python -m pytest -n 2 --dist worksteal

# One folder of tests in less than a minute: make quick T=kernels
T ?= kernels
quick: install
	$(BIN)/ruff check src tests
	$(BIN)/python -m pytest -n 2 -m "not slow and not browser and not process" tests/$(T)

# The types of the public names, for mypy and pyright.
stubs: install
	$(BIN)/python .ci/stubs.py

# N hostile tables, model files and calls each, in processes of their own; SEED is the first, JOBS how many at once.
N ?= 10000
SEED ?= 0
JOBS ?= 2
attack: install
	PYTHONPATH=tests $(BIN)/python -m attacks --n $(N) --seed $(SEED) --jobs $(JOBS) --out benchmarks/results/attacks.md

# The site, build/docs/html: every example is run and every link checked. -quick runs no example; `make test` does that.
docs: install
	$(BIN)/python docs/generate.py
	$(BIN)/python docs/build.py

docs-quick: install
	$(BIN)/python docs/build.py --quick

man: install
	mkdir -p build
	$(BIN)/mercer man > build/mercer.1

# Wheel and source archive, built twice and compared.
dist: install
	$(BIN)/python .ci/dist.py dist

# The tests with the oldest packages, the newest, none of the extras, and other Pythons that are here; MATRIX=oldest for one.
matrix:
	$(PYTHON) .ci/matrix.py $(MATRIX)

# Peers are optional: whoever is not installed (tslearn, R with kernlab) is named on the page.
scoreboard: install
	-$(BIN)/python -m pip install --quiet -e '.[bench]'
	$(BIN)/python -m benchmarks.scoreboard --data $(DATA) $(if $(PARTS),--parts $(PARTS))

scoreboard-quick: install
	$(BIN)/python -m benchmarks.scoreboard --quick

clean:
	rm -rf $(VENV) out build dist
