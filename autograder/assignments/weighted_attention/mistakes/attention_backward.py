"""Mistakes seen in ``attention_backward``: those that any attention shares, and those of this function."""

from types import ModuleType
from typing import Any

import numpy as np

from autograder.assignments.attention_layer import score_gradient_mistakes
from autograder.assignments.attention_layer.score_gradient_mistakes import (
    Cache,
    by_softmax,
    grad_scores,
    scores_of,
)
from autograder.assignments.attention_layer.score_mistakes import Array
from autograder.checking.mistakes import MistakeSet

from . import attention_backward_contract

mistakes = MistakeSet("attention_backward")
mistakes.include(score_gradient_mistakes.mistakes)
mistakes.include(attention_backward_contract.mistakes)


@mistakes.add(
    hint="How often was a score divided by the root of d on the way forward?",
    seen="huggingface/transformers#38290",
)
def scale_twice(right: ModuleType, cache: Cache, dout: Array) -> Any:
    """Queries and keys were both scaled, so the scale comes back twice."""
    grads, root = right.attention_backward(cache, dout), np.sqrt(dout.shape[-1])
    return {**grads, "q": grads["q"] / root, "k": grads["k"] / root}


@mistakes.add(
    hint="Does the scale come before the softmax, or after it, on the way forward?",
    seen="courses",
)
def scale_on_values_too(right: ModuleType, cache: Cache, dout: Array) -> Any:
    """All three gradients are divided by the root of d."""
    grads = right.attention_backward(cache, dout)
    return {**grads, "v": grads["v"] / np.sqrt(dout.shape[-1])}


@mistakes.add(
    hint="Which weights belong to one softmax?",
    seen="courses",
)
def softmax_sum_over_the_table(right: ModuleType, cache: Cache, dout: Array) -> Any:
    """The sum in the derivative of the softmax runs over the whole table."""
    return by_softmax(cache, dout, lambda w, dw: w * (dw - np.sum(w * dw, axis=(-1, -2), keepdims=True)))


@mistakes.add(
    hint="What makes each row of the gradients of the scores sum to zero: a mean, or a weighted mean?",
    seen="courses",
)
def softmax_mean_without_weights(right: ModuleType, cache: Cache, dout: Array) -> Any:
    """From the gradient of each weight the mean of its row is subtracted."""
    return by_softmax(cache, dout, lambda w, dw: w * (dw - np.mean(dw, axis=-1, keepdims=True)))


@mistakes.add(
    hint="When a score grows, does its own weight grow or shrink?",
    seen="courses",
)
def softmax_sign(right: ModuleType, cache: Cache, dout: Array) -> Any:
    """The sum of the row is taken, and the gradient of the weight subtracted from it."""
    return by_softmax(cache, dout, lambda w, dw: w * (np.sum(w * dw, axis=-1, keepdims=True) - dw))


@mistakes.add(
    hint="In the derivative of the softmax, is the gradient multiplied by the weight once or twice?",
    seen="courses",
)
def softmax_weight_twice(right: ModuleType, cache: Cache, dout: Array) -> Any:
    """The weight stands before the bracket and inside it, too."""
    return by_softmax(cache, dout, lambda w, dw: w * (w * dw - np.sum(w * dw, axis=-1, keepdims=True)))


@mistakes.add(
    hint="Which gradient belongs to the queries? Follow one score to its query and its key.",
    seen="courses",
)
def dq_and_dk_exchanged(right: ModuleType, cache: Cache, dout: Array) -> Any:
    """The gradient of the queries is the table of the scores, transposed, times the queries."""
    grads = right.attention_backward(cache, dout)
    return {**grads, "q": grads["k"], "k": grads["q"]}


@mistakes.add(
    hint="In q @ k^T, what is a query multiplied with?",
    seen="courses",
)
def own_vectors_multiplied(right: ModuleType, cache: Cache, dout: Array) -> Any:
    """The gradient of the queries is made with queries, that of the keys with keys."""
    grads, scores = right.attention_backward(cache, dout), grad_scores(cache, dout)
    if cache["q"].shape != cache["k"].shape:
        raise ValueError("matmul: shapes do not fit")
    return {**grads, "q": scores @ cache["q"], "k": scores.swapaxes(-1, -2) @ cache["k"]}


@mistakes.add(
    hint="What is multiplied with the weights on the way forward?",
    seen="courses",
)
def weights_from_keys(right: ModuleType, cache: Cache, dout: Array) -> Any:
    """The gradient of the weights is dout times the keys."""
    return {
        **right.attention_backward({**cache, "v": cache["k"]}, dout),
        "v": cache["weights"].swapaxes(-1, -2) @ dout,
    }


@mistakes.add(
    hint="Are scores or weights multiplied with the values?",
    seen="courses",
)
def values_by_scores(right: ModuleType, cache: Cache, dout: Array) -> Any:
    """The values get their gradient through the gradient of the scores."""
    return {**right.attention_backward(cache, dout), "v": grad_scores(cache, dout).swapaxes(-1, -2) @ dout}


@mistakes.add(
    hint="What is between values and out, and does it depend on the key?",
    seen="courses",
)
def values_get_dout(right: ModuleType, cache: Cache, dout: Array) -> Any:
    """The values get what arrives at out."""
    return {**right.attention_backward(cache, dout), "v": np.array(dout)}


@mistakes.add(
    hint="Try a batch of two: does each sequence have gradients of its own?",
    seen="NVIDIA/TransformerEngine#3216",
)
def averaged_over_batch(right: ModuleType, cache: Cache, dout: Array) -> Any:
    """Gradients are averages over the first axis."""
    count = len(dout) if dout.ndim > 2 else 1
    return {name: grad / count for name, grad in right.attention_backward(cache, dout).items()}


@mistakes.add(
    hint="Double dout: what must become of all gradients?",
    seen="courses",
)
def dout_ignored(right: ModuleType, cache: Cache, dout: Array) -> Any:
    """The gradient that arrives is one everywhere."""
    return right.attention_backward(cache, np.ones_like(dout))


@mistakes.add(
    hint="Is the backward pass of attention a loop over time?",
    seen="courses",
)
def dout_reversed_in_time(right: ModuleType, cache: Cache, dout: Array) -> Any:
    """Backward means that time runs backward."""
    return right.attention_backward(cache, dout[..., ::-1, :])


@mistakes.add(
    hint="How does the gradient know which keys were hidden: what does a weight of zero do to it?",
    seen="courses",
)
def causal_again(right: ModuleType, cache: Cache, dout: Array) -> Any:
    """The causal mask is applied to the gradients of the scores, as it was to the scores."""
    return by_softmax(cache, dout, lambda w, dw: np.tril(w * (dw - np.sum(w * dw, axis=-1, keepdims=True))))


@mistakes.add(
    hint="Which axes does dout.shape have, in each of the calls that the task names?",
    seen="courses",
)
def three_axes_only(right: ModuleType, cache: Cache, dout: Array) -> Any:
    """There are three axes: batch, seq and d."""
    _batch, _seq, _width = dout.shape
    return right.attention_backward(cache, dout)


@mistakes.add(
    hint="Write down the lengths of both axes of the scores, when there are more keys than queries.",
    seen="harvard-edge/cs249r_book#1875",
)
def square_only(right: ModuleType, cache: Cache, dout: Array) -> Any:
    """There are as many keys as queries."""
    if cache["k"].shape != dout.shape:
        raise ValueError("keys and dout must have the same shape")
    return right.attention_backward(cache, dout)


@mistakes.add(
    hint="What is left of a row whose scores all lie far below the largest score of the whole table?",
    seen="courses",
)
def weights_with_one_maximum(right: ModuleType, cache: Cache, dout: Array) -> Any:
    """The backward pass computes the weights anew, with the largest of all scores subtracted."""
    scores = scores_of(cache)
    powers = np.where(cache["weights"] > 0, np.exp(scores - scores.max()), 0)
    weights = powers / powers.sum(axis=-1, keepdims=True)
    return right.attention_backward({**cache, "weights": weights}, dout)


@mistakes.add(
    hint="What exactly is the weight of a hidden key, and what its gradient?",
    seen="courses",
)
def nearly_zero_weights(right: ModuleType, cache: Cache, dout: Array) -> Any:
    """Weights get 1e-15 more, so that nothing is divided by zero."""
    return right.attention_backward({**cache, "weights": cache["weights"] + 1e-15}, dout)
