import json
from pathlib import Path
from typing import Any

import pytest

from autograder.errors import CourseError
from autograder.notebooks.source import Exercise, Question, SourceNotebook, read_source, read_source_folder


def write(path: Path, build: Any, *cells: dict[str, Any]) -> Path:
    path.write_bytes(build.bytes(*cells))
    return path


def read(tmp_path: Path, build: Any, *cells: dict[str, Any]) -> SourceNotebook:
    return read_source(write(tmp_path / "lab.ipynb", build, *cells))


def test_exercises_and_questions_are_found_in_the_order_of_the_notebook(tmp_path: Path, build: Any) -> None:
    notebook = read(
        tmp_path,
        build,
        build.markdown("# A"),
        build.solution("f", "def f(): pass"),
        build.question("why", 2),
        build.test("f", 3),
        build.markdown("do it", "work", task=True, points=1.5),
        build.solution("g", "def g(): pass"),
        build.test("g", 0),
    )
    assert notebook.name == "lab"
    assert notebook.exercises == (Exercise("f", "test_f", 3.0, 1, 3), Exercise("g", "test_g", 0.0, 5, 6))
    assert notebook.questions == (Question("why", 2.0, 2), Question("work", 1.5, 4))
    assert ["why", "f", "work", "g"] == [one.name for one in notebook.graded]
    assert notebook.test_ids == {"test_f", "test_g"}


def test_hidden_regions_are_cut_out_of_what_students_see(tmp_path: Path, build: Any) -> None:
    text = "a\n### BEGIN HIDDEN TESTS\nsecret\n### END HIDDEN TESTS\nb"
    notebook = read(tmp_path, build, build.solution("f", ""), build.test("f", 1, text))
    assert notebook.cells[1].visible_source == "a\nb"


def test_a_locked_cell_that_is_not_graded_is_read_only(tmp_path: Path, build: Any) -> None:
    cells = [build.code("x", "setup", locked=True), build.solution("f", ""), build.test("f")]
    assert [True, False, False] == [cell.is_read_only for cell in read(tmp_path, build, *cells).cells]


def test_marks_without_a_flag_are_no_marks(tmp_path: Path, build: Any) -> None:
    notebook = read(tmp_path, build, build.code("x", "plain"), build.solution("f", ""), build.test("f"))
    assert notebook.cells[0].grade_id is None
    assert notebook.cell("plain") is None
    assert notebook.cell("f") == notebook.cells[1]


MALFORMED = {
    "has no test cell.*'test_f'": lambda build: [build.solution("f", "")],
    "belongs to no solution cell": lambda build: [build.test("g")],
    "must be a code cell that stands after": lambda build: [build.test("f"), build.solution("f", "")],
    "cells 1 and 2 share the grade id 'f'": lambda build: [build.solution("f", "")] * 2,
    "cell 1: it is marked for nbgrader but has no grade id": lambda build: [build.solution("", "")],
    "must be a number, not 'three'": lambda build: [build.test("f", "three")],
    "must be a number, not True": lambda build: [build.test("f", True)],
    "must be a number, not None": lambda build: [build.test("f", None)],
    "finite and not negative, not nan": lambda build: [build.test("f", float("nan"))],
    "finite and not negative, not inf": lambda build: [build.test("f", float("inf"))],
    "finite and not negative, not -1": lambda build: [build.test("f", -1)],
    "grade id is the name of the function": lambda build: [build.solution("my-function", "")],
}


@pytest.mark.parametrize("sentence", MALFORMED)
def test_a_malformed_source_is_refused_in_words_with_the_file_name(
    tmp_path: Path, build: Any, sentence: str
) -> None:
    with pytest.raises(CourseError, match=rf"(?s)lab\.ipynb.*{sentence}"):
        read(tmp_path, build, *MALFORMED[sentence](build))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{", "is no notebook"),
        ("[]", "no notebook of format 4"),
        (json.dumps({"nbformat": 3}), "no notebook of format 4"),
        (json.dumps({"nbformat": 4, "cells": [7]}), "no list of cells"),
        ("[" * 100_000, "is no notebook"),
    ],
)
def test_a_source_that_is_no_notebook_is_refused_in_words(tmp_path: Path, text: str, sentence: str) -> None:
    (tmp_path / "lab.ipynb").write_text(text)
    with pytest.raises(CourseError, match=sentence):
        read_source(tmp_path / "lab.ipynb")


def test_a_folder_may_hold_several_notebooks(tmp_path: Path, build: Any) -> None:
    write(tmp_path / "b.ipynb", build, build.question("why"))
    write(tmp_path / "a.ipynb", build, build.solution("f", ""), build.test("f"))
    assert ["a", "b"] == [notebook.name for notebook in read_source_folder(tmp_path)]


def test_names_are_unique_across_the_notebooks_of_a_folder(tmp_path: Path, build: Any) -> None:
    for name in ("a", "b"):
        write(tmp_path / f"{name}.ipynb", build, build.solution("f", ""), build.test("f"))
    with pytest.raises(CourseError, match="2 notebooks use the grade id 'f'"):
        read_source_folder(tmp_path)


def test_a_folder_without_notebook_or_exercise_is_refused(tmp_path: Path, build: Any) -> None:
    with pytest.raises(CourseError, match="holds no notebook"):
        read_source_folder(tmp_path)
    write(tmp_path / "a.ipynb", build, build.question("why"))
    with pytest.raises(CourseError, match="no notebook holds an exercise"):
        read_source_folder(tmp_path)
