"""A hidden check is corrected after grading: what changes, what stays, and what `autograder grade` says."""

import shutil
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

pytestmark = pytest.mark.functional

Run = Callable[..., CompletedProcess[str]]
Json = dict[str, Any]

CHECKS = "autograder/assignments/pair/checks.py"
CORRECT = 'student.call("double", -3).value != reference.double(-3)'
WRONG = 'student.call("double", -3).value != 6'

TRIPLE = ("def triple(x):\n    return 3 * x", "Thrice.")
DOUBLES = {
    "ada": "def double(x):\n    return 2 * x",
    "bob": "def double(x):\n    return abs(2 * x)",
    "cid": "def double(x):\n    return x",
    "dan": "def double(x):\n    return x + x",
}


@pytest.fixture(scope="module")
def graded(run: Run, make_pair: Callable[..., Path], gradebook: Any) -> Path:
    """A class graded with a wrong check and looked at by a person, some of it handed in late."""
    submissions = {student: {"first": (code, "So."), "second": TRIPLE} for student, code in DOUBLES.items()}
    course = make_pair(submissions)
    with (course / "nbgrader_config.py").open("a") as config:
        config.write("c.AssignLatePenalties.plugin_class = 'late_policy.OnePoint'\n")
    (course / "late_policy.py").write_text(
        "from nbgrader.plugins import LateSubmissionPlugin\n\n\n"
        "class OnePoint(LateSubmissionPlugin):\n"
        "    def late_submission_penalty(self, student_id, score, total_seconds_late):\n"
        "        return 1.0\n"
    )
    for student, day in (("ada", 3), ("bob", 1), ("cid", 2)):
        stamp = course / f"submitted/{student}/pair/timestamp.txt"
        stamp.write_text(f"2026-05-0{day} 12:00:00 UTC\n")
    checks = (course / CHECKS).read_text()
    assert CORRECT in checks
    (course / CHECKS).write_text(checks.replace(CORRECT, WRONG))
    assert 0 == run(course, "nbgrader", "generate_assignment", "pair").returncode
    due = "--duedate=2026-05-02 12:00:00 UTC"
    assert 0 == run(course, "nbgrader", "db", "assignment", "add", "pair", due).returncode
    assert 0 == run(course, "autograder", "grade", "pair").returncode
    with gradebook(course) as book:
        for student in DOUBLES:
            grade = book.find_grade("why", "first", "pair", student)
            grade.manual_score, grade.extra_credit, grade.needs_manual_grade = 1.5, 0.5, False
            book.find_comment("why", "first", "pair", student).manual_comment = f"Well, {student}."
        override = book.find_grade("test_double", "first", "pair", "dan")
        override.manual_score, override.needs_manual_grade = 3.0, False
        book.db.commit()
    (course / CHECKS).write_text(checks)
    return course


@pytest.fixture
def course(graded: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(graded, tmp_path / "course"))


def pages(course: Path) -> dict[str, int]:
    folder = course / "autograded"
    return {
        str(path.relative_to(folder)): path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()
    }


def changes(before: Json, after: Json) -> Json:
    assert before.keys() == after.keys()
    return {key: (before[key], after[key]) for key in before if before[key] != after[key]}


def test_only_what_the_check_decides_changes_and_all_else_stays(course: Path, run: Run, rows: Any) -> None:
    before, pages_before = rows(course, "pair"), pages(course)
    assert (1.0, False) == before["ada", "first"]
    done = run(course, "autograder", "grade", "pair")
    assert 0 == done.returncode, done.stderr
    assert {
        ("ada", "first", "test_double"): ((2.0, None, None, False), (3.0, None, None, False)),
        ("bob", "first", "test_double"): ((3.0, None, None, False), (2.0, None, None, False)),
        # A person had given points in place of ours: they stay, and the person is asked to look again.
        ("dan", "first", "test_double"): ((2.0, 3.0, None, False), (3.0, 3.0, None, True)),
    } == changes(before, rows(course, "pair"))
    touched = {name for name, when in pages(course).items() if when != pages_before[name]}
    assert {f"{student}/pair/first.ipynb" for student in ("ada", "bob", "dan")} == touched


def test_the_command_says_whose_score_changed_and_in_which_exercise(course: Path, run: Run) -> None:
    said = run(course, "autograder", "grade", "pair").stdout
    assert "4 graded, 0 unchanged since their last grading." in said
    *_, heading, first, second = said.splitlines()
    assert "Changed since the last grading:" == heading
    assert "  ada: 8 → 9 (double 2 → 3)" == first
    assert "  bob: 9 → 8 (double 3 → 2)" == second
    again = run(course, "autograder", "grade", "pair").stdout
    assert "0 graded, 4 unchanged since their last grading." in again
    assert "Changed" not in again


def test_nbgrader_autograde_changes_the_same(course: Path, run: Run, rows: Any) -> None:
    theirs = Path(shutil.copytree(course, course.with_name("theirs")))
    assert 0 == run(course, "autograder", "grade", "pair").returncode
    assert 0 == run(theirs, "nbgrader", "autograde", "pair", "--force").returncode
    assert rows(course, "pair") == rows(theirs, "pair")


def test_one_student_graded_anew_leaves_the_others_alone(course: Path, run: Run, rows: Any) -> None:
    before = rows(course, "pair")
    said = run(course, "autograder", "grade", "pair", "--student", "ada").stdout
    assert "  ada: 8 → 9 (double 2 → 3)" in said
    assert {("ada", "first", "test_double")} == changes(before, rows(course, "pair")).keys()


def test_a_due_date_that_moves_changes_penalties_without_grading_anew(
    course: Path, run: Run, rows: Any
) -> None:
    assert 0 == run(course, "autograder", "grade", "pair").returncode
    before = rows(course, "pair")
    due = "--duedate=2026-05-03 12:00:00 UTC"
    assert 0 == run(course, "nbgrader", "db", "assignment", "add", "pair", due).returncode
    said = run(course, "autograder", "grade", "pair").stdout
    assert "0 graded, 4 unchanged" in said
    assert {
        ("ada", "first"): ((1.0, False), (None, False)),
        ("ada", "second"): ((1.0, False), (None, False)),
    } == changes(before, rows(course, "pair"))
