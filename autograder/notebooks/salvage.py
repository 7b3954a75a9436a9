"""The plan of a run: which cells of a submission are run in which order, and when each exercise is judged.

Rules, in the order in which they apply:

* The student's code cells run in their order. Test cells never run: their text is ours.
* A locked cell of the source runs with the text that was handed out, as nbgrader has it.
* A solution cell that became Markdown or raw text runs all the same. A test cell, or a text, that holds an
  exercise's only definition runs as the student's code.
* An exercise is judged at the place of its test cell, provided that a cell that defines the function stands
  before it; otherwise directly after the cell that defines it, the solution cell if it does so; with no
  definition in sight at the test cell, after the solution cell, or at the end.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from autograder.notebooks.matching import Match, match
from autograder.notebooks.reading import Cell, Notebook
from autograder.notebooks.source import Exercise, SourceCell, SourceNotebook


@dataclass(frozen=True)
class RunCell:
    """Run this text; ``cell_index`` is the cell of the submission that it comes from."""

    cell_index: int
    source: str


@dataclass(frozen=True)
class Examine:
    """Judge the exercise in the state that the steps before have made."""

    exercise: str


@dataclass(frozen=True)
class Plan:
    """Steps in order, every exercise examined exactly once, and sentences on what was unusual."""

    steps: tuple[RunCell | Examine, ...]
    notes: tuple[str, ...] = ()


def plan(submission: Notebook, source: SourceNotebook) -> Plan:
    """Plan the run of a submission; never fails, whatever the submission looks like."""
    fit = match(submission, source)
    anchors: dict[int, list[str]] = {}
    notes: list[str] = []
    end = len(submission.cells)
    for exercise in source.exercises:
        anchor, note = _anchor(exercise, fit, end)
        anchors.setdefault(anchor, []).append(exercise.name)
        notes.extend(note)
    steps: list[RunCell | Examine] = []
    for cell in submission.cells:
        text = _text_to_run(cell, source, fit)
        if text is not None:
            steps.append(RunCell(cell.index, text))
        steps.extend(Examine(name) for name in anchors.get(cell.index, ()))
    steps.extend(Examine(name) for name in anchors.get(end, ()))
    return Plan(tuple(steps), (*submission.notes, *notes, *_cell_notes(submission, source, fit)))


def _anchor(exercise: Exercise, fit: Match, end: int) -> tuple[int, list[str]]:
    """The cell after which the exercise is judged, and what to say where it is not the test cell."""
    test = fit.places.get(exercise.test_id)
    marked = fit.copies.get(exercise.name, ())
    defining = fit.definers[exercise.name]
    candidates = [index for index in defining if index in marked] or list(defining) or list(marked)
    if test is not None and (not candidates or min(candidates) <= test):
        return test, []
    if not candidates:
        return end, [f"No cell of `{exercise.name}` was found: neither its solution nor its test."]
    reason = "is missing" if test is None else "stands before the function"
    note = (
        f"The test cell of `{exercise.name}` {reason}: the function was judged directly after "
        f"cell {max(candidates) + 1}."
    )
    return max(candidates), [note]


def _text_to_run(cell: Cell, source: SourceNotebook, fit: Match) -> str | None:
    """What runs for a cell of the submission, or None."""
    if cell.index in fit.rescued:
        return cell.source
    if cell.index in fit.tests:
        return None
    original = source.cell(cell.grade_id) if cell.grade_id is not None else None
    if original is not None and original.cell_type != "code":
        return None
    if original is not None and original.is_read_only:
        return original.visible_source
    if cell.cell_type != "code" and original is None:
        return None
    return cell.source if cell.source.strip() else None


def _cell_notes(submission: Notebook, source: SourceNotebook, fit: Match) -> Iterator[str]:
    """Sentences on cells that were copied, lost, retyped or changed although they are locked."""
    tests = {exercise.test_id: exercise.name for exercise in source.exercises}
    for original in source.cells:
        if original.grade_id is None or original.grade_id in tests:
            continue
        marked = fit.copies.get(original.grade_id, ())
        if len(marked) > 1:
            places = " and ".join(str(index + 1) for index in marked)
            yield f"Cells {places} all carry the mark of `{original.grade_id}`: the last one counts."
        yield from _solution_notes(original, fit)
        yield from _type_and_lock_notes(submission, original, fit)
    for index in sorted(fit.rescued):
        yield f"Cell {index + 1} is no solution cell but holds the only definition: it was run as your code."


def _solution_notes(original: SourceCell, fit: Match) -> Iterator[str]:
    name = original.grade_id
    if name is None or name in fit.copies or original.is_read_only:
        return
    if fit.definers.get(name):
        yield f"The mark of the cell of `{name}` was lost: it was found by the function that it defines."
    elif name in fit.places:
        yield f"The mark of the answer to `{name}` was lost: it was found by its place."
    else:
        yield f"The cell of `{name}` is missing."


def _type_and_lock_notes(submission: Notebook, original: SourceCell, fit: Match) -> Iterator[str]:
    """What is said about the cell that stands for ``original``."""
    place = fit.places.get(original.grade_id or "")
    if place is None:
        return
    cell = submission.cells[place]
    if cell.cell_type != original.cell_type:
        yield f"Cell {place + 1} had become {cell.cell_type}: it was turned back to {original.cell_type}."
    if original.is_read_only and cell.source.strip() != original.visible_source.strip():
        yield f"Cell {place + 1} (`{original.grade_id}`) is locked but was changed: its own text was used."
