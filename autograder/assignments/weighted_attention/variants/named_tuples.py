"""Named tuples: the pairs of results have names, and what a step needs travels in one."""

from collections import namedtuple

import numpy as np

Attended = namedtuple("Attended", "out cache")
Answer = namedtuple("Answer", "y cache")
Gradients = namedtuple("Gradients", "dx grads")


def causal_mask(seq):
    if isinstance(seq, bool) or not isinstance(seq, (int, np.integer)):
        raise TypeError("seq must be an integer")
    if seq < 1:
        raise ValueError("seq must be positive")
    mask = np.ones((seq, seq), dtype=bool)
    mask[np.triu_indices(seq, k=1)] = False
    return mask


def attention(q, k, v, allowed):
    q, k, v = (np.true_divide(a, 1) for a in (q, k, v))
    scores = np.matmul(q, k.swapaxes(-1, -2)) * (1 / np.sqrt(q.shape[-1]))
    visible = np.broadcast_to(allowed, scores.shape)
    if not visible.any(axis=-1).all():
        raise ValueError("every query needs a key")
    peak = np.max(scores, axis=-1, keepdims=True, where=visible, initial=-np.inf)
    powers = np.exp(scores - peak, where=visible, out=np.zeros_like(scores))
    weights = powers / powers.sum(axis=-1, keepdims=True)
    return Attended(weights @ v, {"q": q, "k": k, "v": v, "weights": weights})


def attention_backward(cache, dout):
    weights = cache["weights"]
    d_weights = dout @ cache["v"].swapaxes(-1, -2)
    d_scores = weights * d_weights
    d_scores = d_scores - weights * d_scores.sum(axis=-1, keepdims=True)
    d_scores = d_scores * (1 / np.sqrt(cache["q"].shape[-1]))
    return {
        "q": d_scores @ cache["k"],
        "k": d_scores.swapaxes(-1, -2) @ cache["q"],
        "v": weights.swapaxes(-1, -2) @ dout,
    }


def weighted_attention(x, params, allowed):
    x = np.true_divide(x, 1)
    attended = attention(x @ params["wq"], x @ params["wk"], x @ params["wv"], allowed)
    return Answer(attended.out @ params["wo"], {"x": x, "attention": attended.cache, "out": attended.out})


def weighted_attention_backward(cache, params, dy):
    inner = attention_backward(cache["attention"], dy @ params["wo"].T)
    batches = lambda a, b: (a.swapaxes(1, 2) @ b).sum(axis=0)
    grads = {f"w{name}": batches(cache["x"], grad) for name, grad in inner.items()}
    dx = np.sum([grad @ params[f"w{name}"].T for name, grad in inner.items()], axis=0)
    return Gradients(dx, {**grads, "wo": batches(cache["out"], dy)})
