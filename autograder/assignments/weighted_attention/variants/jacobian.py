"""The softmax's whole Jacobian as a matrix, diag(w) - w w^T, for each row of weights."""

import numpy as np


def causal_mask(seq):
    if isinstance(seq, bool) or not isinstance(seq, (int, np.integer)):
        raise TypeError("seq must be an integer")
    if seq < 1:
        raise ValueError("seq must be positive")
    return ~np.triu(np.ones((seq, seq), dtype=bool), k=1)


def softmax(scores):
    powers = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
    return powers / np.sum(powers, axis=-1, keepdims=True)


def attention(q, k, v, allowed):
    dtype = np.result_type(q, k, v)
    dtype = dtype if dtype.kind == "f" else np.float64
    q, k, v = q.astype(dtype), k.astype(dtype), v.astype(dtype)
    scores = np.einsum("...td,...sd->...ts", q, k) / np.sqrt(q.shape[-1])
    if np.broadcast_shapes(allowed.shape, scores.shape) != scores.shape or not allowed.any(-1).all():
        raise ValueError("allowed")
    p = softmax(np.where(allowed, scores, -1e30))
    return p @ v, {"q": q, "k": k, "v": v, "weights": p}


def attention_backward(cache, dout):
    q, k, v, p = cache["q"], cache["k"], cache["v"], cache["weights"]
    J = p[..., :, None] * np.eye(p.shape[-1]) - p[..., :, None] * p[..., None, :]
    ds = (J @ (dout @ v.swapaxes(-1, -2))[..., None])[..., 0] / np.sqrt(q.shape[-1])
    to_keys = "...ts,...td->...sd"
    return {"q": ds @ k, "k": np.einsum(to_keys, ds, q), "v": np.einsum(to_keys, p, dout)}


def weighted_attention(x, params, allowed):
    x = x if x.dtype.kind == "f" else x.astype(np.float64)
    inward = np.stack([params["wq"], params["wk"], params["wv"]])
    q, k, v = np.einsum("btc,pce->pbte", x, inward)
    out, inner = attention(q, k, v, allowed)
    return out @ params["wo"], {"x": x, "attention": inner, "out": out}


def weighted_attention_backward(cache, params, dy):
    inner = attention_backward(cache["attention"], dy @ params["wo"].T)
    parts = np.stack([inner["q"], inner["k"], inner["v"]])
    inward = np.stack([params["wq"], params["wk"], params["wv"]])
    dw = np.einsum("bti,pbtj->pij", cache["x"], parts)
    grads = dict(zip(("wq", "wk", "wv"), dw, strict=True), wo=np.einsum("bti,btj->ij", cache["out"], dy))
    return np.einsum("pbtj,pij->bti", parts, inward), grads
