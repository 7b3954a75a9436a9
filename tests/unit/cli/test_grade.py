from typing import Any

import pytest

from autograder.cli.grade import report_faults, summary
from autograder.gradebook.book import Standing
from autograder.model import ExerciseResult, Status, SubmissionResult
from autograder.usecases.grade import Entry


def entry(student: str = "ada", score: float | None = 3.0, **more: Any) -> Entry:
    status = Status.JUDGE_ERROR if score is None else Status.GRADED
    reason = more.pop("reason", None)
    rows = (ExerciseResult("double", score, 3.0),)
    return Entry(SubmissionResult(student, score, 3.0, status, reason, exercises=rows), **more)


def standing(score: float | None) -> Standing:
    return Standing(score, {"double": score})


def test_the_summary_counts_what_was_done() -> None:
    entries = [entry(), entry("bob", skipped=True), entry("eve", skipped=True), entry("zoe", None)]
    assert "1 graded, 2 unchanged since their last grading." == summary(entries[:3])
    assert "1 graded, 2 unchanged since their last grading, 1 without a score." == summary(entries)


def test_the_summary_names_what_changed() -> None:
    entries = [entry(before=standing(2.25)), entry("bob", before=standing(3.0)), entry("e\x1b[m", 1 / 3)]
    entries.append(entry("\x1bzoe", None, before=standing(1.0)))
    assert [
        "Changed since the last grading:",
        "  ada: 2.25 → 3 (double 2.25 → 3)",
        "  \ufffdzoe: 1 → no score (double 1 → no score)",
    ] == summary(entries).splitlines()[1:]


def test_where_all_is_well_nothing_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == report_faults([entry(), entry("bob", skipped=True)])
    assert ("", "") == capsys.readouterr()


def test_a_fault_is_named_with_its_trace_and_gives_the_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    faults = [
        entry("a\nda", None, reason="The worker\x1b was lost.", trace="Traceback: a\n"),
        entry("bob", None, reason="Rename it."),
    ]
    assert 4 == report_faults([*faults, entry("eve")])
    assert (
        "autograder: a\ufffdda has no score: The worker\ufffd was lost.\n"
        "Traceback: a\n"
        "autograder: bob has no score: Rename it.\n"
    ) == capsys.readouterr().err


def test_a_fault_that_cost_no_points_is_told_and_changes_no_exit_code(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert 0 == report_faults([entry(trace="Traceback: a\n")])
    expected = "autograder: ada has a score, but no diagnosis of what is wrong\nTraceback: a\n"
    assert expected == capsys.readouterr().err
