"""Grading in this process: the very checks and scores of the judge, without its worker."""

from collections.abc import Callable, Iterable, Mapping
from functools import cache

import pytest

from autograder.assignments.catalog import KIT, load_assignment
from autograder.checking.framework import Check
from autograder.checking.local import LocalStudent
from autograder.checking.runner import Outcome, run_check
from autograder.checking.scoring import score_exercise
from autograder.checking.seeds import rng
from autograder.checking.visible import with_visible_checks
from autograder.model import ExerciseResult, Verdict


class Grading:
    """All checks of one assignment, visible ones included, run against functions that are trusted."""

    def __init__(self, name: str):
        self.assignment = load_assignment(KIT.parent, name)
        self.reference = self.assignment.reference
        self.points = {one.name: one.max_points for one in self.assignment.exercises}
        assert self.assignment.visible is not None
        self.checks = with_visible_checks(self.assignment.checks, self.assignment.visible)

    def exercise(
        self,
        name: str,
        namespace: Mapping[str, object],
        seed: int = 0,
        *,
        only: Iterable[str] | None = None,
        call_seconds: float | None = None,
    ) -> ExerciseResult:
        """The result of one exercise; ``only`` names the checks to run instead of all."""
        student = LocalStudent(namespace, call_seconds=call_seconds)
        outcomes: list[tuple[Check, Outcome]] = [
            (check, run_check(check, student, self.reference, self.draw(b"%d" % seed, check)))
            for check in self.checks.of(name)
            if only is None or check.name in only
        ]
        return score_exercise(name, outcomes, self.points[name])

    def draw(self, secret: bytes, check: Check):  # type: ignore[no-untyped-def]
        """The generator of a check."""
        return rng(secret, self.assignment.name, check.exercise, check.name, 0)

    def lost(self, result: ExerciseResult) -> set[str]:
        """The names of the checks that did not pass."""
        return {check.name for check in result.checks if check.verdict is not Verdict.PASSED}


@pytest.fixture(scope="session")
def grading_of() -> Callable[[str], Grading]:
    """The grading of an assignment by its name."""
    return cache(Grading)
