"""The hidden checks of ``combine_heads``: 2 points."""

from types import ModuleType

import numpy as np

from autograder.checking.framework import CheckSet
from autograder.checking.student import Student

from .modules import expect_tensor, turned
from .rearranging import COMBINE, SIZES, Sizes

checks = CheckSet("torch_multihead")
checks.visible("combine_heads", weight=0.3)


@checks.value("combine_heads", weight=0.6)
def joined(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """The heads' shares stand side by side again, in the heads' order."""
    for sizes in SIZES:
        COMBINE.compare(student, COMBINE.draw(rng, sizes), sizes)


@checks.value("combine_heads", weight=0.1)
def single(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """One head is joined, and one token."""
    for sizes in ((2, 3, 1, 4), (3, 1, 2, 5)):
        COMBINE.compare(student, COMBINE.draw(rng, sizes), sizes)


@checks.value("combine_heads", weight=0.1)
def narrow(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """Heads of one channel are joined, and those of one sequence."""
    for sizes in ((3, 2, 4, 1), (1, 4, 3, 2)):
        COMBINE.compare(student, COMBINE.draw(rng, sizes), sizes)


@checks.value("combine_heads", weight=0.4)
def views(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """What lies in memory in another order, as split_heads leaves it, is joined as well."""
    sizes = SIZES[0]
    x = COMBINE.draw(rng, sizes)
    for axes in ((1, 2), (2, 3), (0, 3)):
        _compare_view(student, x, axes, sizes)


@checks.contract("combine_heads", weight=0.25)
def way_back(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """Gradients find the way back to x."""
    COMBINE.expect_way_back(student, rng, SIZES[0])


@checks.contract("combine_heads", weight=0.25)
def repeatable(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """The tensor x and earlier answers stay; a module takes batches and sequences of any size."""
    COMBINE.expect_repeatable(student, rng)


def _compare_view(student: Student, x: np.ndarray, axes: tuple[int, int], sizes: Sizes) -> None:
    """Hand over the same numbers as a transposed view of a tensor that has them in another order."""
    answer = COMBINE.call(student, turned(student, x, axes), sizes)
    expect_tensor(answer, COMBINE.right(x, sizes), COMBINE.what, COMBINE.axes)
