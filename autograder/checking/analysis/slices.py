"""Which parts of an answer are right: the first sequence of a batch, the last head, all tokens but one."""

from collections.abc import Sequence
from enum import StrEnum

import numpy as np

from autograder.checking.compare import TOLERANCE


class Pattern(StrEnum):
    """Where along an axis an array is right."""

    FIRST_RIGHT = "right at the first place and wrong at all others"
    FIRST_WRONG = "wrong at the first place and right at all others"
    LAST_RIGHT = "right at the last place and wrong at all others"
    LAST_WRONG = "wrong at the last place and right at all others"


def right_slices(got: np.ndarray, want: np.ndarray, axis: int) -> np.ndarray:
    """For each place along an axis, whether all numbers there are right.

    >>> right_slices(np.array([[1, 2], [3, 5]]), np.array([[1, 2], [3, 4]]), 0).tolist()
    [True, False]
    """
    scale = max(1.0, float(np.max(np.abs(want.astype(np.float64)), initial=0.0)))
    with np.errstate(all="ignore"):
        close = np.abs(got.astype(np.float64) - want.astype(np.float64)) <= TOLERANCE * scale
    others = tuple(i for i in range(want.ndim) if i != axis)
    return np.asarray(np.all(close, axis=others))


def patterns_of(right: np.ndarray) -> frozenset[Pattern]:
    """What may be said of the places; nothing where all are right or all wrong, or where there is no rule.

    >>> sorted(one.name for one in patterns_of(np.array([True, False, False])))
    ['FIRST_RIGHT']
    """
    if np.all(right) or not np.any(right):
        return frozenset()
    found: set[Pattern] = set()
    count = int(np.count_nonzero(right))
    if count == 1:
        found |= {Pattern.FIRST_RIGHT} if right[0] else set()
        found |= {Pattern.LAST_RIGHT} if right[-1] else set()
    if count == right.size - 1:
        found |= {Pattern.FIRST_WRONG} if not right[0] else set()
        found |= {Pattern.LAST_WRONG} if not right[-1] else set()
    return frozenset(found)


def common_pattern(rights: Sequence[np.ndarray]) -> Pattern | None:
    """The most that can be said of the places on all of several inputs.

    >>> common_pattern([np.array([True, False]), np.array([True, True, False])]).name
    'LAST_WRONG'
    """
    found = frozenset.intersection(*map(patterns_of, rights))
    return next((one for one in Pattern if one in found), None)
