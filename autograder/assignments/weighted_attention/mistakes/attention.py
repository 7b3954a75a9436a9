"""Mistakes seen in ``attention``: those that any attention shares, and those of this function."""

from types import ModuleType
from typing import Any

import numpy as np

from autograder.assignments.attention_layer import score_mistakes
from autograder.assignments.attention_layer.score_mistakes import (
    HIDDEN,
    Array,
    floats,
    scaled,
    softmax,
    weighed,
)
from autograder.checking.mistakes import MistakeSet

from . import attention_contract

mistakes = MistakeSet("attention")
mistakes.include(score_mistakes.mistakes)
mistakes.include(attention_contract.mistakes)


@mistakes.add(
    hint="How large does a product of two random vectors get, on average, when they grow longer?",
    seen="huggingface/transformers#38290",
)
def scale_d(right: ModuleType, q: Array, k: Array, v: Array, allowed: Array) -> Any:
    """The scores are divided by d."""
    return scaled(right, q, k, v, allowed, 1 / np.sqrt(q.shape[-1]))


@mistakes.add(
    hint="Where does the number 8 come from, and what is it in another layer?",
    seen="courses",
)
def scale_of_the_paper(right: ModuleType, q: Array, k: Array, v: Array, allowed: Array) -> Any:
    """The scores are divided by 8, as in the paper, whose keys have 64 numbers."""
    return scaled(right, q, k, v, allowed, np.sqrt(q.shape[-1]) / 8)


@mistakes.add(
    hint="Which axis of the scores counts the keys, when there is a batch, or heads?",
    seen="courses",
)
def softmax_over_axis_1(right: ModuleType, q: Array, k: Array, v: Array, allowed: Array) -> Any:
    """The keys are axis 1 of the scores."""
    return weighed(right, q, k, v, allowed, lambda s: softmax(np.where(allowed, s, HIDDEN), axis=1))


@mistakes.add(
    hint="What is the sum of the weights of one query, and what that of the whole table?",
    seen="courses",
)
def softmax_over_all(right: ModuleType, q: Array, k: Array, v: Array, allowed: Array) -> Any:
    """All weights of a table sum to one."""

    def weigh(scores: Array) -> Any:
        powers = np.exp(np.where(allowed, scores - scores.max(), HIDDEN))
        return powers / powers.sum(axis=(-1, -2), keepdims=True)

    return weighed(right, q, k, v, allowed, weigh)


@mistakes.add(
    hint="What is missing between scores and weights?",
    seen="courses",
)
def softmax_left_out(right: ModuleType, q: Array, k: Array, v: Array, allowed: Array) -> Any:
    """Scores divided by their sum are weights."""

    def weigh(scores: Array) -> Any:
        kept = np.where(allowed, scores, 0)
        return kept / kept.sum(axis=-1, keepdims=True)

    return weighed(right, q, k, v, allowed, weigh)


@mistakes.add(
    hint="Whose score is the largest of a row, if a hidden one may be: what is left of the others?",
    seen="courses",
)
def maximum_of_hidden_keys_too(right: ModuleType, q: Array, k: Array, v: Array, allowed: Array) -> Any:
    """The largest score of each row is subtracted, then the mask takes keys out."""

    def weigh(scores: Array) -> Any:
        powers = np.where(allowed, np.exp(scores - scores.max(axis=-1, keepdims=True)), 0)
        return powers / powers.sum(axis=-1, keepdims=True)

    return weighed(right, q, k, v, allowed, weigh)


@mistakes.add(
    hint="Is a score of zero among those of the row?",
    seen="courses",
)
def maximum_of_a_table_with_zeros(right: ModuleType, q: Array, k: Array, v: Array, allowed: Array) -> Any:
    """Hidden scores are set to zero before the largest one of each row is looked for."""

    def weigh(scores: Array) -> Any:
        peak = np.where(allowed, scores, 0).max(axis=-1, keepdims=True)
        powers = np.where(allowed, np.exp(np.minimum(scores - peak, 0)), 0)
        return powers / powers.sum(axis=-1, keepdims=True)

    return weighed(right, q, k, v, allowed, weigh)


@mistakes.add(
    hint="A division by zero is near: is a tiny number the cure, or does it hide what is wrong?",
    seen="courses",
)
def tiny_number_in_the_sum(right: ModuleType, q: Array, k: Array, v: Array, allowed: Array) -> Any:
    """The sum of a row gets 1e-6 more, so that it is never zero."""

    def weigh(scores: Array) -> Any:
        masked = np.where(allowed, scores, HIDDEN)
        powers = np.exp(masked - masked.max(axis=-1, keepdims=True))
        return powers / (powers.sum(axis=-1, keepdims=True) + 1e-6)

    return weighed(right, q, k, v, allowed, weigh)


@mistakes.add(
    hint="What does one weight belong to: a query and a key, or a query and a channel?",
    seen="courses",
)
def keys_gathered(right: ModuleType, q: Array, k: Array, v: Array, allowed: Array) -> Any:
    """What is gathered are the keys."""
    out, cache = right.attention(q, k, k, allowed)
    return out, {**cache, "v": floats(v)[0]}


@mistakes.add(
    hint="Row 0 of the scores: whose is it?",
    seen="courses",
)
def queries_and_keys_exchanged(right: ModuleType, q: Array, k: Array, v: Array, allowed: Array) -> Any:
    """The rows of the scores are keys, since it does not matter which of the two comes first."""
    q, k, v = floats(q, k, v)
    scores = k @ q.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    weights = softmax(np.where(allowed, scores, HIDDEN))
    return weights @ v, {"q": q, "k": k, "v": v, "weights": weights}


@mistakes.add(
    hint="Row t of the weights belongs to a query: what does it take to be multiplied with the values?",
    seen="courses",
)
def weights_transposed(right: ModuleType, q: Array, k: Array, v: Array, allowed: Array) -> Any:
    """The weights are transposed before they meet the values."""
    _, cache = right.attention(q, k, v, allowed)
    return cache["weights"].swapaxes(-1, -2) @ cache["v"], cache


@mistakes.add(
    hint="A reshape keeps the order of the numbers: which number stands at [0, 1] after it?",
    seen="courses",
)
def keys_reshaped(right: ModuleType, q: Array, k: Array, v: Array, allowed: Array) -> Any:
    """A reshape brings the keys into the shape (..., d, S)."""
    q, k, v = floats(q, k, v)
    turned = k.reshape(*k.shape[:-2], k.shape[-1], k.shape[-2])
    weights = softmax(np.where(allowed, q @ turned / np.sqrt(q.shape[-1]), HIDDEN))
    return weights @ v, {"q": q, "k": k, "v": v, "weights": weights}


@mistakes.add(
    hint="What does .T do with an array of three axes?",
    seen="courses",
)
def all_axes_reversed(right: ModuleType, q: Array, k: Array, v: Array, allowed: Array) -> Any:
    """The attribute .T exchanges the last two axes."""
    right.attention(q, k, v, allowed)
    q, k, v = floats(q, k, v)
    weights = softmax(np.where(allowed, q @ k.T / np.sqrt(q.shape[-1]), HIDDEN))
    return weights @ v, {"q": q, "k": k, "v": v, "weights": weights}


@mistakes.add(
    hint="Write down the lengths of the two axes of the scores, when there are more keys than queries.",
    seen="harvard-edge/cs249r_book#1875",
)
def square_only(right: ModuleType, q: Array, k: Array, v: Array, allowed: Array) -> Any:
    """There are as many keys as queries."""
    if q.shape != k.shape:
        raise ValueError("queries and keys must have the same shape")
    return right.attention(q, k, v, allowed)


@mistakes.add(
    hint="Which axes does q.shape have, in each of the calls that the task names?",
    seen="courses",
)
def three_axes_only(right: ModuleType, q: Array, k: Array, v: Array, allowed: Array) -> Any:
    """There are three axes: batch, seq and d."""
    _batch, _seq, _width = q.shape
    return right.attention(q, k, v, allowed)


@mistakes.add(
    hint="Two sequences of a batch: do they have the same table of weights?",
    seen="courses",
)
def scores_of_first_sequence(right: ModuleType, q: Array, k: Array, v: Array, allowed: Array) -> Any:
    """The weights of the first sequence serve the whole batch."""
    _, cache = right.attention(q, k, v, allowed)
    weights = cache["weights"]
    same = np.broadcast_to(weights[:1], weights.shape) if weights.ndim > 2 else weights
    return same @ cache["v"], {**cache, "weights": same}


@mistakes.add(
    hint="Which sequences of the batch does allowed speak of, when it has an axis for them?",
    seen="lucidrains/graph-transformer-pytorch#2",
)
def mask_of_first_sequence(right: ModuleType, q: Array, k: Array, v: Array, allowed: Array) -> Any:
    """One mask serves all sequences: the first one."""
    return right.attention(q, k, v, allowed[(0,) * (allowed.ndim - 2)])


@mistakes.add(
    hint="Is there a path around the layer in this lesson?",
    seen="courses",
)
def residual_added(right: ModuleType, q: Array, k: Array, v: Array, allowed: Array) -> Any:
    """What a token brings itself is added to what it gathers."""
    out, cache = right.attention(q, k, v, allowed)
    return (out + cache["v"] if out.shape == cache["v"].shape else out), cache
