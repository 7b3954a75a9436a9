import os
from contextlib import ExitStack
from pathlib import Path
from typing import Any, cast

import pytest

from autograder.assignments.catalog import load_assignment
from autograder.assignments.private import grading_lock
from autograder.errors import CourseError
from autograder.gradebook.configuration import CourseConfiguration
from autograder.model import Status, SubmissionResult
from autograder.nbgrader_plugin import grading_process
from autograder.nbgrader_plugin.grading_process import Course, _answer, _grade, _lines, _open
from autograder.usecases.grade import Entry


def test_requests_are_read_line_by_line_until_the_parent_is_gone() -> None:
    reader, writer = os.pipe()
    os.write(writer, b'{"student": "a"}\n{"student": "b"}\n')
    os.close(writer)
    with os.fdopen(reader, "rb", buffering=0) as stream:
        assert [{"student": "a"}, {"student": "b"}] == list(_lines(stream))


def test_a_parent_that_asks_no_more_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grading_process, "IDLE_SECONDS", 0.05)
    reader, writer = os.pipe()
    os.write(writer, b'{"student": "a"}\n')
    with os.fdopen(reader, "rb", buffering=0) as stream:
        assert [{"student": "a"}] == list(_lines(stream))
    os.close(writer)


def test_a_source_that_lies_elsewhere_is_refused(toy_course: Path) -> None:
    order = {"course": str(toy_course), "assignment": "toy", "directory": {"source_directory": "originals"}}
    with (
        ExitStack() as stack,
        pytest.raises(CourseError, match=r"source/toy, but nbgrader has it in .*originals"),
    ):
        _open(order, stack)


def test_a_submission_that_we_failed_on_altogether_is_a_fault_not_a_result() -> None:
    result = SubmissionResult("s01", None, 5.0, Status.JUDGE_ERROR, "The grading program failed.")
    told = _answer(Entry(result, trace="line 7"))
    assert ("judge_error", None, "line 7") == (told["status"], told["score"], told["trace"])
    assert {"fault": "The grading program failed.", "trace": "line 7"} == _answer(
        Entry(result, trace="line 7", recorded=False)
    )


def test_another_grader_is_waited_for_and_then_named(
    toy_course: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grading_process, "LOCK_SECONDS", 0.05)
    assignment = load_assignment(toy_course, "toy")
    course = Course(assignment, CourseConfiguration(toy_course), cast(Any, None), sandboxed=True)
    with grading_lock(toy_course), pytest.raises(CourseError, match="Another grader is at work"):
        _grade(course, "s01")
