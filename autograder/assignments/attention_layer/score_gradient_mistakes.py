"""Mistakes seen in the backward pass of attention: scale, softmax, and which way a table lies.

They are those of a function ``attention_backward(cache, dout)``, where the cache holds q, k, v and weights; a
layer that does the same by itself borrows them.
"""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from autograder.checking.mistakes import MistakeSet

from .score_mistakes import Array, softmax

Cache = dict[str, Array]

mistakes = MistakeSet("attention_backward")


def scores_of(cache: Cache) -> Array:
    """The scores, which the cache does not hold."""
    return np.asarray(cache["q"] @ cache["k"].swapaxes(-1, -2) / np.sqrt(cache["q"].shape[-1]))


def by_softmax(cache: Cache, dout: Array, jacobian: Callable[[Array, Array], Array]) -> dict[str, Array]:
    """The right backward pass around a softmax gradient of one's own: ``jacobian(weights, dweights)``."""
    q, k, v, weights = (cache[name] for name in ("q", "k", "v", "weights"))
    scores = jacobian(weights, dout @ v.swapaxes(-1, -2)) / np.sqrt(q.shape[-1])
    return {"q": scores @ k, "k": scores.swapaxes(-1, -2) @ q, "v": weights.swapaxes(-1, -2) @ dout}


def grad_scores(cache: Cache, dout: Array) -> Array:
    """The right gradient of q @ k^T."""
    weights = cache["weights"]
    grad_weights = dout @ cache["v"].swapaxes(-1, -2)
    inner = weights * (grad_weights - np.sum(weights * grad_weights, axis=-1, keepdims=True))
    return np.asarray(inner / np.sqrt(cache["q"].shape[-1]))


@mistakes.add(
    hint="The scores were divided by a number on the way forward: where does it come back?",
    seen="courses",
)
def scale_left_out(right: ModuleType, cache: Cache, dout: Array) -> Any:
    """The scale is a constant, and constants have no gradient."""
    grads, root = right.attention_backward(cache, dout), np.sqrt(dout.shape[-1])
    return {**grads, "q": grads["q"] * root, "k": grads["k"] * root}


@mistakes.add(
    hint="Are queries and keys treated alike in the score?",
    seen="courses",
)
def scale_on_queries_only(right: ModuleType, cache: Cache, dout: Array) -> Any:
    """The scale belongs to the queries alone."""
    grads = right.attention_backward(cache, dout)
    return {**grads, "k": grads["k"] * np.sqrt(dout.shape[-1])}


@mistakes.add(
    hint="When one score of a row grows, what happens to the other weights of that row?",
    seen="deeplearning4j/libnd4j#440",
)
def softmax_diagonal_only(right: ModuleType, cache: Cache, dout: Array) -> Any:
    """The derivative of a softmax is w * (1 - w)."""
    return by_softmax(cache, dout, lambda w, dw: w * (1 - w) * dw)


@mistakes.add(
    hint="The weights of a row always sum to one: what does that say about the gradients of its scores?",
    seen="HomericIntelligence/Odyssey#2134",
)
def softmax_sum_missing(right: ModuleType, cache: Cache, dout: Array) -> Any:
    """The derivative of a softmax is w, as that of exp is exp."""
    return by_softmax(cache, dout, lambda w, dw: w * dw)


@mistakes.add(
    hint="What lies between the scores and the weights?",
    seen="courses",
)
def softmax_left_out(right: ModuleType, cache: Cache, dout: Array) -> Any:
    """What arrives at the weights arrives at the scores."""
    return by_softmax(cache, dout, lambda w, dw: dw)


@mistakes.add(
    hint="Along which axis were the weights normalised?",
    seen="courses",
)
def softmax_sum_over_queries(right: ModuleType, cache: Cache, dout: Array) -> Any:
    """The sum in the derivative of the softmax runs down the columns."""
    return by_softmax(cache, dout, lambda w, dw: w * (dw - np.sum(w * dw, axis=-2, keepdims=True)))


@mistakes.add(
    hint="Which keys had no weight on the way forward?",
    seen="courses",
)
def weights_without_mask(right: ModuleType, cache: Cache, dout: Array) -> Any:
    """The backward pass computes the weights anew, as softmax of the scores, and needs no mask for that."""
    return right.attention_backward({**cache, "weights": softmax(scores_of(cache))}, dout)


@mistakes.add(
    hint="What is np.exp(1000.0)?",
    seen="courses",
)
def weights_without_maximum(right: ModuleType, cache: Cache, dout: Array) -> Any:
    """The backward pass computes the weights anew, with exponentials of the scores as they are."""
    powers = np.where(cache["weights"] > 0, np.exp(scores_of(cache)), 0)
    return right.attention_backward({**cache, "weights": powers / powers.sum(axis=-1, keepdims=True)}, dout)


@mistakes.add(
    hint="Rows of the scores belong to queries: how must the table lie to speak to the keys?",
    seen="courses",
)
def scores_not_transposed(right: ModuleType, cache: Cache, dout: Array) -> Any:
    """Keys get their gradient from the score table as it lies, as queries do."""
    grads = right.attention_backward(cache, dout)
    return {**grads, "k": grad_scores(cache, dout) @ cache["q"]}


@mistakes.add(
    hint="Which tokens have gathered a value, and which token does its gradient belong to?",
    seen="courses",
)
def weights_not_transposed(right: ModuleType, cache: Cache, dout: Array) -> Any:
    """Values get their gradient by the weights as they lie."""
    return {**right.attention_backward(cache, dout), "v": cache["weights"] @ dout}


@mistakes.add(
    hint="Does y depend on wq and wk?",
    seen="paiml/aprender#2203",
)
def weights_are_constants(right: ModuleType, cache: Cache, dout: Array) -> Any:
    """The weights are known numbers, so that nothing flows back to queries and keys."""
    grads = right.attention_backward(cache, dout)
    return {**grads, "q": np.zeros_like(grads["q"]), "k": np.zeros_like(grads["k"])}
