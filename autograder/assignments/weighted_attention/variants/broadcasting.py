"""Broadcasting instead of matrix products: new axes, products, sums."""

import numpy as np


def causal_mask(seq):
    if isinstance(seq, bool) or not isinstance(seq, (int, np.integer)):
        raise TypeError("seq must be an integer")
    if seq < 1:
        raise ValueError("seq must be positive")
    t = np.arange(seq)
    return t[None, :] <= t[:, None]


def attention(q, k, v, allowed):
    q, k, v = (1.0 * a for a in (q, k, v))
    scores = (q[..., :, None, :] * k[..., None, :, :]).sum(axis=-1) / np.sqrt(q.shape[-1])
    scores = np.where(allowed, scores, -np.inf)
    if scores.ndim != q.ndim or scores.shape[-2:] != (q.shape[-2], k.shape[-2]):
        raise ValueError("the mask has another shape than the scores")
    if np.isneginf(scores.max(axis=-1)).any():
        raise ValueError("a query without a key")
    powers = np.exp(scores - scores.max(axis=-1)[..., None])
    weights = powers / powers.sum(axis=-1)[..., None]
    out = (weights[..., None] * v[..., None, :, :]).sum(axis=-2)
    return out, {"q": q, "k": k, "v": v, "weights": weights}


def attention_backward(cache, dout):
    q, k, v, w = cache["q"], cache["k"], cache["v"], cache["weights"]
    dw = (dout[..., :, None, :] * v[..., None, :, :]).sum(axis=-1)
    ds = w * (dw - (w * dw).sum(axis=-1)[..., None]) / np.sqrt(q.shape[-1])
    dq = (ds[..., None] * k[..., None, :, :]).sum(axis=-2)
    dk = (ds[..., None] * q[..., :, None, :]).sum(axis=-3)
    dv = (w[..., None] * dout[..., :, None, :]).sum(axis=-3)
    return {"q": dq, "k": dk, "v": dv}


def weighted_attention(x, params, allowed):
    x = 1.0 * x
    q, k, v = ((x[..., None] * params[name]).sum(axis=2) for name in ("wq", "wk", "wv"))
    out, inner = attention(q, k, v, allowed)
    return (out[..., None] * params["wo"]).sum(axis=2), {"x": x, "attention": inner, "out": out}


def weighted_attention_backward(cache, params, dy):
    inner = attention_backward(cache["attention"], (dy[:, :, None, :] * params["wo"]).sum(axis=-1))
    grads = {"w" + n: (cache["x"][..., None] * inner[n][:, :, None, :]).sum(axis=(0, 1)) for n in "qkv"}
    grads["wo"] = (cache["out"][..., None] * dy[:, :, None, :]).sum(axis=(0, 1))
    dx = sum((inner[n][:, :, None, :] * params["w" + n]).sum(axis=-1) for n in "qkv")
    return dx, grads
