"""Multi-head attention in NumPy with its backward pass: the reference of the assignment ``multihead``.

Axes: B ``batch``, T ``seq`` (time), H ``heads``, d ``d_head``, C = H*d ``d_model``. Linear maps are written
``x @ w`` and have no biases. The notebook's solution cells hold this same code; a test keeps it so.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from jaxtyping import Bool, Num

from attention import attention, attention_backward

Params = Mapping[str, Num[np.ndarray, "d_model d_model"]]
Cache = dict[str, Any]


def split_heads(
    x: Num[np.ndarray, "batch seq d_model"], heads: int | np.integer[Any]
) -> Num[np.ndarray, "batch heads seq d_head"]:
    """Deal the channels out to the heads: head h gets channels h*d .. (h+1)*d - 1 of every token.

    Raises:
        TypeError: ``heads`` is not an integer (a bool is none).
        ValueError: ``x`` does not have three axes, or ``heads`` is not positive or does not divide d_model.

    >>> h = split_heads(np.arange(8).reshape(1, 2, 4), 2)
    >>> h.shape
    (1, 2, 2, 2)
    >>> h[0, 0].tolist(), h[0, 1].tolist()
    ([[0, 1], [4, 5]], [[2, 3], [6, 7]])
    """
    if isinstance(heads, bool) or not isinstance(heads, (int, np.integer)):
        raise TypeError(f"heads must be an integer, not {heads!r}")
    if x.ndim != 3:
        raise ValueError(f"x must have three axes (batch, seq, d_model), not the shape {x.shape}")
    batch, seq, d_model = x.shape
    if heads < 1 or d_model % heads != 0:
        raise ValueError(f"{d_model} channels cannot be dealt out evenly to {heads} heads")
    # The reshape may only cut the last axis in two; a reshape straight to (B, H, T, d) would cut across time.
    return x.reshape(batch, seq, heads, d_model // heads).transpose(0, 2, 1, 3)


def merge_heads(h: Num[np.ndarray, "batch heads seq d_head"]) -> Num[np.ndarray, "batch seq d_model"]:
    """Put the heads' channels side by side again: the exact inverse of ``split_heads``.

    Raises:
        ValueError: ``h`` does not have four axes.

    >>> merge_heads(np.array([[[[0, 1], [4, 5]], [[2, 3], [6, 7]]]])).tolist()
    [[[0, 1, 2, 3], [4, 5, 6, 7]]]
    """
    if h.ndim != 4:
        raise ValueError(f"h must have four axes (batch, heads, seq, d_head), not the shape {h.shape}")
    batch, heads, seq, d_head = h.shape
    return h.transpose(0, 2, 1, 3).reshape(batch, seq, heads * d_head)


def multihead(
    x: Num[np.ndarray, "batch seq d_model"],
    params: Params,
    heads: int | np.integer[Any],
    allowed: Bool[np.ndarray, "seq seq"],
) -> tuple[Num[np.ndarray, "batch seq d_model"], Cache]:
    r"""Self-attention in ``heads`` heads with an output projection.

    $$ Y = J W_O, \qquad J = \mathrm{merge}(\mathrm{attention}(
       \mathrm{split}(X W_Q), \mathrm{split}(X W_K), \mathrm{split}(X W_V))) $$

    Args:
        x: one vector per token. Integers are computed in float64; float32 stays float32.
        params: the matrices "wq", "wk", "wv" and "wo".
        heads: how many heads share the d_model channels.
        allowed: True where the query (row) may look at the key (column); no row without a True.

    Returns:
        y, and a cache for ``multihead_backward``: "x" as computed with, "heads", "attention" (the cache of
        the given ``attention``), "joined" (J above, of shape batch seq d_model).

    Raises:
        TypeError, ValueError: as ``split_heads``.

    >>> i = np.eye(2)
    >>> params = {"wq": i, "wk": i, "wv": 2 * i, "wo": np.array([[1, 1], [0, 1]])}
    >>> y, cache = multihead(np.array([[[1, 2]]]), params, 1, np.array([[True]]))
    >>> y.tolist(), cache["joined"].tolist()
    ([[[2.0, 6.0]]], [[[2.0, 4.0]]])
    """
    if not np.issubdtype(x.dtype, np.inexact):
        x = x.astype(np.float64)
    q = split_heads(x @ params["wq"], heads)
    k = split_heads(x @ params["wk"], heads)
    v = split_heads(x @ params["wv"], heads)
    out, attention_cache = attention(q, k, v, allowed)
    joined = merge_heads(out)
    y = joined @ params["wo"]
    return y, {"x": x, "heads": heads, "attention": attention_cache, "joined": joined}


def multihead_backward(
    cache: Cache, params: Params, dy: Num[np.ndarray, "batch seq d_model"]
) -> tuple[Num[np.ndarray, "batch seq d_model"], dict[str, Num[np.ndarray, "d_model d_model"]]]:
    r"""Gradients of ``sum(y * dy)`` with respect to x and the four matrices.

    $$ dJ = dY\,W_O^\top, \qquad dW_O = \sum_{b,t} J_{bt} \otimes dY_{bt} $$
    $$ dW_Q = \sum_{b,t} X_{bt} \otimes dQ_{bt} \quad\text{(K and V alike)}, \qquad
       dX = dQ\,W_Q^\top + dK\,W_K^\top + dV\,W_V^\top $$

    Sums over batch and time, never averages: an average, if any, is already in ``dy``.

    Args:
        cache: the second result of ``multihead``; it is left as it is.
        params: the same matrices as in the forward pass.
        dy: the gradient that arrives at y.

    Returns:
        dx, and a dict with the gradients "wq", "wk", "wv" and "wo".

    >>> i = np.eye(2)
    >>> params = {"wq": i, "wk": i, "wv": 2 * i, "wo": np.array([[1, 1], [0, 1]])}
    >>> y, cache = multihead(np.array([[[1, 2]]]), params, 1, np.array([[True]]))
    >>> dx, grads = multihead_backward(cache, params, np.array([[[3, 5]]]))
    >>> dx.tolist(), grads["wo"].tolist()
    ([[[16.0, 10.0]]], [[6.0, 10.0], [12.0, 20.0]])
    """
    x, joined = cache["x"], cache["joined"]
    dy = dy.astype(np.result_type(dy, joined))  # integers become floats before any product
    grad_joined = dy @ params["wo"].T
    grad_heads = attention_backward(cache["attention"], split_heads(grad_joined, cache["heads"]))
    grad_q = merge_heads(grad_heads["q"])
    grad_k = merge_heads(grad_heads["k"])
    grad_v = merge_heads(grad_heads["v"])
    grads = {
        "wq": np.einsum("bti,btj->ij", x, grad_q),
        "wk": np.einsum("bti,btj->ij", x, grad_k),
        "wv": np.einsum("bti,btj->ij", x, grad_v),
        "wo": np.einsum("bti,btj->ij", joined, dy),
    }
    dx = grad_q @ params["wq"].T + grad_k @ params["wk"].T + grad_v @ params["wv"].T
    return dx, grads
