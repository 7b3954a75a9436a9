"""Layer normalisation in NumPy with its backward pass: the reference of the assignment ``layernorm``."""

from typing import Any

import numpy as np
from jaxtyping import Float

Cache = dict[str, Any]
Tokens = Float[np.ndarray, "tokens channels"]
Channels = Float[np.ndarray, "channels"]


def layernorm(x: Tokens, gamma: Channels, beta: Channels, eps: float) -> tuple[Tokens, Cache]:
    r"""Bring every token to mean 0 and variance 1, then scale and shift its channels.

    $$ Y = \gamma \odot \hat X + \beta, \qquad \hat X = (X - \mu) / \sqrt{\sigma^2 + \varepsilon} $$
    """
    centred = x - x.mean(axis=-1, keepdims=True)
    deviation = np.sqrt(np.mean(centred**2, axis=-1, keepdims=True) + eps)
    normalised = centred / deviation
    return gamma * normalised + beta, {"normalised": normalised, "deviation": deviation, "gamma": gamma}


def layernorm_backward(cache: Cache, dy: Tokens) -> tuple[Tokens, Channels, Channels]:
    r"""Gradients of ``sum(y * dy)`` for x, gamma and beta.

    $$ dX = (G - \overline{G} - \hat X \odot \overline{G \odot \hat X}) / \sqrt{\sigma^2 + \varepsilon},
       \qquad G = dY \odot \gamma $$
    """
    normalised, deviation = cache["normalised"], cache["deviation"]
    g = dy * cache["gamma"]
    dx = g - g.mean(axis=-1, keepdims=True) - normalised * np.mean(g * normalised, axis=-1, keepdims=True)
    return dx / deviation, np.sum(dy * normalised, axis=0), np.sum(dy, axis=0)
