import functools
import statistics
import textwrap
from collections.abc import Callable
from math import sin as sine
from typing import Any

import numpy as np
import pytest

import multihead
from autograder.checking.installation import defined_in, source_of
from autograder.errors import CourseError

CONSTANT = 3
TABLE = np.arange(3)
Function = Callable[..., Any]


def plain(x: np.ndarray, scale: "float" = 1.0, *rest: int, **more: int) -> np.ndarray:
    """A docstring that says how it is done."""
    total: float = 0.0
    unused: int  # noqa: F842

    def inner(y: float) -> float:
        """Another one."""
        return y * scale

    return np.asarray([inner(one) for one in x]) + total  # a comment


def leaning(x: float) -> float:
    return x * CONSTANT


def computed(x: float) -> float:
    return x * TABLE[0]


def borrowing(x: float) -> float:
    return leaning(statistics.fmean([x])) + sine(x)


def using_decorated(x: float) -> float:
    return decorated(x)


class Base:
    """A class that others are made from."""

    def scale(self) -> int:
        return CONSTANT


class Made(Base):
    """A class with a docstring."""

    known: int
    factor: int = 2

    def __init__(self, x: float):
        super().__init__()
        self.x = x

    def double(self) -> float:
        """The docstring of a method."""
        return sine(0.0) + self.x * self.factor * self.scale()

    def half(self) -> float:
        return self.x / 2


def given(owner: type) -> Callable[[Function], Function]:
    return lambda function: function


@given(Made)
def treble(self: Made) -> float:
    return 3 * self.x


@functools.lru_cache
def decorated(x: float) -> float:
    return x


def only_a_docstring() -> None:
    """Nothing else."""


def test_a_function_crosses_without_what_does_nothing_when_it_runs() -> None:
    source = source_of(plain)
    for word in ("docstring", "Another", "ndarray", "float", "comment", "int"):
        assert word not in source
    namespace: dict[str, Any] = {"np": np}
    exec(source, namespace)
    assert [2.0, 4.0] == namespace["plain"]([1.0, 2.0], 2.0).tolist()
    exec(source_of(only_a_docstring), namespace)
    assert namespace["only_a_docstring"]() is None


@pytest.mark.parametrize("name", ["split_heads", "merge_heads"])
def test_the_helpers_of_multihead_cross_and_do_the_same(name: str) -> None:
    source = source_of(getattr(multihead, name))
    assert "jaxtyping" not in source
    assert '"""' not in source
    namespace: dict[str, Any] = {"np": np}
    exec(source, namespace)
    x = np.arange(24.0).reshape(2, 3, 4) if name == "split_heads" else np.arange(24.0).reshape(2, 3, 2, 2)
    args = (x, 2) if name == "split_heads" else (x,)
    assert np.array_equal(getattr(multihead, name)(*args), namespace[name](*args))


@pytest.mark.parametrize(
    ("function", "fault"),
    [
        (computed, "it uses TABLE"),
        (using_decorated, "decorated must be a plain function or class, not decorated"),
        (treble, "not decorated"),
        (len, "it has no source"),
        (functools.partial(plain), "it has no source"),
        (textwrap.dedent, "it uses"),
        (decorated, "not decorated"),
    ],
)
def test_what_cannot_cross_is_the_courses_fault(function: Any, fault: str) -> None:
    with pytest.raises(CourseError, match=fault):
        source_of(function)


def made(source: str) -> dict[str, Any]:
    namespace: dict[str, Any] = {"np": np}
    exec(source, namespace)
    return namespace


def test_imports_constants_and_other_functions_come_along_in_their_order() -> None:
    source = source_of(borrowing)
    assert ["import statistics", "from math import sin as sine", "CONSTANT = 3"] == source.splitlines()[:3]
    assert borrowing(2.0) == made(source)["borrowing"](2.0)
    assert {"leaning", "borrowing"} == defined_in(source)


def test_a_class_comes_with_the_class_that_it_is_made_from() -> None:
    source = source_of(Made)
    assert "docstring" not in source
    assert Made(4.0).double() == made(source)["Made"](4.0).double()
    assert {"Base", "Made"} == defined_in(source)


def test_what_shall_stay_behind_stays() -> None:
    left = made(source_of(Made, without=["double"]))["Made"]
    assert hasattr(left, "half")
    assert not hasattr(left, "double")


def test_a_method_comes_without_the_decorator_that_makes_it_one() -> None:
    assert 6 == made(source_of(treble, is_method=True))["treble"](Made(2.0))


def test_a_reference_that_is_put_together_comes_whole() -> None:
    assert {"split_heads", "merge_heads", "multihead"} == defined_in(source_of(multihead.multihead))
