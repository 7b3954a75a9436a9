"""Arrays made first and filled by out=: np.matmul, np.add, np.divide, np.copyto."""

import numpy as np


def split_heads(x, heads):
    if isinstance(heads, bool) or not isinstance(heads, (int, np.integer)):
        raise TypeError("heads must be an integer")
    B, T, C = x.shape
    if heads <= 0 or np.remainder(C, heads) > 0:
        raise ValueError("heads must divide C")
    d = C // heads
    h = np.empty((B, heads, T, d), x.dtype)
    for n in range(heads):
        np.copyto(h[:, n], x[:, :, n * d : (n + 1) * d])
    return h


def merge_heads(h):
    B, H, T, d = h.shape
    x = np.empty((B, T, H * d), h.dtype)
    for n in range(H):
        x[..., n * d : (n + 1) * d] = h[:, n]
    return x


def multihead(x, params, heads, allowed):
    dtype = np.result_type(np.float32, x.dtype) if x.dtype.kind == "f" else np.dtype(np.float64)
    x = np.array(x, dtype)
    w = {name: np.array(matrix, dtype) for name, matrix in params.items()}
    projected = np.empty((3, *x.shape), dtype)
    for slot, name in enumerate(("wq", "wk", "wv")):
        np.matmul(x, w[name], out=projected[slot])
    q, k, v = (split_heads(part, heads) for part in projected)
    p = np.empty((*q.shape[:3], q.shape[2]), dtype)
    np.matmul(q, k.swapaxes(2, 3), out=p)
    np.divide(p, np.sqrt(dtype.type(q.shape[3])), out=p)
    np.copyto(p, -np.inf, where=~allowed)
    np.subtract(p, p.max(axis=3, keepdims=True), out=p)
    np.exp(p, out=p)
    np.divide(p, p.sum(axis=3, keepdims=True), out=p)
    joined = merge_heads(p @ v)
    y = np.zeros_like(x)
    np.matmul(joined, w["wo"], out=y)
    return y, {"x": x, "heads": heads, "attention": [q, k, v, p], "joined": joined}


def multihead_backward(cache, params, dy):
    q, k, v, p = cache["attention"]
    x, joined, heads = cache["x"], cache["joined"], cache["heads"]
    grads = {name: np.zeros(matrix.shape, x.dtype) for name, matrix in params.items()}
    for b in range(len(x)):
        np.add(grads["wo"], joined[b].T @ dy[b], out=grads["wo"])
    do = split_heads(dy @ params["wo"].T, heads)
    ds = do @ v.swapaxes(2, 3)
    np.subtract(ds, (ds * p).sum(axis=3, keepdims=True), out=ds)
    np.multiply(ds, p, out=ds)
    np.multiply(ds, q.shape[3] ** -0.5, out=ds)
    dx = np.zeros_like(x)
    parts = (("wq", ds @ k), ("wk", ds.swapaxes(2, 3) @ q), ("wv", p.swapaxes(2, 3) @ do))
    for name, part in parts:
        flat = merge_heads(part)
        for b in range(len(x)):
            np.add(grads[name], x[b].T @ flat[b], out=grads[name])
            np.add(dx[b], flat[b] @ params[name].T, out=dx[b])
    return dx, grads
