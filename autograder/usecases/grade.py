"""Grades a class: every ``submitted/<student>/<assignment>/`` into nbgrader's gradebook and ``autograded/``.

A submission that was graded before is skipped as long as neither it nor anything that its grade depends on
has changed: its record lies in ``.autograder/``. A record is written after the gradebook, so that whatever
interrupts grading, the next run does again what was not finished.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

from autograder.assignments.catalog import Assignment
from autograder.assignments.private import course_secret, grading_lock
from autograder.errors import CourseError, SandboxError, did_you_mean
from autograder.gradebook.book import Gradebook, Standing, why_unusable
from autograder.gradebook.configuration import CourseConfiguration
from autograder.model import Status, SubmissionResult
from autograder.reporting.records import Record, Records, submission_fingerprint
from autograder.sandbox.launcher import Launch
from autograder.usecases.judging import Judge
from autograder.usecases.submissions import grade_folder, our_fault, saying_how, without_score


@dataclass(frozen=True)
class Change:
    """What one exercise counted before and counts now; None is no score."""

    name: str
    before: float | None
    now: float | None


@dataclass(frozen=True)
class Entry:
    """One student's entry: ``skipped`` if nothing had changed, ``before`` what it counted until now.

    What we failed on altogether is not ``recorded``: gradebook and ``autograded/`` are as they were.
    """

    result: SubmissionResult
    skipped: bool = False
    before: Standing | None = None
    trace: str | None = None
    recorded: bool = True

    @property
    def changes(self) -> tuple[Change, ...]:
        """The exercises and questions that count something else than before; none at a first grading."""
        if self.before is None:
            return ()
        old = self.before.scores
        return tuple(
            Change(row.name, old.get(row.name), row.score)
            for row in self.result.exercises
            if old.get(row.name) != row.score
        )


#: Told after each submission: how many are done, how many there are, and the entry.
Progress = Callable[[int, int, Entry], None]


def submissions(assignment: Assignment, students: Collection[str] = ()) -> dict[str, Path]:
    """The folders of all submissions, or of those named, by student.

    Raises CourseError where there are none, or a student named has not handed in anything.
    """
    root = CourseConfiguration(assignment.course).submitted_root
    folders = {
        path.name: path / assignment.name
        for path in sorted(root.iterdir() if root.is_dir() else ())
        if (path / assignment.name).is_dir()
    }
    for student in students:
        if student not in folders:
            raise CourseError(
                f"{student!r} has not handed in {assignment.name!r}: there is no folder "
                f"{root / student / assignment.name}.{did_you_mean(student, folders)}"
            )
    if not folders:
        raise CourseError(
            f"Nobody has handed in {assignment.name!r}: put the notebooks into "
            f"{root / '<student>' / assignment.name / '<notebook>.ipynb'}."
        )
    return {student: folder for student, folder in folders.items() if not students or student in students}


def grade_class(
    assignment: Assignment,
    launch: Launch,
    *,
    students: Collection[str] = (),
    force: bool = False,
    progress: Progress = lambda done, total, entry: None,
) -> list[Entry]:
    """Grade the submissions and record them, one transaction each, in the order of the students' names.

    Raises:
        CourseError: there is nothing to grade, the gradebook cannot be written, another grader is at work.
        SandboxError: student code cannot be run on this machine.
        KeyboardInterrupt: somebody pressed Ctrl-C; the message says how far it came.
    """
    folders = submissions(assignment, students)
    entries: list[Entry] = []
    with grading_lock(assignment.course):
        secret = course_secret(assignment.course)
        records = Records(assignment.course, assignment.name)
        with Gradebook(assignment) as book, Judge(assignment, secret, launch) as judge:
            grader = Grader(assignment, judge, book, records)
            try:
                for student, folder in folders.items():
                    entries.append(grader.grade(student, folder, force=force))
                    progress(len(entries), len(folders), entries[-1])
            except KeyboardInterrupt as interrupt:
                done = f"{len(entries)} of {len(folders)} submissions are graded and recorded"
                raise KeyboardInterrupt(f"{done}; the next run goes on from there") from interrupt
    return entries


class Grader:
    """Brings one submission after the other up to date."""

    def __init__(self, assignment: Assignment, judge: Judge, book: Gradebook, records: Records):
        self._assignment = assignment
        self._judge = judge
        self._book = book
        self._records = records

    def grade(self, student: str, folder: Path, *, force: bool) -> Entry:
        """Grade it, or say what its unchanged record says; what goes wrong with it alone is in the entry."""
        if reason := why_unusable(student):
            fault = without_score(self._assignment, student, Status.JUDGE_ERROR, reason)
            return Entry(saying_how(fault, self._judge), recorded=False)
        try:
            return self._grade(student, folder, force=force)
        except (CourseError, SandboxError):
            raise
        except Exception as error:  # noqa: BLE001 (the others' grades must not depend on this one)
            graded = our_fault(self._assignment, student, error)
            return Entry(saying_how(graded.result, self._judge), trace=graded.trace, recorded=False)

    def _grade(self, student: str, folder: Path, *, force: bool) -> Entry:
        fingerprint = submission_fingerprint(folder)
        before = self._book.standing(student)
        record = None if force else self._records.read(student)
        if record is not None and self._is_current(record, fingerprint):
            self._book.renew_late_penalty(student)
            return Entry(self._book.complete(record.result), skipped=True, before=before)
        graded = grade_folder(self._assignment, self._judge, student, folder)
        result = self._book.record(graded.result, graded.executed, folder)
        self._records.write(Record(fingerprint, self._assignment.fingerprint, graded.result))
        return Entry(result, before=before, trace=graded.trace)

    def _is_current(self, record: Record, fingerprint: str) -> bool:
        """Whether grading again could change nothing.

        What failed by our fault is always tried again; what was reached without the sandbox does not count
        where there is one.
        """
        return (
            (record.result.sandboxed or not self._judge.sandboxed)
            and record.submission_fingerprint == fingerprint
            and record.assignment_fingerprint == self._assignment.fingerprint
            and record.result.status is not Status.JUDGE_ERROR
            and self._book.is_recorded(record.result)
        )
