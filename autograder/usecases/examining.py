"""Examines one exercise of a notebook that has run: all its checks, in forks of the state at its test cell.

Checks share one fork, in their order, except those that ask for a fork of their own. When a fork is lost (a
crash, a time-out, a reply that is none), the next check gets a fresh one. No two forks see the same hidden
input: every check has its own random numbers, and so has every further attempt at it.
"""

from collections.abc import Callable, Iterable
from types import ModuleType

import numpy as np

from autograder.checking.framework import Check
from autograder.checking.runner import Outcome, outcome_of, run_check
from autograder.checking.student import StudentCrashed, StudentFailure, StudentTimedOut
from autograder.model import Limits
from autograder.sandbox.examination import Budget, Examination
from autograder.sandbox.session import Ending, Run

#: The random numbers of a check, by its name and the attempt.
Draw = Callable[[str, int], np.random.Generator]


def examine(
    exercise: str, checks: Iterable[Check], reference: ModuleType, run: Run, limits: Limits, draw: Draw
) -> list[tuple[Check, Outcome]]:
    """Run all checks of an exercise; every check ends in an outcome, whatever the student's code does."""
    if exercise not in run.exercises:
        never = _never_reached(exercise, run.ending)
        return [(check, never) for check in checks]
    examiner = _Examiner(exercise, reference, run, limits, draw)
    try:
        return [(check, examiner.outcome(check)) for check in checks]
    finally:
        examiner.close()


class _Examiner:
    """Holds the fork that the checks of one exercise share, and the time that they may still use."""

    def __init__(self, exercise: str, reference: ModuleType, run: Run, limits: Limits, draw: Draw):
        self._exercise = exercise
        self._reference = reference
        self._run = run
        self._limits = limits
        self._draw = draw
        self._budget = Budget(limits)
        self._shared: Examination | None = None
        self._second_chance = True

    def outcome(self, check: Check) -> Outcome:
        """One check; what ran out of wall time alone is confirmed once, with a new budget."""
        outcome = self._attempt(check, 0)
        if outcome.by_clock and self._second_chance:
            self._second_chance = False
            self._budget = Budget(self._limits)
            outcome = self._attempt(check, 1)
        return outcome

    def close(self) -> None:
        """Kill the shared fork."""
        if self._shared is not None:
            self._shared.close()
            self._shared = None

    def _attempt(self, check: Check, attempt: int) -> Outcome:
        try:
            fork = self._fork(check)
        except StudentFailure as failure:
            return outcome_of(failure, self._exercise)
        try:
            return run_check(check, fork, self._reference, self._draw(check.name, attempt))
        finally:
            if fork is not self._shared:
                fork.close()

    def _fork(self, check: Check) -> Examination:
        if check.fresh:
            return self._run.examine(self._exercise, self._budget)
        if self._shared is not None and not self._shared.alive:
            self.close()
        if self._shared is None:
            self._shared = self._run.examine(self._exercise, self._budget)
        return self._shared


def _never_reached(exercise: str, ending: Ending) -> Outcome:
    """The notebook broke down again and again before this exercise's place."""
    failure = StudentCrashed() if ending is Ending.CRASHED else StudentTimedOut()
    outcome = outcome_of(failure, exercise)
    message = f"{exercise} was not reached: the cells before it did not run to their end."
    return Outcome(outcome.verdict, message, "Restart the kernel and run all cells, from the top to the end.")
