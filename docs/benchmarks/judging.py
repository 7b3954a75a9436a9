"""Seconds of run and examination for each notebook, without recording: what ``floor.py`` is compared with.

    python docs/benchmarks/judging.py --count 50

judges the solved notebook again and again, in one warm worker, and prints the seconds for each as JSON, and
those of the first, for which the worker is started. ``--assignment`` names another than ``multihead``.
"""

import argparse
import json
import sys
import time

from classes import NAME

from autograder.assignments.catalog import KIT, load_assignment
from autograder.notebooks.reading import Notebook, read_notebook_file
from autograder.notebooks.source import SourceNotebook
from autograder.sandbox.choice import choose
from autograder.usecases.judging import Judge

WARM_UP = 5


def main() -> None:
    """Judge, and print what it took."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=50, help="notebooks")
    parser.add_argument("--assignment", default=NAME)
    parser.add_argument("--unsafe", action="store_true", help="without the sandbox")
    options = parser.parse_args()
    assignment = load_assignment(KIT.parent, options.assignment)
    [source] = assignment.notebooks
    solved = read_notebook_file(assignment.source_dir / f"{assignment.name}.ipynb")
    with Judge(assignment, b"a secret of the benchmark", choose(unsafe=options.unsafe)) as judge:
        first = _seconds(judge, solved, source, 1)
        _seconds(judge, solved, source, WARM_UP)
        each = _seconds(judge, solved, source, options.count) / options.count
    sys.stdout.write(json.dumps({"seconds": each, "first": first}) + "\n")


def _seconds(judge: Judge, solved: Notebook, source: SourceNotebook, count: int) -> float:
    start = time.perf_counter()
    for number in range(count):
        judge.judge(f"s{number}", solved, source)
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
