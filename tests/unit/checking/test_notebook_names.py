"""A visible check is written as for the notebook; the stand-ins turn each of its steps into a request."""

from types import MappingProxyType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from autograder.checking.local import LocalStudent
from autograder.checking.notebook_names import Dict, Name, Object
from autograder.checking.recording import Recording
from autograder.checking.student import StudentMissing, StudentRaised


class Layer:
    """As a student writes it."""

    def __init__(self, width: int, *, scale: float = 1.0):
        self.weight = SimpleNamespace(data=np.full(width, scale))

    def __call__(self, x: Any) -> Any:
        return Layer(1, scale=float((x.weight.data * self.weight.data).sum()))

    @property
    def broken(self) -> int:
        return 1 // 0

    def pair(self, number: int) -> tuple[dict[str, int], "Layer"]:
        return {"number": number}, self


NAMESPACE = {
    "Layer": Layer,
    "MappingProxyType": MappingProxyType,
    "np": np,
    "same": lambda one, other: one is other,
}


def name(which: str) -> Any:
    return Name(LocalStudent(NAMESPACE), which)


def test_a_class_makes_objects_that_are_called_and_looked_into() -> None:
    made = name("Layer")(3, scale=2.0)
    assert isinstance(made, Object)
    assert [12.0] == made(made).weight.data.tolist()


def test_an_attribute_is_set_where_the_student_has_it() -> None:
    made = name("Layer")(3)
    made.weight.data = np.array([1.0, 2.0, 3.0])
    assert [14.0] == made(made).weight.data.tolist()


def test_a_dotted_name_begins_with_one_of_the_notebook() -> None:
    rng = name("np").random.default_rng(0)
    assert np.random.default_rng(0).random() == rng.random()


def test_what_a_method_returns_is_seen_as_any_answer() -> None:
    made = name("Layer")(1)
    found, same = made.pair(7)
    assert isinstance(found, Dict)
    assert 7 == found["number"]
    assert name("same")(made, same)
    assert name("same")(found, found)
    assert "dict" == found.kind


def test_an_object_that_is_like_a_dict_is_looked_up() -> None:
    same = name("MappingProxyType")({"x": 3})
    assert 3 == same["x"]
    with pytest.raises(KeyError):
        same["y"]


def test_a_missing_attribute_is_missing_and_a_broken_one_is_the_students_error() -> None:
    made = name("Layer")(1)
    assert not hasattr(made, "bias")
    assert hasattr(made, "weight")
    with pytest.raises(AttributeError):
        made.broken = 1
    with pytest.raises(StudentRaised, match="ZeroDivisionError"):
        made.broken  # noqa: B018 - looking is what breaks


def test_what_python_asks_of_every_object_is_not_asked_of_the_student() -> None:
    for one in (name("missing"), name("Layer")(1)):
        assert not hasattr(one, "__array__")


def test_a_name_that_the_notebook_has_not_is_missing_when_it_is_called() -> None:
    missing = name("missing").part
    with pytest.raises(StudentMissing):
        missing()


def test_a_method_is_called_by_its_name_and_a_call_of_the_object_by_its_makers() -> None:
    recording = Recording(LocalStudent(NAMESPACE))
    made = Name(recording, "Layer")(1)
    made.pair(7)
    assert "Layer.pair" == recording.function
    made(made)
    assert "Layer" == recording.function
    with pytest.raises(StudentRaised):
        made.pair()
    assert "Layer.pair" == recording.function
