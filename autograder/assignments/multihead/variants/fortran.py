"""Fortran order everywhere: all answers lie in memory with the first axis fastest, caches included."""

import numpy as np

from attention import attention, attention_backward


def split_heads(x, heads):
    if isinstance(heads, (bool, np.bool_)) or not isinstance(heads, (int, np.integer)):
        raise TypeError("heads must be an integer")
    if x.ndim != 3 or heads < 1 or x.shape[2] % heads:
        raise ValueError("x must be (B, T, C) with C divisible by heads")
    B, T, C = x.shape
    # In Fortran order the first axis runs fastest, so the cut of C comes as (d, heads).
    return np.asfortranarray(x.reshape(B, T, C // heads, heads, order="F").transpose(0, 3, 1, 2))


def merge_heads(h):
    if h.ndim != 4:
        raise ValueError("h must be (B, H, T, d)")
    B, H, T, d = h.shape
    return np.asfortranarray(h.transpose(0, 2, 3, 1)).reshape(B, T, d * H, order="F")


def multihead(x, params, heads, allowed):
    x = np.asfortranarray(x, dtype=x.dtype if x.dtype.kind == "f" else "d")
    w = {name: np.asfortranarray(matrix) for name, matrix in params.items()}
    q, k, v = (split_heads(x @ w[name], heads) for name in ("wq", "wk", "wv"))
    out, inner = attention(q, k, v, np.asfortranarray(allowed))
    joined = merge_heads(out)
    return np.asfortranarray(joined @ w["wo"]), {"x": x, "heads": heads, "attention": inner, "joined": joined}


def multihead_backward(cache, params, dy):
    x, joined = cache["x"], cache["joined"]
    inner = attention_backward(
        cache["attention"], split_heads(np.asfortranarray(dy @ params["wo"].T), cache["heads"])
    )
    parts = {f"w{name}": merge_heads(grad) for name, grad in inner.items()}
    grads = {name: np.asfortranarray(np.einsum("bti,btj->ij", x, part)) for name, part in parts.items()}
    grads["wo"] = np.asfortranarray(np.einsum("bti,btj->ij", joined, dy))
    dx = np.zeros(x.shape, x.dtype, order="F")
    for name, part in parts.items():
        dx += part @ params[name].T
    return dx, grads
