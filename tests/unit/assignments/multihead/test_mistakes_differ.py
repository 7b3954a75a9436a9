"""No two known mistakes are one: what a student did is like one of them at most, on every seed."""

import itertools
from typing import Any

import pytest

from autograder.assignments.candidates import known_mistakes
from autograder.assignments.catalog import KIT, load_assignment
from autograder.checking.framework import Check
from autograder.checking.likeness import alike
from autograder.checking.seeds import rng
from autograder.checking.trials import Round, Trial
from autograder.model import Verdict

SEEDS = range(4)
MISTAKES = known_mistakes(load_assignment(KIT.parent, "multihead"))


def trials(grading: Any, exercise: str, seed: int) -> dict[str, list[Trial]]:
    """How all checks of an exercise end for each of its mistakes."""
    checks = grading.checks.of(exercise)

    def draw(check: Check) -> Any:
        return rng(b"differ %d" % seed, "multihead", exercise, check.name, 0)

    trial = Round(checks, grading.reference, draw, call_seconds=2.0)
    return {
        one.id: trial.all_of(lambda one=one: one.namespace(grading.reference))
        for one in MISTAKES[exercise]
        if not one.slow
    }


def differ(one: list[Trial], other: list[Trial]) -> bool:
    """Whether some check ends in one way for one and in another for the other."""
    for a, b in zip(one, other, strict=True):
        passed = {a.outcome.verdict, b.outcome.verdict} == {Verdict.PASSED}
        if not passed and not alike(a.check, a.outcome, b.outcome):
            return True
    return False


@pytest.mark.parametrize("exercise", list(MISTAKES))
def test_two_mistakes_can_be_told_apart_on_every_seed(grading: Any, exercise: str) -> None:
    for seed in SEEDS:
        found = trials(grading, exercise, seed)
        same = [
            (one, other)
            for one, other in itertools.combinations(found, 2)
            if not differ(found[one], found[other])
        ]
        assert (seed, same) == (seed, [])


def test_a_mistake_does_not_differ_from_itself(grading: Any) -> None:
    once, again = (trials(grading, "multihead", 0) for _ in range(2))
    assert [name for name in once if differ(once[name], again[name])] == []


def test_what_is_slow_is_told_from_all_others_by_its_cost_alone() -> None:
    assert [one.id for mistakes in MISTAKES.values() for one in mistakes if one.slow] == ["numerical"]
