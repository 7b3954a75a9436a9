"""Tensors and layers on the student's side: made there, called there, and looked at from here."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from autograder.checking.compare import describe
from autograder.checking.framework import CheckFailure, MalformedAnswer
from autograder.checking.student import Remote, Student, StudentRaised

Array = NDArray[Any]


def tensor(student: Student, numbers: Any, *, requires_grad: bool = True) -> Remote:
    """A tensor that holds these numbers: an array, or one that was sent."""
    return an_object(student.call("Tensor", numbers, requires_grad=requires_grad).value, "What Tensor makes")


def generator(student: Student, seed: int) -> Remote:
    """A random generator on the student's side."""
    made = student.call("np.random.default_rng", seed).value
    return an_object(made, "What np.random.default_rng makes")


def a_seed(rng: np.random.Generator) -> int:
    """A seed that nobody writes into a program."""
    return int(rng.integers(2**20, 2**31))


def an_object(value: Any, what: str) -> Remote:
    """Require an answer to be an object, such as a layer or a tensor; raises MalformedAnswer."""
    if not isinstance(value, Remote) or value.kind not in ("object", "function"):
        raise MalformedAnswer(f"{what} must be a layer or a tensor; it is {describe(value)}.")
    return value


def answered(layer: Remote, x: Any, what: str) -> Remote:
    """Call a layer; raises MalformedAnswer where the answer is no tensor."""
    value = layer.call(x).value
    if not isinstance(value, Remote) or value.kind != "object":
        raise MalformedAnswer(
            f"{what} must answer with a tensor; it is {describe(value)}.",
            hint="Is the last step one of tensors, or made by record(...)?",
        )
    return value


def data_of(value: Remote, what: str) -> Any:
    """What is in a tensor, whatever that is; raises MalformedAnswer where nothing is."""
    try:
        return value.attribute("data")
    except StudentRaised as failure:
        raise MalformedAnswer(f"{what} must be a tensor; it is an object without data.") from failure


def walk_back(value: Remote, dy: Any, what: str) -> None:
    """Send a gradient back from a tensor; raises CheckFailure where the way is broken."""
    try:
        if value.attribute("requires_grad") is False:
            raise CheckFailure(
                f"{what} answers with a tensor that does not know what it was made of.",
                hint="Which call makes a tensor that remembers, and where do numbers leave the graph?",
            )
        value.method("backward", dy)
    except StudentRaised as failure:
        if failure.exception == "NotImplementedError":
            raise
        raise CheckFailure(
            f"No gradient finds its way back from {what}: {failure.exception} was raised.",
            hint="Does each pull_back return a tuple, with as many gradients as there are parents, and each "
            "of its parent's shape?",
        ) from failure


def gradient_of(owner: Remote, name: str, what: str) -> Any:
    """The gradient that has arrived at a tensor; raises CheckFailure where none has.

    ``name`` is the attribute of ``owner`` that holds the tensor, or nothing for ``owner`` itself.
    """
    path = f"{name}.grad" if name else "grad"
    try:
        found = owner.attribute(path)
    except StudentRaised as failure:
        raise CheckFailure(f"There is no {what}: it could not be looked up.") from failure
    if found is None:
        raise CheckFailure(
            f"No gradient arrives at {what}.",
            hint="Where do numbers leave the graph: by .data, or by a function of NumPy?",
        )
    return found


def expect_precision(got: Any, what: str) -> None:
    """Require an array that was compared already to be of single precision."""
    if not isinstance(got, np.ndarray) or got.dtype != np.float32:
        raise CheckFailure(
            f"{what} is no longer of the type float32, as the numbers that came in are.",
            hint="Which number or array of float64 meets them on the way?",
        )
