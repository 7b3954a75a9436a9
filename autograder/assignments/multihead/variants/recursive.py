"""Recursion: heads are cut off one by one, sequences are worked through by calling oneself."""

import numpy as np


def split_heads(x, heads):
    if isinstance(heads, bool) or not isinstance(heads, (int, np.integer)):
        raise TypeError("no count")
    if x.ndim != 3:
        raise ValueError("no (B, T, C)")
    if heads < 1 or x.shape[2] % heads:
        raise ValueError("no divisor")
    first = x[:, np.newaxis, :, : x.shape[2] // heads]
    if heads == 1:
        return first.copy()
    return np.concatenate([first, split_heads(x[:, :, first.shape[3] :], heads - 1)], axis=1)


def merge_heads(h):
    if h.ndim != 4:
        raise ValueError("no (B, H, T, d)")
    if h.shape[1] == 1:
        return h[:, 0].copy()
    return np.concatenate([h[:, 0], merge_heads(h[:, 1:])], axis=2)


def one_head(q, k, v, allowed):
    """Attention of two axes; of more, axis by axis."""
    if q.ndim > 2:
        done = [one_head(*each, allowed) for each in zip(q, k, v, strict=True)]
        return tuple(np.stack(part) for part in zip(*done, strict=True))
    scores = np.where(allowed, q @ k.T / np.sqrt(q.shape[1]), -np.inf)
    powers = np.exp(scores - scores.max(axis=1)[:, None])
    weights = powers / powers.sum(axis=1)[:, None]
    return weights @ v, weights


def one_head_backward(q, k, v, weights, grad):
    if q.ndim > 2:
        done = [one_head_backward(*each) for each in zip(q, k, v, weights, grad, strict=True)]
        return tuple(np.stack(part) for part in zip(*done, strict=True))
    d_weights = grad @ v.T
    d_scores = weights * (d_weights - np.sum(weights * d_weights, axis=1)[:, None]) / np.sqrt(q.shape[1])
    return d_scores @ k, d_scores.T @ q, weights.T @ grad


def multihead(x, params, heads, allowed):
    x = x.astype(float) if x.dtype.kind != "f" else x
    q, k, v = (split_heads(x @ params[name], heads) for name in ("wq", "wk", "wv"))
    out, weights = one_head(q, k, v, allowed)
    joined = merge_heads(out)
    inner = {"q": q, "k": k, "v": v, "weights": weights}
    return joined @ params["wo"], {"x": x, "heads": heads, "attention": inner, "joined": joined}


def gradient(x, part):
    """The sum over all axes but the last, by recursion."""
    return np.outer(x, part) if x.ndim == 1 else sum(map(gradient, x, part))


def multihead_backward(cache, params, dy):
    inner = cache["attention"]
    grad = split_heads(dy @ params["wo"].T, cache["heads"])
    parts = one_head_backward(inner["q"], inner["k"], inner["v"], inner["weights"], grad)
    dq, dk, dv = map(merge_heads, parts)
    grads = {"wq": gradient(cache["x"], dq), "wk": gradient(cache["x"], dk), "wv": gradient(cache["x"], dv)}
    grads["wo"] = gradient(cache["joined"], dy)
    return dq @ params["wq"].T + dk @ params["wk"].T + dv @ params["wv"].T, grads
