"""Grades one notebook by itself: no gradebook, nothing written, hidden inputs drawn anew each time."""

import contextlib
import secrets
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from autograder.assignments.catalog import Assignment, assignment_names
from autograder.errors import CourseError, SubmissionError
from autograder.files import did_you_mean_path
from autograder.model import ExerciseResult, Status, SubmissionResult
from autograder.notebooks.finding import Found, Lost
from autograder.notebooks.reading import read_notebook_file
from autograder.notebooks.source import read_source_folder
from autograder.sandbox.launcher import Launch
from autograder.usecases.judging import Judge
from autograder.usecases.submissions import Graded, grade_found


def check_notebook(assignment: Assignment, path: Path, launch: Launch) -> Graded:
    """Grade the notebook at ``path`` as if it had been handed in.

    Other files count as handed in with it only where it lies in ``submitted/<student>/<assignment>/``: any
    other folder may hold anything.

    What is no notebook that can be read brings a result all the same, ``malformed`` with the reason.

    Raises:
        CourseError: there is no such file.
        SandboxError: student code cannot be run on this machine.
    """
    _check_exists(path)
    source = next((one for one in assignment.notebooks if one.name == path.stem), assignment.notebooks[0])
    found = {source.name: _read(path)}
    submitted = path.resolve().parent
    folder = submitted if submitted.parent.parent == assignment.course / "submitted" else None
    student = submitted.parent.name if folder is not None else path.stem
    only = _only(assignment, source.name)
    with Judge(only, secrets.token_bytes(32), launch) as judge:
        graded = grade_found(only, judge, student, found, folder)
    return Graded(_with_questions(only, graded.result), graded.executed, graded.trace)


def assignment_of(course: Path, path: Path, name: str | None) -> str:
    """The assignment of a notebook: the one named, else by its file's name, its folder, or its cells.

    Raises CourseError where there is no such file, or where that leaves a choice.
    """
    names = assignment_names(course)
    if name is not None:
        return name
    for guess in (path.stem, path.resolve().parent.name):
        if guess in names:
            return guess
    if len(names) == 1:
        return names[0]
    _check_exists(path)
    if (likeliest := _by_its_cells(course, path, names)) is not None:
        return likeliest
    raise CourseError(f"Which assignment is {path.name}? Say so with --assignment: {', '.join(names)}.")


def _check_exists(path: Path) -> None:
    if not path.is_file():
        raise CourseError(f"There is no notebook {path}.{did_you_mean_path(path)}")


def _by_its_cells(course: Path, path: Path, names: Sequence[str]) -> str | None:
    """The one assignment with which a notebook shares most of its cells' grade ids, if there is one."""
    shared: dict[str, int] = {}
    with contextlib.suppress(SubmissionError):
        ids = {cell.grade_id for cell in read_notebook_file(path).cells if cell.grade_id is not None}
        for name in names:
            with contextlib.suppress(CourseError):  # a source that is broken is not the one meant
                cells = [cell for one in read_source_folder(course / "source" / name) for cell in one.cells]
                shared[name] = len(ids & {cell.grade_id for cell in cells})
    best = [name for name, count in shared.items() if count == max(shared.values()) > 0]
    return best[0] if len(best) == 1 else None


def _read(path: Path) -> Found | Lost:
    try:
        return Found(path, read_notebook_file(path))
    except SubmissionError as error:
        return Lost(str(error))


def _only(assignment: Assignment, notebook: str) -> Assignment:
    """The assignment, reduced to one of its notebooks."""
    return replace(assignment, notebooks=tuple(one for one in assignment.notebooks if one.name == notebook))


def _with_questions(assignment: Assignment, result: SubmissionResult) -> SubmissionResult:
    """The result with its manual questions, in the order of the source; those of a malformed one have 0."""
    given = {one.name: one for one in result.exercises}
    score = 0.0 if result.status is Status.MALFORMED else None
    waits = result.status is Status.GRADED
    questions = (ExerciseResult(one.name, score, one.max_points, waits=waits) for one in assignment.graded)
    return replace(result, exercises=tuple(given.get(one.name, one) for one in questions))
