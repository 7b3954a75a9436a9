"""The reference does what the assignment says: worked values, refusals, kinds of numbers, no side effects."""

import copy
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import multihead as reference

SIZES = st.integers(min_value=1, max_value=5)
NAMES = ("wq", "wk", "wv", "wo")
HAND_PARAMS = {
    "wq": np.eye(2),
    "wk": np.eye(2),
    "wv": 2 * np.eye(2),
    "wo": np.array([[1.0, 1.0], [0.0, 1.0]]),
}
CAUSAL = np.tri(3, dtype=bool)


def numbers(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.standard_normal(shape)


def layer(seed: int) -> tuple[np.ndarray, dict[str, np.ndarray], np.ndarray]:
    """x, params and dy for B2 T3 C20."""
    rng = np.random.default_rng(seed)
    return numbers(rng, 2, 3, 20), {name: numbers(rng, 20, 20) for name in NAMES}, numbers(rng, 2, 3, 20)


def run(x: np.ndarray, params: dict[str, np.ndarray], dy: np.ndarray) -> dict[str, np.ndarray]:
    """All arrays that the two passes return."""
    y, cache = reference.multihead(x, params, 4, CAUSAL)
    dx, grads = reference.multihead_backward(cache, params, dy)
    return {"y": y, "joined": cache["joined"], "dx": dx, **grads}


@given(batch=SIZES, seq=SIZES, heads=SIZES, d_head=SIZES)
def test_head_h_holds_the_channels_from_h_times_d(batch: int, seq: int, heads: int, d_head: int) -> None:
    x = np.arange(batch * seq * heads * d_head).reshape(batch, seq, heads * d_head)
    h = reference.split_heads(x, heads)
    assert (batch, heads, seq, d_head) == h.shape
    for head in range(heads):
        assert np.array_equal(x[:, :, head * d_head : (head + 1) * d_head], h[:, head])


@given(batch=SIZES, seq=SIZES, heads=SIZES, d_head=SIZES)
def test_merging_undoes_splitting_and_splitting_undoes_merging(
    batch: int, seq: int, heads: int, d_head: int
) -> None:
    x = np.arange(batch * seq * heads * d_head).reshape(batch, seq, heads * d_head)
    h = x.reshape(batch, heads, seq, d_head)
    assert np.array_equal(x, reference.merge_heads(reference.split_heads(x, heads)))
    assert np.array_equal(h, reference.split_heads(reference.merge_heads(h), heads))


@pytest.mark.parametrize("heads", [True, np.True_, 2.0, np.float64(2), "2", None])
def test_a_number_of_heads_that_is_no_integer_is_refused(heads: Any) -> None:
    with pytest.raises(TypeError, match="heads must be an integer"):
        reference.split_heads(np.zeros((1, 2, 4)), heads)


@pytest.mark.parametrize("heads", [0, -1, -2, 3, 8])
def test_a_number_of_heads_that_does_not_divide_the_channels_is_refused(heads: int) -> None:
    with pytest.raises(ValueError, match="4 channels cannot be dealt out"):
        reference.split_heads(np.zeros((1, 2, 4)), heads)


@pytest.mark.parametrize("heads", [2, np.int64(2), np.int8(2), np.uint16(2)])
def test_python_and_numpy_integers_are_welcome_as_heads(heads: Any) -> None:
    assert (1, 2, 3, 2) == reference.split_heads(np.zeros((1, 3, 4)), heads).shape


@pytest.mark.parametrize("shape", [(), (4,), (2, 4), (1, 2, 2, 4)])
def test_splitting_wants_three_axes(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="three axes"):
        reference.split_heads(np.zeros(shape), 2)


@pytest.mark.parametrize("shape", [(), (4,), (2, 4), (1, 2, 4), (1, 1, 1, 2, 4)])
def test_merging_wants_four_axes(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="four axes"):
        reference.merge_heads(np.zeros(shape))


def test_one_token_comes_out_as_by_hand() -> None:
    y, cache = reference.multihead(np.array([[[1, 2]]]), HAND_PARAMS, 1, np.array([[True]]))
    dx, grads = reference.multihead_backward(cache, HAND_PARAMS, np.array([[[3, 5]]]))
    assert [[[2, 6]]] == y.tolist()
    assert {"x", "heads", "attention", "joined"} == set(cache)
    assert [[[16, 10]]] == dx.tolist()
    assert [[6, 10], [12, 20]] == grads["wo"].tolist()
    assert [[8, 5], [16, 10]] == grads["wv"].tolist()
    assert not grads["wq"].any()
    assert not grads["wk"].any()


def test_two_tokens_come_out_as_by_hand() -> None:
    x = np.array([[[1, 2], [0, 1]]])
    _, cache = reference.multihead(x, HAND_PARAMS, 1, np.ones((2, 2), dtype=bool))
    dx, _ = reference.multihead_backward(cache, HAND_PARAMS, np.ones((1, 2, 2)))
    assert dx[0, 0, 0] == pytest.approx(7.0619, abs=5e-5)


def test_head_0_of_the_last_of_three_tokens_comes_out_as_by_hand() -> None:
    x = np.array([[[1, 0, 0, 1, 0.5, 0, -1, 0], [0, 1, 1, 0, 0, 0.5, 0, -1], [1, 1, -1, 0, 0.5, 0.5, 1, 1]]])
    y, _ = reference.multihead(x, {name: np.eye(8) for name in NAMES}, 2, CAUSAL)
    assert y[0, 2, :4] == pytest.approx([0.860, 0.769, -0.488, 0.231], abs=5e-4)


def test_more_heads_leave_the_parameters_alone_and_make_more_scores() -> None:
    x, params, _ = layer(0)
    for heads in (1, 2, 4, 5, 10, 20):
        y, cache = reference.multihead(x, params, heads, CAUSAL)
        assert (2, heads, 3, 3) == cache["attention"]["weights"].shape
        assert x.shape == y.shape


@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.int8, np.uint8])
def test_integers_are_computed_in_float64(dtype: type[np.integer]) -> None:
    x, params, dy = layer(1)
    x, dy = (7 * x).astype(np.int8).astype(dtype), (7 * dy).astype(np.int8).astype(dtype)
    params = {name: (3 * w).astype(np.int8).astype(dtype) for name, w in params.items()}
    expected = run(x.astype(float), {name: w.astype(float) for name, w in params.items()}, dy.astype(float))
    actual = run(x, params, dy)
    for name, array in actual.items():
        assert np.float64 == array.dtype, name
        np.testing.assert_allclose(array, expected[name], rtol=1e-12, atol=1e-9, err_msg=name)


def test_float32_stays_float32_and_is_as_exact_as_it_can_be() -> None:
    x, params, dy = layer(2)
    expected = run(x, params, dy)
    actual = run(x.astype("f4"), {name: w.astype("f4") for name, w in params.items()}, dy.astype("f4"))
    for name, array in actual.items():
        assert np.float32 == array.dtype, name
        assert np.max(np.abs(array - expected[name])) <= 1e-4 * np.max(np.abs(expected[name])), name


@pytest.mark.parametrize("size", [1e2, 1e4])
def test_scores_of_plus_and_minus_1e4_give_finite_values(size: float) -> None:
    x = np.array([[[1.0, -1.0], [-1.0, 1.0], [0.5, 0.5]]])
    params = {"wq": size * np.eye(2), "wk": np.eye(2), "wv": np.eye(2), "wo": np.eye(2)}
    y, cache = reference.multihead(x, params, 1, np.ones((3, 3), dtype=bool))
    dx, grads = reference.multihead_backward(cache, params, np.ones_like(y))
    assert x[0, :2] == pytest.approx(y[0, :2])
    assert all(np.isfinite(array).all() for array in (dx, *grads.values()))


def test_nothing_that_is_handed_over_changes_and_every_call_gives_the_same() -> None:
    x, params, dy = layer(3)
    y, cache = reference.multihead(x, params, 4, CAUSAL)
    before = copy.deepcopy((x, params, dy, y, cache))
    dx, grads = reference.multihead_backward(cache, params, dy)
    first = copy.deepcopy((dx, grads))
    reference.multihead_backward(cache, params, 2 * dy)
    again = reference.multihead_backward(cache, params, dy)
    reference.multihead(dy, params, 2, CAUSAL)
    for expected, actual in ((before, (x, params, dy, y, cache)), (first, (dx, grads)), (first, again)):
        np.testing.assert_equal(actual, expected)
