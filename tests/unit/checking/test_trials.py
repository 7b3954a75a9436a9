import math
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from autograder.checking.compare import expect_array
from autograder.checking.framework import CheckFailure, CheckSet
from autograder.checking.student import Student
from autograder.checking.trials import Round
from autograder.model import Verdict

checks = CheckSet("toy")


@checks.value("double", weight=1)
def values(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """It doubles."""
    x = rng.standard_normal(3)
    expect_array(student.call("double", x).value, reference.double(x), "y", ("n",))


@checks.contract("double", weight=1)
def answers(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """It answers."""
    if student.call("double", np.zeros(1)).value is None:
        raise CheckFailure("It does not answer.")


@checks.contract("double", weight=1, fresh=True)
def first_call(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
    """The first call is right."""
    expect_array(student.call("double", np.ones(1)).value, np.array([2.0]), "y", ("n",))


@pytest.fixture
def toy() -> Round:
    reference = ModuleType("reference")
    vars(reference).update(double=lambda x: 2 * x)
    return Round(
        checks.of("double"), reference, lambda check: np.random.default_rng(len(check.name)), call_seconds=0.2
    )


def margins(toy: Round, double: Any) -> list[float | None]:
    return [trial.margin for trial in toy.all_of(lambda: {"double": double})]


def test_every_candidate_gets_the_same_numbers(toy: Round) -> None:
    seen: list[list[float]] = []

    def double(x: Any) -> Any:
        seen.append(x.tolist())
        return 2 * x

    for _ in range(2):
        assert all(trial.passed for trial in toy.all_of(lambda: {"double": double}))
    assert seen[:3] == seen[3:]


def test_the_margin_is_that_of_the_comparison_that_decided(toy: Round) -> None:
    assert margins(toy, lambda x: 2 * x) == [0.0, None, 0.0]
    right, _, also = margins(toy, lambda x: 2 * x + 1e-10)
    assert right == pytest.approx(0.1, rel=1)
    assert also == pytest.approx(0.05, rel=0.01)
    wrong, _, also = margins(toy, lambda x: 2 * x + 1e-3)
    assert wrong is not None
    assert wrong > 1e4
    assert also == pytest.approx(5e5, rel=0.01)


def test_what_is_wrong_by_no_number_is_infinitely_wrong(toy: Round) -> None:
    assert margins(toy, lambda x: None) == [math.inf, math.inf, math.inf]
    assert margins(toy, lambda x: (2 * x)[:, None]) == [math.inf, None, math.inf]


def test_one_may_stop_at_the_first_kill(toy: Round) -> None:
    trials = toy.until_killed(lambda: {"double": lambda x: None})
    assert [trial.check.name for trial in trials] == ["values"]
    assert trials[0].killed
    assert len(toy.until_killed(lambda: {"double": lambda x: 2 * x})) == 3


def test_a_check_with_a_fork_of_its_own_meets_a_candidate_without_memory(toy: Round) -> None:
    def forgetful() -> dict[str, object]:
        calls: list[int] = []

        def double(x: Any) -> Any:
            calls.append(1)
            return 2 * x if len(calls) == 1 else 3 * x

        return {"double": double}

    assert [trial.passed for trial in toy.all_of(forgetful)] == [True, True, True]


def test_an_endless_loop_is_a_kill_and_a_broken_check_is_none(toy: Round) -> None:
    def endless(x: Any) -> Any:
        while True:
            pass

    trials = toy.until_killed(lambda: {"double": endless})
    assert (trials[0].outcome.verdict, trials[0].killed) == (Verdict.TIMED_OUT, True)
    assert trials[0].cpu_seconds >= 0.1
    broken = Round(
        checks.of("double")[:1], ModuleType("no"), lambda check: np.random.default_rng(0), call_seconds=1
    )
    (trial,) = broken.all_of(lambda: {"double": lambda x: x})
    assert (trial.outcome.verdict, trial.killed, trial.passed) == (Verdict.JUDGE_ERROR, False, False)
