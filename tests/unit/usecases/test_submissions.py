import errno
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from autograder.assignments.catalog import Assignment, load_assignment
from autograder.errors import CourseError, JudgeError, SandboxError
from autograder.model import ExerciseResult, Status, Verdict
from autograder.notebooks.executed import ExecutedNotebook
from autograder.notebooks.reading import Notebook
from autograder.notebooks.source import SourceNotebook
from autograder.usecases.judging import Judged
from autograder.usecases.submissions import Graded, grade_folder

STUDENT = "ada"
CODE = "def double(x):\n    return 2 * x"
ONE_MORE_CHECK = '''

@checks.value("triple", weight=1)
def triples(student, reference, rng):
    """It triples."""
'''


class Judge:
    """Stands for the judge: gives every exercise the same score, or raises."""

    sandboxed = True

    def __init__(self, score: float | None = 3.0, error: BaseException | None = None):
        self.score = score
        self.error = error
        self.judged: list[str] = []

    def judge(
        self, student: str, submission: Notebook, source: SourceNotebook, folder: Path | None
    ) -> Judged:
        self.judged.append(source.name)
        if self.error is not None:
            raise self.error
        rows = tuple(ExerciseResult(one.name, self.score, one.max_points) for one in source.exercises)
        return Judged(rows, ExecutedNotebook(submission, {0: ()}), (f"note on {source.name}",))


@pytest.fixture
def toy(toy_course: Path) -> Assignment:
    return load_assignment(toy_course, "toy")


@pytest.fixture
def pair(toy_course: Path, build: Any) -> Assignment:
    """The toy assignment with a second notebook, ``zwei``, whose exercise is ``triple``."""
    cells = [build.solution("triple", "def triple(x):\n    return x"), build.test("triple", 1)]
    (toy_course / "source" / "toy" / "zwei.ipynb").write_bytes(build.bytes(*cells))
    with (toy_course / "solutions" / "toy.py").open("a") as file:
        file.write("\n\ndef triple(x):\n    return 3 * x\n")
    with (toy_course / "autograder" / "assignments" / "toy" / "checks.py").open("a") as file:
        file.write(ONE_MORE_CHECK)
    return load_assignment(toy_course, "toy")


@pytest.fixture
def hand_in(tmp_path: Path, build: Any) -> Callable[..., Path]:
    def make(**files: bytes | None) -> Path:
        folder = tmp_path / "submission"
        folder.mkdir()
        for name, content in files.items():
            (folder / f"{name}.ipynb").write_bytes(content or build.bytes(build.code(CODE)))
        return folder

    return make


def grade(assignment: Assignment, judge: Judge, folder: Path) -> Graded:
    return grade_folder(assignment, judge, STUDENT, folder)  # type: ignore[arg-type]


def test_a_submission_has_the_judges_points_and_notes_and_what_was_run(
    toy: Assignment, hand_in: Callable[..., Path]
) -> None:
    graded = grade(toy, Judge(2.25), hand_in(toy=None))
    assert (STUDENT, 2.25, 5.0, Status.GRADED, None) == (
        graded.result.student,
        graded.result.score,
        graded.result.max_score,
        graded.result.status,
        graded.result.reason,
    )
    assert ("note on toy",) == graded.result.notes
    assert {0: ()} == graded.executed["toy"].outputs
    assert graded.trace is None


def test_a_renamed_notebook_is_noted_before_the_judges_notes(
    toy: Assignment, hand_in: Callable[..., Path]
) -> None:
    notes = grade(toy, Judge(), hand_in(other=None)).result.notes
    assert ["toy.ipynb was not handed in", "note on toy"] == [note.split(":")[0] for note in notes]


@pytest.mark.parametrize(
    ("content", "reason"), [(b"", "is empty (0 bytes)"), (b"{}", "holds no list of cells")]
)
def test_what_cannot_be_read_is_malformed_and_earns_nothing(
    content: bytes, reason: str, toy: Assignment, hand_in: Callable[..., Path]
) -> None:
    judge = Judge()
    folder = hand_in(dummy=None)
    (folder / "dummy.ipynb").rename(folder / "toy.ipynb")
    (folder / "toy.ipynb").write_bytes(content)
    graded = grade(toy, judge, folder)
    assert (Status.MALFORMED, 0.0) == (graded.result.status, graded.result.score)
    assert reason in str(graded.result.reason)
    assert [("double", 0.0)] == [(row.name, row.score) for row in graded.result.exercises]
    assert ({}, []) == (graded.executed, judge.judged)


def test_of_several_notebooks_those_that_are_there_count(
    pair: Assignment, hand_in: Callable[..., Path]
) -> None:
    judge = Judge(1.0)
    result = grade(pair, judge, hand_in(zwei=None)).result
    assert (Status.GRADED, 1.0, 6.0) == (result.status, result.score, result.max_score)
    assert ["zwei"] == judge.judged
    assert [("double", 0.0), ("triple", 1.0)] == [(row.name, row.score) for row in result.exercises]
    (check,) = result.exercises[0].checks
    assert (Verdict.MISSING, 0.0, 3.0) == (check.verdict, check.points, check.max_points)
    assert "toy.ipynb: No notebook was handed in. Hand in toy.ipynb" in result.notes[0]


def test_where_all_of_several_are_missing_the_submission_is_malformed(
    pair: Assignment, hand_in: Callable[..., Path]
) -> None:
    result = grade(pair, Judge(), hand_in()).result
    assert Status.MALFORMED is result.status
    assert "Hand in toy.ipynb" in str(result.reason)
    assert "Hand in zwei.ipynb" in str(result.reason)


def test_an_exercise_without_a_score_is_our_fault_and_leaves_no_total(
    toy: Assignment, hand_in: Callable[..., Path]
) -> None:
    graded = grade(toy, Judge(None), hand_in(toy=None))
    assert (Status.JUDGE_ERROR, None) == (graded.result.status, graded.result.score)
    assert "A check of double failed by a fault of its own." == graded.result.reason
    assert {0: ()} == graded.executed["toy"].outputs


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (JudgeError("The worker was lost."), "The grading program failed: The worker was lost."),
        (JudgeError("It was caf\udce9."), "The grading program failed: It was caf?."),
        (ZeroDivisionError("hidden 42"), "The grading program failed: ZeroDivisionError."),
    ],
)
def test_whatever_the_judge_raises_is_our_fault_and_the_students_work_is_shown(
    error: Exception, reason: str, toy: Assignment, hand_in: Callable[..., Path]
) -> None:
    graded = grade(toy, Judge(error=error), hand_in(toy=None))
    assert (Status.JUDGE_ERROR, None, reason) == (
        graded.result.status,
        graded.result.score,
        graded.result.reason,
    )
    assert [("double", None)] == [(row.name, row.score) for row in graded.result.exercises]
    assert [CODE] == [cell.source for cell in graded.executed["toy"].submission.cells]
    assert {} == graded.executed["toy"].outputs
    assert "raise self.error" in str(graded.trace)


def test_a_full_disk_is_nobodys_fault_and_ends_the_run_in_words(
    toy: Assignment, hand_in: Callable[..., Path]
) -> None:
    error = OSError(errno.ENOSPC, "No space left on device", "/tmp/run-1")
    with pytest.raises(CourseError, match="/tmp/run-1 cannot be written: No space left on device"):
        grade(toy, Judge(error=error), hand_in(toy=None))


@pytest.mark.parametrize("error", [CourseError("no checks"), SandboxError("no sandbox"), KeyboardInterrupt()])
def test_what_concerns_the_whole_class_is_raised(
    error: BaseException, toy: Assignment, hand_in: Callable[..., Path]
) -> None:
    with pytest.raises(type(error)):
        grade(toy, Judge(error=error), hand_in(toy=None))
