"""Closures: each forward pass builds its own backward pass and leaves it in the cache, as a function."""

import numpy as np


def causal_mask(seq):
    if isinstance(seq, bool) or not isinstance(seq, (int, np.integer)):
        raise TypeError("seq must be an integer")
    if seq < 1:
        raise ValueError("seq must be positive")
    return np.arange(seq)[:, np.newaxis] >= np.arange(seq)[np.newaxis, :]


def product(a, b):
    def back(d):
        return d @ b.swapaxes(-1, -2), a.swapaxes(-1, -2) @ d

    return a @ b, back


def softmax(s):
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    p = e / e.sum(axis=-1, keepdims=True)
    return p, lambda d: p * (d - (p * d).sum(axis=-1, keepdims=True))


def attention(q, k, v, allowed):
    q, k, v = (a if a.dtype.kind == "f" else a.astype(float) for a in (q, k, v))
    scale = float(q.shape[-1]) ** -0.5
    s, scores_back = product(q, k.swapaxes(-1, -2))
    if np.any(~allowed.any(axis=-1)):
        raise ValueError("a row without True")
    p, softmax_back = softmax(np.where(np.broadcast_to(allowed, s.shape), s * scale, -np.inf))
    out, out_back = product(p, v)

    def back(dout):
        dp, dv = out_back(dout)
        dq, dkt = scores_back(softmax_back(dp) * scale)
        return {"q": dq, "k": dkt.swapaxes(-1, -2), "v": dv}

    return out, {"q": q, "k": k, "v": v, "weights": p, "back": back}


def attention_backward(cache, dout):
    return cache["back"](dout)


def weighted_attention(x, params, allowed):
    x = x if x.dtype.kind == "f" else x.astype(float)
    out, inner = attention(x @ params["wq"], x @ params["wk"], x @ params["wv"], allowed)

    return out @ params["wo"], {"x": x, "attention": inner, "out": out}


def weighted_attention_backward(cache, params, dy):
    x, out = cache["x"], cache["out"]
    d = attention_backward(cache["attention"], dy @ params["wo"].T)
    flat = lambda a: a.reshape(-1, a.shape[-1])
    grads = {"w" + name: flat(x).T @ flat(d[name]) for name in "qkv"}
    grads["wo"] = flat(out).T @ flat(dy)
    return d["q"] @ params["wq"].T + d["k"] @ params["wk"].T + d["v"] @ params["wv"].T, grads
