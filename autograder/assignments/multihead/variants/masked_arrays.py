"""Masked arrays inside, plain ones outside: np.ma hides the keys, filled(0) brings the weights back."""

import numpy as np


def split_heads(x, heads):
    if isinstance(heads, bool) or not isinstance(heads, (int, np.integer)):
        raise TypeError("heads must be an integer")
    if np.ndim(x) != 3:
        raise ValueError("x must have three axes")
    if heads < 1 or x.shape[2] % heads:
        raise ValueError("heads must divide C")
    parts = np.vsplit(x.transpose(2, 0, 1), heads)  # heads arrays of (d, B, T)
    return np.array(parts).transpose(2, 0, 3, 1)


def merge_heads(h):
    if np.ndim(h) != 4:
        raise ValueError("h must have four axes")
    return np.concatenate(h.transpose(1, 0, 2, 3), axis=-1)


def multihead(x, params, heads, allowed):
    x = np.asarray(x, dtype=None if x.dtype.kind == "f" else np.float64)
    q, k, v = (split_heads(x.dot(params[name]), heads) for name in ("wq", "wk", "wv"))
    scores = np.matmul(q, k.transpose(0, 1, 3, 2)) / np.sqrt(q.shape[-1]).astype(x.dtype)
    hidden = np.ma.masked_array(scores, np.broadcast_to(~allowed, scores.shape))
    powers = np.ma.exp(hidden - hidden.max(axis=-1, keepdims=True))
    p = np.array((powers / powers.sum(axis=-1, keepdims=True)).filled(0))
    joined = merge_heads(np.matmul(p, v))
    attention = {"q": q, "k": k, "v": v, "p": p, "scores": hidden}
    return joined.dot(params["wo"]), {"x": x, "heads": heads, "attention": attention, "joined": joined}


def multihead_backward(cache, params, dy):
    x, joined, a = cache["x"], cache["joined"], cache["attention"]
    do = split_heads(dy.dot(params["wo"].T), cache["heads"])
    dp = np.ma.masked_array(np.matmul(do, a["v"].transpose(0, 1, 3, 2)), a["scores"].mask)
    ds = (a["p"] * (dp - (a["p"] * dp).sum(axis=-1, keepdims=True))).filled(0) / np.sqrt(a["q"].shape[-1])
    ds = np.asarray(ds)
    dq = merge_heads(np.matmul(ds, a["k"]))
    dk = merge_heads(np.matmul(ds.transpose(0, 1, 3, 2), a["q"]))
    dv = merge_heads(np.matmul(a["p"].transpose(0, 1, 3, 2), do))
    dx = dq.dot(params["wq"].T) + dk.dot(params["wk"].T) + dv.dot(params["wv"].T)
    pairs = {"wq": (x, dq), "wk": (x, dk), "wv": (x, dv), "wo": (joined, dy)}
    return dx, {name: np.tensordot(a, b, ((0, 1), (0, 1))) for name, (a, b) in pairs.items()}
