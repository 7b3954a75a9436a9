"""Weighted attention in NumPy with its backward pass: the reference of the assignment ``weighted_attention``.

Axes: B ``batch``, T ``seq`` (time), S the keys' time, d the width of a query, C ``d_model``. Linear maps are
written ``x @ w`` and have no biases. The notebook's solution cells hold this same code, and so does
``source/multihead/attention.py``, which hands the result of this lesson on to the next; a test keeps it so.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from jaxtyping import Bool, Num

Params = Mapping[str, Num[np.ndarray, "d_model d_model"]]
Cache = dict[str, Any]


def causal_mask(seq: int | np.integer[Any]) -> Bool[np.ndarray, "seq seq"]:
    """Who may look at whom in a sequence that is read from its start: each token at itself and those before.

    Raises:
        TypeError: ``seq`` is not an integer (a bool is none).
        ValueError: ``seq`` is not positive.

    >>> causal_mask(3).tolist()
    [[True, False, False], [True, True, False], [True, True, True]]
    """
    if isinstance(seq, bool) or not isinstance(seq, (int, np.integer)):
        raise TypeError(f"seq must be an integer, not {seq!r}")
    if seq < 1:
        raise ValueError(f"seq must be positive, not {seq}")
    time = np.arange(seq)
    return time[:, None] >= time


def attention(
    q: Num[np.ndarray, "*leading T d"],
    k: Num[np.ndarray, "*leading S d"],
    v: Num[np.ndarray, "*leading S d"],
    allowed: Bool[np.ndarray, "*mask"],
) -> tuple[Num[np.ndarray, "*leading T d"], Cache]:
    r"""Let every query gather values from the keys that it may look at.

    $$ W = \mathrm{softmax}(Q K^\top / \sqrt{d}), \qquad \text{out} = W V $$

    Args:
        q: queries. Integers are computed in float64; float32 stays float32.
        k: keys.
        v: values, one for each key.
        allowed: of shape (T, S), or any shape that broadcasts to (..., T, S): True where the query (row) may
            look at the key (column); no row without a True.

    Returns:
        out, and a cache for ``attention_backward``: "q", "k" and "v" as computed with, "weights" (W above, of
        shape (..., T, S), zero where a key is not allowed).

    Raises:
        ValueError: ``allowed`` does not fit the scores, or leaves a query without any key.

    >>> q = np.ones((2, 4, 3, 5))
    >>> out, cache = attention(q, q, q, causal_mask(3))
    >>> out.shape, cache["weights"].shape
    ((2, 4, 3, 5), (2, 4, 3, 3))
    >>> cache["weights"][0, 0, 1].tolist()
    [0.5, 0.5, 0.0]
    """
    q, k, v = (one if np.issubdtype(one.dtype, np.inexact) else one.astype(np.float64) for one in (q, k, v))
    scores = q @ np.swapaxes(k, -1, -2) / q.shape[-1] ** 0.5
    try:
        allowed = np.broadcast_to(np.asarray(allowed, dtype=bool), scores.shape)
    except ValueError:
        raise ValueError(
            f"allowed has shape {np.shape(allowed)}, but the scores have shape {scores.shape}: "
            "are the last two axes of q, k and v time and feature?"
        ) from None
    if not np.all(np.any(allowed, axis=-1)):
        raise ValueError("allowed has a row without any True: that query has no key to look at")
    scores = np.where(allowed, scores, -np.inf)
    # The largest score of each row becomes 0, so that exp never overflows: scores of 10000 are no problem.
    powers = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
    weights = powers / np.sum(powers, axis=-1, keepdims=True)
    return weights @ v, {"q": q, "k": k, "v": v, "weights": weights}


def attention_backward(
    cache: Cache, dout: Num[np.ndarray, "*leading T d"]
) -> dict[str, Num[np.ndarray, "*leading time d"]]:
    r"""Gradients of ``sum(out * dout)`` with respect to the queries, the keys and the values.

    $$ dV = W^\top\,d\text{out}, \qquad dW = d\text{out}\,V^\top $$
    $$ dS = W \odot \bigl(dW - \textstyle\sum_{\text{keys}} W \odot dW\bigr) $$
    $$ dQ = dS\,K / \sqrt{d}, \qquad dK = dS^\top Q / \sqrt{d} $$

    Args:
        cache: the second result of ``attention``; it is left as it is.
        dout: the gradient that arrives at ``out``.

    Returns:
        A dict with the keys "q", "k" and "v"; each gradient has the shape of what it belongs to.

    >>> q = np.ones((2, 4, 3, 5))
    >>> out, cache = attention(q, q, q, causal_mask(3))
    >>> {name: grad.shape for name, grad in attention_backward(cache, out).items()}
    {'q': (2, 4, 3, 5), 'k': (2, 4, 3, 5), 'v': (2, 4, 3, 5)}
    """
    q, k, v, weights = cache["q"], cache["k"], cache["v"], cache["weights"]
    dout = dout.astype(np.result_type(dout, weights))  # integers become floats before any product
    grad_weights = dout @ np.swapaxes(v, -1, -2)
    # Where a key is not allowed its weight is zero, and so is the gradient of its score.
    grad_scores = weights * (grad_weights - np.sum(weights * grad_weights, axis=-1, keepdims=True))
    grad_scores = grad_scores / q.shape[-1] ** 0.5
    return {
        "q": grad_scores @ k,
        "k": np.swapaxes(grad_scores, -1, -2) @ q,
        "v": np.swapaxes(weights, -1, -2) @ dout,
    }


def weighted_attention(
    x: Num[np.ndarray, "batch seq d_model"], params: Params, allowed: Bool[np.ndarray, "seq seq"]
) -> tuple[Num[np.ndarray, "batch seq d_model"], Cache]:
    r"""Self-attention in which three matrices give every token a query, a key and a value of its own.

    $$ Y = \text{out}\,W_O, \qquad \text{out} = \mathrm{attention}(X W_Q,\ X W_K,\ X W_V) $$

    Args:
        x: one vector per token. Integers are computed in float64; float32 stays float32.
        params: the matrices "wq", "wk", "wv" and "wo".
        allowed: True where the query (row) may look at the key (column); no row without a True.

    Returns:
        y, and a cache for ``weighted_attention_backward``: "x" as computed with, "attention" (the cache of
        ``attention``), "out" (what every token gathered, of shape batch seq d_model).

    >>> i = np.eye(2)
    >>> params = {"wq": i, "wk": i, "wv": 2 * i, "wo": np.array([[1, 1], [0, 1]])}
    >>> y, cache = weighted_attention(np.array([[[1, 2]]]), params, causal_mask(1))
    >>> y.tolist(), cache["out"].tolist()
    ([[[2.0, 6.0]]], [[[2.0, 4.0]]])
    """
    if not np.issubdtype(x.dtype, np.inexact):
        x = x.astype(np.float64)
    out, attention_cache = attention(x @ params["wq"], x @ params["wk"], x @ params["wv"], allowed)
    y = out @ params["wo"]
    return y, {"x": x, "attention": attention_cache, "out": out}


def weighted_attention_backward(
    cache: Cache, params: Params, dy: Num[np.ndarray, "batch seq d_model"]
) -> tuple[Num[np.ndarray, "batch seq d_model"], dict[str, Num[np.ndarray, "d_model d_model"]]]:
    r"""Gradients of ``sum(y * dy)`` with respect to x and the four matrices.

    $$ d\text{out} = dY\,W_O^\top, \qquad dW_O = \sum_{b,t} \text{out}_{bt} \otimes dY_{bt} $$
    $$ dW_Q = \sum_{b,t} X_{bt} \otimes dQ_{bt} \quad\text{(K and V alike)}, \qquad
       dX = dQ\,W_Q^\top + dK\,W_K^\top + dV\,W_V^\top $$

    Sums over batch and time, never averages: an average, if any, is already in ``dy``.

    Args:
        cache: the second result of ``weighted_attention``; it is left as it is.
        params: the same matrices as in the forward pass.
        dy: the gradient that arrives at y.

    Returns:
        dx, and a dict with the gradients "wq", "wk", "wv" and "wo".

    >>> i = np.eye(2)
    >>> params = {"wq": i, "wk": i, "wv": 2 * i, "wo": np.array([[1, 1], [0, 1]])}
    >>> y, cache = weighted_attention(np.array([[[1, 2]]]), params, causal_mask(1))
    >>> dx, grads = weighted_attention_backward(cache, params, np.array([[[3, 5]]]))
    >>> dx.tolist(), grads["wo"].tolist()
    ([[[16.0, 10.0]]], [[6.0, 10.0], [12.0, 20.0]])
    """
    x, out = cache["x"], cache["out"]
    dy = dy.astype(np.result_type(dy, out))  # integers become floats before any product
    grad = attention_backward(cache["attention"], dy @ params["wo"].T)
    grads = {
        "wq": np.einsum("bti,btj->ij", x, grad["q"]),
        "wk": np.einsum("bti,btj->ij", x, grad["k"]),
        "wv": np.einsum("bti,btj->ij", x, grad["v"]),
        "wo": np.einsum("bti,btj->ij", out, dy),
    }
    dx = grad["q"] @ params["wq"].T + grad["k"] @ params["wk"].T + grad["v"] @ params["wv"].T
    return dx, grads
