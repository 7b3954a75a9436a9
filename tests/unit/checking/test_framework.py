import math

import pytest

from autograder.checking.framework import Check, CheckSet, Kind


def nothing(student, reference, rng) -> None:
    """It does nothing.

    And says so.
    """


def test_checks_are_kept_in_order_with_kind_weight_and_sentence() -> None:
    checks = CheckSet("toy")
    checks.value("double", weight=2)(nothing)
    checks.contract("half", weight=1, fresh=True)(nothing)
    assert checks.exercises == ("double", "half")
    assert checks.of("double") == (Check("nothing", "double", Kind.VALUE, 2, nothing),)
    assert checks.of("half") == (Check("nothing", "half", Kind.CONTRACT, 1, nothing, fresh=True),)
    assert checks.of("half")[0].sentence == "It does nothing."


def test_a_check_without_a_docstring_is_called_by_its_name() -> None:
    assert Check("bare", "double", Kind.VALUE, 1, lambda student, reference, rng: None).sentence == "bare"


def test_two_checks_of_one_exercise_cannot_share_a_name() -> None:
    checks = CheckSet("toy")
    checks.value("double", weight=1)(nothing)
    checks.value("half", weight=1)(nothing)
    with pytest.raises(ValueError, match="two checks of half are called nothing"):
        checks.contract("half", weight=1)(nothing)


@pytest.mark.parametrize("weight", [-1, math.nan, math.inf])
def test_a_weight_that_is_no_share_is_refused(weight: float) -> None:
    with pytest.raises(ValueError, match="weight"):
        CheckSet("toy").value("double", weight=weight)(nothing)


def test_a_set_can_take_in_another_one() -> None:
    one, other = CheckSet("toy"), CheckSet("toy")
    one.value("double", weight=1)(nothing)
    other.value("half", weight=1)(nothing)
    other.visible("half", weight=3)
    one.include(other)
    assert one.exercises == ("double", "half")
    assert one.visible_weights == {"half": 3}
    with pytest.raises(ValueError, match="two checks"):
        one.include(other)


def test_exercises_are_methods_of_one_class_each() -> None:
    checks = CheckSet("lab")
    checks.methods_of("Layer", "split", "forward")
    other = CheckSet("lab")
    other.declare_as(checks)
    assert {"split": "Layer", "forward": "Layer"} == other.methods
    with pytest.raises(ValueError, match="split is a method of Layer already"):
        other.methods_of("Other", "split")
