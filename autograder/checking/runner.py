"""Runs one check and turns every way in which it can end into an ``Outcome`` in fixed words.

Nothing that the student's code wrote is repeated: only names of functions, names of built-in
exceptions from a fixed list, and a line number. What a check raises that is neither a
``CheckFailure`` nor a ``StudentFailure`` is a fault of ours and never blamed on the student.
"""

import traceback
from dataclasses import dataclass, field, replace
from types import ModuleType

import numpy as np

from autograder.checking.framework import Check, CheckFailure, Comparison
from autograder.checking.recording import Event, Recording
from autograder.checking.student import (
    BUILTIN_EXCEPTIONS,
    Student,
    StudentFailure,
    StudentMalformed,
    StudentMemoryExceeded,
    StudentMissing,
    StudentRaised,
    StudentTimedOut,
)
from autograder.model import Diagnosis, Verdict

OUR_FAULT = "The grading program failed here, not your code: this check needs your instructor's attention."

#: The method that runs when a layer of the labs' core, or a PyTorch module, is called.
FORWARD = "forward"


@dataclass(frozen=True)
class Outcome:
    """How one check ended.

    ``message``, ``hint`` and ``diagnosis`` are for the student, ``detail`` is for the instructor alone.
    ``by_clock`` marks a time-out by wall time, which a busy machine can cause, too; ``unwritten`` says that
    the function is not there, or is still as it was handed out. ``attempt`` says which inputs were drawn;
    ``events`` and ``comparison`` hold them: they are for diagnosis and go nowhere else.
    """

    verdict: Verdict
    message: str
    hint: str | None = None
    detail: str | None = None
    by_clock: bool = False
    unwritten: bool = False
    diagnosis: Diagnosis | None = None
    attempt: int = field(default=0, compare=False)
    events: tuple[Event, ...] = field(default=(), repr=False, compare=False)
    comparison: Comparison | None = field(default=None, repr=False, compare=False)


def run_check(check: Check, student: Student, reference: ModuleType, rng: np.random.Generator) -> Outcome:
    """Run a check to its end; raises nothing but interruptions from outside."""
    recording = Recording(student)
    outcome = _run(check, recording, reference, rng)
    return replace(outcome, events=tuple(recording.events))


def _run(check: Check, student: Recording, reference: ModuleType, rng: np.random.Generator) -> Outcome:
    try:
        check.function(student, reference, rng)
    except CheckFailure as failure:
        return _outcome_of_check(failure)
    except StudentFailure as failure:
        # The exercise `forward` has failed where a layer fails that is called itself, not the layer's class.
        is_forward = check.exercise == FORWARD and student.is_object_called
        return outcome_of(failure, check.exercise, FORWARD if is_forward else student.function)
    except Exception:  # noqa: BLE001 (whatever it is, the batch goes on and the instructor is told)
        return Outcome(Verdict.JUDGE_ERROR, OUR_FAULT, detail=traceback.format_exc())
    return Outcome(Verdict.PASSED, check.sentence)


def outcome_of(failure: StudentFailure, exercise: str, function: str | None = None) -> Outcome:
    """The outcome where ``function`` (by default the exercise's own) brought no answer.

    Methods and attributes of what the exercise's class made, and the exercise as a method, are its own.
    """
    own = function is None or exercise in function.split(".")
    message, hint = _words(failure, exercise if own or function is None else function)
    if not own:
        message = f"{exercise} could not be tried: {message}"
    unwritten = own and _is_unwritten(failure)
    return Outcome(failure.verdict, message, hint, by_clock=_by_clock(failure), unwritten=unwritten)


def _outcome_of_check(failure: CheckFailure) -> Outcome:
    """A check gives its own words to a failed call by ``raise CheckFailure(...) from failure``."""
    cause = failure.__cause__
    verdict = cause.verdict if isinstance(cause, StudentFailure) else failure.verdict
    return Outcome(
        verdict,
        failure.rationale,
        failure.hint,
        failure.detail,
        _by_clock(cause),
        comparison=failure.comparison,
    )


def _words(failure: StudentFailure, function: str) -> tuple[str, str | None]:
    match failure:
        case StudentMissing():
            return f"The notebook does not define {function}.", None
        case StudentRaised(exception="NotImplementedError"):
            return f"{function} is not written yet, or calls a function that is not.", None
        case StudentRaised(exception=name, line=line):
            place = "" if line is None else f" (line {line} of your cell)"
            return f"{function} raised {name if name in BUILTIN_EXCEPTIONS else 'an exception'}{place}.", None
        case StudentTimedOut():
            return f"{function} did not end in time.", "Is there a loop that never ends, or one far too long?"
        case StudentMemoryExceeded():
            return f"{function} needed more memory than it may use.", "How large does its largest array get?"
        case StudentMalformed():
            return f"What {function} returned is no answer, or far too large.", None
    return f"Python broke down while {function} was running.", None


def _is_unwritten(failure: StudentFailure) -> bool:
    return isinstance(failure, StudentMissing) or (
        isinstance(failure, StudentRaised) and failure.exception == "NotImplementedError"
    )


def _by_clock(failure: BaseException | None) -> bool:
    return isinstance(failure, StudentTimedOut) and failure.by_clock
