"""What is told of a check, from the record of a student whose functions are right here."""

import contextlib
import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from autograder.checking.framework import Comparison
from autograder.checking.local import LocalStudent
from autograder.checking.recording import Omitted, Recording
from autograder.checking.retelling import Call, FromCall, NoAnswer, Unseen, difference, retell
from autograder.checking.student import StudentFailure

Ask = Callable[[Recording], object]


def forward(x: Any, scale: Any) -> Any:
    if scale < 0:
        raise ValueError("scale must not be negative")
    return x * scale, {"x": x, "scale": scale, "inner": {"own": 1}}


def backward(cache: Any, dy: Any) -> Any:
    return {"dx": dy * cache["scale"]}


REFERENCE: Any = SimpleNamespace(forward=forward, backward=backward)
X = np.arange(6.0).reshape(2, 3)
NEARLY_X = np.array([[0.0, 1.0, 2.0], [3.0, 5.0, 5.0]])


def told(ask: Ask, **functions: Any) -> tuple[Call, ...]:
    """The calls of a check that asks this of a student who is right but for these functions."""
    recording = Recording(LocalStudent({"forward": forward, "backward": backward, **functions}))
    with contextlib.suppress(StudentFailure):
        ask(recording)
    return retell(recording.events, REFERENCE)


def test_arguments_have_the_names_that_the_reference_gives_them() -> None:
    (call,) = told(lambda student: student.call("forward", X, scale=2.0))
    assert ("forward", 1) == (call.function, call.number)
    assert ["x", "scale"] == list(call.arguments)
    assert np.array_equal(X, call.arguments["x"])


def test_what_came_is_told_beside_what_the_reference_answers() -> None:
    (call,) = told(lambda student: student.call("forward", X, 2.0), forward=lambda x, scale: (x + scale, {}))
    assert np.array_equal(X + 2, call.came[0])
    assert np.array_equal(X * 2, call.expected[0])
    (found,) = call.differences
    assert ("result 1", 5, (0, 0), 3.0) == (found.what, found.wrong, found.first, found.largest)
    assert not call.is_as_expected


def test_a_right_answer_has_no_differences() -> None:
    (call,) = told(lambda student: student.call("forward", X, 2.0))
    assert call.is_as_expected
    assert Unseen("dict") == call.came[1]


def test_what_one_function_returned_goes_to_the_next_in_the_reference_too() -> None:
    def ask(student: Recording) -> None:
        _, cache = student.call("forward", X, 3.0).value
        student.call("backward", cache, X).value.fetch()

    wrong = {"forward": lambda x, scale: (x, {"scale": 5.0})}
    first, second = told(ask, **wrong)
    assert not first.is_as_expected
    assert FromCall(1) == second.arguments["cache"]
    assert np.array_equal(5 * X, second.came["dx"])
    assert np.array_equal(3 * X, second.expected["dx"])
    assert ['["dx"]'] == [one.what for one in second.differences]


def test_of_a_dict_only_what_the_check_looked_at_is_told() -> None:
    def ask(student: Recording) -> None:
        _, cache = student.call("forward", X, 2.0).value
        assert 2.0 == cache["scale"]
        with pytest.raises(KeyError):
            cache["nothing"]

    (call,) = told(ask)
    assert {"scale": 2.0, "nothing": NoAnswer("missing")} == call.came[1]


def test_what_lies_in_a_dict_inside_a_dict_is_the_students_own_affair() -> None:
    def ask(student: Recording) -> None:
        student.call("forward", X, 2.0).value[1].fetch()

    own = {"forward": lambda x, scale: (x * scale, {"x": x, "scale": scale, "inner": {"own": 7}})}
    (call,) = told(ask, **own)
    assert () == call.differences


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda x, scale: 1 // 0, "raised ZeroDivisionError"),
        (lambda x, scale: (_ for _ in ()).throw(SystemExit), "raised SystemExit"),
    ],
)
def test_a_failure_is_told_in_words(function: Any, words: str) -> None:
    (call,) = told(lambda student: student.call("forward", X, 2.0), forward=function)
    assert isinstance(call.came, NoAnswer)
    assert call.came.words.startswith(words)
    assert not call.is_as_expected


def test_a_function_that_is_missing_is_told() -> None:
    recording = Recording(LocalStudent({}))
    with pytest.raises(StudentFailure):
        recording.call("forward", X, 2.0)
    (call,) = retell(recording.events, REFERENCE)
    assert NoAnswer("missing") == call.came


def test_where_the_reference_refuses_that_is_what_was_expected() -> None:
    (call,) = told(lambda student: student.call("forward", X, -1.0), forward=lambda x, scale: (x, {}))
    assert NoAnswer("raises ValueError: scale must not be negative") == call.expected
    assert not call.is_as_expected


def test_what_depends_on_an_answer_that_never_came_is_not_known() -> None:
    def ask(student: Recording) -> None:
        student.call("backward", student.call("other", X).value, X)

    *_, call = told(ask, other=lambda x: {"scale": 2.0})
    assert NoAnswer("not known, since it depends on an answer that never came") == call.expected


def test_an_argument_that_was_changed_is_told() -> None:
    def spoil(x: Any, scale: Any) -> Any:
        x += 1
        return x, {}

    def ask(student: Recording) -> None:
        sent = student.send(X.copy())
        student.call("forward", sent, 2.0)
        sent.reread()

    (call,) = told(ask, forward=spoil)
    assert ("Looked at later, the argument x had changed.",) == call.remarks
    assert np.array_equal(X, call.arguments["x"])


def test_an_answer_that_changed_later_is_told() -> None:
    shared = np.zeros(3)

    def same(x: Any, scale: Any) -> Any:
        shared[:] = scale
        return shared

    def ask(student: Recording) -> None:
        first = student.call("forward", X, 1.0)
        student.call("forward", X, 2.0)
        first.reread()

    first, second = told(ask, forward=same)
    assert ("Looked at later, the answer had changed.",) == first.remarks
    assert () == second.remarks


def test_the_reference_cannot_spoil_what_is_told() -> None:
    def spoiling(x: Any, scale: Any) -> Any:
        x[:] = 0
        return x, {}

    recording = Recording(LocalStudent({"forward": forward}))
    recording.call("forward", X.copy(), 2.0)
    spoiler: Any = SimpleNamespace(forward=spoiling)
    (call,) = retell(recording.events, spoiler)
    assert np.array_equal(X, call.arguments["x"])


@pytest.mark.parametrize(
    ("came", "wrong", "first"),
    [
        (X, 0, None),
        (X + 1e-12, 0, None),
        (NEARLY_X, 1, (1, 1)),
        (np.full((2, 3), math.nan), 6, (0, 0)),
        (X[0], None, None),
        (X.astype(complex), None, None),
        ("text", None, None),
        (Omitted("float64", (9, 9)), None, None),
    ],
)
def test_a_difference_says_how_many_are_wrong_and_where_first(
    came: Any, wrong: int | None, first: Any
) -> None:
    found = difference(Comparison("y", ("seq", "d"), came, X))
    assert (wrong, first) == (found.wrong, found.first)


def test_answers_of_any_shape_can_be_told() -> None:
    for answer in (
        None,
        3,
        "text",
        [1, 2],
        {"a": object()},
        (),
        ((),),
        object(),
        np.ma.array([1.0]),
        float("nan"),
    ):
        (call,) = told(lambda student: student.call("forward", X, 2.0), forward=lambda x, scale, a=answer: a)
        assert not call.is_as_expected


class Layer:
    """A class as a reference has it."""

    def __init__(self, size: int):
        self.weight = np.full(size, 2.0)
        self.parts = [self]

    def __call__(self, x: Any) -> Any:
        return self.forward(x)

    def forward(self, x: Any) -> Any:
        return x * self.weight


class Wrong(Layer):
    """The same, and wrong."""

    def forward(self, x: Any) -> Any:
        return x + self.weight


def told_of_class(ask: Ask, layer: type) -> tuple[Call, ...]:
    recording = Recording(LocalStudent({"Layer": layer, "np": np}))
    with contextlib.suppress(StudentFailure):
        ask(recording)
    return retell(recording.events, SimpleNamespace(Layer=Layer, np=np))  # type: ignore[arg-type]


def ask_layer(student: Recording) -> None:
    layer = student.call("Layer", 3).value
    layer.set_attribute("weight", np.full(3, 3.0))
    layer.call(np.full(3, 5.0))
    layer.attribute("parts")[0].method("forward", x=np.full(3, 7.0))
    layer.attribute("weight.nothing")


def test_the_reference_does_the_same_to_its_own_object() -> None:
    calls = told_of_class(ask_layer, Wrong)
    assert [
        "Layer",
        "(what call 1 returned).weight",
        "(what call 1 returned)",
        "(what call 1 returned).parts",
        "(what call 4 returned).forward",
        "(what call 1 returned).weight.nothing",
    ] == [one.function for one in calls]
    assert [False, True, False, True, False, True] == [one.is_look for one in calls]
    assert [["size"], ["set to"], ["x"], [], ["x"], []] == [list(one.arguments) for one in calls]
    assert [8.0] * 3 == calls[2].came.tolist()
    assert [15.0] * 3 == calls[2].expected.tolist()
    assert [21.0] * 3 == calls[4].expected.tolist()
    assert [True, True, False, True, False, False] == [one.is_as_expected for one in calls]
    assert isinstance(calls[5].came, NoAnswer)
    assert isinstance(calls[5].expected, NoAnswer)


def test_what_an_object_was_is_told_though_it_changed_later() -> None:
    def ask(student: Recording) -> None:
        layer = student.call("Layer", 2).value
        layer.attribute("weight")
        student.call("np.add", layer.attribute("weight"), 1.0)
        layer.method("weight.fill", 0.0)

    calls = told_of_class(ask, Layer)
    assert [2.0, 2.0] == calls[1].expected.tolist()
    assert calls[3].is_as_expected
    assert "np.add" == calls[3].function


def test_an_object_that_never_was_leaves_the_rest_unknown() -> None:
    class Odd:
        """Takes what the reference refuses."""

        def __init__(self, size: int):
            self.size = size

        def forward(self, x: Any) -> Any:
            return x

    calls = told_of_class(lambda student: student.call("Layer", -2).value.method("forward", 1), Odd)
    assert isinstance(calls[0].expected, NoAnswer)
    assert "depends on an answer that never came" in calls[1].expected.words
