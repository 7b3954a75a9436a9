"""Visible checks end in a verdict though one answer among right ones is odd, whatever was asked there."""

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from autograder.assignments.catalog import KIT, gradable_names, load_assignment
from autograder.checking.local import LocalStudent
from autograder.checking.runner import run_check
from autograder.checking.student import Remote, StudentRaised
from autograder.model import Verdict

VISIBLE = [
    (name, one.name)
    for name in gradable_names(KIT.parent)
    for one in load_assignment(KIT.parent, name).exercises
    if one.name != "build_gpt"  # computes for too long, and asks nothing that others do not
]
PLAIN: list[Any] = [None, 3, True, "text", (np.array([6, 6]), 6), (), np.zeros((0, 3)), np.float32(2)]


class Thing:
    """An object that is nothing but of this kind."""

    def __init__(self, kind: str):
        self.kind = kind
        self.value = self

    def __getitem__(self, key: Any) -> Any:
        raise KeyError(key)

    def __setitem__(self, key: Any, value: Any) -> None:
        raise StudentRaised("TypeError")

    def fetch(self) -> Any:
        return {"query.weight": 3} if self.kind == "dict" else self

    def call(self, *args: Any, **kwargs: Any) -> Any:
        raise StudentRaised("TypeError")

    def method(self, name: str, /, *args: Any, **kwargs: Any) -> Any:
        raise StudentRaised("AttributeError")

    def attribute(self, name: str) -> Any:
        raise StudentRaised("AttributeError")

    def set_attribute(self, name: str, value: Any) -> None:
        raise StudentRaised("AttributeError")


def odd() -> Iterator[Any]:
    things = [Thing(kind) for kind in ("dict", "list", "class", "function", "object")]
    return itertools.chain(PLAIN, things, [(things[-1], things[-1])])


class Meddling:
    """A student, an answer or an object of the student's, all as they are but for one of what they answer.

    ``count`` counts the answers; the one with the number ``place`` is ``value``, or cannot be had.
    """

    def __init__(self, inside: Any, count: Iterator[int], place: int, value: Any):
        self._inside, self._count, self._place, self._odd = inside, count, place, value

    def __getattr__(self, name: str) -> Any:
        there = getattr(self._inside, name)
        if callable(there):
            return lambda *args, **kwargs: self._asked(there, args, kwargs)
        return self._seen(there)

    def __getitem__(self, key: Any) -> Any:
        return self._asked(self._inside.__getitem__, (key,), {})

    def __setitem__(self, key: Any, value: Any) -> None:
        self._asked(self._inside.__setitem__, (key, value), {})

    def _asked(self, ask: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        answer = ask(*map(inside, args), **{name: inside(one) for name, one in kwargs.items()})
        if next(self._count) != self._place:
            return self._seen(answer)
        if self._odd is StudentRaised:
            raise StudentRaised("AttributeError")
        return type("Answer", (), {"value": self._odd}) if hasattr(answer, "reread") else self._odd

    def _seen(self, value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(map(self._seen, value))
        if isinstance(value, Remote) or hasattr(value, "reread"):
            return Meddling(value, self._count, self._place, self._odd)
        return value


def inside(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(inside, value))
    return None if isinstance(value, Thing) else getattr(value, "_inside", value)


@pytest.mark.parametrize(("assignment", "exercise"), VISIBLE)
def test_one_odd_answer_is_not_taken_for_a_fault_of_ours(
    grading_of: Callable[[str], Any], assignment: str, exercise: str
) -> None:
    grading = grading_of(assignment)
    check = next(one for one in grading.checks.of(exercise) if one.name == "visible")
    values = itertools.cycle([*odd(), StudentRaised])

    def run(place: int, value: Any) -> int:
        count = itertools.count()
        student = Meddling(LocalStudent(grading.with_own({})), count, place, value)
        outcome = run_check(check, student, grading.reference, grading.draw(b"odd", check))
        assert (outcome.verdict is Verdict.PASSED) or place >= 0
        assert outcome.verdict is not Verdict.JUDGE_ERROR, outcome.detail
        return next(count)

    for place in range(run(-1, None)):
        for value in itertools.islice(values, 3):
            run(place, value)
