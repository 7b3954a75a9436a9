"""Grading in this process: the very checks and scores of the judge, without its worker."""

from collections.abc import Iterable, Mapping

import pytest

import multihead as reference
import visible_checks
from autograder.assignments.multihead.checks import checks
from autograder.checking.framework import Check
from autograder.checking.local import LocalStudent
from autograder.checking.runner import Outcome, run_check
from autograder.checking.scoring import score_exercise
from autograder.checking.seeds import rng
from autograder.checking.visible import with_visible_checks
from autograder.model import ExerciseResult, Verdict

POINTS = {"split_heads": 3.0, "merge_heads": 2.0, "multihead": 6.0, "multihead_backward": 9.0}


class Grading:
    """All checks of the assignment, visible ones included, run against functions that are trusted."""

    points = POINTS
    reference = reference
    checks = with_visible_checks(checks, visible_checks)

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
            (check, run_check(check, student, reference, rng(b"%d" % seed, "multihead", name, check.name, 0)))
            for check in self.checks.of(name)
            if only is None or check.name in only
        ]
        return score_exercise(name, outcomes, POINTS[name])

    def lost(self, result: ExerciseResult) -> set[str]:
        """The names of the checks that did not pass."""
        return {check.name for check in result.checks if check.verdict is not Verdict.PASSED}


@pytest.fixture(scope="session")
def grading() -> Grading:
    return Grading()
