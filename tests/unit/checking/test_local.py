import collections
import sys
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest

from autograder.checking.local import LocalStudent
from autograder.checking.student import (
    REMOTE_KINDS,
    Remote,
    StudentMalformed,
    StudentMemoryExceeded,
    StudentMissing,
    StudentRaised,
    StudentTimedOut,
)


class Pair(NamedTuple):
    a: object
    b: object


class Sly(tuple[object, ...]):
    """A tuple whose own methods tell other stories."""

    __slots__ = ()

    def __iter__(self) -> Iterator[object]:
        return iter("no")

    def __len__(self) -> int:
        return 1000


def returning(value: Any) -> Any:
    return LocalStudent({"f": lambda: value}).call("f").value


def raising(error: BaseException) -> StudentRaised:
    def f() -> None:
        raise error

    with pytest.raises(StudentRaised) as caught:
        LocalStudent({"f": f}).call("f")
    return caught.value


@pytest.mark.parametrize("value", [None, True, 3, 2.5, float("inf"), "text", (), (1, ("a", None))])
def test_plain_data_comes_by_value(value: Any) -> None:
    got = returning(value)
    assert got == value
    assert type(got) is type(value)


def test_a_named_tuple_is_a_tuple_whatever_its_own_methods_say() -> None:
    array = np.ones(2)
    for answer in (Pair(array, {"x": 1}), Sly((array, {"x": 1}))):
        y, cache = returning(answer)
        assert y.tolist() == [1.0, 1.0]
        assert not np.shares_memory(y, array)
        assert cache["x"] == 1
    assert type(returning(Pair(1, 2))) is tuple


def test_numpy_scalars_come_by_value() -> None:
    got = returning(np.int64(3))
    assert got == 3
    assert type(got) is np.int64


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float32", "float64", "complex64", "complex128"])
def test_an_array_of_a_plain_dtype_is_copied(dtype: str) -> None:
    array = np.ones((2, 3), dtype)
    got = returning(array)
    assert type(got) is np.ndarray
    assert (got.dtype, got.shape) == (array.dtype, array.shape)
    assert not np.shares_memory(got, array)


def test_an_array_of_the_other_byte_order_keeps_its_numbers() -> None:
    got = returning(np.arange(3, dtype=">f8"))
    assert got.dtype == np.float64
    assert got.tolist() == [0.0, 1.0, 2.0]


def test_arrays_lie_in_memory_as_they_did() -> None:
    array = np.arange(24.0).reshape(2, 3, 4)
    assert returning(array).flags.c_contiguous
    assert returning(np.asfortranarray(array)).flags.f_contiguous
    strided = returning(array[:, :, ::2])
    assert not strided.flags.c_contiguous
    assert strided.tolist() == array[:, :, ::2].tolist()


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ({}, "dict"),
        (collections.OrderedDict(a=1), "dict"),
        ([1], "list"),
        (np.ma.masked_array([1.0, 2.0], [True, False]), "array_subclass"),
        (np.array([None]), "object_array"),
        (np.array(["a"]), "dtype"),
        (np.array(["2020-01-01"], dtype="M8[D]"), "dtype"),
        (np.ones(2, np.float16), "dtype"),
        (np.ones(2, np.longdouble), "dtype"),
        (np.zeros(2, [("a", "f8")]), "dtype"),
        (len, "function"),
        (int, "class"),
        (object(), "object"),
        (1j, "object"),
        (b"bytes", "object"),
        (10**30, "object"),
        ("x" * 2000, "object"),
        ("two\nlines", "object"),
        (np.float16(1), "object"),
        (tuple(range(200)), "object"),
    ],
)
def test_everything_else_stays_behind(value: Any, kind: str) -> None:
    got = returning(value)
    assert isinstance(got, Remote)
    assert got.kind == kind
    assert kind in REMOTE_KINDS


def test_an_answer_is_copied_when_the_call_returns_and_can_be_read_again() -> None:
    kept = np.zeros(2)
    student = LocalStudent({"get": lambda: (kept, "a"), "change": lambda: kept.fill(7)})
    answer = student.call("get")
    student.call("change")
    assert answer.value[0].tolist() == [0.0, 0.0]
    assert answer.reread()[0].tolist() == [7.0, 7.0]


def test_arguments_are_copies_at_each_call() -> None:
    def spoil(x: np.ndarray, params: dict[str, np.ndarray]) -> None:
        x[...] = 9
        params["w"][...] = 9

    x, params = np.zeros(2), {"w": np.zeros(2)}
    LocalStudent({"spoil": spoil}).call("spoil", x, params=params)
    assert x.tolist() == [0.0, 0.0]
    assert params["w"].tolist() == [0.0, 0.0]


def test_what_was_sent_is_one_object_that_can_be_looked_at_again() -> None:
    student = LocalStudent({"spoil": lambda p: p["w"].fill(9)})
    sent = student.send({"w": np.zeros(2)})
    student.call("spoil", sent)
    assert sent.reread()["w"].tolist() == [9.0, 9.0]


def test_what_stayed_behind_can_be_handed_back() -> None:
    box = {"a": 1}
    student = LocalStudent({"get": lambda: box, "same": lambda other: other is box})
    assert student.call("same", student.call("get").value).value is True


def test_only_data_can_be_sent() -> None:
    with pytest.raises(TypeError, match="cannot be sent"):
        LocalStudent({"f": print}).call("f", object())


def test_items_are_copied_one_by_one_and_a_missing_one_is_a_key_error() -> None:
    got = returning({"a": np.ones(2), "b": {"c": 1}, 3: "x"})
    assert got["a"].tolist() == [1.0, 1.0]
    assert got["b"].kind == "dict"
    assert got["b"]["c"] == 1
    assert got[3] == "x"
    assert returning([5, 6])[1] == 6
    for value, key in (({}, "a"), ([5], 1), ([5], "a"), (object(), "a")):
        with pytest.raises(KeyError):
            returning(value)[key]


def test_any_object_with_items_can_be_asked_for_them() -> None:
    class Cache:
        def __getitem__(self, key: str) -> str:
            return f"<{key}>"

    assert returning(Cache())["x"] == "<x>"


def test_fetch_copies_dicts_lists_and_tuples_whole() -> None:
    inner = np.ones(2)
    got = returning({"a": [inner, (1, {"b": None})], "f": print, (1, 2): "no such key"}).fetch()
    assert got.keys() == {"a", "f"}
    assert got["a"][0].tolist() == [1.0, 1.0]
    assert got["a"][0] is not inner
    assert got["a"][1] == (1, {"b": None})
    assert got["f"].kind == "function"


def test_fetch_stops_at_a_depth_and_at_a_size() -> None:
    loop: dict[str, Any] = {}
    loop["again"] = loop
    got = returning(loop).fetch()
    for _ in range(7):
        got = got["again"]
    assert got["again"].kind == "dict"
    with pytest.raises(StudentMalformed):
        returning([0] * 20_000).fetch()


def test_an_array_that_is_far_too_large_is_no_answer() -> None:
    with pytest.raises(StudentMalformed):
        returning(np.broadcast_to(np.zeros(1), (100_000, 100_000)))


def test_a_missing_function_is_missing_and_one_that_is_none_raises() -> None:
    with pytest.raises(StudentMissing):
        LocalStudent({}).call("f")
    with pytest.raises(StudentRaised) as caught:
        LocalStudent({"f": None}).call("f")
    assert caught.value.exception == "TypeError"


def test_an_exception_has_the_name_of_the_nearest_built_in_one() -> None:
    class Mine(KeyError):
        pass

    class Stranger(BaseException):
        pass

    assert raising(ValueError("secret")).exception == "ValueError"
    assert raising(Mine()).exception == "KeyError"
    assert raising(np.linalg.LinAlgError()).exception == "ValueError"
    assert raising(NotImplementedError()).exception == "NotImplementedError"
    assert raising(SystemExit(3)).exception == "SystemExit"
    with pytest.raises(Stranger):
        raising(Stranger())


def test_an_interruption_from_outside_gets_through() -> None:
    with pytest.raises(KeyboardInterrupt):
        raising(KeyboardInterrupt())


def test_the_line_is_the_last_one_in_the_students_own_code() -> None:
    namespace: dict[str, object] = {}
    exec("def f(x):\n    return g(x)\n\ndef g(x):\n    return int(x)\n", namespace)
    with pytest.raises(StudentRaised) as caught:
        LocalStudent(namespace).call("f", "no number")
    assert (caught.value.exception, caught.value.line, caught.value.cell) == ("ValueError", 5, None)
    assert raising(ValueError()).line is None


def test_out_of_memory_and_out_of_time_have_their_own_endings() -> None:
    def endless() -> None:
        while True:
            pass

    def hungry() -> None:
        raise MemoryError

    student = LocalStudent({"endless": endless, "hungry": hungry}, call_seconds=0.05)
    with pytest.raises(StudentTimedOut):
        student.call("endless")
    with pytest.raises(StudentMemoryExceeded):
        student.call("hungry")


def test_neither_prints_nor_warnings_are_seen(capsys: pytest.CaptureFixture[str]) -> None:
    def loud() -> int:
        sys.stdout.write("secret")
        sys.stderr.write("secret")
        warnings.warn("secret", stacklevel=1)
        np.float64(1) / np.float64(0)
        return 1

    assert LocalStudent({"loud": loud}).call("loud").value == 1
    assert capsys.readouterr() == ("", "")


class Layer:
    """What a notebook may define: it prints, warns, and takes what it is given."""

    def __init__(self, size: int):
        self.size = size
        self.weight = np.zeros(size)

    def __call__(self, x: float) -> float:
        sys.stdout.write("hidden input\n")
        warnings.warn("hidden", stacklevel=1)
        return x + self.size

    @property
    def endless(self) -> Any:
        while True:
            pass

    @property
    def hungry(self) -> Any:
        raise MemoryError

    @property
    def leaving(self) -> Any:
        sys.stdout.write("hidden input\n")
        raise SystemExit(0)


def test_objects_are_made_called_looked_at_and_changed(capsys: pytest.CaptureFixture[str]) -> None:
    student = LocalStudent({"Layer": Layer})
    layer = student.call("Layer", size=2).value
    assert "function" == layer.kind
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert 5 == layer.call(3).value == layer.method("__call__", x=3).value
    layer.set_attribute("size", 4)
    layer.set_attribute("weight", layer.attribute("weight") + 1)
    assert [1.0, 1.0] == layer.attribute("weight").tolist()
    assert 2.0 == layer.method("weight.sum").value
    assert 7 == layer.call(3).value
    assert "" == capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "ending"),
    [
        ("endless", StudentTimedOut),
        ("hungry", StudentMemoryExceeded),
        ("leaving", StudentRaised),
        ("nothing", StudentRaised),
        ("weight.nothing", StudentRaised),
    ],
)
def test_attributes_are_guarded_as_calls_are(
    capsys: pytest.CaptureFixture[str], name: str, ending: type[Exception]
) -> None:
    layer = LocalStudent({"Layer": Layer}, call_seconds=0.05).call("Layer", 2).value
    asks: list[Any] = [lambda: layer.attribute(name), lambda: layer.method(name)]
    for ask in [*asks, lambda: layer.set_attribute(f"{name}.x", 1)]:
        with pytest.raises(ending):
            ask()
    assert "" == capsys.readouterr().out


def test_a_dotted_name_is_resolved_from_the_namespace() -> None:
    student = LocalStudent({"np": np})
    assert 2.0 == student.call("np.linalg.norm", np.ones(4)).value
    with pytest.raises(StudentMissing):
        student.call("torch.from_numpy", np.ones(4))
    with pytest.raises(StudentRaised) as caught:
        student.call("np.nothing.at.all")
    assert "AttributeError" == caught.value.exception


def test_what_the_namespace_has_imported_is_not_imported_again() -> None:
    namespace: dict[str, Any] = {"sqrt": len}
    student = LocalStudent(namespace)
    student.install(
        "f", "from given import sqrt\nfrom math import floor\ndef f(x):\n    return sqrt(x), floor(2.5)"
    )
    assert (3, 2) == student.call("f", "abc").value


def test_a_method_that_is_installed_leaves_the_class_of_others_alone() -> None:
    student = LocalStudent({"Layer": Layer})
    student.install("Layer.double", "def double(self):\n    return 2 * self.size")
    assert 6 == student.call("Layer", 3).value.method("double").value
    assert not hasattr(Layer, "double")
    with pytest.raises(StudentMissing):
        student.install("Other.double", "def double(self): ...")
