"""A check cannot tell a student in this process from one behind a socket: the answers are the same."""

import textwrap
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from autograder.checking.student import Remote, Student, StudentMissing
from autograder.model import Limits

pytestmark = pytest.mark.functional

SOURCE = textwrap.dedent(
    """
    import collections
    import numpy as np

    array = np.arange(24.0).reshape(2, 3, 4)
    box = {"a": array, "b": [1, (2, {"c": None})], "f": len, 3: "three"}

    class Mine(KeyError):
        pass

    class Cache:
        def __getitem__(self, key):
            return {"x": array}[key]

    class Sly(tuple):
        def __iter__(self):
            return iter("no")

        def __len__(self):
            return 1000

    Pair = collections.namedtuple("Pair", "y cache")

    def give(name):
        return eval(name)

    def refuse(name):
        raise eval(name)

    def spoil(x, p):
        x[...] = 7
        p["w"][0] = 9
        p["new"] = [1]

    def same(other):
        return other is box

    def layout(x):
        return x.flags.c_contiguous, x.flags.f_contiguous, x.flags.writeable, str(x.dtype)

    def sort(x):
        return type(x).__name__
    """
).lstrip()
ANSWERS = """
None; True; 3; -2**70; 2.5; float("inf"); float("nan"); "text"; "a\\nb"; "x" * 2000; b"x"; 1j; ();
(1, (2, array)); [1]; {}; box; collections.OrderedDict(a=1); collections.namedtuple("P", "a")(1);
tuple(range(101)); Pair(array, box); Sly((array, box)); Sly(range(101));
len; Cache; Cache(); np.int64(3); np.float32(1.5); np.bool_(True); np.float16(1);
np.str_("a"); np.array(3); np.zeros((0, 2)); array; array.T; array[:, ::2]; array[..., ::-1];
array.astype(">f8"); array.astype("f2"); array.astype("g"); array.astype("O"); array.astype("c16");
array.astype("S3"); array.astype("?"); np.array("2020", "M8[Y]"); np.zeros(2, [("a", "i4")]);
np.ma.masked_array(array); array.view(np.recarray); np.broadcast_to(array, (5, 2, 3, 4));
np.zeros((1,) * 20)
"""
EXCEPTIONS = (
    "ValueError('x'); Mine(); NotImplementedError; np.linalg.LinAlgError(); np.exceptions.AxisError(3); "
)
EXCEPTIONS += "SystemExit(3); ZeroDivisionError; UnicodeError; 3"


@pytest.fixture(scope="module")
def students(both_sides: Any) -> Iterator[tuple[Student, Student]]:
    with both_sides(SOURCE, Limits()) as pair:
        yield pair


@pytest.fixture
def ending(end_of: Any) -> Callable[..., Any]:
    def end(student: Student, *args: Any) -> Any:
        return end_of(student, lambda one: one.call(*args).value)

    return end


@pytest.mark.parametrize("name", [one.strip() for one in ANSWERS.split(";")])
def test_an_answer_looks_the_same(students: tuple[Student, Student], ending: Any, name: str) -> None:
    local, remote = (ending(student, "give", name) for student in students)
    assert local == remote


@pytest.mark.parametrize("name", ["Pair(array, box)", "Sly((array, box))"])
def test_a_named_tuple_is_a_tuple(students: tuple[Student, Student], name: str) -> None:
    for student in students:
        value = student.call("give", name).value
        assert type(value) is tuple
        y, cache = value
        assert (2, 3, 4) == y.shape
        assert isinstance(cache, Remote)
        assert np.array_equal(y, cache["a"])


@pytest.mark.parametrize("name", [one.strip() for one in EXCEPTIONS.split(";")])
def test_an_exception_looks_the_same(students: tuple[Student, Student], ending: Any, name: str) -> None:
    local, remote = (ending(student, "refuse", name) for student in students)
    assert local == remote
    assert local[0] in ("ValueError", "KeyError", "NotImplementedError", "SystemExit", "ZeroDivisionError",
                        "UnicodeError", "TypeError")  # fmt: skip


def test_what_is_no_function_ends_the_same_way(students: tuple[Student, Student], ending: Any) -> None:
    for name in ("nothing", "array", "box"):
        local, remote = (ending(student, name) for student in students)
        assert local == remote
    assert ending(students[0], "nothing") is StudentMissing


def test_arguments_arrive_the_same(students: tuple[Student, Student], ending: Any) -> None:
    array = np.arange(6).reshape(2, 3)
    arguments = [array, array.T, array[:, ::2], array.astype("f4"), array[:0]]
    for argument in arguments:
        local, remote = (ending(student, "layout", argument) for student in students)
        assert local == remote
    for argument in (np.int64(3), 3, True, None, "a", 2.0, (1,), [1], {"a": 1}, np.float32(1), array):
        local, remote = (ending(student, "sort", argument) for student in students)
        assert local == remote


def test_arguments_that_were_sent_and_answers_can_be_read_again(
    students: tuple[Student, Student], plain: Any
) -> None:
    seen = []
    for student in students:
        x, params = student.send(np.zeros(2)), student.send({"w": np.zeros(2)})
        student.call("spoil", x, params)
        answer = student.call("give", "array")
        before = plain(answer.value)
        student.call("spoil", student.call("give", "box").value["a"], {"w": np.zeros(2)})
        seen.append(
            [plain(x.reread()), plain(params.reread()), before, plain(answer.value), plain(answer.reread())]
        )
        assert student.call("same", student.call("give", "box").value).value is True
    assert seen[0] == seen[1]
