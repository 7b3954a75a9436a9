"""Explains a grade, for appeals: replays the recorded grading of one submission and keeps what happened.

For the instructor alone, since it shows hidden inputs and right answers. Nothing is recorded: gradebook,
records and pages stay as they are. The student's code runs in a worker as it does when it is graded, and gets
what it got then: the same seeds, the same attempts, the same right helpers.
"""

from pathlib import Path

from autograder.assignments.catalog import Assignment
from autograder.assignments.private import FOLDER_NAME, course_secret
from autograder.checking.framework import Check
from autograder.checking.retelling import difference, retell
from autograder.checking.runner import Outcome
from autograder.checking.seeds import variant_of
from autograder.checking.visible import NAME as VISIBLE
from autograder.errors import CourseError, did_you_mean
from autograder.gradebook.configuration import CourseConfiguration
from autograder.model import CheckResult, SubmissionResult
from autograder.reporting.explanation import ExplainedCheck, Explanation, is_failed
from autograder.reporting.records import Record, Records, submission_fingerprint
from autograder.sandbox.launcher import Launch
from autograder.usecases.assessing import Replay
from autograder.usecases.following import END_TO_END, Examined
from autograder.usecases.judging import Judge
from autograder.usecases.submissions import Graded, grade_folder


def explain(
    assignment: Assignment,
    student: str,
    launch: Launch,
    *,
    exercise: str | None = None,
    check: str | None = None,
    force: bool = False,
) -> Explanation:
    """Replay a graded submission; ``exercise`` and ``check`` choose, else all failed checks are explained.

    What is chosen by name is explained even if it passed. With ``force`` a submission, or an assignment, that
    has changed since is replayed as it is now, and the explanation says so.

    Raises:
        CourseError: the student was not graded, something has changed since, or there is no such check.
        SandboxError: student code cannot be run on this machine.
    """
    _require_names(assignment, exercise, check)
    configuration = CourseConfiguration(assignment.course)
    folder = configuration.submitted_folder(student, assignment.name)
    record = _record(assignment, student, configuration.submitted_root)
    remark = _changes(assignment, record, folder, student)
    if remark is not None and not force:
        raise CourseError(f"{remark} Grade it again, or explain what is there now with --force.")
    secret = _secret(assignment.course)
    examined: list[Examined] = []
    replay = Replay(_attempts(record.result), examined.append)
    with Judge(assignment, secret, launch, replay) as judge:
        graded = grade_folder(assignment, judge, student, folder)
    wanted = _Wanted(exercise, check)
    return Explanation(
        student=student,
        assignment=assignment.name,
        variant=variant_of(secret, student),
        status=graded.result.status,
        reason=graded.result.reason,
        notes=graded.result.notes,
        checks=tuple(_explained(assignment, graded, record.result, examined, wanted)),
        differing=tuple(_differing(graded.result, record.result)),
        remark=None if remark is None else f"{remark} This is what comes of it now.",
        fault=graded.trace,
    )


class _Wanted:
    """Which checks are to be explained."""

    def __init__(self, exercise: str | None, check: str | None):
        self._exercise = exercise
        self._check = check

    def has(self, exercise: str, result: CheckResult) -> bool:
        """Whether this one is: named, or failed where none is named."""
        if self._exercise not in (None, exercise) or self._check not in (None, result.name):
            return False
        return self._check is not None or is_failed(result)


def _explained(
    assignment: Assignment,
    graded: Graded,
    recorded: SubmissionResult,
    examined: list[Examined],
    wanted: _Wanted,
) -> list[ExplainedCheck]:
    seen = {one.exercise.name: one for one in examined}
    before = _checks(recorded)
    explained = []
    for (exercise, name), result in _checks(graded.result).items():
        if not wanted.has(exercise, result):
            continue
        one = seen.get(exercise)
        outcome = None if one is None else _outcome(one, name)
        explained.append(
            ExplainedCheck(
                exercise=exercise,
                result=result,
                recorded=before.get((exercise, name)),
                calls=() if outcome is None else retell(outcome.events, assignment.reference),
                failing=None
                if outcome is None or outcome.comparison is None
                else difference(outcome.comparison),
                helped=() if one is None or name == END_TO_END else one.help.replaced,
                unwritten=outcome is not None and outcome.unwritten,
            )
        )
    return explained


def _outcome(examined: Examined, name: str) -> Outcome | None:
    outcomes: list[tuple[Check, Outcome]] = list(examined.counting)
    return next((outcome for check, outcome in outcomes if check.name == name), None)


def _checks(result: SubmissionResult) -> dict[tuple[str, str], CheckResult]:
    return {(exercise.name, check.name): check for exercise in result.exercises for check in exercise.checks}


def _attempts(result: SubmissionResult) -> dict[tuple[str, str], int]:
    return {key: check.attempt for key, check in _checks(result).items()}


def _differing(now: SubmissionResult, then: SubmissionResult) -> list[tuple[str, str]]:
    """The checks that ended differently from what is recorded."""
    before, after = _checks(then), _checks(now)
    return [
        key
        for key in dict.fromkeys([*before, *after])
        if key not in before or key not in after or before[key].verdict is not after[key].verdict
    ]


def _record(assignment: Assignment, student: str, submitted: Path) -> Record:
    """The record of the last grading; raises CourseError where there is none."""
    record = None
    if (assignment.course / FOLDER_NAME / assignment.name).is_dir():
        record = Records(assignment.course, assignment.name).read(student)
    if record is None:
        known = [path.name for path in submitted.iterdir()] if submitted.is_dir() else []
        near = "" if student in known else did_you_mean(student, known)
        raise CourseError(
            f"{student!r} has not been graded in {assignment.name!r}, so there is nothing to explain.{near}"
        )
    return record


def _changes(assignment: Assignment, record: Record, folder: Path, student: str) -> str | None:
    """A sentence on what has changed since the grading; None if nothing has."""
    if submission_fingerprint(folder) != record.submission_fingerprint:
        return f"The submission of {student!r} has changed since it was graded: {folder}."
    if assignment.fingerprint != record.assignment_fingerprint:
        return (
            f"{assignment.name!r} has changed since the submission of {student!r} was graded: its source, "
            "reference, checks, limits, or the grading program."
        )
    return None


def _secret(course: Path) -> bytes:
    """The course's secret, which must be there: a new one would draw other inputs."""
    path = course / FOLDER_NAME / "secret"
    if not path.exists():
        raise CourseError(f"{path} is missing: without it nobody knows which inputs were drawn.")
    return course_secret(course)


def _require_names(assignment: Assignment, exercise: str | None, check: str | None) -> None:
    """Raise CourseError where there is no such exercise or check."""
    exercises = [one.name for one in assignment.exercises]
    if exercise is not None and exercise not in exercises:
        raise CourseError(
            f"{assignment.name!r} has no exercise {exercise!r}.{did_you_mean(exercise, exercises)} "
            f"It has: {', '.join(exercises)}."
        )
    chosen = exercises if exercise is None else [exercise]
    names = {one.name for name in chosen for one in assignment.checks.of(name)} | {END_TO_END}
    if any(name in assignment.checks.visible_weights for name in chosen):
        names.add(VISIBLE)
    if check is not None and check not in names:
        raise CourseError(
            f"There is no check {check!r}.{did_you_mean(check, names)} There are: {', '.join(sorted(names))}."
        )
