"""The one writer of nbgrader's gradebook: a submission is recorded whole, in one transaction, or not at all.

Importing this module takes seconds, since nbgrader does; only what writes grades should. The database
commits first and the files of ``autograded/`` follow: should the grader die in between, the next run finds
no record of the submission, grades it again, and compares answers with the files that people saw last.
"""

import math
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from nbgrader import api
from sqlalchemy.exc import SQLAlchemyError

from autograder.assignments.catalog import Assignment
from autograder.errors import CourseError
from autograder.gradebook.autograded import Json, build_autograded
from autograder.gradebook.configuration import CourseConfiguration
from autograder.gradebook.files import read_autograded, write_autograded
from autograder.gradebook.lateness import apply_late_penalty, late_note, read_timestamp
from autograder.gradebook.marking import Versions, effective_scores, mark
from autograder.gradebook.opening import open_gradebook, released_notebooks, unusable
from autograder.model import ExerciseResult, Status, SubmissionResult
from autograder.notebooks.executed import ExecutedNotebook
from autograder.notebooks.source import Question

#: What neither a folder nor the database can hold; bytes that are no text show as surrogates.
_UNUSABLE = re.compile("[/\0\ud800-\udfff]")


def why_unusable(student: str) -> str | None:
    """Why the gradebook cannot hold a student of this name, and what to do; None where it can."""
    if student in {"", ".", ".."} or _UNUSABLE.search(student):
        return f"A student cannot be called {student!r}: rename the folder in submitted/."
    return None


class Gradebook:
    """The gradebook of one assignment's course; use it as a context manager.

    Entering makes the gradebook, or brings the assignment in it up to date, where necessary. Only one
    process may write at a time.
    """

    def __init__(self, assignment: Assignment) -> None:
        self._assignment = assignment
        self._configuration = CourseConfiguration(assignment.course)
        self._book: Any = None
        self._released: Mapping[str, Json] = {}

    def __enter__(self) -> Self:
        """Open the gradebook; raises CourseError where that cannot be done."""
        self._book = open_gradebook(self._assignment, self._configuration)
        self._released = released_notebooks(self._assignment)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the connection; what was recorded is on disk already."""
        self._book.close()

    def record(
        self,
        result: SubmissionResult,
        executed: Mapping[str, ExecutedNotebook],
        submitted: Path | None = None,
    ) -> SubmissionResult:
        """Record one submission and write its autograded notebooks; returns ``complete(result)``.

        ``executed`` holds the notebooks that could be read, by their names in the source; those that are
        missing are made from the release, with the result's reason on top. ``submitted`` is the folder that
        was handed in. Raises CourseError where gradebook or folder cannot be written.
        """
        folder = self._configuration.autograded_folder(result.student, self._assignment.name)
        notebooks: dict[str, Json] = {}
        with self._transaction():
            timestamp = read_timestamp(submitted)
            submission = self._submission(result.student)
            submission.timestamp = timestamp
            recorded = {one.notebook.name: one for one in submission.notebooks}
            for source in self._assignment.notebooks:
                ran = executed.get(source.name)
                released = self._released[source.name]
                built = build_autograded(released, source, ran, result)
                before = read_autograded(folder, source.name)
                versions = Versions(released, built, before, handed_in=ran is not None)
                mark(recorded[source.name], source, result, versions)
                notebooks[source.name] = built
            self._book.db.flush()
            apply_late_penalty(submission, self._book.db, self._configuration)
        write_autograded(folder, self._assignment, notebooks, submitted)
        return self.complete(result)

    def is_recorded(self, student: str) -> bool:
        """Whether the gradebook has the student's submission and its autograded notebooks are there."""
        folder = self._configuration.autograded_folder(student, self._assignment.name)
        files = [folder / f"{notebook.name}.ipynb" for notebook in self._assignment.notebooks]
        return self._find_submission(student) is not None and all(path.is_file() for path in files)

    def complete(self, result: SubmissionResult) -> SubmissionResult:
        """The judge's result with what only the gradebook knows, in the order of the source.

        Questions are added, with no score until a person has graded them; a person's score for an exercise
        and extra credit count as they do in nbgrader; a late penalty is noted, not taken off. A result that
        is a fault of ours stays without a score.
        """
        submission = self._find_submission(result.student)
        recorded = [] if submission is None else submission.notebooks
        grades = {grade.cell.name: grade for notebook in recorded for grade in notebook.grades}
        note = None if submission is None else late_note(submission)
        counting = effective_scores(grades)
        given = {exercise.name: exercise for exercise in result.exercises}
        unscored = 0.0 if result.status is Status.MALFORMED else None
        rows = []
        for one in self._assignment.graded:
            row = given.get(one.name, ExerciseResult(one.name, unscored, one.max_points))
            name = one.name if isinstance(one, Question) else one.test_id
            grade = grades.get(name)
            if grade is not None and (grade.manual_score is not None or grade.extra_credit):
                row = replace(row, score=counting[name])
            elif isinstance(one, Question):
                row = replace(row, score=None)
            rows.append(row)
        score = round(math.fsum(row.score or 0.0 for row in rows), 6)
        return replace(
            result,
            score=None if result.status is Status.JUDGE_ERROR else score,
            notes=result.notes if note is None else (*result.notes, note),
            max_score=self._assignment.max_score,
            exercises=tuple(rows),
        )

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """Commit everything at the end, or nothing."""
        session = self._book.db
        try:
            yield
            session.commit()
        except SQLAlchemyError as error:
            session.rollback()
            raise unusable(self._configuration.db_url, error) from error
        except BaseException:
            session.rollback()
            raise

    def _find_submission(self, student: str) -> Any:
        try:
            return self._book.find_submission(self._assignment.name, student)
        except api.MissingEntry:
            return None
        except SQLAlchemyError as error:
            self._book.db.rollback()
            raise unusable(self._configuration.db_url, error) from error

    def _submission(self, student: str) -> Any:
        """The student's submission with a row for every notebook, grade and comment; made where missing."""
        if reason := why_unusable(student):
            raise CourseError(reason)
        session = self._book.db
        assignment = self._book.find_assignment(self._assignment.name)
        submission = self._find_submission(student)
        if submission is None:
            if session.get(api.Student, student) is None:
                session.add(api.Student(id=student))
            submission = api.SubmittedAssignment(assignment_id=assignment.id, student_id=student)
            session.add(submission)
            session.flush()
        present = {one.notebook_id: one for one in submission.notebooks}
        for notebook in assignment.notebooks:
            recorded = present.get(notebook.id)
            if recorded is None:
                recorded = api.SubmittedNotebook(notebook=notebook, assignment=submission)
                session.add(recorded)
            graded = {grade.cell_id for grade in recorded.grades}
            commented = {comment.cell_id for comment in recorded.comments}
            for cell in [*notebook.grade_cells, *notebook.task_cells]:
                if cell.id not in graded:
                    session.add(api.Grade(cell=cell, notebook=recorded))
            for cell in [*notebook.solution_cells, *notebook.task_cells]:
                if cell.id not in commented:
                    session.add(api.Comment(cell=cell, notebook=recorded))
        session.flush()
        return submission
