"""Index arrays say where each number comes from; they are computed once for each size and remembered."""

import functools

import numpy as np

from attention import attention, attention_backward


@functools.lru_cache(maxsize=None)
def channels(heads, width):
    """Channel h*width + j for head h and place j."""
    return np.arange(heads * width).reshape(heads, width)


def split_heads(x, heads):
    if isinstance(heads, bool) or not isinstance(heads, (int, np.integer)):
        raise TypeError("heads must be an integer")
    if x.ndim != 3:
        raise ValueError("x must have three axes")
    if heads < 1 or x.shape[2] % heads:
        raise ValueError("heads must divide the channels")
    B, T, C = x.shape
    b, t = np.arange(B)[:, None, None, None], np.arange(T)[None, None, :, None]
    return x[b, t, channels(int(heads), C // int(heads))[None, :, None, :]]


def merge_heads(h):
    if h.ndim != 4:
        raise ValueError("h must have four axes")
    B, H, T, d = h.shape
    b, t, c = np.ix_(range(B), range(T), range(H * d))
    return h[b, c // d, t, c % d]


def multihead(x, params, heads, allowed):
    x = x if x.dtype.kind == "f" else x.astype(np.float64)
    q, k, v = (
        split_heads(np.take(x @ params[name], range(x.shape[2]), axis=2), heads)
        for name in ("wq", "wk", "wv")
    )
    out, inner = attention(q, k, v, allowed)
    joined = merge_heads(out)
    return joined @ params["wo"], {"x": x, "heads": heads, "attention": inner, "joined": joined}


def multihead_backward(cache, params, dy):
    x, joined = cache["x"], cache["joined"]
    inner = attention_backward(cache["attention"], split_heads(dy @ params["wo"].T, cache["heads"]))
    grads = {name: np.zeros(matrix.shape) for name, matrix in params.items()}
    dx = np.zeros(x.shape)
    for name in "qkv":
        part = merge_heads(inner[name])
        dx[...] += part @ params["w" + name].T
        for b in range(x.shape[0]):
            grads["w" + name][:] += x[b].T @ part[b]
    for b in range(x.shape[0]):
        grads["wo"][:] += joined[b].T @ dy[b]
    return dx, grads
