"""A class grows by one method a cell; a line that cannot add one is told so in a sentence."""

from functools import partial
from typing import Any

import pytest

from growing import method_of


class Layer:
    """A class that is there already."""


def test_the_function_becomes_a_method_and_stays_a_function() -> None:
    class Grown:
        width = 3

    @method_of(Grown)
    def doubled(self: Any, factor: int = 2) -> int:
        return int(self.width * factor)

    assert (6, 9) == (Grown().doubled(), doubled(Grown(), 3))
    assert doubled.__qualname__.endswith("Grown.doubled")


def test_a_later_cell_replaces_the_method_for_objects_that_are_there_already() -> None:
    class Grown:
        pass

    method_of(Grown)(_named("answer", lambda self: 1))
    there = Grown()
    method_of(Grown)(_named("answer", lambda self: 2))
    assert 2 == there.answer()  # type: ignore[attr-defined]


def _named(name: str, function: Any) -> Any:
    function.__name__ = name
    return function


@pytest.mark.parametrize("owner", ["MultiHeadAttention", None, Layer(), lambda self: self])
def test_what_is_no_class_cannot_grow(owner: Any) -> None:
    with pytest.raises(
        TypeError, match=r"^method_of needs the class that is to grow, in brackets: @method_of"
    ):
        method_of(owner)


def test_brackets_without_a_class_are_told_the_same() -> None:
    with pytest.raises(TypeError, match=r"^method_of needs the class that is to grow"):
        method_of()


def test_a_function_without_self_is_no_method() -> None:
    def forward() -> None:
        pass

    with pytest.raises(TypeError) as caught:
        method_of(Layer)(forward)
    assert (
        "`forward` cannot be a method of Layer: its first parameter must be the object, "
        "def forward(self, ...)."
    ) == str(caught.value)
    assert not hasattr(Layer, "forward")


@pytest.mark.parametrize("below", [3, None, Layer, partial(print)])
def test_only_a_def_stands_below(below: Any) -> None:
    with pytest.raises(
        TypeError, match=r"^@method_of\(Layer\) belongs in the line above the `def` of a method\.$"
    ):
        method_of(Layer)(below)


def test_a_function_that_takes_anything_is_a_method() -> None:
    @method_of(Layer)
    def count(*everything: Any) -> int:
        return len(everything)

    assert 2 == Layer().count("one")  # type: ignore[attr-defined]
