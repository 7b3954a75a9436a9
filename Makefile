# `make demo` and `make test` need nothing beforehand: each makes .venv first, on a bare Debian or Ubuntu
# with Python >= 3.11. PYTHON=python3.12 chooses another interpreter for a new .venv; TORCH=1 installs PyTorch
# as well, and insists on the tests that need it, which are otherwise left out, with a line that says so.
MAKEFLAGS += --no-print-directory
BIN := .venv/bin

.PHONY: setup demo test lint tests bench bench-core lock clean

# .venv/ as pyproject.toml and constraints.txt describe it; mended where broken, quick where all is well.
setup:
	@PYTHON="$(PYTHON)" TORCH="$(TORCH)" .ci/setup

# Build a course in a scratch folder, grade a simulated class, show the table.
demo: setup
	@$(BIN)/autograder demo

# Everything that continuous integration runs.
test: lint tests

lint: setup
	@echo "lint: ruff, mypy, import-linter"
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/ruff check --quiet .
	@$(BIN)/mypy --no-error-summary autograder conftest.py docs/figures docs/benchmarks solutions source/multihead
	@for lab in weighted_attention gpt torch_multihead; do \
		MYPYPATH=source/$$lab $(BIN)/mypy --no-error-summary source/$$lab || exit 1; done
	@$(BIN)/lint-imports --no-logo >.venv/lint.log || { cat .venv/lint.log; exit 1; }

tests: setup
	@TORCH="$(TORCH)" $(BIN)/pytest --numprocesses logical --dist loadfile

# Stock nbgrader and this kit side by side, and how time and memory grow; into bench/. Some six minutes.
bench: setup
	@$(BIN)/python docs/benchmarks/grading.py --output bench

# A training step on the labs' core, and in PyTorch where .venv has it.
bench-core: setup
	@$(BIN)/python docs/benchmarks/core.py

# Resolve all versions anew, with the oldest Python that the kit supports, into constraints.txt.
lock:
	@.ci/lock

# Remove what tools left behind; students' work and gradebooks stay.
clean:
	rm -rf .venv build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
