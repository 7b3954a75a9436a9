"""Lambdas, functools.partial and operator: hardly a def, and no name for anything in between."""

import functools
import operator

import numpy as np

from attention import attention, attention_backward


def refuse(error, *_):
    raise error


_count = lambda heads: refuse(TypeError("bool")) if isinstance(heads, bool) else operator.index(heads)
_width = lambda channels, heads: (
    channels // heads if heads > 0 and channels % heads == 0 else refuse(ValueError("not divisible"))
)
_axes = lambda n, array: array if array.ndim == n else refuse(ValueError(f"{n} axes"))

split_heads = lambda x, heads: (
    _axes(3, x)
    .reshape(x.shape[0], x.shape[1], _count(heads), _width(x.shape[2], _count(heads)))
    .transpose(0, 2, 1, 3)
)
merge_heads = lambda h: (
    functools.partial(_axes, 4)(h)
    .transpose(0, 2, 1, 3)
    .reshape(h.shape[0], h.shape[2], h.shape[1] * h.shape[3])
)
_outer = functools.partial(np.einsum, "bti,btj->ij")
_floats = lambda x: x if x.dtype.kind == "f" else x * 1.0


def _forward(names, x, params, heads, allowed):
    out, inner = attention(*(split_heads(operator.matmul(x, params[name]), heads) for name in names), allowed)
    return (lambda joined: (joined @ params["wo"], dict(x=x, heads=heads, attention=inner, joined=joined)))(
        merge_heads(out)
    )


multihead = lambda x, *rest: functools.partial(_forward, ("wq", "wk", "wv"))(_floats(x), *rest)


def _backward(names, cache, params, dy):
    inner = attention_backward(cache["attention"], split_heads(dy @ params["wo"].T, cache["heads"]))
    parts = dict(zip(names, map(merge_heads, map(inner.get, "qkv")), strict=True))
    grads = dict(zip(names, map(functools.partial(_outer, cache["x"]), parts.values()), strict=True))
    dx = functools.reduce(operator.add, (parts[name] @ params[name].T for name in names))
    return dx, {**grads, "wo": _outer(cache["joined"], dy)}


multihead_backward = functools.partial(_backward, ("wq", "wk", "wv"))
