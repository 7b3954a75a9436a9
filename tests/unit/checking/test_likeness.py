from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from autograder.checking.compare import expect_array, expect_items, expect_tuple
from autograder.checking.contract import expect_each_refused, expect_repeatable, expect_untouched
from autograder.checking.framework import Check, CheckFunction, Kind
from autograder.checking.likeness import alike, changes, is_telling
from autograder.checking.local import LocalStudent
from autograder.checking.runner import Outcome, run_check

REFERENCE = ModuleType("reference")
X = np.random.default_rng(0).standard_normal((2, 3))


def outcome(check: Check, **namespace: Any) -> Outcome:
    return run_check(check, LocalStudent(namespace), REFERENCE, np.random.default_rng(0))


def like(kind: Kind, function: CheckFunction, one: Any, other: Any, **more: Any) -> bool:
    check = Check("check", "f", kind, 1, function)
    return alike(check, outcome(check, f=one, **more), outcome(check, f=other, **more))


def values(student: Any, reference: Any, rng: Any) -> None:
    """It doubles."""
    expect_array(student.call("f", X).value, 2 * X, "f(x)", ("a", "b"))


SAME: list[tuple[Callable[[Any], Any], Callable[[Any], Any]]] = [
    (lambda x: x, lambda x: x + 1e-12),
    (np.array, np.asfortranarray),
    (lambda x: x[0], lambda x: x[0].copy()),
    (lambda x: np.where(x > 0, np.nan, x), lambda x: np.where(x > 0, np.nan, x)),
    (lambda x: np.full(x.shape, np.inf), lambda x: np.full(x.shape, np.inf)),
    (lambda x: [1], lambda x: [2]),
    (lambda x: None, lambda x: None),
    (lambda x: (x, x), lambda x: (x, x)),
    (lambda x: x.astype(np.float32), lambda x: (x * (1 + 1e-6)).astype(np.float32)),
    (lambda x: {}["k"], lambda x: {}[3]),
    (lambda x: int("no"), lambda x: x + None),
]
OTHER: list[tuple[Callable[[Any], Any], Callable[[Any], Any]]] = [
    (lambda x: x, lambda x: x + 1e-6),
    (lambda x: x, lambda x: 2 * x),
    (lambda x: x, lambda x: x.T),
    (lambda x: x, lambda x: x.astype(np.float32)),
    (lambda x: 2.0 * x.astype(np.float32), lambda x: 2 * x + 1e-7),
    (lambda x: np.where(x > 0, np.nan, x), lambda x: np.where(x < 0, np.nan, x)),
    (lambda x: [1], lambda x: {1: 2}),
    (lambda x: (x, x), lambda x: (x,)),
    (lambda x: None, lambda x: 0),
    (lambda x: {}["k"], lambda x: 1 / 0),
    (lambda x: 2 * x, lambda x: x),
    (lambda x: 2 * x, lambda x: 2 * x),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_wrong_answers_that_are_equal_but_for_rounding_are_alike(one: Any, other: Any) -> None:
    assert like(Kind.VALUE, values, one, other)
    assert like(Kind.VALUE, values, other, one)


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_other_numbers_shapes_kinds_exceptions_and_right_answers_are_not_alike(one: Any, other: Any) -> None:
    assert not like(Kind.VALUE, values, one, other)
    assert not like(Kind.VALUE, values, other, one)


def test_what_lies_deep_in_a_dict_or_beside_the_keys_of_the_other_is_its_owners_affair() -> None:
    def check(student: Any, reference: Any, rng: Any) -> None:
        _, cache = expect_tuple(student.call("f", X).value, ("y", "cache"), "f")
        items = expect_items(cache, ("a", "inner"), "cache")
        expect_array(items["a"], 2 * X, 'cache["a"]', ("a", "b"))

    one = lambda x: (x, {"a": x, "inner": {"w": 1}, "mine": 3})  # noqa: E731
    assert like(Kind.VALUE, check, one, lambda x: (x, {"a": x, "inner": (4, 5)}))
    assert not like(Kind.VALUE, check, one, lambda x: (x, {"a": 3 * x, "inner": {"w": 1}}))
    assert not like(Kind.VALUE, check, one, lambda x: (x, {"inner": {"w": 1}}))


def refusals(student: Any, reference: Any, rng: Any) -> None:
    """What is wrong is refused."""
    expect_each_refused(student, "f", [("0", (0,)), ("negative", (-1,)), ("a text", ("4",))], "n is")


def test_those_who_answer_the_same_wrong_arguments_are_alike_whatever_they_answer() -> None:
    def text_passes(n: Any) -> Any:
        if int(n) < 1:
            raise ValueError
        return n

    def text_passes_too(n: Any) -> Any:
        return 9 if n == "4" else {}["k"] if n == 0 else text_passes(n)

    def zero_passes(n: Any) -> Any:
        if n < 0:
            raise ValueError
        return n

    assert like(Kind.CONTRACT, refusals, text_passes, text_passes_too)
    assert not like(Kind.CONTRACT, refusals, text_passes, zero_passes)
    assert not like(Kind.VALUE, refusals, text_passes, text_passes_too)


def test_those_who_refuse_with_the_same_wrong_exception_are_alike_whatever_for() -> None:
    def asserting(n: Any) -> None:
        assert isinstance(n, int)
        raise ValueError

    def asserting_more(n: Any) -> None:
        raise AssertionError

    def dividing(n: Any) -> None:
        raise (TypeError if n else ZeroDivisionError)

    assert like(Kind.CONTRACT, refusals, asserting, asserting_more)
    assert not like(Kind.CONTRACT, refusals, asserting, dividing)


def untouched(student: Any, reference: Any, rng: Any) -> None:
    """It stays."""
    expect_untouched(student, "f", {"x": X, "box": {"a": X}})


def test_those_who_change_the_same_parts_are_alike_whatever_they_make_of_them() -> None:
    def fill(x: Any, box: Any) -> None:
        x[...] = 0

    def add(x: Any, box: Any) -> None:
        x += 1

    def drop(x: Any, box: Any) -> None:
        box.clear()

    def replace(x: Any, box: Any) -> None:
        box["a"] = 1

    assert like(Kind.CONTRACT, untouched, fill, add)
    assert not like(Kind.CONTRACT, untouched, fill, drop)
    assert not like(Kind.CONTRACT, untouched, drop, replace)


def test_two_who_give_other_answers_the_second_time_need_not_be_alike() -> None:
    def repeatable(student: Any, reference: Any, rng: Any) -> None:
        expect_repeatable(student, "f", (X,), (2 * X,))

    def counting(step: float) -> Any:
        calls = [0.0]

        def f(x: Any) -> Any:
            calls[0] += step
            return x + calls[0]

        return f

    assert like(Kind.CONTRACT, repeatable, counting(1), counting(1))
    assert not like(Kind.CONTRACT, repeatable, counting(1), counting(2))


def test_a_contract_about_numbers_is_about_numbers() -> None:
    assert like(Kind.CONTRACT, values, lambda x: x, lambda x: x)
    assert not like(Kind.CONTRACT, values, lambda x: x, lambda x: 3 * x)
    assert not like(Kind.CONTRACT, values, lambda x: x.astype(str), lambda x: [x])


def test_what_is_missing_unwritten_or_broken_off_tells_nothing() -> None:
    check = Check("check", "f", Kind.VALUE, 1, values)

    def unwritten(x: Any) -> None:
        raise NotImplementedError

    assert is_telling(outcome(check, f=lambda x: x))
    assert is_telling(outcome(check, f=lambda x: {}["k"]))
    assert not is_telling(outcome(check, f=lambda x: 2 * x))
    assert not is_telling(outcome(check, f=unwritten))
    assert not is_telling(outcome(check))


def test_changes_name_the_paths() -> None:
    before = {"a": np.zeros(2), "b": (1, [2.0]), "c": 3}
    assert [] == list(changes(before, {"a": np.zeros(2), "b": (1, [2.0]), "c": 3}))
    now = {"a": np.zeros(3), "b": (1, [2.5]), "d": 3}
    expected = [("/a", "kind"), ("/b/1/0", "values"), ("/c", "removed"), ("/d", "added")]
    assert expected == sorted(changes(before, now))
    assert [("", "values")] == list(changes([1], [1, 2]))


def refusals_with_a_tool(student: Any, reference: Any, rng: Any) -> None:
    """What is wrong is refused, whatever tool comes along."""
    tool = student.call("np.random.default_rng", 0).value
    expect_each_refused(student, "f", [("negative", (-1, tool)), ("a text", ("4", tool))], "n is")


def test_what_is_no_code_of_theirs_makes_nobody_alike() -> None:
    def asserting(n: Any, tool: Any) -> None:
        raise AssertionError

    def looking_up(n: Any, tool: Any) -> None:
        raise KeyError

    def answering(n: Any, tool: Any) -> Any:
        return n

    tools = {"np": np}
    assert like(Kind.CONTRACT, refusals_with_a_tool, asserting, asserting, **tools)
    assert not like(Kind.CONTRACT, refusals_with_a_tool, asserting, looking_up, **tools)
    assert like(Kind.CONTRACT, refusals_with_a_tool, answering, lambda n, tool: 2 * n, **tools)
