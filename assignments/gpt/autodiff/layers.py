"""Layers: functions with parameters, and what is put together of them."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from autodiff import functions
from autodiff.tensor import Tensor

#: What parameters are made of: half the memory and twice the speed of float64, and precise enough to train.
PRECISION = np.float32


class Layer:
    """Something that is called with a tensor and answers with a tensor.

    A layer of your own defines ``forward``. What training may change is found in its attributes: tensors with
    ``requires_grad`` are its parameters, layers are parts of it with parameters of their own, and both may
    also stand in lists or tuples.
    """

    is_training = True

    def forward(self, x: Any) -> Tensor:
        """What the layer computes."""
        raise NotImplementedError(f"{type(self).__name__} has no forward yet.")

    def __call__(self, x: Any) -> Tensor:
        """The same as ``forward``."""
        return self.forward(x)

    def parameters(self) -> dict[str, Tensor]:
        """All parameters by name, always in the same order; those of parts as ``part.parameter``."""
        found = {}
        for name, value in self._contents():
            if isinstance(value, Tensor) and value.requires_grad:
                found[name] = value
            elif isinstance(value, Layer):
                found |= {f"{name}.{inner}": parameter for inner, parameter in value.parameters().items()}
        return found

    def count(self) -> int:
        """The number of numbers that training may change."""
        return sum(parameter.size for parameter in self.parameters().values())

    def train(self) -> None:
        """Behave as in training, this layer and its parts."""
        self._set_training(True)

    def eval(self) -> None:
        """Behave as in use: testing, generating."""
        self._set_training(False)

    def _set_training(self, is_training: bool) -> None:
        self.is_training = is_training
        for _, value in self._contents():
            if isinstance(value, Layer):
                value._set_training(is_training)

    def _contents(self) -> Iterator[tuple[str, Any]]:
        """What the attributes hold, by name; what stands in a list or tuple by its number, too."""
        for name, value in vars(self).items():
            if isinstance(value, list | tuple):
                yield from ((f"{name}.{number}", one) for number, one in enumerate(value))
            else:
                yield name, value


class Composite(Layer):
    """Layers one after the other; a subclass may put its parts together in another way.

    >>> rng = np.random.default_rng(0)
    >>> feed_forward = Composite(Linear(64, 256, rng), GELU(), Linear(256, 64, rng))
    >>> feed_forward(Tensor(np.ones((4, 32, 64), dtype=np.float32))).shape
    (4, 32, 64)
    >>> list(feed_forward.parameters())
    ['steps.0.weight', 'steps.0.bias', 'steps.2.weight', 'steps.2.bias']
    """

    steps: tuple[Layer, ...] = ()

    def __init__(self, *steps: Layer):
        super().__init__()
        self.steps = steps

    def forward(self, x: Any) -> Tensor:
        """One step after the other."""
        if not self.steps:
            raise NotImplementedError(f"{type(self).__name__} has neither steps nor a forward of its own.")
        for step in self.steps:
            x = step(x)
        result: Tensor = x
        return result


class Linear(Layer):
    """``x @ weight + bias`` on the last axis: ``weight`` is (inputs, outputs), ``bias`` (outputs,).

    The weights begin uniform between plus and minus sqrt(6/inputs) (He and others, 2015): without residual
    paths and normalisation a signal would otherwise fade from layer to layer. The bias begins with zeros.

    Raises ValueError, when called, where the last axis of ``x`` has another length than ``inputs``.
    """

    def __init__(self, inputs: int, outputs: int, rng: np.random.Generator):
        super().__init__()
        limit = math.sqrt(6 / inputs)
        weight = rng.uniform(-limit, limit, (inputs, outputs))
        self.weight = Tensor(weight.astype(PRECISION), requires_grad=True)
        self.bias = Tensor(np.zeros(outputs, dtype=PRECISION), requires_grad=True)

    def forward(self, x: Tensor) -> Tensor:
        """(..., inputs) -> (..., outputs)."""
        inputs, outputs = self.weight.shape
        if x.ndim == 0 or x.shape[-1] != inputs:
            raise ValueError(
                f"Linear({inputs} -> {outputs}) was given shape {x.shape}: its last axis must be {inputs}."
            )
        return functions.linear(x, self.weight, self.bias)


class Embedding(Layer):
    """A table of ``rows`` vectors, looked up by number; it begins normal with deviation ``spread``."""

    def __init__(self, rows: int, d_model: int, rng: np.random.Generator, *, spread: float = 0.2):
        super().__init__()
        table = rng.standard_normal((rows, d_model)) * spread
        self.table = Tensor(table.astype(PRECISION), requires_grad=True)

    def forward(self, x: NDArray[np.integer]) -> Tensor:
        """Numbers of rows, (...), -> their vectors, (..., d_model).

        Raises TypeError where ``x`` holds no integers, IndexError where one is not the number of a row.
        """
        numbers = np.asarray(x)
        if numbers.dtype.kind not in "iu":
            raise TypeError(f"Embedding is looked up by integers, not by {numbers.dtype}.")
        return functions.lookup(self.table, numbers)


class Softmax(Layer):
    """Shares over the last axis."""

    def forward(self, x: Tensor) -> Tensor:
        """Scores -> shares of the same shape."""
        return functions.softmax(x)


class GELU(Layer):
    """A smooth bend, number by number, in its tanh form."""

    def forward(self, x: Tensor) -> Tensor:
        """Any shape -> the same shape."""
        return functions.gelu(x)
