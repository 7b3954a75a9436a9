"""The hidden checks of a layer's forward pass. Each method is a check; its first line is its sentence."""

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
from autograder.checking.framework import CheckFailure
from autograder.checking.student import Answer, Student

from . import draws
from .layer import Layer

AXES = ("batch", "seq", "d_model")


class ForwardChecks:
    """The checks of one layer; those of several heads that another has to word differently are overridden."""

    def __init__(self, layer: Layer):
        self.layer = layer

    def all_allowed(self, student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
        """The output y is right where every time step may attend to every other."""
        (size,) = self.layer.draw(rng, 1)
        self.compare(student, reference, draws.case(rng, size, allowed=np.ones((size[1], size[1]), bool)))

    def masked(self, student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
        """The output y is right under a mask of any form: rows are queries, columns are keys."""
        for size in self.layer.draw(rng, 2):
            self.compare(student, reference, draws.case(rng, size))

    def dtypes(self, student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
        """Integers are computed in float64, float32 comes out right, and heads may be a NumPy integer."""
        first, second = self.layer.draw(rng, 2)
        integers = draws.integer_case(rng, first)
        self.compare(student, reference, replace(integers, heads=np.int64(integers.heads)))
        self.compare(student, reference, draws.case(rng, second).astype(np.float32))

    def large_scores(self, student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
        """Scores of 10000 and -10000 still give the right, finite y."""
        (size,) = self.layer.draw(rng, 1)
        self.compare(student, reference, draws.large_scores_case(rng, size))

    def extremes(self, student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
        """A single head, as many heads as channels, a single sequence, a single time step are right, too."""
        first, second = self.layer.extremes
        self.compare(student, reference, draws.case(rng, first))
        self.compare(student, reference, draws.case(rng, second, allowed=np.array([[True]])))

    def cache(self, student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
        """The cache holds x, heads, the attention's own cache and joined, each under its name."""
        (size,) = self.layer.draw(rng, 1)
        case = draws.case(rng, size)
        _, wanted = self.layer.forward_of(reference, case)
        _, kept = expect_tuple(self._call(student, case).value, ("y", "cache"), self.layer.forward)
        items = expect_items(kept, self.layer.keys, "cache")
        expect_array(items["x"], case.x, 'cache["x"]', AXES)
        if self.layer.has_heads:
            _expect_heads(items["heads"], case.heads)
        joined = self.layer.joined
        expect_array(items[joined], wanted[joined], f'cache["{joined}"]', AXES)

    def untouched(self, student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
        """x, params and allowed are left as they were."""
        (size,) = self.layer.draw(rng, 1)
        expect_untouched(student, self.layer.forward, self.layer.arguments(draws.case(rng, size)))

    def repeatable(self, student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
        """The same call gives the same answer again; earlier answers and caches stay as they were."""
        forward = self.layer.forward
        (size,) = self.layer.draw(rng, 1)
        one, other = draws.case(rng, size), draws.case(rng, size)
        first = self._call(student, one)
        _, kept = expect_tuple(first.value, ("y", "cache"), forward)
        before = expect_dict(kept, "cache").fetch()
        self._call(student, other)
        expect_kept(first.value, first.reread(), forward)
        expect_kept(before, kept.fetch(), forward)
        again = self._call(student, one)
        if not repeated(first.value, again.value):
            raise CheckFailure(f"Called again with the same arguments, {forward} gives another y.")

    def compare(self, student: Student, reference: ModuleType, case: draws.Case) -> None:
        """Call the forward pass once and compare its y."""
        y, _ = expect_tuple(self._call(student, case).value, ("y", "cache"), self.layer.forward)
        expect_array(y, wanted_y(self.layer, reference, case), "y", AXES)

    def _call(self, student: Student, case: draws.Case) -> Answer:
        return student.call(self.layer.forward, *self.layer.arguments(case).values())


def wanted_y(layer: Layer, reference: ModuleType, case: draws.Case) -> draws.Array:
    """The right y: of float32 that of the same numbers in float64, rounded."""
    exact = case.astype(np.float64) if case.x.dtype == np.float32 else case
    y: draws.Array = layer.forward_of(reference, exact)[0]
    return y.astype(case.dy.dtype)


def _expect_heads(got: object, heads: int | np.integer[Any]) -> None:
    """Require a number, of whatever type, that equals ``heads``."""
    number = got.item() if isinstance(got, np.generic | np.ndarray) and got.shape == () else got
    if isinstance(number, bool) or not isinstance(number, int | float):
        raise CheckFailure(f'cache["heads"] must be the number of heads; it is {describe(got)}.')
    if number != heads:
        raise CheckFailure('cache["heads"] is another number than the heads that multihead got.')
