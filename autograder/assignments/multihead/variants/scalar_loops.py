"""One number at a time, in lists of Python floats: as slow as an honest solution can be."""

import math

import numpy as np

SLOW = True


def split_heads(x, heads):
    if isinstance(heads, bool) or not isinstance(heads, (int, np.integer)):
        raise TypeError("heads must be an integer")
    if x.ndim != 3:
        raise ValueError("x must have three axes")
    if heads <= 0 or x.shape[2] % heads != 0:
        raise ValueError("heads must divide the channels")
    B, T, C = x.shape
    d = C // heads
    h = np.zeros((B, heads, T, d), dtype=x.dtype)
    for b in range(B):
        for t in range(T):
            for c in range(C):
                h[b, c // d, t, c % d] = x[b, t, c]
    return h


def merge_heads(h):
    if h.ndim != 4:
        raise ValueError("h must have four axes")
    B, H, T, d = h.shape
    x = np.zeros((B, T, H * d), dtype=h.dtype)
    for b in range(B):
        for n in range(H):
            for t in range(T):
                for j in range(d):
                    x[b, t, n * d + j] = h[b, n, t, j]
    return x


def times(a, w):
    """Return a @ w for a of shape (B, T, C) and a matrix w."""
    result = np.zeros((a.shape[0], a.shape[1], w.shape[1]))
    for b in range(a.shape[0]):
        for t in range(a.shape[1]):
            for j in range(w.shape[1]):
                total = 0.0
                for i in range(w.shape[0]):
                    total += a[b, t, i] * w[i, j]
                result[b, t, j] = total
    return result


def add_outer(grad, a, c):
    for b in range(a.shape[0]):
        for t in range(a.shape[1]):
            for i in range(a.shape[2]):
                for j in range(c.shape[2]):
                    grad[i, j] += a[b, t, i] * c[b, t, j]


def multihead(x, params, heads, allowed):
    x = x.astype(float)
    q, k, v = (split_heads(times(x, params[name]), heads) for name in ("wq", "wk", "wv"))
    B, H, T, d = q.shape
    p, out = np.zeros((B, H, T, T)), np.zeros((B, H, T, d))
    for b in range(B):
        for n in range(H):
            for t in range(T):
                scores = []
                for s in range(T):
                    dot = 0.0
                    for j in range(d):
                        dot += q[b, n, t, j] * k[b, n, s, j]
                    scores.append(dot / math.sqrt(d) if allowed[t, s] else -math.inf)
                largest = max(scores)
                total = math.fsum(math.exp(score - largest) for score in scores)
                for s in range(T):
                    p[b, n, t, s] = math.exp(scores[s] - largest) / total
                    for j in range(d):
                        out[b, n, t, j] += p[b, n, t, s] * v[b, n, s, j]
    joined = merge_heads(out)
    inner = {"q": q, "k": k, "v": v, "p": p}
    return times(joined, params["wo"]), {"x": x, "heads": heads, "attention": inner, "joined": joined}


def multihead_backward(cache, params, dy):
    x, joined, inner = cache["x"], cache["joined"], cache["attention"]
    q, k, v, p = inner["q"], inner["k"], inner["v"], inner["p"]
    do = split_heads(times(dy, params["wo"].T), cache["heads"])
    dq, dk, dv = np.zeros(q.shape), np.zeros(q.shape), np.zeros(q.shape)
    B, H, T, d = q.shape
    for b in range(B):
        for n in range(H):
            for t in range(T):
                dp = [sum(do[b, n, t, j] * v[b, n, s, j] for j in range(d)) for s in range(T)]
                mean = sum(p[b, n, t, s] * dp[s] for s in range(T))
                for s in range(T):
                    ds = p[b, n, t, s] * (dp[s] - mean) / math.sqrt(d)
                    for j in range(d):
                        dq[b, n, t, j] += ds * k[b, n, s, j]
                        dk[b, n, s, j] += ds * q[b, n, t, j]
                        dv[b, n, s, j] += p[b, n, t, s] * do[b, n, t, j]
    grads = {name: np.zeros(matrix.shape) for name, matrix in params.items()}
    add_outer(grads["wo"], joined, dy)
    dx = np.zeros(x.shape)
    for name, part in (("wq", merge_heads(dq)), ("wk", merge_heads(dk)), ("wv", merge_heads(dv))):
        add_outer(grads[name], x, part)
        dx += times(part, params[name].T)
    return dx, grads
