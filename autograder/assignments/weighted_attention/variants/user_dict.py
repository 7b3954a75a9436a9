"""Results that are no dicts but answer to keys: a UserDict, and an object with __getitem__ alone."""

from collections import UserDict

import numpy as np


class Memory(UserDict):
    """What the backward pass needs."""


class Gradients:
    """Gradients that are computed when somebody asks for them."""

    def __init__(self, **makers):
        self._makers = makers

    def __getitem__(self, name):
        return self._makers[name]()


def causal_mask(seq):
    if isinstance(seq, bool) or not isinstance(seq, (int, np.integer)):
        raise TypeError("seq")
    if seq < 1:
        raise ValueError("seq")
    return np.tril(np.full((seq, seq), True))


def attention(q, k, v, allowed):
    q, k, v = (np.asarray(a, None if a.dtype.kind == "f" else float) for a in (q, k, v))
    s = q @ np.swapaxes(k, -2, -1) / q.shape[-1] ** 0.5
    s = np.where(np.broadcast_to(allowed, s.shape), s, -np.inf)
    top = s.max(axis=-1, keepdims=True)
    if np.any(top == -np.inf):
        raise ValueError("allowed")
    e = np.exp(s - top)
    w = e / e.sum(axis=-1, keepdims=True)
    return w @ v, Memory(q=q, k=k, v=v, weights=w)


def attention_backward(cache, dout):
    q, k, v, w = (cache[name] for name in ("q", "k", "v", "weights"))
    dout = dout.copy()
    dw = dout @ np.swapaxes(v, -2, -1)
    ds = w * (dw - np.sum(w * dw, axis=-1, keepdims=True)) / q.shape[-1] ** 0.5
    return Gradients(
        q=lambda: ds @ k, k=lambda: np.swapaxes(ds, -2, -1) @ q, v=lambda: np.swapaxes(w, -2, -1) @ dout
    )


def weighted_attention(x, params, allowed):
    x = np.asarray(x, None if x.dtype.kind == "f" else float)
    out, inner = attention(*(x @ params[name] for name in ("wq", "wk", "wv")), allowed)
    return out @ params["wo"], Memory(x=x, attention=inner, out=out)


def weighted_attention_backward(cache, params, dy):
    x, out, dy = cache["x"], cache["out"], dy.copy()
    d = attention_backward(cache["attention"], dy @ params["wo"].T)
    grads = Gradients(
        wq=lambda: np.einsum("bti,btj->ij", x, d["q"]),
        wk=lambda: np.einsum("bti,btj->ij", x, d["k"]),
        wv=lambda: np.einsum("bti,btj->ij", x, d["v"]),
        wo=lambda: np.einsum("bti,btj->ij", out, dy),
    )
    return d["q"] @ params["wq"].T + d["k"] @ params["wk"].T + d["v"] @ params["wv"].T, grads
