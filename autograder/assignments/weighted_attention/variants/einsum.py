"""Everything by einsum, with an ellipsis for the leading axes."""

import numpy as np


def causal_mask(seq):
    if isinstance(seq, bool) or not isinstance(seq, (int, np.integer)) or seq < 1:
        raise ValueError("seq must be a positive integer")
    return np.tri(seq, dtype=bool)


def attention(q, k, v, allowed):
    q, k, v = (a if a.dtype.kind == "f" else a.astype(float) for a in (q, k, v))
    s = np.einsum("...td,...sd->...ts", q, k) / q.shape[-1] ** 0.5
    ok = np.broadcast_to(allowed, s.shape)
    if not ok.any(axis=-1).all():
        raise ValueError("a query has no key")
    s = np.where(ok, s, -np.inf)
    p = np.exp(s - s.max(axis=-1, keepdims=True))
    p /= np.einsum("...ts->...t", p)[..., None]
    return np.einsum("...ts,...sd->...td", p, v), {"q": q, "k": k, "v": v, "weights": p}


def attention_backward(cache, dout):
    q, k, v, p = (cache[name] for name in ("q", "k", "v", "weights"))
    dp = np.einsum("...td,...sd->...ts", dout, v)
    ds = p * (dp - np.einsum("...ts,...ts->...t", p, dp)[..., None]) / q.shape[-1] ** 0.5
    return {
        "q": np.einsum("...ts,...sd->...td", ds, k),
        "k": np.einsum("...ts,...td->...sd", ds, q),
        "v": np.einsum("...ts,...td->...sd", p, dout),
    }


def weighted_attention(x, params, allowed):
    x = x if x.dtype.kind == "f" else x.astype(float)
    q, k, v = (np.einsum("btc,cd->btd", x, params[name]) for name in ("wq", "wk", "wv"))
    out, inner = attention(q, k, v, allowed)
    return np.einsum("btc,cd->btd", out, params["wo"]), {"x": x, "attention": inner, "out": out}


def weighted_attention_backward(cache, params, dy):
    x = cache["x"]
    inner = attention_backward(cache["attention"], np.einsum("btd,cd->btc", dy, params["wo"]))
    grads = {"w" + name: np.einsum("bti,btj->ij", x, inner[name]) for name in "qkv"}
    grads["wo"] = np.einsum("bti,btj->ij", cache["out"], dy)
    dx = sum(np.einsum("btd,cd->btc", inner[name], params["w" + name]) for name in "qkv")
    return dx, grads
