import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pytest

from autograder.assignments.catalog import Assignment, load_assignment
from autograder.assignments.private import grading_lock
from autograder.errors import CourseError, SandboxError
from autograder.model import ExerciseResult, Status, SubmissionResult
from autograder.notebooks.executed import ExecutedNotebook
from autograder.sandbox.choice import Way
from autograder.usecases import grade, judges
from autograder.usecases.grade import Entry, grade_class, submissions
from autograder.usecases.submissions import Graded

#: Nothing is run: the launcher is never made.
SANDBOX = Way(NotImplemented)


@dataclass(frozen=True)
class Standing:
    """What a student counts, as the gradebook has it."""

    score: float | None
    scores: Mapping[str, float | None]


class Book:
    """Stands for the gradebook: a dict that outlives the run, as a database does."""

    def __init__(self, recorded: dict[str, SubmissionResult], errors: Mapping[str, Exception]):
        self.recorded = recorded
        self.errors = errors

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    def standing(self, student: str) -> Standing | None:
        result = self.recorded.get(student)
        return result and Standing(result.score, {row.name: row.score for row in result.exercises})

    def record(
        self, result: SubmissionResult, executed: Mapping[str, ExecutedNotebook], folder: Path
    ) -> SubmissionResult:
        if result.student in self.errors:
            raise self.errors[result.student]
        self.recorded[result.student] = result
        return self.complete(result)

    def is_recorded(self, result: SubmissionResult) -> bool:
        return result.student in self.recorded

    def renew_late_penalty(self, student: str) -> None:
        pass

    def complete(self, result: SubmissionResult) -> SubmissionResult:
        return replace(result, notes=("completed",))


class School:
    """A course with the toy assignment, in which everybody earns ``scores``; nothing is really judged."""

    def __init__(self, course: Path, monkeypatch: pytest.MonkeyPatch):
        self.course = course
        self.recorded: dict[str, SubmissionResult] = {}
        self.errors: dict[str, Exception] = {}
        self.scores: dict[str, float | BaseException | None] = {}
        self.graded: list[str] = []
        monkeypatch.setattr(grade, "Gradebook", lambda assignment: Book(self.recorded, self.errors))
        monkeypatch.setattr(judges, "grade_folder", self._grade_folder)

    def hand_in(self, *students: str) -> None:
        for student in students:
            folder = self.course / "submitted" / student / "toy"
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "toy.ipynb").write_text(f"{len(self.graded)}")

    def grade(self, *students: str, **more: Any) -> dict[str, Entry]:
        """Grade, and say who was judged in ``graded``."""
        self.graded.clear()
        assignment = load_assignment(self.course, "toy")
        entries = grade_class(assignment, SANDBOX, students=students, **more)
        return {entry.result.student: entry for entry in entries}

    def _grade_folder(self, assignment: Assignment, judge: Any, student: str, folder: Path) -> Graded:
        score = self.scores.get(student, 3.0)
        self.graded.append(student)
        if isinstance(score, BaseException):
            raise score
        status = Status.JUDGE_ERROR if score is None else Status.GRADED
        rows = (ExerciseResult("double", score, 3.0),)
        return Graded(SubmissionResult(student, score, 5.0, status, exercises=rows))


@pytest.fixture
def school(toy_course: Path, monkeypatch: pytest.MonkeyPatch) -> School:
    return School(toy_course, monkeypatch)


def test_everybody_is_graded_in_the_order_of_their_names_and_told_one_by_one(school: School) -> None:
    school.hand_in("bob", "ada", "Zoë")
    told: list[tuple[int, int, str]] = []
    entries = school.grade(progress=lambda done, total, one: told.append((done, total, one.result.student)))
    assert ["Zoë", "ada", "bob"] == list(entries) == school.graded
    assert [(1, 3, "Zoë"), (2, 3, "ada"), (3, 3, "bob")] == told
    assert {"completed"} == {note for entry in entries.values() for note in entry.result.notes}
    assert not any(entry.skipped or entry.changes for entry in entries.values())


def test_who_has_not_changed_is_skipped_unless_by_force(school: School) -> None:
    school.hand_in("ada", "bob")
    first = school.grade()
    again = school.grade()
    assert [] == school.graded
    assert all(entry.skipped for entry in again.values())
    assert first["ada"].result == again["ada"].result
    school.grade(force=True)
    assert ["ada", "bob"] == school.graded
    school.grade("bob", force=True)
    assert ["bob"] == school.graded


def test_who_has_changed_is_graded_again_and_the_change_is_told(school: School) -> None:
    school.hand_in("ada", "bob")
    school.scores["ada"] = 1.0
    school.grade()
    school.hand_in("ada", "eve")
    (school.course / "submitted" / "ada" / "toy" / "more.txt").touch()
    school.scores["ada"] = 2.5
    entries = school.grade()
    assert ["ada", "eve"] == school.graded
    (change,) = entries["ada"].changes
    assert ("double", 1.0, 2.5) == (change.name, change.before, change.now)
    assert not entries["bob"].changes
    assert not entries["eve"].changes


def test_whoever_the_gradebook_has_lost_is_graded_again(school: School) -> None:
    school.hand_in("ada", "bob")
    school.grade()
    del school.recorded["ada"]
    school.grade()
    assert ["ada"] == school.graded


def test_a_fault_of_ours_is_tried_again_the_next_time(school: School) -> None:
    school.hand_in("ada", "bob")
    school.scores["ada"] = None
    assert Status.JUDGE_ERROR is school.grade()["ada"].result.status
    school.scores["ada"] = 3.0
    assert Status.GRADED is school.grade()["ada"].result.status
    assert ["ada"] == school.graded


def test_changed_limits_are_a_reason_to_grade_again(school: School) -> None:
    school.hand_in("ada")
    school.grade()
    (school.course / "limits.toml").write_text("call_seconds = 1.5\n")
    school.grade()
    assert ["ada"] == school.graded


def test_a_name_that_the_gradebook_cannot_hold_is_an_entry_and_nobody_else_suffers(school: School) -> None:
    name = os.fsdecode(b"caf\xe9")
    school.hand_in("ada", name, "eve")
    entries = school.grade()
    assert ["ada", name, "eve"] == list(entries)
    result = entries[name].result
    assert (Status.JUDGE_ERROR, None, 5.0) == (result.status, result.score, result.max_score)
    assert "rename the folder in submitted/" in str(result.reason)
    assert ["ada", "eve"] == school.graded
    assert {"ada", "eve"} == set(school.recorded)


@pytest.mark.parametrize("where", ["scores", "errors"])
def test_what_nobody_foresaw_costs_one_entry_not_the_batch(school: School, where: str) -> None:
    school.hand_in("ada", "bob", "eve")
    getattr(school, where)["bob"] = UnicodeEncodeError("utf-8", "x", 0, 1, "hidden 42")
    entries = school.grade()
    result = entries["bob"].result
    assert (Status.JUDGE_ERROR, None) == (result.status, result.score)
    assert "The grading program failed: UnicodeEncodeError." == result.reason
    assert "hidden 42" in str(entries["bob"].trace)
    assert {"ada", "eve"} == set(school.recorded)


@pytest.mark.parametrize("where", ["scores", "errors"])
@pytest.mark.parametrize("error", [CourseError("the disk is full"), SandboxError("no sandbox")])
def test_what_concerns_everybody_ends_the_run_and_what_was_done_stays(
    school: School, where: str, error: Exception
) -> None:
    school.hand_in("ada", "bob", "eve")
    getattr(school, where)["bob"] = error
    with pytest.raises(type(error), match=str(error)):
        school.grade()
    getattr(school, where).clear()
    entries = school.grade()
    assert ["bob", "eve"] == school.graded
    assert entries["ada"].skipped


def test_an_interrupt_says_how_far_it_came(school: School) -> None:
    school.hand_in("ada", "bob", "eve")
    school.scores["bob"] = KeyboardInterrupt()
    expected = "1 of 3 submissions are graded and recorded; the next run goes on from there"
    with pytest.raises(KeyboardInterrupt, match=expected):
        school.grade()
    school.scores.clear()
    school.grade()
    assert ["bob", "eve"] == school.graded


def test_one_grader_at_a_time(school: School) -> None:
    school.hand_in("ada")
    with grading_lock(school.course), pytest.raises(CourseError, match="Another grader is at work"):
        school.grade()
    assert [] == school.graded
    school.grade()


# Who has handed in.


def folders(school: School, *students: str) -> list[str]:
    return list(submissions(load_assignment(school.course, "toy"), students))


def test_only_folders_of_this_assignment_count(school: School) -> None:
    school.hand_in("bob", "ada")
    (school.course / "submitted" / "eve" / "other").mkdir(parents=True)
    (school.course / "submitted" / "README").touch()
    (school.course / "submitted" / "zoe").mkdir()
    (school.course / "submitted" / "zoe" / "toy").touch()
    assert ["ada", "bob"] == folders(school)
    assert ["bob"] == folders(school, "bob")
    assert ["ada", "bob"] == folders(school, "bob", "ada", "bob")


@pytest.mark.parametrize("student", ["alan", "eve", "../bob", ""])
def test_a_student_who_has_not_handed_in_is_named(school: School, student: str) -> None:
    school.hand_in("alana", "bob")
    with pytest.raises(CourseError) as caught:
        folders(school, "bob", student)
    assert f"{student!r} has not handed in 'toy'" in str(caught.value)
    assert (student == "alan") == ("Did you mean 'alana'?" in str(caught.value))


def test_where_nobody_has_handed_in_the_place_is_named(school: School) -> None:
    place = str(school.course / "submitted" / "<student>" / "toy" / "<notebook>.ipynb")
    with pytest.raises(CourseError, match="Nobody has handed in 'toy'") as caught:
        folders(school)
    assert place in str(caught.value)
    assert not (school.course / ".autograder").exists()
