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
from autograder.model import Diagnosis, Verdict

CheckFunction = Callable[[Student, ModuleType, np.random.Generator], None]
#: Looks at a student whose exercise failed, and says what it saw, or None.
Look = Callable[[Student, ModuleType, np.random.Generator], Diagnosis | None]
#: Whether what a student computes fits the student's own earlier function, be that right or wrong; or, where
#: it fits but for something, what that is.
Fits = Callable[[Student, ModuleType, np.random.Generator], bool | Diagnosis]


class Kind(StrEnum):
    """What a check looks at; a CONTRACT check earns only once a VALUE check of its exercise passes."""

    VISIBLE = "visible"
    VALUE = "value"
    CONTRACT = "contract"


@dataclass(frozen=True)
class Comparison:
    """An array that a check refused, and the right one; ``axes`` are the names of the axes of ``want``."""

    what: str
    axes: tuple[str, ...]
    got: np.ndarray
    want: np.ndarray


class CheckFailure(Exception):
    """The answer is wrong.

    ``rationale`` and ``hint`` go to the student and name no hidden number; ``detail`` may, and goes to
    the instructor alone; ``comparison``, where there is one, is for ``checking.analysis``. Raised ``from`` a
    ``StudentFailure`` it gives that failure better words, and the verdict stays that failure's.
    """

    verdict = Verdict.FAILED

    def __init__(self, rationale: str, *, hint: str | None = None, detail: str | None = None):
        super().__init__(rationale)
        self.rationale = rationale
        self.hint = hint
        self.detail = detail
        self.comparison: Comparison | None = None


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


@dataclass(frozen=True)
class Analysis:
    """What is tried where no known mistake explains why one of these checks failed."""

    checks: tuple[str, ...]
    look: Look


@dataclass(frozen=True)
class FollowThrough:
    """What an exercise is judged with, once more, where earlier exercises that it builds on have failed.

    In the place of the student's ``helpers`` that failed stand right ones. Where ``cache_of`` failed, the
    ``keys`` of the cache that it returns as its last result are right ones. ``fits`` is for feedback alone.
    """

    helpers: tuple[str, ...] = ()
    cache_of: str | None = None
    keys: tuple[str, ...] = ()
    fits: Fits | None = None

    @property
    def builds_on(self) -> tuple[str, ...]:
        """The exercises whose faults shall not cost points here."""
        return self.helpers if self.cache_of is None else (*self.helpers, self.cache_of)


class CheckSet:
    """All checks of one assignment, in the order in which they run."""

    def __init__(self, assignment: str):
        self.assignment = assignment
        #: What the visible checks of an exercise weigh; ``checking.visible`` makes checks of them.
        self.visible_weights: dict[str, float] = {}
        #: By exercise: how it is judged where what it builds on is wrong, and what else can be said of it.
        self.following: dict[str, FollowThrough] = {}
        self.analyses: dict[str, tuple[Analysis, ...]] = {}
        #: The exercises that are methods, with the exercise that defines their class.
        self.methods: dict[str, str] = {}
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

    def follow_through(
        self,
        exercise: str,
        *,
        helpers: tuple[str, ...] = (),
        cache_of: str | None = None,
        keys: tuple[str, ...] = (),
        fits: Fits | None = None,
    ) -> None:
        """Say what the exercise builds on; raises ValueError where that was said before."""
        if exercise in self.following:
            raise ValueError(f"what {exercise} builds on is said twice")
        self.following[exercise] = FollowThrough(helpers, cache_of, keys, fits)

    def methods_of(self, owner: str, *exercises: str) -> None:
        """Say that exercises are methods of the class that the exercise ``owner`` defines.

        In the notebook each is a function in a cell of its own that becomes a method by a decorator; a
        student who writes it into the body of the class is understood, too. Raises ValueError where one has
        a class already.
        """
        for exercise in exercises:
            if exercise in self.methods:
                raise ValueError(f"{exercise} is a method of {self.methods[exercise]} already")
            self.methods[exercise] = owner

    def analysis(self, exercise: str, *checks: str) -> Callable[[Look], Look]:
        """Register what is tried where one of these checks failed and no known mistake explains it."""

        def decorate(function: Look) -> Look:
            self.analyses[exercise] = (*self.analyses.get(exercise, ()), Analysis(checks, function))
            return function

        return decorate

    def declare_as(self, other: "CheckSet") -> None:
        """Take over what another set declares beside its checks."""
        self.following |= other.following
        self.methods |= other.methods
        for exercise, functions in other.analyses.items():
            self.analyses[exercise] = (*self.analyses.get(exercise, ()), *functions)

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
        self.declare_as(other)
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
