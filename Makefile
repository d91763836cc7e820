# Everything runs in a virtual environment of its own, made on first use.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: run test test-slow lint bench board screenshots setup clean

run: setup ## compare five built-in chunkers on the built-in data set
	$(BIN)/chunkmark run

test: setup ## all tests but the slow ones
	$(BIN)/python -m pytest -n auto --maxprocesses 4 --dist loadfile

test-slow: setup ## the slow ones: minutes each, some fetch packages
	$(BIN)/python -m pytest -m slow

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: setup ## what chunkmark costs beside other tools, as one table and in benchmarks.json
	$(BIN)/python -m benchmarks.speed benchmarks.json

board: setup ## docs/board.md: all chunkers over many tasks, an hour on two cores
	$(BIN)/python -m benchmarks.board

screenshots: setup ## the README's pictures; needs chromium
	$(BIN)/python -m benchmarks.screenshots docs/images

setup: $(READY)

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11, 4) or sys.exit("chunkmark needs Python 3.11.4 or later, and $(PYTHON) is " + sys.version.split()[0] + "; name another: make PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	@touch $@

clean:
	rm -rf $(VENV) build dist *.egg-info
