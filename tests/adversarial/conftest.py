"""What several attacks share: a judge of the real assignment, and notebooks with cells of an attacker's."""

import json
from collections.abc import Callable, Iterator

import pytest

from autograder.assignments.catalog import KIT, Assignment, load_assignment
from autograder.assignments.multihead.demo import RIGHT
from autograder.notebooks.reading import read_notebook
from autograder.sandbox.choice import Way
from autograder.usecases.judging import Judge, Judged


@pytest.fixture(scope="module")
def assignment() -> Assignment:
    """The assignment on heads."""
    return load_assignment(KIT.parent, "multihead")


@pytest.fixture(scope="module")
def judge(assignment: Assignment, way: Way) -> Iterator[Callable[..., Judged]]:
    """Judges notebooks, right but for some functions, and with more cells at the end, by one warm worker."""
    path = KIT.parent / "assignments" / "multihead" / "multihead.ipynb"
    released = json.loads(path.read_text(encoding="utf-8"))

    def written(cell: dict[str, object], functions: dict[str, str]) -> dict[str, object]:
        grade_id = cell["metadata"].get("nbgrader", {}).get("grade_id")  # type: ignore[attr-defined]
        return cell | {"source": (RIGHT | functions).get(grade_id, cell["source"])}

    with Judge(assignment, b"secret", way) as judge:

        def judged(*more: str, student: str = "eve", **functions: str) -> Judged:
            cells = [written(cell, functions) for cell in released["cells"]]
            code = {"cell_type": "code", "metadata": {}, "execution_count": None, "outputs": []}
            cells += [code | {"source": source} for source in more]
            notebook = read_notebook(json.dumps(released | {"cells": cells}).encode())
            return judge.judge(student, notebook, assignment.notebooks[0])

        yield judged
