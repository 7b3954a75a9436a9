"""What `nbgrader autograde` comes to where the course is broken or a check fails: no score, and loud."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import nbformat
import pytest

from autograder.gradebook.ungraded import REASON

pytestmark = pytest.mark.functional

Run = Callable[..., CompletedProcess[str]]

DOUBLE, TRIPLE = "def double(x):\n    return 2 * x", "def triple(x):\n    return 3 * x"
CHECKS = "autograder/assignments/pair/checks.py"


@pytest.fixture(scope="module")
def graded(run: Run, make_pair: Callable[..., Path], gradebook: Any) -> Path:
    """A course in which two students are graded and a person gave one of them points."""
    notebooks = {"first": (DOUBLE, "Twice."), "second": (TRIPLE, "Thrice.")}
    course = make_pair({"ada": notebooks, "bob": notebooks})
    assert 0 == run(course, "autograder", "grade", "pair").returncode
    with gradebook(course) as book:
        grade = book.find_grade("why", "first", "pair", "ada")
        grade.manual_score, grade.needs_manual_grade = 1.5, False
        book.db.commit()
    return course


@pytest.fixture
def course(graded: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(graded, tmp_path / "course"))


def top_of(course: Path, notebook: str) -> str:
    page = nbformat.read(course / f"autograded/ada/pair/{notebook}.ipynb", as_version=4)
    nbformat.validate(page)
    return str(page.cells[0].source)


def test_a_course_that_does_not_load_leaves_no_score_and_is_loud(course: Path, run: Run, rows: Any) -> None:
    before = rows(course, "pair")
    checks = (course / CHECKS).read_text()
    (course / CHECKS).write_text("checks = 1 / 0\n")
    done = run(course, "nbgrader", "autograde", "pair", "--force", "--student=ada")
    assert 0 == done.returncode, done.stderr
    assert "autograder: ada has no score: " in done.stderr
    assert "checks.py cannot be loaded: ZeroDivisionError: division by zero" in done.stderr
    after = rows(course, "pair")
    changed = {key: after[key] for key in after if after[key] != before[key]}
    assert {
        ("ada", "first", "test_double"): (None, None, None, True),
        ("ada", "second", "test_triple"): (None, None, None, True),
    } == changed
    assert after["ada", "first", "why"] == (None, 1.5, None, False)
    for notebook in ("first", "second"):
        assert f"**{REASON}**" in top_of(course, notebook)
    (course / CHECKS).write_text(checks)
    done = run(course, "autograder", "grade", "pair")
    assert "1 graded, 1 unchanged" in done.stdout
    assert "ada: no score → 8.5 (double no score → 3, triple no score → 4)" in done.stdout
    assert before == rows(course, "pair")


def test_a_check_that_fails_by_itself_comes_to_the_same_as_with_autograder_grade(
    course: Path, run: Run, rows: Any
) -> None:
    text = (course / CHECKS).read_text()
    (course / CHECKS).write_text(
        text.replace('raise CheckFailure("It does not triple 4.")', "pass\n    1 / 0")
    )
    theirs = Path(shutil.copytree(course, course.with_name("theirs")))
    done = run(theirs, "nbgrader", "autograde", "pair", "--force")
    assert 0 == done.returncode, done.stderr
    assert "autograder: ada has no score: A check of triple failed by a fault of its own." in done.stderr
    assert 4 == run(course, "autograder", "grade", "pair").returncode
    assert rows(course, "pair") == rows(theirs, "pair")
    assert (None, None, None, True) == rows(theirs, "pair")["ada", "second", "test_triple"]
    assert top_of(course, "second") == top_of(theirs, "second")
    assert "needs attention" in top_of(theirs, "second")


def test_a_renamed_notebook_stops_nobody_else_and_is_left_to_autograder_grade(
    course: Path, run: Run, rows: Any
) -> None:
    before = rows(course, "pair")
    for name in ("first", "second"):
        path = course / f"submitted/bob/pair/{name}.ipynb"
        path.rename(path.with_name(f"my {name}.ipynb"))
    done = run(course, "nbgrader", "autograde", "pair", "--force")
    assert 1 == done.returncode
    assert "Skipping unknown notebook" in done.stderr
    assert "autograder: ada has 7 of 11 points" in done.stderr or "ada has 8.5 of 11 points" in done.stderr
    assert before["ada", "first", "test_double"] == rows(course, "pair")["ada", "first", "test_double"]
    done = run(course, "autograder", "grade", "pair")
    assert "1 graded, 1 unchanged" in done.stdout
    assert "my first.ipynb was graded instead" in done.stdout.replace("\n", " ")
    assert before == rows(course, "pair")


def test_what_nbgrader_cannot_copy_or_read_is_left_to_autograder_grade(
    run: Run, make_pair: Callable[..., Path], rows: Any
) -> None:
    notebooks = {"first": (DOUBLE, "Twice."), "second": (TRIPLE, "Thrice.")}
    course = make_pair(dict.fromkeys(["ada", "dangling", "fifo", "linked", "stamp"], notebooks))
    folder = {path.name: path / "pair" for path in (course / "submitted").iterdir()}
    (folder["dangling"] / "data.csv").symlink_to("nowhere")
    os.mkfifo(folder["fifo"] / "pipe")
    (folder["linked"] / "book").symlink_to(course / ".autograder/secret")
    (folder["stamp"] / "timestamp.txt").write_text("some time yesterday")
    assert 0 == run(course, "nbgrader", "generate_assignment", "pair").returncode
    assert 1 == run(course, "nbgrader", "autograde", "pair").returncode
    after = rows(course, "pair")
    assert {"ada", "linked"} == {
        student for student in folder if (course / f"autograded/{student}/pair/first.ipynb").exists()
    }
    assert not (course / "autograded/linked/pair/book").exists()
    said = run(course, "autograder", "grade", "pair").stdout
    assert "3 graded, 2 unchanged" in said
    assert 1 == said.count("data.csv was left out: it is a link.")
    for student in folder:
        assert (3.0, None, None, False) == rows(course, "pair")[student, "first", "test_double"]
    assert all(rows(course, "pair")[key] == after[key] for key in after if "ada" in key)


def test_a_file_that_is_no_notebook_does_not_stop_nbgrader(course: Path, run: Run, rows: Any) -> None:
    for content in ("", "PK\x03\x04", json.dumps({"cells": "none"}), "[" * 100_000):
        (course / "submitted/ada/pair/first.ipynb").write_text(content)
        done = run(course, "nbgrader", "autograde", "pair", "--force", "--student=ada")
        assert 0 == done.returncode, done.stderr
        assert "autograder: ada: first.ipynb: " in done.stderr
        assert (0.0, None, None, False) == rows(course, "pair")["ada", "first", "test_double"]
        assert "first.ipynb: " in top_of(course, "first")
