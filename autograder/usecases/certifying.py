"""Tries an assignment's checks on its right solutions and known mistakes: what one process of many does.

Seeds are numbered from 0. On the first few, the complete ones, every candidate meets every check. On those
that follow, a mistake is tried until a check finds it, and the right solutions, which take turns beside the
reference, meet all hidden checks. What takes seconds for one seed is tried on the very first alone.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from autograder.assignments.candidates import known_mistakes, right_variants
from autograder.assignments.catalog import Assignment, load_assignment
from autograder.checking.framework import Check
from autograder.checking.scoring import score_exercise
from autograder.checking.seeds import rng
from autograder.checking.slimming import size_of
from autograder.checking.trials import MakeNamespace, Round, Trial
from autograder.checking.visible import with_visible_checks
from autograder.model import Verdict
from autograder.notebooks.source import Exercise
from autograder.usecases.naming import Naming

REFERENCE = "reference"


@dataclass(frozen=True)
class Plan:
    """What is tried how often.

    Everything on the first ``complete`` seeds; after that each right solution on every ``turns``-th seed.
    What is slow is tried on the first ``slow`` seeds alone; all else is diagnosed on the first ``diagnosed``.
    """

    seeds: int
    complete: int
    turns: int = 1
    slow: int = 1
    diagnosed: int = 1


class Mark(NamedTuple):
    """How one check of one candidate ended; ``message`` is kept where it may have to be reported."""

    check: str
    verdict: Verdict
    margin: float | None
    cpu_seconds: float
    message: str = ""


class Sitting(NamedTuple):
    """One candidate in one exercise on one seed; ``full_marks`` if it earned all points.

    ``said`` names what diagnosis said of it, handed in as a student's; None where that was not tried.
    """

    exercise: str
    candidate: str
    is_right: bool
    seed: int
    complete: bool
    full_marks: bool
    marks: tuple[Mark, ...]
    said: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Candidate:
    """A right solution, in all exercises, or a mistake in one.

    ``turn`` is its place among those that take turns.
    """

    name: str
    exercises: tuple[str, ...]
    is_right: bool
    make: MakeNamespace
    slow: bool = False
    turn: int | None = None


class Bench:
    """An assignment, ready to be tried on any seed."""

    def __init__(self, assignment: Assignment, plan: Plan):
        self._assignment = assignment
        self._plan = plan
        self._checks = assignment.checks
        if assignment.visible is not None:
            self._checks = with_visible_checks(assignment.checks, assignment.visible)
        self._candidates = tuple(_candidates(assignment))
        self._found: dict[str, dict[str, list[str]]] = {}

    def sittings(self, seed: int) -> Iterator[Sitting]:
        """All that is tried on one seed."""
        for exercise in self._assignment.exercises:
            round_ = self._round(exercise, seed)
            naming = Naming(self._assignment, seed) if seed < self._plan.diagnosed else None
            for candidate in self._candidates:
                if exercise.name in candidate.exercises and self._is_due(candidate, seed):
                    sitting = self._sit(candidate, exercise, seed, round_)
                    if naming is not None and not candidate.slow:
                        said = naming.said(candidate.name, candidate.make, exercise)
                        sitting = sitting._replace(said=said)
                    yield sitting

    def _round(self, exercise: Exercise, seed: int) -> Round:
        def draw(check: Check) -> np.random.Generator:
            return rng(b"certificate %d" % seed, self._assignment.name, exercise.name, check.name, 0)

        return Round(
            self._checks.of(exercise.name),
            self._assignment.reference,
            draw,
            call_seconds=self._assignment.limits.call_seconds,
        )

    def _is_due(self, candidate: Candidate, seed: int) -> bool:
        if candidate.slow:
            return seed < self._plan.slow
        if candidate.turn is None or seed < self._plan.complete:
            return True
        return (seed + candidate.turn) % self._plan.turns == 0

    def _sit(self, candidate: Candidate, exercise: Exercise, seed: int, round_: Round) -> Sitting:
        complete = seed < self._plan.complete
        if complete:
            trials = round_.all_of(candidate.make)
        elif candidate.is_right:
            trials = round_.hidden_of(candidate.make)
        else:
            likely = self._likely(exercise).get(candidate.name, [])
            trials = round_.until_killed(candidate.make, likely)
            if not trials[-1].costs_points:
                # Before it is called a survivor it meets the checks once more, in the order of grading.
                complete, trials = True, round_.all_of(candidate.make)
        lost = any(trial.costs_points for trial in trials)
        full_marks = complete and not lost and _earns_all(exercise, trials)
        marks = tuple(_mark(trial, candidate.is_right) for trial in trials)
        return Sitting(exercise.name, candidate.name, candidate.is_right, seed, complete, full_marks, marks)

    def _likely(self, exercise: Exercise) -> Mapping[str, list[str]]:
        """The checks that find each mistake on the first seed, those first that ask for least.

        Their time would be a measure, too, but another one in each process.
        """
        if exercise.name not in self._found:
            round_ = self._round(exercise, 0)
            self._found[exercise.name] = {
                one.name: [
                    trial.check.name
                    for trial in sorted(round_.all_of(one.make), key=lambda trial: size_of(trial.outcome))
                    if trial.costs_points
                ]
                for one in self._candidates
                if exercise.name in one.exercises and not one.is_right and not one.slow
            }
        return self._found[exercise.name]


_bench: Bench | None = None


def set_up(course: Path, assignment: str, plan: Plan) -> None:
    """Make this process ready for ``try_seeds``."""
    global _bench  # noqa: PLW0603 (a process of an executor keeps what its tasks share)
    _bench = Bench(load_assignment(course, assignment), plan)


def try_seeds(seeds: Sequence[int]) -> list[Sitting]:
    """All that is tried on some seeds; ``set_up`` must have been called in this process."""
    if _bench is None:
        raise RuntimeError("set_up has not been called")
    return [sitting for seed in seeds for sitting in _bench.sittings(seed)]


def _candidates(assignment: Assignment) -> Iterator[Candidate]:
    exercises = tuple(one.name for one in assignment.exercises)
    yield Candidate(REFERENCE, exercises, True, partial(vars, assignment.reference))
    for turn, variant in enumerate(right_variants(assignment)):
        yield Candidate(variant.name, exercises, True, partial(vars, variant.module), variant.slow, turn)
    for exercise, mistakes in known_mistakes(assignment).items():
        for mistake in mistakes.forms():
            make = partial(mistake.namespace, assignment.reference)
            yield Candidate(mistake.name, (exercise,), False, make, mistake.slow)


def _earns_all(exercise: Exercise, trials: Sequence[Trial]) -> bool:
    result = score_exercise(
        exercise.name, [(trial.check, trial.outcome) for trial in trials], exercise.max_points
    )
    return result.score == exercise.max_points


def _mark(trial: Trial, is_right: bool) -> Mark:
    odd = trial.outcome.verdict is Verdict.JUDGE_ERROR or (is_right and not trial.passed)
    message = (trial.outcome.detail or trial.outcome.message) if odd else ""
    return Mark(trial.check.name, trial.outcome.verdict, trial.margin, trial.cpu_seconds, message)
