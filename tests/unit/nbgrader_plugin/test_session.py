import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from nbgrader.coursedir import CourseDirectory

from autograder.errors import JudgeError
from autograder.gradebook.ungraded import REASON
from autograder.nbgrader_plugin import session as session_module
from autograder.nbgrader_plugin.grader import Answer
from autograder.nbgrader_plugin.session import Session

GRADED = Answer("graded", 2.5, 3.0, None, (), None)
LOG = logging.getLogger("nbgrader of the test")


class FakeGrader:
    """Stands in for the grading process: writes a page a notebook, counts, and answers as it was told."""

    asked: list[tuple[str, str]]
    closed: int

    def __init__(self, course: Path, assignment: str, directory: dict[str, str], *, unsafe: bool) -> None:
        assert not unsafe
        self.course = course
        self.assignment = assignment
        self.directory = directory

    answer: Answer | Exception = GRADED

    def grade(self, student: str) -> Answer:
        FakeGrader.asked.append((student, self.assignment))
        if isinstance(self.answer, Exception):
            raise self.answer
        folder = self.course / "autograded" / student / self.assignment
        folder.mkdir(parents=True)
        for name in ("first", "second"):
            page = folder / f"{name}.ipynb"
            page.write_text(json.dumps({"cells": [], "name": name, "directory": self.directory}))
            page.chmod(0o444)
        return self.answer

    def close(self) -> None:
        FakeGrader.closed += 1


@pytest.fixture
def marked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """The calls of ``mark_ungraded``, with the fake grader in place."""
    calls: list[tuple[Any, ...]] = []
    monkeypatch.setattr(session_module, "Grader", FakeGrader)
    monkeypatch.setattr(session_module, "mark_ungraded", lambda *words: calls.append(words))
    FakeGrader.asked, FakeGrader.closed, FakeGrader.answer = [], 0, GRADED
    return calls


@pytest.fixture
def make(tmp_path: Path) -> Callable[[], Session]:
    return lambda: Session(CourseDirectory(root=str(tmp_path)))


def test_a_submission_is_graded_once_however_often_its_notebooks_are_asked_for(
    make: Callable[[], Session], marked: list[Any], tmp_path: Path
) -> None:
    session = make()
    pages = [session.page("s01", "toy", name, LOG) for name in ("first", "first", "second", "second")]
    assert ["first", "first", "second", "second"] == [page["name"] for page in pages]
    assert f"sqlite:///{tmp_path}/gradebook.db" == pages[0]["directory"]["db_url"]
    session.page("s02", "toy", "first", LOG)
    session.page("s02", "other", "first", LOG)
    assert [("s01", "toy"), ("s02", "toy"), ("s02", "other")] == FakeGrader.asked
    assert [] == marked
    session.close()
    assert 2 == FakeGrader.closed


def test_nbgrader_can_write_the_pages_once_more(
    make: Callable[[], Session], marked: list[Any], tmp_path: Path
) -> None:
    make().page("s01", "toy", "first", LOG)
    modes = {path.stat().st_mode & 0o777 for path in (tmp_path / "autograded/s01/toy").iterdir()}
    assert {0o644} == modes


@pytest.mark.parametrize(
    "error", [JudgeError("The grading process ended."), RuntimeError("Who could have known?")]
)
def test_a_failure_is_loud_in_log_page_and_gradebook_and_is_not_tried_again(
    make: Callable[[], Session],
    marked: list[Any],
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    error: Exception,
) -> None:
    FakeGrader.answer = error
    session = make()
    first, again = session.page("s01", "toy", "first", LOG), session.page("s01", "toy", "first", LOG)
    assert first == again
    assert [f"**{REASON}**"] == [cell["source"] for cell in first["cells"]]
    assert [(f"sqlite:///{tmp_path}/gradebook.db", "", "toy", "s01")] == marked
    assert "autograder: s01 has no score" in caplog.text
    assert str(error) in caplog.text
    assert [("s01", "toy")] == FakeGrader.asked


def test_a_gradebook_that_cannot_say_it_either_is_told_too(
    make: Callable[[], Session],
    marked: list[Any],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def refuse(*words: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(session_module, "mark_ungraded", refuse)
    FakeGrader.answer = JudgeError("The grading process ended.")
    page = make().page("s01", "toy", "first", LOG)
    assert [f"**{REASON}**"] == [cell["source"] for cell in page["cells"]]
    assert "nor can the gradebook say that s01 has no score" in caplog.text
    assert "disk full" in caplog.text


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (GRADED, ["autograder: s01 has 2.5 of 3 points"]),
        (
            Answer("graded", 3.0, 3.0, None, ("A cell is missing.",), None),
            ["autograder: s01 has 3 of 3 points", "autograder: s01: A cell is missing."],
        ),
        (
            Answer("malformed", 0.0, 3.0, "It is a zip archive.", (), None),
            ["autograder: s01 has 0 of 3 points", "autograder: s01: It is a zip archive."],
        ),
        (
            Answer("judge_error", None, 3.0, "A check failed.", (), "line 7"),
            ["autograder: s01 has no score: A check failed.", "line 7"],
        ),
    ],
)
def test_the_log_says_what_everybody_got(
    make: Callable[[], Session],
    marked: list[Any],
    caplog: pytest.LogCaptureFixture,
    answer: Answer,
    said: list[str],
) -> None:
    FakeGrader.answer = answer
    with caplog.at_level(logging.INFO):
        make().page("s01", "toy", "first", LOG)
    assert said == caplog.messages
