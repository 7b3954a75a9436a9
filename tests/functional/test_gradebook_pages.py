"""Autograded notebooks go through nbgrader's own feedback converter and formgrader's page."""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import nbgrader
import pytest
from nbconvert.exporters import HTMLExporter

from autograder.assignments.catalog import KIT, Assignment, load_assignment
from autograder.gradebook.book import Gradebook
from autograder.gradebook.nbgrader_command import run_nbgrader
from autograder.model import CheckResult, ExerciseResult, Status, SubmissionResult, Verdict
from autograder.notebooks.executed import ExecutedNotebook
from autograder.notebooks.reading import read_notebook_file
from autograder.notebooks.salvage import RunCell, plan

pytestmark = pytest.mark.functional

TEMPLATES = Path(nbgrader.__file__).parent / "server_extensions" / "formgrader" / "templates"


def outcome(assignment: Assignment, student: str, status: Status = Status.GRADED) -> SubmissionResult:
    """Half of the points of every exercise."""
    rows = tuple(
        ExerciseResult(
            one.name,
            one.max_points / 2,
            one.max_points,
            (
                CheckResult(
                    "shape", Verdict.PASSED, one.max_points / 2, one.max_points / 2, "The shape is right."
                ),
                CheckResult(
                    "values",
                    Verdict.FAILED,
                    0.0,
                    one.max_points / 2,
                    "Wrong <i>values</i>.",
                    detail="seed 4242",
                ),
            ),
        )
        for one in assignment.exercises
    )
    reason = "It is a zip archive." if status is Status.MALFORMED else None
    return SubmissionResult(student, 10.0, 20.0, status, reason, exercises=() if reason else rows)


def ran(assignment: Assignment, path: Path) -> Mapping[str, ExecutedNotebook]:
    source = assignment.notebooks[0]
    submission = read_notebook_file(path)
    output = {"output_type": "stream", "name": "stdout", "text": "printed by the student\n"}
    cells = [step.cell_index for step in plan(submission, source).steps if isinstance(step, RunCell)]
    return {source.name: ExecutedNotebook(submission, dict.fromkeys(cells, (output,)))}


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course with a submission that was graded and one that could not be read."""
    folder = tmp_path_factory.mktemp("course")
    for name in ("source", "solutions"):
        shutil.copytree(KIT.parent / name, folder / name)
    shutil.copy(KIT.parent / "nbgrader_config.py", folder)
    assignment = load_assignment(folder, "multihead")
    with Gradebook(assignment) as book:
        released = folder / ".autograder/multihead/released/multihead.ipynb"
        book.record(outcome(assignment, "s01"), ran(assignment, released))
        book.record(outcome(assignment, "s02", Status.MALFORMED), {})
    return folder


def test_nbgraders_own_command_makes_our_feedback_of_what_was_recorded(course: Path) -> None:
    run_nbgrader(course, ["generate_feedback", "multihead"])
    page = (course / "feedback/s01/multihead/multihead.html").read_text()
    assert "<strong>10</strong> of 22 points" in page
    for part in ("1.5 / 3", "The shape is right.", "printed by the student", "as it was handed out"):
        assert part in page
    for part in ("seed 4242", "HIDDEN TESTS", "<i>values"):
        assert part not in page
    page = (course / "feedback/s02/multihead/multihead.html").read_text()
    assert "<strong>0</strong> of 22 points" in page
    assert "It is a zip archive." in page


@pytest.mark.parametrize("student", ["s01", "s02"])
def test_formgraders_page_shows_every_grade_cell(course: Path, student: str) -> None:
    exporter = HTMLExporter(template_name="formgrade", extra_template_basedirs=[str(TEMPLATES)])
    resources: dict[str, Any] = {"base_url": "", "index": 0, "total": 2, "student": student}
    path = course / "autograded" / student / "multihead" / "multihead.ipynb"
    page, _ = exporter.from_filename(str(path), resources=resources)
    for name in ("split_heads", "merge_heads", "multihead", "multihead_backward"):
        assert f'<input class="score tabbable" id="test_{name}"' in page
        assert f'id="{name}-comment"' in page
    assert '<input class="score tabbable" id="one_key"' in page


def test_nbgrader_exports_the_grades(course: Path) -> None:
    run_nbgrader(course, ["export"])
    header, *rows = (course / "grades.csv").read_text().splitlines()
    place = header.split(",").index("score")
    assert [10.0, 0.0] == [float(row.split(",")[place]) for row in rows]
