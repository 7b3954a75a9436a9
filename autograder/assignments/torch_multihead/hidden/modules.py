"""The student's modules and tensors, by handles: only arrays and small numbers come from there.

Tensors are made by the student's PyTorch from arrays of ours, and come back as arrays (``Tensor.numpy``). A
module's weights are put in place as a dict of tensors: nothing is pickled, on either side.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from autograder.checking.compare import describe, expect_array
from autograder.checking.framework import CheckFailure, MalformedAnswer
from autograder.checking.student import Remote, Student, StudentRaised

from .draws import Layer
from .formula import PROJECTIONS, Array

CLASS = "MultiHeadAttention"
LAYERS = (*PROJECTIONS, "output")
#: The names of all parameters, as ``state_dict`` gives them.
WEIGHTS = (*(f"{name}.weight" for name in LAYERS), "output.bias")
#: Axes of what the methods answer.
OF_HEADS = ("batch", "heads", "seq", "head_dim")
OF_TOKENS = ("batch", "seq", "d_model")


def tensor(student: Student, array: Array, *, grad: bool = False) -> Remote:
    """A tensor of these numbers, which keeps its gradient if wanted."""
    made = student.call("torch.tensor", array, **({"requires_grad": True} if grad else {})).value
    if not isinstance(made, Remote):
        raise MalformedAnswer("torch.tensor makes no tensors in this notebook.")
    return made


def turned(student: Student, array: Array, axes: tuple[int, int]) -> Remote:
    """A tensor of these numbers that is a transposed view of one in which they lie in another order."""
    view = tensor(student, np.ascontiguousarray(array.swapaxes(*axes))).method("transpose", *axes).value
    if not isinstance(view, Remote):
        raise MalformedAnswer("torch.tensor makes no tensors in this notebook.")
    return view


def build(student: Student, d_model: int, heads: int) -> Remote:
    """A new module of the student's class."""
    made = student.call(CLASS, d_model, heads).value
    if not isinstance(made, Remote):
        raise MalformedAnswer(f"{CLASS}(d_model, num_heads) must make a module; it is {describe(made)}.")
    return made


def filled(student: Student, one: Layer) -> Remote:
    """A new module with the weights of ``one``, computing in their dtype."""
    module = build(student, one.d_model, one.heads)
    if one.dy.dtype == np.float64:
        module.method("double")
    fill(student, module, one.weights)
    return module


def fill(student: Student, module: Remote, weights: Mapping[str, Array]) -> None:
    """Put numbers in the place of the module's weights, those that it has."""
    tensors = student.call("torch.utils.data.default_convert", dict(weights)).value
    module.method("load_state_dict", tensors, strict=False)


def array_of(value: Any, what: str) -> Array:
    """The numbers of a tensor; raises MalformedAnswer where it is none, or one of an unusual dtype."""
    numbers = None
    if isinstance(value, Remote):
        try:
            numbers = value.method("numpy", force=True).value
        except StudentRaised:
            numbers = None
    if isinstance(numbers, Remote) and numbers.kind == "dtype":
        raise MalformedAnswer(
            f"{what} holds numbers of a type that cannot be compared, such as float16.",
            hint="Which of your steps changes the dtype?",
        )
    if not isinstance(numbers, np.ndarray):
        raise MalformedAnswer(f"{what} must be a tensor; it is {describe(value)}.", hint=_hint(value))
    return numbers


def expect_tensor(
    value: Any, want: Array, what: str, axes: tuple[str, ...], *, tol: float | None = None
) -> None:
    """Require a tensor of these numbers, with full precision; raises MalformedAnswer or CheckFailure."""
    expect_array(array_of(value, what), want, what, axes, tol=tol)


def shape_of(value: Any) -> tuple[int, ...]:
    """The shape of a tensor as such a shape comes back; none at all, (-1,), for whatever is no shape."""
    if isinstance(value, tuple) and all(type(size) is int and size >= 0 for size in value):
        return value
    return (-1,)


def gradient_of(owner: Remote, name: str, what: str) -> Array:
    """The gradient of what an object holds under a name, of itself if that is empty."""
    try:
        grad = owner.method(f"{name}.grad.numpy" if name else "grad.numpy", force=True).value
    except StudentRaised:
        grad = None
    if not isinstance(grad, np.ndarray):
        raise CheckFailure(f"No gradient reaches {what}.", hint=LEFT_THE_GRAPH)
    return grad


def backward(student: Student, answer: Any, dout: Array, what: str, axes: tuple[str, ...]) -> None:
    """Let gradients of sum(answer * dout) flow; raises CheckFailure where there is no way back."""
    if array_of(answer, what).shape != dout.shape:
        expect_tensor(answer, dout, what, axes)
    try:
        answer.method("backward", tensor(student, dout))
    except StudentRaised as error:
        raise CheckFailure(f"{what} knows no way back to what it came from.", hint=LEFT_THE_GRAPH) from error


LEFT_THE_GRAPH = (
    "Where do numbers leave the graph, such as by detach, .data, numpy, no_grad or a new torch.tensor?"
)


def _hint(value: Any) -> str | None:
    return "A method that ends without return returns None." if value is None else None
