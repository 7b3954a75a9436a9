"""Random queries, keys, values and masks on which nothing comes right by coincidence.

As in ``attention_layer.draws`` the lengths of all axes differ, and a mask is neither symmetric nor causal.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from autograder.assignments.attention_layer import draws
from autograder.assignments.attention_layer.draws import Array, Mask

NAMES = ("q", "k", "v")
#: How far from others, where a score may be 10000, the best allowed score of some query is.
FAR = 1000.0


@dataclass(frozen=True)
class Inputs:
    """The arguments of one call of ``attention``, and the gradient ``dout`` that arrives at its answer."""

    q: Array
    k: Array
    v: Array
    allowed: Mask
    dout: Array

    @property
    def arguments(self) -> tuple[Array, Array, Array, Mask]:
        """What ``attention`` gets, in order."""
        return self.q, self.k, self.v, self.allowed

    @property
    def scores(self) -> Array:
        """What the softmax gets, before the mask."""
        return np.asarray(self.q @ self.k.swapaxes(-1, -2) / np.sqrt(self.q.shape[-1]))

    def astype(self, dtype: Any) -> "Inputs":
        """The same numbers in another precision."""
        q, k, v, dout = (one.astype(dtype) for one in (self.q, self.k, self.v, self.dout))
        return Inputs(q, k, v, self.allowed, dout)


def inputs(
    rng: np.random.Generator,
    leading: tuple[int, ...],
    queries: int,
    width: int,
    *,
    keys: int | None = None,
    allowed: Mask | None = None,
) -> Inputs:
    """So many queries, and as many keys if nothing else is said, of that width, under each leading index."""
    keys = queries if keys is None else keys
    return Inputs(
        q=rng.standard_normal((*leading, queries, width)),
        k=rng.standard_normal((*leading, keys, width)),
        v=rng.standard_normal((*leading, keys, width)),
        allowed=mask(rng, queries, keys) if allowed is None else allowed,
        dout=rng.standard_normal((*leading, queries, width)),
    )


def drawn(rng: np.random.Generator, count: int = 1) -> list[Inputs]:
    """Inputs with the leading axes batch and heads, of different sizes."""
    return [inputs(rng, (batch, heads), seq, d_head) for batch, seq, heads, d_head in draws.sizes(rng, count)]


def integers(rng: np.random.Generator) -> Inputs:
    """Inputs that are integers."""
    (one,) = drawn(rng)
    q, k, v = (rng.integers(-3, 4, part.shape) for part in (one.q, one.k, one.v))
    return Inputs(q, k, v, one.allowed, one.dout)


def mask(rng: np.random.Generator, queries: int, keys: int) -> Mask:
    """Which keys each query may look at: random; no row without a True, several rows with a choice."""
    if queries == keys:
        return draws.mask(rng, queries)
    while True:
        table = rng.random((queries, keys)) < 0.6
        rows = table.sum(axis=1)
        if np.all(rows > 0) and np.sum(rows > 1) >= 2 and not np.all(table):
            return table


def large_scores(rng: np.random.Generator, score: float = 1e4) -> Inputs:
    """Inputs with scores of ``score`` or -``score``, far beyond what exp can take, in the first sequence.

    Those of the others are about 1. In the first, the best allowed score of one query at least is far below
    all numbers by which one would hide a key, and that of one query is far below the score of a hidden key.
    """
    while True:
        (one,) = drawn(rng)
        ratio = np.ones(len(one.q))
        ratio[0] = score / np.max(np.abs(one.scores[0]))
        wide = replace(one, q=one.q * ratio[:, None, None, None])
        best = np.max(wide.scores[0], axis=-1, where=one.allowed, initial=-np.inf)
        hidden = np.max(wide.scores[0], axis=-1, where=~one.allowed, initial=-np.inf)
        if np.any((best < -FAR) & np.isfinite(hidden)) and np.any(hidden > best + FAR):
            return wide
