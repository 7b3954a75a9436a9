"""What differs between the layers that assignments ask for, so that checks and analyses are written once.

A layer is two functions: ``forward(x, params, ..., allowed) -> (y, cache)`` with the matrices wq, wk, wv and
wo, and ``backward(cache, params, dy) -> (dx, grads)``. It has several heads, or one of which nobody speaks.
"""

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from .draws import Array, Case, Size, sizes


def _itself(reference: ModuleType) -> Any:
    return reference


@dataclass(frozen=True)
class Layer:
    """The names of a layer's functions, and the sizes at which it is tried.

    ``joined`` is the key of the cache under which lies what wo multiplies, ``keys`` are all that the cache
    must have. ``extremes`` are two sizes, the second of a single time step. At ``look_sizes`` no two factors
    that an analysis could name have the same value; at ``fit_sizes`` there are fewer tokens than channels.
    ``as_multihead`` shows a reference as one of multi-head attention.
    """

    assignment: str
    forward: str
    backward: str
    joined: str
    keys: tuple[str, ...]
    sizes: tuple[Size, ...]
    extremes: tuple[Size, Size]
    look_sizes: tuple[Size, Size]
    fit_sizes: tuple[Size, Size]
    has_heads: bool = True
    as_multihead: Callable[[ModuleType], Any] = _itself

    def arguments(self, case: Case) -> dict[str, Any]:
        """The arguments of the forward pass, by name and in their order."""
        heads = {"heads": case.heads} if self.has_heads else {}
        return {"x": case.x, "params": case.params, **heads, "allowed": case.allowed}

    def draw(self, rng: np.random.Generator, count: int) -> list[Size]:
        """So many different sizes."""
        return sizes(rng, count, self.sizes)

    def forward_of(self, reference: ModuleType, case: Case) -> Any:
        """The y and the cache of a reference."""
        return getattr(reference, self.forward)(*self.arguments(case).values())

    def backward_of(self, reference: ModuleType, case: Case) -> dict[str, Array]:
        """The gradients of a reference by name: dx, wq, wk, wv, wo."""
        _, cache = self.forward_of(reference, case)
        dx, grads = getattr(reference, self.backward)(cache, case.params, case.dy)
        return {"dx": dx, **{name: grads[name] for name in case.params}}
