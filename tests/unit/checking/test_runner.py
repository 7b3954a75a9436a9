from types import ModuleType
from typing import Any

import numpy as np
import pytest

from autograder.checking.framework import Check, CheckFailure, CheckFunction, Kind, MalformedAnswer
from autograder.checking.local import LocalStudent
from autograder.checking.runner import OUR_FAULT, Outcome, outcome_of, run_check
from autograder.checking.student import (
    StudentCrashed,
    StudentFailure,
    StudentMalformed,
    StudentMemoryExceeded,
    StudentMissing,
    StudentRaised,
    StudentTimedOut,
)
from autograder.model import Verdict

REFERENCE = ModuleType("reference")
RNG = np.random.default_rng(0)


def run(function: CheckFunction, **namespace: Any) -> Outcome:
    check = Check("check", "double", Kind.VALUE, 1, function)
    return run_check(check, LocalStudent(namespace), REFERENCE, RNG)


def calling(*names: str) -> CheckFunction:
    def check(student, reference, rng) -> None:
        """It runs."""
        for name in names:
            student.call(name)

    return check


def failing(error: Exception, cause: Exception | None = None) -> CheckFunction:
    def check(student, reference, rng) -> None:
        raise error from cause

    return check


def raise_(error: BaseException) -> None:
    raise error


def test_a_check_that_returns_has_passed_and_says_its_sentence() -> None:
    assert run(calling("f"), f=lambda: 1) == Outcome(Verdict.PASSED, "It runs.")


def test_a_failed_check_says_why() -> None:
    outcome = run(failing(CheckFailure("It is wrong.", hint="Why?", detail="got 3, expected 4")))
    assert outcome == Outcome(Verdict.FAILED, "It is wrong.", "Why?", "got 3, expected 4")
    assert run(failing(MalformedAnswer("A list."))).verdict is Verdict.MALFORMED_ANSWER


def test_a_failed_call_can_get_better_words_and_keeps_its_verdict() -> None:
    slow = StudentTimedOut(by_clock=True)
    outcome = run(failing(CheckFailure("Far too slow."), slow))
    assert outcome == Outcome(Verdict.TIMED_OUT, "Far too slow.", by_clock=True)
    assert run(failing(CheckFailure("Wrong."), KeyError("x"))).verdict is Verdict.FAILED


@pytest.mark.parametrize(
    ("failure", "verdict", "message"),
    [
        (StudentMissing(), "missing", "The notebook does not define double."),
        (StudentRaised("ValueError", 4, 7), "raised", "double raised ValueError (line 7 of your cell)."),
        (StudentRaised("TypeError"), "raised", "double raised TypeError."),
        (StudentRaised("<script>"), "raised", "double raised an exception."),
        (
            StudentRaised("NotImplementedError", 4, 7),
            "raised",
            "double is not written yet, or calls a function that is not.",
        ),
        (StudentTimedOut(), "timed_out", "double did not end in time."),
        (StudentMemoryExceeded(), "memory_exceeded", "double needed more memory than it may use."),
        (StudentMalformed(), "malformed_answer", "What double returned is no answer, or far too large."),
        (StudentCrashed(), "crashed", "Python broke down while double was running."),
        (StudentFailure(), "crashed", "Python broke down while double was running."),
    ],
)
def test_every_way_to_bring_no_answer_has_its_words(
    failure: StudentFailure, verdict: str, message: str
) -> None:
    outcome = run(failing(failure))
    assert (outcome.verdict, outcome.message, outcome.detail) == (verdict, message, None)
    assert outcome == outcome_of(failure, "double")


def test_the_function_that_failed_is_named_where_it_is_not_the_exercises_own() -> None:
    outcome = run(calling("double", "single"), double=lambda: 1, single=lambda: raise_(ValueError("secret")))
    assert outcome.message == "double could not be tried: single raised ValueError."
    outcome = run(calling("single", "double"), single=lambda: 1, double=lambda: raise_(ValueError("secret")))
    assert outcome.message == "double raised ValueError."
    outcome = run(calling("single"))
    assert outcome.message == "double could not be tried: The notebook does not define single."


@pytest.mark.parametrize(
    ("failure", "unwritten"),
    [
        (StudentMissing(), True),
        (StudentRaised("NotImplementedError"), True),
        (StudentRaised("ValueError"), False),
        (StudentTimedOut(), False),
    ],
)
def test_a_function_that_is_not_written_is_marked(failure: StudentFailure, unwritten: bool) -> None:
    assert unwritten == outcome_of(failure, "double").unwritten
    assert not outcome_of(failure, "double", "single").unwritten


def test_a_time_out_by_the_clock_is_marked() -> None:
    assert run(failing(StudentTimedOut(by_clock=True))).by_clock
    assert not run(failing(StudentTimedOut())).by_clock


@pytest.mark.parametrize("error", [KeyError("x"), AssertionError(), MemoryError(), RecursionError()])
def test_whatever_else_a_check_raises_is_our_fault(error: Exception) -> None:
    outcome = run(failing(error))
    assert (outcome.verdict, outcome.message, outcome.hint) == (Verdict.JUDGE_ERROR, OUR_FAULT, None)
    assert type(error).__name__ in str(outcome.detail)
    assert "in check" in str(outcome.detail)


def test_an_interruption_gets_through() -> None:
    with pytest.raises(KeyboardInterrupt):
        run(lambda student, reference, rng: raise_(KeyboardInterrupt()))


def test_arguments_that_were_sent_reach_the_student() -> None:
    def check(student, reference, rng) -> None:
        sent = student.send(np.zeros(2))
        student.call("fill", sent, 3)
        assert sent.reread().tolist() == [3.0, 3.0]

    assert run(check, fill=lambda array, value: array.fill(value)).verdict is Verdict.PASSED


class Layer:
    """A notebook's class whose method waits for its code."""

    def forward(self, x: int) -> int:
        raise NotImplementedError

    def split(self, x: int) -> int:
        return x // 0


@pytest.mark.parametrize(
    ("exercise", "method", "message", "unwritten"),
    [
        ("Layer", "forward", "Layer is not written yet, or calls a function that is not.", True),
        ("forward", "forward", "forward is not written yet, or calls a function that is not.", True),
        ("forward", "split", "forward could not be tried: Layer.split raised ZeroDivisionError", False),
        ("split", "split", "split raised ZeroDivisionError", False),
    ],
)
def test_a_method_belongs_to_its_class_and_to_the_exercise_of_its_name(
    exercise: str, method: str, message: str, unwritten: bool
) -> None:
    def check(student: Any, reference: Any, rng: Any) -> None:
        """It works."""
        student.call("Layer").value.method(method, 1)

    one = Check("check", exercise, Kind.VALUE, 1, check)
    outcome = run_check(one, LocalStudent({"Layer": Layer}), ModuleType("none"), np.random.default_rng(0))
    assert outcome.message.startswith(message)
    assert unwritten is outcome.unwritten


class Module:
    """A notebook's class that, as PyTorch's modules do, answers a call by its method ``forward``."""

    def __call__(self, x: int) -> int:
        return self.forward(x)

    def forward(self, x: int) -> int:
        raise NotImplementedError


@pytest.mark.parametrize(
    ("exercise", "message"),
    [
        ("forward", "forward is not written yet, or calls a function that is not."),
        ("split", "split could not be tried: Module is not written yet, or calls a function that is not."),
    ],
)
def test_a_module_that_is_called_runs_the_exercise_forward(exercise: str, message: str) -> None:
    def check(student: Any, reference: Any, rng: Any) -> None:
        """It works."""
        student.call("Module").value.call(1)

    one = Check("check", exercise, Kind.VALUE, 1, check)
    outcome = run_check(one, LocalStudent({"Module": Module}), ModuleType("none"), np.random.default_rng(0))
    assert message == outcome.message


def test_a_class_that_is_not_written_is_not_the_fault_of_forward() -> None:
    def make() -> None:
        raise NotImplementedError

    def check(student: Any, reference: Any, rng: Any) -> None:
        """It works."""
        student.call("Module").value.call(1)

    one = Check("check", "forward", Kind.VALUE, 1, check)
    outcome = run_check(one, LocalStudent({"Module": make}), ModuleType("none"), np.random.default_rng(0))
    assert outcome.message.startswith("forward could not be tried: Module is not written yet")
