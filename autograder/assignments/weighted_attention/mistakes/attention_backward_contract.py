"""Mistakes seen in ``attention_backward`` in what surrounds the numbers: dtypes, results, memory, cost."""

from types import ModuleType
from typing import Any

import numpy as np

from autograder.assignments.attention_layer.score_gradient_mistakes import Cache
from autograder.assignments.attention_layer.score_mistakes import Array
from autograder.checking.differences import complex_step_gradient
from autograder.checking.mistakes import MistakeSet

mistakes = MistakeSet("attention_backward")


@mistakes.add(hint="Print the dtypes of what comes in and of what goes out.", seen="courses")
def made_float32(right: ModuleType, cache: Cache, dout: Array) -> Any:
    """Gradients need no more than float32."""
    grads = right.attention_backward(cache, dout)
    return {name: grad.astype(np.float32) for name, grad in grads.items()}


@mistakes.add(hint="What is the dtype of np.zeros_like of an array of integers?", seen="courses")
def like_dout(right: ModuleType, cache: Cache, dout: Array) -> Any:
    """Gradients are gathered in arrays of the dtype of dout."""
    grads = right.attention_backward(cache, dout)
    return {name: grad.astype(dout.dtype) for name, grad in grads.items()}


@mistakes.add(hint="Which keys does the task name?", seen="courses")
def keys_renamed(right: ModuleType, cache: Cache, dout: Array) -> Any:
    """The gradient of q is called dq."""
    return {f"d{name}": grad for name, grad in right.attention_backward(cache, dout).items()}


@mistakes.add(hint="What does the task ask for: a dict, or three results?", seen="courses")
def three_results(right: ModuleType, cache: Cache, dout: Array) -> Any:
    """Three gradients are three results."""
    return tuple(right.attention_backward(cache, dout)[name] for name in "qkv")


@mistakes.add(hint="Call the backward pass twice with one cache.", seen="karpathy/micrograd#102")
def cache_used_up(right: ModuleType, cache: Cache, dout: Array) -> Any:
    """A cache serves one backward pass and may be emptied by it."""
    own = dict(cache)
    cache.pop("weights")
    return right.attention_backward(own, dout)


@mistakes.add(hint="Whose array does an operator such as *= change?", seen="linkedin/Liger-Kernel#254")
def weights_overwritten(right: ModuleType, cache: Cache, dout: Array) -> Any:
    """The weights are not needed any more and can hold the gradients of the scores."""
    grads = right.attention_backward(cache, dout)
    cache["weights"] *= np.sum(dout)
    return grads


@mistakes.add(hint="Whose array does an operator such as /= change?", seen="courses")
def dout_changed(right: ModuleType, cache: Cache, dout: Array) -> Any:
    """The argument dout belongs to the function that gets it."""
    grads = right.attention_backward(cache, dout.copy())
    dout -= dout
    return grads


@mistakes.add(
    stateful=True,
    hint="Call the backward pass twice: which of its numbers are left over from the first call?",
    seen="karpathy/micrograd#102",
)
def accumulated(right: ModuleType) -> Any:
    """Gradients are added up from call to call until somebody sets them to zero."""
    total: dict[str, Array] = {}

    def attention_backward(cache: Cache, dout: Array) -> Any:
        for name, grad in right.attention_backward(cache, dout).items():
            same_shape = name in total and total[name].shape == grad.shape
            total[name] = total[name] + grad if same_shape else grad
        return dict(total)

    return attention_backward


@mistakes.add(
    stateful=True,
    hint="Call the backward pass with two different dout and look at the first gradients again.",
    seen="courses",
)
def buffers_kept(right: ModuleType) -> Any:
    """The arrays of the gradients are made at the first call and filled again at every other."""
    kept: dict[tuple[Any, ...], Array] = {}

    def attention_backward(cache: Cache, dout: Array) -> Any:
        grads = right.attention_backward(cache, dout)
        for name, grad in grads.items():
            buffer = kept.setdefault((name, grad.shape, grad.dtype), np.empty_like(grad))
            buffer[...] = grad
            grads[name] = buffer
        return grads

    return attention_backward


def _attention_with_mask(right: ModuleType, q: Array, k: Array, v: Array, allowed: Array) -> Any:
    out, cache = right.attention(q, k, v, allowed)
    return out, {**cache, "allowed": allowed}


@mistakes.add(
    slow=True,
    companions={"attention": _attention_with_mask},
    hint="How many forward passes does your backward pass make when there are 23,040 numbers?",
    seen="courses",
)
def numerical(right: ModuleType, cache: Cache, dout: Array) -> Any:
    """A derivative is a small difference: the forward pass can be called for each number."""
    inputs = {name: cache[name] for name in "qkv"}

    def derivative(name: str) -> Array:
        def loss(moved: Array) -> complex:
            out, _ = right.attention(**{**inputs, name: moved}, allowed=cache["allowed"])
            return complex(np.sum(out * dout))

        return complex_step_gradient(loss, inputs[name])

    return {name: derivative(name) for name in inputs}
