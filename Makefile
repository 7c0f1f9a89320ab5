# Each target works on a fresh machine with Python 3.11+ and nothing else.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: setup demo docs docs-check test test-quick test-slow test-lowest soak lint format clean

setup: .venv/ready

# torch comes first, under the constraint: left to float, an install may fetch gigabytes of CUDA.
.venv/ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet -c constraints.txt torch
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[dev]'
	touch .venv/ready

demo: setup
	$(BIN)/grale demo --out demo

# Quick tests check every shape and type that is annotated. That costs half of their time again, so
# the slow ones, which call the same functions, run without.
test: test-quick test-slow

# Compiled files are kept, whatever the environment says: every process would compile all again.
test-quick test-slow: export PYTHONDONTWRITEBYTECODE :=

# Two processes of one thread each: threads of several processes on two cores wait for each other.
test-quick test-slow: export OMP_NUM_THREADS := 1

test-quick: setup
	$(BIN)/python -m pytest -n 2 --dist worksteal -m 'not slow'

test-slow: setup
	$(BIN)/python -m pytest -n 2 --dist worksteal -m slow --jaxtyping-packages=

# The lowest versions that pyproject.toml allows (torch but for one: see .ci/lowest.py). Old versions
# warn of new ones beside them, so such warnings are not errors here.
test-lowest:
	$(PYTHON) -m venv .venv-lowest
	$(PYTHON) .ci/lowest.py > .venv-lowest/lowest.txt
	.venv-lowest/bin/python -m pip install --quiet --upgrade pip
	.venv-lowest/bin/python -m pip install --quiet -c .venv-lowest/lowest.txt torch
	.venv-lowest/bin/python -m pip install --quiet -c .venv-lowest/lowest.txt -e '.[tests]'
	.venv-lowest/bin/python -m pytest -n 2 --dist worksteal -m 'not slow' -W ignore::DeprecationWarning

# The long forms of the checks in docs/reliability.md: hours. SHARE=0.1 makes a tenth of each.
SHARE ?= 1
soak: setup
	GRALE_SOAK_SHARE=$(SHARE) $(BIN)/python -m pytest -n 0 -m soak

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/codespell README.md CHANGELOG.md CONTRIBUTING.md docs src tests examples benchmarks

# The site, in docs/_build/html; a warning, such as a link that leads nowhere, is an error. Examples run.
docs: setup
	$(BIN)/python -m sphinx -j auto -W --keep-going -q -b html docs docs/_build/html

# Every page and every link, without running examples (tests/test_docs.py) and the notebook (tests/test_notebook.py), and
# without what only readers need (docs/conf.py).
docs-check: setup
	$(BIN)/python -m sphinx -j auto -W --keep-going -q -t check -b html docs docs/_build/check

format: setup
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf .venv .venv-lowest docs/_build docs/gallery docs/cards docs/api/modules demo runs results build dist
