"""Hidden checks inside the student's own kernel: for plain nbgrader, without this kit's configuration.

Weaker than the judge, since the student's code shares the process and could read or patch everything here.
It lets a site that may not configure nbgrader grade all the same: the hidden region of a test cell calls
``score``.
"""

import math
import secrets
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from autograder.assignments.catalog import KIT, find_course, load_assignment
from autograder.checking.framework import Check
from autograder.checking.local import LocalStudent
from autograder.checking.runner import Outcome, run_check
from autograder.checking.scoring import score_exercise
from autograder.checking.seeds import rng
from autograder.checking.visible import with_visible_checks
from autograder.errors import CourseError, JudgeError
from autograder.model import CheckResult, Verdict


def score(assignment: str, exercise: str, namespace: Mapping[str, object]) -> float:
    """Run all checks of an exercise on the functions in ``namespace``; returns its points, for nbgrader to
    read.

    What failed is printed to standard output, which nbgrader does not take for a verdict.

    Raises:
        CourseError: the assignment cannot be found from the current folder, or has no such exercise.
        JudgeError: a check failed by a fault of its own; nbgrader shows it, and gives no points.
    """
    found = load_assignment(_course_above(Path.cwd(), assignment), assignment)
    points = {one.name: one.max_points for one in found.exercises}
    if exercise not in points:
        raise CourseError(f"Assignment {assignment!r} has no exercise {exercise!r}.")
    checks = found.checks if found.visible is None else with_visible_checks(found.checks, found.visible)
    student = LocalStudent(namespace, call_seconds=found.limits.call_seconds)
    secret = secrets.token_bytes(32)
    outcomes: list[tuple[Check, Outcome]] = [
        (check, run_check(check, student, found.reference, rng(secret, assignment, exercise, check.name, 0)))
        for check in checks.of(exercise)
    ]
    result = score_exercise(exercise, outcomes, points[exercise])
    sys.stdout.writelines(_report(result.checks))
    if result.score is None or not math.isfinite(result.score):
        raise JudgeError(f"A check of {exercise} failed by a fault of its own: tell your instructor.")
    return result.score


def _course_above(folder: Path, assignment: str) -> Path:
    """The course in which a notebook is graded: nbgrader runs it in
    ``autograded/<student>/<assignment>/``.
    """
    for candidate in (folder, *folder.parents):
        if (candidate / "source" / assignment).is_dir():
            return candidate
    return find_course(KIT.parent)


def _report(checks: tuple[CheckResult, ...]) -> Iterator[str]:
    for check in checks:
        if check.verdict is not Verdict.PASSED:
            yield f"{check.name}: {check.message}\n"
            if check.hint is not None:
                yield f"  Hint: {check.hint}\n"
