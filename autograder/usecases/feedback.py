"""Feedback for a class: ``feedback/<student>/<assignment>/<notebook>.html``, ``.md`` and ``.txt``.

Everything is made anew and compared with what is there, so that a score or a comment that changed is never
missed, whatever the time stamps say, and a file in which nothing changed is left alone.
"""

import contextlib
import traceback
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

from autograder.assignments.catalog import find_source
from autograder.assignments.private import grading_lock
from autograder.errors import AutograderError, CourseError, did_you_mean
from autograder.files import read_plain_file, remove_partial_files, write_atomically
from autograder.gradebook.configuration import CourseConfiguration
from autograder.gradebook.converting import FeedbackConverter, Files
from autograder.gradebook.grades import RecordedGrades
from autograder.gradebook.lateness import TIMESTAMP

EXPORTER = "autograder.usecases.feedback_exporter.FeedbackExporter"
MAX_BYTES = 256 * 2**20
#: What nbgrader wants beside feedback: when the work was handed in, and, where that was done through its
#: exchange, the name under which only the student can find the page there.
CARRIED = (TIMESTAMP, "submission_secret.txt")
MAX_CARRIED_BYTES = 1000


@dataclass(frozen=True)
class Entry:
    """One student's feedback: the folder, how many of its files were written, and what went wrong.

    ``waiting`` names what a person has still to grade; ``trace`` is given with a ``fault`` of ours.
    """

    student: str
    folder: Path
    written: int = 0
    waiting: tuple[str, ...] = ()
    fault: str | None = None
    trace: str | None = None


@dataclass(frozen=True)
class ClassFeedback:
    """All entries, and the students who handed in but were not graded yet."""

    entries: tuple[Entry, ...]
    ungraded: tuple[str, ...]


#: Told after each student: how many are done, how many there are, and the entry.
Progress = Callable[[int, int, Entry], None]


def give_feedback(
    course: Path,
    assignment: str,
    *,
    students: Collection[str] = (),
    force: bool = False,
    progress: Progress = lambda done, total, entry: None,
) -> ClassFeedback:
    """Bring the feedback of all graded students, or of those named, up to date.

    With ``force`` files in which nothing changed are written, too. A fault in one student's feedback is told
    in the entry and stops nobody else's.

    Raises:
        CourseError: nothing was graded yet, a student is not known, a folder cannot be written.
    """
    source = find_source(course, assignment)
    notebooks = sorted(path.stem for path in source.glob("*.ipynb"))
    configuration = CourseConfiguration(course)
    nothing = f"Nothing of {assignment!r} has been graded yet. Grade it first: autograder grade {assignment}"
    grades = RecordedGrades.of_course(configuration)
    if grades is None:
        raise CourseError(nothing)
    with grades, grading_lock(course):
        graded = [one for one in grades.students(assignment) if _is_graded(configuration, one, assignment)]
        if not graded:
            raise CourseError(nothing)
        ungraded = _handed_in(configuration, assignment) - set(graded)
        _refuse_unknown(students, graded, ungraded, assignment)
        writer = _Writer(configuration, assignment, notebooks, grades, force=force)
        chosen = [one for one in graded if not students or one in students]
        entries = []
        for student in chosen:
            entries.append(writer.write(student))
            progress(len(entries), len(chosen), entries[-1])
    return ClassFeedback(tuple(entries), tuple(sorted(ungraded)))


class _Writer:
    """Writes one student's feedback after another."""

    def __init__(
        self,
        configuration: CourseConfiguration,
        assignment: str,
        notebooks: list[str],
        grades: RecordedGrades,
        *,
        force: bool,
    ):
        self._configuration = configuration
        self._assignment = assignment
        self._notebooks = notebooks
        self._grades = grades
        self._force = force
        self._converter = FeedbackConverter(configuration, assignment, EXPORTER, grades)

    def write(self, student: str) -> Entry:
        """Make the feedback and write what differs from what is there; raises CourseError where it cannot."""
        folder = self._configuration.feedback_folder(student, self._assignment)
        try:
            files, waiting = self._make(student)
        except CourseError:
            raise
        except Exception as error:  # noqa: BLE001 (one student's page must not cost the others theirs)
            words = str(error) if isinstance(error, AutograderError) else f"{type(error).__name__}: {error}"
            return Entry(student, folder, fault=words, trace=traceback.format_exc())
        return Entry(student, folder, self._place(folder, files), waiting)

    def _make(self, student: str) -> tuple[Files, tuple[str, ...]]:
        autograded = self._configuration.autograded_folder(student, self._assignment)
        files: dict[str, bytes] = {}
        waiting: list[str] = []
        for notebook in self._notebooks:
            recorded = self._grades.notebook(student, self._assignment, notebook)
            if recorded is None or not (autograded / f"{notebook}.ipynb").is_file():
                continue
            files |= self._converter.convert(student, notebook)
            waiting += [name.removeprefix("test_") for name, grade in recorded.grades.items() if grade.waits]
        for name in CARRIED:
            with contextlib.suppress(OSError):
                files[name] = read_plain_file(autograded / name, max_bytes=MAX_CARRIED_BYTES)
        return files, tuple(waiting)

    def _place(self, folder: Path, files: Files) -> int:
        written = 0
        try:
            folder.mkdir(parents=True, exist_ok=True)
            remove_partial_files(folder)
            for name, data in files.items():
                if self._force or _read(folder / name) != data:
                    write_atomically(folder / name, data, mode=self._converter.mode)
                    written += 1
        except OSError as error:
            raise CourseError(f"The feedback folder {folder} cannot be written: {error.strerror}.") from error
        return written


def _read(path: Path) -> bytes | None:
    try:
        return read_plain_file(path, max_bytes=MAX_BYTES)
    except OSError:
        return None


def _is_graded(configuration: CourseConfiguration, student: str, assignment: str) -> bool:
    return any(configuration.autograded_folder(student, assignment).glob("*.ipynb"))


def _handed_in(configuration: CourseConfiguration, assignment: str) -> set[str]:
    root = configuration.submitted_root
    folders = root.iterdir() if root.is_dir() else ()
    return {path.name for path in folders if (path / assignment).is_dir()}


def _refuse_unknown(
    students: Collection[str], graded: list[str], ungraded: Collection[str], assignment: str
) -> None:
    for student in students:
        if student in ungraded:
            raise CourseError(
                f"{student!r} has not been graded yet: autograder grade {assignment} --student {student}"
            )
        if student not in graded:
            raise CourseError(
                f"There is no graded submission of {assignment!r} by {student!r}."
                f"{did_you_mean(student, graded)}"
            )
