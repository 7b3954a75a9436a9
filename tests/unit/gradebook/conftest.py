"""A toy course whose gradebook nbgrader has made; making it takes seconds, so it is made once and copied."""

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from autograder.assignments.catalog import Assignment, load_assignment
from autograder.gradebook.book import Gradebook
from autograder.model import ExerciseResult, Status, SubmissionResult
from autograder.notebooks.executed import ExecutedNotebook
from autograder.notebooks.reading import read_notebook

DOUBLE = "def double(x):\n    return 2 * x"


@pytest.fixture(scope="session")
def graded_course(
    tmp_path_factory: pytest.TempPathFactory, build: Any, write_toy: Callable[[Path], Path]
) -> Path:
    course = write_toy(tmp_path_factory.mktemp("graded") / "course")
    with Gradebook(load_assignment(course, "toy")):
        pass
    return course


@pytest.fixture
def course(graded_course: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(graded_course, tmp_path / "course"))


@pytest.fixture
def toy(course: Path) -> Assignment:
    return load_assignment(course, "toy")


@pytest.fixture
def handed_in(build: Any) -> Callable[..., Mapping[str, ExecutedNotebook]]:
    """What was read and run of a submission with this code and this answer."""

    def make(code: str = DOUBLE, answer: str = "Because.") -> Mapping[str, ExecutedNotebook]:
        cells = [build.solution("double", code), build.test("double", 3), build.question("why", 2, answer)]
        return {"toy": ExecutedNotebook(read_notebook(build.bytes(*cells)), {0: ()})}

    return make


def outcome(student: str = "s01", score: float | None = 3.0, **more: Any) -> SubmissionResult:
    """What a judge brings: the automatic part alone."""
    status = more.pop("status", Status.GRADED if score is not None else Status.JUDGE_ERROR)
    exercises = (ExerciseResult("double", score, 3.0),)
    return SubmissionResult(student, score, 3.0, status, exercises=exercises, **more)


@pytest.fixture(name="outcome")
def outcome_fixture() -> Callable[..., SubmissionResult]:
    return outcome
