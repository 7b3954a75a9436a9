"""The softmax's whole Jacobian as a matrix, diag(w) - w w^T, for each row of weights."""

import numpy as np


def split_heads(x, heads):
    if isinstance(heads, bool) or not isinstance(heads, (int, np.integer)):
        raise TypeError("heads must be an integer")
    if x.ndim != 3:
        raise ValueError("x must have three axes")
    if heads < 1 or x.shape[2] % heads:
        raise ValueError("heads must divide the channels")
    d = x.shape[2] // heads
    return np.concatenate([x[:, None, :, n * d : (n + 1) * d] for n in range(heads)], axis=1)


def merge_heads(h):
    if h.ndim != 4:
        raise ValueError("h must have four axes")
    return np.block([h[:, n] for n in range(h.shape[1])])


def multihead(x, params, heads, allowed):
    x = x if x.dtype.kind == "f" else x.astype(np.float64)
    inward = np.stack([params["wq"], params["wk"], params["wv"]])
    q, k, v = (split_heads(part, heads) for part in np.einsum("btc,pce->pbte", x, inward))
    scores = np.einsum("bhtd,bhsd->bhts", q, k) / np.sqrt(q.shape[-1])
    scores = scores - np.max(np.where(allowed, scores, -np.inf), axis=-1, keepdims=True)
    powers = np.exp(np.minimum(scores, 0)) * allowed
    p = powers / powers.sum(axis=-1, keepdims=True)
    joined = merge_heads(np.einsum("bhts,bhsd->bhtd", p, v))
    attention = {"q": q, "k": k, "v": v, "p": p}
    return joined @ params["wo"], {"x": x, "heads": heads, "attention": attention, "joined": joined}


def multihead_backward(cache, params, dy):
    x, joined, a = cache["x"], cache["joined"], cache["attention"]
    q, k, v, p = a["q"], a["k"], a["v"], a["p"]
    do = split_heads(dy @ params["wo"].T, cache["heads"])
    J = np.einsum("bhts,su->bhtsu", p, np.eye(p.shape[-1])) - p[..., :, None] * p[..., None, :]
    dp = np.einsum("bhtd,bhsd->bhts", do, v)
    ds = np.einsum("bhtsu,bhtu->bhts", J, dp) / np.sqrt(q.shape[-1])
    dq = merge_heads(np.einsum("bhts,bhsd->bhtd", ds, k))
    dk = merge_heads(np.einsum("bhts,bhtd->bhsd", ds, q))
    dv = merge_heads(np.einsum("bhts,bhtd->bhsd", p, do))
    parts = np.stack([dq, dk, dv])
    inward = np.stack([params["wq"], params["wk"], params["wv"]])
    dw = np.einsum("bti,pbtj->pij", x, parts)
    grads = dict(zip(("wq", "wk", "wv"), dw, strict=True), wo=np.einsum("bti,btj->ij", joined, dy))
    return np.einsum("pbtj,pij->bti", parts, inward), grads
