"""What the mistakes of ``multihead_backward`` are made of: the right backward pass in parts."""

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


def finish_by_softmax(right: ModuleType, cache: Cache, params: Params, dy: Array, jacobian: Any) -> Any:
    """The right backward pass around a softmax gradient of one's own: ``jacobian(weights, dweights)``."""
    inner = cache["attention"]
    q, k, v, weights = inner["q"], inner["k"], inner["v"], inner["weights"]
    dout = right.split_heads(dy @ params["wo"].T, cache["heads"])
    scores = jacobian(weights, dout @ v.swapaxes(-1, -2)) / np.sqrt(q.shape[-1])
    parts = (scores @ k, scores.swapaxes(-1, -2) @ q, weights.swapaxes(-1, -2) @ dout)
    return finish(cache, params, dy, *(right.merge_heads(part) for part in parts))
