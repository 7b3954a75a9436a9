"""Mistakes seen in ``multihead_backward`` between joined and Q, K, V: heads, softmax, scale."""

from types import ModuleType
from typing import Any

import numpy as np

from autograder.checking.mistakes import MistakeSet

from .backward_parts import Array, Cache, Params, finish, finish_by_softmax, parts_of

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
    hint="By what did the forward pass divide?",
    seen="courses",
)
def scale_d_model(right: ModuleType, cache: Cache, params: Params, dy: Array) -> Any:
    """The gradients of the scores are divided by the square root of d_model."""
    parts = parts_of(right, cache, params, dy)
    ratio = 1 / np.sqrt(cache["heads"])
    return finish(cache, params, dy, parts.q * ratio, parts.k * ratio, parts.v)


@mistakes.add(
    hint="When one score of a row grows, what happens to the other weights of that row?",
    seen="eclipse/libnd4j#440",
)
def softmax_diagonal_only(right: ModuleType, cache: Cache, params: Params, dy: Array) -> Any:
    """The derivative of a softmax is w * (1 - w)."""
    return finish_by_softmax(right, cache, params, dy, lambda w, dw: w * (1 - w) * dw)


@mistakes.add(
    hint="The weights of a row always sum to one: what does that say about the gradients of its scores?",
    seen="zkMLOps/Odyssey#2134",
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
    seen="NVIDIA/aprender#2203",
)
def weights_are_constants(right: ModuleType, cache: Cache, params: Params, dy: Array) -> Any:
    """The weights are known numbers, so that nothing flows back to queries and keys."""
    parts = parts_of(right, cache, params, dy)
    return finish(cache, params, dy, np.zeros_like(parts.q), np.zeros_like(parts.k), parts.v)
