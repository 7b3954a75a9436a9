"""What an appeal needs to know of a grading: the failed checks with their hidden inputs.

For the instructor alone: whoever reads an explanation knows hidden inputs and right answers.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from autograder.checking.recording import Omitted
from autograder.checking.retelling import Call, Difference, FromCall, NoAnswer, Unseen
from autograder.model import CheckResult, Status, Verdict

EXPLANATION_VERSION = 1

Json = dict[str, Any]


@dataclass(frozen=True)
class ExplainedCheck:
    """One check, replayed: what it said then and says now, and everything that it asked.

    ``helped`` names the functions in whose place right ones stood. ``failing`` is the comparison that failed,
    where one did. ``unwritten`` says that there is no function yet that could be checked.
    """

    exercise: str
    result: CheckResult
    recorded: CheckResult | None
    calls: tuple[Call, ...] = ()
    failing: Difference | None = None
    helped: tuple[str, ...] = ()
    unwritten: bool = False

    @property
    def is_as_recorded(self) -> bool:
        """Whether the replay came to the verdict that is in the records."""
        return self.recorded is None or self.recorded.verdict is self.result.verdict


@dataclass(frozen=True)
class Explanation:
    """All that is explained of one student's submission.

    ``differing`` names the checks, as (exercise, check), that ended otherwise than the record says.
    ``remark`` says why the replay may not be what was graded, ``fault`` where a fault of ours came from.
    """

    student: str
    assignment: str
    variant: int
    status: Status
    reason: str | None
    notes: tuple[str, ...]
    checks: tuple[ExplainedCheck, ...]
    differing: tuple[tuple[str, str], ...] = ()
    remark: str | None = None
    fault: str | None = None


def explanation_to_json(explanation: Explanation) -> str:
    """The explanation as JSON text; arrays are given whole, NaN and infinities as texts."""
    data = {
        "explanation_version": EXPLANATION_VERSION,
        "student": explanation.student,
        "assignment": explanation.assignment,
        "variant": explanation.variant,
        "status": str(explanation.status),
        "reason": explanation.reason,
        "notes": list(explanation.notes),
        "remark": explanation.remark,
        "differing": [list(one) for one in explanation.differing],
        "checks": [_check(one) for one in explanation.checks],
    }
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, indent=2) + "\n"
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _check(check: ExplainedCheck) -> Json:
    result = check.result
    return {
        "exercise": check.exercise,
        "check": result.name,
        "verdict": str(result.verdict),
        "recorded_verdict": None if check.recorded is None else str(check.recorded.verdict),
        "points": result.points,
        "max_points": result.max_points,
        "message": result.message,
        "hint": result.hint,
        "diagnosis": None if result.diagnosis is None else result.diagnosis.message,
        "detail": result.detail,
        "unwritten": check.unwritten,
        "right_functions_in_place_of": list(check.helped),
        "calls": [_call(one) for one in check.calls],
        "failing": None if check.failing is None else _difference(check.failing),
    }


def _call(call: Call) -> Json:
    return {
        "number": call.number,
        "function": call.function,
        "arguments": {name: _value(value) for name, value in call.arguments.items()},
        "came": _value(call.came),
        "expected": _value(call.expected),
        "differences": [_difference(one) for one in call.differences],
        "remarks": list(call.remarks),
    }


def _difference(found: Difference) -> Json:
    return {
        "what": found.what,
        "axes": list(found.axes),
        "came": _value(found.came),
        "expected": _value(found.expected),
        "wrong_entries": found.wrong,
        "largest_difference": None if found.largest is None else _number(found.largest),
        "allowed_difference": found.allowed,
        "first_wrong_index": None if found.first is None else list(found.first),
    }


def _value(value: Any) -> Any:
    """A value as JSON: arrays with dtype, shape and numbers, everything else as plainly as can be."""
    match value:
        case np.ndarray():
            return {"dtype": value.dtype.name, "shape": list(value.shape), "values": _plain(value.tolist())}
        case np.generic():
            return {"dtype": value.dtype.name, "shape": [], "values": _plain(value.item())}
        case Omitted():
            return {"dtype": value.dtype, "shape": list(value.shape), "values": None}
        case FromCall():
            return {"returned_by_call": value.number}
        case Unseen():
            return {"unseen": value.kind}
        case NoAnswer():
            return {"no_answer": value.words}
        case Mapping():
            return {str(key): _value(one) for key, one in value.items()}
        case tuple() | list():
            return [_value(one) for one in value]
    return _plain(value)


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(one) for one in value]
    if isinstance(value, complex):
        return str(value)
    if isinstance(value, float):
        return _number(value)
    return value if value is None or isinstance(value, bool | int | str) else repr(value)


def _number(value: float) -> float | str:
    return value if math.isfinite(value) else str(value)


def is_failed(result: CheckResult) -> bool:
    """Whether there is something to explain."""
    return result.verdict is not Verdict.PASSED
