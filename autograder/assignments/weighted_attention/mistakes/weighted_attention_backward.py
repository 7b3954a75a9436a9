"""Mistakes seen in ``weighted_attention_backward``: mostly those that are made in any number of heads."""

from types import ModuleType
from typing import Any

import numpy as np

from autograder.assignments.attention_layer.draws import Array
from autograder.assignments.multihead.mistakes import backward_contract, multihead_backward
from autograder.assignments.weighted_attention.one_head import Cache, Params
from autograder.checking.differences import complex_step_gradient
from autograder.checking.mistakes import MistakeSet

from . import borrowing

mistakes = MistakeSet("weighted_attention_backward")
mistakes.borrow(
    multihead_backward.mistakes,
    "averaged_over_batch",
    "averaged_over_tokens",
    "first_sequence_only",
    "last_token_only",
    "batch_axis_kept",
    "routes_overwritten",
    "query_route_missing",
    "key_route_missing",
    "value_route_missing",
    "routes_averaged",
    "query_route_twice",
    "projections_left_out",
    "residual_added",
    "own_output_for_input",
    "dwo_from_x",
    "matrices_transposed",
    "wo_not_transposed",
    "wo_left_out",
    "projections_not_transposed",
    "dwq_and_dwk_exchanged",
    "query_and_key_parts_exchanged",
    "dy_ignored",
    "dy_averaged_in_time",
    "dy_reversed_in_time",
    "scale_left_out",
    "scale_twice",
    "weights_are_constants",
    "weights_without_maximum",
    around=borrowing.backward,
    view=borrowing.view,
)
mistakes.borrow(
    backward_contract.mistakes,
    "made_float32",
    "like_params",
    "keys_renamed",
    "results_exchanged",
    "dy_changed",
    "accumulated",
    "buffers_kept",
    around=borrowing.backward,
    view=borrowing.view,
)


@mistakes.add(
    hint="Call the backward pass twice with one cache.",
    seen="karpathy/micrograd#102",
)
def cache_used_up(right: ModuleType, cache: Cache, params: Params, dy: Array) -> Any:
    """A cache serves one backward pass and may be emptied by it."""
    own = dict(cache)
    cache.pop("out")
    return right.weighted_attention_backward(own, params, dy)


def _forward_with_mask(right: ModuleType, x: Array, params: Params, allowed: Array) -> Any:
    y, cache = right.weighted_attention(x, params, allowed)
    return y, {**cache, "allowed": allowed}


@mistakes.add(
    slow=True,
    companions={"weighted_attention": _forward_with_mask},
    hint="How many forward passes does your backward pass make when there are 262,144 parameters?",
    seen="courses",
)
def numerical(right: ModuleType, cache: Cache, params: Params, dy: Array) -> Any:
    """A derivative is a small difference: the forward pass can be called for each number."""

    def derivative(values: Array, call: Any) -> Array:
        return complex_step_gradient(lambda moved: np.sum(call(moved) * dy), values)

    x, allowed = cache["x"], cache["allowed"]
    dx = derivative(x, lambda moved: right.weighted_attention(moved, params, allowed)[0])
    grads = {
        name: derivative(matrix, lambda m, n=name: right.weighted_attention(x, {**params, n: m}, allowed)[0])
        for name, matrix in params.items()
    }
    return dx, grads
