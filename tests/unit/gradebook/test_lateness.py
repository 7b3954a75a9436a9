"""Penalties are read back through nbgrader's own API."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from nbgrader.api import Gradebook as NbgraderGradebook

from autograder.assignments.catalog import Assignment
from autograder.gradebook.book import Gradebook
from autograder.model import SubmissionResult

Outcome = Callable[..., SubmissionResult]
HandedIn = Callable[..., Any]


def nbgrader(toy: Assignment) -> Any:
    return NbgraderGradebook(f"sqlite:///{toy.course}/gradebook.db", "")


LATE = """
c = get_config()
from nbgrader.plugins import LateSubmissionPlugin

class HalfAPointADay(LateSubmissionPlugin):
    def late_submission_penalty(self, student_id, score, total_seconds_late):
        return 0.5 * total_seconds_late / 86400

c.AssignLatePenalties.plugin_class = HalfAPointADay
"""


def hand_in_late(toy: Assignment, tmp_path: Path, timestamp: str) -> Path:
    """Make the assignment due on the first of May and hand in with this timestamp."""
    (toy.course / "nbgrader_config.py").write_text(LATE)
    with nbgrader(toy) as opened:
        opened.update_or_create_assignment("toy", duedate="2026-05-01 12:00:00.000000 UTC")
    submitted = tmp_path / "handed in"
    submitted.mkdir()
    (submitted / "timestamp.txt").write_text(timestamp)
    return submitted


def penalty(toy: Assignment) -> float | None:
    with nbgrader(toy) as opened:
        found: float | None = opened.find_submission_notebook("toy", "toy", "s01").late_submission_penalty
        return found


def test_a_late_submission_costs_what_the_courses_plugin_says(
    toy: Assignment, outcome: Outcome, handed_in: HandedIn, tmp_path: Path
) -> None:
    submitted = hand_in_late(toy, tmp_path, "2026-05-03 12:00:00 UTC")
    with Gradebook(toy) as book:
        result = book.record(outcome(), handed_in(), submitted)
        assert penalty(toy) == 1.0
        assert result.notes == ("Handed in 2 days late: this costs 1 points, which are not taken off here.",)
        assert result.score == 3.0
        assert (toy.course / "autograded/s01/toy/timestamp.txt").is_file()
        (submitted / "timestamp.txt").write_text("2026-05-01 11:00:00 UTC")
        assert book.record(outcome(), handed_in(), submitted).notes == ()
    assert penalty(toy) is None


def test_a_late_penalty_plugin_may_be_a_module_in_the_courses_folder(
    toy: Assignment, outcome: Outcome, handed_in: HandedIn, tmp_path: Path
) -> None:
    submitted = hand_in_late(toy, tmp_path, "2026-05-03 12:00:00 UTC")
    (toy.course / "nbgrader_config.py").write_text(
        "c.AssignLatePenalties.plugin_class = 'strict_policy.AllPoints'"
    )
    (toy.course / "strict_policy.py").write_text(
        "from nbgrader.plugins import LateSubmissionPlugin\n\n"
        "class AllPoints(LateSubmissionPlugin):\n"
        "    def late_submission_penalty(self, student_id, score, total_seconds_late):\n"
        "        return score\n"
    )
    with Gradebook(toy) as book:
        book.record(outcome(), handed_in(), submitted)
    assert penalty(toy) == 3.0
    assert str(toy.course) not in sys.path


def test_a_late_penalty_follows_a_due_date_that_is_changed_later(
    toy: Assignment, outcome: Outcome, handed_in: HandedIn, tmp_path: Path
) -> None:
    submitted = hand_in_late(toy, tmp_path, "2026-05-03 12:00:00 UTC")
    with Gradebook(toy) as book:
        book.record(outcome(), handed_in(), submitted)
    for due, expected in (("2026-05-02", 0.5), ("2026-06-01", None)):
        with nbgrader(toy) as opened:
            opened.update_or_create_assignment("toy", duedate=f"{due} 12:00:00.000000 UTC")
        with Gradebook(toy) as book:
            book.renew_late_penalty("s01")
            book.renew_late_penalty("nobody")
        assert expected == penalty(toy)


def test_a_late_penalty_takes_no_more_than_was_earned(
    toy: Assignment, outcome: Outcome, handed_in: HandedIn, tmp_path: Path
) -> None:
    submitted = hand_in_late(toy, tmp_path, "2026-07-01 12:00:00 UTC")
    with Gradebook(toy) as book:
        book.record(outcome(score=1.25), handed_in(), submitted)
    assert penalty(toy) == 1.25


@pytest.mark.parametrize("timestamp", ["", "soon", "\xff", "99999999999999999999", "2026-13-45", "x" * 300])
def test_a_timestamp_that_says_nothing_is_no_timestamp(
    toy: Assignment, outcome: Outcome, handed_in: HandedIn, tmp_path: Path, timestamp: str
) -> None:
    (tmp_path / "timestamp.txt").write_bytes(timestamp.encode("latin-1"))
    with Gradebook(toy) as book:
        book.record(outcome(), handed_in(), tmp_path)
    with nbgrader(toy) as opened:
        assert opened.find_submission("toy", "s01").timestamp is None
