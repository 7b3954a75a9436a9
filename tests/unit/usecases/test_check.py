from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from autograder.assignments.catalog import load_assignment
from autograder.errors import CourseError
from autograder.model import WITHOUT_SANDBOX, Status
from autograder.sandbox.launcher import PlainLauncher
from autograder.usecases.check import assignment_of, check_notebook
from autograder.usecases.submissions import Graded

RIGHT = "def double(x):\n    return 2 * x"


def tree(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def check(toy_course: Path, build: Any) -> Callable[..., Graded]:
    """Put a notebook at a path below the course, and check it there."""

    def run(where: str, content: bytes | None = None) -> Graded:
        path = toy_course / where
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(build.bytes(build.code(RIGHT)) if content is None else content)
        before = tree(toy_course)
        graded = check_notebook(load_assignment(toy_course, "toy"), path, PlainLauncher)
        assert before == tree(toy_course)
        return graded

    return run


def test_a_notebook_anywhere_is_checked_and_nothing_written(check: Callable[..., Graded]) -> None:
    result = check("drafts/my toy.ipynb").result
    assert ("my toy", 3.0, 5.0, Status.GRADED) == (
        result.student,
        result.score,
        result.max_score,
        result.status,
    )
    assert [("double", 3.0), ("why", None)] == [(row.name, row.score) for row in result.exercises]
    told = [note for note in result.notes if "missing" not in note and "lost" not in note]
    assert [WITHOUT_SANDBOX] == told


def test_a_submission_has_the_students_name_and_files(
    check: Callable[..., Graded], toy_course: Path, build: Any
) -> None:
    folder = toy_course / "submitted" / "ada" / "toy"
    folder.mkdir(parents=True)
    (folder / "mine.py").write_text("three = 3")
    (toy_course / "drafts").mkdir()
    (toy_course / "drafts" / "mine.py").write_text("three = 3")
    content = build.bytes(build.code(f"from mine import three\n{RIGHT}"))
    submitted = check("submitted/ada/toy/toy.ipynb", content).result
    assert ("ada", 3.0) == (submitted.student, submitted.score)
    assert 0.0 == check("drafts/toy.ipynb", content).result.score


def test_what_cannot_be_read_is_malformed_with_all_its_exercises(check: Callable[..., Graded]) -> None:
    result = check("toy.ipynb", b"").result
    assert (Status.MALFORMED, 0.0) == (result.status, result.score)
    assert "The file that was handed in is empty (0 bytes)." in str(result.reason)
    assert ["double", "why"] == [row.name for row in result.exercises]


def test_a_notebook_that_does_not_exist_is_named(toy_course: Path) -> None:
    (toy_course / "toy.ipynb").touch()
    assignment = load_assignment(toy_course, "toy")
    with pytest.raises(CourseError, match=r"There is no notebook .*/toi\.ipynb\. Did you mean .*/toy\.ipynb"):
        check_notebook(assignment, toy_course / "toi.ipynb", PlainLauncher)
    with pytest.raises(CourseError, match="There is no notebook"):
        check_notebook(assignment, toy_course, PlainLauncher)


@pytest.fixture
def two_assignments(toy_course: Path, build: Any) -> Path:
    (toy_course / "source" / "tokens").mkdir()
    (toy_course / "source" / "tokens" / "tokens.ipynb").write_bytes(build.bytes(build.markdown("...")))
    return toy_course


@pytest.mark.parametrize(
    ("path", "name", "expected"),
    [
        ("x.ipynb", "tokens", "tokens"),
        ("x.ipynb", "whatever was typed", "whatever was typed"),
        ("tokens.ipynb", None, "tokens"),
        ("submitted/ada/toy/final.ipynb", None, "toy"),
        ("toy/tokens.ipynb", None, "tokens"),
    ],
)
def test_the_assignment_is_the_one_named_else_that_of_the_file_or_its_folder(
    path: str, name: str | None, expected: str, two_assignments: Path
) -> None:
    assert expected == assignment_of(two_assignments, Path(path), name)


def test_else_it_is_the_one_with_the_same_cells(two_assignments: Path, build: Any) -> None:
    path = two_assignments / "homework.ipynb"
    path.write_bytes(build.bytes(build.code("1 + 1"), build.solution("double", RIGHT)))
    assert "toy" == assignment_of(two_assignments, path, None)


@pytest.mark.parametrize("data", [b"{", None], ids=["broken", "cells of nobody"])
def test_a_choice_is_left_to_the_person(two_assignments: Path, build: Any, data: bytes | None) -> None:
    path = two_assignments / "x.ipynb"
    path.write_bytes(build.bytes(build.code("1 + 1")) if data is None else data)
    with pytest.raises(CourseError, match=r"Which assignment is x\.ipynb\? .*--assignment: tokens, toy\."):
        assignment_of(two_assignments, path, None)


def test_before_anybody_has_to_choose_there_must_be_a_file(two_assignments: Path) -> None:
    with pytest.raises(CourseError, match=r"There is no notebook .*nowhere\.ipynb"):
        assignment_of(two_assignments, two_assignments / "nowhere.ipynb", None)


def test_a_course_with_one_assignment_leaves_no_choice(toy_course: Path) -> None:
    assert "toy" == assignment_of(toy_course, Path("x.ipynb"), None)
