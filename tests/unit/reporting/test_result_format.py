import json
import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.errors import JudgeError
from autograder.model import (
    CheckResult,
    Diagnosis,
    ExerciseResult,
    Status,
    SubmissionResult,
    Verdict,
)
from autograder.reporting.result_format import (
    results_from_json,
    results_to_json,
    submission_from_data,
    submission_to_data,
)

PAGE = (Path(__file__).parents[3] / "docs" / "result_format.md").read_text(encoding="utf-8")
CHECK = CheckResult(
    "shapes",
    Verdict.FAILED,
    0.0,
    1.0,
    "Wrong.",
    "Count.",
    Diagnosis("swap", "Swapped.", "Look."),
    "hidden 42",
)
RESULT = SubmissionResult(
    "s01",
    1.0,
    4.0,
    Status.GRADED,
    None,
    ("A note.",),
    (
        ExerciseResult("f", 1.0, 2.0, (CHECK,), error="NameError"),
        ExerciseResult("why", None, 2.0, waits=True),
    ),
)
PROMISED = {
    "format_version": 1,
    "assignment": "toy",
    "submissions": [
        {
            "student": "s01",
            "score": 1.0,
            "max_score": 4.0,
            "status": "graded",
            "reason": None,
            "notes": ["A note."],
            "sandboxed": True,
            "exercises": [
                {
                    "name": "f",
                    "score": 1.0,
                    "max_score": 2.0,
                    "waits": False,
                    "error": "NameError",
                    "checks": [
                        {
                            "name": "shapes",
                            "verdict": "failed",
                            "points": 0.0,
                            "max_points": 1.0,
                            "message": "Wrong.",
                            "hint": "Count.",
                            "diagnosis": {"id": "swap", "message": "Swapped.", "hint": "Look."},
                        }
                    ],
                },
                {
                    "name": "why",
                    "score": None,
                    "max_score": 2.0,
                    "waits": True,
                    "error": None,
                    "checks": [],
                },
            ],
        }
    ],
}


def keys(data: Any) -> set[str]:
    if isinstance(data, dict):
        return set(data).union(*(keys(value) for value in data.values()))
    return set().union(*(keys(value) for value in data)) if isinstance(data, list) else set()


def example() -> str:
    found = re.search(r"```json\n(.*?)```", PAGE, re.DOTALL)
    assert found is not None
    return found[1]


def test_the_documented_example_is_read_and_written_as_it_stands() -> None:
    assignment, results = results_from_json(example())
    assert json.loads(results_to_json(assignment, results)) == json.loads(example())


def test_every_key_and_every_word_that_is_written_is_documented() -> None:
    named = set(re.findall(r"`([^`\n]+)`", PAGE.split("```")[-1]))
    written = keys(json.loads(results_to_json("toy", [RESULT])))
    assert set() == (written | set(Verdict) | set(Status)) - named


def test_every_documented_key_is_written() -> None:
    rows = set(re.findall(r"^\| `([^`]+)` \|", PAGE, re.MULTILINE)) - set(Verdict) - set(Status)
    assert rows <= keys(json.loads(results_to_json("toy", [RESULT])))


def test_the_format_is_the_one_that_was_promised() -> None:
    assert PROMISED == json.loads(results_to_json("toy", [RESULT]))


def test_the_instructors_details_are_written_on_demand_alone() -> None:
    assert "hidden 42" not in results_to_json("toy", [RESULT])
    data = json.loads(json.dumps(submission_to_data(RESULT, with_details=True)))
    assert submission_from_data(data) == RESULT


def test_readers_ignore_keys_that_they_do_not_know() -> None:
    content = json.loads(results_to_json("toy", [RESULT]))
    content["new"] = content["submissions"][0]["new"] = 1
    content["submissions"][0]["exercises"][0]["new"] = 1
    content["submissions"][0]["exercises"][0]["checks"][0]["new"] = 1
    check = replace(CHECK, detail=None)
    expected = replace(RESULT, exercises=(replace(RESULT.exercises[0], checks=(check,)), RESULT.exercises[1]))
    assert results_from_json(json.dumps(content)) == ("toy", (expected,))


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format_version": 2}', '{"format_version": 1}', "17"])
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        results_from_json(text)


@pytest.mark.parametrize("score", [math.nan, math.inf])
def test_a_score_that_is_no_number_is_never_written(score: float) -> None:
    with pytest.raises(JudgeError, match="was about to be written"):
        results_to_json("toy", [replace(RESULT, score=score)])


def test_a_folders_name_that_is_no_text_is_written_in_utf8_and_read_back() -> None:
    result = replace(RESULT, student="caf\udce9", exercises=())
    text = results_to_json("toy", [result])
    assert r'"student": "caf\udce9"' in text.encode("utf-8").decode("utf-8")
    assert ("toy", (result,)) == results_from_json(text)


@settings(derandomize=True, deadline=None)
@given(st.text(), st.floats(allow_nan=False, allow_infinity=False))
def test_whatever_is_written_is_read_back(text: str, score: float) -> None:
    result = SubmissionResult(text, score, 4.0, Status.MALFORMED, text, (text,))
    assert results_from_json(results_to_json(text, [result])) == (text, (result,))
