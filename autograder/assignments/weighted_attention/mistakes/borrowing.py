"""How mistakes of multi-head attention are made in a layer with one head."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

from autograder.assignments.attention_layer.draws import Array
from autograder.assignments.weighted_attention.one_head import (
    Cache,
    OneHead,
    Params,
    with_heads,
    without_heads,
)

view = OneHead


def forward(wrong: Callable[..., Any], right: ModuleType, x: Array, params: Params, allowed: Array) -> Any:
    """A wrong ``multihead`` with one head in the place of ``weighted_attention``."""
    result = wrong(x, params, 1, allowed)
    if not isinstance(result, tuple):
        return result
    y, cache = result
    return y, without_heads(cache)


def backward(wrong: Callable[..., Any], right: ModuleType, cache: Cache, params: Params, dy: Array) -> Any:
    """A wrong ``multihead_backward`` with one head in the place of ``weighted_attention_backward``."""
    return wrong(with_heads(cache), params, dy)
