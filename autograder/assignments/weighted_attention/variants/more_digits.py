"""More digits inside: everything is computed in np.longdouble and rounded once, at the end."""

import numpy as np

Wide = np.longdouble


def causal_mask(seq):
    if isinstance(seq, bool) or not isinstance(seq, (int, np.integer)):
        raise TypeError("seq must be an integer")
    if seq < 1:
        raise ValueError("seq must be positive")
    return np.array([[column <= row for column in range(seq)] for row in range(seq)])


def wide_attention(q, k, v, allowed):
    scores = np.matmul(q, k.swapaxes(-1, -2)) / np.sqrt(Wide(q.shape[-1]))
    scores = np.where(np.broadcast_to(allowed, scores.shape), scores, Wide("-inf"))
    largest = scores.max(axis=-1, keepdims=True)
    if not np.isfinite(largest).all():
        raise ValueError("a query without any key")
    powers = np.exp(scores - largest)
    p = powers / powers.sum(axis=-1, keepdims=True)
    return np.matmul(p, v), {"q": q, "k": k, "v": v, "weights": p}


def rounded(value, dtype):
    return {name: one.astype(dtype) for name, one in value.items()}


def attention(q, k, v, allowed):
    dtype = np.float32 if q.dtype == np.float32 else np.float64
    out, wide = wide_attention(q.astype(Wide), k.astype(Wide), v.astype(Wide), allowed)
    return out.astype(dtype), {**rounded(wide, dtype), "wide": wide}


def wide_backward(cache, dout):
    p = cache["weights"]
    dp = np.matmul(dout, cache["v"].swapaxes(-1, -2))
    ds = p * (dp - np.sum(p * dp, axis=-1, keepdims=True)) / np.sqrt(Wide(dout.shape[-1]))
    q, k = np.matmul(ds, cache["k"]), np.matmul(ds.swapaxes(-1, -2), cache["q"])
    return {"q": q, "k": k, "v": np.matmul(p.swapaxes(-1, -2), dout)}


def attention_backward(cache, dout):
    return rounded(wide_backward(cache["wide"], dout.astype(Wide)), cache["q"].dtype)


def weighted_attention(x, params, allowed):
    dtype = np.float32 if x.dtype == np.float32 else np.float64
    w = rounded(params, Wide)
    out, wide = wide_attention(*(np.dot(x.astype(Wide), w[name]) for name in ("wq", "wk", "wv")), allowed)
    cache = {"x": x.astype(dtype), "attention": {"inner": wide, "out": out}, "out": out.astype(dtype)}
    return np.dot(out, w["wo"]).astype(dtype), cache


def weighted_attention_backward(cache, params, dy):
    w, g, x = rounded(params, Wide), dy.astype(Wide), cache["x"].astype(Wide)
    d = wide_backward(cache["attention"]["inner"], np.dot(g, w["wo"].T))
    flat = lambda a: a.reshape(-1, a.shape[-1])
    grads = {"w" + name: np.dot(flat(x).T, flat(d[name])) for name in "qkv"}
    grads["wo"] = np.dot(flat(cache["attention"]["out"]).T, flat(g))
    dx = sum(np.dot(d[name], w["w" + name].T) for name in "qkv")
    return dx.astype(cache["x"].dtype), rounded(grads, cache["x"].dtype)
