"""The model has the lesson's size, looks back only, and says which shapes it wants."""

import numpy as np
import pytest

from attention_layer import WeightedAttention
from autodiff.layers import Layer
from autodiff.model import Model
from autodiff.tensor import Tensor


def model(**settings: int) -> Model:
    return Model(65, make_attention=WeightedAttention, **settings)


def test_it_has_the_size_of_the_lesson() -> None:
    assert 109_889 == model().count()
    assert (4, 32, 65) == model()(np.zeros((4, 32), dtype=int)).shape


def test_no_place_hears_of_later_ones() -> None:
    rng = np.random.default_rng(0)
    numbers = rng.integers(0, 65, (2, 32))
    changed = numbers.copy()
    changed[:, 20:] = rng.integers(0, 65, (2, 12))
    network = model()
    before, after = network(numbers).data, network(changed).data
    assert np.array_equal(before[:, :20], after[:, :20])
    assert not np.allclose(before[:, 20:], after[:, 20:])


def test_shorter_contexts_are_read_too_and_longer_ones_refused() -> None:
    network = model()
    numbers = np.arange(32)[None]
    assert network(numbers).data[:, :7] == pytest.approx(network(numbers[:, :7]).data, abs=1e-5)
    with pytest.raises(
        ValueError, match=r"numbers of shape \(batch, seq\) with 1 to 32 places, not \(1, 33\)"
    ):
        network(np.zeros((1, 33), dtype=int))


def test_an_attention_layer_that_changes_the_shape_is_named() -> None:
    class Cut(Layer):
        def forward(self, x: Tensor) -> Tensor:
            return x[:, :, :8]

    with pytest.raises(
        ValueError, match=r"Cut was given shape \(4, 32, 64\).*its answer has shape \(4, 32, 8\)"
    ):
        Model(65, make_attention=lambda _d_model, _rng: Cut())(np.zeros((4, 32), dtype=int))


def test_what_is_no_layer_is_refused_since_it_would_not_be_trained() -> None:
    with pytest.raises(TypeError, match="must be a Layer of autodiff, not function"):
        Model(65, make_attention=lambda _d_model, _rng: lambda x: x)  # type: ignore[arg-type, return-value]


def test_seeds_make_it_repeatable() -> None:
    same = [one.parameters()["output.weight"].data for one in (model(seed=1), model(seed=1), model(seed=2))]
    assert np.array_equal(same[0], same[1])
    assert not np.array_equal(same[0], same[2])
