"""Classes with __call__: each function is an object that looks like one."""

import numpy as np

from attention import attention, attention_backward


class Split:
    """Deals channels out."""

    def __call__(self, x, heads):
        self.check(x, heads)
        batch, seq, channels = x.shape
        return x.reshape(batch, seq, heads, channels // heads).transpose(0, 2, 1, 3)

    @staticmethod
    def check(x, heads):
        if isinstance(heads, bool) or not isinstance(heads, (int, np.integer)):
            raise TypeError("heads must be an integer")
        if x.ndim != 3:
            raise ValueError("x must have three axes")
        if heads < 1 or x.shape[-1] % heads:
            raise ValueError("heads must divide the channels")


class Merge:
    """Puts channels together."""

    def __call__(self, h):
        if h.ndim != 4:
            raise ValueError("h must have four axes")
        batch, heads, seq, width = h.shape
        return h.transpose(0, 2, 1, 3).reshape(batch, seq, heads * width)


split_heads = Split()
merge_heads = Merge()


class Linear:
    """x @ w with its gradients."""

    def __init__(self, weight):
        self.weight = weight

    def __call__(self, x):
        return x @ self.weight

    def backward(self, x, grad):
        return grad @ self.weight.T, np.einsum("bti,btj->ij", x, grad)


class MultiHead:
    """The layer; without memory of its own."""

    inner = ("wq", "wk", "wv")

    def __call__(self, x, params, heads, allowed):
        x = x if np.issubdtype(x.dtype, np.floating) else x.astype(float)
        parts = [split_heads(Linear(params[name])(x), heads) for name in self.inner]
        out, cache = attention(*parts, allowed)
        joined = merge_heads(out)
        return Linear(params["wo"])(joined), {"x": x, "heads": heads, "attention": cache, "joined": joined}

    def backward(self, cache, params, dy):
        grads = {}
        d_joined, grads["wo"] = Linear(params["wo"]).backward(cache["joined"], dy)
        parts = attention_backward(cache["attention"], split_heads(d_joined, cache["heads"]))
        routes = []
        for name in self.inner:
            route, grads[name] = Linear(params[name]).backward(cache["x"], merge_heads(parts[name[1]]))
            routes.append(route)
        return np.sum(routes, axis=0), grads


multihead = MultiHead()
multihead_backward = multihead.backward
