import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from nbgrader.api import Gradebook as NbgraderGradebook

from autograder.assignments.catalog import Assignment, load_assignment
from autograder.errors import CourseError
from autograder.gradebook import opening
from autograder.gradebook.book import Gradebook


def change_source(course: Path, change: Callable[[list[dict[str, Any]]], None]) -> Assignment:
    """Edit the source notebook's cells and load the assignment anew."""
    path = course / "source/toy/toy.ipynb"
    content = json.loads(path.read_text())
    change(content["cells"])
    path.write_text(json.dumps(content))
    return load_assignment(course, "toy")


def max_score(course: Path) -> float:
    with NbgraderGradebook(f"sqlite:///{course}/gradebook.db", "") as book:
        return float(book.find_assignment("toy").max_score)


def test_a_missing_gradebook_is_made_without_touching_any_release(graded_course: Path) -> None:
    assert max_score(graded_course) == 5.0
    names = {path.name for path in graded_course.iterdir()}
    assert names == {".autograder", "autograder", "gradebook.db", "solutions", "source"}
    released = graded_course / ".autograder/toy/released"
    assert {"toy.ipynb", "fingerprint"} == {path.name for path in released.iterdir()}
    assert "return two" not in (released / "toy.ipynb").read_text()
    assert {"answers", "released"} == {path.name for path in (graded_course / ".autograder/toy").iterdir()}


def test_a_gradebook_that_fits_is_opened_without_asking_nbgrader(
    toy: Assignment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "run_nbgrader", lambda *_: pytest.fail("nbgrader was run"))
    with Gradebook(toy):
        pass


def test_changed_points_are_brought_over(course: Path, outcome: Any, handed_in: Any) -> None:
    with Gradebook(load_assignment(course, "toy")) as book:
        book.record(outcome(), handed_in())
    toy = change_source(course, lambda cells: cells[3]["metadata"]["nbgrader"].update(points=7))
    with Gradebook(toy) as book:
        assert book.complete(outcome()).max_score == 9.0
    assert max_score(course) == 9.0


def test_an_exercise_that_is_worth_nothing_is_recorded_like_others(
    course: Path, outcome: Any, handed_in: Any
) -> None:
    toy = change_source(course, lambda cells: cells[3]["metadata"]["nbgrader"].update(points=0))
    with Gradebook(toy) as book:
        assert 0.0 == book.record(outcome(score=0.0), handed_in()).score
        assert book.is_recorded(outcome(score=0.0))
    assert max_score(course) == 2.0


def test_cells_may_be_added_and_removed_though_submissions_exist(
    course: Path, build: Any, outcome: Any, handed_in: Any
) -> None:
    with Gradebook(load_assignment(course, "toy")) as book:
        book.record(outcome(), handed_in())

    def exchange(cells: list[dict[str, Any]]) -> None:
        cells[5] = build.question("why_not", 4)

    with Gradebook(change_source(course, exchange)) as book:
        result = book.record(outcome(), handed_in())
    assert ["double", "why_not"] == [row.name for row in result.exercises]
    assert max_score(course) == 7.0


def test_what_people_gave_is_never_thrown_away(course: Path, outcome: Any, handed_in: Any) -> None:
    with Gradebook(load_assignment(course, "toy")) as book:
        book.record(outcome(), handed_in())
    with NbgraderGradebook(f"sqlite:///{course}/gradebook.db", "") as opened:
        opened.find_grade("why", "toy", "toy", "s01").manual_score = 1.0
        opened.db.commit()
    with pytest.raises(CourseError, match=r"'why' is no longer in the source.*'s01' for one"):
        Gradebook(change_source(course, lambda cells: cells.pop(5) and None)).__enter__()
    assert max_score(course) == 5.0


def test_a_lost_release_is_made_again(toy: Assignment, outcome: Any, handed_in: Any) -> None:
    (toy.course / ".autograder/toy/released/toy.ipynb").unlink()
    with Gradebook(toy) as book:
        book.record(outcome(), handed_in())


def test_a_source_that_nbgrader_refuses_is_said_in_its_words(course: Path) -> None:
    def unfinished(cells: list[dict[str, Any]]) -> None:
        cells[2]["source"] = "### BEGIN SOLUTION\n1"

    with pytest.raises(CourseError, match=r"(?i)no end solution statement found"):
        Gradebook(change_source(course, unfinished)).__enter__()


def test_the_gradebook_lies_where_the_configuration_says(toy: Assignment, outcome: Any) -> None:
    (toy.course / "gradebook.db").rename(toy.course / "grades.db")
    (toy.course / "nbgrader_config.py").write_text("c.CourseDirectory.db_url = 'sqlite:///grades.db'\n")
    (toy.course / ".autograder/toy/released/fingerprint").write_text(opening._fingerprint(toy))
    with Gradebook(toy) as book:
        assert not book.is_recorded(outcome())
    assert not (toy.course / "gradebook.db").exists()


def test_a_configuration_that_does_not_load_is_named(toy: Assignment) -> None:
    (toy.course / "nbgrader_config.py").write_text("1 / 0")
    with pytest.raises(CourseError, match=r"nbgrader_config\.py cannot be loaded: division by zero"):
        Gradebook(toy)
