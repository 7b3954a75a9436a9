"""The hidden checks of ``causal_mask``: 2 points."""

from types import ModuleType
from typing import Any

import numpy as np

from autograder.assignments.attention_layer import draws
from autograder.checking.compare import expect_mask
from autograder.checking.contract import expect_each_refused, expect_repeatable
from autograder.checking.framework import CheckSet
from autograder.checking.student import Student

AXES = ("query", "key")

checks = CheckSet("weighted_attention")
checks.visible("causal_mask", weight=0.3)


@checks.value("causal_mask", weight=0.9)
def values(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """Each token may look at itself and at those before it, and at no other."""
    for seq in rng.permutation(np.arange(4, 12))[:2]:
        _compare(student, reference, int(seq))


@checks.value("causal_mask", weight=0.2)
def numpy_integers(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """The number of tokens may be a NumPy integer."""
    for seq in rng.permutation(np.arange(4, 12))[:2]:
        _compare(student, reference, np.int64(seq))


@checks.contract("causal_mask", weight=0.2)
def extremes(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """A sequence of one token, and a long one, are right, too."""
    _compare(student, reference, 1)
    _compare(student, reference, int(rng.integers(130, 140)))


@checks.contract("causal_mask", weight=0.3)
def bad_seq(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """Whatever is no positive whole number is refused with ValueError or TypeError."""
    cases = [(wrong, (seq,)) for wrong, seq in draws.bad_counts(int(rng.integers(3, 8)))]
    expect_each_refused(student, "causal_mask", cases, "seq is")


@checks.contract("causal_mask", weight=0.1)
def repeatable(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """The same call gives the same answer again, and earlier answers stay as they were."""
    second, first = sorted(rng.permutation(np.arange(4, 12))[:2])  # one table for all would be overwritten
    expect_repeatable(student, "causal_mask", (int(first),), (int(second),))


def _compare(student: Student, reference: ModuleType, seq: Any) -> None:
    """Call ``causal_mask`` once and compare."""
    got = student.call("causal_mask", seq).value
    expect_mask(got, reference.causal_mask(seq), "The answer of causal_mask", AXES)
