"""The hidden checks of ``multihead_backward``: 9 points.

Each backward pass follows a forward pass by the student's own ``multihead``, whose cache is handed on.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np

from autograder.checking.compare import (
    expect_array,
    expect_dict,
    expect_item,
    expect_items,
    expect_tuple,
    repeated,
    unchanged,
)
from autograder.checking.contract import expect_kept
from autograder.checking.differences import follows
from autograder.checking.framework import CheckFailure, CheckSet, MalformedAnswer
from autograder.checking.student import (
    Answer,
    Remote,
    Student,
    StudentMemoryExceeded,
    StudentTimedOut,
)
from autograder.errors import JudgeError

from . import draws
from .multihead import AXES as X_AXES
from .multihead import wanted_y

W_AXES = ("d_model", "d_model")
#: Directions of the differences by which each gradient of the reference is confirmed, and their tolerance.
DIRECTIONS = 2
DIFFERENCE_TOLERANCE = 1e-6
#: A score of 10000 has four digits less to the right of its point than a score of 1.
LARGE_SCORES_TOLERANCE = 1e-8

checks = CheckSet("multihead")
checks.visible("multihead_backward", weight=1.2)


@checks.value("multihead_backward", weight=1.2)
def dx(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """The gradient dx for x is right: all routes to x are in it."""
    _check_gradient("dx", student, reference, rng)


@checks.value("multihead_backward", weight=0.9)
def dwq(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """The gradient grads["wq"] for the query projection is right."""
    _check_gradient("wq", student, reference, rng)


@checks.value("multihead_backward", weight=0.9)
def dwk(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """The gradient grads["wk"] for the key projection is right."""
    _check_gradient("wk", student, reference, rng)


@checks.value("multihead_backward", weight=0.9)
def dwv(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """The gradient grads["wv"] for the value projection is right."""
    _check_gradient("wv", student, reference, rng)


@checks.value("multihead_backward", weight=0.9)
def dwo(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """The gradient grads["wo"] for the output projection is right."""
    _check_gradient("wo", student, reference, rng)


@checks.value("multihead_backward", weight=0.5)
def dtypes(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """The gradients of integers are computed in float64, and those of float32 come out right."""
    first, second = draws.sizes(rng, 2)
    _compare_all(student, reference, draws.integer_case(rng, first))
    _compare_all(student, reference, draws.case(rng, second).astype(np.float32))


@checks.contract("multihead_backward", weight=0.3)
def large_scores(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """Scores of 10000 and -10000 still give right, finite gradients."""
    (size,) = draws.sizes(rng, 1)
    case = draws.large_scores_case(rng, size)
    _compare_all(student, reference, case, tol=LARGE_SCORES_TOLERANCE)


@checks.contract("multihead_backward", weight=0.3)
def extremes(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """A single head, as many heads as channels, a single sequence and a single time step are right, too."""
    _compare_all(student, reference, draws.case(rng, (1, 4, 6, 1)))
    _compare_all(student, reference, draws.case(rng, (3, 1, 1, 5), allowed=np.array([[True]])))


@checks.contract("multihead_backward", weight=0.2)
def untouched(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """The cache, params and dy are left as they were."""
    (size,) = draws.sizes(rng, 1)
    case = draws.case(rng, size)
    _, cache = _forward(student, case)
    before = cache.fetch()
    params, dy = student.send(case.params), student.send(case.dy)
    student.call("multihead_backward", cache, params, dy)
    for name, was, now in (
        ("cache", before, cache.fetch()),
        ("params", case.params, params.reread()),
        ("dy", case.dy, dy.reread()),
    ):
        if not unchanged(was, now):
            raise CheckFailure(
                f"multihead_backward changes its argument {name}.",
                hint="Which of your lines writes into an array, or a dict, that was handed in?",
            )


@checks.contract("multihead_backward", weight=0.2)
def repeatable(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """A second backward pass with one cache gives the same gradients, whatever was computed in between."""
    (size,) = draws.sizes(rng, 1)
    one, other = draws.case(rng, size), draws.case(rng, size)
    _, cache = _forward(student, one)
    first = _backward(student, one, cache)
    gradients = expect_dict(_results(first)[1], "grads")
    before = gradients.fetch()
    _backward(student, other, _forward(student, other)[1])
    expect_kept((first.value, before), (first.reread(), gradients.fetch()), "multihead_backward")
    again = _backward(student, one, cache)
    if not repeated((first.value, before), (again.value, expect_dict(_results(again)[1], "grads").fetch())):
        raise CheckFailure(
            "Called again with the same cache, params and dy, multihead_backward gives other gradients.",
            hint="Does something outlive the call, such as a global variable or a changed cache?",
        )


@checks.contract("multihead_backward", weight=1.5)
def cost(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """One backward pass is enough: with d_model 256 it ends in time, and at least one gradient is right."""
    case = draws.wide_case(rng)
    y, cache = _forward(student, case)
    try:
        got_dx, grads = _results(_backward(student, case, cache))
    except (StudentTimedOut, StudentMemoryExceeded) as failure:
        limit = "time" if isinstance(failure, StudentTimedOut) else "memory"
        raise CheckFailure(
            f"With d_model 256, multihead_backward needs more {limit} than it may use. Differentiating "
            "numerically is too expensive there: it takes a forward pass for each of 262,144 parameters.",
            hint="Write the gradients as formulas: explicit loops over them are quick enough, too.",
        ) from failure
    forward_is_right = partial(_is_right, y, reference, case)
    faults = []
    for name, wanted in _wanted(reference, case).items():
        try:
            got = got_dx if name == "dx" else expect_item(grads, name, "grads")
            return _expect_gradient(name, got, wanted, forward_is_right)
        except CheckFailure as failure:
            faults.append(failure)
    raise faults[0]


def _check_gradient(name: str, student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """Compare one gradient at one draw, after the reference's own has been confirmed by differences."""
    (size,) = draws.sizes(rng, 1)
    case = draws.case(rng, size)
    wanted = _wanted(reference, case)[name]
    _confirm(name, wanted, reference, case, rng)
    y, cache = _forward(student, case)
    got_dx, grads = _results(_backward(student, case, cache))
    got = got_dx if name == "dx" else expect_item(grads, name, "grads")
    _expect_gradient(name, got, wanted, partial(_is_right, y, reference, case))


def _compare_all(
    student: Student, reference: ModuleType, case: draws.Case, *, tol: float | None = None
) -> None:
    """Compare dx and all four gradients of one case."""
    y, cache = _forward(student, case)
    got = _gradients(_backward(student, case, cache))
    forward_is_right = partial(_is_right, y, reference, case)
    for name, wanted in _wanted(reference, case).items():
        _expect_gradient(name, got[name], wanted, forward_is_right, tol)


def _forward(student: Student, case: draws.Case) -> tuple[Any, Remote]:
    """The y and the cache of the student's own ``multihead``."""
    answer = student.call("multihead", case.x, case.params, case.heads, case.allowed)
    try:
        y, cache = expect_tuple(answer.value, ("y", "cache"), "multihead")
        return y, expect_dict(cache, "the cache of multihead")
    except MalformedAnswer as failure:
        raise MalformedAnswer(
            f"multihead_backward could not be tried: {failure.rationale}", hint=failure.hint
        ) from failure


def _backward(student: Student, case: draws.Case, cache: Remote) -> Answer:
    return student.call("multihead_backward", cache, case.params, case.dy)


def _results(answer: Answer) -> tuple[Any, Any]:
    """Take the pair of dx and grads apart, whatever they are."""
    got_dx, grads = expect_tuple(answer.value, ("dx", "grads"), "multihead_backward")
    return got_dx, grads


def _gradients(answer: Answer) -> dict[str, Any]:
    """The gradient dx and those of the four matrices, by name."""
    got_dx, grads = _results(answer)
    return {"dx": got_dx, **expect_items(grads, draws.PARAMS, "grads")}


def _expect_gradient(
    name: str,
    got: Any,
    wanted: draws.Array,
    forward_is_right: Callable[[], bool],
    tol: float | None = None,
) -> None:
    what, axes = ("dx", X_AXES) if name == "dx" else (f'grads["{name}"]', W_AXES)
    try:
        expect_array(got, wanted, what, axes, tol=tol)
    except CheckFailure as failure:
        if not forward_is_right():
            failure.hint = "The numbers of multihead, which comes first, are wrong here, too: is that why?"
        raise


def _is_right(y: Any, reference: ModuleType, case: draws.Case) -> bool:
    try:
        expect_array(y, wanted_y(reference, case), "y", X_AXES)
    except CheckFailure:
        return False
    return True


def _wanted(reference: ModuleType, case: draws.Case) -> dict[str, draws.Array]:
    """The right gradients by name: of float32 those of the same numbers in float64, rounded."""
    exact = case.astype(np.float64) if case.x.dtype == np.float32 else case
    _, cache = reference.multihead(exact.x, exact.params, exact.heads, exact.allowed)
    right_dx, grads = reference.multihead_backward(cache, exact.params, exact.dy)
    gradients = {"dx": right_dx, **{name: grads[name] for name in draws.PARAMS}}
    return {name: gradient.astype(case.dy.dtype) for name, gradient in gradients.items()}


def _confirm(
    name: str, gradient: draws.Array, reference: ModuleType, case: draws.Case, rng: np.random.Generator
) -> None:
    """Hold the reference's gradient against differences of its forward pass: no student pays for a slip.

    Raises:
        JudgeError: they disagree.
    """

    def loss(moved: draws.Array) -> float:
        one = replace(case, x=moved) if name == "dx" else case.with_params(**{name: moved})
        return float(np.sum(reference.multihead(one.x, one.params, one.heads, one.allowed)[0] * case.dy))

    at = case.x if name == "dx" else case.params[name]
    if not follows(gradient, loss, at, rng, directions=DIRECTIONS, tol=DIFFERENCE_TOLERANCE):
        raise JudgeError(f"The reference's gradient {name} does not fit the reference's forward pass.")
