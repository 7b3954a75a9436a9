import numpy as np
import pytest

from autograder.assignments.attention_layer.passes import confirm, is_right
from autograder.errors import JudgeError


def squares(x: np.ndarray) -> float:
    return float(np.sum(x**2))


def test_a_gradient_of_the_reference_that_is_wrong_is_a_fault_of_ours_every_time() -> None:
    at = np.array([[1.5, -2.5], [0.25, 3.25]])
    for _ in range(2):
        with pytest.raises(JudgeError, match="gradient dx does not fit"):
            confirm("dx", 2.001 * at, squares, at, np.random.default_rng(0))


def test_a_gradient_is_confirmed_once_at_each_place() -> None:
    places: list[np.ndarray] = []

    def loss(x: np.ndarray) -> float:
        places.append(x)
        return squares(x)

    one, other = np.array([0.125, 7.5]), np.array([0.125, 7.25])
    for at in (one, other, one):
        before = len(places)
        confirm("dx", 2 * at, loss, at, np.random.default_rng(0))
        assert (len(places) == before) == (at is one and before > 0)


@pytest.mark.parametrize("dtype", ["complex128", "bool"])
def test_nothing_is_right_beside_an_earlier_answer_that_holds_no_real_numbers(dtype: str) -> None:
    assert not is_right(np.ones(2), np.ones(2, dtype))
    assert is_right(np.ones(2), np.ones(2))
