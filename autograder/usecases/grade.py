"""Grades a class: every ``submitted/<student>/<assignment>/`` into nbgrader's gradebook and ``autograded/``.

A submission that was graded before is skipped as long as neither it nor anything that its grade depends on
has changed: its record lies in ``.autograder/``. A record is written after the gradebook, so that whatever
interrupts grading, the next run does again what was not finished.
"""

from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

from autograder.assignments.catalog import Assignment
from autograder.assignments.private import course_secret, grading_lock
from autograder.errors import CourseError, SandboxError, did_you_mean
from autograder.gradebook.book import Gradebook, Standing, why_unusable
from autograder.gradebook.configuration import CourseConfiguration
from autograder.model import Status, SubmissionResult
from autograder.reporting.records import Record, Records, submission_fingerprint
from autograder.sandbox.launcher import Launch
from autograder.usecases.judges import Judges, judges_for
from autograder.usecases.submissions import Graded, our_fault, saying_how, without_score


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
    jobs: int = 1,
    progress: Progress = lambda done, total, entry: None,
) -> list[Entry]:
    """Grade the submissions and record them, one transaction each, in the order of the students' names.

    ``jobs`` judges are at work at a time; results, and what is written, do not depend on how many. One
    process, this one, writes.

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
        with ExitStack() as at_work:
            judges = at_work.enter_context(judges_for(assignment, secret, launch, min(jobs, len(folders))))

            @cache
            def book() -> Gradebook:
                return at_work.enter_context(Gradebook(assignment))

            grader = Grader(assignment, judges, book, records, sandboxed=launch.sandboxed, force=force)
            try:
                for entry in grader.grade(folders):
                    entries.append(entry)
                    progress(len(entries), len(folders), entry)
            except KeyboardInterrupt as interrupt:
                done = f"{len(entries)} of {len(folders)} submissions are graded and recorded"
                raise KeyboardInterrupt(f"{done}; the next run goes on from there") from interrupt
    return entries


#: So many times as far as later on judges are ahead while the gradebook is opened or made.
HEAD_START = 12

#: Brings a submission's entry about; what goes wrong with it alone is in the entry.
Finish = Callable[[], Entry]


class Grader:
    """Brings submissions up to date; ``force`` grades unchanged ones again, too.

    ``book`` gives the gradebook. It is first asked for when there is something to record or to look up: what
    has no record can be judged while a gradebook is being made, which takes seconds.
    """

    def __init__(
        self,
        assignment: Assignment,
        judges: Judges,
        book: Callable[[], Gradebook],
        records: Records,
        *,
        sandboxed: bool,
        force: bool,
    ):
        self._assignment = assignment
        self._judges = judges
        self._book = book
        self._records = records
        self._sandboxed = sandboxed
        self._force = force

    def grade(self, folders: Mapping[str, Path]) -> Iterator[Entry]:
        """The entries of all students, in order; some are being judged ahead of that."""
        begun: deque[Finish] = deque()
        ahead = HEAD_START * self._judges.ahead
        for student, folder in folders.items():
            begun.append(self._begin(student, folder))
            while len(begun) > ahead:
                yield begun.popleft()()
                ahead = self._judges.ahead
        while begun:
            yield begun.popleft()()

    def _begin(self, student: str, folder: Path) -> Finish:
        """Hand it to a judge, unless its unchanged record says it all."""
        if reason := why_unusable(student):
            return partial(self._without_score, student, reason)
        try:
            return self._submit(student, folder)
        except (CourseError, SandboxError):
            raise
        except Exception as error:  # noqa: BLE001 (the others' grades must not depend on this one)
            return partial(self._fault, our_fault(self._assignment, student, error))

    def _submit(self, student: str, folder: Path) -> Finish:
        fingerprint = submission_fingerprint(folder)
        record = None if self._force else self._records.read(student)
        if record is not None and self._is_current(record, fingerprint):
            return partial(self._finish, student, lambda: self._unchanged(record))
        task = self._judges.submit(student, folder)
        return partial(self._finish, student, lambda: self._graded(task(), fingerprint, folder))

    def _finish(self, student: str, entry: Finish) -> Entry:
        try:
            return entry()
        except (CourseError, SandboxError):
            raise
        except Exception as error:  # noqa: BLE001 (the others' grades must not depend on this one)
            return self._fault(our_fault(self._assignment, student, error))

    def _unchanged(self, record: Record) -> Entry:
        book = self._book()
        before = book.standing(record.result.student)
        book.renew_late_penalty(record.result.student)
        return Entry(book.complete(record.result), skipped=True, before=before)

    def _graded(self, graded: Graded, fingerprint: str, folder: Path) -> Entry:
        """Record it, first in the gradebook."""
        book = self._book()
        before = book.standing(graded.result.student)
        result = book.record(graded.result, graded.executed, folder)
        self._records.write(Record(fingerprint, self._assignment.fingerprint, graded.result))
        return Entry(result, before=before, trace=graded.trace)

    def _without_score(self, student: str, reason: str) -> Entry:
        fault = without_score(self._assignment, student, Status.JUDGE_ERROR, reason)
        return self._fault(Graded(fault))

    def _fault(self, graded: Graded) -> Entry:
        result = saying_how(graded.result, sandboxed=self._sandboxed)
        return Entry(result, trace=graded.trace, recorded=False)

    def _is_current(self, record: Record, fingerprint: str) -> bool:
        """Whether grading again could change nothing.

        What failed by our fault is always tried again; what was reached without the sandbox does not count
        where there is one.
        """
        return (
            (record.result.sandboxed or not self._sandboxed)
            and record.submission_fingerprint == fingerprint
            and record.assignment_fingerprint == self._assignment.fingerprint
            and record.result.status is not Status.JUDGE_ERROR
            and self._book().is_recorded(record.result)
        )
