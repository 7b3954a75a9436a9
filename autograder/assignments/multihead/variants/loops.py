"""A right solution in loops, as a beginner would write it: one number at a time, and attention by hand."""

import math

import numpy as np


def split_heads(x, heads):
    if type(heads) is bool:
        raise TypeError("True is no number of heads")
    if not isinstance(heads, int) and not isinstance(heads, np.integer):
        raise TypeError("heads must be an integer")
    if len(x.shape) != 3:
        raise ValueError("x must have three axes")
    B, T, C = x.shape
    if heads <= 0 or C % heads:
        raise ValueError("heads must divide the channels")
    d = C // heads
    h = np.zeros((B, heads, T, d), dtype=x.dtype)
    for b in range(B):
        for t in range(T):
            for c in range(C):
                h[b, c // d, t, c % d] = x[b, t, c]
    return h


def merge_heads(h):
    if len(h.shape) != 4:
        raise ValueError("h must have four axes")
    B, H, T, d = h.shape
    x = np.zeros((B, T, H * d), dtype=h.dtype)
    for b in range(B):
        for n in range(H):
            for t in range(T):
                for j in range(d):
                    x[b, t, n * d + j] = h[b, n, t, j]
    return x


def multihead(x, params, heads, allowed):
    x = x * 1.0
    B, T, C = x.shape
    q = split_heads(x @ params["wq"], heads)
    k = split_heads(x @ params["wk"], heads)
    v = split_heads(x @ params["wv"], heads)
    scale = 1 / math.sqrt(C // heads)
    weights = np.zeros((B, heads, T, T))
    out = np.zeros(q.shape)
    for b in range(B):
        for n in range(heads):
            for t in range(T):
                keys = [s for s in range(T) if allowed[t, s]]
                scores = [sum(q[b, n, t] * k[b, n, s]) * scale for s in keys]
                top = max(scores)
                powers = [math.exp(score - top) for score in scores]
                for s, power in zip(keys, powers, strict=True):
                    weights[b, n, t, s] = power / sum(powers)
                    out[b, n, t] += weights[b, n, t, s] * v[b, n, s]
    joined = merge_heads(out)
    cache = {"x": x, "heads": heads, "attention": [q, k, v, weights], "joined": joined, "allowed": allowed}
    return joined @ params["wo"], cache


def multihead_backward(cache, params, dy):
    x, heads, joined = cache["x"], cache["heads"], cache["joined"]
    q, k, v, weights = cache["attention"]
    B, T, C = x.shape
    scale = 1 / math.sqrt(C // heads)
    grads = {name: np.zeros((C, C)) for name in ("wq", "wk", "wv", "wo")}
    dout = split_heads(dy @ params["wo"].T * 1.0, heads)
    dq, dk, dv = np.zeros(q.shape), np.zeros(k.shape), np.zeros(v.shape)
    for b in range(B):
        for n in range(heads):
            for t in range(T):
                dw = [sum(dout[b, n, t] * v[b, n, s]) for s in range(T)]
                mean = sum(weights[b, n, t, s] * dw[s] for s in range(T))
                for s in range(T):
                    dv[b, n, s] += weights[b, n, t, s] * dout[b, n, t]
                    ds = weights[b, n, t, s] * (dw[s] - mean) * scale
                    dq[b, n, t] += ds * k[b, n, s]
                    dk[b, n, s] += ds * q[b, n, t]
    dx = np.zeros((B, T, C))
    for name, grad in (("wq", dq), ("wk", dk), ("wv", dv)):
        flat = merge_heads(grad)
        for b in range(B):
            for t in range(T):
                grads[name] += np.outer(x[b, t], flat[b, t])
                dx[b, t] += params[name] @ flat[b, t]
    for b in range(B):
        for t in range(T):
            grads["wo"] += np.outer(joined[b, t], dy[b, t])
    return dx, grads
