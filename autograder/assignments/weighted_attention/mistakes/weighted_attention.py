"""Mistakes seen in ``weighted_attention``: mostly those that are made in any number of heads."""

from types import ModuleType
from typing import Any

import numpy as np

from autograder.assignments.attention_layer.draws import Array
from autograder.assignments.multihead.mistakes import forward_contract, multihead
from autograder.assignments.weighted_attention.one_head import Params
from autograder.checking.mistakes import MistakeSet

from . import borrowing

mistakes = MistakeSet("weighted_attention")
mistakes.borrow(
    multihead.mistakes,
    "no_output_projection",
    "values_not_projected",
    "keys_by_wq",
    "values_by_wk",
    "queries_and_keys_exchanged",
    "keys_and_values_exchanged",
    "weights_transposed",
    "wo_transposed",
    "residual_added",
    "axes_of_one_dropped",
    "no_scale",
    "no_maximum",
    "one_maximum",
    "mask_ignored",
    "mask_inverted",
    "mask_transposed",
    "always_causal",
    "causal_by_default",
    around=borrowing.forward,
    view=borrowing.view,
)
mistakes.borrow(
    forward_contract.mistakes,
    "made_float32",
    "like_x",
    "y_alone",
    "queries_kept_as_x",
    "x_overwritten",
    "first_params_kept",
    around=borrowing.forward,
    view=borrowing.view,
)


@mistakes.add(
    hint="Does your attention scale already?",
    seen="huggingface/transformers#38290",
)
def scale_twice(right: ModuleType, x: Array, params: Params, allowed: Array) -> Any:
    """The queries are divided by the square root of C before attention divides the scores; in all, by C."""
    scaled = {**params, "wq": params["wq"] / np.sqrt(x.shape[-1])}
    return right.weighted_attention(x, scaled, allowed)


@mistakes.add(
    hint="Which of the four matrices does y not depend on?",
    seen="courses",
)
def queries_not_projected(right: ModuleType, x: Array, params: Params, allowed: Array) -> Any:
    """A token asks with its own vector: the query is x."""
    return right.weighted_attention(x, {**params, "wq": np.eye(x.shape[-1])}, allowed)


@mistakes.add(
    hint="Which of the four matrices does y not depend on?",
    seen="courses",
)
def keys_not_projected(right: ModuleType, x: Array, params: Params, allowed: Array) -> Any:
    """A token answers with its own vector: the key is x."""
    return right.weighted_attention(x, {**params, "wk": np.eye(x.shape[-1])}, allowed)


@mistakes.add(
    hint="Which of your variables holds what the tokens have gathered?",
    seen="ethen8181/machine-learning#13",
)
def values_multiplied_by_wo(right: ModuleType, x: Array, params: Params, allowed: Array) -> Any:
    """Attention has been called, so that its values can go through wo."""
    _, cache = right.weighted_attention(x, params, allowed)
    values = cache["attention"]["v"]
    return values @ params["wo"], {**cache, "out": values}


@mistakes.add(
    hint="Which of the two does dwo need: what goes into the last product, or what comes out of it?",
    seen="courses",
)
def out_is_y(right: ModuleType, x: Array, params: Params, allowed: Array) -> Any:
    """The cache keeps the last result as out."""
    y, cache = right.weighted_attention(x, params, allowed)
    return y, {**cache, "out": y}


@mistakes.add(
    hint="Of which tokens does the backward pass need the vectors?",
    seen="courses",
)
def last_x_kept(right: ModuleType, x: Array, params: Params, allowed: Array) -> Any:
    """The cache keeps the x of the last sequence."""
    y, cache = right.weighted_attention(x, params, allowed)
    return y, {**cache, "x": cache["x"][-1:]}


@mistakes.add(
    hint="Which keys does the task name?",
    seen="courses",
)
def caches_mixed(right: ModuleType, x: Array, params: Params, allowed: Array) -> Any:
    """The cache of attention, with x and out added to it, is the cache of the layer."""
    y, cache = right.weighted_attention(x, params, allowed)
    return y, {**cache["attention"], "x": cache["x"], "out": cache["out"]}


@mistakes.add(
    stateful=True,
    hint="Call weighted_attention twice and look at the first cache again.",
    seen="courses",
)
def one_cache(right: ModuleType) -> Any:
    """One dict in a global variable can serve as the cache of all calls."""
    cache: dict[str, Any] = {}

    def weighted_attention(x: Array, params: Params, allowed: Array) -> Any:
        y, fresh = right.weighted_attention(x, params, allowed)
        cache.update(fresh)
        return y, cache

    return weighted_attention
