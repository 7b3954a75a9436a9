"""Each of nbgrader's own commands does on this course what nbgrader's users expect of it."""

import csv
import filecmp
import json
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import nbformat
import pytest

from autograder.assignments.catalog import gradable_names

pytestmark = pytest.mark.functional

Run = Callable[..., CompletedProcess[str]]

ROOT = Path(__file__).parents[3]
EACH = pytest.mark.parametrize("name", gradable_names(ROOT))


@pytest.fixture(scope="module")
def graded(run: Run, make_multihead: Callable[..., Path]) -> Path:
    """A course with a right and a wrong submission, released and graded by nbgrader's commands."""
    course = make_multihead("ada", "dora")
    for command in ("generate_assignment", "autograde"):
        done = run(course, "nbgrader", command, "multihead")
        assert 0 == done.returncode, done.stderr
    return course


@pytest.fixture
def course(graded: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(graded, tmp_path / "course"))


def succeed(done: CompletedProcess[str]) -> str:
    """What the command said; fails where it failed."""
    assert 0 == done.returncode, done.stdout + done.stderr
    return done.stdout + done.stderr


def files_in(folder: Path) -> dict[str, bytes]:
    """The files of a release or a solution; of notebooks, what does not depend on who ran them."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not {"__pycache__", ".ipynb_checkpoints"} & set(path.parts):
            found[path.relative_to(folder).as_posix()] = path.read_bytes()
    for name, content in found.items():
        if name.endswith(".ipynb"):
            notebook = json.loads(content)
            notebook["metadata"].pop("language_info", None)
            found[name] = json.dumps(notebook).encode()
    return found


def test_generate_assignment_makes_the_release_that_is_committed(graded: Path) -> None:
    assert files_in(graded / "assignments/multihead") == files_in(ROOT / "assignments/multihead")


@EACH
def test_generate_solution_makes_the_solved_notebooks_that_are_committed(
    course: Path, run: Run, name: str
) -> None:
    shutil.rmtree(course / "solutions" / name)
    succeed(run(course, "nbgrader", "db", "assignment", "add", name))
    succeed(run(course, "nbgrader", "generate_solution", name))
    fresh, committed = files_in(course / "solutions" / name), files_in(ROOT / "solutions" / name)
    stale = [path for path in fresh.keys() | committed.keys() if fresh.get(path) != committed.get(path)]
    assert [] == stale, f"run `nbgrader generate_solution {name} --force` and commit"
    assert (course / "solutions" / f"{name}.py").is_file()


@EACH
def test_the_solved_notebook_earns_all_points(name: str) -> None:
    notebook = nbformat.read(ROOT / "solutions" / name / f"{name}.ipynb", as_version=4)
    tests = [cell for cell in notebook.cells if cell.metadata.get("nbgrader", {}).get("grade") is True]
    earned = {
        cell.metadata.nbgrader.grade_id: float(cell.outputs[-1]["data"]["text/plain"])
        for cell in tests
        if cell.cell_type == "code"
    }
    points = {cell.metadata.nbgrader.grade_id: float(cell.metadata.nbgrader.points) for cell in tests}
    assert earned == {name: points[name] for name in earned}
    assert len(points) - 1 == len(earned)  # one cell waits for a person


@pytest.mark.parametrize(
    ("path", "student", "notebook"),
    [
        ("jane_multihead.ipynb", "jane", "multihead"),
        ("all/doejane_123_4567_multihead.ipynb", "doejane", "multihead"),
        ("all/doejane_LATE_123_4567_multihead-2.ipynb", "doejane", "multihead"),
        ("Jane Doe_123_assignsubmission_file_/multihead.ipynb", "Jane Doe", "multihead"),
        ("Jane Doe_123_assignsubmission_file_multihead.ipynb", "Jane Doe", "multihead"),
        ("jane_my_first_lab.ipynb", "jane", "my_first_lab"),
    ],
)
def test_zip_collect_sorts_downloads_by_their_names(
    course: Path, run: Run, path: str, student: str, notebook: str
) -> None:
    archive = course / "downloaded/multihead/archive"
    archive.mkdir(parents=True)
    with zipfile.ZipFile(archive / "submissions.zip", "w") as file:
        file.write(course / "submitted/ada/multihead/multihead.ipynb", path)
    succeed(run(course, "nbgrader", "zip_collect", "multihead"))
    collected = course / "submitted" / student / "multihead" / f"{notebook}.ipynb"
    assert filecmp.cmp(course / "submitted/ada/multihead/multihead.ipynb", collected, shallow=False)


def test_validate_tells_a_student_what_does_not_pass_yet(course: Path, run: Run) -> None:
    released = course / "assignments/multihead/multihead.ipynb"
    assert "VALIDATION FAILED ON 5 CELL(S)!" in succeed(run(course, "nbgrader", "validate", str(released)))
    solved = json.loads((course / "submitted/ada/multihead/multihead.ipynb").read_text())
    released.write_text(json.dumps(solved))
    said = succeed(run(course, "nbgrader", "validate", str(released)))
    assert "Success! Your notebook passes all the tests." in said


def test_export_writes_everybodys_points(course: Path, run: Run) -> None:
    succeed(run(course, "nbgrader", "export"))
    with (course / "grades.csv").open(newline="") as file:
        rows = {row["student_id"]: row for row in csv.DictReader(file)}
    assert {"ada", "dora"} == rows.keys()
    assert {"multihead"} == {row["assignment"] for row in rows.values()}
    assert {22.0} == {float(row["max_score"]) for row in rows.values()}
    assert 20.0 == float(rows["ada"]["score"]) > float(rows["dora"]["score"]) > 0.0


def test_db_keeps_students_and_assignments(course: Path, run: Run, rows: Any) -> None:
    before = rows(course, "multihead")
    (course / "class.csv").write_text("id,first_name,last_name,email\nada,Ada,Lovelace,\nzoe,Zoë,Z,\n")
    succeed(run(course, "nbgrader", "db", "student", "import", "class.csv"))
    said = succeed(run(course, "nbgrader", "db", "student", "list"))
    assert "ada (Lovelace, Ada)" in said
    assert "zoe (Z, Zoë)" in said
    assert "multihead" in succeed(run(course, "nbgrader", "db", "assignment", "list"))
    due = "--duedate=2026-05-01 12:00:00 UTC"
    succeed(run(course, "nbgrader", "db", "assignment", "add", "multihead", due))
    succeed(run(course, "nbgrader", "db", "upgrade"))
    assert before == rows(course, "multihead")
    assert "0 graded, 2 unchanged" in succeed(run(course, "autograder", "grade", "multihead"))
    succeed(run(course, "nbgrader", "db", "student", "remove", "ada", "--force"))
    assert {"dora"} == {key for key in rows(course, "multihead") if isinstance(key, str)}


def test_students_without_a_submission_get_nothing_invented(course: Path, run: Run, rows: Any) -> None:
    succeed(run(course, "nbgrader", "db", "student", "add", "idle"))
    (course / "submitted/gone").mkdir()
    (course / "submitted/stray.txt").write_text("not a student")
    before = rows(course, "multihead")
    for words in (["autograder", "grade", "multihead"], ["nbgrader", "autograde", "multihead", "--force"]):
        succeed(run(course, *words))
        assert before == rows(course, "multihead")
    succeed(run(course, "nbgrader", "export"))
    with (course / "grades.csv").open(newline="") as file:
        scores = {row["student_id"]: row["score"] for row in csv.DictReader(file)}
    assert {"ada", "dora", "idle"} == scores.keys()
    assert 0.0 == float(scores["idle"])
    assert not (course / "autograded/idle").exists()


def test_generate_feedback_makes_a_page_for_everybody(course: Path, run: Run) -> None:
    succeed(run(course, "nbgrader", "generate_feedback", "multihead"))
    for student in ("ada", "dora"):
        page = (course / f"feedback/{student}/multihead/multihead.html").read_text()
        assert "multihead_backward" in page
        assert "HIDDEN TESTS" not in page
