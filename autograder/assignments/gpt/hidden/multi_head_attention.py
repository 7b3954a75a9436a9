"""The hidden checks of what ``MultiHeadAttention`` answers; 12 points with ``gradients``, ``behaviour``."""

from types import ModuleType

import numpy as np

from autograder.checking.compare import expect_array, repeated
from autograder.checking.framework import CheckFailure, CheckSet
from autograder.checking.student import Remote, Student

from .cases import AXES, NAME, Case, case, compare, drawn, layer_of
from .tensors import Array, answered, data_of, tensor

checks = CheckSet("gpt")
checks.visible(NAME, weight=1.7)


@checks.value(NAME, weight=1.0)
def one_head(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """In one head the layer is the weighted attention of the lesson before."""
    for size in ((2, 5, 1, 6), (3, 4, 1, 5)):
        one = case(rng, size, biases=False)
        compare(student, layer_of(student, one), one)


@checks.value(NAME, weight=1.6)
def heads(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """In several heads it is multi-head attention as NumPy computes it, with the same weights."""
    for one in drawn(rng, 2, biases=False):
        compare(student, layer_of(student, one), one)


@checks.value(NAME, weight=0.5)
def biases(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """The biases of all four linear layers enter where they should."""
    (one,) = drawn(rng)
    compare(student, layer_of(student, one), one)


@checks.value(NAME, weight=0.6)
def causality(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """What comes later changes nothing in the answers before it, and what came before does."""
    (one,) = drawn(rng)
    start = int(rng.integers(1, one.x.shape[1]))
    later = one.x.copy()
    later[:, start:] += rng.standard_normal(later[:, start:].shape)
    other = one.x.copy()
    other[:, 0] = later[:, -1]
    layer = layer_of(student, one)
    got = [_forward(student, layer, x) for x in (one.x, later, other)]
    if not repeated(got[0][:, :start], got[1][:, :start]):
        raise CheckFailure(
            "Another text after some place changes the answers before it.",
            hint="Who may look at whom: is it the keys that stand in the columns, and before the softmax?",
        )
    if repeated(got[0][:, start:], got[1][:, start:]):
        raise CheckFailure("The answers do not depend on what comes in at their own places.")
    if repeated(got[0][:, -1], got[2][:, -1]):
        raise CheckFailure("The last answer does not depend on the first place: nothing is gathered from it.")


@checks.value(NAME, weight=0.4)
def lengths(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """One layer reads texts of any length, and as many at once as there are, one after the other."""
    one = case(rng, (2, 3, 3, 4))
    layer = layer_of(student, one)
    for batch, seq in ((5, 3), (2, 7), (1, 1), (3, 5)):
        x = rng.standard_normal((batch, seq, one.d_model))
        compare(student, layer, Case(x, one.heads, one.params, x))


def _forward(student: Student, layer: Remote, x: Array) -> Array:
    """The layer's answer, of which nothing but its form is known to be right."""
    got = data_of(answered(layer, tensor(student, x), NAME), f"The answer of {NAME}")
    expect_array(got, x, "y", AXES, tol=np.inf)
    return np.asarray(got)
