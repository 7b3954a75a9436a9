"""Named tuples: the pairs of results have names, and so have the parts of the cache's attention."""

from collections import namedtuple
from typing import NamedTuple

import numpy as np

from attention import attention, attention_backward

Forward = namedtuple("Forward", ["y", "cache"])


class Backward(NamedTuple):
    dx: np.ndarray
    grads: dict


class Inner(NamedTuple):
    q: np.ndarray
    k: np.ndarray
    v: np.ndarray
    weights: np.ndarray


def split_heads(x, heads):
    if isinstance(heads, bool) or not isinstance(heads, (int, np.integer)):
        raise TypeError("heads is no integer")
    if x.ndim != 3 or heads < 1 or x.shape[2] % heads:
        raise ValueError("x cannot be split")
    batch, seq, channels = x.shape
    return x.reshape((batch, seq, heads, channels // heads)).swapaxes(2, 1)


def merge_heads(h):
    if h.ndim != 4:
        raise ValueError("h cannot be merged")
    batch, heads, seq, width = h.shape
    return h.swapaxes(2, 1).reshape((batch, seq, heads * width))


def multihead(x, params, heads, allowed):
    x = np.multiply(x, 1.0, dtype=x.dtype if x.dtype.kind == "f" else np.float64)
    q, k, v = (split_heads(x @ params[name], heads) for name in ("wq", "wk", "wv"))
    out, inner = attention(q, k, v, allowed)
    joined = merge_heads(out)
    cache = {"x": x, "heads": int(heads), "attention": Inner(**inner), "joined": joined}
    return Forward(y=joined @ params["wo"], cache=cache)


def multihead_backward(cache, params, dy):
    inner = cache["attention"]._asdict()
    back = attention_backward(inner, split_heads(dy @ params["wo"].T, cache["heads"]))
    dq, dk, dv = merge_heads(back["q"]), merge_heads(back["k"]), merge_heads(back["v"])
    C = dy.shape[-1]
    rows = cache["x"].reshape(-1, C).T
    return Backward(
        grads={
            "wo": cache["joined"].reshape(-1, C).T @ dy.reshape(-1, C),
            "wv": rows @ dv.reshape(-1, C),
            "wk": rows @ dk.reshape(-1, C),
            "wq": rows @ dq.reshape(-1, C),
        },
        dx=dv @ params["wv"].T + dk @ params["wk"].T + dq @ params["wq"].T,
    )
