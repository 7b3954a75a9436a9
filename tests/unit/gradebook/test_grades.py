"""What is read back of a gradebook, beside what was recorded and what people changed."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from nbgrader import api

from autograder.assignments.catalog import Assignment
from autograder.errors import CourseError
from autograder.gradebook.book import Gradebook
from autograder.gradebook.configuration import CourseConfiguration
from autograder.gradebook.grades import RecordedGrades
from autograder.model import RecordedGrade, RecordedNotebook


@pytest.fixture
def recorded(
    course: Path, toy: Assignment, handed_in: Callable[..., Any], outcome: Callable[..., Any]
) -> Path:
    """Two students, of whom the second left the question as it was handed out."""
    with Gradebook(toy) as book:
        book.record(outcome("s02"), handed_in())
        book.record(outcome("s01", 1.0), handed_in(answer="YOUR ANSWER HERE"))
    return course


def read(course: Path, student: str) -> RecordedNotebook | None:
    grades = RecordedGrades.of_course(CourseConfiguration(course))
    assert grades is not None
    with grades:
        return grades.notebook(student, "toy", "toy")


def change(course: Path, **values: Any) -> None:
    with api.Gradebook(f"sqlite:///{course / 'gradebook.db'}", "") as book:
        grade = book.find_grade("why", "toy", "toy", "s02")
        for name, value in values.items():
            setattr(grade, name, value)
        book.find_comment("double", "toy", "toy", "s02").manual_comment = "Good."
        book.find_comment("why", "toy", "toy", "s02").manual_comment = "  "
        book.find_submission_notebook("toy", "toy", "s02").late_submission_penalty = 0.5
        book.db.commit()


def test_scores_and_what_waits_are_read(recorded: Path) -> None:
    expected = {"test_double": RecordedGrade(3.0, 3.0), "why": RecordedGrade(2.0, waits=True)}
    found = read(recorded, "s02")
    assert found is not None
    assert expected == found.grades


def test_what_people_changed_is_read(recorded: Path) -> None:
    change(recorded, manual_score=1.5, extra_credit=0.25, needs_manual_grade=False)
    found = read(recorded, "s02")
    assert found is not None
    assert RecordedGrade(2.0, None, 1.5, 0.25) == found.grades["why"]
    assert 1.75 == found.grades["why"].score
    assert ({"double": "Good."}, 0.5) == (found.comments, found.late_penalty)


def test_an_answer_that_was_left_alone_is_known(recorded: Path) -> None:
    answered, other = read(recorded, "s02"), read(recorded, "s01")
    assert answered is not None
    assert other is not None
    assert "why" not in answered.unanswered
    assert "why" in other.unanswered
    assert 0.0 == other.grades["why"].score


def test_students_are_listed_by_name(recorded: Path) -> None:
    grades = RecordedGrades.of_course(CourseConfiguration(recorded))
    assert grades is not None
    with grades:
        assert ("s01", "s02") == grades.students("toy")
        assert () == grades.students("nothing")


def test_nobody_unknown_has_grades(recorded: Path) -> None:
    assert read(recorded, "s99") is None


def test_a_course_without_a_gradebook_has_none_and_gets_none(toy_course: Path) -> None:
    assert RecordedGrades.of_course(CourseConfiguration(toy_course)) is None
    assert not (toy_course / "gradebook.db").exists()


def test_a_gradebook_that_cannot_be_used_is_an_error_of_the_course(toy_course: Path) -> None:
    (toy_course / "gradebook.db").write_text("no database, but long enough to be taken for one " * 40)
    with pytest.raises(CourseError, match="cannot be used"):
        RecordedGrades.of_course(CourseConfiguration(toy_course))


@pytest.mark.parametrize(
    ("grade", "score"),
    [
        (RecordedGrade(2.0), None),
        (RecordedGrade(2.0, 1.0), 1.0),
        (RecordedGrade(2.0, 1.0, 0.0), 0.0),
        (RecordedGrade(2.0, None, 1.0, 0.5), 1.5),
        (RecordedGrade(2.0, extra_credit=0.5), 0.5),
    ],
)
def test_a_persons_score_counts_before_ours(grade: RecordedGrade, score: float | None) -> None:
    assert score == grade.score
