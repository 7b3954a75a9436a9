"""Mistakes seen in ``multihead_backward``."""

from types import ModuleType
from typing import Any

import numpy as np

from autograder.assignments.attention_layer.backward_parts import (
    Array,
    Cache,
    Params,
    finish,
    outer,
    parts_of,
)
from autograder.checking.mistakes import MistakeSet

from . import backward_contract, backward_scores

mistakes = MistakeSet("multihead_backward")
mistakes.include(backward_scores.mistakes)
mistakes.include(backward_contract.mistakes)


@mistakes.add(
    hint="Give the same sequence twice in a batch: what must become of the gradients of the matrices?",
    seen="courses",
)
def averaged_over_batch(right: ModuleType, cache: Cache, params: Params, dy: Array) -> Any:
    """Gradients of the matrices are averages over the batch."""
    dx, grads = right.multihead_backward(cache, params, dy)
    return dx, {name: grad / len(dy) for name, grad in grads.items()}


@mistakes.add(
    hint="If the loss is an average, where does its 1/(B*T) appear already?",
    seen="courses",
)
def averaged_over_tokens(right: ModuleType, cache: Cache, params: Params, dy: Array) -> Any:
    """Gradients of the matrices are averages over batch and time."""
    dx, grads = right.multihead_backward(cache, params, dy)
    return dx, {name: grad / (dy.shape[0] * dy.shape[1]) for name, grad in grads.items()}


@mistakes.add(
    hint="Try a batch of two: does the second sequence change any gradient of a matrix?",
    seen="NVIDIA/TransformerEngine#3216",
)
def first_sequence_only(right: ModuleType, cache: Cache, params: Params, dy: Array) -> Any:
    """The gradients of the matrices can be read off one sequence."""
    dx, _ = right.multihead_backward(cache, params, dy)
    one = np.zeros_like(dy)
    one[0] = dy[0]
    return dx, right.multihead_backward(cache, params, one)[1]


@mistakes.add(
    hint="Change the first token: does any gradient of a matrix notice?",
    seen="courses",
)
def last_token_only(right: ModuleType, cache: Cache, params: Params, dy: Array) -> Any:
    """The last token has seen all others, so the gradients of the matrices come from its row."""
    dx, _ = right.multihead_backward(cache, params, dy)
    parts = parts_of(right, cache, params, dy)
    last = np.zeros_like(dy)
    last[:, -1] = 1.0
    _, grads = finish(cache, params, dy * last, parts.q * last, parts.k * last, parts.v * last)
    return dx, grads


@mistakes.add(
    hint="Every sequence used the same matrix: how many gradients has one matrix?",
    seen="courses",
)
def batch_axis_kept(right: ModuleType, cache: Cache, params: Params, dy: Array) -> Any:
    """x.swapaxes(1, 2) @ dq is the gradient of wq, sequence by sequence."""
    dx, _ = right.multihead_backward(cache, params, dy)
    parts = parts_of(right, cache, params, dy)
    x, joined = cache["x"].swapaxes(1, 2), cache["joined"].swapaxes(1, 2)
    return dx, {"wq": x @ parts.q, "wk": x @ parts.k, "wv": x @ parts.v, "wo": joined @ dy}


@mistakes.add(
    hint="How many ways lead from x to y, and what becomes of each in your code?",
    seen="callummcdougall/ARENA_2.0#18",
)
def routes_overwritten(right: ModuleType, cache: Cache, params: Params, dy: Array) -> Any:
    """The gradient dx is assigned for Q, then for K, then for V, and the last one stands."""
    _, grads = right.multihead_backward(cache, params, dy)
    return parts_of(right, cache, params, dy).v @ params["wv"].T, grads


@mistakes.add(
    hint="Change x a little: through which of Q, K and V does y notice?",
    seen="courses",
)
def query_route_missing(right: ModuleType, cache: Cache, params: Params, dy: Array) -> Any:
    """Only through keys and values does x reach y."""
    dx, grads = right.multihead_backward(cache, params, dy)
    return dx - parts_of(right, cache, params, dy).q @ params["wq"].T, grads


@mistakes.add(
    hint="Every token is looked at by others, too: through what?",
    seen="courses",
)
def key_route_missing(right: ModuleType, cache: Cache, params: Params, dy: Array) -> Any:
    """Only through queries and values does x reach y."""
    dx, grads = right.multihead_backward(cache, params, dy)
    return dx - parts_of(right, cache, params, dy).k @ params["wk"].T, grads


@mistakes.add(
    hint="With one key all weights are one: what is then left of dx?",
    seen="courses",
)
def value_route_missing(right: ModuleType, cache: Cache, params: Params, dy: Array) -> Any:
    """Only through the weights, that is queries and keys, does x reach y."""
    dx, grads = right.multihead_backward(cache, params, dy)
    return dx - parts_of(right, cache, params, dy).v @ params["wv"].T, grads


@mistakes.add(
    hint="When one variable is used three times, are its three derivatives added or averaged?",
    seen="courses",
)
def routes_averaged(right: ModuleType, cache: Cache, params: Params, dy: Array) -> Any:
    """The gradient dx is the average of what comes through Q, K and V."""
    dx, grads = right.multihead_backward(cache, params, dy)
    return dx / 3, grads


@mistakes.add(
    hint="Compare the terms of dx letter by letter.",
    seen="courses",
)
def query_route_twice(right: ModuleType, cache: Cache, params: Params, dy: Array) -> Any:
    """The term for K is that for Q, copied."""
    parts = parts_of(right, cache, params, dy)
    _, grads = right.multihead_backward(cache, params, dy)
    return 2 * parts.q @ params["wq"].T + parts.v @ params["wv"].T, grads


@mistakes.add(
    hint="What lies between x and Q?",
    seen="courses",
)
def projections_left_out(right: ModuleType, cache: Cache, params: Params, dy: Array) -> Any:
    """The gradient dx is the sum of what arrives at Q, K and V."""
    parts = parts_of(right, cache, params, dy)
    _, grads = right.multihead_backward(cache, params, dy)
    return parts.q + parts.k + parts.v, grads


@mistakes.add(
    hint="Is there a path around the layer in this lesson?",
    seen="courses",
)
def residual_added(right: ModuleType, cache: Cache, params: Params, dy: Array) -> Any:
    """A fourth route leads straight from x to y."""
    dx, grads = right.multihead_backward(cache, params, dy)
    return dx + dy, grads


@mistakes.add(
    hint="In x @ wq, what does wq multiply, and what comes out?",
    seen="courses",
)
def own_output_for_input(right: ModuleType, cache: Cache, params: Params, dy: Array) -> Any:
    """The gradient of wq pairs the queries with their gradient; those of wk and wv do likewise."""
    dx, grads = right.multihead_backward(cache, params, dy)
    parts, inner = parts_of(right, cache, params, dy), cache["attention"]
    q, k, v = (right.merge_heads(inner[name]) for name in "qkv")
    return dx, {**grads, "wq": outer(q, parts.q), "wk": outer(k, parts.k), "wv": outer(v, parts.v)}


@mistakes.add(
    hint="What does wo multiply?",
    seen="courses",
)
def dwo_from_x(right: ModuleType, cache: Cache, params: Params, dy: Array) -> Any:
    """Every matrix has x as its input, wo too."""
    dx, grads = right.multihead_backward(cache, params, dy)
    return dx, {**grads, "wo": outer(cache["x"], dy)}


@mistakes.add(
    hint="In which order did the forward pass hand the channels of all heads to wo?",
    seen="courses",
)
def dwo_from_unmerged_heads(right: ModuleType, cache: Cache, params: Params, dy: Array) -> Any:
    """What attention puts out needs a reshape only to stand in for joined."""
    dx, grads = right.multihead_backward(cache, params, dy)
    out = right.split_heads(cache["joined"], cache["heads"])
    return dx, {**grads, "wo": outer(out.reshape(dy.shape), dy)}


@mistakes.add(
    hint="Which index of w is the input's in x @ w?",
    seen="courses",
)
def matrices_transposed(right: ModuleType, cache: Cache, params: Params, dy: Array) -> Any:
    """The gradient of a matrix is outer(gradient, input)."""
    dx, grads = right.multihead_backward(cache, params, dy)
    return dx, {name: grad.T for name, grad in grads.items()}


@mistakes.add(
    hint="Channel i of joined reaches channel j of y through wo[i, j]: which way does the gradient go?",
    seen="courses",
)
def wo_not_transposed(right: ModuleType, cache: Cache, params: Params, dy: Array) -> Any:
    """The gradient goes through wo as the numbers did."""
    parts = parts_of(right, cache, {**params, "wo": params["wo"].T}, dy)
    return finish(cache, params, dy, parts.q, parts.k, parts.v)


@mistakes.add(
    hint="What lies between joined and y?",
    seen="courses",
)
def wo_left_out(right: ModuleType, cache: Cache, params: Params, dy: Array) -> Any:
    """The gradient dy is what arrives at the heads."""
    parts = parts_of(right, cache, {**params, "wo": np.eye(dy.shape[-1])}, dy)
    return finish(cache, params, dy, parts.q, parts.k, parts.v)


@mistakes.add(
    hint="Channel i of x reaches channel j of Q through wq[i, j]: which way does the gradient go?",
    seen="huggingface/diffusers#14341",
)
def projections_not_transposed(right: ModuleType, cache: Cache, params: Params, dy: Array) -> Any:
    """The gradients go through wq, wk and wv as the numbers did."""
    parts = parts_of(right, cache, params, dy)
    _, grads = right.multihead_backward(cache, params, dy)
    return parts.q @ params["wq"] + parts.k @ params["wk"] + parts.v @ params["wv"], grads


@mistakes.add(
    hint="Which gradient belongs to which matrix? Follow one of them from the scores.",
    seen="courses",
)
def dwq_and_dwk_exchanged(right: ModuleType, cache: Cache, params: Params, dy: Array) -> Any:
    """The gradients of wq and wk trade places; dx, which needs both, comes out right."""
    dx, grads = right.multihead_backward(cache, params, dy)
    return dx, {**grads, "wq": grads["wk"], "wk": grads["wq"]}


@mistakes.add(
    hint="Along which of the three routes does each part of what attention_backward returns go on?",
    seen="courses",
)
def query_and_key_parts_exchanged(right: ModuleType, cache: Cache, params: Params, dy: Array) -> Any:
    """What attention_backward returns for the queries belongs to the keys, and the other way round."""
    parts = parts_of(right, cache, params, dy)
    return finish(cache, params, dy, parts.k, parts.q, parts.v)


@mistakes.add(
    hint="Double dy: what must become of all gradients?",
    seen="courses",
)
def dy_ignored(right: ModuleType, cache: Cache, params: Params, dy: Array) -> Any:
    """The gradient that arrives is one everywhere."""
    return right.multihead_backward(cache, params, np.ones_like(dy))


@mistakes.add(
    hint="Change dy at one time step: which tokens' gradients may notice?",
    seen="courses",
)
def dy_averaged_in_time(right: ModuleType, cache: Cache, params: Params, dy: Array) -> Any:
    """What arrives is the same for all time steps, namely its average."""
    even = np.broadcast_to(dy.mean(axis=1, keepdims=True), dy.shape)
    return right.multihead_backward(cache, params, even)


@mistakes.add(
    hint="Is the backward pass of a layer a loop over time?",
    seen="courses",
)
def dy_reversed_in_time(right: ModuleType, cache: Cache, params: Params, dy: Array) -> Any:
    """Backward means that time runs backward."""
    return right.multihead_backward(cache, params, dy[:, ::-1])
