"""The right numbers in a wrong order: another order of axes, or a reshape across them."""

import itertools
from dataclasses import dataclass

import numpy as np

from autograder.checking.compare import TOLERANCE

#: Arrays with more axes or entries are not tried: there are too many orders.
MAX_AXES = 4
MAX_SIZE = 20_000


@dataclass(frozen=True)
class Order:
    """How an array came out of the right one.

    ``axes`` is the order into which the right axes were brought. ``reshaped``: the numbers, read in that
    order, were then filled into the shape of the answer. ``cut``: the other way round, the right numbers were
    first filled into axes of these lengths and then brought into the right order. ``reversed`` is the axis
    along which they run backward.
    """

    axes: tuple[int, ...]
    reshaped: bool = False
    cut: bool = False
    reversed: int | None = None


def order_of(got: np.ndarray, want: np.ndarray) -> Order | None:
    """The order in which ``got`` holds the numbers of ``want``; None if it does not, or holds them rightly.

    >>> x = np.arange(6.0).reshape(1, 2, 3)
    >>> order_of(x.transpose(0, 2, 1), x)
    Order(axes=(0, 2, 1), reshaped=False, cut=False, reversed=None)
    >>> order_of(x.transpose(0, 2, 1).reshape(1, 2, 3), x)
    Order(axes=(0, 2, 1), reshaped=True, cut=False, reversed=None)
    """
    if want.ndim > MAX_AXES or want.size > MAX_SIZE or not same_numbers(got, want) or _equal(got, want):
        return None
    for axis in range(want.ndim):
        if _equal(got, np.flip(want, axis)):
            return Order(tuple(range(want.ndim)), reversed=axis)
    orders = list(itertools.permutations(range(want.ndim)))
    for axes in orders:
        if _equal(got, want.transpose(axes)):
            return Order(axes)
    for axes in orders:
        if _equal(got, want.transpose(axes).reshape(got.shape)):
            return Order(axes, reshaped=True)
    for axes in orders:
        back = np.argsort(axes)
        if _equal(got, want.reshape([want.shape[i] for i in axes]).transpose(back)):
            return Order(axes, cut=True)
    return None


def same_numbers(got: np.ndarray, want: np.ndarray) -> bool:
    """Whether two arrays hold the same numbers, each as often, wherever they are."""
    if got.size != want.size or not np.all(np.isfinite(got)):
        return False
    return _equal(np.sort(got, axis=None), np.sort(want, axis=None))


def _equal(one: np.ndarray, other: np.ndarray) -> bool:
    if one.shape != other.shape:
        return False
    scale = max(1.0, float(np.max(np.abs(other), initial=0.0)))
    return bool(np.all(np.abs(one.astype(np.float64) - other.astype(np.float64)) <= TOLERANCE * scale))
