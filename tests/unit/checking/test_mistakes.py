from types import ModuleType
from typing import Any

import pytest

from autograder.checking.mistakes import MistakeSet


@pytest.fixture
def right() -> ModuleType:
    module = ModuleType("right")
    vars(module).update(double=lambda x: 2 * x, half=lambda x: x / 2)
    return module


def test_a_mistake_is_one_documented_function(right: ModuleType) -> None:
    mistakes = MistakeSet("double")

    @mistakes.add(hint="Think.", seen="courses")
    def squared(right: ModuleType, x: float) -> Any:
        """Doubling is
        squaring.

        It is not.
        """
        return right.double(x) * x / 2

    (mistake,) = mistakes
    assert (mistake.id, mistake.exercise, mistake.belief) == ("squared", "double", "Doubling is squaring.")
    assert (mistake.hint, mistake.seen) == ("Think.", "courses")
    assert mistakes["squared"] is mistake
    assert len(mistakes) == 1


def test_its_namespace_is_right_but_for_the_mistake(right: ModuleType) -> None:
    mistakes = MistakeSet("double")

    @mistakes.add(hint="Think.", seen="courses")
    def tripled(right: ModuleType, x: float) -> Any:
        """Two is three."""
        return right.double(x) + x

    namespace: Any = mistakes["tripled"].namespace(right)
    assert namespace["double"](2) == 6
    assert namespace["half"](2) == 1
    assert right.double(2) == 4


def test_a_mistake_with_a_memory_begins_afresh_each_time(right: ModuleType) -> None:
    mistakes = MistakeSet("double")

    @mistakes.add(hint="Think.", seen="courses", stateful=True)
    def counted(right: ModuleType) -> Any:
        """Every call doubles once more."""
        calls: list[float] = []

        def double(x: float) -> float:
            calls.append(x)
            return x * 2 ** len(calls)

        return double

    for _ in range(2):
        double: Any = mistakes["counted"].namespace(right)["double"]
        assert (double(1), double(1)) == (2, 4)


def test_a_mistake_may_bring_other_functions_of_the_notebook(right: ModuleType) -> None:
    mistakes = MistakeSet("double")

    @mistakes.add(hint="Think.", seen="courses", companions={"half": lambda right, x: x - 1})
    def one_more(right: ModuleType, x: float) -> Any:
        """Doubling adds one."""
        return x + 1

    namespace: Any = mistakes["one_more"].namespace(right)
    assert namespace["double"](namespace["half"](5)) == 5


def test_another_form_shares_all_but_its_function_and_is_no_mistake_more(right: ModuleType) -> None:
    mistakes = MistakeSet("double")

    @mistakes.add(hint="Think.", seen="a/b#1", companions={"half": lambda right, x: x - 1})
    def tripled(right: ModuleType, x: float) -> Any:
        """Two is three."""
        return 3 * x

    @mistakes.form("tripled", stateful=True)
    def tripled_later(right: ModuleType) -> Any:
        """It is so from the second call on."""
        factors = [2, 3]
        return lambda x: factors.pop() * x

    first, later = mistakes.forms()
    assert (1, [first]) == (len(mistakes), list(mistakes))
    assert ("tripled", "tripled", "tripled_later") == (first.name, later.id, later.name)
    assert (later.belief, later.hint, later.seen) == (first.belief, first.hint, first.seen)
    assert later is mistakes["tripled_later"]
    namespace: Any = later.namespace(right)
    assert (3, 2, 1) == (namespace["double"](1), namespace["double"](1), namespace["half"](2))


def test_a_form_of_no_mistake_or_with_a_name_that_is_taken_is_refused() -> None:
    def tripled(right: ModuleType, x: float) -> Any:
        """Two is three."""
        return 3 * x

    mistakes = MistakeSet("double")
    with pytest.raises(ValueError, match="double has no mistake 'tripled'"):
        mistakes.form("tripled")
    mistakes.add(hint="Think.", seen="courses")(tripled)
    with pytest.raises(ValueError, match="name is taken"):
        mistakes.form("tripled")(tripled)


def test_a_name_that_is_taken_and_a_missing_belief_are_refused() -> None:
    def silent(right: ModuleType, x: float) -> Any:
        return x

    def said(right: ModuleType, x: float) -> Any:
        """It is enough to say it."""
        return x

    mistakes, more, others = MistakeSet("double"), MistakeSet("double"), MistakeSet("half")
    with pytest.raises(ValueError, match="docstring"):
        mistakes.add(hint="Think.", seen="courses")(silent)
    for one in (mistakes, more):
        one.add(hint="Think.", seen="courses")(said)
    with pytest.raises(ValueError, match="name is taken"):
        mistakes.add(hint="Think.", seen="courses")(said)
    for one in (more, others):
        with pytest.raises(ValueError, match="do not fit"):
            mistakes.include(one)


class Layer:
    """A class whose methods are exercises."""

    def forward(self, x: float) -> float:
        return 2 * self.split(x)

    def split(self, x: float) -> float:
        return x + 1


def test_a_mistake_in_a_method_stands_in_a_class_of_its_own() -> None:
    right = ModuleType("right")
    vars(right).update(Layer=Layer)
    mistakes = MistakeSet("split", method_of="Layer")

    @mistakes.add(hint="Think.", seen="courses")
    def minus(right: ModuleType, self: Layer, x: float) -> Any:
        """Splitting takes away."""
        return right.Layer.split(self, x) - 2

    others = MistakeSet("forward", method_of="Layer")

    @others.add(hint="Think.", seen="courses")
    def trebled(right: ModuleType, self: Layer, x: float) -> Any:
        """Two is three."""
        return 3 * self.split(x)

    namespace: Any = mistakes["minus"].namespace(right)
    assert issubclass(namespace["Layer"], Layer)
    assert 2 * (5 - 1) == namespace["Layer"]().forward(5)
    others["trebled"].put_into(namespace, right)
    assert 3 * (5 - 1) == namespace["Layer"]().forward(5)
    assert 12 == Layer().forward(5)
