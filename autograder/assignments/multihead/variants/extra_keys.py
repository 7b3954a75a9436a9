"""A cache, and gradients, with far more keys than asked for, of all kinds; attention is an empty dict."""

import datetime

import numpy as np

from attention import attention, attention_backward


def split_heads(x, heads):
    if isinstance(heads, bool) or not isinstance(heads, (int, np.integer)):
        raise TypeError("heads must be an int")
    if len(x.shape) != 3:
        raise ValueError("three axes")
    if heads < 1 or x.shape[2] % heads:
        raise ValueError("not divisible")
    return x.reshape(*x.shape[:2], heads, x.shape[2] // heads).transpose(0, 2, 1, 3)


def merge_heads(h):
    if len(h.shape) != 4:
        raise ValueError("four axes")
    return h.transpose(0, 2, 1, 3).reshape(h.shape[0], h.shape[2], h.shape[1] * h.shape[3])


def multihead(x, params, heads, allowed):
    xf = x.astype(np.float64) if x.dtype.kind in "iu" else x
    Q, K, V = xf @ params["wq"], xf @ params["wk"], xf @ params["wv"]
    q, k, v = split_heads(Q, heads), split_heads(K, heads), split_heads(V, heads)
    out, inner = attention(q, k, v, allowed)
    joined = merge_heads(out)
    y = joined @ params["wo"]
    cache = {
        "y": y,
        "Q": Q,
        "K": K,
        "V": V,
        "q": q,
        "k": k,
        "v": v,
        "out": out,
        "inner": inner,
        "x": xf,
        "original x": x,
        "heads": heads,
        "joined": joined,
        "attention": {},
        "params": params,
        "allowed": allowed,
        "shape": x.shape,
        "when": datetime.date(2024, 2, 29),
        "softmax": lambda s: np.exp(s) / np.exp(s).sum(),
        "note": "über\tdas\nWetter" * 500,
        7: {1, 2},
        (1, 2): None,
        "nothing": None,
        "empty": np.zeros((0, 3)),
        "text": np.array(["a", "b"]),
        "nan": float("nan"),
        "big": 10**40,
        "complex": 1j,
        "type": np.float32,
        "slice": np.s_[1:2],
    }
    return y, cache


def multihead_backward(cache, params, dy):
    x = cache["x"]
    inner = attention_backward(cache["inner"], split_heads(dy @ params["wo"].T, cache["heads"]))
    dQ, dK, dV = (merge_heads(inner[name]) for name in "qkv")
    routes = [dQ @ params["wq"].T, dK @ params["wk"].T, dV @ params["wv"].T]
    grads = {
        "wq": np.einsum("bti,btj->ij", x, dQ),
        "wk": np.einsum("bti,btj->ij", x, dK),
        "wv": np.einsum("bti,btj->ij", x, dV),
        "wo": np.einsum("bti,btj->ij", cache["joined"], dy),
        "x": sum(routes),
        "routes": routes,
        "max": lambda: 1,
        "params": params,
        "nan": np.full(3, np.nan),
    }
    return grads["x"], grads
