"""Nothing that leaves a function can be written to: answers, caches, even the dicts."""

from types import MappingProxyType

import numpy as np


def frozen(array):
    array = np.array(array)
    array.setflags(write=False)
    return array


def causal_mask(seq):
    if isinstance(seq, bool) or not isinstance(seq, (int, np.integer)):
        raise TypeError("seq must be an integer")
    if seq < 1:
        raise ValueError("seq must be positive")
    return frozen(np.tri(seq, dtype=bool))


def attention(q, k, v, allowed):
    q, k, v = (frozen(a if a.dtype.kind == "f" else a.astype(float)) for a in (q, k, v))
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    if not np.broadcast_to(allowed, scores.shape).any(axis=-1).all():
        raise ValueError("allowed has an empty row")
    scores = np.where(allowed, scores, np.finfo(scores.dtype).min)
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = frozen(powers / powers.sum(axis=-1, keepdims=True))
    return frozen(weights @ v), MappingProxyType({"q": q, "k": k, "v": v, "weights": weights})


def attention_backward(cache, dout):
    q, k, v, w = cache["q"], cache["k"], cache["v"], cache["weights"]
    dw = dout @ v.swapaxes(-1, -2)
    ds = w * (dw - (dw * w).sum(axis=-1, keepdims=True)) / np.sqrt(q.shape[-1])
    grads = {"q": ds @ k, "k": ds.swapaxes(-1, -2) @ q, "v": w.swapaxes(-1, -2) @ dout}
    return MappingProxyType({name: frozen(grad) for name, grad in grads.items()})


def weighted_attention(x, params, allowed):
    x = frozen(x if x.dtype.kind == "f" else x.astype(float))
    out, inner = attention(x @ params["wq"], x @ params["wk"], x @ params["wv"], allowed)
    return frozen(out @ params["wo"]), MappingProxyType({"x": x, "attention": inner, "out": out})


def weighted_attention_backward(cache, params, dy):
    d = attention_backward(cache["attention"], dy @ params["wo"].T)
    grads = {"w" + name: np.einsum("bti,btj->ij", cache["x"], grad) for name, grad in d.items()}
    grads["wo"] = np.einsum("bti,btj->ij", cache["out"], dy)
    dx = frozen(sum(grad @ params["w" + name].T for name, grad in d.items()))
    return dx, MappingProxyType({name: frozen(grad) for name, grad in grads.items()})
