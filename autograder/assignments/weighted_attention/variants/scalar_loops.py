"""One number at a time, in loops over lists of Python floats: as slow as an honest solution can be."""

import math

import numpy as np

SLOW = True


def causal_mask(seq):
    if isinstance(seq, bool) or not isinstance(seq, (int, np.integer)):
        raise TypeError("seq must be an integer")
    if seq <= 0:
        raise ValueError("seq must be positive")
    mask = np.zeros((seq, seq), dtype=bool)
    for i in range(seq):
        for j in range(i + 1):
            mask[i, j] = True
    return mask


def attention(q, k, v, allowed):
    rounded = np.float32 if q.dtype == np.float32 else np.float64
    leading, T, S, d = q.shape[:-2], q.shape[-2], k.shape[-2], q.shape[-1]
    allowed = np.broadcast_to(allowed, (*leading, T, S))
    weights, out = np.zeros((*leading, T, S)), np.zeros((*leading, T, d))
    for index in np.ndindex(leading):
        a, b, c = q[index].tolist(), k[index].tolist(), v[index].tolist()
        for t in range(T):
            scores = []
            for s in range(S):
                dot = 0.0
                for i in range(d):
                    dot += a[t][i] * b[s][i]
                scores.append(dot / math.sqrt(d) if allowed[index][t, s] else -math.inf)
            largest = max(scores)
            if largest == -math.inf:
                raise ValueError("no key for a query")
            powers = [math.exp(score - largest) for score in scores]
            total = math.fsum(powers)
            gathered = [0.0] * d
            for s in range(S):
                weights[(*index, t, s)] = powers[s] / total
                for i in range(d):
                    gathered[i] += powers[s] / total * c[s][i]
            out[(*index, t)] = gathered
    cache = {"q": q.astype(rounded), "k": k.astype(rounded), "v": v.astype(rounded)}
    return out.astype(rounded), {**cache, "weights": weights.astype(rounded)}


def attention_backward(cache, dout):
    q, k, v, weights = cache["q"], cache["k"], cache["v"], cache["weights"]
    T, d, S = q.shape[-2], q.shape[-1], k.shape[-2]
    dq, dk, dv = np.zeros(q.shape), np.zeros(k.shape), np.zeros(v.shape)
    for index in np.ndindex(q.shape[:-2]):
        a, b, c = q[index].tolist(), k[index].tolist(), v[index].tolist()
        p, g = weights[index].tolist(), dout[index].tolist()
        for t in range(T):
            dp = [sum(g[t][i] * c[s][i] for i in range(d)) for s in range(S)]
            mean = sum(p[t][s] * dp[s] for s in range(S))
            for s in range(S):
                ds = p[t][s] * (dp[s] - mean) / math.sqrt(d)
                dq[(*index, t)] += [ds * number for number in b[s]]
                dk[(*index, s)] += [ds * number for number in a[t]]
                dv[(*index, s)] += [p[t][s] * number for number in g[t]]
    return {"q": dq, "k": dk, "v": dv}


def times(a, w):
    """Return a @ w for a of shape (B, T, C) and a matrix w."""
    B, T, C = a.shape
    result = np.zeros((B, T, w.shape[1]))
    columns = w.T.tolist()
    for b in range(B):
        for t in range(T):
            row = a[b, t].tolist()
            for j, column in enumerate(columns):
                result[b, t, j] = sum(row[i] * column[i] for i in range(C))
    return result


def outer(a, c):
    grad = np.zeros((a.shape[2], c.shape[2]))
    for b in range(a.shape[0]):
        for t in range(a.shape[1]):
            for i in range(a.shape[2]):
                for j in range(c.shape[2]):
                    grad[i, j] += a[b, t, i] * c[b, t, j]
    return grad


def weighted_attention(x, params, allowed):
    x = x.astype(float)
    out, inner = attention(*(times(x, params[name]) for name in ("wq", "wk", "wv")), allowed)
    return times(out, params["wo"]), {"x": x, "attention": inner, "out": out}


def weighted_attention_backward(cache, params, dy):
    x = cache["x"]
    inner = attention_backward(cache["attention"], times(dy, params["wo"].T))
    grads, dx = {"wo": outer(cache["out"], dy)}, np.zeros(x.shape)
    for name in "qkv":
        grads["w" + name] = outer(x, inner[name])
        dx += times(inner[name], params["w" + name].T)
    return dx, grads
