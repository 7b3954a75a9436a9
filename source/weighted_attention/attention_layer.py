"""Weighted attention as a layer of the model, in which a projection may be left out."""

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from autodiff.functions import keep
from autodiff.layers import Composite, Layer, Linear, Softmax
from autodiff.tensor import Array, Tensor, record

#: The roles that a vector plays, each with a projection of its own.
ROLES = ("query", "key", "value")


class Functions(NamedTuple):
    """Your own two functions, for the layer to use instead of its built-in way."""

    attention: Callable[..., tuple[Array, Any]]
    attention_backward: Callable[[Any, Array], dict[str, Array]]


class Unchanged(Layer):
    """What stands in the place of a projection that was left out: its answer is its input."""

    def forward(self, x: Tensor) -> Tensor:
        """Any shape -> the same tensor."""
        return x


class WeightedAttention(Composite):
    """Attention with one table of weights, under the causal mask: (batch, seq, d_model) -> the same shape.

    Args:
        d_model: the length of a vector.
        rng: where the first parameters come from. They are the same whichever projection is left out.
        replaced: the role, of ``ROLES``, for which the input itself is taken; None: no role.
        functions: your own attention and its backward pass; by default the layer computes it by tensors.

    Raises ValueError where there is no such role.
    """

    def __init__(
        self,
        d_model: int,
        rng: np.random.Generator,
        *,
        replaced: str | None = None,
        functions: Functions | None = None,
    ):
        super().__init__()
        if replaced is not None and replaced not in ROLES:
            raise ValueError(f"There is no role {replaced!r} to replace: it is one of {', '.join(ROLES)}.")
        projections = {role: Linear(d_model, d_model, rng) for role in ROLES}
        kept: dict[str, Layer] = {
            role: Unchanged() if role == replaced else layer for role, layer in projections.items()
        }
        self.query, self.key, self.value = (kept[role] for role in ROLES)
        self.softmax = Softmax()
        self.output = Linear(d_model, d_model, rng)
        self._functions = functions
        #: The last weights, (batch, seq, seq): a row for each query.
        self.weights: Array | None = None

    def forward(self, x: Tensor) -> Tensor:
        """(batch, seq, d_model) -> (batch, seq, d_model)."""
        q, k, v = self.query(x), self.key(x), self.value(x)
        allowed = np.tri(x.shape[1], dtype=bool)
        if self._functions is not None:
            gathered, self.weights = _by_functions(self._functions, q, k, v, allowed)
            return self.output(gathered)
        scores = (q * (1 / math.sqrt(q.shape[-1]))) @ k.swapaxes(-1, -2)
        weights = self.softmax(keep(scores, allowed))
        self.weights = weights.data
        return self.output(weights @ v)


def _by_functions(
    functions: Functions, q: Tensor, k: Tensor, v: Tensor, allowed: Array
) -> tuple[Tensor, Array | None]:
    """Attention by two functions on arrays, as one operation on tensors, and its weights, if any are kept."""
    out, cache = functions.attention(q.data, k.data, v.data, allowed)

    def pull_back(grad: Array) -> tuple[Array, ...]:
        gradients = functions.attention_backward(cache, grad)
        return gradients["q"], gradients["k"], gradients["v"]

    kept = isinstance(cache, Mapping) and "weights" in cache
    return record(out, (q, k, v), pull_back), cache["weights"] if kept else None
