"""What the visible checks of this lesson ask of tensors and layers; of arrays they ask by ``outcomes.py``.

Nothing is known by its class here: what a check gets may be a tensor of this notebook, or stand for one that
lies somewhere else.
"""

from typing import Any

import numpy as np

from outcomes import Array, describe, fail

#: What a tensor of autodiff has, and nothing else.
TENSOR_HAS = ("data", "grad", "requires_grad")


def tensor(what: str, answer: Any) -> Any:
    """The answer; raises CheckFailed unless it is a tensor."""
    if isinstance(answer, np.ndarray):
        fail(what, f"expected a Tensor, got {describe(answer)}: compute with tensors up to the end.")
    if not _has(answer, TENSOR_HAS) or type(answer.requires_grad) is not bool:
        fail(what, f"expected a Tensor, got {describe(answer)}.")
    return answer


def recorded(what: str, answer: Any, remedy: str) -> Any:
    """The tensor; raises CheckFailed unless it remembers how it was computed."""
    if not answer.requires_grad:
        fail(what, f"the result forgot how it was computed, so no gradient finds its way back. {remedy}")
    return answer


def linear(what: str, layer: Any, name: str, d_model: int) -> Any:
    """The part of that name; raises CheckFailed unless it is a linear layer of d_model numbers to as many."""
    part, where = getattr(layer, name, None), f"{what}, self.{name}"
    wanted = f"expected Linear({d_model}, {d_model}, rng)"
    if part is None:
        fail(where, f"{wanted}, got nothing: __init__ puts it there.")
    weight = getattr(part, "weight", None)
    if weight is None or not hasattr(weight, "data") or not hasattr(part, "bias"):
        fail(where, f"{wanted}, got {describe(part)}.")
    shape = getattr(weight.data, "shape", None)
    if shape != (d_model, d_model):
        fail(where, f"{wanted}, got a weight of the shape {shape}: all heads together are as wide as x.")
    return part


def gradient(what: str, of: Any, name: str) -> Array:
    """The gradient that ``backward`` has left in a tensor; raises CheckFailed where there is none."""
    found: Array | None = of.grad
    if found is None:
        fail(
            what,
            f"no gradient reached {name}. Numbers that are taken out of a tensor, by .data, leave the graph: "
            "compute with tensors up to the end.",
        )
    return found


def _has(one: Any, names: tuple[str, ...]) -> bool:
    return all(hasattr(one, name) for name in names)
