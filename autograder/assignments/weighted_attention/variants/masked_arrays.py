"""Masked arrays inside, plain ones outside: np.ma hides the keys, filled(0) brings the weights back."""

import numpy as np


def causal_mask(seq):
    if isinstance(seq, (bool, np.bool_)) or not isinstance(seq, (int, np.integer)):
        raise TypeError("an integer, please")
    if seq < 1:
        raise ValueError("at least one token")
    rows, columns = np.indices((seq, seq))
    return columns <= rows


def attention(q, k, v, allowed):
    q, k, v = (np.asarray(a, dtype=None if a.dtype.kind == "f" else np.float64) for a in (q, k, v))
    scores = np.matmul(q, np.moveaxis(k, -1, -2)) / np.sqrt(q.shape[-1])
    hidden = np.ma.masked_array(scores, np.broadcast_to(~allowed, scores.shape))
    if np.any(np.all(np.ma.getmaskarray(hidden), axis=-1)):
        raise ValueError("all keys of a query are hidden")
    powers = np.ma.exp(hidden - hidden.max(axis=-1, keepdims=True))
    p = np.array((powers / powers.sum(axis=-1, keepdims=True)).filled(0))
    return np.matmul(p, v), {"q": q, "k": k, "v": v, "weights": p, "scores": hidden}


def attention_backward(cache, dout):
    p, scores = cache["weights"], cache["scores"]
    dp = np.ma.masked_array(np.matmul(dout, np.moveaxis(cache["v"], -1, -2)), np.ma.getmaskarray(scores))
    ds = np.asarray((p * (dp - (p * dp).sum(axis=-1, keepdims=True))).filled(0)) / np.sqrt(dout.shape[-1])
    turned = np.moveaxis(ds, -1, -2), np.moveaxis(p, -1, -2)
    return {
        "q": np.matmul(ds, cache["k"]),
        "k": np.matmul(turned[0], cache["q"]),
        "v": np.matmul(turned[1], dout),
    }


def weighted_attention(x, params, allowed):
    x = np.asarray(x, dtype=None if x.dtype.kind == "f" else np.float64)
    out, inner = attention(x.dot(params["wq"]), x.dot(params["wk"]), x.dot(params["wv"]), allowed)
    return out.dot(params["wo"]), {"x": x, "attention": inner, "out": out}


def weighted_attention_backward(cache, params, dy):
    d = attention_backward(cache["attention"], dy.dot(params["wo"].T))
    dx = d["q"].dot(params["wq"].T) + d["k"].dot(params["wk"].T) + d["v"].dot(params["wv"].T)
    pairs = {"wq": (cache["x"], d["q"]), "wk": (cache["x"], d["k"]), "wv": (cache["x"], d["v"])}
    pairs["wo"] = (cache["out"], dy)
    return dx, {name: np.tensordot(a, b, ((0, 1), (0, 1))) for name, (a, b) in pairs.items()}
