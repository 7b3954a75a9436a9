from types import ModuleType
from typing import Any

import numpy as np
import pytest

from autograder.checking.follow_through import RightCache
from autograder.checking.local import LocalStudent
from autograder.checking.recording import Recording
from autograder.checking.student import Remote


@pytest.fixture
def reference() -> ModuleType:
    module = ModuleType("reference")

    def forward(x: Any) -> Any:
        return x + 1, {"x": x, "inner": {"w": x * 2}, "extra": 9}

    vars(module).update(forward=forward)
    return module


def laid(reference: ModuleType, *, whole: bool = False, **namespace: Any) -> RightCache:
    return RightCache(LocalStudent(namespace), reference, "forward", ("x", "inner"), whole=whole)


def show(cache: Any) -> Any:
    return dict(cache)


def test_right_keys_are_laid_over_the_students_cache_and_the_rest_stays(reference: ModuleType) -> None:
    student = laid(reference, forward=lambda x: (0, {"x": -1, "inner": {"w": -1}, "mine": 5}), show=show)
    y, cache = student.call("forward", 3).value
    assert 4 == y
    assert {"x": 3, "inner": {"w": 6}, "mine": 5} == student.call("show", cache).value.fetch()
    assert not student.mixed


@pytest.mark.parametrize("inner", [(1, 2), None, {"other": 1}, [1]])
def test_what_the_student_built_in_another_way_stays(reference: ModuleType, inner: Any) -> None:
    student = laid(reference, forward=lambda x: (0, {"x": -1, "inner": inner}), show=show)
    _, cache = student.call("forward", 3).value
    got = student.call("show", cache).value.fetch()
    assert (3, inner) == (got["x"], got["inner"])
    assert student.mixed


def test_what_is_missing_is_added(reference: ModuleType) -> None:
    student = laid(reference, forward=lambda x: (0, {}), show=show)
    _, cache = student.call("forward", 3).value
    assert {"x": 3, "inner": {"w": 6}} == student.call("show", cache).value.fetch()


class Frozen(dict):
    """Takes nothing."""

    def __setitem__(self, key: Any, value: Any) -> None:
        raise TypeError


@pytest.mark.parametrize(
    "forward",
    [
        lambda x: {}["k"],
        lambda x: x,
        lambda x: (x, [1]),
        lambda x: (x, Frozen(x=0)),
        lambda x: (),
        None,
    ],
)
def test_where_there_is_no_cache_a_whole_right_one_is_sent(reference: ModuleType, forward: Any) -> None:
    namespace = {"show": show} | ({"forward": forward} if forward is not None else {})
    student = laid(reference, **namespace)
    y, cache = student.call("forward", 3).value
    assert 4 == y
    assert isinstance(cache, Remote)
    assert {"x": 3, "inner": {"w": 6}} == cache.fetch() == student.call("show", cache).value.fetch()
    assert 3 == cache["x"]


def test_a_whole_one_can_be_asked_for(reference: ModuleType) -> None:
    student = laid(reference, whole=True, forward=lambda x: (0, {"x": -1, "mine": 5}), show=show)
    _, cache = student.call("forward", 3).value
    assert {"x": 3, "inner": {"w": 6}} == student.call("show", cache).value.fetch()


def test_changes_of_a_right_cache_are_seen(reference: ModuleType) -> None:
    student = laid(reference, whole=True, spoil=lambda cache: cache.pop("x"))
    answer = student.call("forward", 3)
    _, cache = answer.value
    student.call("spoil", cache)
    assert {"inner": {"w": 6}} == cache.fetch()
    assert (4, cache) == answer.reread()


def test_other_functions_arguments_and_installing_go_through(reference: ModuleType) -> None:
    student = laid(reference, double=lambda x: x * 2, fill=lambda x: x.fill(7), forward=lambda x: (0, {}))
    assert 6 == student.call("double", x=3).value
    sent = student.send(np.zeros(1))
    student.call("fill", sent)
    assert [7.0] == sent.reread().tolist()
    student.install("double", "def double(x):\n    return 0")
    assert 0 == student.call("double", 3).value
    y, _ = student.call("forward", student.send(np.ones(1))).value
    assert [2.0] == y.tolist()


def test_it_can_be_recorded_like_any_student(reference: ModuleType) -> None:
    student = Recording(laid(reference, forward=lambda x: (0, {"mine": 1}), show=show))
    _, cache = student.call("forward", 3).value
    assert {"x", "inner", "mine"} == set(student.call("show", cache).value.fetch())
    assert ["call", "call", "fetch"] == [one.asked for one in student.events]
