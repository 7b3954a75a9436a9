"""Building the autograded notebook that instructors open in formgrader and that feedback is made from.

The student's cells in the student's order, with what they showed when we ran them; nbgrader's marks are
those of the release, whatever the submission claims. Test cells have their released text and our verdicts
as output. Cells of the release that the student lost are put back after the one that precedes them.

What feedback needs stands in the metadata ``autograder``: of the notebook ``status``, ``reason``, ``notes``
and ``handed_in``; of a test cell the exercise's result, without what only the instructor may know; of a cell
of the submission ``cell``, its number there; of the summary on top ``summary``.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from autograder.gradebook.verdicts import markdown, verdict_output
from autograder.model import ExerciseResult, Status, SubmissionResult
from autograder.notebooks.executed import ExecutedNotebook, Output
from autograder.notebooks.reading import Cell
from autograder.notebooks.salvage import GIVEN
from autograder.notebooks.source import SourceNotebook

Json = dict[str, Any]

MISSING_CODE = "# This cell was missing from the submission."
CODE_ELSEWHERE = "# The code of this exercise stands in another cell."
MISSING_TEXT = "*This cell was missing from the submission.*"
_ATTENTION = "**This notebook needs attention:** the grading program failed on it, not the student's code."


@dataclass(frozen=True)
class _Placed:
    """A finished cell, and the grade id that it stands for."""

    cell: Json
    grade_id: str | None = None


def build_autograded(
    released: Json,
    source: SourceNotebook,
    executed: ExecutedNotebook | None,
    result: SubmissionResult,
) -> Json:
    """One autograded notebook of nbformat 4.5; without ``executed`` it is the release itself."""
    exercises = {exercise.name: exercise for exercise in result.exercises}
    builder = _Builder(released, source, exercises)
    placed = list(builder.from_release() if executed is None else builder.from_submission(executed))
    cells = [one.cell for one in placed]
    summary = _summary(result, missing=executed is None and len(exercises) > 0)
    if summary:
        mark = {"autograder": {"summary": True}}
        cells.insert(0, {"cell_type": "markdown", "metadata": mark, "source": summary})
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
    about = {
        "status": str(result.status),
        # The reason for a fault of ours may quote what must stay hidden.
        "reason": None if result.status is Status.JUDGE_ERROR else result.reason,
        "notes": list(result.notes),
        "handed_in": executed is not None,
    }
    metadata = {**released.get("metadata", {}), "autograder": about}
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": metadata, "cells": cells}


def marked_cells(notebook: Json) -> dict[str, Json]:
    """The cells of a released or autograded notebook that carry a grade id."""
    marked = {}
    for cell in notebook.get("cells", []):
        grade_id = cell.get("metadata", {}).get("nbgrader", {}).get("grade_id")
        if grade_id is not None:
            marked[grade_id] = cell
    return marked


def is_autograded(notebook: Json) -> bool:
    """Whether a notebook is one that ``build_autograded`` made, and nbgrader did not make anew since."""
    metadata = notebook.get("metadata")
    return isinstance(metadata, dict) and "autograder" in metadata


def text_of(cell: Json) -> str:
    """A cell's text without surrounding blanks, to compare what was written."""
    text = cell.get("source", "")
    return ("".join(text) if isinstance(text, list) else str(text)).strip()


class _Builder:
    """What building one notebook needs to know at every cell."""

    def __init__(self, released: Json, source: SourceNotebook, exercises: Mapping[str, ExerciseResult]):
        self._released = released
        self._marked = marked_cells(released)
        self._source = source
        self._verdicts = {one.test_id: exercises.get(one.name) for one in source.exercises}

    def from_release(self) -> Iterator[_Placed]:
        """The release as it is, with verdicts."""
        for cell in self._released["cells"]:
            grade_id = cell.get("metadata", {}).get("nbgrader", {}).get("grade_id")
            if grade_id in self._verdicts:
                yield self._test_cell(grade_id)
            else:
                yield _Placed(_cell(cell["cell_type"], text_of(cell), dict(cell["metadata"])), grade_id)

    def from_submission(self, executed: ExecutedNotebook) -> list[_Placed]:
        """The submission's cells with the release's marks; lost cells are put back."""
        fit = executed.fit(self._source)
        at = {index: grade_id for grade_id, index in fit.places.items()}
        ran = sorted(index for index in executed.outputs if index != GIVEN)
        counts = {index: count for count, index in enumerate(ran, start=1)}
        placed: list[_Placed] = []
        for cell in executed.submission.cells:
            grade_id = at.get(cell.index)
            show = _shown(cell, executed.outputs.get(cell.index), counts.get(cell.index))
            if cell.index in fit.tests:
                if cell.index in fit.rescued or grade_id is None:
                    placed.append(_Placed(show(cell.cell_type, cell.source, {})))
                if grade_id is not None:
                    placed.append(self._test_cell(grade_id))
            elif grade_id is not None:
                placed.append(self._marked_cell(grade_id, cell, show))
            else:
                kind = "code" if cell.index in executed.outputs else cell.cell_type
                placed.append(_Placed(show(kind, cell.source, {})))
        elsewhere = {name for name, indexes in fit.definers.items() if indexes}
        self._put_back(placed, elsewhere)
        return placed

    def _marked_cell(self, grade_id: str, cell: Cell, show: "_Show") -> _Placed:
        """A cell that stands for one of the source: the source's type and marks, the student's text."""
        original = self._source.cell(grade_id)
        released = self._marked[grade_id]
        locked = original is not None and original.is_read_only
        text = text_of(released) if locked else cell.source
        return _Placed(show(released["cell_type"], text, dict(released["metadata"])), grade_id)

    def _test_cell(self, grade_id: str) -> _Placed:
        """A test cell with its released text and our verdicts."""
        released = self._marked[grade_id]
        metadata = dict(released["metadata"])
        cell = _cell("code", text_of(released), metadata)
        verdict = self._verdicts.get(grade_id)
        if verdict is not None:
            metadata["autograder"] = _without_details(verdict)
            cell["outputs"] = [verdict_output(verdict)]
        return _Placed(cell, grade_id)

    def _put_back(self, placed: list[_Placed], elsewhere: set[str]) -> None:
        """Insert every marked cell that the submission lost, each after the marked cell before it."""
        position = 0
        for grade_id, released in self._marked.items():
            found = next((i for i, one in enumerate(placed) if one.grade_id == grade_id), None)
            if found is None:
                placed.insert(position, self._lost_cell(grade_id, released, elsewhere))
                found = position
            position = found + 1

    def _lost_cell(self, grade_id: str, released: Json, elsewhere: set[str]) -> _Placed:
        original = self._source.cell(grade_id)
        if grade_id in self._verdicts:
            return self._test_cell(grade_id)
        text = MISSING_TEXT
        if original is not None and original.is_read_only:
            text = text_of(released)
        elif released["cell_type"] == "code":
            text = CODE_ELSEWHERE if grade_id in elsewhere else MISSING_CODE
        return _Placed(_cell(released["cell_type"], text, dict(released["metadata"])), grade_id)


_Show = Callable[[str, str, Json], Json]


def _shown(cell: Cell, outputs: tuple[Output, ...] | None, count: int | None) -> _Show:
    """How a cell of the submission is shown, given type, text and metadata."""

    def show(cell_type: str, text: str, metadata: Json) -> Json:
        shown = _cell(cell_type, text, {**metadata, "autograder": {"cell": cell.index + 1}})
        if cell_type == "code":
            shown["execution_count"] = count
            shown["outputs"] = [_numbered(output, count) for output in outputs or ()]
        elif cell.attachments:
            shown["attachments"] = {name: dict(bundle) for name, bundle in cell.attachments.items()}
        return shown

    return show


def _numbered(output: Output, count: int | None) -> Json:
    """An output of our run; a result carries the number of its cell."""
    if output.get("output_type") == "execute_result":
        return {**output, "execution_count": count}
    return dict(output)


def _cell(cell_type: str, text: str, metadata: Json) -> Json:
    cell: Json = {"cell_type": cell_type, "metadata": metadata, "source": text}
    if cell_type == "code":
        cell.update(execution_count=None, outputs=[])
    return cell


def _summary(result: SubmissionResult, *, missing: bool) -> str:
    """What stands on top where something was unusual; nothing otherwise."""
    paragraphs = []
    if result.status is Status.JUDGE_ERROR:
        paragraphs.append(_ATTENTION)
    if result.reason is not None:
        paragraphs.append(f"**{markdown(result.reason)}**")
    elif missing and result.status is Status.GRADED:
        paragraphs.append("**This notebook was not handed in.**")
    paragraphs += [f"- {markdown(note)}" for note in result.notes]
    return "\n\n".join(paragraphs)


def _without_details(exercise: ExerciseResult) -> Json:
    """An exercise's result as plain data, without what only the instructor may know."""
    data = asdict(exercise)
    for check in data["checks"]:
        del check["detail"], check["attempt"]
        check["verdict"] = str(check["verdict"])
    data["checks"] = list(data["checks"])
    return data
