"""AdamW against its formula; parameters as views; the learning rate over time."""

import math

import numpy as np
import pytest

from autodiff.optimiser import AdamW, WarmupCosine
from autodiff.tensor import Tensor


def parameters() -> dict[str, Tensor]:
    rng = np.random.default_rng(3)
    shapes = {"weight": (3, 4), "bias": (4,), "gain": ()}
    return {name: Tensor(rng.standard_normal(shape), requires_grad=True) for name, shape in shapes.items()}


def test_steps_follow_the_formula() -> None:
    tensors = parameters()
    expected = {name: tensor.data.copy() for name, tensor in tensors.items()}
    optimiser = AdamW(tensors, decay=0.1)
    rng = np.random.default_rng(4)
    mean = dict.fromkeys(tensors, 0.0)
    square = dict(mean)
    for step in range(1, 6):
        optimiser.zero_grad()
        for name, tensor in tensors.items():
            g = rng.standard_normal(tensor.shape)
            (tensor * g).sum().backward()
            mean[name] = 0.9 * mean[name] + 0.1 * g
            square[name] = 0.999 * square[name] + 0.001 * g**2
            m, v = mean[name] / (1 - 0.9**step), square[name] / (1 - 0.999**step)
            expected[name] = expected[name] * (1 - 0.02 * 0.1) - 0.02 * m / (np.sqrt(v) + 1e-8)
        optimiser.step(0.02)
    for name, tensor in tensors.items():
        assert expected[name] == pytest.approx(tensor.data, rel=1e-12), name


def test_the_gradient_is_shortened_all_together_and_only_if_too_long() -> None:
    tensors = parameters()
    optimiser = AdamW(tensors)
    for tensor in tensors.values():
        (tensor * 2).sum().backward()
    norm = 2 * math.sqrt(12 + 4 + 1)
    assert norm == pytest.approx(optimiser.clip_grad_norm(100.0))
    assert norm == pytest.approx(optimiser.clip_grad_norm(1.0))
    assert optimiser.clip_grad_norm(1.0) == pytest.approx(1)
    assert np.full(4, 2 / norm) == pytest.approx(tensors["bias"].grad)


def test_zero_grad_forgets_and_keeps_the_array() -> None:
    tensors = parameters()
    optimiser = AdamW(tensors)
    before = tensors["bias"].grad
    (tensors["bias"] * 2).sum().backward()
    optimiser.zero_grad()
    assert tensors["bias"].grad is before
    assert not optimiser.gradients.any()


def test_what_was_put_in_the_place_of_a_view_counts() -> None:
    tensors = parameters()
    optimiser = AdamW(tensors, decay=0.0)
    tensors["bias"].data = np.zeros(4)
    tensors["bias"].grad, tensors["weight"].grad = np.full(4, 7.0), None
    weight = tensors["weight"].data.copy()
    optimiser.step(0.5)
    assert np.full(4, -0.5) == pytest.approx(tensors["bias"].data)
    assert np.array_equal(weight, tensors["weight"].data)
    assert tensors["bias"].data.base is not None


def test_parameters_must_be_there_and_of_one_precision() -> None:
    single = Tensor(np.ones(2, dtype=np.float32), requires_grad=True)
    for wrong in ({}, parameters() | {"single": single}):
        with pytest.raises(ValueError, match="AdamW needs parameters, all of one precision"):
            AdamW(wrong)


def test_the_rate_rises_in_a_line_then_falls_to_a_tenth() -> None:
    rate = WarmupCosine(0.001, warmup=100, steps=2100)
    assert [1e-5, 5e-4, 1e-3] == pytest.approx([rate(0), rate(49), rate(99)])
    assert 0.00055 == pytest.approx(rate(1099))
    assert [0.0001, 0.0001] == pytest.approx([rate(2099), rate(5000)])
    assert all(rate(step) > rate(step + 1) for step in range(100, 2098))
