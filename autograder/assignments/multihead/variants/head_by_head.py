"""Head by head: every head has its own columns of the matrices; nothing is split or merged as a whole."""

import numpy as np


def split_heads(x, heads):
    if isinstance(heads, bool) or not isinstance(heads, (int, np.integer)):
        raise TypeError("heads must be an integer")
    if x.ndim != 3:
        raise ValueError("x must have three axes")
    if heads < 1 or x.shape[2] % heads:
        raise ValueError("heads must divide the channels")
    d = x.shape[2] // heads
    return np.array([[sequence[:, n * d : (n + 1) * d] for n in range(heads)] for sequence in x])


def merge_heads(h):
    if h.ndim != 4:
        raise ValueError("h must have four axes")
    return np.array([np.concatenate(list(sequence), axis=1) for sequence in h])


def columns(params, n, d):
    mine = slice(n * d, (n + 1) * d)
    return params["wq"][:, mine], params["wk"][:, mine], params["wv"][:, mine], params["wo"][mine]


def multihead(x, params, heads, allowed):
    x = x if x.dtype.kind == "f" else x.astype(np.float64)
    d = x.shape[2] // heads
    y, kept = np.zeros(x.shape, x.dtype), []
    for n in range(heads):
        wq, wk, wv, wo = columns(params, n, d)
        q, k, v = x @ wq, x @ wk, x @ wv
        scores = np.where(allowed, q @ k.swapaxes(1, 2) / d**0.5, -np.inf)
        powers = np.exp(scores - scores.max(axis=2, keepdims=True))
        weights = powers / powers.sum(axis=2, keepdims=True)
        out = weights @ v
        y = y + out @ wo
        kept.append((q, k, v, weights, out))
    joined = np.concatenate([out for *_, out in kept], axis=2)
    return y, {"x": x, "heads": heads, "attention": kept, "joined": joined}


def multihead_backward(cache, params, dy):
    x, heads = cache["x"], cache["heads"]
    d = x.shape[2] // heads
    dx, grads = np.zeros_like(x), {name: np.zeros(params[name].shape) for name in params}
    for n, (q, k, v, weights, out) in enumerate(cache["attention"]):
        mine = slice(n * d, (n + 1) * d)
        wq, wk, wv, wo = columns(params, n, d)
        d_out = dy @ wo.T
        d_weights = d_out @ v.swapaxes(1, 2)
        d_scores = weights * (d_weights - (d_out * out).sum(axis=2, keepdims=True)) / d**0.5
        dq, dk, dv = d_scores @ k, d_scores.swapaxes(1, 2) @ q, weights.swapaxes(1, 2) @ d_out
        dx = dx + dq @ wq.T + dk @ wk.T + dv @ wv.T
        for b in range(len(x)):
            grads["wo"][mine] += out[b].T @ dy[b]
            grads["wq"][:, mine] += x[b].T @ dq[b]
            grads["wk"][:, mine] += x[b].T @ dk[b]
            grads["wv"][:, mine] += x[b].T @ dv[b]
    return dx, grads
