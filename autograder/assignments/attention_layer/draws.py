"""Random inputs on which nothing comes right by coincidence.

The lengths of all axes differ, there is more than one of everything, heads are neither one nor as many as
channels, and the mask is neither symmetric nor causal. Where one of these is wanted, the check says so.
"""

import functools
import operator
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Mask = NDArray[np.bool_]

Size = tuple[int, int, int, int]

PARAMS = ("wq", "wk", "wv", "wo")
#: (batch, seq, heads, d_head); d_model = heads * d_head differs from all four, too. It is one of two numbers,
#: so that what code keeps of an earlier call often fits a later one in shape, and shows as wrong numbers.
SIZES = ((2, 5, 3, 4), (2, 5, 4, 3), (5, 3, 2, 6), (3, 4, 2, 5), (4, 3, 2, 5), (3, 4, 5, 2), (4, 3, 5, 2))

#: What scales whole numbers from -127 to 127 to a variance of 1.
SPREAD = (12 / (255**2 - 1)) ** 0.5


@dataclass(frozen=True)
class Case:
    """The arguments of one call of ``multihead`` and the gradient ``dy`` that arrives at its y."""

    x: Array
    params: dict[str, Array]
    heads: int | np.integer[Any]
    allowed: Mask
    dy: Array

    def with_params(self, **changed: Array) -> "Case":
        """The same case with some of the matrices exchanged."""
        return replace(self, params={**self.params, **changed})

    def astype(self, dtype: type[np.floating[Any]]) -> "Case":
        """The same case in another precision."""
        params = {name: matrix.astype(dtype) for name, matrix in self.params.items()}
        return replace(self, x=self.x.astype(dtype), params=params, dy=self.dy.astype(dtype))


def sizes(rng: np.random.Generator, count: int, among: Sequence[Size] = SIZES) -> list[Size]:
    """So many different sizes."""
    return [among[i] for i in rng.permutation(len(among))[:count]]


def case(rng: np.random.Generator, size: Size, *, allowed: Mask | None = None) -> Case:
    """A case in float64 with scores of about 1; by default with a mask of ``mask``."""
    batch, seq, heads, d_head = size
    d_model = heads * d_head
    return Case(
        x=rng.standard_normal((batch, seq, d_model)),
        params={name: rng.standard_normal((d_model, d_model)) / np.sqrt(d_model) for name in PARAMS},
        heads=heads,
        allowed=mask(rng, seq) if allowed is None else allowed,
        dy=rng.standard_normal((batch, seq, d_model)),
    )


def integer_case(rng: np.random.Generator, size: Size) -> Case:
    """A case whose x and params are integers."""
    drawn = case(rng, size)
    params = {name: rng.integers(-1, 2, matrix.shape) for name, matrix in drawn.params.items()}
    return replace(drawn, x=rng.integers(-2, 3, drawn.x.shape), params=params)


def wide_case(rng: np.random.Generator) -> Case:
    """A case with 256 channels and so few tokens that formulas cost little, even written as loops."""
    d_model = 256
    x, dy = rng.standard_normal((2, 1, 2, d_model))
    # Small whole numbers, scaled: so many normal ones would take longer to draw than a backward pass takes.
    steps = rng.integers(-127, 128, (len(PARAMS), d_model, d_model), dtype=np.int8)
    params = dict(zip(PARAMS, steps * (SPREAD / np.sqrt(d_model)), strict=True))
    return Case(x=x, params=params, heads=8, allowed=np.ones((2, 2), bool), dy=dy)


def large_scores_case(rng: np.random.Generator, size: Size, score: float = 1e4) -> Case:
    """A case with scores of ``score`` or -``score``, far beyond what exp can take, in one of the sequences.

    Those of the others are about 1, so that a maximum over the whole batch is of no use to them. One query at
    least, from which a key is hidden, has far lower scores than any number by which one would hide it.
    """
    batch, seq, heads, d_head = size
    while True:
        drawn = case(rng, size)
        q, k = (
            (drawn.x @ drawn.params[name]).reshape(batch, seq, heads, d_head).transpose(0, 2, 1, 3)
            for name in ("wq", "wk")
        )
        scores = q @ k.swapaxes(-1, -2) / np.sqrt(d_head)
        largest = np.abs(scores).reshape(batch, -1).max(axis=1)
        scores *= score / np.max(largest)
        wide = largest == np.max(largest)
        best = np.max(scores[wide], axis=-1, where=drawn.allowed, initial=-np.inf)
        if np.any(best[..., ~np.all(drawn.allowed, axis=1)] < -score / 10):
            x = drawn.x * np.where(wide, 1.0, 1 / np.sqrt(score))[:, None, None]
            return replace(drawn, x=x).with_params(wq=drawn.params["wq"] * (score / np.max(largest)))


def mask(rng: np.random.Generator, seq: int) -> Mask:
    """Which keys each query may attend to: random, neither symmetric nor causal either way round.

    Every row and every column has a True and a False. So a mask that is taken the wrong way round shows as
    wrong numbers, not as a query without keys. Two rows at least have several: where a query has one key
    nothing depends on its scores, and a single such row might be the one that a reversal leaves in its place.
    Raises ValueError for fewer than three time steps: there is no such mask.
    """
    if seq < 3:
        raise ValueError(f"no mask of {seq} time steps is neither symmetric nor triangular")
    bits = np.array([1 << t for t in range(seq)], dtype=np.int64 if seq < 63 else object)
    while True:
        drawn = rng.random((seq, seq)) < 0.6
        if _hides_nothing_by_coincidence((drawn @ bits).tolist()):
            return drawn


def _hides_nothing_by_coincidence(rows: list[int]) -> bool:
    """Whether a mask is one of ``mask``.

    A row comes as an integer whose bit t stands for key t: that is quicker than arrays for so few numbers.
    """
    everything = (1 << len(rows)) - 1
    in_some, in_all = functools.reduce(operator.or_, rows), functools.reduce(operator.and_, rows)
    if in_some != everything or in_all or 0 in rows or everything in rows:
        return False
    above = any(row >> t + 1 for t, row in enumerate(rows))
    below = any(row & (1 << t) - 1 for t, row in enumerate(rows))
    choices = sum(row.bit_count() > 1 for row in rows)
    symmetric = all(row >> t & 1 == rows[t] >> s & 1 for s, row in enumerate(rows) for t in range(s))
    return above and below and choices >= 2 and not symmetric


def arranged(array: Array, layout: str) -> Array:
    """The same numbers in another order in memory: ``F`` (first axis fastest) or ``strided`` (with gaps)."""
    if layout == "F":
        return np.asfortranarray(array)
    apart = np.zeros((*array.shape[:-1], 2 * array.shape[-1]), array.dtype)[..., ::2]
    apart[...] = array
    return apart


def bad_counts(count: int) -> tuple[tuple[str, Any], ...]:
    """What is no count of anything, with the words for it."""
    return (
        ("0", 0),
        ("a negative number", -count),
        ("a float", float(count)),
        ("True", True),
        ("a text", str(count)),
        ("None", None),
    )


def bad_head_counts(size: Size) -> Sequence[tuple[str, Any]]:
    """What is no count of heads for this size, with the words for it."""
    heads, d_model = size[2], size[2] * size[3]
    not_dividing = next(count for count in range(2, d_model + 2) if d_model % count != 0)
    zero, negative, *others = bad_counts(heads)
    return (zero, negative, ("a number that does not divide d_model", not_dividing), *others)
