"""The student's functions, called over a socket in a real worker."""

import textwrap
from typing import Any

import numpy as np
import pytest

from autograder.checking.student import (
    Answer,
    Remote,
    Student,
    StudentMissing,
    StudentRaised,
)

Bench = Any  # tests/conftest.py

CELL = """
    import numpy as np

    def same(x, *rest, **named):
        return x

    def types(*args):
        return tuple(type(arg).__name__ for arg in args)

    def spoil(x):
        x[0] = 99
        return x

    shared = np.zeros(2)

    def count():
        shared[:] += 1
        return shared, {"inner": shared}

    class Linear:
        def __init__(self, weight):
            self.weight = weight
        def forward(self, x, *, scale=1):
            return scale * self.weight * x
"""


@pytest.fixture
def exam(bench: Bench) -> Any:
    return bench.examine(textwrap.dedent(CELL))


def of(bench: Bench, source: str) -> Any:
    return bench.examine("import numpy as np\n" + textwrap.dedent(source))


def test_an_examination_is_a_student(exam: Any) -> None:
    assert isinstance(exam.call("same", 1).value, int)
    student: Student = exam
    answer: Answer = student.call("same", {})
    assert isinstance(answer.value, Remote)


@pytest.mark.parametrize(
    "value",
    [None, True, 3, 2.5, "word", np.int64(3), np.int8(-3), np.float32(0.1), np.bool_(True), np.complex64(1j)],
)
def test_scalars_keep_their_type_in_both_directions(exam: Any, value: Any) -> None:
    arrived = exam.call("same", value).value
    assert (type(value), value) == (type(arrived), arrived)
    assert (type(value).__name__,) == exam.call("types", value).value


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float32", "float64", "complex128"])
def test_arrays_keep_their_dtype_and_shape(exam: Any, dtype: str) -> None:
    sent = np.arange(6).reshape(2, 3).astype(dtype)
    arrived = exam.call("same", sent).value
    assert (sent.dtype, sent.tolist()) == (arrived.dtype, arrived.tolist())


@pytest.mark.parametrize(
    ("expression", "layout"),
    [
        ("np.zeros((2, 3))", (True, False)),
        ("np.zeros((2, 3)).T", (False, True)),
        ("np.zeros((4, 6))[::2, ::2]", (False, False)),
        ("np.zeros((2, 3, 4)).transpose(0, 2, 1)", (False, False)),
        ("np.broadcast_to(np.zeros(3), (2, 3))", (False, False)),
    ],
)
def test_arrays_arrive_as_they_lie_in_memory(
    bench: Bench, expression: str, layout: tuple[bool, bool]
) -> None:
    flags = of(bench, f"def f(): return {expression}").call("f").value.flags
    assert layout == (flags.c_contiguous, flags.f_contiguous)


def test_arguments_lie_in_memory_as_they_did_here(bench: Bench) -> None:
    exam = of(bench, "def f(x): return x.flags.c_contiguous, x.flags.f_contiguous")
    sent = np.zeros((4, 6))
    for one in (sent, sent.T, sent[::2, ::2]):
        assert (one.flags.c_contiguous, one.flags.f_contiguous) == exam.call("f", one).value


def test_arguments_may_be_nested_and_named(exam: Any) -> None:
    assert ("dict", "list", "tuple") == exam.call("types", {"a": [np.ones(2)]}, [1], (2,)).value
    assert 1 == exam.call("same", 1, 2, named=np.ones(3)).value


def test_what_cannot_be_sent_is_our_mistake(exam: Any) -> None:
    with pytest.raises(TypeError, match="object cannot be sent"):
        exam.call("same", object())
    with pytest.raises(ValueError, match="too many values"):
        exam.call("same", ["text " * 100] * 10_000)
    assert 1 == exam.call("same", 1).value


@pytest.mark.parametrize(
    ("expression", "kind"),
    [
        ("[1]", "list"),
        ("{}", "dict"),
        ("int", "class"),
        ("len", "function"),
        ("object()", "object"),
        ("np.ma.ones(2)", "array_subclass"),
        ("np.array([None])", "object_array"),
        ("np.array(['a'])", "dtype"),
        ("np.ones(2, np.float16)", "dtype"),
        ("np.float16(1)", "object"),
        ("type('Own', (float,), {})(1)", "object"),
        ("type('Own', (np.float64,), {})(1)", "object"),
        ("type('Own', (str,), {})('a')", "object"),
        ("2**63", "object"),
        ("'a' * 1001", "object"),
        ("'two\\nlines'", "object"),
        ("(1,) * 101", "object"),
    ],
)
def test_what_is_no_plain_data_stays_there_and_has_a_kind(bench: Bench, expression: str, kind: str) -> None:
    value = of(bench, f"def f(): return {expression}").call("f").value
    assert isinstance(value, Remote)
    assert kind == value.kind


def test_tuples_come_with_their_items_and_dicts_open_item_by_item(exam: Any) -> None:
    array, rest = exam.call("count").value
    assert [1, 1] == array.tolist()
    assert [1, 1] == rest["inner"].tolist()
    assert {"inner": [1, 1]} == {key: value.tolist() for key, value in rest.fetch().items()}
    with pytest.raises(KeyError):
        rest["missing"]


def test_fetch_copies_dicts_lists_and_tuples_and_leaves_the_rest(bench: Bench) -> None:
    exam = of(bench, "def f(): return {'a': [1, (2, {3: np.ones(2)})], 'b': len, None: 1, 2.5: 1}")
    fetched = exam.call("f").value.fetch()
    assert ["a", "b"] == list(fetched)
    assert 1 == fetched["a"][0]
    assert [1, 1] == fetched["a"][1][1][3].tolist()
    assert "function" == fetched["b"].kind


def test_fetch_of_what_contains_itself_comes_to_an_end(bench: Bench) -> None:
    fetched = of(bench, "d = {}\nd['again'] = d\ndef f(): return d").call("f").value.fetch()
    for _ in range(8):
        fetched = fetched["again"] if isinstance(fetched, dict) else fetched
    assert isinstance(fetched, Remote)


def test_a_result_that_is_changed_later_shows_in_reread_and_not_in_value(exam: Any) -> None:
    first = exam.call("count")
    exam.call("count")
    assert [1, 1] == first.value[0].tolist()
    assert [2, 2] == first.reread()[0].tolist()
    assert 5 == exam.call("same", 5).reread()


def test_an_argument_that_was_sent_can_be_looked_at_again(exam: Any) -> None:
    sent = exam.send(np.zeros(2))
    assert [0, 0] == sent.reread().tolist()
    exam.call("spoil", sent)
    assert [99, 0] == sent.reread().tolist()
    nested = exam.send({"a": [1, 2]})
    exam.call("spoil", nested)
    assert {"a": [1, 2], 0: 99} == nested.reread()
    assert ("int", "ndarray") == exam.call("types", exam.send(3), sent).value
    assert 3 == exam.send(3).reread()


def test_a_plain_argument_is_a_copy_each_time(exam: Any) -> None:
    mine = np.zeros(2)
    assert [99, 0] == exam.call("spoil", mine).value.tolist()
    assert [0, 0] == mine.tolist()


def test_results_that_stayed_can_be_arguments(exam: Any) -> None:
    remote = exam.call("same", {"a": 1}).value
    assert ("dict",) == exam.call("types", remote).value
    assert 1 == exam.call("same", remote).value["a"]


def test_classes_are_constructed_and_their_objects_used(exam: Any) -> None:
    layer = exam.call("Linear", np.array([1.0, 2.0])).value
    assert "object" == layer.kind
    assert [3, 6] == layer.method("forward", 3).value.tolist()
    assert [6, 12] == layer.method("forward", 3, scale=2).value.tolist()
    assert [1, 2] == layer.attribute("weight").tolist()
    assert [9, 18] == layer.attribute("forward").call(9).value.tolist()
    with pytest.raises(StudentRaised, match="AttributeError"):
        layer.attribute("bias")


def test_attributes_are_set_and_dotted_names_followed(exam: Any) -> None:
    layer = exam.call("Linear", np.array([1.0, 2.0])).value
    layer.set_attribute("weight", np.array([3.0, 4.0]))
    layer.set_attribute("inner", exam.call("Linear", 5).value)
    layer.set_attribute("inner.weight", layer)
    assert [3, 4] == layer.attribute("inner.weight.weight").tolist()
    assert 7 == layer.method("weight.sum").value
    assert [6, 8] == exam.call("Linear.forward", layer, 2).value.tolist()
    assert 3 == exam.call("np.linalg.norm", np.array([2.0, 2.0, 1.0])).value
    for name in ("nothing.weight", "inner.nothing.weight"):
        with pytest.raises(StudentRaised, match="AttributeError"):
            layer.set_attribute(name, 1)
    with pytest.raises(StudentMissing):
        exam.call("nothing.at.all")


def test_items_can_be_set(exam: Any) -> None:
    remote = exam.call("same", {"a": 1}).value
    remote["a"] = np.ones(2)
    assert [1, 1] == remote["a"].tolist()


def test_a_missing_function_is_told(exam: Any) -> None:
    with pytest.raises(StudentMissing):
        exam.call("absent")
    assert 1 == exam.call("same", 1).value


@pytest.mark.parametrize(
    ("body", "exception"),
    [
        ("1 / 0", "ZeroDivisionError"),
        ("raise SystemExit", "SystemExit"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("raise type('Own', (KeyError,), {})", "KeyError"),
        ("raise type('ValueError', (Exception,), {})", "ValueError"),
        ("raise type('Secret', (BaseException,), {})", "BaseException"),
        ("return f()", "RecursionError"),
    ],
)
def test_an_exception_is_told_by_the_nearest_built_in_name_and_its_line(
    bench: Bench, body: str, exception: str
) -> None:
    exam = bench.examine("# a cell before", f"# first line\ndef f():\n    {body}")
    with pytest.raises(StudentRaised) as raised:
        exam.call("f")
    assert StudentRaised(exception, 1, 3) == raised.value


def test_the_line_is_the_last_one_inside_a_cell(bench: Bench) -> None:
    source = "import numpy as np\ndef f():\n    return g()\ndef g():\n    return np.ones(2) @ np.ones(3)"
    with pytest.raises(StudentRaised) as raised:
        bench.examine(source).call("f")
    assert (0, 5) == (raised.value.cell, raised.value.line)
