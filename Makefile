# Everything a fresh clone needs: `make demo` shows the main job, `make test` checks the tree.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DATA ?= ../shared/data
# Thin products are slower on two BLAS threads than on one, and the test workers share the cores.
export OMP_NUM_THREADS ?= 1
export OPENBLAS_NUM_THREADS ?= 1
export MKL_NUM_THREADS ?= 1

.PHONY: demo test attack lint format docs docs-quick man dist matrix install clean scoreboard scoreboard-quick

install: $(VENV)/.installed

$(VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet -e '.[test,cli,docs]'
	touch $@

demo: install
	$(BIN)/mercer demo

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: install
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

test: install lint
	$(BIN)/python -m pytest -n 2 --dist worksteal

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
