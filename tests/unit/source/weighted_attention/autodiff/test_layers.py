"""Layers find their parameters in a fixed order, change mode together, and refuse wrong shapes."""

import numpy as np
import pytest

from autodiff.layers import GELU, Composite, Embedding, Layer, Linear, Softmax
from autodiff.tensor import Tensor


class Twice(Composite):
    def __init__(self, rng: np.random.Generator):
        super().__init__()
        self.gain = Tensor(np.ones(1, dtype=np.float32), requires_grad=True)
        self.constant = Tensor(np.ones(1))
        self.first = Linear(3, 4, rng)
        self.rest = Composite(GELU(), Linear(4, 2, rng), Softmax())

    def forward(self, x: Tensor) -> Tensor:
        return self.rest(self.first(x) * self.gain)


def rng() -> np.random.Generator:
    return np.random.default_rng(5)


def test_a_composite_names_all_parameters_in_order() -> None:
    names = ["gain", "first.weight", "first.bias", "rest.steps.1.weight", "rest.steps.1.bias"]
    assert names == list(Twice(rng()).parameters())
    assert 1 + 3 * 4 + 4 + 4 * 2 + 2 == Twice(rng()).count()


def test_parameters_are_found_in_lists_in_plain_layers_and_without_a_call_of_init() -> None:
    class Heads(Layer):
        def __init__(self) -> None:  # as one forgets it
            self.heads = [Linear(3, 2, rng()), Linear(3, 2, rng())]
            self.gains = (Tensor([1.0], requires_grad=True), Tensor([2.0]))

    heads = Heads()
    assert ["heads.0.weight", "heads.0.bias", "heads.1.weight", "heads.1.bias", "gains.0"] == list(
        heads.parameters()
    )
    heads.eval()
    assert [False] * 3 == [one.is_training for one in (heads, *heads.heads)]
    assert Heads().is_training


def test_all_parameters_get_a_gradient() -> None:
    layer = Twice(rng())
    (layer(Tensor(np.ones((5, 3), dtype=np.float32))) * np.arange(2.0)).sum().backward()
    assert [] == [name for name, one in layer.parameters().items() if one.grad is None or not one.grad.any()]


def test_training_and_use_are_switched_together() -> None:
    layer = Twice(rng())
    assert layer.rest.steps[1].is_training
    layer.eval()
    assert [False] * 3 == [one.is_training for one in (layer, layer.rest, layer.rest.steps[1])]
    layer.train()
    assert layer.rest.steps[1].is_training


def test_the_same_seed_gives_the_same_parameters() -> None:
    first, second = Linear(6, 4, rng()), Linear(6, 4, rng())
    assert np.array_equal(first.weight.data, second.weight.data)
    assert np.float32 == first.weight.data.dtype


def test_linear_says_which_shape_it_wants() -> None:
    with pytest.raises(
        ValueError, match=r"Linear\(64 -> 256\) was given shape \(4, 32, 65\): its last axis must be 64"
    ):
        Linear(64, 256, rng())(Tensor(np.ones((4, 32, 65))))


def test_an_embedding_is_looked_up_by_integers_that_it_has() -> None:
    embedding = Embedding(5, 3, rng())
    assert (2, 4, 3) == embedding(np.zeros((2, 4), dtype=int)).shape
    with pytest.raises(TypeError, match="looked up by integers, not by float64"):
        embedding(np.zeros(2))
    with pytest.raises(IndexError, match="rows 0 to 4"):
        embedding(np.array([5]))


def test_a_layer_without_forward_says_so() -> None:
    class Empty(Layer):
        pass

    with pytest.raises(NotImplementedError, match="Empty has no forward yet"):
        Empty()(Tensor([1.0]))
    with pytest.raises(NotImplementedError, match="Composite has neither steps nor a forward of its own"):
        Composite()(Tensor([1.0]))
