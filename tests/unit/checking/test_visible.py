from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from autograder.checking.framework import CheckSet, Kind
from autograder.checking.local import LocalStudent
from autograder.checking.runner import Outcome, run_check
from autograder.checking.visible import visible_check, with_visible_checks
from autograder.errors import CourseError
from autograder.model import Verdict

SOURCE = '''
class CheckFailed(AssertionError):
    pass

def check_double(half, double):
    """Doubling undoes halving."""
    if double(half(6)) != 6:
        raise CheckFailed("6 expected")

def check_pair(pair, sum_of):
    """A pair adds up."""
    name, found = pair(1, 2)
    if (found["a"], found["b"]) != (1, 2) or sum_of(found) != 3:
        raise CheckFailed("1 and 2 expected")
    try:
        found["c"]
    except KeyError:
        return
    raise CheckFailed("no c expected")

def check_half(half):
    {}["a fault of ours"]
'''


@pytest.fixture
def module() -> ModuleType:
    made = ModuleType("visible_checks")
    exec(SOURCE, vars(made))
    return made


def run(module: ModuleType, exercise: str, **namespace: Any) -> Outcome:
    check = visible_check(module, exercise, 2)
    return run_check(check, LocalStudent(namespace), ModuleType("reference"), np.random.default_rng(0))


def test_visible_checks_become_one_check(module: ModuleType) -> None:
    check = visible_check(module, "double", 2)
    assert (check.name, check.exercise, check.kind, check.weight) == ("visible", "double", Kind.VISIBLE, 2)
    assert check.sentence == "Doubling undoes halving."
    assert visible_check(module, "half", 2).sentence == "The visible checks of half."


def test_they_are_called_with_the_functions_that_their_parameters_name(module: ModuleType) -> None:
    outcome = run(module, "double", double=lambda x: 2 * x, half=lambda x: x // 2)
    assert outcome == Outcome(Verdict.PASSED, "Doubling undoes halving.")


def test_their_sentence_is_the_rationale(module: ModuleType) -> None:
    outcome = run(module, "double", double=lambda x: x, half=lambda x: x // 2)
    assert outcome == Outcome(Verdict.FAILED, "6 expected")


def test_a_function_that_fails_is_named(module: ModuleType) -> None:
    outcome = run(module, "double", double=lambda x: 2 * x)
    assert outcome.verdict is Verdict.MISSING
    assert outcome.message == "double could not be tried: The notebook does not define half."


def test_a_dict_is_read_whole_and_handed_on_as_it_is(module: ModuleType) -> None:
    box = {"a": 1, "b": 2}
    outcome = run(module, "pair", pair=lambda a, b: ("x", box), sum_of=lambda it: 3 if it is box else 0)
    assert outcome.verdict is Verdict.PASSED


def test_any_other_exception_of_theirs_is_our_fault(module: ModuleType) -> None:
    assert run(module, "half", half=lambda x: x).verdict is Verdict.JUDGE_ERROR


def test_an_assignment_gets_them_before_its_hidden_checks(module: ModuleType) -> None:
    checks = CheckSet("toy")
    checks.visible("double", weight=3)
    for exercise in ("half", "double"):
        checks.value(exercise, weight=1)(lambda student, reference, rng: None)
    complete = with_visible_checks(checks, module)
    assert complete.assignment == "toy"
    assert complete.exercises == ("half", "double")
    assert [one.kind for one in complete.of("half")] == [Kind.VALUE]
    assert [(one.kind, one.weight) for one in complete.of("double")] == [(Kind.VISIBLE, 3), (Kind.VALUE, 1)]
    assert len(checks.of("double")) == 1


def test_a_helper_without_the_checks_is_the_courses_fault(module: ModuleType) -> None:
    with pytest.raises(CourseError, match="need a function check_third"):
        visible_check(module, "third", 1)
    bare: Any = SimpleNamespace(__name__="visible_checks", check_double=lambda double: None)
    with pytest.raises(CourseError, match="an exception CheckFailed"):
        visible_check(bare, "double", 1)
