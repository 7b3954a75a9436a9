from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from autograder.assignments.candidates import Variant, right_variants
from autograder.assignments.catalog import KIT, load_assignment
from autograder.checking.framework import Kind
from autograder.model import Verdict

MULTIHEAD = load_assignment(KIT.parent, "multihead")
EXERCISES = ("split_heads", "merge_heads", "multihead", "multihead_backward")


def all_equal(function: Callable[..., Any]) -> dict[str, object]:
    return dict.fromkeys(EXERCISES, function)


def not_written(*args: Any) -> Any:
    raise NotImplementedError


def raising(error: type[Exception]) -> Callable[..., Any]:
    def function(*args: Any) -> Any:
        raise error

    return function


def zeros(reference: ModuleType) -> dict[str, object]:
    """Functions that know all shapes and keys, and answer zeros."""

    def multihead(x: Any, params: Any, heads: Any, allowed: Any) -> Any:
        cache = {"x": x, "heads": heads, "attention": None, "joined": np.zeros(x.shape)}
        return np.zeros(x.shape), cache

    def multihead_backward(cache: Any, params: Any, dy: Any) -> Any:
        return np.zeros(dy.shape), {name: np.zeros(matrix.shape) for name, matrix in params.items()}

    return {
        "split_heads": lambda x, heads: np.zeros(reference.split_heads(x, heads).shape),
        "merge_heads": lambda h: np.zeros(reference.merge_heads(h).shape),
        "multihead": multihead,
        "multihead_backward": multihead_backward,
    }


def test_the_reference_earns_all_points_with_many_seeds(grading: Any) -> None:
    for seed in range(30):
        for name in EXERCISES:
            result = grading.exercise(name, vars(grading.reference), seed)
            assert (seed, grading.lost(result), result.score) == (seed, set(), grading.points[name])


def test_there_are_right_solutions_in_many_styles() -> None:
    variants = right_variants(MULTIHEAD)
    assert len(variants) >= 25
    assert len({variant.style for variant in variants}) == len(variants)
    assert ["scalar_loops"] == [variant.name for variant in variants if variant.slow]


@pytest.mark.parametrize("variant", right_variants(MULTIHEAD), ids=lambda variant: variant.name)
def test_right_solutions_in_other_styles_earn_all_points(grading: Any, variant: Variant) -> None:
    for seed in range(1 if variant.slow else 3):
        for name in EXERCISES:
            result = grading.exercise(name, vars(variant.module), seed, call_seconds=2.0)
            assert (seed, grading.lost(result), result.score) == (seed, set(), grading.points[name])


@pytest.mark.parametrize("exercise", EXERCISES)
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
def test_worthless_functions_earn_nothing(grading: Any, exercise: str, function: Callable[..., Any]) -> None:
    result = grading.exercise(exercise, all_equal(function))
    assert result.score == 0.0


@pytest.mark.parametrize("exercise", EXERCISES)
def test_a_notebook_without_functions_earns_nothing(grading: Any, exercise: str) -> None:
    result = grading.exercise(exercise, {})
    assert result.score == 0.0
    assert {check.verdict for check in result.checks} == {Verdict.MISSING}


@pytest.mark.parametrize("exercise", EXERCISES)
@pytest.mark.parametrize("alone", [True, False])
def test_zeros_of_the_right_shape_earn_nothing(grading: Any, exercise: str, alone: bool) -> None:
    namespace = zeros(grading.reference)
    if alone:
        namespace = {**vars(grading.reference), exercise: namespace[exercise]}
    assert grading.exercise(exercise, namespace).score == 0.0


def test_a_wrong_forward_pass_is_named_where_the_backward_pass_is_judged(grading: Any) -> None:
    right = vars(grading.reference)
    result = grading.exercise("multihead_backward", {**right, "multihead": not_written}, only=["dx"])
    assert result.checks[0].message == (
        "multihead_backward could not be tried: "
        "multihead is not written yet, or calls a function that is not."
    )
    result = grading.exercise("multihead_backward", {**right, "multihead": lambda *args: 3}, only=["dx"])
    assert result.checks[0].message == (
        "multihead_backward could not be tried: multihead must return the tuple (y, cache); "
        "it returned a single number."
    )
    wrong = {**right, "multihead": lambda x, *args: grading.reference.multihead(2 * x, *args)}
    result = grading.exercise("multihead_backward", wrong, only=["dx"])
    assert "multihead, which comes first, are wrong here, too" in str(result.checks[0].hint)


def test_a_reference_that_contradicts_itself_costs_no_student_points(
    grading: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = dict(vars(grading.reference))

    def broken(cache: Any, params: Any, dy: Any) -> Any:
        dx, grads = right["multihead_backward"](cache, params, dy)
        return dx, {**grads, "wk": 1.001 * grads["wk"]}

    monkeypatch.setattr(grading.reference, "multihead_backward", broken)
    result = grading.exercise("multihead_backward", right, only=["dx", "dwk"])
    assert [check.verdict for check in result.checks] == [Verdict.PASSED, Verdict.JUDGE_ERROR]
    assert result.score is None


@pytest.mark.parametrize("exercise", EXERCISES)
def test_every_check_has_a_sentence_and_points_come_out_neat(grading: Any, exercise: str) -> None:
    of_exercise = grading.checks.of(exercise)
    assert len({check.sentence for check in of_exercise}) == len(of_exercise)
    assert all(check.sentence.endswith(".") for check in of_exercise)
    result = grading.exercise(exercise, vars(grading.reference))
    assert [check.max_points for check in result.checks] == [check.weight for check in of_exercise]


@pytest.mark.parametrize("exercise", EXERCISES)
def test_values_earn_the_most_and_visible_checks_about_a_seventh(grading: Any, exercise: str) -> None:
    weight = dict.fromkeys(Kind, 0.0)
    for check in grading.checks.of(exercise):
        weight[check.kind] += check.weight
    assert weight[Kind.VALUE] > grading.points[exercise] / 2
    assert 0.13 <= weight[Kind.VISIBLE] / grading.points[exercise] <= 0.16
