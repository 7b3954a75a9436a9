"""Which cell of a submission stands for which cell of the source.

Grade ids come first; where students lost, copied or swapped them, the functions that cells define and the
texts that were handed out decide. Of several cells with one id the last one counts, as in nbgrader.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from autograder.notebooks.definitions import defined_names
from autograder.notebooks.reading import Cell, Notebook
from autograder.notebooks.source import Exercise, SourceCell, SourceNotebook


@dataclass(frozen=True)
class Match:
    """How a submission fits its source; all numbers are indexes of the submission's cells.

    ``places``: grade id of the source -> the one cell that stands for it; missing ids have none.
    ``copies``: grade id -> every cell that carries it.
    ``tests``: cells that are test cells or copies of them, never a student's own code.
    ``definers``: exercise -> the cells that define its function, unfinished stubs only where there is
    nothing else.
    ``rescued``: cells that are no code by id or type, yet hold an exercise's only definition.
    """

    places: Mapping[str, int]
    copies: Mapping[str, tuple[int, ...]]
    tests: frozenset[int]
    definers: Mapping[str, tuple[int, ...]]
    rescued: frozenset[int]


def match(submission: Notebook, source: SourceNotebook) -> Match:
    """Fit a submission to its source; never fails, whatever the submission looks like."""
    copies = _copies(submission, source)
    tests = frozenset(index for grade_id in source.test_ids for index in copies.get(grade_id, ()))
    definers, rescued = _definers(submission, source, copies, tests)
    places = {grade_id: indexes[-1] for grade_id, indexes in copies.items()}
    for exercise in source.exercises:
        place = _solution_place(exercise, copies, definers, places)
        if place is not None:
            places[exercise.name] = place
    for question in source.questions:
        if question.name not in places:
            place = _answer_by_neighbour(submission, source.cells, question.index)
            if place is not None and place not in places.values():
                places[question.name] = place
    return Match(places, copies, tests, definers, rescued)


def _copies(submission: Notebook, source: SourceNotebook) -> dict[str, tuple[int, ...]]:
    """All cells by the source's grade ids; a test cell that lost its id is known by its text."""
    known = {cell.grade_id for cell in source.cells if cell.grade_id is not None}
    copies: dict[str, tuple[int, ...]] = {}
    for cell in submission.cells:
        if cell.grade_id in known:
            copies[cell.grade_id] = (*copies.get(cell.grade_id, ()), cell.index)
    for exercise in source.exercises:
        text = source.cells[exercise.test_index].visible_source.strip()
        if exercise.test_id not in copies and text:
            found = tuple(
                cell.index
                for cell in submission.cells
                if cell.grade_id not in known and cell.source.strip() == text
            )
            if found:
                copies[exercise.test_id] = found
    return copies


def _definers(
    submission: Notebook,
    source: SourceNotebook,
    copies: Mapping[str, tuple[int, ...]],
    tests: frozenset[int],
) -> tuple[dict[str, tuple[int, ...]], frozenset[int]]:
    """For each exercise the cells that define it; the odd cells among them are returned as rescued."""
    names = [exercise.name for exercise in source.exercises]
    solutions = {index for name in names for index in copies.get(name, ())}
    ordinary = [
        cell
        for cell in submission.cells
        if cell.index not in tests and (cell.cell_type == "code" or cell.index in solutions)
    ]
    odd = [cell for cell in submission.cells if cell.cell_type == "code" and cell.index in tests]
    texts = [cell for cell in submission.cells if cell.cell_type != "code" and cell.index not in solutions]
    found = {cell.index: defined_names(cell.source, names) for cell in ordinary}
    in_tests = {cell.index: defined_names(cell.source, names) for cell in odd}
    definers: dict[str, tuple[int, ...]] = {}
    rescued: set[int] = set()
    for name in names:
        mine = tuple(index for index, bound in found.items() if bound.get(name))
        stubs = tuple(index for index, bound in found.items() if name in bound)
        theirs = tuple(index for index, bound in in_tests.items() if bound.get(name))
        definers[name] = mine or theirs or stubs or tuple(_texts_that_define(texts, name))
        if not mine:
            rescued.update(set(definers[name]) - found.keys())
    return definers, frozenset(rescued)


def _texts_that_define(texts: list[Cell], name: str) -> Iterator[int]:
    """Cells turned to Markdown or raw text which are a program that defines the function."""
    return (cell.index for cell in texts if defined_names(cell.source, [name], strict=True).get(name))


def _solution_place(
    exercise: Exercise,
    copies: Mapping[str, tuple[int, ...]],
    definers: Mapping[str, tuple[int, ...]],
    places: Mapping[str, int],
) -> int | None:
    """The cell that stands for the solution: by id, rather one that defines the function; else by that."""
    marked = copies.get(exercise.name, ())
    defining = definers[exercise.name]
    if marked:
        return max(set(marked) & set(defining), default=marked[-1])
    taken = set(places.values())
    return max((index for index in defining if index not in taken), default=None)


def _answer_by_neighbour(
    submission: Notebook, source_cells: tuple[SourceCell, ...], question_index: int
) -> int | None:
    """The first Markdown text after the unchanged cell that stands before the question in the source."""
    before = [cell.source.strip() for cell in source_cells[:question_index] if cell.grade_id is None]
    handed_out = {cell.source.strip() for cell in source_cells}
    if not before or not before[-1]:
        return None
    anchor = next((cell.index for cell in submission.cells if cell.source.strip() == before[-1]), None)
    if anchor is None or anchor + 1 >= len(submission.cells):
        return None
    answer = submission.cells[anchor + 1]
    is_answer = answer.cell_type == "markdown" and answer.source.strip() not in handed_out
    return answer.index if is_answer else None
