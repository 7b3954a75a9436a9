"""Cross-entropy certified by two judges; large scores; clear refusals."""

from typing import Any

import autograd.numpy as anp
import numpy as np
import pytest

from autodiff.losses import cross_entropy
from autodiff.tensor import Tensor


@pytest.mark.parametrize("shape", [(), (3,), (2, 3)], ids=str)
def test_it_has_the_gradients_of_two_judges(certify: Any, shape: tuple[int, ...]) -> None:
    targets = np.random.default_rng(1).integers(0, 7, shape)
    right = np.eye(7)[targets]

    def theirs(z: Any) -> Any:
        shares = anp.exp(z) / anp.sum(anp.exp(z), axis=-1, keepdims=True)
        return -anp.mean(anp.log(anp.sum(shares * right, axis=-1)))

    certify(lambda z: cross_entropy(z, targets), theirs, (*shape, 7))


def test_large_scores_give_finite_numbers() -> None:
    logits = Tensor([[1e4, -1e4], [1e4, -1e4]], requires_grad=True)
    loss = cross_entropy(logits, np.array([0, 1]))
    loss.backward()
    assert logits.grad is not None
    assert (1e4, [[0, 0], [0.5, -0.5]]) == (loss.item(), logits.grad.tolist())


def test_shapes_that_do_not_go_together_are_refused() -> None:
    with pytest.raises(
        ValueError, match=r"logits of shape \(2, 3, 7\) want targets of shape \(2, 3\), not \(3, 2\)"
    ):
        cross_entropy(Tensor(np.zeros((2, 3, 7))), np.zeros((3, 2), dtype=int))


def test_a_target_that_is_no_class_is_refused() -> None:
    with pytest.raises(IndexError, match="targets go from 0 to 7, but there are 7 classes"):
        cross_entropy(Tensor(np.zeros((2, 7))), np.array([0, 7]))
