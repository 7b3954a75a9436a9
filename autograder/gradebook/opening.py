"""Making sure that the gradebook knows an assignment as its source has it, before anything is recorded.

nbgrader's own ``generate_assignment`` does the work; it writes its release to a scratch folder, never to
the committed one. What students get is kept for building autograded notebooks::

    .autograder/<assignment>/released/
        <notebook>.ipynb    as students get it, with nbgrader's checksums
        fingerprint         of the source folder and the configuration that it was made from
"""

import contextlib
import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from nbgrader import api
from sqlalchemy.exc import SQLAlchemyError

from autograder.assignments.catalog import Assignment
from autograder.assignments.private import SCRATCH, private_folder
from autograder.errors import CourseError
from autograder.files import place_new_file, write_atomically
from autograder.gradebook.configuration import CourseConfiguration
from autograder.gradebook.nbgrader_command import CONFIG, run_nbgrader
from autograder.gradebook.reconciling import reconcile
from autograder.notebooks.source import SourceNotebook

#: A notebook of nbformat 4 as plain JSON data.
Json = dict[str, Any]


def open_gradebook(assignment: Assignment, configuration: CourseConfiguration) -> Any:
    """The gradebook with the assignment in it, made or brought up to date where necessary.

    Raises CourseError where nbgrader refuses, where the source lost cells that people have graded, or where
    the database cannot be used.
    """
    path = configuration.db_path
    if path is not None and not path.exists():
        _make_gradebook(assignment, path)
    elif not _is_current(assignment, configuration):
        _reconcile(assignment, configuration)
        _generate(assignment, configuration.db_url)
    return connect(configuration)


def released_notebooks(assignment: Assignment) -> Mapping[str, Json]:
    """The notebooks as students get them, by name; the gradebook must have been opened before."""
    folder = _released_folder(assignment)
    try:
        return {
            notebook.name: json.loads((folder / f"{notebook.name}.ipynb").read_bytes())
            for notebook in assignment.notebooks
        }
    except (OSError, ValueError) as error:
        raise CourseError(f"{folder} is damaged: {error}. Delete that folder and grade again.") from error


def connect(configuration: CourseConfiguration) -> Any:
    """A connection to a gradebook that exists; raises CourseError where it cannot be used."""
    try:
        with _alembic_on_path():
            return api.Gradebook(configuration.db_url, configuration.course_id)
    except SQLAlchemyError as error:
        raise unusable(configuration.db_url, error) from error


@contextlib.contextmanager
def _alembic_on_path() -> Iterator[None]:
    """Let nbgrader find `alembic`, which lies beside the interpreter, when it meets an empty database."""
    before = os.environ.get("PATH", "")
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{before}"
    try:
        yield
    finally:
        os.environ["PATH"] = before


def _reconcile(assignment: Assignment, configuration: CourseConfiguration) -> None:
    gradebook = connect(configuration)
    try:
        reconcile(gradebook, assignment)
        gradebook.db.commit()
    except SQLAlchemyError as error:
        raise unusable(configuration.db_url, error) from error
    finally:
        gradebook.close()


def unusable(db_url: str, error: SQLAlchemyError) -> CourseError:
    """What to tell the instructor about a database that refuses."""
    cause = str(getattr(error, "orig", None) or error)
    if "locked" in cause:
        remedy = "Another program is writing to it, such as formgrader or a second grading: try again later."
    elif "disk is full" in cause:
        remedy = "Make room, and run the same command again."
    elif "no such column" in cause or "no such table" in cause:
        remedy = "It is older than nbgrader: make a copy of it, then run `nbgrader db upgrade`."
    else:
        remedy = "Check that the file is a gradebook and that its folder can be written to."
    return CourseError(f"The gradebook {db_url} cannot be used: {cause}. {remedy}")


def _make_gradebook(assignment: Assignment, path: Path) -> None:
    """A new gradebook appears whole or not at all; one that appeared in the meantime stays."""
    folder = private_folder(assignment.course, assignment.name)
    with tempfile.TemporaryDirectory(prefix=SCRATCH, dir=folder) as scratch:
        made = Path(scratch) / "gradebook.db"
        _generate(assignment, f"sqlite:///{made}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            place_new_file(made, path)
        except OSError as error:
            raise CourseError(f"The gradebook {path} cannot be made: {error.strerror}.") from error


def _generate(assignment: Assignment, db_url: str) -> None:
    """Let nbgrader enter the assignment into a gradebook, and keep the release that it makes on the way."""
    released = _released_folder(assignment)
    with tempfile.TemporaryDirectory(prefix=SCRATCH, dir=released.parent) as scratch:
        arguments = [
            "generate_assignment",
            assignment.name,
            f"--CourseDirectory.release_directory={scratch}",
            f"--CourseDirectory.db_url={db_url}",
        ]
        run_nbgrader(assignment.course, arguments)
        for path in (Path(scratch) / assignment.name).glob("*.ipynb"):
            write_atomically(released / path.name, path.read_bytes(), mode=0o600)
    write_atomically(released / "fingerprint", _fingerprint(assignment).encode(), mode=0o600)


def _released_folder(assignment: Assignment) -> Path:
    return private_folder(assignment.course, assignment.name, "released")


def _is_current(assignment: Assignment, configuration: CourseConfiguration) -> bool:
    """Whether both the gradebook and the kept release fit the source."""
    folder = _released_folder(assignment)
    try:
        kept = (folder / "fingerprint").read_text(encoding="utf-8")
    except FileNotFoundError:
        return False
    if kept != _fingerprint(assignment):
        return False
    if not all((folder / f"{notebook.name}.ipynb").is_file() for notebook in assignment.notebooks):
        return False
    gradebook = connect(configuration)
    try:
        recorded = gradebook.find_assignment(assignment.name)
        names = {notebook.name for notebook in recorded.notebooks}
        return names == {notebook.name for notebook in assignment.notebooks} and all(
            _fits(gradebook.find_notebook(notebook.name, assignment.name), notebook)
            for notebook in assignment.notebooks
        )
    except api.MissingEntry:
        return False
    except SQLAlchemyError as error:
        raise unusable(configuration.db_url, error) from error
    finally:
        gradebook.close()


def _fits(recorded: Any, notebook: SourceNotebook) -> bool:
    """Whether the gradebook has the notebook's graded and solution cells, with their points."""
    points = {cell.name: cell.max_score for cell in [*recorded.grade_cells, *recorded.task_cells]}
    expected = {cell.grade_id: cell.points for cell in notebook.cells if cell.points is not None}
    solutions = {cell.name for cell in recorded.solution_cells}
    return points == expected and solutions == {cell.grade_id for cell in notebook.cells if cell.solution}


def _fingerprint(assignment: Assignment) -> str:
    """A digest of what a release is made from."""
    digest = hashlib.sha256()
    config = assignment.course / CONFIG
    notebooks = [assignment.source_dir / f"{notebook.name}.ipynb" for notebook in assignment.notebooks]
    for path in [config, *notebooks]:
        content = path.read_bytes() if path.is_file() else b""
        digest.update(f"{path.name} {hashlib.sha256(content).hexdigest()}\n".encode())
    return digest.hexdigest()
