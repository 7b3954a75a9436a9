from typing import Any

import numpy as np
import pytest

from autograder.checking import recording
from autograder.checking.local import LocalStudent
from autograder.checking.recording import Asked, Omitted, Recording
from autograder.checking.student import Remote, StudentMissing, StudentRaised


def recorded(**namespace: Any) -> Recording:
    return Recording(LocalStudent(namespace))


def test_every_request_is_written_down_with_its_outcome() -> None:
    student = recorded(double=lambda x: 2 * x)
    assert 6 == student.call("double", 3).value
    sent = student.send(np.zeros(2))
    student.call("double", x=sent)
    assert [(Asked.CALL, "double"), (Asked.SEND, None), (Asked.CALL, "double")] == [
        (one.asked, one.name) for one in student.events
    ]
    assert ((3,), 6) == (student.events[0].args, student.events[0].outcome)
    assert {"x"} == set(student.events[2].kwargs)


def test_what_stays_with_the_student_is_recorded_when_it_is_looked_at_and_not_before() -> None:
    student = recorded(make=lambda: (1, {"a": np.ones(2), "b": [3]}), take=sorted)
    _, box = student.call("make").value
    assert isinstance(box, Remote)
    assert 1 == len(student.events)
    assert [1.0, 1.0] == box["a"].tolist()
    assert ["a", "b"] == sorted(box.fetch())
    box["c"] = 4
    with pytest.raises(KeyError):
        box["d"]
    assert ["a", "b", "c"] == student.call("take", box).value.fetch()
    asked = [(one.asked, one.name) for one in student.events[1:5]]
    assert [(Asked.ITEM, "a"), (Asked.FETCH, None), (Asked.SET, "c"), (Asked.ITEM, "d")] == asked
    assert isinstance(student.events[4].outcome, KeyError)


def test_a_look_knows_what_was_seen_the_last_time() -> None:
    box = {"a": 1}
    student = recorded(give=lambda: box, spoil=lambda box: box.update(a=2), fill=lambda x: x.fill(7))
    remote = student.call("give").value
    remote.fetch()
    student.call("spoil", remote)
    remote.fetch()
    sent = student.send(np.zeros(1))
    student.call("fill", sent)
    sent.reread()
    first, second = (one for one in student.events if one.asked is Asked.FETCH)
    assert (None, {"a": 1}) == (first.before, first.outcome)
    assert ({"a": 1}, {"a": 2}) == (second.before, second.outcome)
    assert (0, 7) == (student.events[-1].before[0], student.events[-1].outcome[0])


def test_answers_can_be_read_again() -> None:
    array = np.zeros(1)
    student = recorded(give=lambda: array, spoil=lambda: array.fill(3))
    answer = student.call("give")
    student.call("spoil")
    assert ([0.0], [3.0]) == (answer.value.tolist(), answer.reread().tolist())
    assert student.events[-1].before.tolist() == [0.0]


def test_failures_are_recorded_and_raised() -> None:
    student = recorded(fail=lambda: {}["k"])
    with pytest.raises(StudentRaised):
        student.call("fail")
    with pytest.raises(StudentMissing):
        student.call("nothing")
    assert isinstance(student.events[0].outcome, StudentRaised)
    assert isinstance(student.events[1].outcome, StudentMissing)
    assert "nothing" == student.function


def test_a_right_function_can_be_installed() -> None:
    student = recorded(double=lambda x: 0)
    student.install("double", "def double(x):\n    return np.add(x, x)")
    assert 6 == student.call("double", 3).value
    assert (Asked.INSTALL, "double") == (student.events[0].asked, student.events[0].name)


def test_answers_too_large_to_keep_reach_the_check_and_leave_only_their_shape(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(recording, "KEPT_BYTES", 100)
    student = recorded(give=np.zeros)
    assert (10,) == student.call("give", 10).value.shape
    assert (1000,) == student.call("give", 1000).value.shape
    assert isinstance(student.events[0].outcome, np.ndarray)
    assert Omitted("float64", (1000,)) == student.events[1].outcome
    assert Omitted("float64", (9,)) == (student.call("give", 9) and student.events[2].outcome)


class Layer:
    """What a notebook may define."""

    def __init__(self, size: int):
        if size < 0:
            raise ValueError(size)
        self.size = size
        self.part = [self]

    def __call__(self, x: Any) -> Any:
        return x + self.size

    def forward(self, x: Any) -> Any:
        raise NotImplementedError


def test_what_objects_are_asked_is_written_down_with_what_made_them() -> None:
    student = recorded(Layer=Layer)
    layer = student.call("Layer", 2).value
    assert 5 == layer.call(3).value
    assert 2 == layer.attribute("size")
    layer.set_attribute("size", 4)
    inner = layer.attribute("part")[0]
    assert 7 == inner.call(x=3).value
    for ask in (lambda: inner.method("forward", 1), lambda: inner.attribute("no")):
        with pytest.raises(StudentRaised):
            ask()
    with pytest.raises(StudentRaised):
        student.call("Layer", -1)
    asked = [(one.asked, one.name, one.maker) for one in student.events]
    assert [
        (Asked.CALL, "Layer", None),
        (Asked.CALL_OBJECT, "Layer", "Layer"),
        (Asked.ATTRIBUTE, "size", "Layer"),
        (Asked.SET_ATTRIBUTE, "size", "Layer"),
        (Asked.ATTRIBUTE, "part", "Layer"),
        (Asked.ITEM, 0, None),
        (Asked.CALL_OBJECT, "Layer", "Layer"),
        (Asked.METHOD, "forward", "Layer"),
        (Asked.ATTRIBUTE, "no", "Layer"),
        (Asked.CALL, "Layer", None),
    ] == asked
    assert layer.key == student.events[1].on != student.events[6].on == inner.key
    assert isinstance(student.events[-2].outcome, StudentRaised)


def test_what_fails_is_named_by_what_was_asked_last() -> None:
    student = recorded(Layer=Layer)
    assert student.function is None
    layer = student.call("Layer", 2).value
    assert "Layer" == student.function
    student.send(1)
    with pytest.raises(StudentRaised):
        layer.method("forward", 1)
    assert "Layer.forward" == student.function
    layer.call(1)
    assert "Layer" == student.function


def test_objects_are_arguments_of_other_objects() -> None:
    student = recorded(Layer=Layer, same=lambda one, other: one is other)
    layer = student.call("Layer", 2).value
    other = student.call("Layer", 3).value
    other.set_attribute("part", layer)
    assert student.call("same", layer, other.attribute("part")).value is True
