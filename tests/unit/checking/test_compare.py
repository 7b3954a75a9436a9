from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from autograder.checking.compare import (
    expect_array,
    expect_dict,
    expect_item,
    expect_items,
    expect_tuple,
    repeated,
    unchanged,
)
from autograder.checking.framework import CheckFailure, MalformedAnswer
from autograder.checking.local import LocalRemote, LocalStudent

AXES = ("batch", "seq", "d_model")
WANT = np.random.default_rng(0).standard_normal((2, 3, 4))


def verdict(
    got: Any, want: np.ndarray = WANT, axes: tuple[str, ...] = AXES, **options: float
) -> CheckFailure:
    with pytest.raises(CheckFailure) as caught:
        expect_array(got, want, "y", axes, **options)
    return caught.value


def seen(value: Any) -> Any:
    """The value as a check gets to see it."""
    return LocalStudent({"f": lambda: value}).call("f").value


def test_equal_arrays_pass_whatever_their_layout() -> None:
    expect_array(WANT.copy(), WANT, "y", AXES)
    expect_array(np.asfortranarray(WANT), WANT, "y", AXES)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "None"),
        (True, "True or False"),
        (3, "a single number"),
        (np.float64(3), "a single number"),
        ("text", "a text"),
        ((WANT,), "a tuple"),
        (WANT.tolist(), "a list"),
        ({"y": WANT}, "a dict"),
        (np.ma.masked_array(WANT), "a matrix, a masked array or another relative of a NumPy array"),
        (WANT.astype(object), "an array of Python objects"),
        (WANT.astype(str), "an array of something else than ordinary numbers"),
        (WANT.astype(np.float16), "an array of something else than ordinary numbers"),
        (np.sum, "a function"),
        (int, "a class"),
        (1j, "an object of another kind"),
    ],
)
def test_what_is_no_plain_array_is_named(value: Any, words: str) -> None:
    failure = verdict(seen(value))
    assert isinstance(failure, MalformedAnswer)
    assert failure.rationale == f"y must be a plain NumPy array; it is {words}."


@pytest.mark.parametrize(
    ("dtype", "words"),
    [
        ("complex128", "y holds complex numbers; real ones are wanted."),
        ("bool", "y holds no numbers."),
        ("int64", "y holds integers; floats are wanted."),
        ("float32", "y has fewer digits than float64."),
    ],
)
def test_another_dtype_than_float64_is_named(dtype: str, words: str) -> None:
    failure = verdict(WANT.astype(dtype))
    assert isinstance(failure, MalformedAnswer)
    assert failure.rationale == words


def test_float32_may_be_answered_in_both_precisions() -> None:
    want = WANT.astype(np.float32)
    expect_array(want, want, "y", AXES)
    expect_array(want.astype(np.float64) + 1e-6, want, "y", AXES)
    assert verdict(want + np.float32(1e-3), want).rationale == "y has the right shape but wrong numbers."


def test_integers_may_be_answered_in_any_real_dtype() -> None:
    want = np.arange(24).reshape(2, 3, 4)
    for dtype in ("int8", "uint64", "int64", "float32", "float64"):
        expect_array(want.astype(dtype), want, "y", AXES)
    verdict(want + 1, want)
    verdict(want + 0.5, want)
    verdict(want.astype(complex), want)


def test_large_integers_must_be_equal_to_the_last_digit() -> None:
    want = np.array([2**62], dtype=np.int64)
    verdict(want + 1, want, ("n",))


def test_a_wrong_number_of_axes_is_counted() -> None:
    start = "y must have the axes (batch, seq, d_model); yours has "
    assert verdict(np.ones(())).rationale == start + "no axis at all instead of 3."
    assert verdict(np.ones(24)).rationale == start + "1 axis instead of 3."
    assert verdict(np.ones((1,) * 32)).rationale == start + "32 axes instead of 3."


def test_axes_in_another_order_are_named() -> None:
    failure = verdict(WANT.transpose(1, 0, 2))
    assert failure.rationale.endswith("yours has them in the order (seq, batch, d_model).")
    assert failure.detail == "shape (3, 2, 4), expected (2, 3, 4)"


def test_axes_of_a_wrong_length_are_named_without_the_length() -> None:
    assert verdict(np.ones((2, 3, 5))).rationale.endswith("in yours the axis d_model has the wrong length.")
    failure = verdict(np.ones((7, 0, 4)))
    assert failure.rationale.endswith("in yours the axes batch and seq have the wrong length.")
    assert "7" not in failure.rationale


@pytest.mark.parametrize(("bad", "word"), [(np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity")])
def test_what_is_not_finite_is_malformed(bad: float, word: str) -> None:
    got = WANT.copy()
    got[1, 0, 2] = bad
    failure = verdict(got)
    assert isinstance(failure, MalformedAnswer)
    assert word in failure.rationale
    assert failure.detail == "1 of 24 entries are not finite, first [1, 0, 2]"


def test_a_wrong_number_is_shown_to_the_instructor_alone() -> None:
    got = WANT.copy()
    got[0, 2, 1] = 12345.0
    failure = verdict(got)
    assert not isinstance(failure, MalformedAnswer)
    assert failure.rationale == "y has the right shape but wrong numbers."
    assert failure.hint is None
    assert "first [0, 2, 1]: np.float64(12345.0)" in str(failure.detail)


def test_too_few_right_digits_are_told_from_wrong_numbers() -> None:
    failure = verdict(WANT.astype(np.float32).astype(np.float64))
    assert failure.rationale == "y is nearly right, but has fewer right digits than float64 can hold."


def test_differences_beyond_every_float_are_wrong() -> None:
    want = np.full((2,), 1.7e308)
    verdict(-want, want, ("n",))


def test_nothing_is_broadcast_and_nothing_empty_passes() -> None:
    verdict(WANT[:1])
    verdict(np.empty((0, 3, 4)))
    verdict(np.zeros(()))


def test_an_expectation_that_makes_no_sense_is_our_fault() -> None:
    with pytest.raises(ValueError, match="cannot compare"):
        expect_array(WANT, WANT, "y", ("batch", "seq"))
    with pytest.raises(ValueError, match="cannot compare"):
        expect_array(WANT, WANT > 0, "y", AXES)


numbers = hnp.arrays(
    st.sampled_from([np.float64, np.float32, np.int64]),
    hnp.array_shapes(min_dims=1, max_dims=4, max_side=4),
    elements=st.integers(-1000, 1000),
)


@given(numbers)
def test_every_array_equals_itself(array: np.ndarray) -> None:
    expect_array(array.copy(), array, "y", ("axis",) * array.ndim)


@given(numbers, st.data(), st.floats(1.5, 1e6), st.sampled_from([-1, 1]))
def test_the_tolerance_divides_right_from_wrong(
    array: np.ndarray, data: st.DataObject, factor: float, sign: int
) -> None:
    want = array.astype(np.float64)
    limit = 1e-9 * max(1.0, float(np.max(np.abs(want))))
    place = tuple(data.draw(st.integers(0, length - 1)) for length in want.shape)
    inside, outside = want.copy(), want.copy()
    inside[place] += sign * limit / 2
    outside[place] += sign * limit * factor
    axes = ("axis",) * want.ndim
    expect_array(inside, want, "y", axes)
    assert f"first {list(place)}" in str(verdict(outside, want, axes).detail)


any_array = hnp.arrays(
    hnp.scalar_dtypes() | st.just(np.dtype(object)), hnp.array_shapes(min_dims=0, max_dims=5, min_side=0)
)
anything = st.recursive(
    any_array | st.none() | st.booleans() | st.integers() | st.floats() | st.complex_numbers() | st.text(),
    lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)


@given(anything)
def test_whatever_is_answered_is_told_from_the_right_array(value: Any) -> None:
    failure = verdict(seen(value), np.full((2, 3), 0.123456789), ("rows", "columns"))
    assert failure.rationale.startswith("y ")


@given(anything, anything)
def test_comparing_two_answers_never_fails(one: Any, other: Any) -> None:
    assert unchanged(seen(one), seen(one))
    assert repeated(seen(one), seen(one))
    assert isinstance(unchanged(seen(one), seen(other)), bool)
    assert isinstance(repeated(seen(one), seen(other)), bool)


def test_a_change_is_seen_wherever_it_is() -> None:
    before = {"a": [np.ones(2), (1, "x")], "n": np.nan}
    assert unchanged(before, {"a": [np.ones(2), (1, "x")], "n": np.nan})
    for after in (
        {"a": [np.array([1.0, 1.0 + 1e-15]), (1, "x")], "n": np.nan},
        {"a": [np.ones(2), (1, "y")], "n": np.nan},
        {"a": [np.ones(2, np.float32), (1, "x")], "n": np.nan},
        {"a": [np.ones((2, 1)), (1, "x")], "n": np.nan},
        {"a": [np.ones(2)], "n": np.nan},
        {"a": [np.ones(2), (1, "x")]},
        None,
    ):
        assert not unchanged(before, after)


def test_a_repeated_answer_may_differ_in_its_last_digits_only() -> None:
    assert repeated(np.array([1.0, np.inf]), np.array([1.0 + 1e-14, np.inf]))
    assert not repeated(np.array([1.0]), np.array([1.0 + 1e-6]))
    assert not repeated(np.array([1.0]), np.array([np.nan]))
    assert not repeated(np.array([1]), np.array([2]))


def test_results_are_taken_apart_or_refused() -> None:
    assert expect_tuple((1, 2), ("y", "cache"), "f") == (1, 2)
    for value, end in (
        (WANT, "it returned a NumPy array."),
        (None, "it returned None."),
        (seen([1, 2]), "it returned a list."),
        ((1, 2, 3), "it returned a tuple of another length."),
    ):
        with pytest.raises(MalformedAnswer) as caught:
            expect_tuple(value, ("y", "cache"), "f")
        assert caught.value.rationale == f"f must return the tuple (y, cache); {end}"


def test_items_are_looked_up_or_refused() -> None:
    grads = seen({"wq": 1, "wk": 2})
    assert expect_item(grads, "wq", "grads") == 1
    assert expect_items(grads, ("wk", "wq"), "grads") == {"wk": 2, "wq": 1}
    for look_up in (lambda: expect_item(grads, "wv", "grads"), lambda: expect_items(grads, ["wv"], "grads")):
        with pytest.raises(MalformedAnswer, match='grads has no key "wv"'):
            look_up()
    for value in (None, WANT, (1,), seen([1]), seen(print), seen(np.array(["a"]))):
        with pytest.raises(MalformedAnswer, match="grads must be a dict"):
            expect_dict(value, "grads")


def test_items_of_another_object_are_asked_for_one_by_one() -> None:
    class Grads:
        def __getitem__(self, key: str) -> int:
            return {"wq": 1}[key]

    assert expect_items(LocalRemote(LocalStudent({}), Grads()), ["wq"], "grads") == {"wq": 1}
    with pytest.raises(MalformedAnswer, match="no key"):
        expect_items(LocalRemote(LocalStudent({}), Grads()), ["wk"], "grads")
