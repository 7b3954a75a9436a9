"""What the visible checks of this lesson ask of tensors and layers; of arrays they ask by ``outcomes.py``.

Nothing is known by its class here: what a check gets may be a tensor of this notebook, or stand for one that
lies somewhere else. Each thing is asked for once, and believed only as far as it was looked at.
"""

from typing import Any

import numpy as np

from outcomes import Array, describe, fail


def called(what: str, thing: Any, *arguments: Any) -> Any:
    """What a layer, a model or a method answers; raises CheckFailed where it cannot be called."""
    __tracebackhide__ = True
    if not callable(thing):
        fail(what, f"expected something that can be called, got {describe(thing)}.")
    return thing(*arguments)


def numbers(what: str, answer: Any) -> Array:
    """The array in a tensor; raises CheckFailed unless the answer is a tensor."""
    if isinstance(answer, np.ndarray):
        fail(what, f"expected a Tensor, got {describe(answer)}: compute with tensors up to the end.")
    found = getattr(answer, "data", None)
    if not isinstance(found, np.ndarray) or not hasattr(answer, "requires_grad"):
        fail(what, f"expected a Tensor, got {describe(answer)}.")
    return found


def walk_back(what: str, y: Any, dy: Array, remedy: str) -> None:
    """Let a gradient arrive at a tensor; raises CheckFailed where that forgot how it was computed."""
    __tracebackhide__ = True
    if getattr(y, "requires_grad", None) is not True:
        fail(what, f"the result forgot how it was computed, so no gradient finds its way back. {remedy}")
    called(what, getattr(y, "backward", None), dy)


def gradient(what: str, of: Any, name: str) -> Any:
    """The gradient that ``backward`` has left in a tensor; raises CheckFailed where there is none."""
    found = getattr(of, "grad", None)
    if found is None:
        fail(
            what,
            f"no gradient reached {name}. Numbers that are taken out of a tensor, by .data, leave the graph: "
            "compute with tensors up to the end.",
        )
    return found


def linear(what: str, layer: Any, name: str, d_model: int) -> tuple[Any, Any]:
    """Weight and bias of a part; raises CheckFailed unless it leads from d_model numbers to as many."""
    part, where = getattr(layer, name, None), f"{what}, self.{name}"
    wanted = f"expected Linear({d_model}, {d_model}, rng)"
    if part is None:
        fail(where, f"{wanted}, got nothing: __init__ puts it there.")
    weight, bias = getattr(part, "weight", None), getattr(part, "bias", None)
    if weight is None or bias is None:
        fail(where, f"{wanted}, got {describe(part)}.")
    shape = np.shape(numbers(where, weight))
    if shape != (d_model, d_model):
        fail(where, f"{wanted}, got a weight of the shape {shape}: all heads together are as wide as x.")
    return weight, bias


def put(what: str, tensor: Any, array: Array) -> None:
    """Put an array into a tensor; raises CheckFailed where it is none."""
    try:
        tensor.data = array
    except AttributeError:
        fail(what, f"expected a Tensor, got {describe(tensor)}.")
