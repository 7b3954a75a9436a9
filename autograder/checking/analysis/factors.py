"""The right numbers times something: one constant, or one for each of several parts that were added up."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from autograder.checking.compare import TOLERANCE

Sizes = Mapping[str, int]
#: Factors by their names in a formula: what each is for given lengths of the axes.
Named = Mapping[str, Callable[[Sizes], float]]


def constant_factor(got: np.ndarray, want: np.ndarray) -> float | None:
    """The number by which ``want`` was multiplied; None if it was not.

    >>> constant_factor(np.array([2.0, 4.0]), np.array([1.0, 2.0]))
    2.0
    """
    coefficients = parts_of(got, [want])
    return None if coefficients is None else float(coefficients[0])


def parts_of(got: np.ndarray, parts: Sequence[np.ndarray]) -> np.ndarray | None:
    """By what each of several arrays was multiplied before they were added up to ``got``.

    Least squares; None unless they add up to ``got`` indeed, by coefficients that nothing else could be.

    >>> parts_of(np.array([3.0, 2.0, 0.0]), [np.array([1.0, 1.0, 0.0]), np.array([1.0, 0.0, 0.0])]).round(9)
    array([2., 1.])
    """
    if any(got.shape != part.shape for part in parts) or not np.all(np.isfinite(got)):
        return None
    table = np.stack([part.astype(np.float64).ravel() for part in parts], axis=1)
    coefficients, _, rank, _ = np.linalg.lstsq(table, got.astype(np.float64).ravel(), rcond=None)
    if rank < len(parts):
        return None
    scale = max(1.0, float(np.max(np.abs(got), initial=0.0)))
    if np.max(np.abs(table @ coefficients - got.astype(np.float64).ravel()), initial=0.0) > TOLERANCE * scale:
        return None
    return np.asarray(coefficients)


def name_of(factors: Sequence[float], sizes: Sequence[Sizes], names: Named) -> str | None:
    """The first name under which all factors, each found at other sizes, are what they should be.

    >>> name_of([0.5, 0.25], [{"B": 2}, {"B": 4}], {"1/B": lambda n: 1 / n["B"]})
    '1/B'
    """
    for name, formula in names.items():
        values = [formula(lengths) for lengths in sizes]
        if all(is_close(a, b) for a, b in zip(factors, values, strict=True)):
            return name
    return None


def is_close(one: float, other: float) -> bool:
    """Whether two factors are the same but for rounding; looser than answers, since they were fitted."""
    return abs(one - other) <= 1e-6 * max(1.0, abs(other))
