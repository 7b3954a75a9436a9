"""Keyword arguments, defaults and annotations; every call names its arguments."""

from typing import Any

import numpy as np

from attention import attention, attention_backward


def split_heads(x: np.ndarray, heads: int = 1, *, copy: bool = False) -> np.ndarray:
    if isinstance(heads, bool) or not isinstance(heads, (int, np.integer)):
        raise TypeError(f"heads={heads!r}: an integer is wanted")
    if x.ndim != 3:
        raise ValueError(f"x.ndim={x.ndim}: three axes are wanted")
    if heads < 1 or x.shape[2] % heads:
        raise ValueError(f"heads={heads}: a divisor of {x.shape[2]} is wanted")
    split = np.transpose(np.reshape(x, (x.shape[0], x.shape[1], heads, -1)), axes=(0, 2, 1, 3))
    return split.copy() if copy else split


def merge_heads(h: np.ndarray, **options: Any) -> np.ndarray:
    if h.ndim != 4:
        raise ValueError(f"h.ndim={h.ndim}: four axes are wanted")
    merged = np.transpose(h, axes=(0, 2, 1, 3))
    return np.reshape(merged, (h.shape[0], h.shape[2], -1), **options)


def multihead(
    x: np.ndarray, params: dict[str, np.ndarray], heads: int, allowed: np.ndarray, verbose: bool = False
) -> tuple[np.ndarray, dict[str, Any]]:
    x = x.astype(dtype=x.dtype if np.issubdtype(x.dtype, np.floating) else np.float64, copy=True)
    parts = {
        name: split_heads(x=np.matmul(x, params[f"w{name}"]), heads=heads, copy=True)
        for name in ("v", "k", "q")
    }
    out, inner = attention(allowed=allowed, **parts)
    joined = merge_heads(h=out, order="C")
    if verbose:
        print(joined.shape)
    return np.matmul(joined, params["wo"]), dict(x=x, heads=heads, attention=inner, joined=joined)


def multihead_backward(
    cache: dict[str, Any], params: dict[str, np.ndarray], dy: np.ndarray, *, scale: float = 1.0
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    dy = np.multiply(dy, scale, dtype=np.result_type(dy, cache["x"]))
    dout = split_heads(x=np.matmul(dy, params["wo"].T), heads=cache["heads"])
    inner = attention_backward(cache=cache["attention"], dout=dout)
    parts = {f"w{name}": merge_heads(h=grad) for name, grad in inner.items()}
    grads = {name: np.einsum("bti,btj->ij", cache["x"], part) for name, part in parts.items()}
    grads.update(wo=np.einsum("bti,btj->ij", cache["joined"], dy))
    return np.add.reduce([np.matmul(part, params[name].T) for name, part in parts.items()], axis=0), grads
