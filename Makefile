# Each target works on a fresh machine with Python 3.11+ and nothing else.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: setup demo test test-quick lint format clean

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

test: setup
	$(BIN)/python -m pytest -n 2

test-quick: setup
	$(BIN)/python -m pytest -n 2 -m 'not slow'

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/codespell README.md CHANGELOG.md CONTRIBUTING.md docs src tests examples benchmarks

format: setup
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf .venv demo runs results build dist
