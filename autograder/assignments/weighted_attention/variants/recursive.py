"""Recursion: leading axes are taken off one by one, until there is a single sequence."""

import numpy as np


def causal_mask(seq):
    if isinstance(seq, bool) or not isinstance(seq, (int, np.integer)):
        raise TypeError("seq must be an integer")
    if seq < 1:
        raise ValueError("seq must be positive")
    if seq == 1:
        return np.array([[True]])
    before = causal_mask(seq - 1)
    return np.block([[before, np.zeros((seq - 1, 1), bool)], [np.ones((1, seq), bool)]])


def attention(q, k, v, allowed):
    allowed = np.broadcast_to(allowed, (*q.shape[:-1], k.shape[-2]))
    if q.ndim > 2:
        parts = [attention(*one) for one in zip(q, k, v, allowed, strict=True)]
        cache = {name: np.stack([inner[name] for _, inner in parts]) for name in ("q", "k", "v", "weights")}
        return np.stack([out for out, _ in parts]), cache
    q, k, v = (a if a.dtype.kind == "f" else a.astype(float) for a in (q, k, v))
    rows = [row(one, k, ok) for one, ok in zip(q, allowed, strict=True)]
    weights = np.stack(rows)
    return weights @ v, {"q": q, "k": k, "v": v, "weights": weights}


def row(query, keys, ok):
    if not ok.any():
        raise ValueError("this query has no key")
    scores = keys[ok] @ query / np.sqrt(len(query))
    powers = np.exp(scores - scores.max())
    weights = np.zeros(len(keys), dtype=powers.dtype)
    weights[ok] = powers / powers.sum()
    return weights


def attention_backward(cache, dout):
    if dout.ndim > 2:
        parts = [
            attention_backward({name: cache[name][i] for name in ("q", "k", "v", "weights")}, one)
            for i, one in enumerate(dout)
        ]
        return {name: np.stack([part[name] for part in parts]) for name in "qkv"}
    q, k, v, w = cache["q"], cache["k"], cache["v"], cache["weights"]
    dw = dout @ v.T
    ds = w * (dw - (w * dw).sum(axis=1, keepdims=True)) / np.sqrt(q.shape[1])
    return {"q": ds @ k, "k": ds.T @ q, "v": w.T @ dout}


def weighted_attention(x, params, allowed):
    x = x if x.dtype.kind == "f" else x.astype(float)
    out, inner = attention(x @ params["wq"], x @ params["wk"], x @ params["wv"], allowed)
    return out @ params["wo"], {"x": x, "attention": inner, "out": out}


def weighted_attention_backward(cache, params, dy):
    d = attention_backward(cache["attention"], dy @ params["wo"].T)
    grads = {"wo": added(cache["out"], dy)}
    grads |= {"w" + name: added(cache["x"], d[name]) for name in "qkv"}
    return d["q"] @ params["wq"].T + d["k"] @ params["wk"].T + d["v"] @ params["wv"].T, grads


def added(a, b):
    return a[0].T @ b[0] + (added(a[1:], b[1:]) if len(a) > 1 else 0)
