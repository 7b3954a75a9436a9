"""Mutations of a real notebook, of its JSON and of its bytes: read or refused in words, and planned soon."""

import contextlib
import copy
import json
import random
import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.assignments.catalog import KIT
from autograder.assignments.multihead import demo
from autograder.errors import SubmissionError
from autograder.gradebook.autograded import build_autograded
from autograder.model import Status, SubmissionResult
from autograder.notebooks.executed import ExecutedNotebook
from autograder.notebooks.reading import CELL_TYPES, read_notebook
from autograder.notebooks.salvage import Examine, RunCell, plan
from autograder.notebooks.source import read_source

Json = dict[str, Any]

SOURCE = read_source(KIT.parent / "source" / "multihead" / "multihead.ipynb")
RELEASED: Json = json.loads((KIT.parent / "assignments" / "multihead" / "multihead.ipynb").read_text("utf-8"))
EXERCISES = sorted(exercise.name for exercise in SOURCE.exercises)
#: What one notebook of ordinary size may cost at most, in seconds of this process.
SECONDS = 6.0
ODD: list[Any] = [
    None,
    True,
    -1,
    1e300,
    "",
    "\ud800",
    "f" * 5000,
    [],
    [None],
    {},
    {"nbgrader": []},
    ["x", 7, "y\n"],
]


def filled() -> Json:
    """A notebook with everything right."""
    notebook = copy.deepcopy(RELEASED)
    for cell in notebook["cells"]:
        grade_id = cell["metadata"].get("nbgrader", {}).get("grade_id")
        cell["source"] = demo.RIGHT.get(grade_id, cell["source"])
    return notebook


def survives(data: bytes) -> None:
    """Reading, planning and the page of a notebook, whatever it is, fail in words or not at all, and soon."""
    began = time.process_time()
    with contextlib.suppress(SubmissionError):
        notebook = read_notebook(data)
        planned = plan(notebook, SOURCE)
        assert EXERCISES == sorted(one.exercise for one in planned.steps if isinstance(one, Examine))
        ran = [one.cell_index for one in planned.steps if isinstance(one, RunCell)]
        assert ran == sorted(set(ran))
        assert all(cell.cell_type in CELL_TYPES for cell in notebook.cells)
        result = SubmissionResult("ada", 0.0, 22.0, Status.GRADED, notes=planned.notes)
        executed = ExecutedNotebook(notebook, dict.fromkeys(ran, ()))
        json.dumps(build_autograded(RELEASED, SOURCE, executed, result)).encode()
    assert time.process_time() - began < SECONDS


def delete(cells: list[Any], dice: random.Random) -> None:
    del cells[dice.randrange(len(cells))]


def double(cells: list[Any], dice: random.Random) -> None:
    cells.insert(dice.randrange(len(cells)), copy.deepcopy(dice.choice(cells)))


def swap(cells: list[Any], dice: random.Random) -> None:
    one, other = dice.randrange(len(cells)), dice.randrange(len(cells))
    cells[one], cells[other] = cells[other], cells[one]


def replace(cells: list[Any], dice: random.Random) -> None:
    cells[dice.randrange(len(cells))] = dice.choice(ODD)


def change(cells: list[Any], dice: random.Random) -> None:
    """Put something odd in the place of any part of a cell, or take the part out."""
    part: Any = dice.choice(cells)
    while isinstance(part, dict) and part:
        key = dice.choice(sorted(part))
        if isinstance(part[key], dict) and part[key] and dice.random() < 0.7:
            part = part[key]
        elif dice.random() < 0.3:
            del part[key]
            return
        else:
            part[key] = dice.choice([*ODD, *CELL_TYPES, *EXERCISES, *(f"test_{name}" for name in EXERCISES)])
            return


def split(cells: list[Any], dice: random.Random) -> None:
    """Split a cell anywhere, as Jupyter does between two lines, or between two letters."""
    place = dice.randrange(len(cells))
    cell = cells[place]
    if isinstance(cell, dict) and isinstance(cell.get("source"), str | list):
        text = "".join(str(part) for part in cell["source"])
        at = dice.randrange(len(text) + 1)
        cells[place : place + 1] = [{**cell, "source": text[:at]}, {**cell, "source": text[at:]}]


def merge(cells: list[Any], dice: random.Random) -> None:
    place = dice.randrange(len(cells))
    texts = [one["source"] for one in cells[place : place + 2] if isinstance(one, dict) and "source" in one]
    cells[place : place + 2] = [{"cell_type": "code", "metadata": {}, "source": "\n".join(map(str, texts))}]


OF_CELLS = (delete, double, swap, replace, change, change, split, merge)


@settings(max_examples=150)
@given(st.lists(st.sampled_from(OF_CELLS), min_size=1, max_size=25), st.integers(0, 2**32))
def test_no_mutation_of_its_cells_breaks_the_salvage(
    mutations: list[Callable[[list[Any], random.Random], None]], seed: int
) -> None:
    notebook, dice = filled(), random.Random(seed)  # noqa: S311 (no secrets here)
    for mutate in mutations:
        if notebook["cells"]:
            mutate(notebook["cells"], dice)
    survives(json.dumps(notebook).encode())


def cut(data: bytes, at: int, length: int) -> bytes:
    return data[:at] + data[at + length :]


def end(data: bytes, at: int, length: int) -> bytes:
    return data[:at]


def repeat(data: bytes, at: int, length: int) -> bytes:
    return data[:at] + data[at : at + length] * 2 + data[at + length :]


def overwrite(data: bytes, at: int, length: int) -> bytes:
    return data[:at] + bytes((at + i * 37) % 256 for i in range(length)) + data[at + length :]


def sprinkle(data: bytes, at: int, length: int) -> bytes:
    signs = b'"\\{}[],:\0\xff\n'
    return data[:at] + bytes(signs[(at + i) % len(signs)] for i in range(length % 9)) + data[at:]


OF_BYTES = st.tuples(
    st.sampled_from((cut, end, repeat, overwrite, sprinkle)), st.floats(0, 1), st.integers(1, 3000)
)


@settings(max_examples=150)
@given(st.lists(OF_BYTES, min_size=1, max_size=6), st.sampled_from((None, 1)))
def test_no_mutation_of_its_bytes_breaks_the_salvage(
    mutations: list[tuple[Callable[[bytes, int, int], bytes], float, int]], indent: int | None
) -> None:
    data = json.dumps(filled(), indent=indent).encode()
    for mutate, place, length in mutations:
        data = mutate(data, int(place * len(data)), length)
    survives(data)


@pytest.mark.parametrize("keep", [0.3, 0.5, 0.8, 0.99])
def test_of_an_upload_that_broke_off_every_whole_cell_counts(keep: float) -> None:
    whole = filled()
    data = json.dumps(whole, indent=1).encode()
    notebook = read_notebook(data[: int(keep * len(data))])
    count = len(notebook.cells)
    assert 1 <= count <= len(whole["cells"])
    assert ["".join(cell["source"]) for cell in whole["cells"][:count]] == [
        one.source for one in notebook.cells
    ]
    assert f"only {count} cells could be read, and only they count." in notebook.notes[0]


@pytest.mark.parametrize(("old", "new"), [(",\n  {", "\n  {"), (",\n  {", ",,\n  {"), ('"code",', '"code"')])
def test_a_comma_too_few_or_too_many_costs_one_cell_at_most(old: str, new: str) -> None:
    text = json.dumps(filled(), indent=1)
    notebook = read_notebook(text.replace(old, new, 1).encode())
    assert len(notebook.cells) >= len(RELEASED["cells"]) - 1


def test_what_is_cut_anywhere_is_read_up_to_there_in_bounded_time() -> None:
    """A file of 20 MB in which every cell is broken: reading it starts again a few times only."""
    broken = b'{"cell_type": "code", "source": "' + b"a" * 1000 + b'}, "x'
    began = time.process_time()
    with pytest.raises(SubmissionError, match="damaged or incomplete"):
        read_notebook(b'{"cells": [' + broken * 20_000)
    assert time.process_time() - began < SECONDS


WALLS = {
    "magics": "%%time\n" * 20_000 + "def split_heads(x):\n    return x\n",
    "blanks": "(split_heads\n" + " " * 190_000,
    "blank lines": "(split_heads\n" + "\t \n" * 40_000,
    "questions": "split_heads =\n" + "x? y\n" * 30_000,
    "imports": "(\nimport " + "split_heads " * 15_000,
    "annotations": "(\n" + "split_heads:\n" * 15_000,
    "programs": "def split_heads(x):\n    return x\n" + "y = [1, 2, (3, 4), {5: 6}]\n" * 3_000,
    "parentheses": "split_heads = " + "(" * 90_000 + ")" * 90_000,
    "halves": "def split_heads(x):\n    return x\n" + "    y = (\n" * 20_000,
}


@pytest.mark.parametrize("kind", ["code", "markdown"])
@pytest.mark.parametrize("wall", WALLS)
def test_no_wall_of_text_keeps_the_salvage_busy(wall: str, kind: str) -> None:
    text = WALLS[wall]
    count = 10_000_000 // len(text)
    cells = [{"cell_type": kind, "metadata": {}, "source": f"{text}\n# {number}"} for number in range(count)]
    notebook = read_notebook(json.dumps({"cells": cells}).encode())
    began = time.process_time()
    planned = plan(notebook, SOURCE)
    assert time.process_time() - began < SECONDS
    assert EXERCISES == sorted(one.exercise for one in planned.steps if isinstance(one, Examine))
