"""Fortran order everywhere: all answers lie in memory with the first axis fastest, caches included."""

import numpy as np


def causal_mask(seq):
    if isinstance(seq, bool) or not isinstance(seq, (int, np.integer)):
        raise TypeError("seq must be an integer")
    if seq < 1:
        raise ValueError("seq must be positive")
    return np.asfortranarray(np.tri(seq, dtype=bool))


def turned(a):
    return np.swapaxes(a, -1, -2)


def attention(q, k, v, allowed):
    q, k, v = (np.array(a, dtype=None if a.dtype.kind == "f" else np.float64, order="F") for a in (q, k, v))
    scores = q @ turned(k)
    scores /= np.sqrt(np.array(q.shape[-1], dtype=q.dtype))
    allowed = np.broadcast_to(allowed, scores.shape)
    if not np.logical_or.reduce(allowed, axis=-1).all():
        raise ValueError("allowed")
    scores[~allowed] = -np.inf
    scores -= scores.max(axis=-1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=-1, keepdims=True)
    cache = {"q": q, "k": k, "v": v, "weights": np.asfortranarray(scores)}
    return np.asfortranarray(scores @ v), cache


def attention_backward(cache, dout):
    q, k, v, p = (cache[name] for name in ("q", "k", "v", "weights"))
    dp = dout @ turned(v)
    ds = p * (dp - (p * dp).sum(axis=-1, keepdims=True))
    ds = ds / np.sqrt(np.array(q.shape[-1], dtype=q.dtype))
    grads = {"q": ds @ k, "k": turned(ds) @ q, "v": turned(p) @ dout}
    return {name: np.asfortranarray(grad) for name, grad in grads.items()}


def weighted_attention(x, params, allowed):
    x = np.array(x, dtype=None if x.dtype.kind == "f" else np.float64, order="F")
    out, inner = attention(x @ params["wq"], x @ params["wk"], x @ params["wv"], allowed)
    return np.asfortranarray(out @ params["wo"]), {"x": x, "attention": inner, "out": out}


def weighted_attention_backward(cache, params, dy):
    d = attention_backward(cache["attention"], dy @ params["wo"].T)
    grads = {"w" + n: np.asfortranarray(np.tensordot(cache["x"], d[n], 2 * [[0, 1]])) for n in "qkv"}
    grads["wo"] = np.asfortranarray(np.tensordot(cache["out"], dy, 2 * [[0, 1]]))
    dx = d["q"] @ params["wq"].T
    dx += d["k"] @ params["wk"].T
    dx += d["v"] @ params["wv"].T
    return np.asfortranarray(dx), grads
