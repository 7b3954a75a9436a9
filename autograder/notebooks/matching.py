"""Which cell of a submission stands for which cell of the source.

Grade ids come first; where students lost, copied or swapped them, the functions that cells define and the
texts that were handed out decide. Of several cells with one id the last one counts, as in nbgrader.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from autograder.notebooks.definitions import Defined, Definitions, methods_of_classes
from autograder.notebooks.parsing import Parser
from autograder.notebooks.reading import Cell, Notebook
from autograder.notebooks.source import KEPT_LESSONS, Exercise, SourceCell, SourceNotebook


@dataclass(frozen=True)
class Match:
    """How a submission fits its source; all numbers are indexes of the submission's cells.

    ``places``: grade id of the source -> the one cell that stands for it; missing ids have none.
    ``copies``: grade id -> every cell that carries it.
    ``tests``: cells that are test cells or copies of them, never a student's own code.
    ``definers``: exercise -> the cells that define its function, unfinished stubs only where there is
    nothing else.
    ``rescued``: cells that are no code by id or type, yet hold an exercise's only definition.
    ``idle``: cells that hold nothing but unfinished stubs of functions that are written further up.
    ``uses``: exercise -> the names that its definitions read.
    """

    places: Mapping[str, int]
    copies: Mapping[str, tuple[int, ...]]
    tests: frozenset[int]
    definers: Mapping[str, tuple[int, ...]]
    rescued: frozenset[int]
    idle: frozenset[int]
    uses: Mapping[str, frozenset[str]]


@dataclass(frozen=True)
class _Search:
    """What was found of the functions: see ``Match``."""

    definers: Mapping[str, tuple[int, ...]]
    rescued: frozenset[int]
    idle: frozenset[int]
    uses: Mapping[str, frozenset[str]]


def match(submission: Notebook, source: SourceNotebook) -> Match:
    """Fit a submission to its source; never fails, whatever the submission looks like."""
    copies = _copies(submission, source)
    tests = frozenset(index for grade_id in source.test_ids for index in copies.get(grade_id, ()))
    found = _search(submission, source, copies, tests)
    places = {grade_id: indexes[-1] for grade_id, indexes in copies.items()}
    for exercise in source.exercises:
        place = _solution_place(exercise, copies, found.definers, places)
        if place is not None:
            places[exercise.name] = place
    for question in source.questions:
        if question.name not in places:
            place = _answer_by_neighbour(submission, source.cells, question.index)
            if place is not None and place not in places.values():
                places[question.name] = place
    return Match(places, copies, tests, found.definers, found.rescued, found.idle, found.uses)


def _copies(submission: Notebook, source: SourceNotebook) -> dict[str, tuple[int, ...]]:
    """All cells by the source's grade ids; a test cell that lost its id is known by its text."""
    known = {cell.grade_id for cell in source.cells if cell.grade_id is not None}
    marked: dict[str, list[int]] = {}
    for cell in submission.cells:
        if cell.grade_id in known:
            marked.setdefault(cell.grade_id, []).append(cell.index)
    copies = {grade_id: tuple(indexes) for grade_id, indexes in marked.items()}
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


def _search(
    submission: Notebook,
    source: SourceNotebook,
    copies: Mapping[str, tuple[int, ...]],
    tests: frozenset[int],
) -> _Search:
    """Find the cells that define the exercises' functions: ordinary ones first, then odd ones."""
    names = [exercise.name for exercise in source.exercises]
    solutions = {index for name in names for index in copies.get(name, ())}
    ordinary: list[Cell] = []
    odd: list[Cell] = []
    texts: list[Cell] = []
    for cell in submission.cells:
        if cell.index in tests:
            odd += [cell] if cell.cell_type == "code" else []
        else:
            (ordinary if cell.cell_type == "code" or cell.index in solutions else texts).append(cell)
    definitions = Definitions(names, methods=methods_of(source))
    found = {cell.index: definitions.of(cell.source) for cell in ordinary}
    in_tests = {cell.index: definitions.of(cell.source) for cell in odd}
    in_texts: dict[int, Defined] = {}
    if not all(any(name in one.names for one in (*found.values(), *in_tests.values())) for name in names):
        in_texts = {cell.index: definitions.of(cell.source) for cell in texts}
    definers: dict[str, tuple[int, ...]] = {}
    rescued: set[int] = set()
    for name in names:
        mine = tuple(index for index, one in found.items() if one.names.get(name))
        stubs = tuple(index for index, one in found.items() if name in one.names)
        theirs = tuple(index for index, one in in_tests.items() if one.names.get(name))
        programs = tuple(index for index, one in in_texts.items() if one.parsed and one.names.get(name))
        definers[name] = mine or theirs or stubs or programs
        if not mine:
            rescued.update(set(definers[name]) - found.keys())
    everything = found | in_tests | in_texts
    uses = {
        name: frozenset[str]().union(*(everything[index].uses.get(name, ()) for index in indexes))
        for name, indexes in definers.items()
    }
    return _Search(definers, frozenset(rescued), _idle(found, definers), uses)


@lru_cache(KEPT_LESSONS)
def methods_of(source: SourceNotebook) -> Mapping[str, str]:
    """The exercises that the lesson makes methods of a class, which another exercise defines."""
    names = {exercise.name for exercise in source.exercises}
    cells = [source.cell(name) for name in names]
    modules = [Parser().parse(cell.visible_source) for cell in cells if cell is not None]
    found = [methods_of_classes(module, names) for module in modules if module is not None]
    return {name: owner for one in found for name, owner in one.items() if name in names}


def _idle(found: Mapping[int, Defined], definers: Mapping[str, tuple[int, ...]]) -> frozenset[int]:
    """Stubs, handed out or copied once more, that would take the place of what is written above them."""
    return frozenset(
        index
        for index, one in found.items()
        if one.stubs_alone
        and all(index not in definers[name] and min(definers[name]) < index for name in one.names)
    )


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
