"""Mistakes seen in ``multihead_backward``."""

from types import ModuleType
from typing import Any

import numpy as np

from autograder.checking.mistakes import MistakeSet

from . import backward_scores
from .backward_parts import Array, Cache, Params, finish, outer, parts_of

mistakes = MistakeSet("multihead_backward")
mistakes.include(backward_scores.mistakes)


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
    """The gradients of queries and keys trade places on their way to the matrices."""
    dx, grads = right.multihead_backward(cache, params, dy)
    return dx, {**grads, "wq": grads["wk"], "wk": grads["wq"]}


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


@mistakes.add(
    hint="Print the dtypes of what comes in and of what goes out.",
    seen="courses",
)
def made_float32(right: ModuleType, cache: Cache, params: Params, dy: Array) -> Any:
    """Gradients need no more than float32."""
    dx, grads = right.multihead_backward(cache, params, dy.astype(np.float32))
    return dx.astype(np.float32), {name: grad.astype(np.float32) for name, grad in grads.items()}


@mistakes.add(
    hint="What is the dtype of np.zeros_like of an array of integers?",
    seen="courses",
)
def like_params(right: ModuleType, cache: Cache, params: Params, dy: Array) -> Any:
    """Gradients are gathered in np.zeros_like of the matrices, which have the right shape."""
    dx, grads = right.multihead_backward(cache, params, dy)
    return dx, {name: grad.astype(params[name].dtype) for name, grad in grads.items()}


@mistakes.add(
    hint="Which keys does the task name?",
    seen="courses",
)
def keys_renamed(right: ModuleType, cache: Cache, params: Params, dy: Array) -> Any:
    """The gradient of wq is called dwq."""
    dx, grads = right.multihead_backward(cache, params, dy)
    return dx, {f"d{name}": grad for name, grad in grads.items()}


@mistakes.add(
    hint="Call the backward pass twice with one cache.",
    seen="karpathy/micrograd#102",
)
def cache_used_up(right: ModuleType, cache: Cache, params: Params, dy: Array) -> Any:
    """A cache serves one backward pass and may be emptied by it."""
    own = dict(cache)
    cache.pop("joined")
    return right.multihead_backward(own, params, dy)


@mistakes.add(
    hint="Whose array does an operator such as *= change?",
    seen="linkedin/Liger-Kernel#254",
)
def weights_overwritten(right: ModuleType, cache: Cache, params: Params, dy: Array) -> Any:
    """The weights are not needed any more and can hold the gradients of the scores."""
    result = right.multihead_backward(cache, params, dy)
    cache["attention"]["weights"] *= np.sum(dy)
    return result


@mistakes.add(
    hint="Whose array does an operator such as /= change?",
    seen="courses",
)
def dy_changed(right: ModuleType, cache: Cache, params: Params, dy: Array) -> Any:
    """The argument dy belongs to the function that gets it."""
    result = right.multihead_backward(cache, params, dy.copy())
    dy /= len(dy)
    return result


@mistakes.add(
    stateful=True,
    hint="Call the backward pass twice: which of its numbers are left over from the first call?",
    seen="karpathy/micrograd#102",
)
def accumulated(right: ModuleType) -> Any:
    """Gradients are added up from call to call until somebody sets them to zero."""
    total: dict[str, Array] = {}

    def multihead_backward(cache: Cache, params: Params, dy: Array) -> Any:
        dx, grads = right.multihead_backward(cache, params, dy)
        for name, grad in grads.items():
            same_shape = name in total and total[name].shape == grad.shape
            total[name] = total[name] + grad if same_shape else grad
        return dx, dict(total)

    return multihead_backward


def _forward_with_mask(right: ModuleType, x: Array, params: Params, heads: int, allowed: Array) -> Any:
    y, cache = right.multihead(x, params, heads, allowed)
    return y, {**cache, "allowed": allowed}


@mistakes.add(
    slow=True,
    companions={"multihead": _forward_with_mask},
    hint="How many forward passes does your backward pass make when there are 262,144 parameters?",
    seen="courses",
)
def numerical(right: ModuleType, cache: Cache, params: Params, dy: Array) -> Any:
    """A derivative is a small difference: the forward pass can be called for each number."""

    def derivative(values: Array, call: Any) -> Array:
        gradient = np.empty(values.shape)
        for index in np.ndindex(values.shape):
            moved = values.astype(np.complex128)
            moved[index] += 1e-30j
            gradient[index] = np.sum(call(moved).imag * dy) / 1e-30
        return gradient

    x, heads, allowed = cache["x"], cache["heads"], cache["allowed"]
    dx = derivative(x, lambda moved: right.multihead(moved, params, heads, allowed)[0])
    grads = {
        name: derivative(matrix, lambda m, n=name: right.multihead(x, {**params, n: m}, heads, allowed)[0])
        for name, matrix in params.items()
    }
    return dx, grads
