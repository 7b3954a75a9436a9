"""A demonstration: a course of its own in a scratch folder, a simulated class, and its grades.

The course holds copies of the kit's ``source/``, ``solutions/`` and nbgrader configuration, limits of its
own, and one submission for each student of the assignment's ``demo.py``.
"""

import json
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from autograder.assignments.catalog import KIT, Assignment, load_assignment
from autograder.checking.simulated import SimulatedStudent
from autograder.errors import CourseError, did_you_mean
from autograder.sandbox.launcher import Launch
from autograder.usecases.grade import Entry, Progress, grade_class

COPIED = ("source", "solutions", "nbgrader_config.py")
LIMITS = """\
# What a student's code may use. The defaults are higher: this class is to be graded before your eyes.
call_seconds = 1.0
exercise_seconds = 3.0
"""
WHOLE_NOTEBOOK = "*"


@dataclass(frozen=True)
class Demo:
    """The finished demonstration."""

    course: Path
    students: Sequence[SimulatedStudent]
    entries: Sequence[Entry]


def run_demo(name: str, course: Path | None, launch: Launch, progress: Progress, *, jobs: int = 1) -> Demo:
    """Build the course in ``course``, an empty or new folder, hand in for everyone, and grade.

    By default the folder is a temporary one, which stays. Raises CourseError where it is not empty, or
    the assignment has no simulated class.
    """
    students = simulated_class(name)
    if course is None:
        course = Path(tempfile.mkdtemp(prefix="autograder-demo-"))
    build_course(course)
    assignment = load_assignment(course, name)
    released = json.loads((KIT.parent / "assignments" / name / f"{name}.ipynb").read_text(encoding="utf-8"))
    for student in students:
        hand_in(assignment, student, released)
    return Demo(course, students, grade_class(assignment, launch, progress=progress, jobs=jobs))


def simulated_class(name: str) -> Sequence[SimulatedStudent]:
    """The students of an assignment's ``demo.py``; raises CourseError where it has none."""
    names = [path.parent.name for path in (KIT / "assignments").glob("*/demo.py")]
    if name not in names:
        raise CourseError(f"There is no demonstration of {name!r}.{did_you_mean(name, names)}")
    students: Sequence[SimulatedStudent] = import_module(f"autograder.assignments.{name}.demo").students
    return students


def build_course(course: Path) -> None:
    """Copy what makes a course; raises CourseError where the folder holds anything or cannot be made."""
    try:
        course.mkdir(parents=True, exist_ok=True)
        empty = not any(course.iterdir())
    except OSError as error:
        raise CourseError(f"The folder {course} cannot be made: {error.strerror}.") from error
    if not empty:
        raise CourseError(f"{course} is not empty. Name a new folder for the demonstration.")
    for part in COPIED:
        original = KIT.parent / part
        if original.is_dir():
            shutil.copytree(
                original, course / part, ignore=shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints")
            )
        else:
            shutil.copyfile(original, course / part)
    (course / "limits.toml").write_text(LIMITS, encoding="utf-8")


def hand_in(assignment: Assignment, student: SimulatedStudent, released: dict[str, Any]) -> None:
    """Write one student's submission."""
    folder = assignment.course / "submitted" / student.id / assignment.name
    folder.mkdir(parents=True)
    path = folder / (student.file_name or f"{assignment.name}.ipynb")
    path.write_text(_notebook(student, released), encoding="utf-8")


def _notebook(student: SimulatedStudent, released: dict[str, Any]) -> str:
    if WHOLE_NOTEBOOK in student.deleted:
        return ""
    cells = []
    for cell in released["cells"]:
        grade_id = cell["metadata"].get("nbgrader", {}).get("grade_id")
        if grade_id not in student.deleted:
            cells.append(cell | {"source": student.cells.get(grade_id, cell["source"])})
    for number, text in enumerate(student.extra_cells):
        cells.append(
            {
                "cell_type": "code",
                "id": f"extra-{number}",
                "metadata": {},
                "source": text,
                "execution_count": None,
                "outputs": [],
            }
        )
    return json.dumps(released | {"cells": cells}, indent=1) + "\n"
