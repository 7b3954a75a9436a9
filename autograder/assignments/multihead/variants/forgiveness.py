"""Easier to ask forgiveness: whatever NumPy complains about becomes a ValueError."""

import numpy as np

from attention import attention, attention_backward


def split_heads(x, heads):
    try:
        if isinstance(heads, bool):
            raise TypeError("True is no number of heads")
        (batch, seq, channels), parts = x.shape, range(heads)
        width, rest = divmod(channels, len(parts))
        if rest:
            raise ValueError("channels are left over")
        return np.stack([x[:, :, n * width :][:, :, :width] for n in parts], axis=1).reshape(
            batch, heads, seq, width
        )
    except (ArithmeticError, TypeError, AttributeError, IndexError) as problem:
        raise ValueError("x and heads do not fit each other") from problem


def merge_heads(h):
    try:
        batch, heads, seq, width = h.shape
    except (ValueError, AttributeError) as problem:
        raise TypeError("h must have four axes") from problem
    return np.swapaxes(h, 1, 2).reshape(batch, seq, heads * width)


def multihead(x, params, heads, allowed):
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        x = np.true_divide(x, 1)
        q, k, v = (split_heads(x @ params[name], heads) for name in ("wq", "wk", "wv"))
        out, inner = attention(q, k, v, allowed)
        joined = merge_heads(out)
        return joined @ params["wo"], {"x": x, "heads": heads, "attention": inner, "joined": joined}


def multihead_backward(cache, params, dy):
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        inner = attention_backward(cache["attention"], split_heads(dy @ params["wo"].T, cache["heads"]))
        try:
            return _gather(cache, params, dy, [merge_heads(inner[name]) for name in "qkv"])
        finally:
            del inner


def _gather(cache, params, dy, parts):
    grads = {"wo": np.einsum("bti,btj->ij", cache["joined"], dy)}
    for name, part in zip(("wq", "wk", "wv"), parts, strict=True):
        grads[name] = np.einsum("bti,btj->ij", cache["x"], part)
    first, second, third = (
        part @ params[name].T for name, part in zip(("wq", "wk", "wv"), parts, strict=True)
    )
    return first + second + third, grads
