import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.checking.analysis.order import Order, order_of, same_numbers

#: Lengths that all differ, so that no order of axes is another one by coincidence.
SHAPES = st.sampled_from([(2, 3, 4, 5), (3, 5, 2), (4, 2, 3), (2, 5), (5, 4, 3, 2)])


def numbers(shape: tuple[int, ...]) -> np.ndarray:
    return np.random.default_rng(math.prod(shape)).standard_normal(shape)


@given(SHAPES, st.data())
def test_an_order_of_axes_is_found(shape: tuple[int, ...], data: st.DataObject) -> None:
    want = numbers(shape)
    axes = tuple(data.draw(st.permutations(range(len(shape)))))
    found = order_of(want.transpose(axes), want)
    assert found == (None if axes == tuple(range(len(shape))) else Order(axes))


@given(SHAPES, st.data())
def test_a_reshape_from_another_order_of_axes_is_found(shape: tuple[int, ...], data: st.DataObject) -> None:
    want = numbers(shape)
    axes = tuple(data.draw(st.permutations(range(len(shape)))))
    got = want.transpose(axes).reshape(shape)
    found = order_of(got, want)
    if np.array_equal(got, want):
        assert found is None
    else:
        assert found is not None
        remade = want.transpose(found.axes)
        assert np.array_equal(got, remade.reshape(shape) if found.reshaped else remade)


@given(SHAPES, st.data())
def test_a_cut_into_the_wrong_axes_is_found(shape: tuple[int, ...], data: st.DataObject) -> None:
    want = numbers(shape)
    axes = tuple(data.draw(st.permutations(range(len(shape)))))
    got = want.reshape([shape[i] for i in axes]).transpose(np.argsort(axes))
    assert (order_of(got, want) is None) == np.array_equal(got, want)


@given(SHAPES, st.data())
def test_numbers_that_run_backward_are_found(shape: tuple[int, ...], data: st.DataObject) -> None:
    want = numbers(shape)
    axis = data.draw(st.integers(0, len(shape) - 1))
    assert Order(tuple(range(len(shape))), reversed=axis) == order_of(np.flip(want, axis), want)


@given(SHAPES, st.floats(0.01, 10))
def test_other_numbers_have_no_order(shape: tuple[int, ...], by: float) -> None:
    want = numbers(shape)
    got = want.copy()
    got.flat[0] += by
    assert order_of(got, want) is None
    assert not same_numbers(got, want)


def test_what_is_dealt_out_in_another_way_still_holds_the_same_numbers() -> None:
    want = numbers((2, 6))
    got = want[:, [0, 3, 1, 4, 2, 5]]
    assert order_of(got, want) is None
    assert same_numbers(got, want)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_finite_or_too_large_is_not_tried(bad: float) -> None:
    want = numbers((2, 3))
    assert order_of(np.full((2, 3), bad), want) is None
    large = np.zeros((200, 200))
    assert order_of(large.T, large + np.arange(200)) is None
    assert order_of(np.zeros((1,) * 5), np.zeros((1,) * 5)) is None
