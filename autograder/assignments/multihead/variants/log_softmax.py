"""Weights by logarithms: scores minus logaddexp.reduce; the mask is added as 0 and minus infinity."""

import numpy as np


def split_heads(x, heads):
    if isinstance(heads, bool) or not isinstance(heads, (int, np.integer)):
        raise TypeError("heads must be an integer")
    if x.ndim != 3:
        raise ValueError("x must have three axes")
    if heads < 1 or x.shape[2] % heads:
        raise ValueError("heads must divide C")
    return np.rollaxis(x.reshape(x.shape[0], x.shape[1], heads, -1), 2, 1)


def merge_heads(h):
    if h.ndim != 4:
        raise ValueError("h must have four axes")
    return np.rollaxis(h, 2, 1).reshape(h.shape[0], h.shape[2], -1)


def multihead(x, params, heads, allowed):
    x = np.float64(x) if x.dtype != np.float32 else x
    q, k, v = (split_heads(np.inner(x, params[name].T), heads) for name in ("wq", "wk", "wv"))
    with np.errstate(divide="ignore"):
        bias = np.log(allowed.astype(float))
    scores = np.einsum("bhtd,bhsd->bhts", q, k) / np.sqrt(q.shape[-1]) + bias
    log_weights = scores - np.logaddexp.reduce(scores, axis=-1, keepdims=True)
    joined = merge_heads(np.exp(log_weights) @ v)
    cache = {"q": q, "k": k, "v": v, "log_weights": log_weights}
    return np.inner(joined, params["wo"].T), {"x": x, "heads": heads, "attention": cache, "joined": joined}


def multihead_backward(cache, params, dy):
    x, joined, a = cache["x"], cache["joined"], cache["attention"]
    p = np.exp(a["log_weights"])
    do = split_heads(np.inner(dy, params["wo"]), cache["heads"])
    d_log = p * (do @ a["v"].swapaxes(-1, -2))
    ds = (d_log - p * d_log.sum(axis=-1, keepdims=True)) / np.sqrt(a["q"].shape[-1])
    dq, dk, dv = (
        merge_heads(part) for part in (ds @ a["k"], ds.swapaxes(-1, -2) @ a["q"], p.swapaxes(-1, -2) @ do)
    )
    grads = {
        "wq": np.einsum("bti,btj->ij", x, dq),
        "wk": np.einsum("bti,btj->ij", x, dk),
        "wv": np.einsum("bti,btj->ij", x, dv),
        "wo": np.einsum("bti,btj->ij", joined, dy),
    }
    return np.inner(dq, params["wq"]) + np.inner(dk, params["wk"]) + np.inner(dv, params["wv"]), grads
