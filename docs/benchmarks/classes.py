"""Courses to measure on: a class of any size, made of the simulated students of the demonstration.

Left out are those whose cost is a limit and not work (an endless loop, a killed process, an empty file), and
a deleted test cell, at which stock nbgrader gives up.
"""

import json
from dataclasses import replace
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from autograder.assignments.catalog import KIT, load_assignment
from autograder.usecases.demo import build_course, hand_in, simulated_class

NAME = "multihead"
LEFT_OUT = frozenset({"ivo", "jun", "kim", "nora"})
#: nbgrader as it is, with the same checks: those of the hidden region run in the student's kernel.
STOCK = '\nc.pop("Autograde")\n'


def build(course: Path, submissions: int, *, stock: bool = False) -> Path:
    """Make a course in an empty folder, with that many submissions, each with an id of its own."""
    build_course(course)
    if stock:
        with (course / "nbgrader_config.py").open("a", encoding="utf-8") as config:
            config.write(STOCK)
    assignment = load_assignment(course, NAME)
    students = [one for one in simulated_class(NAME) if one.id not in LEFT_OUT]
    for number, student in enumerate(islice(cycle(students), submissions)):
        # nbgrader knows a notebook by its file's name alone
        hand_in(assignment, replace(student, id=f"s{number:04d}", file_name=None), released())
    return course


def released() -> dict[str, Any]:
    """The notebook that students were given."""
    path = KIT.parent / "assignments" / NAME / f"{NAME}.ipynb"
    notebook: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return notebook
