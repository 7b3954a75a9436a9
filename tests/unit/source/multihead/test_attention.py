"""The given attention: exact gradients, any leading axes, integers, float32, large scores, clear refusals."""

import copy

import numpy as np
import pytest

import attention as given
from autograder.checking.differences import complex_step_gradient

#: Shape of q, shape of k and v, shape of the mask.
SHAPES = [
    ((2, 4, 3, 5), (2, 4, 3, 5), (3, 3)),
    ((2, 4, 3, 5), (2, 4, 6, 5), (3, 6)),
    ((2, 4, 3, 5), (2, 4, 3, 5), (2, 1, 3, 3)),
    ((2, 4, 3, 5), (2, 4, 3, 5), (2, 4, 3, 3)),
    ((3, 5), (3, 5), (3, 3)),
    ((1, 1, 1, 1), (1, 1, 1, 1), (1, 1)),
]


def arrays(
    q_shape: tuple[int, ...], k_shape: tuple[int, ...], mask_shape: tuple[int, ...]
) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray]:
    """Queries, keys and values, an irregular mask without an empty row, and a gradient for the output."""
    rng = np.random.default_rng([len(q_shape), *k_shape, *mask_shape])
    allowed = rng.random(mask_shape) < 0.5
    allowed[..., -1] |= ~allowed.any(axis=-1)
    inputs = {"q": rng.standard_normal(q_shape), "k": rng.standard_normal(k_shape)}
    return inputs | {"v": rng.standard_normal(k_shape)}, allowed, rng.standard_normal(q_shape)


@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_gradients_agree_with_complex_steps(shapes: tuple[tuple[int, ...], ...]) -> None:
    inputs, allowed, dout = arrays(*shapes)
    _, cache = given.attention(**inputs, allowed=allowed)
    gradients = given.attention_backward(cache, dout)
    assert {"q", "k", "v"} == set(gradients)
    for name, at in inputs.items():

        def loss(value: np.ndarray, name: str = name) -> complex:
            return np.sum(given.attention(**{**inputs, name: value}, allowed=allowed)[0] * dout)

        assert at.shape == gradients[name].shape
        assert np.max(np.abs(gradients[name] - complex_step_gradient(loss, at))) < 1e-13, name


@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_a_query_gathers_from_allowed_keys_only(shapes: tuple[tuple[int, ...], ...]) -> None:
    inputs, allowed, _ = arrays(*shapes)
    out, cache = given.attention(**inputs, allowed=allowed)
    weights = cache["weights"]
    assert not weights[~np.broadcast_to(allowed, weights.shape)].any()
    assert np.sum(weights, axis=-1) == pytest.approx(np.ones(weights.shape[:-1]))
    assert out == pytest.approx(weights @ inputs["v"])


def test_the_scale_is_the_square_root_of_the_width_of_a_head() -> None:
    q, k, v = np.full((1, 16), 1.0), np.eye(2, 16), np.eye(2, 16)
    k[0, 0] = 4 * np.log(3.0)
    k[1, 1] = 0.0
    _, cache = given.attention(q, k, v, np.ones((1, 2), dtype=bool))
    assert [[0.75, 0.25]] == [pytest.approx(row) for row in cache["weights"].tolist()]


@pytest.mark.parametrize("dtype", [np.int64, np.int8, np.uint8, np.bool_])
def test_integers_are_computed_in_float64(dtype: type[np.generic]) -> None:
    inputs, allowed, dout = arrays(*SHAPES[0])
    whole = {name: np.abs(array * 50).astype(dtype) for name, array in inputs.items()}
    out, cache = given.attention(**whole, allowed=allowed)
    expected, expected_cache = given.attention(
        **{name: array.astype(float) for name, array in whole.items()}, allowed=allowed
    )
    grads = given.attention_backward(cache, (dout * 50).astype(np.int8))
    expected_grads = given.attention_backward(expected_cache, (dout * 50).astype(np.int8).astype(float))
    assert np.float64 == out.dtype
    np.testing.assert_array_equal(out, expected)
    np.testing.assert_equal(grads, expected_grads)


def test_float32_stays_float32() -> None:
    inputs, allowed, dout = arrays(*SHAPES[0])
    out, cache = given.attention(**{n: a.astype(np.float32) for n, a in inputs.items()}, allowed=allowed)
    gradients = given.attention_backward(cache, dout.astype(np.float32))
    assert {np.dtype(np.float32)} == {array.dtype for array in (out, *gradients.values())}
    assert out == pytest.approx(given.attention(**inputs, allowed=allowed)[0], abs=1e-5)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("forbidden", [1e4, -1e4])
def test_scores_of_plus_and_minus_1e4_stay_right(dtype: type[np.floating], forbidden: float) -> None:
    q = np.array([[1.0], [-1.0]], dtype=dtype)
    k = np.array([[1e4], [-1e4], [forbidden]], dtype=dtype)
    allowed = np.array([[True, True, False], [True, True, False]])
    out, cache = given.attention(q, k, np.array([[1.0], [2.0], [9.0]], dtype=dtype), allowed)
    assert [[1.0], [2.0]] == out.tolist()
    assert all(np.isfinite(grad).all() for grad in given.attention_backward(cache, out).values())


def test_neither_pass_changes_what_it_is_given() -> None:
    inputs, allowed, dout = arrays(*SHAPES[0])
    _, cache = given.attention(**inputs, allowed=allowed)
    before = copy.deepcopy((inputs, allowed, dout, cache))
    given.attention_backward(cache, dout)
    np.testing.assert_equal((inputs, allowed, dout, cache), before)


def test_axes_in_the_wrong_order_are_named() -> None:
    swapped = np.zeros((2, 3, 4, 5))
    with pytest.raises(ValueError, match=r"has shape \(3, 3\), but the scores have shape \(2, 3, 4, 4\)"):
        given.attention(swapped, swapped, swapped, np.tri(3, dtype=bool))


def test_a_query_without_any_key_is_refused() -> None:
    allowed = np.array([[True, False], [False, False]])
    with pytest.raises(ValueError, match="a row without any True"):
        given.attention(np.ones((2, 1)), np.ones((2, 1)), np.ones((2, 1)), allowed)
