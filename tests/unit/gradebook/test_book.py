"""These tests read back what was recorded through nbgrader's own API."""

import json
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import nbformat
import pytest
from nbgrader.api import Gradebook as NbgraderGradebook

from autograder.assignments.catalog import Assignment
from autograder.errors import CourseError
from autograder.gradebook.book import Gradebook, Standing
from autograder.gradebook.marking import NO_RESPONSE
from autograder.model import Status, SubmissionResult

Outcome = Callable[..., SubmissionResult]
HandedIn = Callable[..., Any]


@contextmanager
def nbgrader(toy: Assignment) -> Iterator[Any]:
    with NbgraderGradebook(f"sqlite:///{toy.course}/gradebook.db", "") as book:
        yield book


def grade(toy: Assignment, cell: str, student: str = "s01") -> tuple[float | None, float | None, bool]:
    """A grade's automatic score, manual score, and whether it waits for a person."""
    with nbgrader(toy) as book:
        found = book.find_grade(cell, "toy", "toy", student)
        return found.auto_score, found.manual_score, found.needs_manual_grade


def grade_by_hand(toy: Assignment, cell: str, score: float, student: str = "s01") -> None:
    """What formgrader does when a person enters a score."""
    with nbgrader(toy) as book:
        found = book.find_grade(cell, "toy", "toy", student)
        found.manual_score = score
        found.needs_manual_grade = False
        book.db.commit()


def comment(toy: Assignment, cell: str) -> tuple[str | None, str | None]:
    with nbgrader(toy) as book:
        found = book.find_comment(cell, "toy", "toy", "s01")
        return found.auto_comment, found.manual_comment


def test_a_submission_is_recorded_with_student_scores_and_notebook(
    toy: Assignment, outcome: Outcome, handed_in: HandedIn
) -> None:
    with Gradebook(toy) as book:
        result = book.record(outcome(), handed_in())
    assert grade(toy, "test_double") == (3.0, None, False)
    assert grade(toy, "why") == (None, None, True)
    assert ["double", "why"] == [row.name for row in result.exercises]
    assert [(3.0, False), (None, True)] == [(row.score, row.waits) for row in result.exercises]
    assert (3.0, 5.0) == (result.score, result.max_score)
    with nbgrader(toy) as opened:
        submission = opened.find_submission("toy", "s01")
        assert (3.0, 5.0, True) == (submission.score, submission.max_score, submission.needs_manual_grade)
        assert not submission.notebooks[0].failed_tests
    nbformat.validate(nbformat.read(toy.course / "autograded/s01/toy/toy.ipynb", as_version=4))


def test_partial_credit_counts_as_failed_tests_in_formgrader(
    toy: Assignment, outcome: Outcome, handed_in: HandedIn
) -> None:
    with Gradebook(toy) as book:
        book.record(outcome(score=1.25), handed_in())
    with nbgrader(toy) as opened:
        assert opened.find_submission_notebook("toy", "toy", "s01").failed_tests
        assert opened.find_submission("toy", "s01").score == 1.25


def test_what_is_untouched_is_marked_as_no_response_and_needs_nobody(
    toy: Assignment, outcome: Outcome, handed_in: HandedIn
) -> None:
    released = nbformat.read(toy.course / ".autograder/toy/released/toy.ipynb", as_version=4)
    with Gradebook(toy) as book:
        result = book.record(outcome(score=0.0), handed_in(released.cells[2].source, "YOUR ANSWER HERE"))
    assert grade(toy, "why") == (0.0, None, False)
    assert comment(toy, "why") == comment(toy, "double") == (NO_RESPONSE, None)
    assert (0.0, False) == (result.exercises[1].score, result.exercises[1].waits)
    with Gradebook(toy) as book:
        book.record(outcome(score=0.0), handed_in(answer="Now I know."))
    assert grade(toy, "why") == (None, None, True)
    assert comment(toy, "why") == comment(toy, "double") == (None, None)


def test_manual_scores_and_comments_survive_a_regrade(
    toy: Assignment, outcome: Outcome, handed_in: HandedIn
) -> None:
    with Gradebook(toy) as book:
        book.record(outcome(), handed_in())
    grade_by_hand(toy, "why", 1.5)
    with nbgrader(toy) as opened:
        opened.find_comment("why", "toy", "toy", "s01").manual_comment = "Nearly."
        opened.find_grade("why", "toy", "toy", "s01").extra_credit = 0.25
        opened.db.commit()
    with Gradebook(toy) as book:
        result = book.record(outcome(score=2.0), handed_in())
    assert grade(toy, "why") == (None, 1.5, False)
    assert comment(toy, "why") == (None, "Nearly.")
    assert [2.0, 1.75] == [row.score for row in result.exercises]
    assert result.score == 3.75


def test_an_answer_keeps_its_state_though_nbgrader_removed_its_autograded_notebook(
    toy: Assignment, outcome: Outcome, handed_in: HandedIn
) -> None:
    with Gradebook(toy) as book:
        book.record(outcome(), handed_in())
        grade_by_hand(toy, "why", 1.5)
        shutil.rmtree(toy.course / "autograded/s01")
        book.record(outcome(), handed_in())
        assert grade(toy, "why") == (None, 1.5, False)
        shutil.rmtree(toy.course / "autograded/s01")
        book.record(outcome(), handed_in(answer="Another."))
    assert grade(toy, "why") == (None, 1.5, True)


def test_a_fault_of_ours_in_between_does_not_make_an_answer_look_changed(
    toy: Assignment, outcome: Outcome, handed_in: HandedIn
) -> None:
    with Gradebook(toy) as book:
        book.record(outcome(), handed_in())
        grade_by_hand(toy, "why", 1.5)
        book.record(outcome(score=None), {})
        assert grade(toy, "why") == (None, 1.5, False)
        book.record(outcome(), handed_in())
    assert grade(toy, "why") == (None, 1.5, False)


def test_an_answer_that_changed_is_shown_to_a_person_again(
    toy: Assignment, outcome: Outcome, handed_in: HandedIn
) -> None:
    with Gradebook(toy) as book:
        book.record(outcome(), handed_in(answer="First."))
        grade_by_hand(toy, "why", 1.5)
        book.record(outcome(), handed_in(answer="Second."))
    assert grade(toy, "why") == (None, 1.5, True)


def test_an_override_of_an_exercise_is_shown_again_only_once_our_score_changed(
    toy: Assignment, outcome: Outcome, handed_in: HandedIn
) -> None:
    with Gradebook(toy) as book:
        book.record(outcome(score=1.0), handed_in())
        grade_by_hand(toy, "test_double", 2.5)
        same = book.record(outcome(score=1.0), handed_in())
        assert grade(toy, "test_double") == (1.0, 2.5, False)
        assert (2.5, False) == (same.exercises[0].score, same.exercises[0].waits)
        assert book.record(outcome(score=3.0), handed_in()).exercises[0].waits
    assert grade(toy, "test_double") == (3.0, 2.5, True)


def test_a_malformed_submission_earns_0_and_shows_why(toy: Assignment, outcome: Outcome) -> None:
    with Gradebook(toy) as book:
        result = book.record(
            outcome(score=0.0, status=Status.MALFORMED, reason="It is a zip archive."), {}, None
        )
    assert grade(toy, "test_double") == (0.0, None, False)
    assert grade(toy, "why") == (0.0, None, False)
    assert comment(toy, "double") == (None, None)
    assert (0.0, [0.0, 0.0]) == (result.score, [row.score for row in result.exercises])
    assert not any(row.waits for row in result.exercises)
    page = nbformat.read(toy.course / "autograded/s01/toy/toy.ipynb", as_version=4)
    assert page.cells[0].source == "**It is a zip archive.**"


def test_a_fault_of_ours_is_never_a_zero_and_calls_for_a_person(
    toy: Assignment, outcome: Outcome, handed_in: HandedIn
) -> None:
    with Gradebook(toy) as book:
        book.record(outcome(), handed_in())
        result = book.record(outcome(score=None), handed_in())
        assert grade(toy, "test_double") == (None, None, True)
        assert (None, None) == (result.score, result.exercises[0].score)
        book.record(outcome(score=None), {})
    assert grade(toy, "test_double") == grade(toy, "why") == (None, None, True)


def test_recording_is_all_or_nothing(
    toy: Assignment, outcome: Outcome, handed_in: HandedIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Gradebook(toy) as book:
        book.record(outcome(score=1.0), handed_in())
        monkeypatch.setattr("autograder.gradebook.book.apply_late_penalty", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            book.record(outcome(score=3.0), handed_in(answer="Second."))
        with pytest.raises(ZeroDivisionError):
            book.record(outcome("s02"), handed_in())
        monkeypatch.undo()
        assert grade(toy, "test_double") == (1.0, None, False)
        assert not book.is_recorded(outcome("s02"))
        book.record(outcome("s02"), handed_in())
        assert book.is_recorded(outcome("s02"))


def test_a_locked_gradebook_is_said_in_words_and_can_be_used_again_later(
    toy: Assignment, outcome: Outcome, handed_in: HandedIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Gradebook(toy) as book:
        book.record(outcome(score=1.0), handed_in())
        book._book.db.connection().exec_driver_sql("PRAGMA busy_timeout = 10")
        book._book.db.commit()
        other = sqlite3.connect(toy.course / "gradebook.db", isolation_level=None)
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(CourseError, match=r"locked.*Another program is writing"):
            book.record(outcome(score=3.0), handed_in())
        other.execute("ROLLBACK")
        other.close()
        book.record(outcome(score=3.0), handed_in())
    assert grade(toy, "test_double") == (3.0, None, False)


def test_a_file_that_is_no_gradebook_is_said_in_words(toy: Assignment) -> None:
    (toy.course / "gradebook.db").write_text("not a database, but long enough to be looked at as one" * 100)
    with pytest.raises(CourseError, match=r"gradebook\.db cannot be used: .*not a database"):
        Gradebook(toy).__enter__()


def test_a_submission_counts_as_recorded_only_with_its_autograded_notebook(
    toy: Assignment, outcome: Outcome, handed_in: HandedIn
) -> None:
    page = toy.course / "autograded/s01/toy/toy.ipynb"
    with Gradebook(toy) as book:
        assert not book.is_recorded(outcome())
        book.record(outcome(), handed_in())
        assert book.is_recorded(outcome())
        page.chmod(0o644)
        page.write_text(json.dumps(json.loads(page.read_text()) | {"metadata": {}}))
        assert not book.is_recorded(outcome())
        page.unlink()
        assert not book.is_recorded(outcome())


def test_a_submission_whose_scores_nbgrader_overwrote_no_longer_counts_as_recorded(
    toy: Assignment, outcome: Outcome, handed_in: HandedIn
) -> None:
    with Gradebook(toy) as book:
        book.record(outcome(), handed_in())
    grade_by_hand(toy, "test_double", 1.0)
    with Gradebook(toy) as book:
        assert book.is_recorded(outcome())
    with nbgrader(toy) as opened:
        opened.find_grade("test_double", "toy", "toy", "s01").auto_score = 0.0
        opened.db.commit()
    with Gradebook(toy) as book:
        assert not book.is_recorded(outcome())


def test_the_standing_of_a_submission_is_what_nbgrader_counts(
    toy: Assignment, outcome: Outcome, handed_in: HandedIn
) -> None:
    with Gradebook(toy) as book:
        assert book.standing("s01") is None
        book.record(outcome(score=1.5), handed_in())
        assert book.standing("s01") == Standing(1.5, {"double": 1.5, "why": None})
    grade_by_hand(toy, "why", 2.0)
    with nbgrader(toy) as opened:
        opened.find_grade("test_double", "toy", "toy", "s01").extra_credit = 0.5
        opened.db.commit()
    with Gradebook(toy) as book:
        assert book.standing("s01") == Standing(4.0, {"double": 2.0, "why": 2.0})
        book.record(outcome(score=None), handed_in())
        assert book.standing("s01") == Standing(None, {"double": None, "why": 2.0})


@pytest.mark.parametrize(
    "student", ["-rf", "Zoë Ångström", "a b", "{student_id}", "%s", "*", "名前", "o'hara"]
)
def test_student_names_of_any_shape_are_recorded(
    toy: Assignment, outcome: Outcome, handed_in: HandedIn, student: str
) -> None:
    with Gradebook(toy) as book:
        book.record(outcome(student), handed_in())
        assert book.is_recorded(outcome(student))
    assert grade(toy, "test_double", student) == (3.0, None, False)
    assert (toy.course / "autograded" / student / "toy" / "toy.ipynb").is_file()


@pytest.mark.parametrize(
    "student", ["", "..", "../x", "a\0b", "caf\udce9", "<img src=x onerror=alert(1)>", 'x";alert(1);"']
)
def test_names_that_no_folder_database_or_page_holds_are_refused(
    toy: Assignment, outcome: Outcome, handed_in: HandedIn, student: str
) -> None:
    with Gradebook(toy) as book, pytest.raises(CourseError, match="A student cannot be called"):
        book.record(outcome(student), handed_in())
