"""The one writer of nbgrader's gradebook: a submission is recorded whole, in one transaction, or not at all.

Importing this module takes seconds, since nbgrader does; only what writes grades should. The database
commits first, the files of ``autograded/`` and the digests of the answers follow: should the grader die in
between, the next run grades the submission again, and compares answers with those that people saw last.
"""

import math
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from nbgrader import api
from sqlalchemy.exc import SQLAlchemyError

from autograder.assignments.catalog import Assignment
from autograder.errors import CourseError
from autograder.gradebook.answers import Answers, digests_of
from autograder.gradebook.autograded import Json, build_autograded, is_autograded
from autograder.gradebook.configuration import CourseConfiguration
from autograder.gradebook.files import read_autograded, write_autograded
from autograder.gradebook.lateness import apply_late_penalty, late_note, read_timestamp
from autograder.gradebook.marking import Versions, automatic_scores, effective_score, mark
from autograder.gradebook.opening import open_gradebook, released_notebooks, unusable
from autograder.model import ExerciseResult, Status, SubmissionResult
from autograder.notebooks.executed import ExecutedNotebook
from autograder.notebooks.source import Exercise, Question

#: What neither a folder nor the database can hold; bytes that are no text show as surrogates.
_UNUSABLE = re.compile("[/\0\ud800-\udfff]")
#: What formgrader's own pages, on which names stand as they are, would take for markup and run.
_MARKUP = re.compile('[<>"]')


def why_unusable(student: str) -> str | None:
    """Why the gradebook must not hold a student of this name, and what to do; None where it may."""
    if student in {"", ".", ".."} or _UNUSABLE.search(student):
        return f"A student cannot be called {student!r}: rename the folder in submitted/."
    if _MARKUP.search(student):
        return (
            f"A student cannot be called {student!r}, which pages of formgrader would take for a program: "
            "rename the folder in submitted/."
        )
    return None


@dataclass(frozen=True)
class Standing:
    """What a submission counts in the gradebook: in all, and its exercises and questions by name.

    What has no score yet is None; ``score`` is None as long as an exercise has none.
    """

    score: float | None
    scores: Mapping[str, float | None]


class Gradebook:
    """The gradebook of one assignment's course; use it as a context manager.

    Entering makes the gradebook, or brings the assignment in it up to date, where necessary. Only one
    process may write at a time. ``configuration`` stands in for the course's own.
    """

    def __init__(self, assignment: Assignment, configuration: CourseConfiguration | None = None) -> None:
        self._assignment = assignment
        self._configuration = configuration or CourseConfiguration(assignment.course)
        self._answers = Answers(assignment.course, assignment.name)
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
        answers = self._answers.read(result.student)
        with self._transaction():
            submission = self._submission(result.student)
            submission.timestamp = read_timestamp(submitted)
            recorded = {one.notebook.name: one for one in submission.notebooks}
            for source in self._assignment.notebooks:
                ran = executed.get(source.name)
                released = self._released[source.name]
                built = build_autograded(released, source, ran, result)
                now = digests_of(built)
                before = answers.get(source.name) or digests_of(read_autograded(folder, source.name))
                versions = Versions(digests_of(released), now, before, handed_in=ran is not None)
                mark(recorded[source.name], source, result, versions)
                notebooks[source.name] = built
                if ran is not None or result.status is not Status.JUDGE_ERROR:
                    answers[source.name] = now
            self._book.db.flush()
            apply_late_penalty(submission, self._book.db, self._configuration)
        write_autograded(folder, self._assignment, notebooks, submitted)
        self._answers.write(result.student, answers)
        return self.complete(result)

    def is_recorded(self, result: SubmissionResult) -> bool:
        """Whether gradebook and autograded notebooks still say what recording this result made them say.

        People and nbgrader's own commands change them, too.
        """
        submission = self._find_submission(result.student)
        if submission is None:
            return False
        folder = self._configuration.autograded_folder(result.student, self._assignment.name)
        recorded = {one.notebook.name: one for one in submission.notebooks}
        for source in self._assignment.notebooks:
            if source.name not in recorded or not is_autograded(read_autograded(folder, source.name)):
                return False
            scores = {grade.cell.name: grade.auto_score for grade in recorded[source.name].grades}
            expected = automatic_scores(source, result)
            if any(name not in scores or scores[name] != score for name, score in expected.items()):
                return False
        return True

    def standing(self, student: str) -> Standing | None:
        """What a student's submission counts now; None where there is none in the gradebook."""
        submission = self._find_submission(student)
        if submission is None:
            return None
        grades = _grades(submission)
        scores = {one.name: _counting(one, grades.get(_grade_id(one))) for one in self._assignment.graded}
        ungraded = any(scores[exercise.name] is None for exercise in self._assignment.exercises)
        total = round(math.fsum(score or 0.0 for score in scores.values()), 6)
        return Standing(None if ungraded else total, scores)

    def renew_late_penalty(self, student: str) -> None:
        """Let a submission's late penalty follow a due date, or a plugin, that changed since its recording.

        Raises CourseError where the plugin fails or the gradebook cannot be written.
        """
        submission = self._find_submission(student)
        if submission is None:
            return
        has_penalty = any(one.late_submission_penalty is not None for one in submission.notebooks)
        if has_penalty or submission.total_seconds_late > 0:
            with self._transaction():
                apply_late_penalty(submission, self._book.db, self._configuration)

    def complete(self, result: SubmissionResult) -> SubmissionResult:
        """The judge's result with what only the gradebook knows, in the order of the source.

        Questions are added, with no score until a person has graded them, but 0 where there is no answer;
        what waits for a person says so. A person's score for an exercise and extra credit count as they do
        in nbgrader; a late penalty is noted, not taken off. A result that is a fault of ours stays without a
        score.
        """
        submission = self._find_submission(result.student)
        grades = {} if submission is None else _grades(submission)
        note = None if submission is None else late_note(submission)
        given = {exercise.name: exercise for exercise in result.exercises}
        unscored = 0.0 if result.status is Status.MALFORMED else None
        rows = []
        for one in self._assignment.graded:
            row = given.get(one.name, ExerciseResult(one.name, unscored, one.max_points))
            grade = grades.get(_grade_id(one))
            if isinstance(one, Question) or _has_persons_score(grade):
                row = replace(row, score=_counting(one, grade))
            row = replace(row, waits=grade is not None and bool(grade.needs_manual_grade))
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


def _grades(submission: Any) -> dict[str, Any]:
    """All grades of nbgrader's ``SubmittedAssignment`` by their grade ids."""
    return {grade.cell.name: grade for notebook in submission.notebooks for grade in notebook.grades}


def _grade_id(one: Exercise | Question) -> str:
    """The id of the cell that holds the points."""
    return one.name if isinstance(one, Question) else one.test_id


def _has_persons_score(grade: Any) -> bool:
    """Whether a person gave points, in place of ours or on top."""
    return grade is not None and (grade.manual_score is not None or bool(grade.extra_credit))


def _counting(one: Exercise | Question, grade: Any) -> float | None:
    """What a cell counts; None where it has no score yet."""
    return None if grade is None else effective_score(grade)
