"""Splitting and merging as products with matrices of zeros and ones."""

import numpy as np

from attention import attention, attention_backward


def selection(heads, width, dtype):
    """S[h, c, j] is 1 where channel c is number j of head h."""
    return np.eye(heads * width, dtype=dtype).reshape(heads * width, heads, width).transpose(1, 0, 2)


def split_heads(x, heads):
    if isinstance(heads, bool) or not isinstance(heads, (int, np.integer)):
        raise TypeError("heads must be an integer")
    if x.ndim != 3:
        raise ValueError("x must have three axes")
    if heads < 1 or x.shape[2] % heads:
        raise ValueError("heads must divide the channels")
    return x[:, None] @ selection(heads, x.shape[2] // heads, x.dtype)


def merge_heads(h):
    if h.ndim != 4:
        raise ValueError("h must have four axes")
    S = selection(h.shape[1], h.shape[3], h.dtype)
    return (h @ S.swapaxes(1, 2)).sum(axis=1, dtype=h.dtype)


def multihead(x, params, heads, allowed):
    x = x if x.dtype.kind == "f" else x.astype(np.float64)
    S = selection(heads, x.shape[2] // heads, x.dtype)
    q, k, v = (x[:, None] @ (params[name] @ S) for name in ("wq", "wk", "wv"))
    out, inner = attention(q, k, v, allowed)
    joined = merge_heads(out)
    return joined @ params["wo"], {"x": x, "heads": heads, "attention": inner, "joined": joined}


def multihead_backward(cache, params, dy):
    x, joined, heads = cache["x"], cache["joined"], cache["heads"]
    S = selection(heads, x.shape[2] // heads, x.dtype)
    inner = attention_backward(cache["attention"], dy[:, None] @ (params["wo"].T @ S))
    grads = {"wo": (joined.swapaxes(1, 2) @ dy).sum(axis=0)}
    dx = 0
    for name in ("q", "k", "v"):
        part = (inner[name] @ S.swapaxes(1, 2)).sum(axis=1)
        dx = dx + part @ params["w" + name].T
        grads["w" + name] = (x.swapaxes(1, 2) @ part).sum(axis=0)
    return dx, grads
