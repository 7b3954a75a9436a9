"""Random layers and inputs on which nothing comes right by coincidence, and what is right for them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

import numpy as np

from autograder.assignments.attention_layer import draws
from autograder.checking.compare import expect_array
from autograder.checking.framework import MalformedAnswer
from autograder.checking.student import Remote, Student, StudentRaised

from .tensors import Array, an_object, answered, data_of, generator, tensor

NAME = "MultiHeadAttention"
PARTS = ("query", "key", "value", "output")
AXES = ("batch", "seq", "d_model")
#: How far from the best score of a query that of a key is that must stay hidden.
FAR = 1000.0


@dataclass(frozen=True)
class Case:
    """A layer by its numbers, ``x`` that comes in and ``dy`` that arrives at its answer.

    ``params`` holds ``query.weight`` (C, C), used as ``x @ weight``, ``query.bias`` (C,), and so on.
    """

    x: Array
    heads: int
    params: Mapping[str, Array]
    dy: Array

    @property
    def d_model(self) -> int:
        """The number of channels."""
        return int(self.x.shape[-1])

    def astype(self, dtype: type[np.floating[Any]]) -> "Case":
        """The same case in another precision."""
        params = {name: one.astype(dtype) for name, one in self.params.items()}
        return replace(self, x=self.x.astype(dtype), params=params, dy=self.dy.astype(dtype))


@dataclass(frozen=True)
class Right:
    """What a right layer gives: ``y``, ``weights``, and gradients by the names of ``params`` and ``x``."""

    y: Array
    weights: Array
    grads: Mapping[str, Array]


def case(rng: np.random.Generator, size: draws.Size, *, biases: bool = True) -> Case:
    """A case of (batch, seq, heads, d_head) in float64 with scores of about 1."""
    batch, seq, heads, d_head = size
    d_model = heads * d_head
    params: dict[str, Array] = {}
    for part in PARTS:
        params[f"{part}.weight"] = rng.standard_normal((d_model, d_model)) / np.sqrt(d_model)
        params[f"{part}.bias"] = rng.standard_normal(d_model) if biases else np.zeros(d_model)
    x, dy = rng.standard_normal((2, batch, seq, d_model))
    return Case(x, heads, params, dy)


def drawn(rng: np.random.Generator, count: int = 1, *, biases: bool = True) -> list[Case]:
    """So many cases of different sizes, with several of everything."""
    return [case(rng, size, biases=biases) for size in draws.sizes(rng, count)]


def large_scores_case(rng: np.random.Generator, score: float = 1e4) -> Case:
    """A case with scores of ``score`` or -``score`` in its first sequence, far beyond what exp can take.

    There the best score that one query may see is far below every number by which one would hide a key, and
    far below the score of a key that it may not see. Scores of the other sequences are about 1.
    """
    while True:
        (one,) = drawn(rng, biases=False)
        scores = formula(one)[1]
        ratio = np.ones((len(one.x), 1, 1))
        ratio[0] = np.sqrt(score / np.max(np.abs(scores[0])))
        wide = scores[0] * ratio[0] ** 2
        allowed = np.tri(wide.shape[-1], dtype=bool)
        best = np.max(wide, axis=-1, where=allowed, initial=-np.inf)
        hidden = np.max(wide, axis=-1, where=~allowed, initial=-np.inf)
        if np.any((best < -FAR) & (hidden > best + FAR)):
            return replace(one, x=one.x * ratio)


def formula(one: Case) -> tuple[Array, Array]:
    """The answer, and the scores before the mask, (batch, heads, seq, seq): multi-head attention in NumPy."""
    batch, seq, d_model = one.x.shape
    d_head = d_model // one.heads
    q, k, v = (
        (one.x @ one.params[f"{part}.weight"] + one.params[f"{part}.bias"])
        .reshape(batch, seq, one.heads, d_head)
        .transpose(0, 2, 1, 3)
        for part in PARTS[:3]
    )
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(d_head)
    seen = np.where(np.tri(seq, dtype=bool), scores, -np.inf)
    powers = np.exp(seen - seen.max(axis=-1, keepdims=True))
    gathered = powers / powers.sum(axis=-1, keepdims=True) @ v
    joined = gathered.transpose(0, 2, 1, 3).reshape(one.x.shape)
    return joined @ one.params["output.weight"] + one.params["output.bias"], scores


def right(reference: ModuleType, one: Case) -> Right:
    """What the reference gives, in float64 whatever the precision of the case is."""
    exact = one.astype(np.float64)
    layer = reference.MultiHeadAttention(one.d_model, one.heads, np.random.default_rng(0))
    parameters = layer.parameters()
    for name, numbers in exact.params.items():
        parameters[name].data = numbers
    x = reference.Tensor(exact.x, requires_grad=True)
    y = layer(x)
    y.backward(exact.dy)
    grads = {name: parameter.grad for name, parameter in parameters.items()}
    return Right(y.data, layer.weights, {**grads, "x": x.grad})


def made(student: Student, d_model: int, heads: int, seed: int = 0) -> Remote:
    """A layer of the student's with the first numbers that it gives itself."""
    layer = student.call(NAME, d_model, heads, generator(student, seed)).value
    return an_object(layer, f"What {NAME}(...) makes")


def layer_of(student: Student, one: Case) -> Remote:
    """A layer of the student's that has the numbers of a case."""
    layer = made(student, one.d_model, one.heads)
    for name, numbers in one.params.items():
        try:
            layer.set_attribute(f"{name}.data", numbers)
        except StudentRaised as failure:
            raise no_such_part(name.partition(".")[0]) from failure
    return layer


def no_such_part(part: str) -> MalformedAnswer:
    """The failure where a layer of the student's lacks one of its linear layers."""
    return MalformedAnswer(
        f"{NAME} must keep a layer Linear(d_model, d_model, rng) in self.{part}; there is none.",
        hint="The four are called query, key, value and output.",
    )


def answer_to(student: Student, layer: Remote, one: Case) -> tuple[Remote, Remote]:
    """Call a student's layer with the x of a case: x and y, both on the student's side."""
    x = tensor(student, one.x)
    return x, answered(layer, x, NAME)


def compare(student: Student, layer: Remote, one: Case) -> None:
    """Call a layer that has the numbers of a case, and compare its answer with that of NumPy."""
    _, y = answer_to(student, layer, one)
    expect_array(data_of(y, f"The answer of {NAME}"), formula(one)[0], "y", AXES)
