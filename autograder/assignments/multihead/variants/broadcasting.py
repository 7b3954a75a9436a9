"""Broadcasting instead of matrix products: new axes, products, sums."""

import numpy as np


def split_heads(x, heads):
    if isinstance(heads, bool) or not isinstance(heads, (int, np.integer)):
        raise TypeError("heads must be an integer")
    if x.ndim != 3:
        raise ValueError("x must have three axes")
    if heads < 1 or x.shape[2] % heads:
        raise ValueError("heads must divide C")
    return np.swapaxes(x.reshape(*x.shape[:-1], heads, -1), 1, 2)


def merge_heads(h):
    if h.ndim != 4:
        raise ValueError("h must have four axes")
    return np.swapaxes(h, 1, 2).reshape(h.shape[0], h.shape[2], -1)


def times(a, w):
    """Return a @ w for a matrix w."""
    return np.sum(a[..., :, None] * w, axis=-2)


def outer(a, b):
    return np.sum(a[..., :, None] * b[..., None, :], axis=(0, 1))


def multihead(x, params, heads, allowed):
    x = x + np.zeros((), np.float32 if x.dtype == np.float32 else np.float64)
    q, k, v = (split_heads(times(x, params[name]), heads) for name in ("wq", "wk", "wv"))
    s = np.sum(q[..., :, None, :] * k[..., None, :, :], axis=-1) / np.sqrt(q.shape[-1]).astype(x.dtype)
    s = np.where(allowed[None, None], s, -np.inf)
    e = np.exp(s - np.amax(s, axis=-1)[..., None])
    p = e / np.sum(e, axis=-1)[..., None]
    joined = merge_heads(np.sum(p[..., None] * v[..., None, :, :], axis=-2))
    attention = {"q": q, "k": k, "v": v, "p": p}
    return times(joined, params["wo"]), {"x": x, "heads": heads, "attention": attention, "joined": joined}


def multihead_backward(cache, params, dy):
    x, a = cache["x"], cache["attention"]
    q, k, v, p = a["q"], a["k"], a["v"], a["p"]
    do = split_heads(times(dy, params["wo"].T), cache["heads"])
    dp = np.sum(do[..., :, None, :] * v[..., None, :, :], axis=-1)
    ds = p * (dp - np.sum(p * dp, axis=-1)[..., None]) / np.sqrt(q.shape[-1])
    dq = merge_heads(np.sum(ds[..., :, :, None] * k[..., None, :, :], axis=-2))
    dk = merge_heads(np.sum(ds[..., :, :, None] * q[..., :, None, :], axis=-3))
    dv = merge_heads(np.sum(p[..., :, :, None] * do[..., :, None, :], axis=-3))
    dx = times(dq, params["wq"].T) + times(dk, params["wk"].T) + times(dv, params["wv"].T)
    grads = {"wq": outer(x, dq), "wk": outer(x, dk), "wv": outer(x, dv), "wo": outer(cache["joined"], dy)}
    return dx, grads
