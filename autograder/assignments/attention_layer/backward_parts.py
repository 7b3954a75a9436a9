"""The backward pass of multi-head attention in parts: mistakes are made of them, analyses look for them."""

from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Params = dict[str, Array]
Cache = dict[str, Any]


@dataclass
class Parts:
    """What the right backward pass computes on its way, each of shape (B, T, C)."""

    joined: Array
    q: Array
    k: Array
    v: Array


def parts_of(right: ModuleType, cache: Cache, params: Params, dy: Array) -> Parts:
    """The gradients for J, Q, K and V."""
    joined = dy @ params["wo"].T
    heads = right.attention_backward(cache["attention"], right.split_heads(joined, cache["heads"]))
    return Parts(joined, *(right.merge_heads(heads[name]) for name in "qkv"))


def finish(cache: Cache, params: Params, dy: Array, q: Array, k: Array, v: Array) -> Any:
    """The right results, made of the gradients for Q, K and V."""
    x = cache["x"]
    grads = {"wq": outer(x, q), "wk": outer(x, k), "wv": outer(x, v), "wo": outer(cache["joined"], dy)}
    return q @ params["wq"].T + k @ params["wk"].T + v @ params["wv"].T, grads


def outer(inputs: Array, grad: Array) -> Any:
    """A matrix's gradient: outer products of inputs and gradients, summed over batch and time."""
    return np.einsum("bti,btj->ij", inputs, grad)
