"""Follow-through where classes and their methods are exercises."""

import textwrap
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from autograder.assignments.loading import load_module
from autograder.checking.framework import CheckSet
from autograder.checking.runner import Outcome
from autograder.errors import CourseError
from autograder.model import Verdict
from autograder.notebooks.source import Exercise
from autograder.usecases.following import Examined, FollowThroughs
from autograder.usecases.local_run import LocalFork

GROWING = """
def method_of(owner):
    def add(function):
        setattr(owner, function.__name__, function)
        return function

    return add
"""
REFERENCE = """
from growing import method_of

UNIT = 10


class Layer:
    def __init__(self, size):
        self.size = size * UNIT


@method_of(Layer)
def split(self, x):
    return x + self.size


@method_of(Layer)
def forward(self, x):
    return 2 * self.split(x)
"""
EXERCISES = ("Layer", "split", "forward")
NEVER = lambda student, reference, rng: None  # noqa: E731


class Mine:
    """A student's class, written in one piece and wrong everywhere."""

    def __init__(self, size: int):
        self.size = size

    def split(self, x: int) -> int:
        return x - self.size

    def forward(self, x: int) -> int:
        return 3 * self.split(x)


@pytest.fixture
def reference(tmp_path: Path) -> ModuleType:
    (tmp_path / "given").mkdir()
    (tmp_path / "given" / "growing.py").write_text(GROWING)
    (tmp_path / "lab.py").write_text(textwrap.dedent(REFERENCE))
    return load_module(tmp_path / "lab.py", helpers=tmp_path / "given")


@pytest.fixture
def checks() -> CheckSet:
    checks = CheckSet("lab")
    for name in EXERCISES:
        checks.value(name, weight=1)(NEVER)
    checks.methods_of("Layer", "split", "forward")
    return checks


def done(*wrong: str) -> dict[str, Examined]:
    """Exercises that have been examined, of which these failed."""
    found = {}
    for name in EXERCISES:
        verdict = Verdict.FAILED if name in wrong else Verdict.PASSED
        outcomes = [(Any, Outcome(verdict, ""))]
        found[name] = Examined(Exercise(name, f"test_{name}", 1.0, 0, 1), outcomes, outcomes)  # type: ignore[arg-type]
    return found


def helped(
    checks: CheckSet, reference: ModuleType, exercise: str, *wrong: str
) -> Callable[[int], Callable[[int], int]]:
    """The class of the student's after all help for an exercise."""
    (help_,) = FollowThroughs(checks, reference).helps(exercise, done(*wrong))
    fork = LocalFork({"Layer": Mine})
    help_.prepare(fork)
    return lambda size: lambda x: fork.call("Layer", size).value.method(exercise, x).value


def test_a_right_class_takes_over_the_students_methods(checks: CheckSet, reference: ModuleType) -> None:
    checks.follow_through("split", helpers=("Layer",))
    assert 7 - 20 == helped(checks, reference, "split", "Layer")(2)(7)


def test_a_right_method_goes_into_the_students_class(checks: CheckSet, reference: ModuleType) -> None:
    checks.follow_through("forward", helpers=("split",))
    assert 3 * (7 + 2) == helped(checks, reference, "forward", "split")(2)(7)
    assert 5 == Mine(2).split(7)


def test_a_right_method_goes_into_a_right_class(checks: CheckSet, reference: ModuleType) -> None:
    checks.follow_through("forward", helpers=("split", "Layer"))
    assert 3 * (7 + 20) == helped(checks, reference, "forward", "split", "Layer")(2)(7)


def test_a_class_that_answers_a_later_exercise_helps_nobody(checks: CheckSet, reference: ModuleType) -> None:
    checks.follow_through("Layer", helpers=("split",))
    vars(reference)["Layer"].split = vars(reference)["forward"]
    with pytest.raises(CourseError, match="would answer forward, too"):
        FollowThroughs(checks, reference)
