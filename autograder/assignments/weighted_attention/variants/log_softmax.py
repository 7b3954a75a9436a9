"""Weights by logarithms: scores minus logaddexp.reduce; the mask is added as 0 and minus infinity."""

import numpy as np


def causal_mask(seq):
    if type(seq) is bool or not np.issubdtype(type(seq), np.integer):
        raise TypeError("seq must be an integer")
    if seq <= 0:
        raise ValueError("seq must be positive")
    return np.tril(np.ones((seq, seq))) > 0


def attention(q, k, v, allowed):
    if not np.all(np.any(allowed, axis=-1)):
        raise ValueError("a query without any key")
    q, k, v = (np.float64(a) if a.dtype != np.float32 else a for a in (q, k, v))
    with np.errstate(divide="ignore"):
        scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1]) + np.log(allowed.astype(float))
    weights = np.exp(scores - np.logaddexp.reduce(scores, axis=-1, keepdims=True))
    return weights @ v, dict(q=q, k=k, v=v, weights=weights)


def attention_backward(cache, dout):
    p = cache["weights"]
    d_log = p * (dout @ cache["v"].swapaxes(-1, -2))
    ds = (d_log - p * d_log.sum(axis=-1, keepdims=True)) / np.sqrt(dout.shape[-1])
    return dict(q=ds @ cache["k"], k=ds.swapaxes(-1, -2) @ cache["q"], v=p.swapaxes(-1, -2) @ dout)


def weighted_attention(x, params, allowed):
    x = np.float64(x) if x.dtype != np.float32 else x
    out, inner = attention(*(np.inner(x, params[name].T) for name in ("wq", "wk", "wv")), allowed)
    return np.inner(out, params["wo"].T), {"x": x, "attention": inner, "out": out}


def weighted_attention_backward(cache, params, dy):
    inner = attention_backward(cache["attention"], np.inner(dy, params["wo"]))
    pairs = {"w" + name: (cache["x"], inner[name]) for name in "qkv"} | {"wo": (cache["out"], dy)}
    grads = {name: np.einsum("bti,btj->ij", *pair) for name, pair in pairs.items()}
    return sum(np.inner(inner[name], params["w" + name]) for name in "qkv"), grads
