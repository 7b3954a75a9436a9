from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from autograder.checking.framework import Check, Kind
from autograder.checking.student import (
    Student,
    StudentCrashed,
    StudentFailure,
    StudentMalformed,
    StudentTimedOut,
)
from autograder.model import Limits, Verdict
from autograder.sandbox.session import Ending
from autograder.usecases.examining import Exam

REFERENCE = ModuleType("reference")


class Fork:
    """Stands for a fork under examination: gone once a call has ended it, closed by whoever asked for it."""

    def __init__(self, number: int):
        self.number = number
        self.alive = True
        self.closed = False

    def close(self) -> None:
        self.alive, self.closed = False, True

    def die(self, failure: StudentFailure) -> StudentFailure:
        """What a call does that ends the process."""
        self.alive = False
        return failure


class Run:
    """Stands for a notebook that has run: hands out forks until ``failure`` says that there are none."""

    def __init__(self, *exercises: str, ending: Ending = Ending.DONE, failure: StudentFailure | None = None):
        self.exercises = frozenset(exercises)
        self.ending = ending
        self.failure = failure
        self.forks: list[Fork] = []
        self.budgets: list[Any] = []

    def examine(self, exercise: str, budget: Any) -> Fork:
        if self.failure is not None:
            raise self.failure
        self.budgets.append(budget)
        self.forks.append(Fork(len(self.forks)))
        return self.forks[-1]


class Notes:
    """What checks saw: their names, the numbers of their forks, and the first of their random numbers."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, int, float]] = []

    def check(
        self, name: str, *, fresh: bool = False, end: Callable[[Fork, int], None] | None = None
    ) -> Check:
        """A check that passes, unless ``end``, told the fork and how often it was tried, raises."""
        tries: list[int] = []

        def function(student: Student, reference: ModuleType, rng: np.random.Generator) -> None:
            """It is fine."""
            fork = unwrapped(student)
            self.seen.append((name, fork.number, rng.random()))
            tries.append(0)
            if end is not None:
                end(fork, len(tries))

        return Check(name, "double", Kind.VALUE, 1.0, function, fresh)

    @property
    def forks(self) -> list[tuple[str, int]]:
        return [(name, number) for name, number, _ in self.seen]


def unwrapped(student: Any) -> Fork:
    """The fork behind what a check is given."""
    while not isinstance(student, Fork):
        student = student._student
    return student


def draw(check: str, attempt: int) -> np.random.Generator:
    return np.random.default_rng([*check.encode(), attempt])


def exam(run: Run, limits: Limits | None = None) -> Exam:
    return Exam("double", REFERENCE, run, limits or Limits(), draw)  # type: ignore[arg-type]


def verdicts(run: Run, checks: list[Check], **more: Any) -> list[Verdict]:
    return [outcome.verdict for _, outcome in exam(run).outcomes(checks, **more)]


def dying(failure: Callable[[], StudentFailure], *, times: int = 99) -> Callable[[Fork, int], None]:
    """An end of the process, the first so many times that the check is tried."""

    def end(fork: Fork, tried: int) -> None:
        if tried <= times:
            raise fork.die(failure())

    return end


def test_checks_share_one_fork_in_their_order_but_for_those_that_ask_for_their_own() -> None:
    run, notes = Run("double"), Notes()
    checks = [notes.check("a"), notes.check("b", fresh=True), notes.check("c")]
    assert [Verdict.PASSED] * 3 == verdicts(run, checks)
    assert [("a", 0), ("b", 1), ("c", 0)] == notes.forks
    assert all(fork.closed for fork in run.forks)


def test_outcomes_come_with_their_checks_in_the_order_of_the_checks() -> None:
    notes = Notes()
    checks = [notes.check("b"), notes.check("a")]
    assert checks == [check for check, _ in exam(Run("double")).outcomes(checks)]


def test_after_a_crash_the_next_check_gets_a_fresh_fork() -> None:
    run, notes = Run("double"), Notes()
    checks = [notes.check("a", end=dying(StudentCrashed)), notes.check("b"), notes.check("c")]
    assert [Verdict.CRASHED, Verdict.PASSED, Verdict.PASSED] == verdicts(run, checks)
    assert [("a", 0), ("b", 1), ("c", 1)] == notes.forks
    assert all(fork.closed for fork in run.forks)


@pytest.mark.parametrize(
    ("failure", "verdict"),
    [(StudentMalformed, Verdict.MALFORMED_ANSWER), (StudentTimedOut, Verdict.TIMED_OUT)],
)
def test_no_failure_is_tried_again_but_the_end_of_time_by_the_clock(
    failure: Callable[[], StudentFailure], verdict: Verdict
) -> None:
    run, notes = Run("double"), Notes()
    assert [verdict] == verdicts(run, [notes.check("a", end=dying(failure))])
    assert 1 == len(notes.seen)


def late() -> StudentFailure:
    return StudentTimedOut(by_clock=True)


def test_what_ran_out_of_wall_time_alone_is_tried_once_more_with_other_inputs_and_all_the_time() -> None:
    run, notes = Run("double"), Notes()
    assert [Verdict.PASSED] == verdicts(run, [notes.check("a", end=dying(late, times=1))])
    expected = [("a", 0, draw("a", 0).random()), ("a", 1, draw("a", 1).random())]
    assert expected == notes.seen
    first, second = run.budgets
    assert first is not second
    assert Limits().exercise_seconds == second.cpu_seconds


def test_a_second_time_out_is_the_verdict_and_an_exercise_has_one_second_chance() -> None:
    run, notes = Run("double"), Notes()
    checks = [notes.check("a", end=dying(late)), notes.check("b", end=dying(late))]
    assert [Verdict.TIMED_OUT] * 2 == verdicts(run, checks)
    assert ["a", "a", "b"] == [name for name, _, _ in notes.seen]


def test_inputs_depend_on_the_attempt_that_was_asked_for() -> None:
    run, notes = Run("double"), Notes()
    verdicts(run, [notes.check("a", end=dying(late, times=1))], attempt=6)
    assert [draw("a", 6).random(), draw("a", 7).random()] == [number for _, _, number in notes.seen]


def test_where_no_fork_can_be_had_every_check_says_so() -> None:
    notes = Notes()
    run = Run("double", failure=StudentCrashed("gone"))
    assert [Verdict.CRASHED] * 2 == verdicts(run, [notes.check("a"), notes.check("b", fresh=True)])
    assert [] == notes.seen


@pytest.mark.parametrize(
    ("ending", "verdict"), [(Ending.CRASHED, Verdict.CRASHED), (Ending.TIMED_OUT, Verdict.TIMED_OUT)]
)
def test_an_exercise_whose_place_was_never_reached_is_told_what_to_do(
    ending: Ending, verdict: Verdict
) -> None:
    notes = Notes()
    outcomes = exam(Run("triple", ending=ending)).outcomes([notes.check("a"), notes.check("b")])
    assert [verdict] * 2 == [outcome.verdict for _, outcome in outcomes]
    assert "double was not reached: the cells before it did not run to their end." == outcomes[0][1].message
    assert "run all cells" in str(outcomes[0][1].hint)
    assert [] == notes.seen


def test_a_fault_of_a_check_is_ours_and_the_other_checks_go_on() -> None:
    def broken(fork: Fork, tried: int) -> None:
        raise ZeroDivisionError

    run, notes = Run("double"), Notes()
    assert [Verdict.JUDGE_ERROR, Verdict.PASSED] == verdicts(
        run, [notes.check("a", end=broken), notes.check("b")]
    )
    assert [("a", 0), ("b", 0)] == notes.forks


def test_forks_are_closed_when_somebody_interrupts() -> None:
    def interrupted(fork: Fork, tried: int) -> None:
        raise KeyboardInterrupt

    for fresh in (False, True):
        run, notes = Run("double"), Notes()
        checks = [notes.check("a"), notes.check("b", fresh=fresh, end=interrupted)]
        with pytest.raises(KeyboardInterrupt):
            exam(run).outcomes(checks)
        assert all(fork.closed for fork in run.forks)


def test_every_fork_is_made_ready_and_closed_where_that_fails() -> None:
    run, notes = Run("double"), Notes()
    ready: list[int] = []

    def prepare(fork: Any) -> Any:
        ready.append(fork.number)
        if len(ready) == 2:
            raise StudentCrashed
        return fork

    checks = [notes.check("a"), notes.check("b", fresh=True), notes.check("c")]
    assert [Verdict.PASSED, Verdict.CRASHED, Verdict.PASSED] == verdicts(run, checks, prepare=prepare)
    assert [0, 1] == ready
    assert all(fork.closed for fork in run.forks)


def test_a_fork_for_something_else_is_closed_afterwards() -> None:
    run = Run("double")
    budget: Any = object()
    with exam(run).fork(budget) as fork:
        assert not unwrapped(fork).closed
    assert [True] == [one.closed for one in run.forks]
    assert [budget] == run.budgets
