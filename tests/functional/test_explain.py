"""``autograder explain``: the recorded grading once more, with everything that it asked."""

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from autograder.assignments.attention_layer import draws
from autograder.assignments.private import course_secret
from autograder.checking.seeds import rng, variant_of

pytestmark = pytest.mark.functional

Json = dict[str, Any]
Run = Callable[..., Any]


@pytest.fixture
def explain(autograder: Run, tmp_path: Path) -> Callable[..., Json]:
    """Explain as a program reads it; ``_code`` and ``_err`` tell how the command ended."""

    def run(course: Path, student: str, *words: str) -> Json:
        target = tmp_path / "explanation.json"
        done = autograder("explain", "multihead", student, "--course", course, "--json", target, *words)
        data: Json = json.loads(target.read_text()) if target.exists() else {}
        return data | {"_code": done.code, "_out": done.out, "_err": done.err}

    return run


def drawn(course: Path, student: str, attempt: int = 0) -> np.ndarray:
    """The x that the check ``values`` of ``split_heads`` draws first."""
    secret = course_secret(course)
    generator = rng(secret, "multihead", "split_heads", "values", variant_of(secret, student), attempt)
    return np.asarray(draws.case(generator, draws.sizes(generator, 2)[0]).x)


def record_of(course: Path, student: str) -> tuple[Path, Json]:
    path = course / ".autograder" / "multihead" / "records" / f"{student}.json"
    return path, json.loads(path.read_text())


def change_record(course: Path, student: str, exercise: str, check: str, **changed: Any) -> None:
    path, record = record_of(course, student)
    (rows,) = (one["checks"] for one in record["result"]["exercises"] if one["name"] == exercise)
    (row,) = (one for one in rows if one["name"] == check)
    row.update(changed)
    path.chmod(0o600)
    path.write_text(json.dumps(record))


def x_of(explained: Json, call: int = 0) -> np.ndarray:
    (check,) = explained["checks"]
    return np.array(check["calls"][call]["arguments"]["x"]["values"])


# What is shown.


def test_every_failed_check_is_replayed_as_it_was_recorded(graded: Any, explain: Run) -> None:
    explained = explain(graded.course.folder, "zeros")
    assert (0, "") == (explained["_code"], explained["_err"])
    assert [] == explained["differing"]
    failed = [
        (exercise["name"], check["name"], check["message"])
        for exercise in graded.result("zeros")["exercises"]
        for check in exercise["checks"]
        if check["verdict"] != "passed"
    ]
    assert failed == [(one["exercise"], one["check"], one["message"]) for one in explained["checks"]]
    assert len(failed) > 10


def test_the_inputs_are_those_that_were_drawn(graded: Any, explain: Run) -> None:
    course = graded.course.folder
    explained = explain(course, "zeros", "--exercise", "split_heads", "--check", "values")
    assert np.array_equal(drawn(course, "zeros"), x_of(explained))


def test_what_came_and_what_was_expected_stand_side_by_side(graded: Any, explain: Run) -> None:
    explained = explain(graded.course.folder, "zeros", "--exercise", "multihead", "--check", "all_allowed")
    (check,) = explained["checks"]
    failing = check["failing"]
    assert 0 == np.count_nonzero(failing["came"]["values"])
    size = np.array(failing["expected"]["values"]).size
    assert (size, ["batch", "seq", "d_model"]) == (failing["wrong_entries"], failing["axes"])
    assert [0, 0, 0] == failing["first_wrong_index"]
    assert failing["largest_difference"] == np.max(np.abs(failing["expected"]["values"]))
    for part in (
        "For the instructor alone",
        "Call 1: multihead(x, params, heads, allowed)",
        "first is at [batch 0,",
    ):
        assert part in explained["_out"]


def test_a_check_that_passed_is_shown_if_it_is_named(graded: Any, explain: Run) -> None:
    explained = explain(graded.course.folder, "right-loops", "--exercise", "multihead", "--check", "masked")
    (check,) = explained["checks"]
    assert ("passed", 2) == (check["verdict"], len(check["calls"]))
    assert "What came is right." in explained["_out"]


def test_where_nothing_failed_that_is_said(graded: Any, explain: Run) -> None:
    explained = explain(graded.course.folder, "right-loops")
    assert (0, []) == (explained["_code"], explained["checks"])
    assert "Nothing to explain: no check failed." in explained["_out"]


def test_what_was_judged_with_a_right_function_says_so(graded: Any, explain: Run) -> None:
    explained = explain(graded.course.folder, "zeros", "--exercise", "multihead_backward")
    helped = {name for one in explained["checks"] for name in one["right_functions_in_place_of"]}
    assert {"split_heads", "merge_heads", "multihead"} >= helped
    assert helped


def test_json_on_standard_output_stands_alone(graded: Any, autograder: Run) -> None:
    words = ("--exercise", "split_heads", "--check", "values", "--json", "-")
    done = autograder("explain", "multihead", "zeros", "--course", graded.course.folder, *words)
    assert (0, "zeros") == (done.code, json.loads(done.out)["student"])


@pytest.mark.parametrize(
    ("student", "words"),
    [("empty", "malformed: The file that was handed in is empty"), ("nothing", "malformed:")],
)
def test_a_notebook_that_could_not_be_read_has_nothing_to_replay(
    graded: Any, explain: Run, student: str, words: str
) -> None:
    explained = explain(graded.course.folder, student)
    assert (0, []) == (explained["_code"], explained["checks"])
    assert words in explained["_out"]


def test_nothing_is_written(graded_copy: Any, explain: Run) -> None:
    before = graded_copy.tree()
    explain(graded_copy.folder, "zeros", "--exercise", "merge_heads")
    assert before == graded_copy.tree()


def test_the_draw_that_counted_is_replayed_after_a_second_chance(graded_copy: Any, explain: Run) -> None:
    change_record(graded_copy.folder, "zeros", "split_heads", "values", attempt=1)
    explained = explain(graded_copy.folder, "zeros", "--exercise", "split_heads", "--check", "values")
    assert np.array_equal(drawn(graded_copy.folder, "zeros", attempt=1), x_of(explained))


def test_the_draws_of_a_second_worker_are_replayed(graded_copy: Any, explain: Run) -> None:
    path, record = record_of(graded_copy.folder, "zeros")
    for exercise in record["result"]["exercises"]:
        for check in exercise["checks"]:
            check["attempt"] += 16
    path.write_text(json.dumps(record))
    explained = explain(graded_copy.folder, "zeros", "--exercise", "split_heads", "--check", "values")
    assert np.array_equal(drawn(graded_copy.folder, "zeros", attempt=16), x_of(explained))


# What is refused, or comes out otherwise.


def test_a_replay_that_ends_differently_is_told_and_exits_1(graded_copy: Any, explain: Run) -> None:
    change_record(graded_copy.folder, "zeros", "split_heads", "values", verdict="passed")
    explained = explain(graded_copy.folder, "zeros", "--exercise", "split_heads")
    assert (1, [["split_heads", "values"]]) == (explained["_code"], explained["differing"])
    assert "Not as recorded: split_heads, values ended differently this time." in explained["_out"]


def test_a_submission_that_has_changed_is_refused_unless_forced(
    graded_copy: Any, notebooks: Any, explain: Run
) -> None:
    graded_copy.hand_in("zeros", notebooks.filled(notebooks.right()))
    refused = explain(graded_copy.folder, "zeros")
    assert 2 == refused["_code"]
    assert "has changed since it was graded" in refused["_err"]
    assert "--force" in refused["_err"]
    forced = explain(graded_copy.folder, "zeros", "--force")
    assert (0, []) == (forced["_code"], forced["checks"])
    assert "has changed since it was graded" in forced["remark"]
    assert "has changed since it was graded" in forced["_out"]


def test_an_assignment_that_has_changed_is_refused_unless_forced(graded_copy: Any, explain: Run) -> None:
    with (graded_copy.folder / "solutions" / "multihead.py").open("a") as file:
        file.write("\n# changed\n")
    refused = explain(graded_copy.folder, "zeros")
    assert 2 == refused["_code"]
    assert "'multihead' has changed since" in refused["_err"]
    forced = explain(graded_copy.folder, "zeros", "--force", "--exercise", "split_heads")
    assert (0, "failed") == (forced["_code"], forced["checks"][0]["verdict"])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["zeroes"],
            "'zeroes' has not been graded in 'multihead', so there is nothing to explain. Did you mean 'zer",
        ),
        (["zeros", "--exercise", "split"], "'multihead' has no exercise 'split'."),
        (["zeros", "--check", "value"], "There is no check 'value'. Did you mean 'values'?"),
        (["zeros", "--exercise", "merge_heads", "--check", "cost"], "There is no check 'cost'."),
    ],
)
def test_what_does_not_exist_is_one_message(
    graded: Any, autograder: Run, words: list[str], message: str
) -> None:
    done = autograder("explain", "multihead", *words, "--course", graded.course.folder)
    assert (2, "") == (done.code, done.out)
    assert done.err.startswith(f"autograder: {message}")
    assert 1 == len(done.err.splitlines())


def test_without_the_secret_nobody_knows_the_inputs(graded_copy: Any, autograder: Run) -> None:
    (graded_copy.folder / ".autograder" / "secret").unlink()
    done = autograder("explain", "multihead", "zeros", "--course", graded_copy.folder)
    assert 2 == done.code
    assert re.fullmatch(r"autograder: .*secret is missing: .*\n", done.err)
    assert not (graded_copy.folder / ".autograder" / "secret").exists()


def test_in_a_course_without_grades_nothing_is_made(course: Any, autograder: Run) -> None:
    done = autograder("explain", "multihead", "ada", "--course", course.folder)
    assert (2, True) == (done.code, "has not been graded" in done.err)
    assert not (course.folder / ".autograder").exists()


def test_the_help_says_that_it_is_for_the_instructor_alone(program: Run, tmp_path: Path) -> None:
    done = program("explain", "--help", cwd=tmp_path, COLUMNS=os.environ.get("COLUMNS", "80"))
    assert "FOR THE INSTRUCTOR ALONE: it shows hidden inputs and right answers." in done.out
    assert "instructor only" in program("--help", cwd=tmp_path).out
