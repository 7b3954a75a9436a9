"""Mistakes seen in ``multihead_backward`` between joined and Q, K, V: heads, softmax, scale."""

from types import ModuleType
from typing import Any

import numpy as np

from autograder.assignments.attention_layer.backward_parts import (
    Array,
    Cache,
    Params,
    finish,
    finish_by_softmax,
    parts_of,
)
from autograder.checking.mistakes import MistakeSet

from .forward_parts import scaled

mistakes = MistakeSet("multihead_backward")


@mistakes.add(
    hint="How were the channels dealt out on the way forward?",
    seen="courses",
)
def split_by_reshape(right: ModuleType, cache: Cache, params: Params, dy: Array) -> Any:
    """One reshape deals the gradient of joined out to the heads."""
    joined = dy @ params["wo"].T
    shape = right.split_heads(joined, cache["heads"]).shape
    heads = right.attention_backward(cache["attention"], joined.reshape(shape))
    return finish(cache, params, dy, *(right.merge_heads(heads[name]) for name in "qkv"))


@mistakes.add(
    hint="Which function undoes split_heads?",
    seen="courses",
)
def merged_by_reshape(right: ModuleType, cache: Cache, params: Params, dy: Array) -> Any:
    """One reshape brings the heads' gradients together."""
    joined = dy @ params["wo"].T
    heads = right.attention_backward(cache["attention"], right.split_heads(joined, cache["heads"]))
    return finish(cache, params, dy, *(heads[name].reshape(dy.shape) for name in "qkv"))


@mistakes.add(
    hint="Is a token's share in y divided among the heads, or does each head have channels of its own?",
    seen="courses",
)
def shared_among_heads(right: ModuleType, cache: Cache, params: Params, dy: Array) -> Any:
    """The heads have made y together, so each bears one H-th of the gradient."""
    parts = parts_of(right, cache, params, dy / cache["heads"])
    return finish(cache, params, dy, parts.q, parts.k, parts.v)


@mistakes.add(
    hint="The scores were divided by a number on the way forward: where does it come back?",
    seen="courses",
)
def scale_left_out(right: ModuleType, cache: Cache, params: Params, dy: Array) -> Any:
    """The scale is a constant, and constants have no gradient."""
    parts = parts_of(right, cache, params, dy)
    root = np.sqrt(dy.shape[-1] / cache["heads"])
    return finish(cache, params, dy, parts.q * root, parts.k * root, parts.v)


@mistakes.add(
    hint="Are queries and keys treated alike in the score?",
    seen="courses",
)
def scale_on_queries_only(right: ModuleType, cache: Cache, params: Params, dy: Array) -> Any:
    """The scale belongs to the queries alone."""
    parts = parts_of(right, cache, params, dy)
    root = np.sqrt(dy.shape[-1] / cache["heads"])
    return finish(cache, params, dy, parts.q, parts.k * root, parts.v)


@mistakes.add(
    hint="Does attention_backward divide by the square root of d already?",
    seen="courses",
)
def scale_twice(right: ModuleType, cache: Cache, params: Params, dy: Array) -> Any:
    """The gradients of queries and keys, as attention_backward returns them, still wait for the scale."""
    parts = parts_of(right, cache, params, dy)
    root = np.sqrt(dy.shape[-1] / cache["heads"])
    return finish(cache, params, dy, parts.q / root, parts.k / root, parts.v)


@mistakes.add(
    hint="By what did the forward pass divide?",
    seen="courses",
)
def scale_d_model(right: ModuleType, cache: Cache, params: Params, dy: Array) -> Any:
    """The gradients of the scores are divided by the square root of d_model."""
    parts = parts_of(right, cache, params, dy)
    ratio = 1 / np.sqrt(cache["heads"])
    return finish(cache, params, dy, parts.q * ratio, parts.k * ratio, parts.v)


def _forward_by_d_model(right: ModuleType, x: Array, params: Params, heads: int, allowed: Array) -> Any:
    return scaled(right, x, params, heads, allowed, 1 / np.sqrt(heads))


@mistakes.add(
    companions={"multihead": _forward_by_d_model},
    hint="Small steps show that the two passes fit each other: who says that the forward pass is right?",
    seen="courses",
)
def scale_d_model_in_both(right: ModuleType, cache: Cache, params: Params, dy: Array) -> Any:
    """The square root of d_model is right in both passes, since differences of the one confirm the other."""
    root = np.sqrt(cache["heads"])
    dx, grads = right.multihead_backward(cache, {**params, "wq": params["wq"] / root}, dy)
    return dx, {**grads, "wq": grads["wq"] / root}


@mistakes.add(
    hint="When one score of a row grows, what happens to the other weights of that row?",
    seen="deeplearning4j/libnd4j#440",
)
def softmax_diagonal_only(right: ModuleType, cache: Cache, params: Params, dy: Array) -> Any:
    """The derivative of a softmax is w * (1 - w)."""
    return finish_by_softmax(right, cache, params, dy, lambda w, dw: w * (1 - w) * dw)


@mistakes.add(
    hint="The weights of a row always sum to one: what does that say about the gradients of its scores?",
    seen="HomericIntelligence/Odyssey#2134",
)
def softmax_sum_missing(right: ModuleType, cache: Cache, params: Params, dy: Array) -> Any:
    """The derivative of a softmax is w, as that of exp is exp."""
    return finish_by_softmax(right, cache, params, dy, lambda w, dw: w * dw)


@mistakes.add(
    hint="What lies between the scores and the weights?",
    seen="courses",
)
def softmax_left_out(right: ModuleType, cache: Cache, params: Params, dy: Array) -> Any:
    """What arrives at the weights arrives at the scores."""
    return finish_by_softmax(right, cache, params, dy, lambda w, dw: dw)


@mistakes.add(
    hint="Along which axis were the weights normalised?",
    seen="courses",
)
def softmax_sum_over_queries(right: ModuleType, cache: Cache, params: Params, dy: Array) -> Any:
    """The sum in the derivative of the softmax runs down the columns."""
    return finish_by_softmax(
        right, cache, params, dy, lambda w, dw: w * (dw - np.sum(w * dw, axis=-2, keepdims=True))
    )


@mistakes.add(
    hint="Which keys had no weight on the way forward?",
    seen="courses",
)
def weights_without_mask(right: ModuleType, cache: Cache, params: Params, dy: Array) -> Any:
    """The backward pass computes the weights anew, as softmax of the scores, and needs no mask for that."""
    inner = cache["attention"]
    scores = inner["q"] @ inner["k"].swapaxes(-1, -2) / np.sqrt(inner["q"].shape[-1])
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = powers / powers.sum(axis=-1, keepdims=True)
    own = {**cache, "attention": {**inner, "weights": weights}}
    parts = parts_of(right, own, params, dy)
    return finish(cache, params, dy, parts.q, parts.k, parts.v)


@mistakes.add(
    hint="What is np.exp(1000.0)?",
    seen="courses",
)
def weights_without_maximum(right: ModuleType, cache: Cache, params: Params, dy: Array) -> Any:
    """The backward pass computes the weights anew, with exponentials of the scores as they are."""
    inner = cache["attention"]
    scores = inner["q"] @ inner["k"].swapaxes(-1, -2) / np.sqrt(inner["q"].shape[-1])
    powers = np.where(inner["weights"] > 0, np.exp(scores), 0)
    own = {**cache, "attention": {**inner, "weights": powers / powers.sum(axis=-1, keepdims=True)}}
    parts = parts_of(right, own, params, dy)
    return finish(cache, params, dy, parts.q, parts.k, parts.v)


@mistakes.add(
    hint="Rows of the scores belong to queries: how must the table lie to speak to the keys?",
    seen="courses",
)
def scores_not_transposed(right: ModuleType, cache: Cache, params: Params, dy: Array) -> Any:
    """Keys get their gradient from the score table as it lies, as queries do."""
    inner = cache["attention"]
    parts = parts_of(right, cache, params, dy)
    dout = right.split_heads(parts.joined, cache["heads"])
    dweights = dout @ inner["v"].swapaxes(-1, -2)
    weights = inner["weights"]
    scores = weights * (dweights - np.sum(weights * dweights, axis=-1, keepdims=True))
    keys = scores @ inner["q"] / np.sqrt(inner["q"].shape[-1])
    return finish(cache, params, dy, parts.q, right.merge_heads(keys), parts.v)


@mistakes.add(
    hint="Which tokens have gathered a value, and which token does its gradient belong to?",
    seen="courses",
)
def weights_not_transposed(right: ModuleType, cache: Cache, params: Params, dy: Array) -> Any:
    """Values get their gradient by the weights as they lie."""
    parts = parts_of(right, cache, params, dy)
    dout = right.split_heads(parts.joined, cache["heads"])
    values = right.merge_heads(cache["attention"]["weights"] @ dout)
    return finish(cache, params, dy, parts.q, parts.k, values)


@mistakes.add(
    hint="Does y depend on wq and wk?",
    seen="paiml/aprender#2203",
)
def weights_are_constants(right: ModuleType, cache: Cache, params: Params, dy: Array) -> Any:
    """The weights are known numbers, so that nothing flows back to queries and keys."""
    parts = parts_of(right, cache, params, dy)
    return finish(cache, params, dy, np.zeros_like(parts.q), np.zeros_like(parts.k), parts.v)
