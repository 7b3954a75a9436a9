"""The hidden checks of a layer's backward pass. Each method is a check; its first line is its sentence.

Each backward pass follows a forward pass by the student's own function, whose cache is handed on.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np

from autograder.checking.compare import expect_dict, expect_item, expect_items, expect_tuple
from autograder.checking.contract import expect_repeatable_with_caches, expect_untouched_with_cache
from autograder.checking.student import (
    Answer,
    Remote,
    Sent,
    Student,
    StudentMemoryExceeded,
    StudentTimedOut,
)

from . import draws
from .forward_checks import AXES as X_AXES
from .forward_checks import wanted_y
from .layer import Layer
from .passes import (
    LARGE_SCORES_TOLERANCE,
    confirm,
    expect_gradient,
    expect_one_right,
    forward_pass,
    is_right,
    too_expensive,
)

W_AXES = ("d_model", "d_model")


class BackwardChecks:
    """The checks of one layer; those of several heads that another has to word differently are overridden."""

    def __init__(self, layer: Layer):
        self.layer = layer

    def dx(self, student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
        """The gradient dx for x is right: all routes to x are in it."""
        self._check_gradient("dx", student, reference, rng)

    def dwq(self, student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
        """The gradient grads["wq"] for the query projection is right."""
        self._check_gradient("wq", student, reference, rng)

    def dwk(self, student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
        """The gradient grads["wk"] for the key projection is right."""
        self._check_gradient("wk", student, reference, rng)

    def dwv(self, student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
        """The gradient grads["wv"] for the value projection is right."""
        self._check_gradient("wv", student, reference, rng)

    def dwo(self, student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
        """The gradient grads["wo"] for the output projection is right."""
        self._check_gradient("wo", student, reference, rng)

    def dtypes(self, student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
        """The gradients of integers are computed in float64, and those of float32 come out right."""
        first, second = self.layer.draw(rng, 2)
        self.compare(student, reference, draws.integer_case(rng, first))
        self.compare(student, reference, draws.case(rng, second).astype(np.float32))

    def large_scores(self, student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
        """Scores of 10000 and -10000 still give right, finite gradients."""
        (size,) = self.layer.draw(rng, 1)
        self.compare(student, reference, draws.large_scores_case(rng, size), tol=LARGE_SCORES_TOLERANCE)

    def extremes(self, student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
        """A single head, as many heads as channels, a single sequence, a single time step are right, too."""
        first, second = self.layer.extremes
        self.compare(student, reference, draws.case(rng, first))
        self.compare(student, reference, draws.case(rng, second, allowed=np.array([[True]])))

    def untouched(self, student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
        """The cache, params and dy are left as they were."""
        (size,) = self.layer.draw(rng, 1)
        case = draws.case(rng, size)
        _, cache = self._forward(student, case)
        arguments = {"params": case.params, "dy": case.dy}
        expect_untouched_with_cache(student, self.layer.backward, cache, arguments)

    def repeatable(self, student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
        """A second backward pass with one cache gives the same gradients, whatever came in between."""
        (size,) = self.layer.draw(rng, 1)
        one, other = draws.case(rng, size), draws.case(rng, size)
        expect_repeatable_with_caches(
            lambda case: self._forward(student, case)[1],
            partial(self._backward, student),
            lambda answer: expect_dict(self._results(answer)[1], "grads"),
            (one, other),
            self.layer.backward,
        )

    def cost(self, student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
        """One backward pass is enough: with d_model 256 it ends in time, and some gradient is right."""
        case = draws.wide_case(rng)
        params = student.send(case.params)  # 2 MiB: once is enough
        y, cache = self._forward(student, case, params)
        try:
            got_dx, grads = self._results(self._backward(student, case, cache, params))
        except (StudentTimedOut, StudentMemoryExceeded) as failure:
            raise too_expensive(
                failure, "d_model 256", self.layer.backward, "262,144 parameters"
            ) from failure
        wanted = self._wanted(reference, case)

        def check(name: str) -> None:
            got = got_dx if name == "dx" else expect_item(grads, name, "grads")
            self._expect_gradient(name, got, wanted[name], partial(self._is_right, y, reference, case))

        expect_one_right(partial(check, name) for name in wanted)

    def compare(
        self, student: Student, reference: ModuleType, case: draws.Case, *, tol: float | None = None
    ) -> None:
        """Compare dx and all four gradients of one case."""
        y, cache = self._forward(student, case)
        got_dx, grads = self._results(self._backward(student, case, cache))
        got = {"dx": got_dx, **expect_items(grads, draws.PARAMS, "grads")}
        forward_is_right = partial(self._is_right, y, reference, case)
        for name, wanted in self._wanted(reference, case).items():
            self._expect_gradient(name, got[name], wanted, forward_is_right, tol)

    def _check_gradient(
        self, name: str, student: Student, reference: ModuleType, rng: np.random.Generator
    ) -> None:
        """Compare one gradient at one draw, after the reference's own has been confirmed by differences."""
        (size,) = self.layer.draw(rng, 1)
        case = draws.case(rng, size)
        wanted = self._wanted(reference, case)[name]
        self._confirm(name, wanted, reference, case, rng)
        y, cache = self._forward(student, case)
        got_dx, grads = self._results(self._backward(student, case, cache))
        got = got_dx if name == "dx" else expect_item(grads, name, "grads")
        self._expect_gradient(name, got, wanted, partial(self._is_right, y, reference, case))

    def _forward(self, student: Student, case: draws.Case, params: Sent | None = None) -> tuple[Any, Remote]:
        """The y and the cache of the student's own forward pass; ``params`` may have been sent before."""
        arguments = self.layer.arguments(case) | {"params": params or case.params}
        return forward_pass(student, self.layer.forward, arguments.values(), "y", self.layer.backward)

    def _backward(
        self, student: Student, case: draws.Case, cache: Remote, params: Sent | None = None
    ) -> Answer:
        return student.call(self.layer.backward, cache, params or case.params, case.dy)

    def _results(self, answer: Answer) -> tuple[Any, Any]:
        """Take the pair of dx and grads apart, whatever they are."""
        got_dx, grads = expect_tuple(answer.value, ("dx", "grads"), self.layer.backward)
        return got_dx, grads

    def _expect_gradient(
        self,
        name: str,
        got: Any,
        wanted: draws.Array,
        forward_is_right: Callable[[], bool],
        tol: float | None = None,
    ) -> None:
        what = ("dx", X_AXES) if name == "dx" else (f'grads["{name}"]', W_AXES)
        expect_gradient(got, wanted, what, (self.layer.forward, forward_is_right), tol)

    def _is_right(self, y: Any, reference: ModuleType, case: draws.Case) -> bool:
        return is_right(y, wanted_y(self.layer, reference, case))

    def _wanted(self, reference: ModuleType, case: draws.Case) -> dict[str, draws.Array]:
        """The right gradients by name: of float32 those of the same numbers in float64, rounded."""
        exact = case.astype(np.float64) if case.x.dtype == np.float32 else case
        gradients = self.layer.backward_of(reference, exact)
        return {name: gradient.astype(case.dy.dtype) for name, gradient in gradients.items()}

    def _confirm(
        self,
        name: str,
        gradient: draws.Array,
        reference: ModuleType,
        case: draws.Case,
        rng: np.random.Generator,
    ) -> None:
        def loss(moved: draws.Array) -> float:
            one = replace(case, x=moved) if name == "dx" else case.with_params(**{name: moved})
            return float(np.sum(self.layer.forward_of(reference, one)[0] * case.dy))

        confirm(name, gradient, loss, case.x if name == "dx" else case.params[name], rng)
