"""`nbgrader autograde` with this kit's configuration comes to what `autograder grade` comes to."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import nbformat
import pytest

pytestmark = pytest.mark.functional

Run = Callable[..., CompletedProcess[str]]
Json = dict[str, Any]

RIGHT = {
    "first": ("def double(x):\n    return 2 * x", "Twice."),
    "second": ("def triple(x):\n    return 3 * x", ""),
}
WRONG = {
    "first": ("def double(x):\n    return abs(2 * x)", "So."),
    "second": ("def triple(x):\n    return x + undefined", "Thus."),
}
ODD_NAMES = (
    "-rf",
    "Zoë Ångström",
    "a.b",
    "o'hara",
    "100%",
    "%s",
    "{student_id}",
    "名前",
)


@dataclass(frozen=True)
class Graded:
    """Two copies of one course: graded by `autograder grade`, and by nbgrader's commands."""

    assignment: str
    ours: Path
    theirs: Path
    process: CompletedProcess[str]

    def pages(self, course: Path) -> dict[Path, Any]:
        """The autograded notebooks, by their paths, in the way in which nbformat reads them."""
        folder = course / "autograded"
        return {
            path.relative_to(folder): nbformat.read(path, as_version=4) for path in folder.rglob("*.ipynb")
        }

    def files(self, course: Path) -> set[tuple[Path, int]]:
        """All files below ``autograded/`` and their permissions."""
        folder = course / "autograded"
        return {
            (path.relative_to(folder), path.stat().st_mode) for path in folder.rglob("*") if path.is_file()
        }


def grade_both_ways(run: Run, course: Path, assignment: str) -> Graded:
    theirs = Path(shutil.copytree(course, course.with_name("theirs")))
    assert 0 == run(course, "autograder", "grade", assignment).returncode
    assert 0 == run(theirs, "nbgrader", "generate_assignment", assignment, "--force").returncode
    return Graded(assignment, course, theirs, run(theirs, "nbgrader", "autograde", assignment))


@pytest.fixture(scope="module")
def multihead(run: Run, make_multihead: Callable[..., Path]) -> Graded:
    """A failing student, one whose cell ends Python, a lost test cell, an empty file, and a right one."""
    return grade_both_ways(run, make_multihead("dora", "jun", "kim", "nora", "bela"), "multihead")


@pytest.fixture(scope="module")
def pair(run: Run, make_pair: Callable[..., Path]) -> Graded:
    """Two notebooks, one of which some did not hand in or renamed, and students called anything."""
    submissions = dict.fromkeys(ODD_NAMES, RIGHT) | {"wes": WRONG, "una": {"first": RIGHT["first"]}}
    course = make_pair(submissions | {"rex": RIGHT})
    renamed = course / "submitted/rex/pair"
    (renamed / "second.ipynb").rename(renamed / "my second.ipynb")
    (course / "submitted/wes/pair/timestamp.txt").write_text("2026-05-03 12:00:00 UTC")
    (course / "submitted/wes/pair/data").mkdir()
    (course / "submitted/wes/pair/data/mine.csv").write_text("1,2\n")
    return grade_both_ways(run, course, "pair")


@pytest.fixture(params=["multihead", "pair"])
def graded(request: pytest.FixtureRequest) -> Graded:
    found: Graded = request.getfixturevalue(request.param)
    return found


def test_nbgrader_says_that_all_went_well_and_what_everybody_got(graded: Graded, rows: Any) -> None:
    log = graded.process.stderr
    assert 0 == graded.process.returncode, log
    assert "ERROR" not in log
    for student in {key for key in rows(graded.theirs, graded.assignment) if isinstance(key, str)}:
        assert f"autograder: {student} has " in log


def test_scores_comments_and_states_are_the_same(graded: Graded, rows: Any) -> None:
    ours = rows(graded.ours, graded.assignment)
    assert ours == rows(graded.theirs, graded.assignment)
    assert ours


def test_autograded_pages_are_the_same(graded: Graded) -> None:
    ours = graded.pages(graded.ours)
    assert ours == graded.pages(graded.theirs)
    assert graded.files(graded.ours) == graded.files(graded.theirs)
    for page in ours.values():
        nbformat.validate(page)


def test_a_later_autograder_grade_finds_nothing_left_to_do(graded: Graded, run: Run, rows: Any) -> None:
    before = rows(graded.theirs, graded.assignment)
    done = run(graded.theirs, "autograder", "grade", graded.assignment)
    count = len({key for key in before if isinstance(key, str)})
    assert f"0 graded, {count} unchanged since their last grading." in done.stdout
    assert before == rows(graded.theirs, graded.assignment)


def test_autograding_once_more_changes_nothing(graded: Graded, run: Run, rows: Any) -> None:
    before = rows(graded.ours, graded.assignment), graded.pages(graded.ours)
    done = run(graded.ours, "nbgrader", "autograde", graded.assignment, "--force")
    assert 0 == done.returncode, done.stderr
    assert before == (rows(graded.ours, graded.assignment), graded.pages(graded.ours))


def test_what_a_person_gave_survives_autograding(
    graded: Graded, run: Run, rows: Any, gradebook: Any, tmp_path: Path
) -> None:
    course = Path(shutil.copytree(graded.theirs, tmp_path / "course"))
    student, notebook, question, test = {
        "multihead": ("dora", "multihead", "one_key", "test_merge_heads"),
        "pair": ("wes", "first", "why", "test_double"),
    }[graded.assignment]
    with gradebook(course) as book:
        for cell, score in ((question, 1.5), (test, 0.5)):
            grade = book.find_grade(cell, notebook, graded.assignment, student)
            grade.manual_score, grade.extra_credit, grade.needs_manual_grade = score, 0.25, False
        book.find_comment(question, notebook, graded.assignment, student).manual_comment = "Nearly."
        book.db.commit()
    before = rows(course, graded.assignment)
    done = run(course, "nbgrader", "autograde", graded.assignment, "--force", f"--student={student}")
    assert 0 == done.returncode, done.stderr
    assert before == rows(course, graded.assignment)


def test_the_gradebook_may_be_another_one_named_on_the_command_line(
    pair: Graded, run: Run, rows: Any, tmp_path: Path
) -> None:
    course = Path(shutil.copytree(pair.theirs, tmp_path / "course"))
    other = tmp_path / "other"
    other.mkdir()
    shutil.copy(course / "gradebook.db", other)
    before = rows(course, "pair")
    submitted = course / "submitted/wes/pair"
    shutil.copy(course / "submitted/a.b/pair/first.ipynb", submitted)
    done = run(
        course,
        "nbgrader",
        "autograde",
        "pair",
        "--force",
        "--student=wes",
        f"--db=sqlite:///{other}/gradebook.db",
    )
    assert 0 == done.returncode, done.stderr
    assert before == rows(course, "pair")
    assert (3.0, None, None, False) == rows(other, "pair")["wes", "first", "test_double"]
    done = run(course, "autograder", "grade", "pair")
    assert "1 graded, 10 unchanged" in done.stdout
    assert "wes: 2 → 3 (double 2 → 3)" in done.stdout
    assert (3.0, None, None, False) == rows(course, "pair")["wes", "first", "test_double"]
