from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from autograder.model import RecordedGrade, RecordedNotebook, Status, Verdict
from autograder.reporting.feedback.facts import (
    NOT_HANDED_IN,
    OUR_FAULT,
    Feedback,
    Item,
    points,
    read_feedback,
)

Json = dict[str, Any]


def test_scores_are_those_of_the_gradebook(feedback: Feedback) -> None:
    assert (2.5, 5.0) == (feedback.score, feedback.max_score)
    assert [("double", 1.0), ("why", 1.5)] == [(item.name, item.grade.score) for item in feedback.items]


def test_what_is_said_alike_is_said_once(feedback: Feedback) -> None:
    double, _ = feedback.items
    first, second = double.to_mend
    assert (Verdict.FAILED, "You double twice.") == (first.verdict, first.mistake)
    assert ("How often do you multiply?", "Try 1.") == first.hints
    (line,) = first.lines
    assert (("small", "large"), 0.75) == (line.names, line.max_points)
    assert (Verdict.RAISED, ()) == (second.verdict, second.hints)


def test_what_is_right_is_told_from_what_does_not_count_yet(feedback: Feedback) -> None:
    double, _ = feedback.items
    assert [("visible checks",)] == [line.names for one in double.right for line in one.lines]
    assert ["It repeats."] == [line.message for one in double.held_back for line in one.lines]


def test_what_costs_no_points_is_an_aside(feedback: Feedback) -> None:
    double, _ = feedback.items
    (aside,) = double.asides
    assert ("good to know", "It builds on another.") == (aside.words, aside.lines[0].message)


def test_the_instructors_details_do_not_get_this_far(feedback: Feedback) -> None:
    assert "DETAIL" not in repr(feedback)


def test_the_first_thing_to_mend_is_where_to_start(feedback: Feedback) -> None:
    assert feedback.start is not None
    item, remark = feedback.start
    assert ("double", "small") == (item.name, remark.lines[0].names[0])


def test_the_error_with_which_a_solution_cell_ended_is_known(feedback: Feedback) -> None:
    assert ["NameError", None] == [item.error for item in feedback.items]


def test_comments_belong_to_their_cells(feedback: Feedback) -> None:
    assert [None, "Say *more* <b>here</b>."] == [item.comment for item in feedback.items]


@pytest.mark.parametrize(
    ("grade", "more", "state"),
    [
        (RecordedGrade(3.0, 3.0), {}, "all points"),
        (RecordedGrade(3.0, 1.0), {}, "some points"),
        (RecordedGrade(3.0, 0.0), {}, "no points yet"),
        (RecordedGrade(3.0), {}, "no score yet"),
        (RecordedGrade(3.0, waits=True), {}, "waits for your instructor"),
        (RecordedGrade(3.0, 0.0), {"is_unanswered": True}, "as it was handed out"),
        (RecordedGrade(3.0, 0.0, 2.0), {}, "score set by your instructor"),
        (RecordedGrade(3.0, None, 2.0), {"is_question": True}, "graded by your instructor"),
        (RecordedGrade(3.0, 1.0, extra_credit=1.0), {}, "score set by your instructor"),
    ],
)
def test_the_state_of_a_row_is_told_in_words(grade: RecordedGrade, more: Json, state: str) -> None:
    assert state == Item("double", grade, **more).state


def test_a_late_penalty_is_taken_off_and_shown(content: Json, recorded: RecordedNotebook) -> None:
    feedback = read_feedback("ada", "toy", "toy", content, replace(recorded, late_penalty=1.0))
    assert (2.5, 1.0, 1.5) == (feedback.earned, feedback.late_penalty, feedback.score)


def test_extra_credit_counts(content: Json, recorded: RecordedNotebook) -> None:
    grades = {**recorded.grades, "why": RecordedGrade(2.0, manual_score=2.0, extra_credit=0.5)}
    feedback = read_feedback("ada", "toy", "toy", content, replace(recorded, grades=grades))
    assert 3.5 == feedback.score


def test_a_fault_of_ours_gives_no_score_and_no_reason(
    about: Callable[..., Json], recorded: RecordedNotebook
) -> None:
    feedback = read_feedback("ada", "toy", "toy", about(Status.JUDGE_ERROR), recorded)
    assert (None, OUR_FAULT) == (feedback.score, feedback.verdict)


def test_a_malformed_notebook_says_why(about: Callable[..., Json], recorded: RecordedNotebook) -> None:
    content = about(Status.MALFORMED, reason="It is empty.", handed_in=False)
    assert "It is empty." == read_feedback("ada", "toy", "toy", content, recorded).verdict


def test_a_notebook_that_is_missing_among_several_says_so(
    about: Callable[..., Json], recorded: RecordedNotebook
) -> None:
    feedback = read_feedback("ada", "toy", "toy", about(handed_in=False), recorded)
    assert NOT_HANDED_IN == feedback.verdict


def test_everything_right_is_said_only_where_nothing_is_left(
    content: Json, recorded: RecordedNotebook
) -> None:
    full = {"test_double": RecordedGrade(3.0, 3.0), "why": RecordedGrade(2.0, manual_score=2.0)}
    with_asides = read_feedback("ada", "toy", "toy", content, replace(recorded, grades=full))
    assert not with_asides.all_right
    content["cells"][2]["metadata"]["autograder"]["checks"] = []
    assert read_feedback("ada", "toy", "toy", content, replace(recorded, grades=full)).all_right


def test_grades_of_cells_that_the_notebook_lost_are_listed(content: Json, recorded: RecordedNotebook) -> None:
    content["cells"].pop()
    feedback = read_feedback("ada", "toy", "toy", content, recorded)
    assert ["double", "why"] == [item.name for item in feedback.items]


@pytest.mark.parametrize(
    "checks",
    [
        3,
        "text",
        [3],
        [{"name": "x"}],
        [{"name": "x", "verdict": "excellent", "points": 1, "max_points": 1, "message": "m"}],
        [{"name": "x", "verdict": "passed", "points": float("nan"), "max_points": 1, "message": "m"}],
        [{"name": "x", "verdict": "passed", "points": "<b>", "max_points": 1, "message": "m"}],
        [{"name": 3, "verdict": "passed", "points": 1, "max_points": 1, "message": "m"}],
        [{"name": "x", "verdict": "passed", "points": 1, "max_points": 1, "message": ["m"]}],
    ],
)
def test_metadata_that_make_no_sense_count_as_absent(
    content: Json, recorded: RecordedNotebook, checks: Any
) -> None:
    content["cells"][2]["metadata"]["autograder"]["checks"] = checks
    feedback = read_feedback("ada", "toy", "toy", content, recorded)
    assert (2.5, ()) == (feedback.score, feedback.items[0].checks)


@pytest.mark.parametrize("about", [None, 3, "text", {"status": "excellent", "notes": "text", "reason": 3}])
def test_a_notebook_that_plain_nbgrader_graded_is_read_too(
    content: Json, recorded: RecordedNotebook, about: Any
) -> None:
    content["metadata"]["autograder"] = about
    feedback = read_feedback("ada", "toy", "toy", content, recorded)
    assert (Status.GRADED, (), None, True) == (
        feedback.status,
        feedback.notes,
        feedback.verdict,
        feedback.handed_in,
    )


def test_points_have_no_needless_zeros() -> None:
    assert ["2", "0.75", "0", "10", "-1.5"] == [points(one) for one in (2.0, 0.75, -0.001, 10.0, -1.5)]
