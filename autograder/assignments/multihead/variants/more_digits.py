"""More digits inside: everything is computed in np.longdouble and rounded once, at the end."""

import numpy as np

Wide = np.longdouble


def split_heads(x, heads):
    if isinstance(heads, bool) or not isinstance(heads, (int, np.integer)):
        raise TypeError("heads must be an integer")
    if x.ndim != 3:
        raise ValueError("x must have three axes")
    if heads < 1 or x.shape[2] % heads:
        raise ValueError("heads must divide the channels")
    return x.reshape(*x.shape[:2], heads, -1).transpose(0, 2, 1, 3)


def merge_heads(h):
    if h.ndim != 4:
        raise ValueError("h must have four axes")
    return h.transpose(0, 2, 1, 3).reshape(h.shape[0], h.shape[2], -1)


def multihead(x, params, heads, allowed):
    rounded = np.float32 if x.dtype == np.float32 else np.float64
    w = {name: matrix.astype(Wide) for name, matrix in params.items()}
    wide = x.astype(Wide)
    q, k, v = (split_heads(np.dot(wide, w[name]), heads) for name in ("wq", "wk", "wv"))
    scores = np.matmul(q, k.swapaxes(2, 3)) / np.sqrt(Wide(q.shape[3]))
    scores = np.where(allowed, scores, Wide("-inf"))
    powers = np.exp(scores - scores.max(axis=3, keepdims=True))
    p = powers / powers.sum(axis=3, keepdims=True)
    joined = merge_heads(np.matmul(p, v))
    y = np.dot(joined, w["wo"]).astype(rounded)
    cache = {"x": x.astype(rounded), "heads": heads, "attention": {}, "joined": joined.astype(rounded)}
    cache["attention"] |= {"q": q, "k": k, "v": v, "p": p, "joined": joined, "x": wide}
    return y, cache


def multihead_backward(cache, params, dy):
    a, rounded = cache["attention"], cache["x"].dtype
    w, wide_dy = {name: matrix.astype(Wide) for name, matrix in params.items()}, dy.astype(Wide)
    q, k, v, p, x = a["q"], a["k"], a["v"], a["p"], a["x"]
    do = split_heads(np.dot(wide_dy, w["wo"].T), cache["heads"])
    dp = np.matmul(do, v.swapaxes(2, 3))
    ds = p * (dp - np.sum(p * dp, axis=3, keepdims=True)) / np.sqrt(Wide(q.shape[3]))
    parts = {
        "wq": merge_heads(np.matmul(ds, k)),
        "wk": merge_heads(np.matmul(ds.swapaxes(2, 3), q)),
        "wv": merge_heads(np.matmul(p.swapaxes(2, 3), do)),
    }
    flat = x.reshape(-1, x.shape[2]).T
    grads = {name: np.dot(flat, part.reshape(-1, x.shape[2])) for name, part in parts.items()}
    grads["wo"] = np.dot(a["joined"].reshape(-1, x.shape[2]).T, wide_dy.reshape(-1, x.shape[2]))
    dx = sum(np.dot(part, w[name].T) for name, part in parts.items())
    return dx.astype(rounded), {name: grad.astype(rounded) for name, grad in grads.items()}
