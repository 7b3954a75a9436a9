"""Explanations in writing: JSON for programs, a view for a terminal."""

import io
import json
import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from autograder.checking.recording import Omitted
from autograder.checking.retelling import Call, Difference, FromCall, NoAnswer, Unseen
from autograder.model import CheckResult, Diagnosis, Status, Verdict
from autograder.reporting.explanation import ExplainedCheck, Explanation, explanation_to_json
from autograder.reporting.explanation_view import BANNER, explanation_view

X = np.arange(6.0).reshape(2, 3)
LARGE = np.linspace(-1, 1, 600).reshape(2, 300)
RESULT = CheckResult(
    "values",
    Verdict.FAILED,
    0.0,
    1.5,
    "Wrong numbers.",
    None,
    Diagnosis("id", "You forget one.", "?"),
    "5 wrong",
    2,
)
DIFFERENCE = Difference("y", X + 1, X, ("seq", "d"), 6, 1.0, 1e-9, (0, 0))
CALL = Call(
    1,
    "f",
    {
        "x": X,
        "params": {"w": LARGE},
        "mask": np.array([True, False]),
        "heads": np.int64(3),
        "name": "a\x1b[2Jb",
    },
    (X + 1, Unseen("dict")),
    (X, {"x": X, "inner": {"own": X}}),
    (DIFFERENCE,),
    ("Looked at later, the answer had changed.",),
)
LATER = Call(2, "g", {"cache": FromCall(1)}, NoAnswer("timed out"), NoAnswer("raises ValueError: no"))
CHECK = ExplainedCheck("f", RESULT, RESULT, (CALL, LATER), DIFFERENCE, ("helper",))
EXPLANATION = Explanation("ada", "toy", 7, Status.GRADED, None, ("Cell 3 was left out.",), (CHECK,))


def view(explanation: Explanation = EXPLANATION, *, width: int = 100, **options: Any) -> str:
    out = io.StringIO()
    Console(file=out, width=width).print(
        explanation_view(explanation, **options), markup=False, highlight=False
    )
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())


# For people.


def test_whoever_reads_it_is_told_that_it_shows_hidden_inputs() -> None:
    assert view().startswith(BANNER)


def test_inputs_answers_and_where_they_differ_are_shown() -> None:
    text = view()
    for part in (
        "toy, ada: replayed with the inputs of variant 7",
        "Cell 3 was left out.",
        "failed  0 of 1.5 points",
        "You forget one.",
        "Judged with right functions in the place of the student's own: helper.",
        "Call 1: f(x, params, mask, heads, name)",
        "  x: float64 (2, 3)\n    [[0. 1. 2.]\n     [3. 4. 5.]]",
        "  heads: 3 (int64)",
        "  came: a tuple of 2\n    1: float64 (2, 3)\n      [[1. 2. 3.]",
        "    2: a dict that the check did not look into",
        "Looked at later, the answer had changed.",
        "Call 2: g(cache)\n  cache: what call 1 returned\n  came: timed out\n",
        "  expected: raises ValueError: no",
        "What failed: y: 6 of 6 entries wrong, the largest difference is 1 (1e-09 is allowed)",
        "[seq 0, d 0]: 1.0 came, 0.0",
    ):
        assert part in text


def test_large_arrays_are_one_line_unless_all_is_asked_for() -> None:
    assert '    "w": float64 (2, 300) from -1 to 1: -1, -0.997, -0.993 ...' in view()
    whole = view(full=True)
    assert "..." not in whole
    assert str(LARGE[0, 1]) in whole


@pytest.mark.parametrize("width", [80, 120, 240])
def test_rows_of_arrays_fit_the_console_and_are_broken_by_numpy_alone(width: int) -> None:
    lines = view(width=width, full=True).splitlines()
    start = lines.index('    "w": float64 (2, 300)') + 1
    end = next(place for place in range(start, len(lines)) if lines[place].endswith("]]"))
    rows = lines[start : end + 1]
    assert all(row.startswith(("      [[", "       [", "        ")) for row in rows)
    assert max(map(len, rows)) <= width
    assert width - 30 < max(map(len, rows))


def test_an_exercise_that_is_not_written_is_told_once() -> None:
    message = "f is not written yet, or calls a function that is not."
    result = replace(RESULT, verdict=Verdict.RAISED, message=message, diagnosis=None, detail=None)
    check = ExplainedCheck("f", result, result, (CALL,), unwritten=True)
    other = replace(check, exercise="g", unwritten=False)
    text = view(replace(EXPLANATION, checks=(check, check, check, other)))
    assert f"not written  0 of 4.5 points\n{message} All 3 checks say so; --check NAME shows" in text
    assert 1 == text.count("Call 1: f(")
    assert "Call 1: f(" in view(replace(EXPLANATION, checks=(check,)))
    differing = replace(check, recorded=replace(result, verdict=Verdict.PASSED))
    assert 2 == view(replace(EXPLANATION, checks=(check, differing))).count("Call 1: f(")


def test_nothing_is_shown_of_a_right_answer_into_which_the_check_did_not_look() -> None:
    assert "own" not in view().replace("student's own", "")


def test_a_call_that_went_right_is_told_in_a_word() -> None:
    right = replace(CALL, came=X, expected=X, differences=(), remarks=())
    text = view(replace(EXPLANATION, checks=(replace(CHECK, calls=(right,), failing=None),)))
    assert "What came is right." in text
    assert "expected" not in text


def test_what_objects_are_asked_is_told_as_one_would_write_it() -> None:
    made = Call(1, "Layer", {"size": 3}, Unseen("object"), Unseen("object"))
    put = Call(2, "(what call 1 returned).weight", {"set to": X}, None, None, is_look=True)
    look = Call(3, "(what call 1 returned).grad", {}, X, X, is_look=True)
    again = replace(CALL, number=4)
    calls = (made, put, again, look)
    text = view(replace(EXPLANATION, checks=(replace(CHECK, calls=calls, failing=None),)))
    assert "Call 1: Layer(size)\n  size: 3\n  An object came, as it should.\n" in text
    assert "Call 2: (what call 1 returned).weight\n  set to: float64 (2, 3)\n" in text
    assert text.endswith("Call 3: (what call 1 returned).grad\n  What came is right.")


def test_looks_in_a_row_of_which_there_is_nothing_to_say_are_one_line() -> None:
    put = Call(2, "(what call 1 returned).weight", {"set to": X}, None, None, is_look=True)
    right = Call(3, "(what call 1 returned).grad", {}, X, X, is_look=True)
    wrong = replace(right, number=5, came=2 * X, differences=(DIFFERENCE,))
    refused = replace(put, number=6, came=NoAnswer("raised TypeError"))
    explanation = replace(EXPLANATION, checks=(replace(CHECK, calls=(put, right, wrong, refused)),))
    text = view(explanation)
    assert "Calls 2 to 3: attributes were set or looked up; nothing is wrong.\n" in text
    assert ("Call 2:" in text, "Call 5:" in text, "Call 6:" in text) == (False, True, True)
    assert "set to: float64 (2, 3)\n    [[0. 1. 2.]\n     [3. 4. 5.]]\n  came: raised TypeError" in text
    assert "Call 2: (what call 1 returned).weight" in view(explanation, full=True)


def test_a_comparison_that_no_call_has_shown_is_shown_whole() -> None:
    text = view(replace(EXPLANATION, checks=(replace(CHECK, calls=()),)))
    assert "  came: float64 (2, 3)\n    [[1. 2. 3.]" in text


@pytest.mark.parametrize("came", [X[0], "text", Omitted("float64", (9, 9)), None])
def test_another_shape_or_kind_is_named(came: Any) -> None:
    other = replace(DIFFERENCE, came=came, wrong=None, largest=None, allowed=None, first=None)
    text = view(replace(EXPLANATION, checks=(replace(CHECK, calls=(), failing=other),)))
    assert "came, float64 (2, 3) was expected" in text


def test_nothing_of_a_student_can_command_the_terminal() -> None:
    assert "\x1b" not in view(replace(EXPLANATION, student="a\x1b[31m", notes=("\x1b]0;x\x07",)))


def test_a_verdict_that_differs_from_the_record_is_told() -> None:
    passed = replace(RESULT, verdict=Verdict.PASSED)
    changed = replace(CHECK, recorded=passed)
    text = view(replace(EXPLANATION, checks=(changed,), differing=(("f", "values"),)))
    assert "The record says: passed." in text
    assert "Not as recorded: f, values ended differently this time." in text


@pytest.mark.parametrize(
    ("explanation", "words"),
    [
        (replace(EXPLANATION, checks=()), "Nothing to explain: no check failed."),
        (replace(EXPLANATION, checks=(), status=Status.MALFORMED, reason="Empty."), "malformed: Empty."),
        (replace(EXPLANATION, remark="It has changed."), "It has changed."),
    ],
)
def test_what_is_out_of_the_ordinary_is_said_on_top(explanation: Explanation, words: str) -> None:
    assert words in view(explanation)


# For programs.

PAGE = (Path(__file__).parents[3] / "docs" / "explanation_format.md").read_text(encoding="utf-8")


def documented() -> Explanation:
    """What stands as an example on the page of the format."""
    y, right, wrong = np.array([[[2.0, 6.0]]]), np.array([0.5, 4.0]), np.array([math.nan, 2.0])
    result = CheckResult(
        "dx",
        Verdict.FAILED,
        0.0,
        1.2,
        "The gradient dx has the right shape but wrong numbers.",
        diagnosis=Diagnosis("known", "Your answers are exactly those of a known mistake.", "?"),
        detail="2 of 2 entries are wrong",
    )
    arguments = {"x": np.array([[[1, 2]]]), "params": {"wq": Omitted("float64", (900, 900))}, "heads": 1}
    found = Difference("dx", wrong, right, ("d_model",), 2, math.nan, 4e-9, (0,))
    later = {"cache": FromCall(1)}
    calls = (
        Call(1, "multihead", arguments, (y, Unseen("dict")), (y, Unseen("dict"))),
        Call(2, "multihead_backward", later, wrong, right, (found,), CALL.remarks),
        Call(3, "multihead_backward", later, NoAnswer("timed out"), 1.0),
    )
    failing = Difference("dx", np.array([1.0, 2.0, 3.0]), right)
    check = ExplainedCheck("multihead_backward", result, result, calls, failing, ("split_heads",))
    return Explanation("s01", "multihead", 4, Status.GRADED, None, (), (check,))


def keys(data: Any) -> set[str]:
    if isinstance(data, dict):
        return set(data).union(*(keys(value) for value in data.values()))
    return set().union(*(keys(value) for value in data)) if isinstance(data, list) else set()


def test_the_documented_example_is_what_is_written() -> None:
    found = re.search(r"```json\n(.*?)```", PAGE, re.DOTALL)
    assert found is not None
    assert json.loads(found[1]) == json.loads(explanation_to_json(documented()))


def test_every_key_that_is_written_is_documented() -> None:
    named = set(re.findall(r"`([^`\n]+)`", PAGE.split("```")[-1]))
    arguments = {"x", "params", "wq", "heads", "cache"}
    assert set() == keys(json.loads(explanation_to_json(documented()))) - arguments - named


def test_every_documented_key_is_written() -> None:
    rows = re.findall(r"^\| (`[^|]+`) \|", PAGE, re.MULTILINE)
    documented_keys = {name for row in rows for name in re.findall(r"`([^`]+)`", row)}
    assert len(documented_keys) > 30
    assert documented_keys <= keys(json.loads(explanation_to_json(documented())))


def test_json_has_everything_whole() -> None:
    data = json.loads(explanation_to_json(EXPLANATION))
    assert (1, "ada", "toy", 7) == tuple(
        data[key] for key in ("explanation_version", "student", "assignment", "variant")
    )
    (check,) = data["checks"]
    assert ("f", "values", "failed", "failed") == tuple(
        check[key] for key in ("exercise", "check", "verdict", "recorded_verdict")
    )
    first, second = check["calls"]
    assert {"dtype": "float64", "shape": [2, 3], "values": X.tolist()} == first["arguments"]["x"]
    assert 600 == sum(map(len, first["arguments"]["params"]["w"]["values"]))
    assert [{"unseen": "dict"}, {"no_answer": "timed out"}] == [first["came"][1], second["came"]]
    assert {"returned_by_call": 1} == second["arguments"]["cache"]
    assert (6, 1.0, [0, 0]) == tuple(
        check["failing"][key] for key in ("wrong_entries", "largest_difference", "first_wrong_index")
    )


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (
            np.array([math.nan, math.inf, 1.0]),
            {"dtype": "float64", "shape": [3], "values": ["nan", "inf", 1.0]},
        ),
        (np.float32(2), {"dtype": "float32", "shape": [], "values": 2.0}),
        (np.array([1 + 2j]), {"dtype": "complex128", "shape": [1], "values": ["(1+2j)"]}),
        (Omitted("float64", (9, 9)), {"dtype": "float64", "shape": [9, 9], "values": None}),
        ([1, (True, None)], [1, [True, None]]),
        (-math.inf, "-inf"),
        ({1: "a"}, {"1": "a"}),
    ],
)
def test_every_value_has_a_place_in_json(value: Any, expected: Any) -> None:
    call = replace(CALL, came=value)
    data = json.loads(explanation_to_json(replace(EXPLANATION, checks=(replace(CHECK, calls=(call,)),))))
    assert expected == data["checks"][0]["calls"][0]["came"]


def test_a_student_whose_name_is_no_text_can_be_written_down() -> None:
    assert explanation_to_json(replace(EXPLANATION, student="a\udcff")).encode()
