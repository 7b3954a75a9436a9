from typing import Any

import numpy as np
import pytest

from autograder.checking.contract import expect_refused, expect_repeatable, expect_untouched
from autograder.checking.framework import CheckFailure
from autograder.checking.local import LocalStudent
from autograder.checking.student import StudentMissing, StudentRaised

ONE, OTHER = np.arange(3.0), np.ones(3)


class MyValueError(ValueError):
    pass


def student(function: Any) -> LocalStudent:
    return LocalStudent({"f": function})


def raising(error: Exception) -> LocalStudent:
    def f(x: Any) -> None:
        raise error

    return student(f)


@pytest.mark.parametrize("error", [ValueError(), TypeError(), MyValueError(), np.exceptions.AxisError(3, 2)])
def test_value_and_type_errors_refuse(error: Exception) -> None:
    expect_refused(raising(error), "f", (3,), "x is 3")


def test_another_exception_or_an_answer_is_no_refusal() -> None:
    with pytest.raises(
        CheckFailure, match="Where x is 3, f must raise ValueError or TypeError; it raised Zero"
    ):
        expect_refused(raising(ZeroDivisionError()), "f", (3,), "x is 3")
    with pytest.raises(CheckFailure, match="it returned an answer"):
        expect_refused(student(lambda x: x), "f", (3,), "x is 3")


def test_a_function_that_is_not_there_refuses_nothing() -> None:
    with pytest.raises(StudentRaised):
        expect_refused(raising(NotImplementedError()), "f", (3,), "x is 3")
    with pytest.raises(StudentMissing):
        expect_refused(LocalStudent({}), "f", (3,), "x is 3")


def test_an_argument_that_is_changed_is_named() -> None:
    def f(x: Any, n: int, params: Any) -> None:
        params["w"] += n

    expect_untouched(student(lambda x, n, params: x + params["w"]), "f", {"x": ONE, "n": 1, "p": {"w": ONE}})
    with pytest.raises(CheckFailure, match="f changes its argument params"):
        expect_untouched(student(f), "f", {"x": ONE, "n": 1, "params": {"w": ONE}})
    expect_untouched(student(f), "f", {"x": ONE, "n": 0, "params": {"w": ONE}})


def test_the_same_answer_twice_is_repeatable() -> None:
    expect_repeatable(student(lambda x: x.T), "f", (ONE,), (OTHER,))


def test_an_answer_that_depends_on_earlier_calls_is_not_repeatable() -> None:
    calls: list[Any] = []

    def f(x: Any) -> Any:
        calls.append(x)
        return sum(calls)

    with pytest.raises(CheckFailure, match="gives another answer"):
        expect_repeatable(student(f), "f", (ONE,), (OTHER,))


def test_an_answer_that_a_later_call_changes_is_found() -> None:
    buffer = np.zeros(3)

    def f(x: Any) -> Any:
        buffer[...] = x
        return buffer

    with pytest.raises(CheckFailure, match="A later call of f changes an answer"):
        expect_repeatable(student(f), "f", (ONE,), (OTHER,))
