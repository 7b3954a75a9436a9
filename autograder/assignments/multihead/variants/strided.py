"""Windows into memory by as_strided: heads are cut out without moving a number, and shown with gaps."""

import numpy as np
from numpy.lib.stride_tricks import as_strided

from attention import attention, attention_backward


def split_heads(x, heads):
    if isinstance(heads, bool):
        raise TypeError("heads: a bool")
    if not isinstance(heads, (int, np.integer)):
        raise TypeError("heads: no integer")
    batch, seq, channels = x.shape
    if heads < 1 or channels % heads:
        raise ValueError("heads must divide the channels")
    width = channels // heads
    s_batch, s_seq, s_channel = x.strides
    window = as_strided(
        x, (batch, heads, seq, width), (s_batch, width * s_channel, s_seq, s_channel), writeable=False
    )
    return window


def merge_heads(h):
    batch, heads, seq, width = h.shape
    room = np.zeros((batch, seq, heads, 2 * width), h.dtype)[..., ::2]
    room[...] = h.swapaxes(1, 2)
    wide = np.zeros((batch, seq, 3 * heads * width), h.dtype)[..., ::3]
    wide[...] = room.reshape(batch, seq, heads * width)
    return wide


def multihead(x, params, heads, allowed):
    if not np.issubdtype(x.dtype, np.floating):
        x = x.astype(np.float64)
    q, k, v = (split_heads(np.ascontiguousarray(x @ params[name]), heads) for name in ("wq", "wk", "wv"))
    out, inner = attention(q, k, v, allowed)
    joined = merge_heads(out)
    return (joined @ params["wo"])[::-1][::-1], {"x": x, "heads": heads, "attention": inner, "joined": joined}


def multihead_backward(cache, params, dy):
    x, joined, heads = cache["x"], cache["joined"], cache["heads"]
    upstream = np.ascontiguousarray(dy @ params["wo"].T)
    inner = attention_backward(cache["attention"], split_heads(upstream, heads))
    dq, dk, dv = (merge_heads(inner[name]) for name in "qkv")
    rows = x.reshape(-1, x.shape[-1]).T
    grads = {
        "wq": rows @ dq.reshape(len(dy) * dy.shape[1], -1),
        "wk": rows @ dk.reshape(len(dy) * dy.shape[1], -1),
        "wv": rows @ dv.reshape(len(dy) * dy.shape[1], -1),
        "wo": joined.reshape(-1, x.shape[-1]).T @ dy.reshape(-1, x.shape[-1]),
    }
    dx = dq @ params["wq"].T + dk @ params["wk"].T + dv @ params["wv"].T
    return dx[..., ::-1][..., ::-1], grads
