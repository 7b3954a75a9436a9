"""Results as JSON: the format of ``docs/result_format.md``, version 1.

Writers put every documented key; readers ignore keys they do not know and take absent optional ones as
null. The instructor's details of a check stay out of it, except in the private records.
"""

import json
import math
from collections.abc import Iterable
from typing import Any

from autograder.errors import JudgeError
from autograder.model import (
    CheckResult,
    Diagnosis,
    ExerciseResult,
    Status,
    SubmissionResult,
    Verdict,
)

FORMAT_VERSION = 1

Json = dict[str, Any]


def results_to_json(assignment: str, results: Iterable[SubmissionResult]) -> str:
    """All results of one assignment as JSON text that UTF-8 can hold.

    Bytes of a folder's name that are no text stand in it as escapes of lone surrogates. Raises JudgeError
    where a number is not finite.
    """
    content = {
        "format_version": FORMAT_VERSION,
        "assignment": assignment,
        "submissions": [submission_to_data(result) for result in results],
    }
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, indent=2) + "\n"
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def results_from_json(text: str) -> tuple[str, tuple[SubmissionResult, ...]]:
    """The assignment's name and its results; raises ValueError where the text is not in this format."""
    try:
        content = json.loads(text)
        if content["format_version"] != FORMAT_VERSION:
            raise ValueError(f"results of format version {content['format_version']!r} cannot be read")
        return content["assignment"], tuple(submission_from_data(one) for one in content["submissions"])
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"these are no results in format {FORMAT_VERSION}: {error!r}") from error


def submission_to_data(result: SubmissionResult, *, with_details: bool = False) -> Json:
    """One submission's result as plain data; ``with_details`` adds what only the instructor may see."""
    return {
        "student": result.student,
        "score": _score(result.score),
        "max_score": _number(result.max_score),
        "status": str(result.status),
        "reason": result.reason,
        "notes": list(result.notes),
        "sandboxed": result.sandboxed,
        "exercises": [
            {
                "name": exercise.name,
                "score": _score(exercise.score),
                "max_score": _number(exercise.max_score),
                "waits": exercise.waits,
                "error": exercise.error,
                "checks": [_check_to_data(check, with_details) for check in exercise.checks],
            }
            for exercise in result.exercises
        ],
    }


def submission_from_data(data: Json) -> SubmissionResult:
    """The inverse of ``submission_to_data``; raises KeyError, TypeError or ValueError on other data."""
    return SubmissionResult(
        student=data["student"],
        score=data["score"],
        max_score=data["max_score"],
        status=Status(data["status"]),
        reason=data.get("reason"),
        notes=tuple(data.get("notes", ())),
        # Who does not say so cannot be relied on.
        sandboxed=data.get("sandboxed") is True,
        exercises=tuple(
            ExerciseResult(
                name=exercise["name"],
                score=exercise["score"],
                max_score=exercise["max_score"],
                checks=tuple(check_from_data(check) for check in exercise["checks"]),
                waits=exercise.get("waits", False),
                error=exercise.get("error"),
            )
            for exercise in data["exercises"]
        ),
    )


def _check_to_data(check: CheckResult, with_details: bool) -> Json:
    diagnosis = check.diagnosis
    data: Json = {
        "name": check.name,
        "verdict": str(check.verdict),
        "points": _number(check.points),
        "max_points": _number(check.max_points),
        "message": check.message,
        "hint": check.hint,
        "diagnosis": None
        if diagnosis is None
        else {"id": diagnosis.id, "message": diagnosis.message, "hint": diagnosis.hint},
    }
    if with_details:
        data |= {"detail": check.detail, "attempt": check.attempt}
    return data


def check_from_data(data: Json) -> CheckResult:
    """One check as plain data; raises KeyError, TypeError or ValueError on other data."""
    diagnosis = data.get("diagnosis")
    return CheckResult(
        name=data["name"],
        verdict=Verdict(data["verdict"]),
        points=data["points"],
        max_points=data["max_points"],
        message=data["message"],
        hint=data.get("hint"),
        diagnosis=None
        if diagnosis is None
        else Diagnosis(diagnosis["id"], diagnosis["message"], diagnosis["hint"]),
        detail=data.get("detail"),
        attempt=data.get("attempt", 0),
    )


def _score(score: float | None) -> float | None:
    return None if score is None else _number(score)


def _number(value: float) -> float:
    """A finite float; anything else would be a fault of ours that no reader could understand."""
    if not math.isfinite(value):
        raise JudgeError(f"A score of {value!r} was about to be written.")
    return float(value)
