import numpy as np
import pytest

from autograder.checking.compare import expect_array
from autograder.checking.framework import CheckFailure
from autograder.checking.margins import note, watched

WANT = np.array([1.0, -4.0])


def test_an_error_is_noted_as_a_multiple_of_the_allowed_one() -> None:
    with watched() as notes:
        expect_array(WANT + np.array([0.0, 1e-9]), WANT, "y", ("n",))
        with pytest.raises(CheckFailure):
            expect_array(WANT + np.array([0.0, 8e-9]), WANT, "y", ("n",))
        expect_array(WANT, WANT, "y", ("n",))
    assert notes == pytest.approx([0.25, 2.0, 0.0], rel=1e-3)


def test_float32_has_a_tolerance_of_its_own() -> None:
    want = WANT.astype(np.float32)
    with watched() as notes:
        expect_array(want.astype(np.float64) + np.array([0.0, 1e-4]), want, "y", ("n",))
    assert notes == pytest.approx([0.25], rel=1e-3)


def test_what_is_compared_exactly_has_no_margin() -> None:
    whole = np.array([1, 2])
    with watched() as notes:
        expect_array(whole, whole, "y", ("n",))
    assert notes == []


def test_nobody_is_asked_while_nobody_watches() -> None:
    def never() -> float:
        raise AssertionError

    note(never)


def test_each_watches_its_own_body() -> None:
    with watched() as outer:
        note(lambda: 1.0)
        with watched() as inner:
            note(lambda: 2.0)
        note(lambda: 3.0)
    assert (outer, inner) == ([1.0, 3.0], [2.0])
