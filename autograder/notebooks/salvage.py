"""The plan of a run: which cells of a submission are run in which order, and when each exercise is judged.

Rules, in the order in which they apply:

* The student's code cells run in their order. Test cells never run: their text is ours.
* A locked cell of the source runs with the text that was handed out, as nbgrader has it.
* A solution cell that became Markdown or raw text runs all the same. A test cell, or a text, that holds an
  exercise's only definition runs as the student's code.
* Unfinished stubs that would take the place of what is written above them do not run. A function that was
  torn apart is put together. Imports of the lesson run first that were lost, or that stand in one cell with
  others, which may fail.
* Before the first method that is added to another exercise's class, an empty class takes the place of one
  that is not there: whatever keeps it from being defined must not cost the methods' points.
* An exercise is judged at the place of its test cell, provided that a cell that defines the function stands
  before it; otherwise directly after the cell that defines it, the solution cell if it does so; with no
  definition in sight at the test cell, after the solution cell, or at the end. Where functions of other
  exercises that it needs stand further down, it is judged after them.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from autograder.notebooks.given import endangered_imports, lost_imports
from autograder.notebooks.halves import Whole, rejoin
from autograder.notebooks.matching import Match, match, methods_of
from autograder.notebooks.reading import Cell, Notebook
from autograder.notebooks.source import Exercise, SourceCell, SourceNotebook

#: Stands for the index of a cell of the submission where a cell of the lesson runs that was lost.
GIVEN = -1
#: So many cells are named one by one in a note.
NAMED_LIMIT = 10
#: So many notes are made of one submission.
NOTES_LIMIT = 50
#: Stands for a class to which methods can be added, and of which no object can be made.
_EMPTY_CLASS = """try:
    {name}
except NameError:
    class {name}:
        def __init__(self, *args, **kwargs):
            raise NotImplementedError"""


@dataclass(frozen=True)
class RunCell:
    """Run this text; ``cell_index`` is the cell of the submission that it comes from, or ``GIVEN``."""

    cell_index: int
    source: str


@dataclass(frozen=True)
class Examine:
    """Judge the exercise in the state that the steps before have made."""

    exercise: str


@dataclass(frozen=True)
class Plan:
    """Steps in order, every exercise examined exactly once, and sentences on what was unusual.

    ``fit`` is how the submission fits its source.
    """

    steps: tuple[RunCell | Examine, ...]
    notes: tuple[str, ...] = ()
    fit: Match | None = field(default=None, compare=False)


def plan(submission: Notebook, source: SourceNotebook) -> Plan:
    """Plan the run of a submission; never fails, whatever the submission looks like."""
    fit = match(submission, source)
    anchors, notes = _anchors(submission, source, fit)
    texts = {
        cell.index: text for cell in submission.cells if (text := _text_to_run(cell, source, fit)) is not None
    }
    wholes = rejoin(texts, {index for several in fit.definers.values() for index in several})
    for whole in wholes:
        texts[whole.first] = whole.text
        for index in range(whole.first + 1, whole.last + 1):
            del texts[index]
    above = {index: text for index, text in texts.items() if index <= min(anchors.values(), default=0)}
    given = lost_imports(source, above, frozenset[str]().union(*fit.uses.values()))
    first = given or endangered_imports(source, above)
    steps: list[RunCell | Examine] = [] if first is None else [RunCell(GIVEN, first.visible_source)]
    empty = _empty_classes(source, fit)
    for index in range(len(submission.cells) + 1):
        steps.extend(RunCell(GIVEN, text) for text in empty.get(index, ()))
        if index in texts:
            steps.append(RunCell(index, texts[index]))
        steps.extend(Examine(name) for name, anchor in anchors.items() if anchor == index)
    notes += (
        [] if given is None else ["The lesson's first imports were missing or too late: they were run first."]
    )
    notes += [_whole_note(whole) for whole in wholes]
    notes += _cell_notes(submission, source, fit)
    more = [f"{len(notes) - NOTES_LIMIT} more notes were left out."] if len(notes) > NOTES_LIMIT else []
    return Plan(tuple(steps), (*submission.notes, *notes[:NOTES_LIMIT], *more), fit)


def _empty_classes(source: SourceNotebook, fit: Match) -> dict[int, list[str]]:
    """What runs before the first cell of a class's methods, by the index of that cell."""
    cells: dict[str, set[int]] = {}
    for method, owner in methods_of(source).items():
        cells.setdefault(owner, set()).update(set(fit.definers[method]) - set(fit.definers[owner]))
    texts: dict[int, list[str]] = {}
    for owner, indexes in cells.items():
        if indexes:
            texts.setdefault(min(indexes), []).append(_EMPTY_CLASS.format(name=owner))
    return texts


def _anchors(submission: Notebook, source: SourceNotebook, fit: Match) -> tuple[dict[str, int], list[str]]:
    """The cell after which each exercise is judged, in the order of the source, and what to say of it."""
    end = len(submission.cells)
    needs = _needs(source, fit)
    anchors: dict[str, int] = {}
    notes: list[str] = []
    for exercise in source.exercises:
        anchor, note = _anchor(exercise, fit, end)
        last = max(needs[exercise.name], key=lambda name: _first(fit, name), default=None)
        if last is not None and _first(fit, last) > anchor:
            anchor = _first(fit, last)
            note = [f"`{exercise.name}` needs `{last}`: it was judged after that, below cell {anchor + 1}."]
        anchors[exercise.name] = anchor
        notes.extend(note)
    return anchors, notes


def _first(fit: Match, name: str) -> int:
    """The first cell that defines an exercise's function; -1 where none does."""
    return min(fit.definers[name], default=-1)


def _needs(source: SourceNotebook, fit: Match) -> Mapping[str, frozenset[str]]:
    """The other exercises that each one needs: those that its code or its test names, and so on."""
    names = {exercise.name for exercise in source.exercises}
    needs: dict[str, frozenset[str]] = {}
    for exercise in source.exercises:
        named_in_test = re.findall(r"\w+", source.cells[exercise.test_index].visible_source)
        needs[exercise.name] = frozenset({*fit.uses[exercise.name], *named_in_test} & names)
    for _ in names:  # no chain is longer than there are exercises
        for name, direct in needs.items():
            needs[name] = direct.union(*(needs[one] for one in direct))
    return {name: several - {name} for name, several in needs.items()}


def _anchor(exercise: Exercise, fit: Match, end: int) -> tuple[int, list[str]]:
    """The cell after which the exercise is judged, and what to say where it is not the test cell."""
    test = fit.places.get(exercise.test_id)
    marked = set(fit.copies.get(exercise.name, ()))
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
    if cell.index in fit.tests or cell.index in fit.idle:
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
        marked = [index for index in fit.copies.get(original.grade_id, ()) if index not in fit.idle]
        if len(marked) > 1:
            yield (
                f"{_cells(marked).capitalize()} all carry the mark of `{original.grade_id}`: "
                "the last one counts."
            )
        yield from _solution_notes(original, fit)
        yield from _type_and_lock_notes(submission, original, fit)
    if fit.idle:
        yield (f"Stubs of functions that are written further up were left out: {_cells(sorted(fit.idle))}.")
    for index in sorted(fit.rescued):
        yield f"Cell {index + 1} is no solution cell but holds the only definition: it was run as your code."


def _whole_note(whole: Whole) -> str:
    cells = _cells(range(whole.first, whole.last + 1)).capitalize()
    return f"{cells} were put together again: a function was split between them."


def _cells(indexes: Sequence[int]) -> str:
    """Cells by their numbers, in words."""
    numbers = [str(index + 1) for index in indexes[:NAMED_LIMIT]]
    more = len(indexes) - NAMED_LIMIT
    listed = " and ".join([*numbers, *([f"{more} more"] if more > 0 else [])])
    return f"cells {listed}" if len(indexes) > 1 else f"cell {listed}"


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
