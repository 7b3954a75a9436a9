"""What the module should answer, by NumPy alone, head by head: a formula that shares nothing with PyTorch.

Axes as in the reference: B batch, T seq of the queries, S of the keys, H heads, d head_dim, C d_model.
Weights lie as ``nn.Linear`` keeps them: ``y = x @ weight.T + bias``, so that rows h*d to (h+1)*d - 1 of a
projection belong to head h. The gradients are those of the chain rule; tests certify them.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
#: The projections, in the order of ``forward``'s arguments.
PROJECTIONS = ("query", "key", "value")


def split(x: Array, heads: int) -> Array:
    """(B, T, C) -> (B, H, T, d): head h has channels h*d to (h+1)*d - 1."""
    return np.stack(np.split(x, heads, axis=-1), axis=1)


def combine(x: Array) -> Array:
    """(B, H, T, d) -> (B, T, C): the inverse of ``split``."""
    return np.concatenate([x[:, head] for head in range(x.shape[1])], axis=-1)


def weights_of(query: Array, key: Array, mask: Array | None) -> Array:
    """The weights (..., T, S) of queries (..., T, d) for keys (..., S, d)."""
    scores = np.einsum("...td,...sd->...ts", query, key) / np.sqrt(query.shape[-1])
    if mask is not None:
        scores = np.where(np.broadcast_to(mask, scores.shape) != 0, scores, -np.inf)
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True))


def attention(query: Array, key: Array, value: Array, mask: Array | None) -> Array:
    """What every query gathers, (..., T, d)."""
    return np.asarray(np.einsum("...ts,...sd->...td", weights_of(query, key, mask), value))


def attention_gradients(
    query: Array, key: Array, value: Array, mask: Array | None, dout: Array
) -> tuple[Array, Array, Array]:
    """The gradients of sum(out * dout) with respect to queries, keys and values."""
    weights = weights_of(query, key, mask)
    dweights = np.einsum("...td,...sd->...ts", dout, value)
    dscores = weights * (dweights - np.einsum("...ts,...ts->...t", weights, dweights)[..., None])
    dscores /= np.sqrt(query.shape[-1])
    return (
        np.einsum("...ts,...sd->...td", dscores, key),
        np.einsum("...ts,...td->...sd", dscores, query),
        np.einsum("...ts,...td->...sd", weights, dout),
    )


def forward(
    weights: Mapping[str, Array], heads: int, inputs: Mapping[str, Array], mask: Array | None
) -> Array:
    """The module's answer (B, T, C); ``weights`` by their names in ``state_dict``, ``inputs`` by argument."""
    y = np.zeros_like(inputs["query"]) + weights["output.bias"]
    for part, own_mask in zip(_parts(weights, heads), _masks(mask, heads), strict=True):
        q, k, v = (inputs[name] @ weights[f"{name}.weight"][part].T for name in PROJECTIONS)
        y = y + attention(q, k, v, own_mask) @ weights["output.weight"][:, part].T
    return y


def gradients(
    weights: Mapping[str, Array], heads: int, inputs: Mapping[str, Array], mask: Array | None, dy: Array
) -> dict[str, Array]:
    """The gradients of sum(y * dy) with respect to all inputs and weights, by the same names."""
    grads = {name: np.zeros_like(one) for name, one in {**inputs, **weights}.items()}
    grads["output.bias"] += dy.sum(axis=(0, 1))
    for part, own_mask in zip(_parts(weights, heads), _masks(mask, heads), strict=True):
        q, k, v = (inputs[name] @ weights[f"{name}.weight"][part].T for name in PROJECTIONS)
        gathered = attention(q, k, v, own_mask)
        grads["output.weight"][:, part] += np.einsum("bto,btd->od", dy, gathered)
        dgathered = dy @ weights["output.weight"][:, part]
        parts = attention_gradients(q, k, v, own_mask, dgathered)
        for name, grad in zip(PROJECTIONS, parts, strict=True):
            grads[f"{name}.weight"][part] += np.einsum("btd,btc->dc", grad, inputs[name])
            grads[name] += grad @ weights[f"{name}.weight"][part]
    return grads


def _parts(weights: Mapping[str, Array], heads: int) -> list[slice]:
    width = weights["output.bias"].shape[0] // heads
    return [slice(head * width, (head + 1) * width) for head in range(heads)]


def _masks(mask: Array | None, heads: int) -> list[Array | None]:
    """The mask of each head, (T, S) or (B, T, S)."""
    if mask is None or mask.ndim == 2:
        return [mask] * heads
    return [mask[:, head % mask.shape[1]] for head in range(heads)]
