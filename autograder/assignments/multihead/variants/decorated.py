"""Decorators check arguments, cast and count calls; the functions themselves are a line or two."""

import functools

import numpy as np

from attention import attention, attention_backward


def wants_axes(count):
    def decorate(function):
        @functools.wraps(function)
        def wrapper(array, *rest, **named):
            if array.ndim != count:
                raise ValueError(f"{function.__name__} wants {count} axes")
            return function(array, *rest, **named)

        return wrapper

    return decorate


def wants_divisor(function):
    @functools.wraps(function)
    def wrapper(x, heads):
        if isinstance(heads, bool) or not isinstance(heads, (int, np.integer)):
            raise TypeError("an integer, please")
        if heads < 1 or x.shape[-1] % heads:
            raise ValueError("a divisor, please")
        return function(x, heads)

    return wrapper


def counted(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        wrapper.calls += 1
        return function(*args, **kwargs)

    wrapper.calls = 0
    return wrapper


def in_floats(function):
    @functools.wraps(function)
    def wrapper(x, *rest):
        return function(x if x.dtype.kind == "f" else x.astype(np.float64), *rest)

    return wrapper


@counted
@wants_axes(3)
@wants_divisor
def split_heads(x, heads):
    return x.reshape(*x.shape[:2], heads, -1).transpose(0, 2, 1, 3)


@counted
@wants_axes(4)
def merge_heads(h):
    return h.transpose(0, 2, 1, 3).reshape(h.shape[0], h.shape[2], -1)


@counted
@in_floats
def multihead(x, params, heads, allowed):
    q, k, v = (split_heads(x @ params[name], heads) for name in ("wq", "wk", "wv"))
    out, inner = attention(q, k, v, allowed)
    joined = merge_heads(out)
    return joined @ params["wo"], {"x": x, "heads": heads, "attention": inner, "joined": joined}


@counted
def multihead_backward(cache, params, dy):
    inner = attention_backward(cache["attention"], split_heads(dy @ params["wo"].T, cache["heads"]))
    parts = {"w" + name: merge_heads(inner[name]) for name in "qkv"}
    grads = {name: np.einsum("bti,btj->ij", cache["x"], part) for name, part in parts.items()}
    dx = functools.reduce(np.add, (part @ params[name].T for name, part in parts.items()))
    return dx, grads | {"wo": np.einsum("bti,btj->ij", cache["joined"], dy)}
