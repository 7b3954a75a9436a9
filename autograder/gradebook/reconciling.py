"""Changing the cells of an assignment that already has submissions, which nbgrader alone refuses.

Cells that the source gained are entered, cells that it lost are taken out together with their automatic
scores, so that ``generate_assignment`` then finds the cells it expects. What a person gave is never thrown
away: a lost cell with manual scores or comments stops everything before anything is changed.
"""

from collections.abc import Callable, Iterable
from typing import Any

from nbgrader import api

from autograder.assignments.catalog import Assignment
from autograder.errors import CourseError
from autograder.notebooks.source import SourceCell, SourceNotebook

_SORTS: tuple[tuple[str, Any, Callable[[SourceCell], bool]], ...] = (
    ("grade_cells", api.GradeCell, lambda cell: cell.grade),
    ("solution_cells", api.SolutionCell, lambda cell: cell.solution),
    ("task_cells", api.TaskCell, lambda cell: cell.task),
    ("source_cells", api.SourceCell, lambda cell: cell.grade_id is not None),
)


def reconcile(gradebook: Any, assignment: Assignment) -> None:
    """Fit the gradebook's cells to the source where submissions exist; the caller commits.

    Raises CourseError where the source lost a notebook or a cell for which people gave scores or comments.
    """
    try:
        recorded = gradebook.find_assignment(assignment.name)
    except api.MissingEntry:
        return
    if not recorded.submissions:
        return
    notebooks = {notebook.name: notebook for notebook in recorded.notebooks}
    for name in sorted(notebooks.keys() - {notebook.name for notebook in assignment.notebooks}):
        raise CourseError(
            f"The gradebook has submissions of the notebook {name!r}, which is no longer in "
            f"{assignment.source_dir}. Put it back, or remove the assignment from the gradebook with "
            f"`nbgrader db assignment remove {assignment.name} --force`."
        )
    for source in assignment.notebooks:
        notebook = notebooks.get(source.name)
        if notebook is None:
            notebook = api.Notebook(name=source.name, assignment=recorded)
            gradebook.db.add(notebook)
        _fit_cells(gradebook.db, notebook, source)


def _fit_cells(session: Any, notebook: Any, source: SourceNotebook) -> None:
    """Enter and take out the cells of one notebook."""
    for attribute, sort, belongs in _SORTS:
        present = {cell.name: cell for cell in getattr(notebook, attribute)}
        wanted = {cell.grade_id: cell for cell in source.cells if belongs(cell)}
        for name in present.keys() - wanted.keys():
            _take_out(session, present[name])
        for name in wanted.keys() - present.keys():
            session.add(sort(name=name, notebook=notebook, **_columns(sort, wanted[name])))


def _columns(sort: Any, cell: SourceCell) -> dict[str, Any]:
    """What a new row needs; ``generate_assignment`` fills in the rest."""
    if sort in (api.GradeCell, api.TaskCell):
        return {"max_score": cell.points, "cell_type": cell.cell_type}
    return {"cell_type": cell.cell_type} if sort is api.SourceCell else {}


def _take_out(session: Any, cell: Any) -> None:
    """Delete a cell and what was recorded for it automatically."""
    grades: Iterable[Any] = getattr(cell, "grades", None) or ()
    comments: Iterable[Any] = getattr(cell, "comments", None) or ()
    for row in [*grades, *comments]:
        by_hand = (getattr(row, name, None) for name in ("manual_score", "extra_credit", "manual_comment"))
        if any(value is not None for value in by_hand):
            raise CourseError(
                f"The cell {cell.name!r} is no longer in the source, but the gradebook has scores or "
                f"comments for it that people gave, to {row.student.id!r} for one. Put the cell back, or "
                "clear them in formgrader first."
            )
        session.delete(row)
    session.delete(cell)
