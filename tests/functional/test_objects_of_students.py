"""A check cannot tell objects of a student in this process from those behind a socket, hostile ones too."""

import textwrap
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from autograder.checking.student import Remote, Student, StudentMalformed, StudentMissing, StudentTimedOut
from autograder.model import Limits

pytestmark = pytest.mark.functional

SOURCE = textwrap.dedent(
    """
    import numpy as np

    array = np.arange(24.0).reshape(2, 3, 4)
    box = {"a": array}

    class Mine(KeyError):
        pass

    class Part:
        def __init__(self):
            self.weight = array

    class Layer:
        scale = 2

        def __init__(self, size, *, parts=1):
            if size < 0:
                raise ValueError(size)
            self.size = size
            self.part = Part()
            self.parts = [Part() for _ in range(parts)]

        def __call__(self, x):
            return self.forward(x)

        def forward(self, x, *, add=0):
            self.last = x * self.scale + add
            return self.last

        def fail(self):
            return {}["nothing"]

        @property
        def raising(self):
            raise Mine("no")

        @property
        def leaving(self):
            raise SystemExit(0)

        masked = np.ma.masked_array(array)
        long = tuple(range(5000))
        huge = tuple(np.zeros(2**20) for _ in range(12))

        @property
        def endless(self):
            while True:
                pass

    class Silent:
        __slots__ = ()

    class Endless:
        def __call__(self):
            while True:
                pass

        def __getitem__(self, key):
            while True:
                pass

        def __setattr__(self, name, value):
            while True:
                pass

    class Liar:
        @property
        def __class__(self):
            return dict

        def __getattr__(self, name):
            return box
    """
).lstrip()
Ask = Callable[[Student], Any]
EndOf = Callable[[Student, Ask], Any]


@pytest.fixture(scope="module")
def students(both_sides: Any) -> Iterator[tuple[Student, Student]]:
    with both_sides(SOURCE, Limits()) as pair:
        yield pair


def layer(student: Student, *args: Any, **kwargs: Any) -> Remote:
    made = student.call("Layer", *args, **kwargs).value
    assert isinstance(made, Remote)
    return made


OBJECTS: dict[str, Ask] = {
    "made": lambda student: layer(student, 3).kind,
    "called": lambda student: layer(student, 3).call(np.ones(2)).value,
    "method": lambda student: layer(student, 3).method("forward", np.ones(2), add=1).value,
    "number": lambda student: layer(student, 3, parts=2).attribute("size"),
    "list": lambda student: layer(student, 3).attribute("parts"),
    "part": lambda student: layer(student, 3).attribute("part"),
    "dotted": lambda student: layer(student, 3).attribute("part.weight"),
    "bound": lambda student: layer(student, 3).attribute("forward").call(np.ones(2)).value,
    "of_item": lambda student: layer(student, 3).attribute("parts")[0].attribute("weight"),
    "method_of_part": lambda student: layer(student, 3).method("part.weight.sum").value,
    "refused": lambda student: student.call("Layer", -1),
    "missing": lambda student: layer(student, 3).attribute("nothing"),
    "missing_part": lambda student: layer(student, 3).attribute("part.nothing.more"),
    "missing_method": lambda student: layer(student, 3).method("nothing", 1),
    "failing": lambda student: layer(student, 3).method("fail"),
    "raising": lambda student: layer(student, 3).attribute("raising"),
    "leaving": lambda student: layer(student, 3).attribute("leaving"),
    "masked": lambda student: layer(student, 3).attribute("masked"),
    "long": lambda student: layer(student, 3).attribute("long"),
    "no_call": lambda student: layer(student, 3).attribute("part").call(),
    "no_attribute": lambda student: student.call("Silent").value.set_attribute("x", 1),
    "lying": lambda student: student.call("Liar").value.fetch(),
    "lying_attribute": lambda student: student.call("Liar").value.attribute("anything"),
    "function_of_module": lambda student: student.call("np.linalg.norm", np.ones(4)).value,
    "function_that_is_not_there": lambda student: student.call("np.linalg.nothing", np.ones(4)),
    "module_that_is_not_there": lambda student: student.call("torch.from_numpy", np.ones(4)),
    "method_of_class": lambda student: student.call("Layer.forward", layer(student, 3), np.ones(2)).value,
}


@pytest.mark.parametrize("name", OBJECTS)
def test_an_object_of_the_students_looks_and_ends_the_same(
    students: tuple[Student, Student], name: str, end_of: EndOf
) -> None:
    local, remote = (end_of(student, OBJECTS[name]) for student in students)
    assert local == remote


def test_what_a_dotted_name_begins_with_is_missing_and_what_follows_raises(
    students: tuple[Student, Student], end_of: EndOf
) -> None:
    for student in students:
        assert StudentMissing is end_of(student, OBJECTS["module_that_is_not_there"])
        assert ("AttributeError", None) == end_of(student, OBJECTS["function_that_is_not_there"])
        assert "KeyError" == end_of(student, OBJECTS["raising"])[0]


def test_attributes_can_be_set_with_data_and_with_objects(
    students: tuple[Student, Student], end_of: EndOf
) -> None:
    for student in students:
        one, other = layer(student, 1), layer(student, 2)
        one.set_attribute("scale", 5)
        one.set_attribute("part.weight", np.zeros(2))
        other.set_attribute("part", one.attribute("part"))
        assert [5.0, 5.0] == one.call(np.ones(2)).value.tolist()
        assert [0.0, 0.0] == other.attribute("part.weight").tolist()
        assert ("AttributeError", None) == end_of(
            student, lambda _, one=one: one.set_attribute("nothing.x", 1)
        )


def test_an_array_of_an_object_is_a_copy(students: tuple[Student, Student]) -> None:
    for student in students:
        one = layer(student, 1)
        weight = one.attribute("part.weight")
        before = weight.copy()
        weight[...] = -1
        assert np.array_equal(before, one.attribute("part.weight"))
        answer = one.call(np.ones(2))
        one.attribute("last").fill(9)
        assert [2.0, 2.0] == answer.reread().tolist()


@pytest.mark.parametrize(
    ("name", "ask"),
    [
        ("call", lambda student: student.call("Endless").value.call()),
        ("item", lambda student: student.call("Endless").value["key"]),
        ("set", lambda student: student.call("Endless").value.set_attribute("x", 1)),
        ("attribute", lambda student: layer(student, 1).attribute("endless")),
    ],
)
def test_what_never_ends_is_ended(name: str, ask: Ask, both_sides: Any, end_of: EndOf) -> None:
    with both_sides(SOURCE, Limits(call_seconds=0.2)) as pair:
        assert [StudentTimedOut, StudentTimedOut] == [end_of(student, ask) for student in pair]


def test_an_attribute_larger_than_an_answer_may_be_is_none(both_sides: Any, end_of: EndOf) -> None:
    with both_sides(SOURCE, Limits()) as pair:
        ends = [end_of(student, lambda one: layer(one, 1).attribute("huge")) for student in pair]
    assert [StudentMalformed, StudentMalformed] == ends


RIGHT = """
class Layer:
    def __init__(self, size):
        self.size = size

    def forward(self, x):
        return x + self.size
"""


def test_a_class_of_ours_takes_over_the_methods_that_are_the_students(both_sides: Any, end_of: EndOf) -> None:
    with both_sides(SOURCE, Limits()) as pair:
        for student in pair:
            student.install("Layer", RIGHT, keep=["fail", "nothing"])
            one = layer(student, 3)
            assert 4 == one.method("forward", 1).value
            assert "KeyError" == end_of(student, lambda _, one=one: one.method("fail"))[0]
            assert ("AttributeError", None) == end_of(student, lambda _, one=one: one.attribute("nothing"))


def test_a_method_of_ours_goes_into_the_students_class(both_sides: Any, end_of: EndOf) -> None:
    with both_sides(SOURCE, Limits()) as pair:
        for student in pair:
            student.install("Layer.forward", "def forward(self, x):\n    return np.array([x, self.size])")
            assert [7, 3] == layer(student, 3).call(7).value.tolist()
            assert StudentMissing is end_of(student, lambda one: one.install("No.f", "def f(self): ..."))
