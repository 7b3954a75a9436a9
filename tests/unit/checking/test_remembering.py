from types import FunctionType, ModuleType
from typing import Any

import numpy as np
import pytest

from autograder.checking.remembering import remembering


class Counting:
    """A reference that counts how often it computes."""

    def __init__(self) -> None:
        self.calls = 0
        self.module = ModuleType("reference", "It doubles.")

        def double(x: Any, extra: Any = None) -> Any:
            self.calls += 1
            return {"x": x, "twice": 2 * x}, extra

        vars(self.module).update(double=double, limit=3)


@pytest.fixture
def counting() -> Counting:
    return Counting()


def test_an_answer_is_computed_once(counting: Counting) -> None:
    double = remembering(counting.module).double
    x = np.arange(3.0)
    first, again = double(x), double(x.copy())
    assert counting.calls == 1
    assert np.array_equal(first[0]["twice"], again[0]["twice"])


@pytest.mark.parametrize(
    "other",
    [
        np.arange(4.0),
        np.arange(3),
        np.array([0.0, 1.0, 2.0 + 1e-15]),
        np.array([-0.0, 1.0, 2.0]),
        [0.0, 1.0, 2.0],
        2.0,
    ],
)
def test_what_differs_in_the_least_is_computed_anew(counting: Counting, other: Any) -> None:
    double = remembering(counting.module).double
    double(np.arange(3.0))
    double(other)
    assert counting.calls == 2


def test_the_order_in_memory_and_the_depth_of_a_dict_count(counting: Counting) -> None:
    double = remembering(counting.module).double
    x = np.arange(6.0).reshape(2, 3)
    double(x, {"w": x})
    double(np.asfortranarray(x), {"w": x})
    double(x, {"w": x + 1})
    double(x, {"v": x})
    assert counting.calls == 4
    double(x.copy(), {"w": x.copy()})
    assert counting.calls == 4


def test_large_arrays_are_compared_in_full(counting: Counting) -> None:
    double = remembering(counting.module).double
    x = np.zeros(5000)
    double(x)
    double(x.copy())
    x[-1] = 1.0
    double(x)
    assert counting.calls == 2


def test_an_argument_or_an_answer_that_is_changed_later_spoils_nothing(counting: Counting) -> None:
    double = remembering(counting.module).double
    x = np.arange(3.0)
    answer, _ = double(x)
    x[0] = 100.0
    assert double(np.arange(3.0))[0]["twice"].tolist() == [0.0, 2.0, 4.0]
    with pytest.raises(ValueError, match="read-only"):
        answer["twice"][0] = 7.0
    for change in (answer.clear, answer.popitem, lambda: answer.update(x=1), lambda: answer.pop("x")):
        with pytest.raises(TypeError, match="cannot be changed"):
            change()
    with pytest.raises(TypeError, match="cannot be changed"):
        answer["x"] = 1
    assert {**answer, "y": 1}.keys() == {"x", "twice", "y"}


def test_an_answer_may_be_an_argument_again(counting: Counting) -> None:
    double = remembering(counting.module).double
    answer, _ = double(np.arange(3.0))
    double(answer["twice"], answer)
    double(answer["twice"], answer)
    assert counting.calls == 2


def test_calls_with_keywords_and_errors_are_passed_through(counting: Counting) -> None:
    double = remembering(counting.module).double
    assert double(2, extra=1) == double(2, extra=1)
    assert counting.calls == 2
    with pytest.raises(TypeError):
        double()


def test_everything_else_of_the_module_is_there(counting: Counting) -> None:
    module = remembering(counting.module)
    assert (module.limit, module.__name__, module.__doc__) == (3, "reference", "It doubles.")
    assert isinstance(counting.module.double, FunctionType)


def test_with_objects_nothing_is_remembered(counting: Counting) -> None:
    double = remembering(counting.module).double
    layer = np.random.default_rng(0)
    for _ in range(2):
        double(1.0, layer)
        double(1.0, [layer])
        double(1.0, (2, None))
    assert 5 == counting.calls


def test_an_object_that_comes_out_is_made_anew() -> None:
    module = ModuleType("reference")

    def make(x: int) -> Any:
        return iter([x])

    vars(module).update(make=make)
    again = remembering(module).make
    assert [1] == list(again(1)) == list(again(1))
