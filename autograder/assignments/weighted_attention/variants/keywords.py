"""Keyword arguments, defaults and annotations; every call names its arguments."""

from collections.abc import Mapping

import numpy as np


def causal_mask(seq: int, *, offset: int = 0, dtype: type = bool) -> np.ndarray:
    if isinstance(seq, bool) or not isinstance(seq, (int, np.integer)):
        raise TypeError(f"{seq=}")
    if seq < 1:
        raise ValueError(f"{seq=}")
    return np.tri(seq, k=offset, dtype=dtype)


def softmax(scores: np.ndarray, *, where: np.ndarray, axis: int = -1) -> np.ndarray:
    if not np.any(a=where, axis=axis).all():
        raise ValueError("nothing to choose from")
    peak = np.max(a=scores, axis=axis, keepdims=True, where=where, initial=-np.inf)
    powers = np.where(where, np.exp(np.minimum(scores - peak, 0)), 0)
    return powers / np.sum(a=powers, axis=axis, keepdims=True)


def attention(q: np.ndarray, k: np.ndarray, v: np.ndarray, allowed: np.ndarray) -> tuple[np.ndarray, dict]:
    q, k, v = (np.asarray(a=a, dtype=a.dtype if a.dtype.kind == "f" else np.float64) for a in (q, k, v))
    scores = np.matmul(q, np.swapaxes(a=k, axis1=-1, axis2=-2)) / np.sqrt(q.shape[-1])
    weights = softmax(scores, where=np.broadcast_to(array=allowed, shape=scores.shape))
    return np.matmul(weights, v), {"q": q, "k": k, "v": v, "weights": weights}


def attention_backward(cache: Mapping[str, np.ndarray], dout: np.ndarray) -> dict[str, np.ndarray]:
    weights = cache["weights"]
    grad = np.matmul(dout, np.swapaxes(a=cache["v"], axis1=-1, axis2=-2))
    grad = weights * (grad - np.sum(a=weights * grad, axis=-1, keepdims=True)) / np.sqrt(dout.shape[-1])
    return {
        "q": np.matmul(grad, cache["k"]),
        "k": np.matmul(np.swapaxes(a=grad, axis1=-1, axis2=-2), cache["q"]),
        "v": np.matmul(np.swapaxes(a=weights, axis1=-1, axis2=-2), dout),
    }


def weighted_attention(x: np.ndarray, params: Mapping[str, np.ndarray], allowed: np.ndarray) -> tuple:
    x = np.asarray(a=x, dtype=x.dtype if x.dtype.kind == "f" else np.float64)
    roles = {name: np.matmul(x, params[f"w{name}"]) for name in ("q", "k", "v")}
    out, inner = attention(allowed=allowed, **roles)
    return np.matmul(out, params["wo"]), {"x": x, "attention": inner, "out": out}


def weighted_attention_backward(cache: Mapping, params: Mapping[str, np.ndarray], dy: np.ndarray) -> tuple:
    inner = attention_backward(cache=cache["attention"], dout=np.matmul(dy, params["wo"].T))
    grads = {f"w{name}": outer(inputs=cache["x"], gradient=inner[name]) for name in inner}
    grads["wo"] = outer(inputs=cache["out"], gradient=dy)
    return sum(np.matmul(inner[name], params[f"w{name}"].T) for name in inner), grads


def outer(*, inputs: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    return np.tensordot(a=inputs, b=gradient, axes=((0, 1), (0, 1)))
