"""The structure of an assignment's source notebooks: exercises, manual questions, and where they stand.

The source is the one truth about ids, points and order; submissions are fitted to it. An exercise is a
code cell marked as solution, with grade id ``<name>``, and its locked test cell ``test_<name>``. A
manual question is a cell that is marked both as graded and as solution, or as a task. Names are
unique within an assignment, also across its notebooks, since results name exercises by them.
"""

import json
import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.errors import CourseError

TEST_PREFIX = "test_"
#: Of so many source notebooks, what was found out of them is kept for all submissions.
KEPT_LESSONS = 16
_BEGIN_HIDDEN = "BEGIN HIDDEN TESTS"
_END_HIDDEN = "END HIDDEN TESTS"


@dataclass(frozen=True)
class SourceCell:
    """One cell of a source notebook with nbgrader's marks; ``points`` is None where nothing is graded."""

    index: int
    cell_type: str
    source: str
    grade_id: str | None = None
    grade: bool = False
    solution: bool = False
    locked: bool = False
    task: bool = False
    points: float | None = None

    @property
    def is_test(self) -> bool:
        """Whether this is the locked test cell of an exercise."""
        return self.grade and not self.solution and not self.task

    @property
    def is_question(self) -> bool:
        """Whether a person grades this cell."""
        return self.task or (self.grade and self.solution)

    @property
    def is_read_only(self) -> bool:
        """Whether nbgrader puts the released text back, whatever the student made of it."""
        return self.grade_id is not None and self.locked and not (self.grade or self.solution or self.task)

    @property
    def visible_source(self) -> str:
        """The text as students get it, for cells without a solution: hidden regions are cut out."""
        lines: list[str] = []
        hidden = False
        for line in self.source.split("\n"):
            if _BEGIN_HIDDEN in line:
                hidden = True
            elif _END_HIDDEN in line:
                hidden = False
            elif not hidden:
                lines.append(line)
        return "\n".join(lines)


@dataclass(frozen=True)
class Exercise:
    """A function to write: solution cell ``name``, test cell ``test_id``, both by index in the source."""

    name: str
    test_id: str
    max_points: float
    solution_index: int
    test_index: int


@dataclass(frozen=True)
class Question:
    """A question that a person grades; ``name`` is its grade id."""

    name: str
    max_points: float
    index: int


@dataclass(frozen=True)
class SourceNotebook:
    """One source notebook; ``name`` is its file name without ``.ipynb``."""

    name: str
    cells: tuple[SourceCell, ...]
    exercises: tuple[Exercise, ...]
    questions: tuple[Question, ...]

    @property
    def test_ids(self) -> frozenset[str]:
        """The grade ids of all test cells: what carries one of them is never run as a student's code."""
        return frozenset(exercise.test_id for exercise in self.exercises)

    @property
    def graded(self) -> tuple[Exercise | Question, ...]:
        """Exercises and questions in the order of the notebook."""
        rows: list[tuple[int, Exercise | Question]] = [(one.test_index, one) for one in self.exercises]
        rows += [(one.index, one) for one in self.questions]
        return tuple(one for _, one in sorted(rows, key=lambda row: row[0]))

    def cell(self, grade_id: str) -> SourceCell | None:
        """The cell with this grade id, or None."""
        return next((cell for cell in self.cells if cell.grade_id == grade_id), None)


def read_source_folder(folder: Path) -> tuple[SourceNotebook, ...]:
    """All notebooks of a source folder, by name; raises CourseError where one is malformed."""
    paths = sorted(folder.glob("*.ipynb"))
    if not paths:
        raise CourseError(f"{folder} holds no notebook. Put the assignment's source notebook there.")
    notebooks = tuple(read_source(path) for path in paths)
    names = Counter(one.name for notebook in notebooks for one in notebook.graded)
    for name, count in names.items():
        if count > 1:
            raise CourseError(f"{folder}: {count} notebooks use the grade id {name!r}. Rename all but one.")
    if not any(notebook.exercises for notebook in notebooks):
        raise CourseError(
            f"{folder}: no notebook holds an exercise. Mark a code cell as 'Autograded answer' and the "
            f"cell that tests it as 'Autograder tests' with the id '{TEST_PREFIX}' and the answer's id."
        )
    return notebooks


def read_source(path: Path) -> SourceNotebook:
    """Read one source notebook; raises CourseError where its marks do not make sense."""
    cells = tuple(_cell(path, index, raw) for index, raw in enumerate(_raw_cells(path)))
    _check_ids(path, cells)
    return SourceNotebook(path.stem, cells, tuple(_exercises(path, cells)), tuple(_questions(cells)))


def _raw_cells(path: Path) -> list[Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise CourseError(f"{path} cannot be read: {error.strerror}.") from error
    except (ValueError, RecursionError) as error:
        raise CourseError(f"{path} is no notebook: {error}.") from error
    if not isinstance(content, dict) or content.get("nbformat") != 4:
        raise CourseError(f"{path} is no notebook of format 4. Open it in Jupyter and save it there.")
    cells = content.get("cells")
    if not isinstance(cells, list) or not all(isinstance(cell, dict) for cell in cells):
        raise CourseError(f"{path} is no notebook: it has no list of cells.")
    return cells


def _cell(path: Path, index: int, raw: dict[str, Any]) -> SourceCell:
    """One cell; the marks are read as nbgrader reads them."""
    where = f"{path}, cell {index + 1}"
    text = raw.get("source", "")
    source = "".join(text) if isinstance(text, list) else str(text)
    cell_type = str(raw.get("cell_type"))
    marks = raw.get("metadata", {}).get("nbgrader") or {}
    flags = {name: bool(marks.get(name)) for name in ("grade", "solution", "locked", "task")}
    if not any(flags.values()):
        return SourceCell(index, cell_type, source)
    grade_id = marks.get("grade_id")
    if not isinstance(grade_id, str) or not grade_id:
        raise CourseError(f"{where}: it is marked for nbgrader but has no grade id. Give it one.")
    points = None
    if flags["grade"] or flags["task"]:
        points = _points(f"{where} ({grade_id})", marks.get("points"))
    return SourceCell(index, cell_type, source, grade_id, points=points, **flags)


def _points(where: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise CourseError(f"{where}: the points must be a number, not {value!r}.")
    if not (math.isfinite(value) and value >= 0):
        raise CourseError(f"{where}: the points must be finite and not negative, not {value!r}.")
    return float(value)


def _check_ids(path: Path, cells: Iterable[SourceCell]) -> None:
    seen: dict[str, int] = {}
    for cell in cells:
        if cell.grade_id is None:
            continue
        if cell.grade_id in seen:
            raise CourseError(
                f"{path}: cells {seen[cell.grade_id] + 1} and {cell.index + 1} share the grade id "
                f"{cell.grade_id!r}. Give one of them another."
            )
        seen[cell.grade_id] = cell.index


def _exercises(path: Path, cells: tuple[SourceCell, ...]) -> Iterable[Exercise]:
    """Pair every solution cell with its test cell, in the order of the solution cells."""
    tests = {cell.grade_id: cell for cell in cells if cell.is_test}
    for cell in cells:
        if not cell.solution or cell.grade or cell.grade_id is None:
            continue
        name = cell.grade_id
        if cell.cell_type != "code" or not name.isidentifier():
            raise CourseError(
                f"{path}, cell {cell.index + 1}: the solution {name!r} must be a code cell whose grade id "
                "is the name of the function to write."
            )
        test = tests.pop(TEST_PREFIX + name, None)
        if test is None or test.points is None:
            raise CourseError(
                f"{path}: the solution cell {name!r} has no test cell. Mark the cell that tests it as "
                f"'Autograder tests' and give it the id '{TEST_PREFIX}{name}'."
            )
        if test.cell_type != "code" or test.index < cell.index:
            raise CourseError(
                f"{path}, cell {test.index + 1}: the test cell {TEST_PREFIX + name!r} must be a code cell "
                "that stands after its solution cell."
            )
        yield Exercise(name, TEST_PREFIX + name, test.points, cell.index, test.index)
    for grade_id, test in tests.items():
        raise CourseError(
            f"{path}, cell {test.index + 1}: the test cell {grade_id!r} belongs to no solution cell. Its id "
            f"must be '{TEST_PREFIX}' and the solution's id."
        )


def _questions(cells: Iterable[SourceCell]) -> Iterable[Question]:
    for cell in cells:
        if cell.is_question and cell.grade_id is not None and cell.points is not None:
            yield Question(cell.grade_id, cell.points, cell.index)
