"""What checks of backward passes share: the student's own forward pass before, and the right gradients."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from autograder.checking.compare import expect_array, expect_dict, expect_tuple
from autograder.checking.differences import follows
from autograder.checking.framework import CheckFailure, MalformedAnswer
from autograder.checking.student import (
    Remote,
    Student,
    StudentFailure,
    StudentTimedOut,
)
from autograder.errors import JudgeError

from .draws import Array

#: Directions of the differences by which each gradient of the reference is confirmed, and their tolerance.
DIRECTIONS = 2
DIFFERENCE_TOLERANCE = 1e-6
#: A score of 10000 has four digits less to the right of its point than a score of 1.
LARGE_SCORES_TOLERANCE = 1e-8

#: The gradients that have been confirmed, with where they were taken: a number for each.
_confirmed: set[int] = set()


def forward_pass(
    student: Student, forward: str, args: Iterable[Any], result: str, backward: str
) -> tuple[Any, Remote]:
    """The result and the cache of the student's own forward pass, before a backward pass is tried."""
    answer = student.call(forward, *args)
    try:
        got, cache = expect_tuple(answer.value, (result, "cache"), forward)
        return got, expect_dict(cache, f"the cache of {forward}")
    except MalformedAnswer as failure:
        raise MalformedAnswer(
            f"{backward} could not be tried: {failure.rationale}", hint=failure.hint
        ) from failure


def expect_gradient(
    got: Any,
    want: Array,
    name: tuple[str, Sequence[str]],
    forward: tuple[str, Callable[[], bool]],
    tol: float | None = None,
) -> None:
    """Require a gradient; ``name`` is what it is called, and its axes.

    ``forward`` is the name of the student's own forward pass, and says whether its numbers are right: if not,
    the hint asks whether that is why.
    """
    try:
        expect_array(got, want, *name, tol=tol)
    except CheckFailure as failure:
        if not forward[1]():
            failure.hint = (
                f"The numbers of {forward[0]}, which comes first, are wrong here, too: is that why?"
            )
        raise


def is_right(got: Any, want: Array) -> bool:
    """Whether an answer is the right one; where ``want`` holds no real numbers, none is."""
    if want.dtype.kind not in "iuf":
        return False
    try:
        expect_array(got, want, "it", [""] * want.ndim)
    except CheckFailure:
        return False
    return True


def expect_one_right(checks: Iterable[Callable[[], None]]) -> None:
    """Require one of several checks to pass; of all that fail the first is told."""
    faults = []
    for check in checks:
        try:
            return check()
        except CheckFailure as failure:
            faults.append(failure)
    raise faults[0]


def too_expensive(failure: StudentFailure, size: str, backward: str, count: str) -> CheckFailure:
    """What to say of a backward pass that ran out of time or memory on ``count`` numbers or parameters."""
    limit = "time" if isinstance(failure, StudentTimedOut) else "memory"
    return CheckFailure(
        f"With {size}, {backward} needs more {limit} than it may use. If it differentiates numerically, that "
        f"is why: it takes a forward pass for each of {count}.",
        hint="Write the gradients as formulas: explicit loops over them are quick enough, too.",
    )


def confirm(
    name: str, gradient: Array, loss: Callable[[Array], float], at: Array, rng: np.random.Generator
) -> None:
    """Hold the reference's gradient against differences of its forward pass: no student pays for a slip.

    Students share inputs, and one gradient at one place is confirmed once.

    Raises:
        JudgeError: they disagree.
    """
    place = hash((gradient.tobytes(), at.tobytes()))
    if place in _confirmed:
        return
    if not follows(gradient, loss, at, rng, directions=DIRECTIONS, tol=DIFFERENCE_TOLERANCE):
        raise JudgeError(f"The reference's gradient {name} does not fit the reference's forward pass.")
    _confirmed.add(place)
