"""Nothing that leaves a function can be written to: answers, caches, even the dicts."""

import types

import numpy as np

from attention import attention, attention_backward


def sealed(array):
    array = np.array(array)
    array.setflags(write=False)
    return array


def split_heads(x, heads):
    if isinstance(heads, bool) or not isinstance(heads, (int, np.integer)):
        raise TypeError("heads")
    if x.ndim != 3:
        raise ValueError("x")
    if heads < 1 or x.shape[2] % heads:
        raise ValueError("heads")
    return sealed(x.reshape(x.shape[0], x.shape[1], heads, -1).transpose(0, 2, 1, 3))


def merge_heads(h):
    if h.ndim != 4:
        raise ValueError("h")
    return sealed(h.transpose(0, 2, 1, 3).reshape(h.shape[0], h.shape[2], -1))


def multihead(x, params, heads, allowed):
    x = sealed(x if x.dtype.kind == "f" else x / 1)
    q, k, v = (split_heads(x @ params[name], heads) for name in ("wq", "wk", "wv"))
    out, inner = attention(q, k, v, sealed(allowed))
    joined = merge_heads(out)
    inner = {name: sealed(array) for name, array in inner.items()}
    cache = {"x": x, "heads": heads, "attention": types.MappingProxyType(inner), "joined": joined}
    return sealed(joined @ params["wo"]), types.MappingProxyType(cache)


def multihead_backward(cache, params, dy):
    x = cache["x"]
    inner = attention_backward(cache["attention"], split_heads(dy @ params["wo"].T, cache["heads"]))
    dq, dk, dv = merge_heads(inner["q"]), merge_heads(inner["k"]), merge_heads(inner["v"])
    grads = {
        "wq": sealed(np.einsum("bti,btj->ij", x, dq)),
        "wk": sealed(np.einsum("bti,btj->ij", x, dk)),
        "wv": sealed(np.einsum("bti,btj->ij", x, dv)),
        "wo": sealed(np.einsum("bti,btj->ij", cache["joined"], dy)),
    }
    dx = sealed(dq @ params["wq"].T + dk @ params["wk"].T + dv @ params["wv"].T)
    return dx, types.MappingProxyType(grads)
