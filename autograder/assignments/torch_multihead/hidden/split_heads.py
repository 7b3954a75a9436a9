"""The hidden checks of ``split_heads``: 3 points."""

from types import ModuleType

import numpy as np

from autograder.checking.framework import CheckSet
from autograder.checking.student import Student

from .rearranging import SIZES, SPLIT

checks = CheckSet("torch_multihead")
checks.visible("split_heads", weight=0.45)


@checks.value("split_heads", weight=1.2)
def shares(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """Every head gets its share of each token, and axes of all lengths come out in the right order."""
    for sizes in SIZES:
        SPLIT.compare(student, SPLIT.draw(rng, sizes), sizes)


@checks.value("split_heads", weight=0.5)
def extremes(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """One head, heads of one channel, one token, and one sequence are no exceptions."""
    for sizes in ((2, 3, 1, 4), (3, 2, 4, 1), (3, 1, 2, 5), (1, 4, 3, 2)):
        SPLIT.compare(student, SPLIT.draw(rng, sizes), sizes)


@checks.contract("split_heads", weight=0.5)
def way_back(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """Gradients find the way back to x."""
    SPLIT.expect_way_back(student, rng, SIZES[0])


@checks.contract("split_heads", weight=0.35)
def repeatable(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """The tensor x and earlier answers stay; a module takes batches and sequences of any size."""
    SPLIT.expect_repeatable(student, rng)
