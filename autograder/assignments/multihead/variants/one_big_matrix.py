"""One product for Q, K and V: the three matrices side by side; everything else in two dimensions."""

import numpy as np

from attention import attention, attention_backward


def split_heads(x, heads):
    if isinstance(heads, bool) or not isinstance(heads, (int, np.integer)):
        raise TypeError("heads must be an integer")
    if x.ndim != 3:
        raise ValueError("x must have three axes")
    if heads < 1 or x.shape[-1] % heads:
        raise ValueError("heads must divide the channels")
    batch, seq, channels = x.shape
    tall = x.reshape(batch * seq * heads, channels // heads)
    return tall.reshape(batch, seq, heads, -1).transpose(0, 2, 1, 3)


def merge_heads(h):
    if h.ndim != 4:
        raise ValueError("h must have four axes")
    batch, heads, seq, width = h.shape
    tall = h.transpose(0, 2, 1, 3).reshape(batch * seq, heads * width)
    return tall.reshape(batch, seq, heads * width)


def multihead(x, params, heads, allowed):
    shape = x.shape
    rows = x.reshape(-1, shape[2])
    rows = rows if rows.dtype.kind == "f" else rows.astype(np.float64)
    qkv = rows @ np.c_[params["wq"], params["wk"], params["wv"]]
    parts = [part.reshape(shape) for part in np.array_split(qkv, 3, axis=1)]
    out, inner = attention(*(split_heads(part, heads) for part in parts), allowed)
    joined = merge_heads(out).reshape(rows.shape)
    y = (joined @ params["wo"]).reshape(shape)
    return y, {"x": rows.reshape(shape), "heads": heads, "attention": inner, "joined": joined.reshape(shape)}


def multihead_backward(cache, params, dy):
    shape = dy.shape
    rows, joined = cache["x"].reshape(-1, shape[2]), cache["joined"].reshape(-1, shape[2])
    flat = dy.reshape(-1, shape[2])
    inner = attention_backward(
        cache["attention"], split_heads((flat @ params["wo"].T).reshape(shape), cache["heads"])
    )
    d_qkv = np.c_[tuple(merge_heads(inner[name]).reshape(-1, shape[2]) for name in "qkv")]
    dx = d_qkv @ np.r_[params["wq"].T, params["wk"].T, params["wv"].T]
    dw = rows.T @ d_qkv
    d_wq, d_wk, d_wv = np.hsplit(dw, 3)
    return dx.reshape(shape), {"wq": d_wq, "wk": d_wk, "wv": d_wv, "wo": joined.T @ flat}
