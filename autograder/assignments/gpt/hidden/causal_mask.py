"""The hidden checks of ``CausalMask``: 4 points."""

from types import ModuleType
from typing import Any

import numpy as np

from autograder.checking.compare import expect_array, repeated, unchanged
from autograder.checking.framework import CheckFailure, CheckSet
from autograder.checking.student import Remote, Student

from .tensors import (
    Array,
    an_object,
    answered,
    data_of,
    expect_precision,
    gradient_of,
    tensor,
    walk_back,
)

NAME = "CausalMask"
LEADING = ("batch", "heads", "part")

checks = CheckSet("gpt")
checks.visible(NAME, weight=0.6)


@checks.value(NAME, weight=1.0)
def forward(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """Every query sees itself and what came before, with its scores as they were; all else becomes -1e9."""
    for shape in ((2, 3, 5), (3, 2, 4)):
        scores = rng.standard_normal((*shape, shape[-1]))
        compare(data_of(answered(mask(student), tensor(student, scores), NAME), NAME), scores, reference)


@checks.value(NAME, weight=1.0)
def gradient(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """Gradients pass where a score was kept, and are 0 where it was hidden."""
    for shape in ((2, 3, 5), (3, 2, 4)):
        compare_gradient(student, reference, *rng.standard_normal((2, *shape, shape[-1])))


@checks.value(NAME, weight=0.4)
def leading_axes(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """There may be no axis in front of the last two, or one, or three."""
    for shape in ((4,), (3, 5), (2, 3, 2, 4)):
        scores, dy = rng.standard_normal((2, *shape, shape[-1]))
        compare(data_of(answered(mask(student), tensor(student, scores), NAME), NAME), scores, reference)
        compare_gradient(student, reference, scores, dy)


@checks.contract(NAME, weight=0.3)
def single_precision(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """Scores of the type float32 stay of this type."""
    scores = rng.standard_normal((2, 3, 5, 5)).astype(np.float32)
    got = data_of(answered(mask(student), tensor(student, scores), NAME), NAME)
    compare(got, scores, reference)
    expect_precision(got, f"The answer of {NAME}")


@checks.contract(NAME, weight=0.2)
def extremes(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """A single token, and many of them, are right, too; and so are scores of any size."""
    for shape, size in (((2, 3, 1), 1.0), ((1, 70), 1.0), ((2, 4), 1e6)):
        scores = size * rng.standard_normal((*shape, shape[-1]))
        scores -= 3 * size
        compare(data_of(answered(mask(student), tensor(student, scores), NAME), NAME), scores, reference)


@checks.contract(NAME, weight=0.3)
def untouched(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """The scores that come in, and the gradient that arrives, are left as they were."""
    scores, dy = rng.standard_normal((2, 2, 3, 5, 5))
    given, arriving = student.send(scores), student.send(dy)
    came = answered(mask(student), tensor(student, given), NAME)
    if not unchanged(scores, given.reread()):
        raise CheckFailure(
            f"{NAME} changes the scores that come in.", hint="Which line writes into an array, not a new one?"
        )
    walk_back(came, arriving, NAME)
    if not unchanged(dy, arriving.reread()):
        raise CheckFailure(
            f"pull_back of {NAME} changes the gradient that arrives.",
            hint="Somebody else may still need this gradient: make a new array.",
        )


@checks.contract(NAME, weight=0.2)
def repeatable(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """One layer serves tables of any size, one after the other, and leaves earlier answers as they were."""
    layer = mask(student)
    tables = [rng.standard_normal((2, 3, seq, seq)) for seq in (4, 4, 6, 3)]
    answers = [answered(layer, tensor(student, one), NAME) for one in tables]
    for came, scores in zip(answers, tables, strict=True):
        compare(data_of(came, NAME), scores, reference)
    again = data_of(answered(layer, tensor(student, tables[0]), NAME), NAME)
    if not repeated(data_of(answers[0], NAME), again):
        raise CheckFailure(f"Called again with the same scores, {NAME} gives another answer.")


def mask(student: Student) -> Remote:
    """A layer of the student's."""
    return an_object(student.call(NAME).value, f"What {NAME}() makes")


def compare(got: Any, scores: Array, reference: ModuleType) -> None:
    """Compare masked scores: what is kept, then what is hidden. Beside -1e9 every other number is small."""
    want = right(reference, scores)[0]
    axes = axes_of(scores)
    expect_array(got, want, f"The answer of {NAME}", axes, tol=np.inf)
    kept = np.tri(scores.shape[-1], dtype=bool)
    nothing = want.dtype.type(0)
    expect_array(np.where(kept, got, nothing), np.where(kept, want, nothing), "What a query may see", axes)
    if np.any(got[..., ~kept] != want[..., ~kept]):
        raise CheckFailure(
            "What a query may not see must become -1e9; another number stands there.",
            hint="Is a number written in the place of the score, or is the score still in it?",
        )


def compare_gradient(student: Student, reference: ModuleType, scores: Array, dy: Array) -> None:
    """Send dy back through a mask, and compare what arrives at the scores."""
    x = tensor(student, scores)
    walk_back(answered(mask(student), x, NAME), dy, NAME)
    got = gradient_of(x, "", "the scores")
    expect_array(got, right(reference, scores, dy)[1], "The gradient of the scores", axes_of(scores))


def right(reference: ModuleType, scores: Array, dy: Array | None = None) -> tuple[Array, Array]:
    """The masked scores, and the gradient that dy leaves at them."""
    x = reference.Tensor(scores.copy(), requires_grad=True)
    y = reference.CausalMask()(x)
    y.backward(np.zeros_like(scores) if dy is None else dy)
    return y.data, x.grad


def axes_of(scores: Array) -> tuple[str, ...]:
    """The names of the axes of scores."""
    return (*LEADING[: scores.ndim - 2], "query", "key")
