"""Mistakes seen in ``multihead_backward`` between joined and Q, K, V: heads, softmax, scale."""

from types import ModuleType
from typing import Any

import numpy as np

from autograder.assignments.attention_layer import score_gradient_mistakes
from autograder.assignments.attention_layer.backward_parts import (
    Array,
    Cache,
    Params,
    finish,
    parts_of,
)
from autograder.checking.mistakes import MistakeSet, WrongFunction

from .forward_parts import scaled

mistakes = MistakeSet("multihead_backward")


def with_attention_backward(
    attend_backward: WrongFunction, right: ModuleType, cache: Cache, params: Params, dy: Array
) -> Any:
    """The right backward pass around ``attend_backward(cache, dout)``."""
    dout = right.split_heads(dy @ params["wo"].T, cache["heads"])
    heads = attend_backward(cache["attention"], dout)
    return finish(cache, params, dy, *(right.merge_heads(heads[name]) for name in "qkv"))


mistakes.borrow(score_gradient_mistakes.mistakes, around=with_attention_backward)


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
