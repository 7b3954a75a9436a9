"""The hidden checks of ``merge_heads``: 2 points."""

from types import ModuleType

import numpy as np

from autograder.assignments.attention_layer import draws
from autograder.checking.compare import expect_array
from autograder.checking.contract import expect_refused, expect_repeatable, expect_untouched
from autograder.checking.framework import CheckSet
from autograder.checking.student import Student

AXES = ("batch", "seq", "d_model")

checks = CheckSet("multihead")
checks.visible("merge_heads", weight=0.3)


@checks.value("merge_heads", weight=1.0)
def values(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """Every number comes back to its sequence, time step and channel."""
    for layout, size in zip(("strided", "F"), draws.sizes(rng, 2), strict=True):
        _compare(student, reference, draws.arranged(_split(rng, size), layout))


@checks.value("merge_heads", weight=0.2)
def dtypes(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """Integers and float32 are merged like any other numbers."""
    first, second = draws.sizes(rng, 2)
    _compare(student, reference, rng.integers(-99, 100, _split(rng, first).shape))
    _compare(student, reference, _split(rng, second).astype(np.float32))


@checks.contract("merge_heads", weight=0.2)
def extremes(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """A single head, heads of one channel, a single sequence and a single time step are right, too."""
    _compare(student, reference, rng.standard_normal((1, 6, 4, 1)))
    _compare(student, reference, rng.standard_normal((3, 1, 1, 5)))


@checks.contract("merge_heads", weight=0.1)
def bad_axes(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """An h that does not have four axes is refused with ValueError or TypeError."""
    expect_refused(student, "merge_heads", (rng.standard_normal((2, 3, 4)),), "h has three axes")
    expect_refused(student, "merge_heads", (rng.standard_normal((2, 3, 4, 5, 6)),), "h has five axes")


@checks.contract("merge_heads", weight=0.1)
def untouched(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """The argument h is left as it was."""
    (size,) = draws.sizes(rng, 1)
    expect_untouched(student, "merge_heads", {"h": _split(rng, size)})


@checks.contract("merge_heads", weight=0.1)
def repeatable(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """The same call gives the same answer again, and earlier answers stay as they were."""
    (size,) = draws.sizes(rng, 1)
    expect_repeatable(student, "merge_heads", (_split(rng, size),), (_split(rng, size),))


def _split(rng: np.random.Generator, size: draws.Size) -> draws.Array:
    """Random numbers that are split into heads already."""
    batch, seq, heads, d_head = size
    return rng.standard_normal((batch, heads, seq, d_head))


def _compare(student: Student, reference: ModuleType, h: draws.Array) -> None:
    """Call ``merge_heads`` once and compare."""
    got = student.call("merge_heads", h).value
    expect_array(got, reference.merge_heads(h), "The answer of merge_heads", AXES)
