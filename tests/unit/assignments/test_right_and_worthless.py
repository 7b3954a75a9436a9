"""In each assignment, right solutions in every style earn all points, and worthless ones earn nothing."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from autograder.assignments.candidates import Variant, right_variants
from autograder.assignments.catalog import KIT, gradable_names, load_assignment
from autograder.checking.framework import Kind
from autograder.model import Verdict

ASSIGNMENTS = {name: load_assignment(KIT.parent, name) for name in gradable_names(KIT.parent)}
VARIANTS = [(name, one) for name, assignment in ASSIGNMENTS.items() for one in right_variants(assignment)]
EXERCISES = [(name, one.name) for name, assignment in ASSIGNMENTS.items() for one in assignment.exercises]
#: Of these, all that answer with numbers: not what only makes an object whose methods are exercises.
ANSWERING = [(name, one) for name, one in EXERCISES if one not in ASSIGNMENTS[name].checks.methods.values()]
EACH = pytest.mark.parametrize(("assignment", "exercise"), EXERCISES)
#: How many right solutions there are at least, besides the reference.
LEAST = {"multihead": 25, "weighted_attention": 15, "gpt": 10, "torch_multihead": 10}
GradingOf = Callable[[str], Any]


def not_written(*args: Any) -> Any:
    raise NotImplementedError


def raising(error: type[Exception]) -> Callable[..., Any]:
    def function(*args: Any) -> Any:
        raise error

    return function


def zeroed(value: Any) -> Any:
    """The same shapes and keys, and zeros for all numbers."""
    if isinstance(value, np.ndarray):
        return np.zeros_like(value)
    if isinstance(value, tuple):
        return tuple(map(zeroed, value))
    if hasattr(value, "requires_grad"):  # a tensor of PyTorch
        return value * 0.0
    if hasattr(value, "forward"):  # a layer: its answers are zeros, and still have a history
        right = value.forward
        value.forward = lambda x: right(x) * 0.0
    return {key: zeroed(one) for key, one in value.items()} if isinstance(value, dict) else value


def answering_zeros(function: Callable[..., Any]) -> Callable[..., Any]:
    def zeros(*args: Any) -> Any:
        with np.errstate(all="ignore"):
            return zeroed(function(*args))

    return zeros


@pytest.mark.parametrize("assignment", list(ASSIGNMENTS))
def test_the_reference_earns_all_points_with_many_seeds(grading_of: GradingOf, assignment: str) -> None:
    grading = grading_of(assignment)
    for seed in range(20):
        for name, points in grading.points.items():
            result = grading.exercise(name, vars(grading.reference), seed)
            assert (seed, grading.lost(result), result.score) == (seed, set(), pytest.approx(points))


@pytest.mark.parametrize("assignment", list(ASSIGNMENTS))
def test_there_are_right_solutions_in_many_styles(assignment: str) -> None:
    variants = [one for name, one in VARIANTS if name == assignment]
    assert len(variants) >= LEAST[assignment]
    assert len({variant.style for variant in variants}) == len(variants)
    assert ["scalar_loops"] == [variant.name for variant in variants if variant.slow]


@pytest.mark.parametrize(
    ("assignment", "variant"), VARIANTS, ids=[f"{name}-{variant.name}" for name, variant in VARIANTS]
)
def test_right_solutions_in_other_styles_earn_all_points(
    grading_of: GradingOf, assignment: str, variant: Variant
) -> None:
    grading = grading_of(assignment)
    for seed in range(1 if variant.slow else 2):
        for name, points in grading.points.items():
            result = grading.exercise(name, vars(variant.module), seed, call_seconds=2.0)
            assert (seed, grading.lost(result), result.score) == (seed, set(), pytest.approx(points))


@EACH
@pytest.mark.parametrize(
    "function",
    [
        not_written,
        raising(ValueError),
        raising(TypeError),
        raising(KeyError),
        lambda *args: None,
        lambda *args: args[0],
        lambda *args: args,
        lambda *args: np.zeros(1),
        lambda *args: np.empty((0, 0, 0, 0)),
        lambda *args: (np.empty((0, 0, 0)), {}),
        lambda *args: True,
    ],
    ids=["stub", "value", "type", "key", "None", "input", "inputs", "zero", "empty", "empties", "True"],
)
def test_worthless_functions_earn_nothing(
    grading_of: GradingOf, assignment: str, exercise: str, function: Callable[..., Any]
) -> None:
    grading = grading_of(assignment)
    assert grading.exercise(exercise, dict.fromkeys(grading.points, function)).score == 0.0
    assert grading.exercise(exercise, grading.with_own({exercise: function})).score == 0.0


@EACH
def test_a_notebook_without_functions_earns_nothing(
    grading_of: GradingOf, assignment: str, exercise: str
) -> None:
    result = grading_of(assignment).exercise(exercise, {})
    assert result.score == 0.0
    assert {check.verdict for check in result.checks} == {Verdict.MISSING}


@pytest.mark.parametrize(("assignment", "exercise"), ANSWERING)
@pytest.mark.parametrize("alone", [True, False])
def test_zeros_of_the_right_shape_earn_nothing(
    grading_of: GradingOf, assignment: str, exercise: str, alone: bool
) -> None:
    grading = grading_of(assignment)
    right = vars(grading.reference)
    spoilt = [exercise] if alone else [name for own, name in ANSWERING if own == assignment]
    namespace = grading.with_own({name: answering_zeros(right[name]) for name in spoilt})
    assert grading.exercise(exercise, namespace).score == 0.0


@EACH
def test_every_check_has_a_sentence_and_points_come_out_neat(
    grading_of: GradingOf, assignment: str, exercise: str
) -> None:
    grading = grading_of(assignment)
    of_exercise = grading.checks.of(exercise)
    assert len({check.sentence for check in of_exercise}) == len(of_exercise)
    assert all(check.sentence.endswith(".") for check in of_exercise)
    result = grading.exercise(exercise, vars(grading.reference))
    assert [check.max_points for check in result.checks] == pytest.approx(
        [check.weight for check in of_exercise]
    )


@EACH
def test_values_earn_the_most_and_visible_checks_about_a_seventh(
    grading_of: GradingOf, assignment: str, exercise: str
) -> None:
    grading = grading_of(assignment)
    weight = dict.fromkeys(Kind, 0.0)
    for check in grading.checks.of(exercise):
        weight[check.kind] += check.weight
    assert weight[Kind.VALUE] > grading.points[exercise] / 2
    assert 0.13 <= weight[Kind.VISIBLE] / grading.points[exercise] <= 0.16
