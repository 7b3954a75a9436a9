"""Arrays made first and filled by out=: np.matmul, np.subtract, np.divide, np.copyto."""

import numpy as np


def causal_mask(seq):
    if isinstance(seq, bool) or not isinstance(seq, (int, np.integer)):
        raise TypeError("seq must be an integer")
    if seq < 1:
        raise ValueError("seq must be positive")
    mask = np.empty((seq, seq), dtype=bool)
    np.greater_equal.outer(np.arange(seq), np.arange(seq), out=mask)
    return mask


def attention(q, k, v, allowed):
    dtype = q.dtype if q.dtype.kind == "f" else np.dtype(float)
    q, k, v = (a.astype(dtype) for a in (q, k, v))
    weights = np.empty((*q.shape[:-1], k.shape[-2]), dtype)
    np.matmul(q, k.swapaxes(-1, -2), out=weights)
    np.divide(weights, np.sqrt(q.shape[-1]), out=weights, casting="same_kind")
    hidden = np.empty(weights.shape, bool)
    np.copyto(hidden, np.logical_not(allowed))
    if np.all(hidden, axis=-1).any():
        raise ValueError("a query without a key")
    np.copyto(weights, -np.inf, where=hidden)
    np.subtract(weights, weights.max(axis=-1, keepdims=True), out=weights)
    np.exp(weights, out=weights)
    np.divide(weights, weights.sum(axis=-1, keepdims=True), out=weights)
    out = np.empty(q.shape, dtype)
    np.matmul(weights, v, out=out)
    return out, {"q": q, "k": k, "v": v, "weights": weights}


def attention_backward(cache, dout):
    w = cache["weights"]
    ds = np.matmul(dout, cache["v"].swapaxes(-1, -2))
    np.subtract(ds, np.add.reduce(w * ds, axis=-1, keepdims=True), out=ds)
    np.multiply(ds, w, out=ds)
    np.divide(ds, np.sqrt(cache["q"].shape[-1]), out=ds, casting="same_kind")
    grads = {name: np.empty_like(cache[name]) for name in "qkv"}
    np.matmul(ds, cache["k"], out=grads["q"])
    np.matmul(ds.swapaxes(-1, -2), cache["q"], out=grads["k"])
    np.matmul(w.swapaxes(-1, -2), dout.astype(w.dtype), out=grads["v"])
    return grads


def weighted_attention(x, params, allowed):
    x = x.astype(x.dtype if x.dtype.kind == "f" else float)
    parts = np.empty((3, *x.shape), x.dtype)
    for part, name in zip(parts, ("wq", "wk", "wv"), strict=True):
        np.matmul(x, params[name].astype(x.dtype), out=part)
    out, inner = attention(*parts, allowed)
    y = np.empty_like(x)
    np.matmul(out, params["wo"].astype(x.dtype), out=y)
    return y, {"x": x, "attention": inner, "out": out}


def weighted_attention_backward(cache, params, dy):
    x, dx = cache["x"], np.zeros_like(cache["x"])
    inner = attention_backward(cache["attention"], np.matmul(dy, params["wo"].T))
    grads = {name: np.zeros(params[name].shape, x.dtype) for name in params}
    for b in range(len(x)):
        grads["wo"] += cache["out"][b].T @ dy[b]
        for name, grad in inner.items():
            grads[f"w{name}"] += x[b].T @ grad[b]
            dx[b] += grad[b] @ params[f"w{name}"].T
    return dx, grads
