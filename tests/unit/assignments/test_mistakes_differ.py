"""No two known mistakes are one: what a student did is like one of them at most, on every seed."""

import itertools
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from autograder.assignments.candidates import known_mistakes
from autograder.assignments.catalog import KIT, gradable_names, load_assignment
from autograder.checking.likeness import alike
from autograder.checking.trials import Round, Trial
from autograder.model import Verdict

#: How many seeds where it is not 4.
SEEDS = {"gpt": 2, "torch_multihead": 2}
MISTAKES = {
    (name, exercise): mistakes
    for name in gradable_names(KIT.parent)
    for exercise, mistakes in known_mistakes(load_assignment(KIT.parent, name)).items()
}


def trials(grading: Any, exercise: str, seed: int) -> dict[str, list[Trial]]:
    """How all checks of an exercise end for each of its mistakes."""
    draw = partial(grading.draw, b"differ %d" % seed)
    trial = Round(grading.checks.of(exercise), grading.reference, draw, call_seconds=2.0)
    return {
        one.id: trial.all_of(lambda one=one: one.namespace(grading.reference))
        for one in MISTAKES[grading.assignment.name, exercise]
        if not one.slow
    }


def differ(one: list[Trial], other: list[Trial]) -> bool:
    """Whether some check ends in one way for one and in another for the other."""
    for a, b in zip(one, other, strict=True):
        passed = {a.outcome.verdict, b.outcome.verdict} == {Verdict.PASSED}
        if not passed and not alike(a.check, a.outcome, b.outcome):
            return True
    return False


@pytest.mark.parametrize(("assignment", "exercise"), list(MISTAKES))
def test_two_mistakes_can_be_told_apart_on_every_seed(
    grading_of: Callable[[str], Any], assignment: str, exercise: str
) -> None:
    grading = grading_of(assignment)
    for seed in range(SEEDS.get(assignment, 4)):
        found = trials(grading, exercise, seed)
        same = [
            (one, other)
            for one, other in itertools.combinations(found, 2)
            if not differ(found[one], found[other])
        ]
        assert (seed, same) == (seed, [])


def test_a_mistake_does_not_differ_from_itself(grading_of: Callable[[str], Any]) -> None:
    once, again = (trials(grading_of("multihead"), "multihead", 0) for _ in range(2))
    assert [name for name in once if differ(once[name], again[name])] == []


def test_what_is_slow_is_told_from_all_others_by_its_cost_alone() -> None:
    slow = [(exercise, one.id) for (_, exercise), known in MISTAKES.items() for one in known if one.slow]
    backward = ("multihead_backward", "attention_backward", "weighted_attention_backward")
    assert [(exercise, "numerical") for exercise in backward] == slow
