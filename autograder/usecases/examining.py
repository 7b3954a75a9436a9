"""Examines one exercise of a notebook that has run: all its checks, in forks of the state at its test cell.

Checks share one fork, in their order, except those that ask for a fork of their own. When a fork is lost (a
crash, a time-out, a reply that is none), the next check gets a fresh one. No two forks see the same hidden
input: every check has its own random numbers, and so has every further attempt at it.
"""

from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Protocol

import numpy as np

from autograder.checking.framework import Check
from autograder.checking.runner import Outcome, outcome_of, run_check
from autograder.checking.student import (
    Student,
    StudentCrashed,
    StudentFailure,
    StudentMemoryExceeded,
    StudentTimedOut,
)
from autograder.model import Limits
from autograder.sandbox.examination import Budget
from autograder.sandbox.session import Ending

#: The random numbers of a check, by its name and the attempt.
Draw = Callable[[str, int], np.random.Generator]


class Fork(Student, Protocol):
    """A student under examination, in a process that ends with it (``sandbox.examination``)."""

    @property
    def alive(self) -> bool:
        """Whether further requests can be answered."""

    def close(self) -> None:
        """Kill it."""


class Forks(Protocol):
    """A notebook that has run, and its states at the places of test cells (``sandbox.session.Run``)."""

    @property
    def ending(self) -> Ending:
        """How its cells ended."""

    @property
    def exercises(self) -> Collection[str]:
        """The exercises whose place was reached."""

    def expect_worker(self) -> None:
        """Raise ``WorkerLost`` where what runs student code has gone, by no fault of the student's."""

    def examine(self, exercise: str, budget: Budget, /) -> Fork:
        """A fresh fork of the state at that place; raises a ``StudentFailure`` where it cannot be had."""


#: Makes a fresh fork ready: what checks then talk to.
Prepare = Callable[[Student], Student]


def as_it_is(fork: Student) -> Student:
    """The student's own code alone."""
    return fork


@dataclass(frozen=True)
class Exam:
    """One exercise of a notebook that has run, ready to be examined; ``draw`` draws its hidden inputs."""

    exercise: str
    reference: ModuleType
    run: Forks
    limits: Limits
    draw: Draw

    def outcomes(
        self,
        checks: Iterable[Check],
        *,
        prepare: Prepare = as_it_is,
        attempt: int = 0,
        budget: Budget | None = None,
    ) -> list[tuple[Check, Outcome]]:
        """Run checks; every one ends in an outcome, whatever the student's code does.

        Inputs are drawn for ``attempt``, and for the next one where a check has to be tried again. ``budget``
        is the time that may be used, by default that of one exercise.
        """
        if self.exercise not in self.run.exercises:
            never = _never_reached(self.exercise, self.run.ending)
            return [(check, never) for check in checks]
        examiner = _Examiner(self, prepare, budget or Budget(self.limits))
        try:
            return [(check, examiner.outcome(check, attempt)) for check in checks]
        finally:
            examiner.close()

    @contextmanager
    def fork(self, budget: Budget, prepare: Prepare = as_it_is) -> Iterator[Student]:
        """A fresh fork for whatever is no check; raises a ``StudentFailure`` where it cannot be had."""
        fork = self.run.examine(self.exercise, budget)
        try:
            yield prepare(fork)
        finally:
            fork.close()


class _Examiner:
    """Holds the fork that the checks of one exercise share, and the time that they may still use."""

    def __init__(self, exam: Exam, prepare: Prepare, budget: Budget):
        self._exam = exam
        self._prepare = prepare
        self._budget = budget
        self._shared: tuple[Fork, Student] | None = None
        self._second_chance = True

    def outcome(self, check: Check, attempt: int) -> Outcome:
        """One check; what ran out of wall time alone is confirmed once, with a new budget."""
        outcome = self._attempt(check, attempt)
        if outcome.by_clock and self._second_chance:
            self._second_chance = False
            self._budget = Budget(self._exam.limits)
            outcome = self._attempt(check, attempt + 1)
        return outcome

    def close(self) -> None:
        """Kill the shared fork."""
        if self._shared is not None:
            self._shared[0].close()
            self._shared = None

    def _attempt(self, check: Check, attempt: int) -> Outcome:
        try:
            fork, student = self._fork(check)
        except StudentFailure as failure:
            return outcome_of(failure, self._exam.exercise)
        try:
            rng = self._exam.draw(check.name, attempt)
            return replace(run_check(check, student, self._exam.reference, rng), attempt=attempt)
        finally:
            if self._shared is None or fork is not self._shared[0]:
                fork.close()

    def _fork(self, check: Check) -> tuple[Fork, Student]:
        if check.fresh:
            return self._start()
        if self._shared is not None and not self._shared[0].alive:
            self.close()
        if self._shared is None:
            self._shared = self._start()
        return self._shared

    def _start(self) -> tuple[Fork, Student]:
        fork = self._exam.run.examine(self._exam.exercise, self._budget)
        try:
            return fork, self._prepare(fork)
        except BaseException:
            fork.close()
            raise


def _never_reached(exercise: str, ending: Ending) -> Outcome:
    """The notebook broke down again and again before this exercise's place."""
    failures = {Ending.CRASHED: StudentCrashed, Ending.EXCEEDED: StudentMemoryExceeded}
    outcome = outcome_of(failures.get(ending, StudentTimedOut)(), exercise)
    message = f"{exercise} was not reached: the cells before it did not run to their end."
    return Outcome(outcome.verdict, message, "Restart the kernel and run all cells, from the top to the end.")
