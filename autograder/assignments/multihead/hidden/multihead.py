"""The hidden checks of ``multihead``: 6 points."""

from dataclasses import replace
from types import ModuleType
from typing import Any

import numpy as np

from autograder.checking.compare import (
    describe,
    expect_array,
    expect_dict,
    expect_items,
    expect_tuple,
    repeated,
)
from autograder.checking.contract import expect_kept, expect_untouched
from autograder.checking.framework import CheckFailure, CheckSet
from autograder.checking.student import Answer, Student

from . import draws

AXES = ("batch", "seq", "d_model")

checks = CheckSet("multihead")
checks.visible("multihead", weight=0.9)


@checks.value("multihead", weight=1.5)
def all_allowed(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """The output y is right where every time step may attend to every other."""
    (size,) = draws.sizes(rng, 1)
    _compare(student, reference, draws.case(rng, size, allowed=np.ones((size[1], size[1]), bool)))


@checks.value("multihead", weight=1.5)
def masked(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """The output y is right under a mask of any form: rows are queries, columns are keys."""
    for size in draws.sizes(rng, 2):
        _compare(student, reference, draws.case(rng, size))


@checks.value("multihead", weight=0.5)
def dtypes(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """Integers are computed in float64, float32 comes out right, and heads may be a NumPy integer."""
    first, second = draws.sizes(rng, 2)
    integers = draws.integer_case(rng, first)
    _compare(student, reference, replace(integers, heads=np.int64(integers.heads)))
    _compare(student, reference, draws.case(rng, second).astype(np.float32))


@checks.contract("multihead", weight=0.4)
def large_scores(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """Scores of 10000 and -10000 still give the right, finite y."""
    (size,) = draws.sizes(rng, 1)
    _compare(student, reference, draws.large_scores_case(rng, size))


@checks.contract("multihead", weight=0.4)
def extremes(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """A single head, as many heads as channels, a single sequence and a single time step are right, too."""
    _compare(student, reference, draws.case(rng, (1, 4, 6, 1)))
    _compare(student, reference, draws.case(rng, (3, 1, 1, 5), allowed=np.array([[True]])))


@checks.contract("multihead", weight=0.4)
def cache(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """The cache holds x, heads, the attention's own cache and joined, each under its name."""
    (size,) = draws.sizes(rng, 1)
    case = draws.case(rng, size)
    _, wanted = reference.multihead(case.x, case.params, case.heads, case.allowed)
    _, kept = expect_tuple(_call(student, case).value, ("y", "cache"), "multihead")
    items = expect_items(kept, ("x", "heads", "attention", "joined"), "cache")
    expect_array(items["x"], case.x, 'cache["x"]', AXES)
    _expect_heads(items["heads"], case.heads)
    expect_array(items["joined"], wanted["joined"], 'cache["joined"]', AXES)


@checks.contract("multihead", weight=0.2)
def untouched(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """x, params and allowed are left as they were."""
    (size,) = draws.sizes(rng, 1)
    case = draws.case(rng, size)
    arguments = {"x": case.x, "params": case.params, "heads": case.heads, "allowed": case.allowed}
    expect_untouched(student, "multihead", arguments)


@checks.contract("multihead", weight=0.2)
def repeatable(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """The same call gives the same answer again, and earlier answers stay as they were, caches included."""
    (size,) = draws.sizes(rng, 1)
    one, other = draws.case(rng, size), draws.case(rng, size)
    first = _call(student, one)
    _, kept = expect_tuple(first.value, ("y", "cache"), "multihead")
    before = expect_dict(kept, "cache").fetch()
    _call(student, other)
    expect_kept(first.value, first.reread(), "multihead")
    expect_kept(before, kept.fetch(), "multihead")
    again = _call(student, one)
    if not repeated(first.value, again.value):
        raise CheckFailure("Called again with the same arguments, multihead gives another y.")


def _call(student: Student, case: draws.Case) -> Answer:
    return student.call("multihead", case.x, case.params, case.heads, case.allowed)


def _compare(student: Student, reference: ModuleType, case: draws.Case) -> None:
    """Call ``multihead`` once and compare its y."""
    y, _ = expect_tuple(_call(student, case).value, ("y", "cache"), "multihead")
    expect_array(y, wanted_y(reference, case), "y", AXES)


def wanted_y(reference: ModuleType, case: draws.Case) -> draws.Array:
    """The right y: of float32 that of the same numbers in float64, rounded."""
    exact = case.astype(np.float64) if case.x.dtype == np.float32 else case
    y: draws.Array = reference.multihead(exact.x, exact.params, exact.heads, exact.allowed)[0]
    return y.astype(case.dy.dtype)


def _expect_heads(got: object, heads: int | np.integer[Any]) -> None:
    """Require a number, of whatever type, that equals ``heads``."""
    number = got.item() if isinstance(got, np.generic | np.ndarray) and got.shape == () else got
    if isinstance(number, bool) or not isinstance(number, int | float):
        raise CheckFailure(f'cache["heads"] must be the number of heads; it is {describe(got)}.')
    if number != heads:
        raise CheckFailure('cache["heads"] is another number than the heads that multihead got.')
