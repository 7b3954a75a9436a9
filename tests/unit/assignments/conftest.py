"""Grading in this process: the very checks and scores of the judge, without its worker."""

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any

import pytest

from autograder.assignments.catalog import KIT, load_assignment
from autograder.checking.framework import Check
from autograder.checking.local import LocalStudent
from autograder.checking.runner import Outcome, run_check
from autograder.checking.scoring import score_exercise
from autograder.checking.seeds import rng
from autograder.checking.visible import with_visible_checks
from autograder.model import ExerciseResult, Verdict
from autograder.usecases.assessing import Assessor
from autograder.usecases.local_run import LocalRun, notebook_of


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

    def with_own(self, functions: Mapping[str, Callable[..., object]]) -> dict[str, object]:
        """The reference's functions, and these in the place of some; methods go into a class of their own."""
        namespace: dict[str, Any] = {**vars(self.reference), **functions}
        for name, function in functions.items():
            owner = self.assignment.checks.methods.get(name)
            if owner is not None and isinstance(namespace[owner], type):
                before = namespace[owner]
                namespace[owner] = type(before)(owner, (before,), {name: function})
        return namespace

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


class Assessing:
    """Notebooks of one assignment through all that a submission goes through, in this process."""

    def __init__(self, name: str):
        self.assignment = load_assignment(KIT.parent, name)
        self._assessor = Assessor(self.assignment, b"seed 0")

    def results(self, make: Callable[[], dict[str, object]]) -> dict[str, ExerciseResult]:
        """The results of functions that ``make`` makes anew for every fork."""
        exercises = self.assignment.exercises
        run = LocalRun([one.name for one in exercises], make, call_seconds=2)
        assessed = self._assessor.assess("student", exercises, run)
        assert assessed.fault is None
        return {one.name: one for one in assessed.exercises}

    def notebook(self, *cells: str) -> dict[str, ExerciseResult]:
        """The results of a notebook with the reference's functions, but for those in these cells."""
        return self.results(lambda: notebook_of(self.assignment.reference, "\n\n".join(cells)))

    def scores(self, results: Mapping[str, ExerciseResult]) -> list[Any]:
        """The points of each exercise."""
        return [pytest.approx(one.score) for one in results.values()]

    def end_to_end(self, results: Mapping[str, ExerciseResult], exercise: str) -> str:
        """What is said of an exercise together with what it builds on."""
        (row,) = (one for one in results[exercise].checks if one.name == "end_to_end")
        return row.message

    def changed(self, cell: str, old: str, new: str) -> str:
        """A cell with one line changed."""
        assert cell.count(old) == 1
        return cell.replace(old, new)

    def seen(self, cells: tuple[str, ...], change: tuple[str, str, str]) -> str:
        """All that is observed of a notebook in one of whose cells a line is changed."""
        cell = self.changed(*change)
        results = self.notebook(*(cell if one == change[0] else one for one in cells))
        found = [check.diagnosis for one in results.values() for check in one.checks if check.diagnosis]
        assert all(one.id.startswith("observed_") for one in found)
        return "\n".join(one.message for one in found)

    def said(self, results: dict[str, ExerciseResult]) -> dict[str, list[str]]:
        """The ids of what was said, by exercise."""
        named = {
            name: [check.diagnosis.id for check in one.checks if check.diagnosis is not None]
            for name, one in results.items()
        }
        return {name: found for name, found in named.items() if found}


@pytest.fixture(scope="session")
def assessing_of() -> Callable[[str], Assessing]:
    """The assessing of an assignment by its name."""
    return cache(Assessing)
