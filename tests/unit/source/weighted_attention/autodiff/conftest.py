"""Gradients of an operation beside those of two judges that owe nothing to it."""

from collections.abc import Callable
from typing import Any

import autograd
import autograd.numpy as anp
import numpy as np
import pytest

from autodiff.tensor import Tensor, no_grad
from autograder.checking.differences import complex_step_gradient

Certify = Callable[..., None]


def gradients_of(
    function: Callable[..., Tensor], arrays: list[np.ndarray], dy: np.ndarray
) -> list[np.ndarray]:
    """The gradients of ``sum(function(*arrays) * dy)`` as ``backward`` leaves them."""
    tensors = [Tensor(array, requires_grad=True) for array in arrays]
    function(*tensors).backward(dy)
    return [np.asarray(tensor.grad) for tensor in tensors]


@pytest.fixture
def certify() -> Certify:
    """Call it with an operation on tensors, the same in HIPS autograd's NumPy, and the shapes of its inputs.

    Compares the answers, and the gradients of all inputs under a random gradient of the answer: with HIPS
    autograd's, and with complex steps of the operation itself, which are exact to the last digits.
    """

    def check(ours: Callable[..., Tensor], theirs: Callable[..., Any], *shapes: tuple[int, ...]) -> None:
        rng = np.random.default_rng([len(shapes), *(length for shape in shapes for length in shape)])
        arrays = [np.asarray(rng.standard_normal(shape) + 0.3) for shape in shapes]
        answer = ours(*map(Tensor, arrays)).data
        assert theirs(*arrays) == pytest.approx(answer, rel=1e-13, abs=1e-13)
        dy = rng.standard_normal(answer.shape)
        for number, gradient in enumerate(gradients_of(ours, arrays, dy)):

            def loss(value: np.ndarray, number: int = number) -> Any:
                inputs = [*arrays[:number], value, *arrays[number + 1 :]]
                with no_grad():
                    return np.sum(ours(*map(Tensor, inputs)).data * dy)

            def their_loss(value: Any, number: int = number) -> Any:
                return anp.sum(theirs(*arrays[:number], value, *arrays[number + 1 :]) * dy)

            expected = autograd.grad(their_loss)(arrays[number])
            assert expected.shape == gradient.shape
            assert expected == pytest.approx(gradient, rel=1e-10, abs=1e-12)
            assert complex_step_gradient(loss, arrays[number]) == pytest.approx(
                gradient, rel=1e-10, abs=1e-12
            )

    return check
