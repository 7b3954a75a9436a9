"""Derivatives without a formula for them: by a complex step, and by central differences along a direction.

Both differentiate a reference's forward pass, to certify its backward pass. The complex step (W. Squire and
G. Trapp, "Using complex variables to estimate derivatives of real functions", SIAM Review 40, 1998) has no
cancellation and is exact to the last digits, but wants a function that computes on complex numbers.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
ComplexArray = NDArray[np.complex128]

COMPLEX_STEP = 1e-30
#: Relative to the input's scale: the error of a step h grows as h**2, that of rounding as 1e-16 / h.
DIFFERENCE_STEP = 1e-5


def complex_step_gradient(function: Callable[[ComplexArray], complex], at: Array) -> Array:
    """The gradient of a real function at ``at``: Im f(x + ih e) / h, entry by entry.

    ``function`` must compute on complex arrays by analytic operations alone: no ``abs``, no conjugate.

    >>> complex_step_gradient(lambda x: np.sum(x**3), np.array([1.0, 2.0])).tolist()
    [3.0, 12.0]
    """
    gradient = np.empty(at.shape)
    for index in np.ndindex(at.shape):
        moved = at.astype(np.complex128)
        moved[index] += 1j * COMPLEX_STEP
        gradient[index] = np.imag(function(moved)) / COMPLEX_STEP
    return gradient


def slope(function: Callable[[Array], float], at: Array, direction: Array) -> float:
    """The central difference of ``function`` at ``at`` along ``direction``, per unit of ``direction``.

    Raises ValueError where the direction does not lead anywhere.

    >>> round(slope(lambda x: float(np.sum(x**2)), np.array([1.0, 2.0]), np.array([1.0, 1.0])), 6)
    6.0
    """
    length = float(np.max(np.abs(direction), initial=0.0))
    if direction.shape != at.shape or not 0 < length < np.inf:
        raise ValueError("the direction must have the input's shape and be neither zero nor infinite")
    scale = float(np.max(np.abs(at))) or 1.0
    step = DIFFERENCE_STEP * scale / length
    return (function(at + step * direction) - function(at - step * direction)) / (2 * step)


def follows(
    gradient: Array,
    function: Callable[[Array], float],
    at: Array,
    rng: np.random.Generator,
    *,
    directions: int,
    tol: float,
) -> bool:
    """Whether ``gradient`` agrees with differences of ``function`` along so many random directions.

    In each, <gradient, direction> and the slope may differ by ``tol`` * max(1, |slope|).
    """
    for _ in range(directions):
        direction = rng.standard_normal(at.shape)
        expected = slope(function, at, direction)
        if not abs(float(np.sum(gradient * direction)) - expected) <= tol * max(1.0, abs(expected)):
            return False
    return True
