"""What the mistakes of ``multihead`` are made of: the right layer around a softmax of one's own."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Params = dict[str, Array]
#: From scores of shape (B, H, T, T) to weights.
Softmax = Callable[[Array], Array]


def with_softmax(right: ModuleType, x: Array, params: Params, heads: int, weigh: Softmax) -> Any:
    """The right layer around a softmax, and a mask, of one's own."""
    if x.dtype.kind != "f":
        x = x.astype(np.float64)
    q, k, v = (right.split_heads(x @ params[name], heads) for name in ("wq", "wk", "wv"))
    weights = weigh(q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1]))
    joined = right.merge_heads(weights @ v)
    cache = {"q": q, "k": k, "v": v, "weights": weights}
    return joined @ params["wo"], {"x": x, "heads": heads, "attention": cache, "joined": joined}


def scaled(right: ModuleType, x: Array, params: Params, heads: int, allowed: Array, ratio: float) -> Any:
    """The right layer but for its scores, which are ``ratio`` times as large."""
    return right.multihead(x, {**params, "wq": params["wq"] * ratio}, heads, allowed)


def softmax(scores: Array, axis: int = -1) -> Any:
    """The softmax itself."""
    powers = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)
