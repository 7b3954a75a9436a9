"""A notebook comes to its end, whatever its cells do."""

from pathlib import Path
from typing import Any

import pytest

from autograder.sandbox.notebook_run import RUNS_LIMIT, NotebookRun, Stopped, run_notebook
from autograder.sandbox.session import CellStep, Ending, ExamineStep

Bench = Any  # tests/conftest.py

HANG = "while True: pass"
CRASH = "import os; os._exit(1)"
SLEEP = "import time; time.sleep(60)"
HERE = ExamineStep("here")


def values(result: NotebookRun) -> dict[int, str]:
    return {
        cell: outputs[0]["data"]["text/plain"]
        for cell, outputs in result.outputs.items()
        if outputs and outputs[0]["output_type"] == "execute_result"
    }


def test_a_notebook_that_runs_is_run_once(strict: Bench) -> None:
    result = strict.rerun("1", HERE, "2")
    assert ({0: "1", 2: "2"}, ()) == (values(result), result.stopped)


@pytest.mark.parametrize(("source", "ending"), [(HANG, Ending.TIMED_OUT), (CRASH, Ending.CRASHED)])
def test_a_cell_that_breaks_the_run_is_left_out_and_says_so(
    strict: Bench, source: str, ending: Ending
) -> None:
    result = strict.rerun("x = 1", HERE, source, "x + 1")
    assert {3: "2"} == values(result)
    assert (Stopped(2, ending),) == result.stopped
    (notice,) = result.outputs[2]
    assert notice["evalue"].startswith("This cell was left out when the notebook was graded")
    assert (Ending.DONE, {"here"}) == (result.run.ending, result.run.exercises)


def test_several_cells_can_be_left_out(strict: Bench) -> None:
    result = strict.rerun(CRASH, "1", HANG, "2", CRASH, HERE)
    assert [0, 2, 4] == [one.cell for one in result.stopped]
    assert {1: "1", 3: "2"} == values(result)
    assert {"here"} == result.run.exercises


def test_a_cell_that_only_sleeps_gets_a_second_chance(hasty: Bench) -> None:
    folders: list[Path] = []

    def prepare() -> Path:
        folders.append(hasty.folder({}))
        return folders[-1]

    result = run_notebook(hasty.worker, prepare, [CellStep(0, SLEEP), CellStep(1, "1")], {0: 1, 1: 1})
    result.run.close()
    assert (Stopped(0, Ending.TIMED_OUT_BY_CLOCK),) == result.stopped
    assert 3 == len(set(folders))


def test_runs_come_to_an_end_and_what_was_reached_counts(strict: Bench) -> None:
    result = strict.rerun("1", HERE, *[CRASH] * RUNS_LIMIT, ExamineStep("there"), "2")
    assert RUNS_LIMIT == len(result.stopped)
    assert {"here"} == result.run.exercises
    assert "1" == values(result)[0]


def test_a_death_between_cells_is_laid_to_the_cell_before(strict: Bench) -> None:
    at_fork = "import os\nos.register_at_fork(before=lambda: os._exit(1))"
    result = strict.rerun("1", at_fork, HERE, "2")
    assert (Stopped(1, Ending.CRASHED),) == result.stopped
    assert {0: "1", 3: "2"} == values(result)
    assert {"here"} == result.run.exercises
