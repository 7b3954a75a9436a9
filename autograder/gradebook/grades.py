"""Reading what the gradebook holds about graded work: scores, a person's changes to them, comments.

For feedback. Nothing is written; a class is read through one connection.
"""

from collections.abc import Iterable
from types import TracebackType
from typing import Any, Self

from nbgrader import api
from sqlalchemy.exc import SQLAlchemyError

from autograder.gradebook.configuration import CourseConfiguration
from autograder.gradebook.marking import NO_RESPONSE
from autograder.gradebook.opening import connect, unusable
from autograder.model import RecordedGrade, RecordedNotebook


class RecordedGrades:
    """A connection for reading; use it as a context manager. ``gradebook`` is nbgrader's, open already."""

    def __init__(self, gradebook: Any) -> None:
        self._gradebook = gradebook

    @classmethod
    def of_course(cls, configuration: CourseConfiguration) -> "RecordedGrades | None":
        """The grades of a course, or None where it has no gradebook yet; raises CourseError."""
        path = configuration.db_path
        return None if path is not None and not path.exists() else cls(connect(configuration))

    @classmethod
    def at(cls, db_url: str) -> "RecordedGrades":
        """The grades in the gradebook at an address that nbgrader gave."""
        return cls(api.Gradebook(db_url))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._gradebook.close()

    def students(self, assignment: str) -> tuple[str, ...]:
        """The students with a submission of the assignment in the gradebook, sorted."""
        try:
            submissions = self._gradebook.assignment_submissions(assignment)
        except api.MissingEntry:
            return ()
        except SQLAlchemyError as error:
            raise self._unusable(error) from error
        return tuple(sorted(submission.student_id for submission in submissions))

    def notebook(self, student: str, assignment: str, notebook: str) -> RecordedNotebook | None:
        """What is recorded for one notebook, or None; raises CourseError where the gradebook refuses."""
        try:
            row = self._gradebook.find_submission_notebook(notebook, assignment, student)
            return RecordedNotebook(
                grades={grade.cell.name: _grade(grade) for grade in row.grades},
                comments=dict(_written(row.comments)),
                unanswered=frozenset(one.cell.name for one in row.comments if _is_unanswered(one)),
                late_penalty=row.late_submission_penalty or 0.0,
            )
        except api.MissingEntry:
            return None
        except SQLAlchemyError as error:
            raise self._unusable(error) from error

    def _unusable(self, error: SQLAlchemyError) -> Exception:
        self._gradebook.db.rollback()
        return unusable(str(self._gradebook.engine.url), error)


def _grade(grade: Any) -> RecordedGrade:
    return RecordedGrade(
        max_score=grade.cell.max_score,
        auto_score=grade.auto_score,
        manual_score=grade.manual_score,
        extra_credit=grade.extra_credit or 0.0,
        waits=bool(grade.needs_manual_grade),
    )


def _written(comments: Iterable[Any]) -> Iterable[tuple[str, str]]:
    """The comments that a person wrote."""
    for comment in comments:
        if comment.manual_comment and comment.manual_comment.strip():
            yield comment.cell.name, comment.manual_comment


def _is_unanswered(comment: Any) -> bool:
    return bool(comment.auto_comment == NO_RESPONSE)
