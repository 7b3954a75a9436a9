"""Caches, and gradients, with far more keys than asked for, of all kinds."""

import datetime

import numpy as np


def causal_mask(seq):
    if isinstance(seq, bool) or not isinstance(seq, (int, np.integer)):
        raise TypeError("seq must be an int")
    if not seq > 0:
        raise ValueError("seq must be positive")
    return np.tri(int(seq)).astype(bool)


STRANGE = {
    "when": datetime.date(2024, 2, 29),
    "softmax": lambda s: np.exp(s) / np.exp(s).sum(),
    "note": "über\tdas\nWetter" * 500,
    7: {1, 2},
    (1, 2): None,
    "empty": np.zeros((0, 3)),
    "text": np.array(["a", "b"]),
    "nan": float("nan"),
    "big": 10**40,
    "complex": 1j,
    "type": np.float32,
}


def attention(q, k, v, allowed):
    kept = {"original": (q, k, v), **STRANGE}
    q, k, v = (a.astype(np.float64) if a.dtype.kind in "iu" else a for a in (q, k, v))
    scores = q @ np.moveaxis(k, -1, -2) / np.sqrt(q.shape[-1])
    if not np.broadcast_to(allowed, scores.shape).any(axis=-1).all():
        raise ValueError("no key")
    masked = np.where(allowed, scores, -np.inf)
    powers = np.exp(masked - masked.max(axis=-1, keepdims=True))
    weights = powers / powers.sum(axis=-1, keepdims=True)
    out = weights @ v
    kept |= {"q": q, "k": k, "v": v, "weights": weights, "scores": scores, "allowed": allowed, "out": out}
    return out, kept


def attention_backward(cache, dout):
    w = cache["weights"]
    dw = dout @ np.moveaxis(cache["v"], -1, -2)
    ds = w * (dw - np.sum(w * dw, axis=-1, keepdims=True)) / np.sqrt(dout.shape[-1])
    turned, gathered = np.moveaxis(ds, -1, -2), np.moveaxis(w, -1, -2)
    grads = {"q": ds @ cache["k"], "k": turned @ cache["q"], "v": gathered @ dout}
    return {**grads, "scores": ds, "weights": dw, "nan": np.full(3, np.nan), "max": lambda: 1}


def weighted_attention(x, params, allowed):
    xf = x.astype(np.float64) if x.dtype.kind in "iu" else x
    out, inner = attention(xf @ params["wq"], xf @ params["wk"], xf @ params["wv"], allowed)
    y = out @ params["wo"]
    return y, {"y": y, "x": xf, "attention": {}, "inner": inner, "out": out, "params": params, **STRANGE}


def weighted_attention_backward(cache, params, dy):
    d = attention_backward(cache["inner"], dy @ params["wo"].T)
    routes = [d[name] @ params["w" + name].T for name in "qkv"]
    grads = {"w" + name: np.einsum("bti,btj->ij", cache["x"], d[name]) for name in "qkv"}
    grads |= {"wo": np.einsum("bti,btj->ij", cache["out"], dy), "x": sum(routes), "routes": routes}
    return grads["x"], grads
