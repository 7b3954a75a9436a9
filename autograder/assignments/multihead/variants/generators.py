"""Generators: heads, routes and gradients are yielded one at a time and gathered at the end."""

import itertools

import numpy as np

from attention import attention, attention_backward


def pieces(x, heads):
    width = x.shape[2] // heads
    for start in range(0, x.shape[2], width):
        yield x[:, :, start : start + width]


def split_heads(x, heads):
    if isinstance(heads, bool) or not isinstance(heads, (int, np.integer)):
        raise TypeError("heads must be an integer")
    if x.ndim != 3:
        raise ValueError("x must have three axes")
    if heads < 1 or x.shape[2] % heads:
        raise ValueError("heads must divide the channels")
    return np.stack(tuple(pieces(x, heads)), axis=1)


def merge_heads(h):
    if h.ndim != 4:
        raise ValueError("h must have four axes")
    rows = (np.hstack(list(tokens)) for tokens in h)
    return np.stack(list(rows))


def multihead(x, params, heads, allowed):
    x = x if x.dtype.kind == "f" else x.astype("float64")

    def projections():
        for name in ("wq", "wk", "wv"):
            yield split_heads(x @ params[name], heads)

    q, k, v = projections()
    out, inner = attention(q, k, v, allowed)
    joined = merge_heads(out)
    return joined @ params["wo"], {"x": x, "heads": heads, "attention": inner, "joined": joined}


def outers(inputs, grads):
    for b, t in itertools.product(range(inputs.shape[0]), range(inputs.shape[1])):
        yield inputs[b, t][:, None] * grads[b, t][None, :]


def multihead_backward(cache, params, dy):
    inner = attention_backward(cache["attention"], split_heads(dy @ params["wo"].T, cache["heads"]))

    def routes():
        for letter in ("q", "k", "v"):
            part = merge_heads(inner[letter])
            yield f"w{letter}", sum(outers(cache["x"], part)), part @ params[f"w{letter}"].T

    names, grads, ways = zip(*routes(), strict=True)
    found = dict(zip(names, grads, strict=True))
    found["wo"] = sum(outers(cache["joined"], dy))
    return sum(ways), found
