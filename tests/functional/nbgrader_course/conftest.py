"""Courses in scratch folders on which nbgrader's own commands run, and gradebooks read back."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from nbgrader.api import Gradebook

from autograder.assignments.catalog import KIT, load_assignment
from autograder.assignments.private import course_secret
from autograder.usecases.demo import build_course, hand_in, simulated_class

Json = dict[str, Any]
Run = Callable[..., subprocess.CompletedProcess[str]]

BIN = Path(sys.executable).parent
ROOT = KIT.parent

CHECKS = '''
from autograder.checking.framework import CheckFailure, CheckSet

checks = CheckSet("pair")


@checks.value("double", weight=2)
def doubles(student, reference, rng):
    """It doubles."""
    if student.call("double", 4).value != reference.double(4):
        raise CheckFailure("It does not double 4.")


@checks.value("double", weight=1)
def doubles_what_is_negative(student, reference, rng):
    """It doubles negative numbers."""
    if student.call("double", -3).value != reference.double(-3):
        raise CheckFailure("It does not double -3.")


@checks.value("triple", weight=1)
def triples(student, reference, rng):
    """It triples."""
    if student.call("triple", 4).value != reference.triple(4):
        raise CheckFailure("It does not triple 4.")
'''

REFERENCE = """
def double(x):
    return 2 * x


def triple(x):
    return 3 * x
"""

#: The notebooks of the assignment ``pair``: exercise, its points, question.
PARTS = {"first": ("double", 3, "why"), "second": ("triple", 4, "how")}


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Runs a program of the environment in a folder, away from the user's own Jupyter configuration."""
    home = tmp_path_factory.mktemp("home")
    environment = os.environ | {
        "PATH": f"{BIN}{os.pathsep}{os.environ.get('PATH', '')}",
        "HOME": str(home),
        "JUPYTER_CONFIG_DIR": str(home / "jupyter"),
        "JUPYTER_DATA_DIR": str(home / "data"),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
        "COLUMNS": "120",
    }

    def run_program(folder: Path, program: str, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [BIN / program, *words],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    return run_program


@pytest.fixture(scope="session")
def make_multihead(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Makes a course with the assignment ``multihead`` in which some of the simulated class handed in."""

    def make(*students: str) -> Path:
        course = tmp_path_factory.mktemp("multihead") / "course"
        build_course(course)
        assignment = load_assignment(course, "multihead")
        released = json.loads((ROOT / "assignments/multihead/multihead.ipynb").read_text())
        for student in simulated_class("multihead"):
            if student.id in students:
                hand_in(assignment, student, released)
        course_secret(course)  # copies of the course draw the same inputs
        return course

    return make


@pytest.fixture(scope="session")
def make_pair(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Makes a course with the assignment ``pair``, of the notebooks ``first`` and ``second``.

    ``double`` counts 3 points, ``triple`` 4, the questions ``why`` and ``how`` 2 each. Everyone hands in
    the notebooks that ``submissions`` has, by student and notebook name: the code and the answer.
    """

    def make(submissions: Mapping[str, Mapping[str, tuple[str, str]]]) -> Path:
        course = tmp_path_factory.mktemp("pair") / "course"
        for folder in ("source/pair", "solutions", "autograder/assignments/pair"):
            (course / folder).mkdir(parents=True)
        (course / "nbgrader_config.py").write_text((ROOT / "nbgrader_config.py").read_text())
        (course / "autograder/assignments/pair/checks.py").write_text(CHECKS)
        (course / "solutions/pair.py").write_text(REFERENCE)
        for notebook in PARTS:
            write_notebook(course / "source/pair", notebook, "def {exercise}(x):\n    pass", "")
        for student, notebooks in submissions.items():
            for notebook, (code, answer) in notebooks.items():
                write_notebook(course / "submitted" / student / "pair", notebook, code, answer)
        course_secret(course)
        return course

    return make


def write_notebook(folder: Path, name: str, code: str, answer: str) -> None:
    """One of the notebooks of ``pair``: a solution cell, its test cell, and a question."""
    exercise, points, question = PARTS[name]
    code = code.replace("{exercise}", exercise)
    cells = [
        code_cell(code, exercise, solution=True),
        code_cell(f"{exercise}(1)", f"test_{exercise}", grade=True, locked=True, points=points),
        marked({"cell_type": "markdown", "source": answer}, question, grade=True, solution=True, points=2),
    ]
    folder.mkdir(parents=True, exist_ok=True)
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    content = {"nbformat": 4, "nbformat_minor": 5, "metadata": {"kernelspec": kernel}, "cells": cells}
    (folder / f"{name}.ipynb").write_text(json.dumps(content))


def code_cell(source: str, grade_id: str, **marks: Any) -> Json:
    cell: Json = {"cell_type": "code", "source": source, "outputs": [], "execution_count": None}
    return marked(cell, grade_id, **marks)


def marked(cell: Json, grade_id: str, **marks: Any) -> Json:
    """The cell with nbgrader's marks."""
    default = {"schema_version": 3, "grade": False, "solution": False, "locked": False, "task": False}
    return cell | {"id": grade_id, "metadata": {"nbgrader": default | {"grade_id": grade_id} | marks}}


@pytest.fixture(scope="session")
def gradebook() -> Callable[[Path], Any]:
    """Opens the gradebook in a folder."""
    return lambda folder: Gradebook(f"sqlite:///{folder}/gradebook.db", "")


@pytest.fixture(scope="session")
def rows(gradebook: Callable[[Path], Any]) -> Callable[[Path, str], Json]:
    """Reads all that the gradebook knows of an assignment's submissions, but for ids that nbgrader draws."""

    def read(folder: Path, assignment: str) -> Json:
        found: Json = {}
        with gradebook(folder) as book:
            for submission in book.assignment_submissions(assignment):
                found[submission.student_id] = submission.timestamp
                for notebook in submission.notebooks:
                    place = (submission.student_id, notebook.name)
                    found[place] = (notebook.late_submission_penalty, notebook.flagged)
                    found |= {(*place, grade.cell.name): grade_row(grade) for grade in notebook.grades}
                    for comment in notebook.comments:
                        texts = (comment.auto_comment, comment.manual_comment)
                        found[*place, comment.cell.name, "comment"] = texts
        return found

    return read


def grade_row(grade: Any) -> tuple[Any, ...]:
    return (grade.auto_score, grade.manual_score, grade.extra_credit, grade.needs_manual_grade)
