"""Operations with a way back of their own, certified by two judges."""

from typing import Any

import autograd.numpy as anp
import numpy as np
import pytest

from autodiff.functions import gelu, keep, linear, lookup, softmax
from autodiff.tensor import Tensor

ALLOWED = np.array([[True, False, True, True], [True, True, False, False], [False, False, False, True]])


def their_softmax(x: Any) -> Any:
    powers = anp.exp(x - anp.max(x, axis=-1, keepdims=True))
    return powers / anp.sum(powers, axis=-1, keepdims=True)


@pytest.mark.parametrize("shape", [(3, 4), (2, 3, 4), (5, 2, 3, 4), (4,)], ids=str)
def test_linear_has_the_gradients_of_two_judges(certify: Any, shape: tuple[int, ...]) -> None:
    certify(linear, lambda x, w, b: anp.dot(x, w) + b, shape, (4, 5), (5,))


@pytest.mark.parametrize("shape", [(5,), (3, 4), (2, 3, 4)], ids=str)
def test_softmax_has_the_gradients_of_two_judges(certify: Any, shape: tuple[int, ...]) -> None:
    certify(softmax, their_softmax, shape)


def test_softmax_of_large_scores_is_finite() -> None:
    y = softmax(Tensor([[1e4, 0.0, -1e4], [-1e4, -1e4, -1e4]])).data
    assert [[1, 0, 0], [1 / 3, 1 / 3, 1 / 3]] == pytest.approx(y)


def test_gelu_has_the_gradients_of_two_judges(certify: Any) -> None:
    def theirs(x: Any) -> Any:
        return 0.5 * x * (1 + anp.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))

    certify(gelu, theirs, (2, 3, 40))


def test_gelu_of_large_numbers_is_flat_or_the_number_itself() -> None:
    x = Tensor([-50.0, 0.0, 50.0], requires_grad=True)
    y = gelu(x)
    y.backward(np.ones(3))
    assert x.grad is not None
    assert ([0, 0, 50], [0, 0.5, 1]) == (y.data.tolist(), x.grad.tolist())


@pytest.mark.parametrize("shape", [(3, 4), (2, 3, 4)], ids=str)
def test_keep_lets_gradients_pass_where_it_kept(certify: Any, shape: tuple[int, ...]) -> None:
    certify(lambda x: keep(x * 2, ALLOWED), lambda x: anp.where(ALLOWED, x * 2, -1e9), shape)


def test_keep_leaves_no_weight_after_the_softmax() -> None:
    weights = softmax(keep(Tensor(np.full((3, 4), -1e4, dtype=np.float32)), ALLOWED)).data
    assert np.float32 == weights.dtype
    assert not weights[~ALLOWED].any()


@pytest.mark.parametrize("indices", [[0, 2, 2, 2], [[5, 1], [1, 1]], [], 3], ids=str)
def test_lookup_collects_from_all_places_of_a_row(certify: Any, indices: Any) -> None:
    numbers = np.array(indices, dtype=np.int64)
    certify(lambda table: lookup(table, numbers) * 2, lambda table: table[numbers] * 2, (6, 3))


@pytest.mark.parametrize("wrong", [-1, 6])
def test_lookup_refuses_what_is_no_row(wrong: int) -> None:
    with pytest.raises(IndexError, match=f"lookup: numbers from .*{wrong}.*, but the table has rows 0 to 5"):
        lookup(Tensor(np.ones((6, 3))), np.array([wrong, 2]))


@pytest.mark.parametrize("function", [gelu, softmax, lambda x: keep(x, np.array([True, False]))])
def test_the_input_and_the_gradient_stay_as_they_are(function: Any) -> None:
    x, dy = Tensor([1.0, -2.0], requires_grad=True), np.array([3.0, 4.0])
    function(x).backward(dy)
    assert ([1.0, -2.0], [3.0, 4.0]) == (x.data.tolist(), dy.tolist())
