"""Visible checks as checks of the judge: the trusted copy of their helper calls the student's functions.

The helper module of an assignment has a function ``check_<exercise>`` for each exercise, whose
parameters carry names of the notebook (the student's functions and classes, and others that it needs on the
student's side), and an exception ``CheckFailed`` whose text is the sentence for the student.
"""

import inspect
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from autograder.checking.framework import Check, CheckFailure, CheckSet, Kind
from autograder.checking.notebook_names import Name
from autograder.checking.student import Student
from autograder.errors import CourseError

NAME = "visible"


def with_visible_checks(checks: CheckSet, module: ModuleType) -> CheckSet:
    """All checks of an assignment: in each exercise the visible ones, by their declared weight, come first.

    Raises:
        CourseError: ``module`` lacks the visible checks of an exercise.
    """
    complete = CheckSet(checks.assignment)
    complete.declare_as(checks)
    for exercise in checks.exercises:
        if exercise in checks.visible_weights:
            complete.add(visible_check(module, exercise, checks.visible_weights[exercise]))
        for check in checks.of(exercise):
            complete.add(check)
    return complete


def visible_check(module: ModuleType, exercise: str, weight: float) -> Check:
    """The visible checks of one exercise as one check; raises CourseError where ``module`` has none."""
    target: Callable[..., None] | None = getattr(module, f"check_{exercise}", None)
    failed: Any = getattr(module, "CheckFailed", None)
    if target is None or not (isinstance(failed, type) and issubclass(failed, Exception)):
        raise CourseError(
            f"{module.__name__}: the visible checks of {exercise} need a function check_{exercise} and "
            "an exception CheckFailed."
        )
    names = tuple(inspect.signature(target).parameters)

    def run(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
        try:
            target(*(Name(student, name) for name in names))
        except failed as failure:
            raise CheckFailure(str(failure)) from None

    run.__doc__ = inspect.getdoc(target) or f"The visible checks of {exercise}."
    return Check(NAME, exercise, Kind.VISIBLE, weight, run)
