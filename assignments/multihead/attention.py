"""Scaled dot-product attention with its backward pass: the result of the lesson ``weighted_attention``.

The last two axes are time and feature. Everything before them (batch, heads, or nothing at all) is carried
along: each (batch, head) pair gets its own table of weights, computed independently of all others.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def attention(q: Array, k: Array, v: Array, allowed: NDArray[np.bool_]) -> tuple[Array, dict[str, Array]]:
    r"""Let every query gather values from the keys that it may look at.

    $$ W = \mathrm{softmax}(Q K^\top / \sqrt{d}), \qquad \text{out} = W V $$

    Args:
        q: queries, shape (..., T, d); usually (B, H, T, d).
        k: keys, shape (..., S, d); S = T when queries and keys come from the same sequence.
        v: values, shape (..., S, d).
        allowed: booleans of shape (T, S), or any shape that broadcasts to (..., T, S). True where the query
            (row) may look at the key (column). Every row needs at least one True.

    Returns:
        out: shape (..., T, d).
        cache: what ``attention_backward`` needs: q, k, v and the weights of shape (..., T, S).

    Integers are computed in float64; float32 stays float32.

    Raises:
        ValueError: ``allowed`` does not fit the scores, or leaves a query without any key.

    >>> q = np.ones((2, 4, 3, 5))
    >>> out, cache = attention(q, q, q, np.tri(3, dtype=bool))
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


def attention_backward(cache: dict[str, Array], dout: Array) -> dict[str, Array]:
    r"""Gradients of ``sum(out * dout)`` with respect to the queries, the keys and the values.

    $$ dV = W^\top\,d\text{out}, \qquad dW = d\text{out}\,V^\top $$
    $$ dS = W \odot \bigl(dW - \textstyle\sum_{\text{keys}} W \odot dW\bigr) $$
    $$ dQ = dS\,K / \sqrt{d}, \qquad dK = dS^\top Q / \sqrt{d} $$

    Args:
        cache: the second result of ``attention``; it is left as it is.
        dout: the gradient that arrives at ``out``, shape (..., T, d).

    Returns:
        A dict with the keys "q", "k" and "v"; each gradient has the shape of what it belongs to.

    >>> q = np.ones((2, 4, 3, 5))
    >>> out, cache = attention(q, q, q, np.tri(3, dtype=bool))
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
