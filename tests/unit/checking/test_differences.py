import numpy as np
import pytest

from autograder.checking.differences import complex_step_gradient, follows, slope


def cubes(x):  # works on real and on complex numbers
    return np.sum(np.sin(x) * x**3)


def gradient(x: np.ndarray) -> np.ndarray:
    return np.cos(x) * x**3 + 3 * np.sin(x) * x**2


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(1)


def test_a_complex_step_is_exact_to_the_last_digits(rng: np.random.Generator) -> None:
    at = rng.standard_normal((3, 4))
    error = np.max(np.abs(complex_step_gradient(cubes, at) - gradient(at)))
    assert error <= 1e-14


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_a_slope_is_right_at_every_scale(rng: np.random.Generator, scale: float) -> None:
    at, direction = scale * rng.standard_normal(5), 1e3 * rng.standard_normal(5)
    exact = float(np.sum(2 * at * direction))
    assert slope(lambda x: float(np.sum(x**2)), at, direction) == pytest.approx(exact, rel=1e-7)


def test_at_zero_a_slope_is_right_too() -> None:
    assert slope(lambda x: float(np.sum(x)), np.zeros(3), np.ones(3)) == pytest.approx(3.0)


@pytest.mark.parametrize("direction", [np.zeros(3), np.ones(2), np.array([1.0, np.inf, 0.0])])
def test_a_direction_that_leads_nowhere_is_refused(direction: np.ndarray) -> None:
    with pytest.raises(ValueError, match="direction"):
        slope(lambda x: float(np.sum(x)), np.ones(3), direction)


def test_the_right_gradient_follows_its_function_and_wrong_ones_do_not(rng: np.random.Generator) -> None:
    at = rng.standard_normal((2, 3))
    right = gradient(at)

    def agrees(candidate: np.ndarray) -> bool:
        return follows(candidate, lambda x: float(cubes(x)), at, rng, directions=3, tol=1e-6)

    assert agrees(right)
    assert not agrees(right / 2)
    assert not agrees(right[:, ::-1])
    assert not agrees(np.zeros_like(right))
    assert not agrees(np.full_like(right, np.nan))
