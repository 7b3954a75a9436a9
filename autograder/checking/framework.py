"""What a check is, and how it fails.

A check is a documented function ``check(student, reference, rng)``: it returns when all is well and
raises ``CheckFailure`` when not. The first line of its docstring is its sentence in the report.
"""

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from types import ModuleType

import numpy as np

from autograder.checking.student import Student
from autograder.model import Verdict

CheckFunction = Callable[[Student, ModuleType, np.random.Generator], None]


class Kind(StrEnum):
    """What a check looks at; a CONTRACT check earns only once a VALUE check of its exercise passes."""

    VISIBLE = "visible"
    VALUE = "value"
    CONTRACT = "contract"


class CheckFailure(Exception):
    """The answer is wrong.

    ``rationale`` and ``hint`` go to the student and name no hidden number; ``detail`` may, and goes to
    the instructor alone. Raised ``from`` a ``StudentFailure`` it gives that failure better words, and the
    verdict stays that failure's.
    """

    verdict = Verdict.FAILED

    def __init__(self, rationale: str, *, hint: str | None = None, detail: str | None = None):
        super().__init__(rationale)
        self.rationale = rationale
        self.hint = hint
        self.detail = detail


class MalformedAnswer(CheckFailure):
    """The answer is not a plain, finite, real array of the right kind."""

    verdict = Verdict.MALFORMED_ANSWER


@dataclass(frozen=True)
class Check:
    """One check of one exercise; ``weight`` is its share of the exercise's points."""

    name: str
    exercise: str
    kind: Kind
    weight: float
    function: CheckFunction
    fresh: bool = False

    @property
    def sentence(self) -> str:
        """The first line of the check's docstring."""
        return (inspect.getdoc(self.function) or self.name).splitlines()[0]


class CheckSet:
    """All checks of one assignment, in the order in which they run."""

    def __init__(self, assignment: str):
        self.assignment = assignment
        #: What the visible checks of an exercise weigh; ``checking.visible`` makes checks of them.
        self.visible_weights: dict[str, float] = {}
        self._checks: list[Check] = []

    def visible(self, exercise: str, *, weight: float) -> None:
        """Say what the exercise's visible checks weigh, together."""
        self.visible_weights[exercise] = weight

    def value(
        self, exercise: str, *, weight: float, fresh: bool = False
    ) -> Callable[[CheckFunction], CheckFunction]:
        """Register a check of numbers; ``fresh`` gives it a fork of its own."""
        return self._register(exercise, Kind.VALUE, weight, fresh)

    def contract(
        self, exercise: str, *, weight: float, fresh: bool = False
    ) -> Callable[[CheckFunction], CheckFunction]:
        """Register a check of behaviour, which earns only once a value check passes."""
        return self._register(exercise, Kind.CONTRACT, weight, fresh)

    def add(self, check: Check) -> None:
        """Register a ready-made check, such as one made of visible checks."""
        if any(one.exercise == check.exercise and one.name == check.name for one in self._checks):
            raise ValueError(f"two checks of {check.exercise} are called {check.name}")
        if not 0 <= check.weight < math.inf:
            raise ValueError(f"check {check.name}: the weight must be a number >= 0, not {check.weight!r}")
        self._checks.append(check)

    def include(self, other: "CheckSet") -> None:
        """Register all checks of another set behind those registered so far."""
        self.visible_weights |= other.visible_weights
        for check in other._checks:
            self.add(check)

    def of(self, exercise: str) -> tuple[Check, ...]:
        """The checks of one exercise."""
        return tuple(check for check in self._checks if check.exercise == exercise)

    @property
    def exercises(self) -> tuple[str, ...]:
        """The exercises that have checks, in order."""
        return tuple(dict.fromkeys(check.exercise for check in self._checks))

    def _register(
        self, exercise: str, kind: Kind, weight: float, fresh: bool
    ) -> Callable[[CheckFunction], CheckFunction]:
        def decorate(function: CheckFunction) -> CheckFunction:
            self.add(Check(function.__name__, exercise, kind, weight, function, fresh))
            return function

        return decorate
