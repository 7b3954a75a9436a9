"""The reference layers: equal to multi-head attention in NumPy and to weighted attention, with gradients."""

import numpy as np
import pytest

import gpt as reference
import multihead
from attention_layer import WeightedAttention
from autodiff.model import Model
from autodiff.tensor import Tensor

HEADS = (1, 2, 4, 8)
NAMES = {"query": "wq", "key": "wk", "value": "wv", "output": "wo"}


def layer(heads: int, *, d_model: int = 8) -> reference.MultiHeadAttention:
    made = reference.MultiHeadAttention(d_model, heads, np.random.default_rng(heads))
    for parameter in made.parameters().values():
        parameter.data = parameter.data.astype(np.float64)
    return made


def arrays(*shape: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(shape)
    return rng.standard_normal(shape), rng.standard_normal(shape)


@pytest.mark.parametrize("heads", HEADS)
def test_it_equals_multi_head_attention_in_numpy_with_all_gradients(heads: int) -> None:
    numbers, dy = arrays(2, 5, 8)
    one = layer(heads)
    x = Tensor(numbers, requires_grad=True)
    y = one(x)
    y.backward(dy)
    params = {NAMES[name]: getattr(one, name).weight.data for name in NAMES}
    expected, cache = multihead.multihead(numbers, params, heads, np.tri(5, dtype=bool))
    dx, grads = multihead.multihead_backward(cache, params, dy)
    assert expected == pytest.approx(y.data, rel=1e-12, abs=1e-13)
    assert dx == pytest.approx(x.grad, rel=1e-11, abs=1e-12)
    for name, key in NAMES.items():
        assert grads[key] == pytest.approx(getattr(one, name).weight.grad, rel=1e-11, abs=1e-12), name


def test_one_head_is_weighted_attention() -> None:
    numbers, _ = arrays(2, 5, 8)
    one, other = layer(1), WeightedAttention(8, np.random.default_rng(1))
    for name, parameter in other.parameters().items():
        parameter.data = one.parameters()[name].data
    assert other(Tensor(numbers)).data == pytest.approx(one(Tensor(numbers)).data, rel=1e-13)


def test_the_number_of_parameters_does_not_depend_on_the_heads() -> None:
    assert {4 * (64 * 64 + 64)} == {layer(heads, d_model=64).count() for heads in HEADS}


def test_the_weights_of_each_head_are_kept() -> None:
    one = layer(4)
    one(Tensor(arrays(2, 5, 8)[0]))
    assert one.weights is not None
    assert (2, 4, 5, 5) == one.weights.shape
    assert not np.triu(one.weights, 1).any()


def test_the_mask_lets_gradients_pass_where_a_query_may_look() -> None:
    x = Tensor(np.ones((2, 3, 4, 4)), requires_grad=True)
    y = reference.CausalMask()(x)
    assert np.array_equal(np.broadcast_to(np.where(np.tri(4) == 1, 1.0, -1e9), (2, 3, 4, 4)), y.data)
    y.backward(np.full((2, 3, 4, 4), 7.0))
    assert np.array_equal(7 * np.broadcast_to(np.tri(4), (2, 3, 4, 4)), x.grad)


@pytest.mark.parametrize("heads", [0, 3, 16])
def test_heads_that_do_not_divide_the_model_are_refused(heads: int) -> None:
    with pytest.raises(ValueError, match=f"{heads} heads cannot share 8 numbers evenly"):
        layer(heads)


@pytest.mark.parametrize("heads", HEADS)
def test_the_model_has_these_heads_and_the_lessons_sizes(heads: int) -> None:
    model = reference.build_gpt(65, heads, np.random.default_rng(0))
    assert 109_889 == model.count()
    layers = model.attention_layers()
    assert [heads, heads] == [one.heads for one in layers if isinstance(one, reference.MultiHeadAttention)]
    assert (2, 7, 65) == model(np.zeros((2, 7), dtype=int)).shape


def test_a_generator_gives_the_first_numbers_as_its_seed_does() -> None:
    one, other = (reference.build_gpt(9, 2, np.random.default_rng(seed)) for seed in (3, 4))
    same = Model(9, make_attention=lambda d, rng: reference.MultiHeadAttention(d, 2, rng), seed=3)
    for name, parameter in same.parameters().items():
        assert np.array_equal(parameter.data, one.parameters()[name].data), name
    assert not np.array_equal(one.token.table.data, other.token.table.data)


@pytest.mark.parametrize("heads", [1, 2, 4])
def test_every_gradient_is_that_of_central_differences(heads: int) -> None:
    """Biases included, which attention in NumPy does not have."""
    numbers, dy = arrays(2, 5, 8)
    one = layer(heads)
    rng = np.random.default_rng(9)
    for part in NAMES:
        getattr(one, part).bias.data = rng.standard_normal(8)
    x = Tensor(numbers, requires_grad=True)
    one(x).backward(dy)
    for name, tensor in {**one.parameters(), "x": x}.items():
        direction = rng.standard_normal(tensor.shape)
        before, ends = tensor.data, []
        for step in (1e-5, -1e-5):
            tensor.data = before + step * direction
            ends.append(float((one(x).data * dy).sum()))
        tensor.data = before
        assert tensor.grad is not None
        assert float((tensor.grad * direction).sum()) == pytest.approx(
            (ends[0] - ends[1]) / 2e-5, rel=1e-7, abs=1e-7
        ), name
