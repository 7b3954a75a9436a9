"""Grades one submission: finds its notebooks, judges them, and always comes to a result.

What the student has to mend makes the result ``malformed``, with the reason; what we have to mend makes it
``judge_error``, without a score. Only what concerns the whole class is raised.
"""

import errno
import math
import traceback
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from autograder.assignments.catalog import Assignment
from autograder.checking.runner import outcome_of
from autograder.checking.scoring import score_exercise
from autograder.checking.student import StudentMissing
from autograder.errors import AutograderError, CourseError, SandboxError
from autograder.model import WITHOUT_SANDBOX, ExerciseResult, Status, SubmissionResult
from autograder.notebooks.executed import ExecutedNotebook
from autograder.notebooks.finding import Found, Lost, find_notebooks
from autograder.notebooks.source import SourceNotebook
from autograder.usecases.judging import Judge

#: What the machine refuses to everybody, whoever's submission it was.
_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS})


@dataclass(frozen=True)
class Graded:
    """A result, the notebooks that could be read, by name, and for a fault of ours where it came from."""

    result: SubmissionResult
    executed: Mapping[str, ExecutedNotebook] = field(default_factory=dict)
    trace: str | None = None


def grade_folder(assignment: Assignment, judge: Judge, student: str, folder: Path) -> Graded:
    """Grade the submission in ``folder``.

    Raises:
        CourseError, SandboxError: nobody's submission can be graded like this.
    """
    found = find_notebooks(folder, assignment.notebooks)
    return grade_found(assignment, judge, student, found, folder)


def grade_found(
    assignment: Assignment, judge: Judge, student: str, found: Mapping[str, Found | Lost], folder: Path | None
) -> Graded:
    """Grade the notebooks that were found; ``folder`` holds the files that were handed in with them."""
    graded = _grade_found(assignment, judge, student, found, folder)
    return replace(graded, result=saying_how(graded.result, sandboxed=judge.sandboxed))


def saying_how(result: SubmissionResult, *, sandboxed: bool) -> SubmissionResult:
    """The result; it says so where it was reached without the sandbox."""
    if sandboxed:
        return result
    return replace(result, sandboxed=False, notes=(WITHOUT_SANDBOX, *result.notes))


def _grade_found(
    assignment: Assignment, judge: Judge, student: str, found: Mapping[str, Found | Lost], folder: Path | None
) -> Graded:
    lost = {name: one.reason for name, one in found.items() if isinstance(one, Lost)}
    if len(lost) == len(found):
        reasons = " ".join(sorted(set(lost.values())))
        return Graded(without_score(assignment, student, Status.MALFORMED, reasons))
    try:
        return _grade(assignment, judge, student, found, folder)
    except (CourseError, SandboxError):
        raise
    except Exception as error:  # noqa: BLE001 (one submission must not end the batch; it is named, loudly)
        read = {name: ExecutedNotebook(one.notebook) for name, one in found.items() if isinstance(one, Found)}
        return replace(our_fault(assignment, student, error), executed=read)


def our_fault(assignment: Assignment, student: str, error: Exception) -> Graded:
    """What becomes of a submission that we failed on; ``error`` is being handled.

    Students read the reason: it has the words of our own errors alone, the trace has the rest. Raises
    CourseError where nobody's submission can be graded: the disk is full, or may not be written to.
    """
    if isinstance(error, OSError) and error.errno in _NO_ROOM:
        where = error.filename or "A disk"
        raise CourseError(
            f"{where} cannot be written: {error.strerror}. What is graded so far is recorded: make room, and "
            "run the same command again."
        ) from error
    words = str(error) if isinstance(error, AutograderError) else f"{type(error).__name__}."
    reason = f"The grading program failed: {words}".encode("utf-8", "replace").decode("utf-8")
    result = without_score(assignment, student, Status.JUDGE_ERROR, reason)
    return Graded(result, trace=traceback.format_exc())


def _grade(
    assignment: Assignment, judge: Judge, student: str, found: Mapping[str, Found | Lost], folder: Path | None
) -> Graded:
    exercises: list[ExerciseResult] = []
    notes: list[str] = []
    executed: dict[str, ExecutedNotebook] = {}
    faults: list[str] = []
    for source in assignment.notebooks:
        notebook = found[source.name]
        if isinstance(notebook, Lost):
            notes.append(f"{source.name}.ipynb: {notebook.reason}")
            exercises += _missing(assignment, source)
            continue
        judged = judge.judge(student, notebook.notebook, source, folder)
        notes += [*notebook.notes, *judged.notes]
        exercises += judged.exercises
        executed[source.name] = judged.executed
        faults += [judged.fault] if judged.fault is not None else []
    ours = [one.name for one in exercises if one.score is None]
    score = None if ours else round(math.fsum(one.score or 0.0 for one in exercises), 6)
    result = SubmissionResult(
        student=student,
        score=score,
        max_score=assignment.max_score,
        status=Status.JUDGE_ERROR if ours else Status.GRADED,
        reason=f"A check of {', '.join(ours)} failed by a fault of its own." if ours else None,
        notes=tuple(dict.fromkeys(notes)),  # what is said of the folder is said for each notebook
        exercises=tuple(exercises),
    )
    return Graded(result, executed, "\n".join(faults) or None)


def _missing(assignment: Assignment, source: SourceNotebook) -> list[ExerciseResult]:
    """No points for the exercises of a notebook that was not handed in."""
    results = []
    for exercise in source.exercises:
        outcome = outcome_of(StudentMissing(), exercise.name)
        outcomes = [(check, outcome) for check in assignment.checks.of(exercise.name)]
        results.append(score_exercise(exercise.name, outcomes, exercise.max_points))
    return results


def without_score(assignment: Assignment, student: str, status: Status, reason: str) -> SubmissionResult:
    """The result of a submission that was not judged: nothing earned if malformed, else no score at all."""
    score = 0.0 if status is Status.MALFORMED else None
    exercises = tuple(ExerciseResult(one.name, score, one.max_points) for one in assignment.exercises)
    return SubmissionResult(student, score, assignment.max_score, status, reason, exercises=exercises)
