"""The hidden checks of ``MultiHeadAttention`` on gradients: at x, and at each of the four linear layers."""

from types import ModuleType

import numpy as np

from autograder.checking.compare import expect_array
from autograder.checking.framework import CheckSet
from autograder.checking.student import Student

from .cases import AXES, NAME, answer_to, drawn, layer_of, right
from .tensors import gradient_of, walk_back

checks = CheckSet("gpt")


@checks.value(NAME, weight=1.0)
def dx(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """The gradient of x is right: through queries, keys and values."""
    (one,) = drawn(rng)
    x, y = answer_to(student, layer_of(student, one), one)
    walk_back(y, one.dy, NAME)
    expect_array(gradient_of(x, "", "x"), right(reference, one).grads["x"], "The gradient of x", AXES)


@checks.value(NAME, weight=0.6)
def dquery(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """The gradients of the query layer, weight and bias, are right."""
    _compare(student, reference, rng, "query")


@checks.value(NAME, weight=0.6)
def dkey(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """The gradients of the key layer, weight and bias, are right."""
    _compare(student, reference, rng, "key")


@checks.value(NAME, weight=0.6)
def dvalue(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """The gradients of the value layer, weight and bias, are right."""
    _compare(student, reference, rng, "value")


@checks.value(NAME, weight=0.6)
def doutput(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """The gradients of the output layer, weight and bias, are right."""
    _compare(student, reference, rng, "output")


def _compare(student: Student, reference: ModuleType, rng: np.random.Generator, part: str) -> None:
    """Send a gradient back through a layer, and compare what arrives at one of its linear layers."""
    (one,) = drawn(rng)
    layer = layer_of(student, one)
    _, y = answer_to(student, layer, one)
    walk_back(y, one.dy, NAME)
    wanted = right(reference, one).grads
    for kind, axes in (("weight", ("input", "output")), ("bias", ("output",))):
        name = f"{part}.{kind}"
        got = gradient_of(layer, name, f"self.{name}")
        expect_array(got, wanted[name], f"The gradient of self.{name}", axes)
