"""The hidden checks of ``split_heads``: 3 points."""

from types import ModuleType
from typing import Any

import numpy as np

from autograder.assignments.attention_layer import draws
from autograder.checking.compare import expect_array
from autograder.checking.contract import (
    expect_each_refused,
    expect_refused,
    expect_repeatable,
    expect_untouched,
)
from autograder.checking.framework import CheckSet
from autograder.checking.student import Student

AXES = ("batch", "heads", "seq", "d_head")

checks = CheckSet("multihead")
checks.visible("split_heads", weight=0.4)


@checks.value("split_heads", weight=1.4)
def values(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """Every number goes to the right head, time step and place."""
    for layout, size in zip(("F", "strided"), draws.sizes(rng, 2), strict=True):
        _compare(student, reference, draws.arranged(draws.case(rng, size).x, layout), size[2])


@checks.value("split_heads", weight=0.3)
def dtypes(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """Integers and float32 are split like any other numbers, and heads may be a NumPy integer."""
    first, second = draws.sizes(rng, 2)
    _compare(student, reference, draws.integer_case(rng, first).x, np.int64(first[2]))
    _compare(student, reference, draws.case(rng, second).x.astype(np.float32), second[2])


@checks.contract("split_heads", weight=0.3)
def extremes(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """A single head, as many heads as channels, a single sequence and a single time step are right, too."""
    _compare(student, reference, rng.standard_normal((1, 4, 6)), 6)
    _compare(student, reference, rng.standard_normal((3, 1, 5)), 1)


@checks.contract("split_heads", weight=0.2)
def bad_heads(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """Whatever is no whole number of heads that divides d_model is refused with ValueError or TypeError."""
    (size,) = draws.sizes(rng, 1)
    x = draws.case(rng, size).x
    cases = [(wrong, (x, heads)) for wrong, heads in draws.bad_head_counts(size)]
    expect_each_refused(student, "split_heads", cases, "heads is")


@checks.contract("split_heads", weight=0.1)
def bad_axes(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """An x that does not have three axes is refused with ValueError or TypeError."""
    expect_refused(student, "split_heads", (rng.standard_normal((4, 6)), 2), "x has two axes")
    expect_refused(student, "split_heads", (rng.standard_normal((2, 3, 4, 6)), 2), "x has four axes")


@checks.contract("split_heads", weight=0.1)
def untouched(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """The argument x is left as it was."""
    (size,) = draws.sizes(rng, 1)
    expect_untouched(student, "split_heads", {"x": draws.case(rng, size).x, "heads": size[2]})


@checks.contract("split_heads", weight=0.2)
def repeatable(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """The same call gives the same answer again, and earlier answers stay as they were."""
    (size,) = draws.sizes(rng, 1)
    one, other = draws.case(rng, size).x, draws.case(rng, size).x
    expect_repeatable(student, "split_heads", (one, size[2]), (other, size[2]))


def _compare(student: Student, reference: ModuleType, x: draws.Array, heads: Any) -> None:
    """Call ``split_heads`` once and compare."""
    got = student.call("split_heads", x, heads).value
    expect_array(got, reference.split_heads(x, heads), "The answer of split_heads", AXES)
