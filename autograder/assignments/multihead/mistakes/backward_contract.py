"""Mistakes seen in ``multihead_backward`` in what surrounds the numbers: dtypes, results, memory, cost."""

from types import ModuleType
from typing import Any

import numpy as np

from autograder.assignments.attention_layer.backward_parts import Array, Cache, Params
from autograder.checking.differences import complex_step_gradient
from autograder.checking.mistakes import MistakeSet

mistakes = MistakeSet("multihead_backward")


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
    hint="How many results does the task name, and in which order?",
    seen="courses",
)
def results_exchanged(right: ModuleType, cache: Cache, params: Params, dy: Array) -> Any:
    """The gradients of the matrices come first, since they are what training needs."""
    dx, grads = right.multihead_backward(cache, params, dy)
    return grads, dx


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
    """The gradients of the matrices are added up from call to call until somebody sets them to zero."""
    total: dict[str, Array] = {}

    def multihead_backward(cache: Cache, params: Params, dy: Array) -> Any:
        dx, grads = right.multihead_backward(cache, params, dy)
        for name, grad in grads.items():
            same_shape = name in total and total[name].shape == grad.shape
            total[name] = total[name] + grad if same_shape else grad
        return dx, dict(total)

    return multihead_backward


@mistakes.form("accumulated", stateful=True)
def accumulated_by_shape(right: ModuleType) -> Any:
    """There is a sum for each shape."""
    total: dict[tuple[str, tuple[int, ...]], Array] = {}

    def multihead_backward(cache: Cache, params: Params, dy: Array) -> Any:
        dx, grads = right.multihead_backward(cache, params, dy)
        for name, grad in grads.items():
            total[name, grad.shape] = total.get((name, grad.shape), 0.0) + grad
        return dx, {name: total[name, grad.shape] for name, grad in grads.items()}

    return multihead_backward


@mistakes.form("accumulated", stateful=True)
def accumulated_in_place(right: ModuleType) -> Any:
    """There is a sum for each shape, and it is the very array that was returned before."""
    total: dict[tuple[str, tuple[int, ...]], Array] = {}

    def multihead_backward(cache: Cache, params: Params, dy: Array) -> Any:
        dx, grads = right.multihead_backward(cache, params, dy)
        for name, grad in grads.items():
            total.setdefault((name, grad.shape), np.zeros_like(grad))[...] += grad
        return dx, {name: total[name, grad.shape] for name, grad in grads.items()}

    return multihead_backward


@mistakes.form("accumulated", stateful=True)
def accumulated_whatever_the_shape(right: ModuleType) -> Any:
    """There is one sum, to which gradients of another shape cannot be added."""
    total: dict[str, Array] = {}

    def multihead_backward(cache: Cache, params: Params, dy: Array) -> Any:
        dx, grads = right.multihead_backward(cache, params, dy)
        for name, grad in grads.items():
            total[name] = total.get(name, 0.0) + grad
        return dx, dict(total)

    return multihead_backward


@mistakes.add(
    stateful=True,
    hint="Call the backward pass with two different dy and look at the first gradients again.",
    seen="courses",
)
def buffers_kept(right: ModuleType) -> Any:
    """The arrays of the gradients are made at the first call and filled again at every other."""
    kept: dict[tuple[Any, ...], Array] = {}

    def multihead_backward(cache: Cache, params: Params, dy: Array) -> Any:
        dx, grads = right.multihead_backward(cache, params, dy)
        for name, grad in {"dx": dx, **grads}.items():
            buffer = kept.setdefault((name, grad.shape, grad.dtype), np.empty_like(grad))
            buffer[...] = grad
            grads[name] = buffer
        return grads.pop("dx"), grads

    return multihead_backward


@mistakes.form("buffers_kept", stateful=True)
def buffers_kept_of_the_matrices(right: ModuleType) -> Any:
    """Those of the four matrices are kept, dx is made anew."""
    kept: dict[tuple[Any, ...], Array] = {}

    def multihead_backward(cache: Cache, params: Params, dy: Array) -> Any:
        dx, grads = right.multihead_backward(cache, params, dy)
        for name, grad in grads.items():
            buffer = kept.setdefault((name, grad.shape), np.empty(grad.shape))
            buffer[...] = grad
            grads[name] = buffer
        return dx, grads

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
        return complex_step_gradient(lambda moved: np.sum(call(moved) * dy), values)

    x, heads, allowed = cache["x"], cache["heads"], cache["allowed"]
    dx = derivative(x, lambda moved: right.multihead(moved, params, heads, allowed)[0])
    grads = {
        name: derivative(matrix, lambda m, n=name: right.multihead(x, {**params, n: m}, heads, allowed)[0])
        for name, matrix in params.items()
    }
    return dx, grads
