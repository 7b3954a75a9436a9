import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from autograder.checking.analysis.slices import Pattern, common_pattern, patterns_of, right_slices

RIGHT = st.lists(st.booleans(), min_size=1, max_size=6).map(lambda ones: np.array(ones, bool))


@given(RIGHT, st.integers(0, 2))
def test_the_places_that_are_right_are_found_along_every_axis(right: np.ndarray, axis: int) -> None:
    shape = [2, 3, 4]
    shape[axis] = len(right)
    want = np.random.default_rng(0).standard_normal(shape)
    wrong = np.moveaxis(want.copy(), axis, 0)
    wrong[~right] += 1
    assert right.tolist() == right_slices(np.moveaxis(wrong, 0, axis), want, axis).tolist()


@given(RIGHT)
def test_what_is_said_of_places_is_so(right: np.ndarray) -> None:
    found = patterns_of(right)
    only_first = bool(right[0]) and not np.any(right[1:]) and right.size > 1
    assert (Pattern.FIRST_RIGHT in found) == only_first
    assert (Pattern.LAST_WRONG in found) == (bool(np.all(right[:-1])) and not right[-1] and right.size > 1)
    if np.all(right) or not np.any(right):
        assert not found


def test_of_several_inputs_only_what_holds_of_all_is_said() -> None:
    assert common_pattern([np.array([True, False]), np.array([True, False, False])]) is Pattern.FIRST_RIGHT
    assert common_pattern([np.array([True, False]), np.array([True, True, False])]) is Pattern.LAST_WRONG
    assert common_pattern([np.array([True, False]), np.array([False, True])]) is None
    assert common_pattern([np.array([True, True]), np.array([True, False])]) is None


def test_nan_is_not_right() -> None:
    assert [False, True] == right_slices(np.array([np.nan, 1.0]), np.array([0.0, 1.0]), 0).tolist()
