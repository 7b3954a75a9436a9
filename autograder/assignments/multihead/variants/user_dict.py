"""Results that are no dicts but answer to keys: a UserDict, and an object with __getitem__ alone."""

from collections import UserDict

import numpy as np

from attention import attention, attention_backward


class Memory(UserDict):
    """What the backward pass needs."""


class Gradients:
    """Gradients that are computed when somebody asks for them."""

    def __init__(self, **makers):
        self._makers = makers

    def __getitem__(self, name):
        return self._makers[name]()


def split_heads(x, heads):
    if isinstance(heads, bool) or not isinstance(heads, (int, np.integer)):
        raise TypeError("heads")
    if x.ndim != 3:
        raise ValueError("axes")
    if heads < 1 or x.shape[2] % heads:
        raise ValueError("divisor")
    return x.reshape(x.shape[0], x.shape[1], heads, x.shape[2] // heads).transpose(0, 2, 1, 3)


def merge_heads(h):
    if h.ndim != 4:
        raise ValueError("axes")
    return h.transpose(0, 2, 1, 3).reshape(h.shape[0], h.shape[2], h.shape[1] * h.shape[3])


def multihead(x, params, heads, allowed):
    x = np.asarray(x, None if x.dtype.kind == "f" else float)
    q, k, v = (split_heads(x @ params[name], heads) for name in ("wq", "wk", "wv"))
    out, inner = attention(q, k, v, allowed)
    joined = merge_heads(out)
    return joined @ params["wo"], Memory(x=x, heads=heads, attention=Memory(inner), joined=joined)


def multihead_backward(cache, params, dy):
    x, joined, dy = cache["x"], cache["joined"], dy.copy()
    inner = attention_backward(dict(cache["attention"]), split_heads(dy @ params["wo"].T, cache["heads"]))
    dq, dk, dv = (merge_heads(inner[name]) for name in "qkv")
    grads = Gradients(
        wq=lambda: np.einsum("bti,btj->ij", x, dq),
        wk=lambda: np.einsum("bti,btj->ij", x, dk),
        wv=lambda: np.einsum("bti,btj->ij", x, dv),
        wo=lambda: np.einsum("bti,btj->ij", joined, dy),
    )
    return dq @ params["wq"].T + dk @ params["wk"].T + dv @ params["wv"].T, grads
