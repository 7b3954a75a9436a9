"""Mistakes seen in the class ``MultiHeadAttention`` with its ``__init__``.

Each is written as what becomes of a right module; it is registered as a class of its own.
"""

import math
from collections.abc import Callable
from types import ModuleType
from typing import Any

import torch
from torch import nn

from autograder.checking.mistakes import MistakeSet

mistakes = MistakeSet("MultiHeadAttention")

Init = Callable[..., None]


def class_with(right: ModuleType, init: Init) -> Any:
    """The reference's class with another ``__init__``."""
    base = right.MultiHeadAttention
    return type(base)(base.__name__, (base,), {"__init__": init})


def changed(right: ModuleType, change: Init) -> Any:
    """The reference's class whose modules are changed in the end."""

    def init(self: Any, d_model: int, num_heads: int) -> None:
        right.MultiHeadAttention.__init__(self, d_model, num_heads)
        change(self, d_model, num_heads)

    return class_with(right, init)


@mistakes.add(stateful=True, hint="Which argument of nn.Linear says that there is no bias?", seen="courses")
def biases_everywhere(right: ModuleType) -> Any:
    """A linear layer is weight and bias, for query, key and value, too."""

    def change(self: Any, d_model: int, num_heads: int) -> None:
        for name in ("query", "key", "value"):
            setattr(self, name, nn.Linear(d_model, d_model))

    return changed(right, change)


@mistakes.add(stateful=True, hint="Which of the four layers does the task give a bias?", seen="courses")
def no_bias_anywhere(right: ModuleType) -> Any:
    """All four layers are alike, so the output layer has no bias, either."""

    def change(self: Any, d_model: int, num_heads: int) -> None:
        self.output = nn.Linear(d_model, d_model, bias=False)

    return changed(right, change)


@mistakes.add(stateful=True, hint="Read the task once more: which layers have a bias?", seen="courses")
def biases_exchanged(right: ModuleType) -> Any:
    """Query, key and value have a bias, the output layer has none."""

    def change(self: Any, d_model: int, num_heads: int) -> None:
        for name in ("query", "key", "value"):
            setattr(self, name, nn.Linear(d_model, d_model))
        self.output = nn.Linear(d_model, d_model, bias=False)

    return changed(right, change)


@mistakes.add(
    stateful=True, hint="The channels are divided after the projections: for which head?", seen="courses"
)
def projections_of_one_head(right: ModuleType) -> Any:
    """A head has head_dim channels, so query, key and value lead from d_model to head_dim."""

    def change(self: Any, d_model: int, num_heads: int) -> None:
        for name in ("query", "key", "value"):
            setattr(self, name, nn.Linear(d_model, d_model // num_heads, bias=False))

    return changed(right, change)


@mistakes.add(
    stateful=True, hint="How many channels has a token when the heads are joined again?", seen="courses"
)
def output_of_one_head(right: ModuleType) -> Any:
    """The output layer leads from the width of one head back to d_model."""

    def change(self: Any, d_model: int, num_heads: int) -> None:
        self.output = nn.Linear(d_model // num_heads, d_model)

    return changed(right, change)


@mistakes.add(stateful=True, hint="Are there more numbers in all if there are more heads?", seen="courses")
def projections_for_each_head(right: ModuleType) -> Any:
    """Every head needs queries, keys and values of the full width: num_heads times d_model channels."""

    def change(self: Any, d_model: int, num_heads: int) -> None:
        for name in ("query", "key", "value"):
            setattr(self, name, nn.Linear(d_model, d_model * num_heads, bias=False))

    return changed(right, change)


@mistakes.add(stateful=True, hint="Print 6 / 3 and 6 // 3.", seen="courses")
def float_width(right: ModuleType) -> Any:
    """d_model / num_heads is the width of a head."""

    def change(self: Any, d_model: int, num_heads: int) -> None:
        self.head_dim = d_model / num_heads

    return changed(right, change)


@mistakes.add(stateful=True, hint="Of d_model = 6 in 2 heads, how wide is each?", seen="courses")
def width_and_number_exchanged(right: ModuleType) -> Any:
    """num_heads says how many channels a head has."""

    def change(self: Any, d_model: int, num_heads: int) -> None:
        self.head_dim, self.num_heads = num_heads, d_model // num_heads

    return changed(right, change)


@mistakes.add(
    stateful=True, hint="What do all heads together have: d_model channels, or more?", seen="courses"
)
def heads_of_full_width(right: ModuleType) -> Any:
    """Every head is as wide as the whole vector."""

    def change(self: Any, d_model: int, num_heads: int) -> None:
        self.head_dim = d_model

    return changed(right, change)


def _layers(self: Any, d_model: int, num_heads: int) -> None:
    """All that the reference puts in place, without a look at the numbers."""
    nn.Module.__init__(self)
    self.d_model, self.num_heads, self.head_dim = d_model, num_heads, d_model // num_heads
    for name in ("query", "key", "value"):
        setattr(self, name, nn.Linear(d_model, d_model, bias=False))
    self.output = nn.Linear(d_model, d_model)


@mistakes.add(stateful=True, hint="What is 10 // 4, and what is lost there?", seen="courses")
def never_refused(right: ModuleType) -> Any:
    """Integer division takes care of numbers that do not fit."""
    return class_with(right, _layers)


@mistakes.add(stateful=True, hint="Which two exceptions does the task allow?", seen="courses")
def refused_by_any_exception(right: ModuleType) -> Any:
    """Whoever raises an Exception has refused."""

    def init(self: Any, d_model: int, num_heads: int) -> None:
        if d_model % num_heads:
            raise Exception(f"{d_model} is not divisible by {num_heads}")  # noqa: TRY002 (as students write)
        _layers(self, d_model, num_heads)

    return class_with(right, init)


@mistakes.add(stateful=True, hint="Try d_model = 9 with 6 heads.", seen="courses")
def only_odd_ones_refused(right: ModuleType) -> Any:
    """Numbers do not fit if one is odd and the other even, or there are more heads than channels."""

    def init(self: Any, d_model: int, num_heads: int) -> None:
        assert num_heads <= d_model, "too many heads"
        assert d_model % math.gcd(d_model, num_heads) == 0, "does not fit"
        _layers(self, d_model, num_heads)

    return class_with(right, init)


@mistakes.add(
    stateful=True, hint="Change one weight of query: which of the others change, too?", seen="courses"
)
def one_layer_for_all(right: ModuleType) -> Any:
    """Query, key and value are layers of the same shape, so one layer can serve as all three."""

    def change(self: Any, d_model: int, num_heads: int) -> None:
        self.key = self.value = self.query

    return changed(right, change)


@mistakes.add(stateful=True, hint="Do two modules of yours learn the same weights?", seen="courses")
def layers_of_all_modules(right: ModuleType) -> Any:
    """Layers are made once for each size, and all modules of that size use them."""
    made: dict[int, Any] = {}

    def change(self: Any, d_model: int, num_heads: int) -> None:
        for name in ("query", "key", "value"):
            setattr(self, name, made.setdefault((d_model, name).__hash__(), getattr(self, name)))

    return changed(right, change)


@mistakes.add(stateful=True, hint="What does state_dict list, and what of it was learned?", seen="courses")
def more_registered(right: ModuleType) -> Any:
    """What the module needs is registered with it: the causal mask, as a buffer."""

    def change(self: Any, d_model: int, num_heads: int) -> None:
        self.register_buffer("mask", torch.tril(torch.ones(16, 16)))

    return changed(right, change)


@mistakes.form("more_registered", stateful=True)
def scale_as_parameter(right: ModuleType) -> Any:
    """The scale is a number of the module's, so it is a parameter."""

    def change(self: Any, d_model: int, num_heads: int) -> None:
        self.scale = nn.Parameter(torch.tensor((d_model // num_heads) ** -0.5))

    return changed(right, change)


@mistakes.add(
    stateful=True, hint="Who changes the weights in training, and whose are changed?", seen="courses"
)
def frozen_weights(right: ModuleType) -> Any:
    """Weights are set without gradients, and so they stay."""

    def change(self: Any, d_model: int, num_heads: int) -> None:
        self.requires_grad_(False)

    return changed(right, change)
