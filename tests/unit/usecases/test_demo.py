import json
from pathlib import Path
from typing import Any

import pytest

from autograder.assignments.catalog import Assignment, load_assignment
from autograder.checking.simulated import SimulatedStudent
from autograder.errors import CourseError
from autograder.usecases.demo import build_course, hand_in, run_demo, simulated_class


@pytest.fixture
def toy(toy_course: Path) -> Assignment:
    return load_assignment(toy_course, "toy")


@pytest.fixture
def released(build: Any) -> dict[str, Any]:
    cells = [build.solution("double", "..."), build.test("double", 3), build.question("why", 2, "")]
    notebook: dict[str, Any] = build.notebook(*cells)
    return notebook


def handed_in(toy: Assignment, student: SimulatedStudent, released: dict[str, Any]) -> Path:
    hand_in(toy, student, released)
    (path,) = (toy.course / "submitted" / student.id / "toy").iterdir()
    return path


def sources(path: Path) -> list[str]:
    return [cell["source"] for cell in json.loads(path.read_text())["cells"]]


def test_a_student_who_does_nothing_hands_in_what_was_handed_out(
    toy: Assignment, released: dict[str, Any]
) -> None:
    path = handed_in(toy, SimulatedStudent("ada", "nothing"), released)
    assert "toy.ipynb" == path.name
    assert released == json.loads(path.read_text())


def test_cells_are_filled_in_added_and_deleted(toy: Assignment, released: dict[str, Any]) -> None:
    student = SimulatedStudent(
        "ada",
        "a lot",
        {"double": "def double(x): ...", "why": "Because."},
        deleted=("test_double",),
        extra_cells=("1 + 1", "2 + 2"),
        file_name="toy (2).ipynb",
    )
    path = handed_in(toy, student, released)
    assert "toy (2).ipynb" == path.name
    assert ["def double(x): ...", "Because.", "1 + 1", "2 + 2"] == sources(path)


def test_a_whole_notebook_can_be_deleted(toy: Assignment, released: dict[str, Any]) -> None:
    path = handed_in(toy, SimulatedStudent("ada", "empty", deleted=("*",)), released)
    assert b"" == path.read_bytes()


def test_the_class_of_multihead_has_all_sorts() -> None:
    students = simulated_class("multihead")
    assert 12 <= len(students) == len({student.id for student in students})
    assert all(student.story for student in students)


def test_an_assignment_without_a_class_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    with pytest.raises(CourseError, match=r"no demonstration of 'multihed'\. Did you mean 'multihead'"):
        run_demo("multihed", tmp_path / "demo", NotImplemented, NotImplemented)
    assert [] == list(tmp_path.iterdir())


def test_a_course_is_built_in_a_new_or_an_empty_folder(tmp_path: Path) -> None:
    for folder in (tmp_path / "new" / "course", tmp_path / "empty"):
        (tmp_path / "empty").mkdir(exist_ok=True)
        build_course(folder)
        assert "multihead" == load_assignment(folder, "multihead").name
        assert {"source", "solutions", "nbgrader_config.py", "limits.toml"} == {
            path.name for path in folder.iterdir()
        }
        assert not list(folder.rglob("__pycache__"))
        with pytest.raises(CourseError, match="is not empty"):
            build_course(folder)


def test_a_folder_that_cannot_be_made_is_said_in_words(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(CourseError, match="cannot be made: Not a directory"):
        build_course(tmp_path / "file" / "course")
