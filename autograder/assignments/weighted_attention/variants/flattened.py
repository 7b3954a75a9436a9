"""All leading axes made one, and a loop over it; one product for Q, K and V in the layer."""

import numpy as np


def causal_mask(seq):
    if isinstance(seq, bool) or not isinstance(seq, (int, np.integer)):
        raise TypeError("seq must be an integer")
    if seq < 1:
        raise ValueError("seq must be positive")
    return np.stack([np.arange(seq) <= t for t in range(seq)])


def attention(q, k, v, allowed):
    q, k, v = (a.astype(float if a.dtype.kind != "f" else a.dtype) for a in (q, k, v))
    shape = (*q.shape[:-1], k.shape[-2])
    masks = np.broadcast_to(allowed, shape).reshape(-1, *shape[-2:])
    flat = [a.reshape(-1, *a.shape[-2:]) for a in (q, k, v)]
    weights, out = np.empty(masks.shape, q.dtype), np.empty(flat[0].shape, q.dtype)
    for i, (one, keys, values, ok) in enumerate(zip(*flat, masks, strict=True)):
        if not all(line.any() for line in ok):
            raise ValueError("a line of the mask is empty")
        scores = np.where(ok, one @ keys.T / np.sqrt(q.shape[-1]), -np.inf)
        powers = np.exp(scores.T - scores.max(axis=1)).T
        weights[i] = powers / powers.sum(axis=1, keepdims=True)
        out[i] = weights[i] @ values
    return out.reshape(q.shape), {"q": q, "k": k, "v": v, "weights": weights.reshape(shape)}


def attention_backward(cache, dout):
    parts = [cache[name].reshape(-1, *cache[name].shape[-2:]) for name in ("q", "k", "v", "weights")]
    grads = {name: np.empty(part.shape, part.dtype) for name, part in zip("qkv", parts, strict=False)}
    for i, (q, k, v, w, d) in enumerate(zip(*parts, dout.reshape(parts[0].shape), strict=True)):
        dw = d @ v.T
        ds = w * (dw.T - np.einsum("ts,ts->t", w, dw)).T / np.sqrt(q.shape[1])
        grads["q"][i], grads["k"][i], grads["v"][i] = ds @ k, ds.T @ q, w.T @ d
    return {name: grads[name].reshape(cache[name].shape) for name in "qkv"}


def weighted_attention(x, params, allowed):
    rows = x.reshape(-1, x.shape[2])
    rows = rows if rows.dtype.kind == "f" else rows.astype(np.float64)
    qkv = rows @ np.c_[params["wq"], params["wk"], params["wv"]]
    out, inner = attention(*(part.reshape(x.shape) for part in np.hsplit(qkv, 3)), allowed)
    y = (out.reshape(rows.shape) @ params["wo"]).reshape(x.shape)
    return y, {"x": rows.reshape(x.shape), "attention": inner, "out": out}


def weighted_attention_backward(cache, params, dy):
    shape = dy.shape
    flat = dy.reshape(-1, shape[2])
    d = attention_backward(cache["attention"], (flat @ params["wo"].T).reshape(shape))
    d_qkv = np.c_[tuple(d[name].reshape(-1, shape[2]) for name in "qkv")]
    dx = d_qkv @ np.r_[params["wq"].T, params["wk"].T, params["wv"].T]
    d_wq, d_wk, d_wv = np.hsplit(cache["x"].reshape(-1, shape[2]).T @ d_qkv, 3)
    wo = cache["out"].reshape(-1, shape[2]).T @ flat
    return dx.reshape(shape), {"wq": d_wq, "wk": d_wk, "wv": d_wv, "wo": wo}
