"""Inputs of the hidden checks: sizes that are all distinct, masks that are neither causal nor symmetric."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from .formula import PROJECTIONS, Array

#: Of a module: batch, heads, head_dim, number of queries, number of keys.
Sizes = tuple[int, int, int, int, int]
SELF: Sizes = (3, 4, 5, 6, 6)
CROSS: Sizes = (2, 3, 4, 5, 7)
#: The shapes of masks that the lesson names, by the sizes of a module.
SHAPES = ("(T, S)", "(B, 1, T, S)", "(B, H, T, S)")


@dataclass(frozen=True)
class Heads:
    """What ``compute_attention`` is called with: (B, H, T, d) and twice (B, H, S, d); and dout."""

    query: Array
    key: Array
    value: Array
    dout: Array
    mask: Array | None = None

    @property
    def arrays(self) -> tuple[Array, Array, Array]:
        """Queries, keys and values."""
        return self.query, self.key, self.value


@dataclass(frozen=True)
class Layer:
    """Weights of a module by their names in ``state_dict``, its inputs by argument, and dy."""

    heads: int
    weights: Mapping[str, Array]
    inputs: Mapping[str, Array]
    dy: Array
    mask: Array | None = None

    @property
    def d_model(self) -> int:
        """The length of a vector."""
        return int(self.dy.shape[-1])

    @property
    def is_self(self) -> bool:
        """Whether the three inputs are one and the same."""
        return self.inputs["key"] is self.inputs["query"]


def heads(rng: np.random.Generator, sizes: Sizes, mask: Array | None = None) -> Heads:
    """Normally distributed queries, keys and values, scaled so that weights differ and none is nearly 1."""
    batch, count, width, queries, keys = sizes
    shapes = [(batch, count, length, width) for length in (queries, keys, keys, queries)]
    query, key, value, dout = (rng.standard_normal(shape) for shape in shapes)
    return Heads(query, key, value, dout, mask)


def layer(
    rng: np.random.Generator, sizes: Sizes, mask: Array | None = None, *, is_self: bool = False
) -> Layer:
    """A module and its inputs; with ``is_self`` one array is query, key and value."""
    batch, count, width, queries, keys = sizes
    d_model = count * width
    weights = {f"{name}.weight": _matrix(rng, d_model) for name in (*PROJECTIONS, "output")}
    weights["output.bias"] = rng.standard_normal(d_model)
    lengths = (queries, queries, queries) if is_self else (queries, keys, keys)
    inputs = {
        name: rng.standard_normal((batch, length, d_model))
        for name, length in zip(PROJECTIONS, lengths, strict=True)
    }
    if is_self:
        inputs = dict.fromkeys(PROJECTIONS, inputs["query"])
    return Layer(count, weights, inputs, rng.standard_normal((batch, queries, d_model)), mask)


def mask(rng: np.random.Generator, sizes: Sizes, shape: str = SHAPES[0]) -> Array:
    """True where a query may look at a key: in about half of all places, and in every row and column once."""
    batch, count, _, queries, keys = sizes
    leading = {"(T, S)": (), "(B, 1, T, S)": (batch, 1), "(B, H, T, S)": (batch, count)}[shape]
    allowed = rng.random((*leading, queries, keys)) < 0.4
    for table in allowed.reshape(-1, queries, keys):
        table[np.arange(queries), rng.integers(keys, size=queries)] = True
        table[rng.integers(queries, size=keys), np.arange(keys)] = True
    return np.asarray(allowed)


def _matrix(rng: np.random.Generator, width: int) -> Array:
    return np.asarray(rng.standard_normal((width, width)) / np.sqrt(width))
